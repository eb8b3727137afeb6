//! What people have, and how to tell one from the other.

use std::{fmt, str::FromStr};

use serde_json::Value;

use super::{ImportError, log};

/// A source format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A capture: it is only scrubbed.
    Capture,
    /// The recorder's own format, `{"recording":1,…}`.
    Recording,
    /// A log of Claude's stream-json lines, with or without directions and times.
    Log,
    /// The transcript that Claude Code keeps of a session.
    Transcript,
    /// `{"emit":…}` and `{"expect":…}` lines of another harness.
    EmitExpect,
}

/// Lines that are looked at before a format is told.
const LOOKED_AT: usize = 50;

impl Format {
    /// All of them, as they are listed.
    pub const ALL: [Format; 5] = [Format::Capture, Format::Recording, Format::Log, Format::Transcript, Format::EmitExpect];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Capture => "capture",
            Format::Recording => "recording",
            Format::Log => "log",
            Format::Transcript => "transcript",
            Format::EmitExpect => "emit-expect",
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Format::Capture => "a capture",
            Format::Recording => "a recording",
            Format::Log => "a stream-json log",
            Format::Transcript => "a session's transcript",
            Format::EmitExpect => "emit/expect lines",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("expected one of {}", Format::ALL.map(Format::name).join(", ")))
    }
}

/// The format of a text, by its first lines.
pub(super) fn detect(file: &str, text: &str) -> Result<Format, ImportError> {
    let lines = || text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())).filter(|(_, line)| !line.is_empty());
    let error = |line, problem: &str, help: &str| {
        Err(ImportError { file: file.to_owned(), line, problem: problem.to_owned(), help: help.to_owned() })
    };
    let Some((number, first)) = lines().next() else {
        return error(1, "an empty file: expected frames, a line each", "check that the log was written");
    };
    if first.starts_with("[{") || first == "[" {
        return error(number, "a JSON array: expected one object a line", "write it with a line each: `jq -c '.[]' FILE`");
    }
    if first == "{" {
        return error(number, "an object over several lines: expected one object a line", "write it with `jq -c . FILE`");
    }
    for (_, line) in lines().take(LOOKED_AT) {
        let Ok(Value::Object(keys)) = serde_json::from_str::<Value>(line) else { continue };
        let has = |key: &str| keys.contains_key(key);
        if has("capture") {
            return Ok(Format::Capture);
        }
        if has("recording") {
            return Ok(Format::Recording);
        }
        if has("emit") || has("expect") {
            return Ok(Format::EmitExpect);
        }
        if has("parentUuid") || (has("sessionId") && has("type")) {
            return Ok(Format::Transcript);
        }
        if has("type") && has("session_id") {
            return Ok(Format::Log);
        }
    }
    if lines().take(LOOKED_AT).any(|(_, line)| log::is_line(line)) {
        return Ok(Format::Log);
    }
    error(
        number,
        "no format that is known: expected a capture, a recording, a stream-json log, a session's transcript or emit/expect lines",
        "force one with --format, and its error says which line does not fit",
    )
}
