//! The production platform: real processes, the real clock, a database file. The only place of the engine that touches them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::disallowed_macros,
    reason = "the production platform is the one exception: it is what the rules of the core are protected from"
)]

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
    task::JoinSet,
};

use super::{Platform, Shell};
use crate::{
    core::{
        Core,
        config::EngineConfig,
        effect::{Signal, Spawn, Txn},
        input::{ExitStatus, Input, Now, Pipe, ProcId, SpawnError, StoreError},
    },
    delegation::Answer,
    feed::Change,
    store::Store,
};

/// `tokio::select!` that always looks at its branches in their written order: evidence before timers, on every run.
#[macro_export]
macro_rules! ordered_select {
    ($($branches:tt)*) => { ::tokio::select! { biased; $($branches)* } };
}

/// Bytes read from a pipe at once.
const READ_BYTES: usize = 64 * 1024;
/// After the exit a pipe that a grandchild holds open is given up, ms.
const PIPE_CLOSE_WAIT_MS: u64 = 200;

/// What is done to stdin, in order.
enum ToStdin {
    Bytes(Vec<u8>),
    Close,
}

/// Real processes and a real clock.
pub struct Production {
    begun: Instant,
    store: Store,
    inputs: mpsc::UnboundedSender<Input>,
    viewer: mpsc::UnboundedSender<Change>,
    callers: mpsc::UnboundedSender<Answer>,
    stdin: BTreeMap<ProcId, mpsc::UnboundedSender<ToStdin>>,
    pids: BTreeMap<ProcId, u32>,
    tasks: JoinSet<()>,
}

impl Platform for Production {
    fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { mono: self.begun.elapsed().as_millis() as u64, wall: wall.as_millis() as u64 }
    }

    fn spawn(&mut self, spawn: &Spawn) {
        let proc = spawn.proc;
        let mut command = Command::new(&spawn.program);
        command.args(&spawn.args).envs(spawn.env.iter().map(|(key, value)| (key, value)));
        if !spawn.cwd.is_empty() {
            command.current_dir(&spawn.cwd);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let error = match error.kind() {
                    io::ErrorKind::NotFound => SpawnError::NotInstalled,
                    _ => SpawnError::Io(error.to_string()),
                };
                let _ = self.inputs.send(Input::Spawned { proc, result: Err(error) });
                return;
            }
        };
        let pid = child.id().unwrap_or_default();
        self.pids.insert(proc, pid);
        let _ = self.inputs.send(Input::Spawned { proc, result: Ok(pid) });
        self.watch(proc, child);
    }

    fn write(&mut self, proc: ProcId, bytes: &[u8]) {
        if let Some(stdin) = self.stdin.get(&proc) {
            let _ = stdin.send(ToStdin::Bytes(bytes.to_vec()));
        }
    }

    fn close_stdin(&mut self, proc: ProcId) {
        if let Some(stdin) = self.stdin.get(&proc) {
            let _ = stdin.send(ToStdin::Close);
        }
    }

    fn signal(&mut self, proc: ProcId, signal: Signal) {
        let Some(pid) = self.pids.get(&proc) else { return };
        let signal = match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        // A process that is gone already is no failure: its exit is on its way here.
        if let Some(pid) = i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn read_file(&mut self, proc: ProcId, path: &str) {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".claude"));
        let root = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home);
        let content = root.and_then(|root| std::fs::read(root.join(path)).ok());
        let _ = self.inputs.send(Input::File { proc, content });
    }

    fn publish(&mut self, change: &Change) {
        let _ = self.viewer.send(change.clone());
    }

    fn answer(&mut self, answer: &Answer) {
        let _ = self.callers.send(answer.clone());
    }

    fn store(&mut self, txn: &Txn) -> Result<(), StoreError> {
        self.store.commit(txn)
    }
}

