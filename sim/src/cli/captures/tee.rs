//! `rehearsal captures tee`: between any host and any CLI.
//!
//! Bytes go through as they come, in both directions; stderr is the CLI's own. What goes through is also split into lines
//! and written down before it is passed on, so that no answer stands before its question. Ends, signals and the exit go through as well, so that neither of the two can
//! tell that somebody listens.

mod launch;
mod passing;
mod recorder;
mod spool;

use std::{
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use captures::format::{Exit, From, What};
use reports::ExitCode;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    low_level::{emulate_default_handler, signal_name},
};

use super::Failure;
use launch::Launch;
use recorder::Recorder;

/// How long what the CLI left in its pipes is waited for once it has ended: a child of its own may hold them open.
const LAST_BYTES: Duration = Duration::from_millis(1000);
/// What a shell adds to a signal's number for an exit code.
const BY_SIGNAL: i32 = 128;

/// Stand between a host and a CLI and write a capture of what they say.
///
/// Give it to your host as the CLI to start: `rehearsal captures tee --output DIR -- claude`. The host's own arguments go
/// after that. The capture is written line by line while they speak; it is not scrubbed: `captures import` does that.
#[derive(Debug, clap::Args)]
pub struct Tee {
    /// Directory to write to; made when it is missing.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// The scene's name; else the moment of the start. A number is added when it is taken.
    #[arg(long)]
    scene: Option<String>,
    /// The version of the CLI, until its own `init` says it.
    #[arg(long, value_name = "VERSION")]
    cli_version: Option<String>,
    /// The CLI and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLI")]
    command: Vec<std::ffi::OsString>,
}

/// What the threads share.
type Shared = Arc<Mutex<Recorder>>;

impl Tee {
    /// Runs it; on the way of success the process ends here, as the CLI did.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let launch = Launch::of(&self.command, self.scene, self.cli_version)?;
        let recorder = Recorder::create(&self.output, launch.header)?;
        let file = recorder.path().to_owned();
        let shared: Shared = Arc::new(Mutex::new(recorder));
        // Before the CLI is there: a signal in between must not be lost.
        let signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT])
            .map_err(|error| Failure::usage(format!("failed to listen to signals: {error}")))?;
        let (program, arguments) = self.command.split_first().expect("clap requires one");
        let spawned = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| {
            // A capture of nothing helps nobody.
            let _ = std::fs::remove_file(&file);
            let name = program.to_string_lossy();
            Failure::usage(format!("failed to start `{name}`: {error}; name a CLI that is on the PATH, after `--`"))
        })?;
        let status = between(&mut child, &shared, signals)
            .map_err(|error| Failure::usage(format!("failed to wait for the CLI: {error}")))?;
        let mut recorder = shared.lock().unwrap_or_else(PoisonError::into_inner);
        recorder.end(exit(status));
        if let Some(error) = recorder.failed() {
            anstream::eprintln!("rehearsal: the capture {} is not complete: {error}", file.display());
        }
        leave(status)
    }
}

/// Passes everything on until the CLI has ended.
#[allow(
    clippy::disallowed_methods,
    reason = "reading two pipes and hearing signals block, each in a thread of its own; nothing simulated comes here"
)]
fn between(child: &mut Child, shared: &Shared, mut signals: signal_hook::iterator::Signals) -> std::io::Result<ExitStatus> {
    let pid = child.id();
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let recorder = Arc::clone(shared);
    std::thread::spawn(move || {
        if let Some(stdin) = stdin {
            passing::to_cli(stdin, &recorder);
        }
    });
    let recorder = Arc::clone(shared);
    let (done, drained) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        if let Some(stdout) = stdout {
            passing::to_host(stdout, &recorder);
        }
        let _ = done.send(());
    });
    let recorder = Arc::clone(shared);
    std::thread::spawn(move || {
        for signal in &mut signals {
            let name = signal_name(signal).unwrap_or("SIGTERM").to_owned();
            recorder.lock().unwrap_or_else(PoisonError::into_inner).happened(From::World, What::Signal(name));
            passing::signal(pid, signal);
        }
    });
    let status = child.wait()?;
    let _ = drained.recv_timeout(LAST_BYTES);
    Ok(status)
}

/// The end of the CLI as captures say it.
fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit { code: Some(code), signal: None },
        (None, signal) => {
            let name = signal.and_then(signal_name).unwrap_or("SIGKILL");
            Exit { code: None, signal: Some(name.to_owned()) }
        }
    }
}

/// Ends this process as the CLI ended.
fn leave(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        let _ = emulate_default_handler(signal);
        std::process::exit(BY_SIGNAL + signal);
    }
    std::process::exit(status.code().unwrap_or(1))
}
