//! Runs an understudy as a process: real pipes, real files, the real clock.
//!
//! This is the one place of the crate that may look at the machine; understudies themselves are handed everything.

mod files;
mod source;

pub use files::RealFiles;

use std::{
    env, fs,
    io::Write,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use captures::format::Stream;
use serde_json::json;

use crate::understudy::{Input, Launch, Output, Stage, Understudy};
use source::Event;

/// File to which a host's breaches and the ends off script are appended, a JSON object a line.
pub const BREACHES: &str = "REHEARSAL_BREACHES";
/// Seed of the process's ids; without it they are different in every run.
pub const SEED: &str = "REHEARSAL_SEED";

/// Exit code when stdout is gone.
const BROKEN_PIPE: u8 = 141;
/// Exit code when the understudy cannot be made.
const UNUSABLE: u8 = 2;

/// How this process was launched.
pub fn launch() -> Launch {
    Launch {
        argv: env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        env: env::vars_os()
            .map(|(key, value)| (key.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect(),
        cwd: env::current_dir().map(|dir| dir.display().to_string()).unwrap_or_default(),
        pid: std::process::id(),
        root: root(),
    }
}

#[cfg(unix)]
fn root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
fn root() -> bool {
    false
}

/// The whole life of a fake CLI: makes its understudy from the launch and runs it to its end.
pub fn main<U: Understudy>(make: impl FnOnce(&Launch) -> Result<U, String>) -> ExitCode {
    let launch = launch();
    match make(&launch) {
        Ok(understudy) => ExitCode::from(run(understudy, &launch)),
        Err(words) => {
            eprintln!("rehearsal: {words}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// Runs an understudy over this process's stdin, stdout, stderr and signals; the exit code.
#[allow(clippy::disallowed_methods, reason = "the binaries run on the real clock; nothing simulated comes here")]
pub fn run<U: Understudy>(understudy: U, launch: &Launch) -> u8 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let seed = launch.env.get(SEED).and_then(|seed| seed.parse().ok());
    let mut process = Process {
        understudy,
        files: RealFiles,
        started: Instant::now(),
        wall,
        bits: seed.unwrap_or(wall ^ (u64::from(launch.pid) << 32)),
        timers: Vec::new(),
        breaches: launch.env.get(BREACHES).map(PathBuf::from),
        program: launch.argv.first().cloned().unwrap_or_default(),
        stopped: Arc::default(),
        open: true,
    };
    process.live()
}

struct Process<U> {
    understudy: U,
    files: RealFiles,
    started: Instant,
    wall: u64,
    bits: u64,
    timers: Vec<(u64, u64)>,
    breaches: Option<PathBuf>,
    program: String,
    /// stdin is no longer read.
    stopped: Arc<AtomicBool>,
    /// stdout is open.
    open: bool,
}

impl<U: Understudy> Process<U> {
    fn live(&mut self) -> u8 {
        if let Some(code) = self.give(Input::Start) {
            return code;
        }
        let events = source::listen(self.stopped.clone());
        loop {
            let now = self.now();
            let due = self.timers.iter().map(|(_, at)| *at).min();
            let event = match due {
                Some(at) if at <= now => None,
                Some(at) => events.recv_timeout(Duration::from_millis(at - now)).ok(),
                // Without timers and without a source nothing will ever happen again.
                None => match events.recv() {
                    Ok(event) => Some(event),
                    Err(_) => return 0,
                },
            };
            let ended = match event {
                Some(Event::Bytes(bytes)) => self.give(Input::Stdin(&bytes)),
                Some(Event::Closed) => self.give(Input::StdinClosed),
                Some(Event::Signal(name)) => self.give(Input::Signal(name)),
                None => self.fire(),
            };
            if let Some(code) = ended {
                return code;
            }
        }
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Fires what is due.
    fn fire(&mut self) -> Option<u8> {
        let now = self.now();
        let (&(timer, _), position) =
            self.timers.iter().zip(0..).filter(|((_, at), _)| *at <= now).min_by_key(|((_, at), _)| *at)?;
        self.timers.remove(position);
        self.give(Input::Timer(timer))
    }

    /// Gives one input and does what comes of it; the exit code when the process ends.
    fn give(&mut self, input: Input<'_>) -> Option<u8> {
        let now_ms = self.now();
        let bits = &mut self.bits;
        let mut random = || {
            *bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *bits
        };
        let mut stage = Stage { now_ms, wall_ms: self.wall + now_ms, files: &mut self.files, random: &mut random };
        let outputs = self.understudy.on_input(&mut stage, input);
        let mut said = Vec::new();
        for output in outputs {
            match output {
                Output::Say { line, .. } if self.open => {
                    said.extend_from_slice(line.as_bytes());
                    said.push(b'\n');
                }
                Output::Say { .. } => {}
                Output::Stderr(words) => eprint!("{words}"),
                Output::Arm { timer, at_ms } => {
                    self.timers.retain(|(armed, _)| *armed != timer);
                    self.timers.push((timer, at_ms));
                }
                Output::Disarm(timer) => self.timers.retain(|(armed, _)| *armed != timer),
                Output::Close(Stream::Stdout) => {
                    if !flush(&mut said) {
                        return Some(BROKEN_PIPE);
                    }
                    self.open = false;
                }
                Output::Close(_) => {}
                Output::StopReading => self.stopped.store(true, Ordering::SeqCst),
                Output::Breach(breach) => self.note(json!({"rule": breach.rule, "words": breach.words})),
                Output::OffScript(words) => self.note(json!({"rule": "off-script", "words": words})),
                Output::Exit(exit) => {
                    flush(&mut said);
                    return Some(exit.code.unwrap_or(1).clamp(0, 255) as u8);
                }
            }
        }
        if flush(&mut said) { None } else { Some(BROKEN_PIPE) }
    }

    /// Appends a line about the host to the breaches file, if there is one.
    fn note(&self, mut line: serde_json::Value) {
        let Some(path) = &self.breaches else { return };
        line["program"] = json!(self.program);
        line["at_ms"] = json!(self.now());
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{line}")) {
            eprintln!("rehearsal: failed to write {}: {error}", path.display());
        }
    }
}

/// Writes to stdout at once; false when nobody reads any more.
fn flush(said: &mut Vec<u8>) -> bool {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(said).and_then(|()| stdout.flush());
    said.clear();
    written.is_ok()
}
