//! The capture format, version 1: a header line, then one entry a line (NDJSON).
//!
//! The format is strict. An unknown key, a missing header or a time out of order is an error that names file, line and
//! expectation, because a capture that is read differently from how it was written proves nothing.

mod error;
mod read;
mod write;

pub use error::FormatError;
pub use read::parse;
pub use write::write;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::provider::Provider;

/// The version this crate reads and writes, the value of the header's `capture` key.
pub const VERSION: u32 = 1;

/// One capture: who was recorded and how, then what happened in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The first line.
    pub header: Header,
    /// The other lines; `at_ms` never decreases.
    pub entries: Vec<Entry>,
}

/// Where the frames of a capture come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Written by the real CLI of the stated version.
    Recorded,
    /// Written by hand or by a program: nothing may call it recorded.
    Synthetic,
}

/// The first line of a capture: its provenance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Format version, [`VERSION`].
    pub capture: u32,
    /// Whose frames these are.
    pub provider: Provider,
    /// The version of the CLI, as `--version` prints it.
    pub version: String,
    /// Recorded or synthetic.
    pub origin: Origin,
    /// The scene's name, unique within provider and version.
    pub scene: String,
    /// The command line of the process, program name first.
    pub launch: Vec<String>,
    /// Environment switches that were set for the process.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
    /// What answered as the model: `scripted` for all recordings of this project.
    pub model: String,
    /// Date of the recording, `YYYY-MM-DD`.
    pub recorded_on: String,
    /// What was scrubbed from the frames (paths, keys, prose …).
    #[serde(default)]
    pub scrubbed: Vec<String>,
    /// What it was imported from, and who recorded that, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// What the source did not say and the import guessed or made up, in words: directions, times, the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guessed: Vec<String>,
    /// Free words about how it was made, for synthetic captures above all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Who caused an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The host wrote it, or closed its end of a pipe.
    Host,
    /// The CLI wrote it, or the process ended.
    Cli,
    /// Somebody else did it: a signal from outside.
    World,
}

/// One line of a capture after the header.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Milliseconds since the process started; one decimal in the recordings.
    pub at_ms: f64,
    /// Who caused it.
    pub from: From,
    /// What happened.
    pub what: What,
    /// A name given by hand (`fork-started`). Derived names (`task_started#1`) are not stored: see [`Capture::labels`].
    pub label: Option<String>,
}

/// What one entry says.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One JSON record on stdin or stdout.
    Frame(Value),
    /// A line that is no JSON, as it stood (without its line end). Diagnostics on stderr are not captured.
    Raw(String),
    /// One end of a pipe was closed: the host closed stdin, or the CLI's stdout ended, or a write to stdin broke.
    Close(Stream),
    /// A signal was sent to the process by the world (`SIGINT`, `SIGKILL`).
    Signal(String),
    /// The process ended.
    Exit(Exit),
}

/// One of the three pipes of a stdio process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Host to CLI.
    Stdin,
    /// CLI to host: frames.
    Stdout,
    /// CLI to host: diagnostics.
    Stderr,
}

impl From {
    /// The word used in the file.
    pub fn name(self) -> &'static str {
        match self {
            From::Host => "host",
            From::Cli => "cli",
            From::World => "world",
        }
    }
}

impl What {
    /// The frame, if this is one.
    pub fn frame(&self) -> Option<&Value> {
        match self {
            What::Frame(frame) => Some(frame),
            _ => None,
        }
    }

    /// The key that this kind has in the file.
    pub fn key(&self) -> &'static str {
        match self {
            What::Frame(_) => "frame",
            What::Raw(_) => "raw",
            What::Close(_) => "close",
            What::Signal(_) => "signal",
            What::Exit(_) => "exit",
        }
    }
}

/// How a process ended. Exactly one of the two is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// Exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Name of the signal that ended it, `SIGKILL` for example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
}

#[cfg(test)]
mod tests;