impl Production {
    /// Reads both pipes, writes stdin and waits for the end; the exit comes after the ends of both pipes where they end.
    fn watch(&mut self, proc: ProcId, mut child: Child) {
        let (stdin, writes) = mpsc::unbounded_channel();
        self.stdin.insert(proc, stdin);
        if let Some(pipe) = child.stdin.take() {
            self.tasks.spawn(write_stdin(pipe, writes));
        }
        let mut pipes = JoinSet::new();
        if let Some(out) = child.stdout.take() {
            pipes.spawn(read_pipe(proc, Pipe::Stdout, out, self.inputs.clone()));
        }
        if let Some(err) = child.stderr.take() {
            pipes.spawn(read_pipe(proc, Pipe::Stderr, err, self.inputs.clone()));
        }
        let inputs = self.inputs.clone();
        self.tasks.spawn(async move {
            let status = child.wait().await;
            let rest = async { while pipes.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(Duration::from_millis(PIPE_CLOSE_WAIT_MS), rest).await;
            let _ = inputs.send(Input::Exit { proc, status: exit_status(status) });
        });
    }
}

fn exit_status(status: io::Result<std::process::ExitStatus>) -> ExitStatus {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Ok(status) => ExitStatus {
            code: status.code(),
            signal: status.signal().map(|number| match number {
                2 => "SIGINT".to_owned(),
                9 => "SIGKILL".to_owned(),
                15 => "SIGTERM".to_owned(),
                other => format!("signal {other}"),
            }),
        },
        Err(_) => ExitStatus { code: None, signal: None },
    }
}

async fn write_stdin(mut pipe: ChildStdin, mut writes: mpsc::UnboundedReceiver<ToStdin>) {
    while let Some(ToStdin::Bytes(bytes)) = writes.recv().await {
        if pipe.write_all(&bytes).await.is_err() || pipe.flush().await.is_err() {
            return;
        }
    }
}

async fn read_pipe(proc: ProcId, pipe: Pipe, mut from: impl AsyncReadExt + Unpin, inputs: mpsc::UnboundedSender<Input>) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            break;
        }
        let _ = inputs.send(Input::Bytes { proc, pipe, bytes: buffer[..read].to_vec() });
    }
    let _ = inputs.send(Input::End { proc, pipe });
}

/// An engine in production mode.
pub struct Engine {
    shell: Shell<Production>,
    happenings: mpsc::UnboundedReceiver<Input>,
}

/// The doors of a running engine.
pub struct Doors {
    /// Inputs of the user.
    pub inputs: mpsc::UnboundedSender<Input>,
    /// The two feeds of the local viewer.
    pub feed: mpsc::UnboundedReceiver<Change>,
    /// Answers to calls.
    pub answers: mpsc::UnboundedReceiver<Answer>,
}

impl Engine {
    /// An engine on a database file, or in memory.
    ///
    /// # Errors
    /// When the database cannot be opened: the engine refuses to start and never replaces the file.
    pub fn open(config: EngineConfig, database: Option<PathBuf>) -> Result<(Engine, Doors), StoreError> {
        let mut store = match database {
            Some(path) => Store::open(&path)?,
            None => Store::in_memory()?,
        };
        let stored = store.load()?;
        let (inputs, happenings) = mpsc::unbounded_channel();
        let (viewer, feed) = mpsc::unbounded_channel();
        let (callers, answers) = mpsc::unbounded_channel();
        let platform = Production {
            begun: Instant::now(),
            store,
            inputs: inputs.clone(),
            viewer,
            callers,
            stdin: BTreeMap::new(),
            pids: BTreeMap::new(),
            tasks: JoinSet::new(),
        };
        // Ids must differ between two starts on one machine; in simulation the seed comes from the scenario.
        let seed = platform.now().wall ^ (u64::from(std::process::id()) << 32);
        let mut shell = Shell::new(Core::new(config, seed), platform);
        shell.deliver(Input::Boot(Box::new(stored)));
        Ok((Engine { shell, happenings }, Doors { inputs, feed, answers }))
    }

    /// Runs until it is dropped. Evidence that is there comes before a timer that is due.
    pub async fn run(mut self) {
        loop {
            let wait = match self.shell.core().deadline() {
                Some(deadline) => deadline.saturating_sub(self.shell.platform().now().mono),
                None => 3_600_000,
            };
            // `timeout` looks at its future first: evidence that is there comes before a timer that is due.
            match tokio::time::timeout(Duration::from_millis(wait), self.happenings.recv()).await {
                Ok(Some(input)) => self.shell.deliver(input),
                Ok(None) => return,
                Err(_) => {
                    self.shell.fire_due();
                }
            }
        }
    }
}
