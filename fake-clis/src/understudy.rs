//! What every understudy is: a function from one input to a list of outputs.

use std::collections::BTreeMap;

use captures::format::{Exit, Stream};

/// How a host launched the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Command line, program name first.
    pub argv: Vec<String>,
    /// The whole environment of the process.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// Process id that the understudy claims to have.
    pub pid: u32,
    /// The process runs as root, as in the recordings: some permissions are refused to root.
    pub root: bool,
}

/// One happening in the life of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The process was started; always the first input.
    Start,
    /// Bytes arrived on stdin, in whatever chunks the host wrote them.
    Stdin(&'a [u8]),
    /// The host closed stdin.
    StdinClosed,
    /// A signal was delivered (`SIGINT`, `SIGTERM`); SIGKILL is never seen by a process.
    Signal(&'a str),
    /// A timer that [`Output::Arm`] armed is due.
    Timer(u64),
}

/// What the process does about it, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One record on stdout, without its line end.
    Say {
        /// The record as it goes on the wire.
        line: String,
        /// The label stem of the frame (`captures::labels::stem`), for cues, holds and plans.
        stem: String,
    },
    /// Bytes on stderr, line ends included.
    Stderr(String),
    /// Call [`Understudy::on_input`] with [`Input::Timer`] of this number at `at_ms`; arming a number again moves it.
    Arm {
        /// The timer's number, chosen by the understudy.
        timer: u64,
        /// Absolute time of the process's clock, in ms.
        at_ms: u64,
    },
    /// The timer of this number is no longer wanted.
    Disarm(u64),
    /// The process closed its end of a pipe.
    Close(Stream),
    /// The process ended; nothing follows.
    Exit(Exit),
    /// The process stopped reading stdin (a full pipe then blocks the host's writes).
    StopReading,
    /// The host wrote something that the real CLI would reject.
    Breach(Breach),
    /// The host did something from which this understudy cannot carry on; nothing it says later is evidence.
    OffScript(String),
}

/// A host line that the real CLI would reject, by the rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Name of the rule, stable: `malformed-line`, `unknown-control-subtype` …
    pub rule: &'static str,
    /// What was seen and what the CLI expects.
    pub words: String,
}

/// The files that a process sees: the harness's own in simulation, the real ones for the binaries.
pub trait Files {
    /// The whole content of a file, or `None` where there is none.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    /// Appends to a file, making it and its folders when they are missing.
    fn append(&mut self, path: &str, bytes: &[u8]);
    /// Paths below a folder, in order of their names.
    fn list(&self, dir: &str) -> Vec<String>;
}

/// What the harness lends to an understudy for one input.
pub struct Stage<'a> {
    /// Milliseconds since the harness's epoch; never decreases.
    pub now_ms: u64,
    /// Wall clock in ms since 1970, for timestamps in frames.
    pub wall_ms: u64,
    /// The process's files.
    pub files: &'a mut dyn Files,
    /// 64 fresh random bits from the harness's seed.
    pub random: &'a mut dyn FnMut() -> u64,
}

/// A provider process, sans io.
pub trait Understudy {
    /// Handles one input to its end.
    fn on_input(&mut self, stage: &mut Stage<'_>, input: Input<'_>) -> Vec<Output>;
    /// Records still taken from tape so far, by label stem: what the protocol model does not make yet.
    fn taped(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }
}
