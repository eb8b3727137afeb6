//! The recorder's format: a header `{"recording":1,…}`, then `{"t_ms","dir":"in|out|meta","frame"}` lines.
//!
//! `in` is what the host wrote, `out` what the CLI wrote, `meta` what happened to the process. Only recordings of one stdio
//! process are read: Claude Code's.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use super::ImportError;
use crate::{
    format::{self, Capture, Entry, Exit, From, Header, Origin, Stream, VERSION, What},
    provider::Provider,
};

/// The version of the recorder's format that is read.
const RECORDING: u64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "recording")]
    _recording: u64,
    provider: Provider,
    version: String,
    scene: String,
    origin: Origin,
    launch: Vec<String>,
    env: IndexMap<String, String>,
    model: String,
    recorded_on: String,
    #[serde(default)]
    scrubbed: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    t_ms: f64,
    dir: Dir,
    frame: Value,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Dir {
    In,
    Out,
    Meta,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    event: String,
    rc: Option<i32>,
}

/// A line that was no JSON, as the recorder keeps it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    #[serde(rename = "_raw")]
    text: String,
}

type Flaw = (String, String);

fn flaw<T>(problem: impl Into<String>, help: impl Into<String>) -> Result<T, Flaw> {
    Err((problem.into(), help.into()))
}

/// Converts a recording. The capture is checked as if it had been read from a file. `file` is only used in errors.
///
/// # Errors
///
/// A recording of another provider or version, and whatever is not as the module says. Nothing is skipped.
pub fn recording(file: &str, text: &str) -> Result<Capture, ImportError> {
    let at = |line: usize| move |(problem, help): Flaw| ImportError { file: file.to_owned(), line, problem, help };
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (number, first) = lines.next().unwrap_or((1, ""));
    let header = header(first).map_err(at(number))?;
    let entries = lines.map(|(number, line)| entry(line).map_err(at(number))).collect::<Result<Vec<_>, _>>()?;
    let capture = Capture { header, entries };
    // The format's own rules (times, names) are checked in one place, by reading what would be written; lines match.
    format::parse(file, &format::write(&capture)).map_err(|error| at(error.line)((error.problem, error.help)))
}

fn header(line: &str) -> Result<Header, Flaw> {
    let value = json::<Value>(line, "a recording's header")?;
    match value.get("recording").and_then(Value::as_u64) {
        Some(RECORDING) => {}
        Some(other) => return flaw(format!("recording format {other}: expected {RECORDING}"), "record it again"),
        None => {
            let help = "give the recorder's own file; a file that begins with {\"capture\":1 is a capture already";
            return flaw(format!("no recording: expected a header, {{\"recording\":{RECORDING},…}}"), help);
        }
    }
    if let Some(provider) = value.get("provider").and_then(Value::as_str)
        && provider != Provider::Claude.name()
    {
        let problem = format!("a recording of {provider}: expected one of claude");
        return flaw(problem, "recordings of several processes or of HTTP are not of this format");
    }
    let head = json::<Head>(line, "a recording's header")?;
    Ok(Header {
        capture: VERSION,
        provider: head.provider,
        version: head.version,
        origin: head.origin,
        scene: head.scene,
        launch: head.launch,
        env: head.env,
        model: head.model,
        recorded_on: head.recorded_on,
        scrubbed: head.scrubbed,
        imported_from: None,
        guessed: Vec::new(),
        note: None,
    })
}

fn entry(line: &str) -> Result<Entry, Flaw> {
    let line = json::<Line>(line, "a line with t_ms, dir and frame")?;
    let (from, what) = match line.dir {
        Dir::In => (From::Host, written(line.frame)),
        Dir::Out => (From::Cli, written(line.frame)),
        Dir::Meta => meta(line.frame)?,
    };
    Ok(Entry { at_ms: line.t_ms, from, what, label: None })
}

/// A frame, or the text of a line that was none: a bare string or `{"_raw":"…"}`.
fn written(frame: Value) -> What {
    match frame {
        Value::String(text) => What::Raw(text),
        other => match RawLine::deserialize(&other) {
            Ok(raw) => What::Raw(raw.text),
            Err(_) => What::Frame(other),
        },
    }
}

fn meta(frame: Value) -> Result<(From, What), Flaw> {
    let shape =
        |error| (format!("{error}: expected {{\"event\":…}}"), "meta lines hold `event` and, for an exit, `rc`".to_owned());
    let meta: Meta = serde_json::from_value(frame).map_err(shape)?;
    Ok(match (meta.event.as_str(), meta.rc) {
        ("stdin_closed", None) => (From::Host, What::Close(Stream::Stdin)),
        ("stdout_eof", None) => (From::Cli, What::Close(Stream::Stdout)),
        ("stdin_broken_pipe", None) => (From::Cli, What::Close(Stream::Stdin)),
        ("SIGINT" | "SIGKILL" | "SIGTERM", None) => (From::World, What::Signal(meta.event)),
        ("exit", Some(rc)) => (From::Cli, What::Exit(exit(rc)?)),
        (event, rc) => {
            let problem = format!(
                "meta event `{event}` with rc {rc:?}: expected stdin_closed, stdout_eof, stdin_broken_pipe, SIGINT, SIGKILL, \
                 SIGTERM, or exit with rc"
            );
            return flaw(problem, "correct the line, or teach the import what it means");
        }
    })
}

/// A negative rc is the number of the signal that ended the process.
fn exit(rc: i32) -> Result<Exit, Flaw> {
    let signal = match rc {
        0.. => return Ok(Exit { code: Some(rc), signal: None }),
        -1 => "SIGHUP",
        -2 => "SIGINT",
        -6 => "SIGABRT",
        -9 => "SIGKILL",
        -11 => "SIGSEGV",
        -13 => "SIGPIPE",
        -15 => "SIGTERM",
        other => {
            let problem = format!("rc {other}: expected an exit code, or the negative number of a signal that ends a process");
            return flaw(problem, "teach the import the signal's name");
        }
    };
    Ok(Exit { code: None, signal: Some(signal.to_owned()) })
}

fn json<'de, T: Deserialize<'de>>(line: &'de str, what: &str) -> Result<T, Flaw> {
    serde_json::from_str(line).map_err(|error| {
        let problem = format!("{error}: expected {what}").replace(" at line 1 column ", " at column ");
        (problem, "each line is one JSON object".to_owned())
    })
}
