//! A capture from text, strictly.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Capture, Entry, Exit, FormatError, From, Header, Stream, VERSION, What};

const KINDS: &str = "one of `frame`, `raw`, `close`, `signal`, `exit`";

/// One line after the header, before its rules are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_ms: f64,
    from: From,
    // `"frame":null` is a frame (the JSON value null), so null and absence must stay apart.
    #[serde(default, deserialize_with = "present")]
    frame: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    raw: Option<String>,
    #[serde(default, deserialize_with = "present")]
    close: Option<Stream>,
    #[serde(default, deserialize_with = "present")]
    signal: Option<String>,
    #[serde(default, deserialize_with = "present")]
    exit: Option<Exit>,
    #[serde(default, deserialize_with = "present")]
    label: Option<String>,
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A problem and its help; the caller knows file and line.
type Flaw = (String, String);

fn flaw<T>(problem: impl Into<String>, help: impl Into<String>) -> Result<T, Flaw> {
    Err((problem.into(), help.into()))
}

/// Reads a capture. `file` is only used in errors.
///
/// # Errors
///
/// Whatever the format does not allow: see [`FormatError`]. Nothing is repaired and nothing is skipped.
pub fn parse(file: &str, text: &str) -> Result<Capture, FormatError> {
    let at = |line: usize| move |(problem, help): Flaw| FormatError { file: file.to_owned(), line, problem, help };
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (number, first) = lines.next().unwrap_or((1, ""));
    let header = header(first).map_err(at(number))?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in lines {
        let entry = entry(line, entries.last().map(|last| last.at_ms)).map_err(at(number))?;
        if let Some(label) = &entry.label
            && let Some(before) = labels.insert(label.clone(), number)
        {
            let problem = format!("label `{label}` stands on line {before} already: expected each label once");
            return Err(at(number)((problem, "give one of the two another name".to_owned())));
        }
        entries.push(entry);
    }
    Ok(Capture { header, entries })
}

fn header(line: &str) -> Result<Header, Flaw> {
    let value = json::<Value>(line, "the header")?;
    let Some(version) = value.get("capture") else {
        let found = if value.get("recording").is_some() { "a recording" } else { "a line without the key `capture`" };
        return flaw(
            format!("found {found}: expected a header, {{\"capture\":{VERSION},…}}"),
            "convert recordings with `rehearsal captures import`, or put the header on the first line",
        );
    };
    if version.as_u64() != Some(u64::from(VERSION)) {
        let problem = format!("capture format {version}: expected version {VERSION}");
        return flaw(problem, "read it with the release that wrote it, or record it again");
    }
    let header = json::<Header>(line, "the header")?;
    check_header(&header)?;
    Ok(header)
}

fn check_header(header: &Header) -> Result<(), Flaw> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if header.scene.is_empty() || !header.scene.chars().all(plain) {
        let problem = format!("scene `{}`: expected lower case letters, digits, `-` and `.`", header.scene);
        return flaw(problem, "the scene is the file's name without `.ndjson`: rename it");
    }
    if !header.version.starts_with(|c: char| c.is_ascii_digit()) || header.version.chars().any(char::is_whitespace) {
        let problem = format!("version `{}`: expected a number such as 2.1.310", header.version);
        return flaw(problem, "write what the CLI's `--version` prints, without its name");
    }
    if header.launch.is_empty() {
        return flaw("`launch` is empty: expected the command line", "write the program's name and its arguments");
    }
    if !is_date(&header.recorded_on) {
        let problem = format!("recorded_on `{}`: expected a date, YYYY-MM-DD", header.recorded_on);
        return flaw(problem, "write the day of the recording");
    }
    Ok(())
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, length: usize, range: std::ops::RangeInclusive<u32>| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit()) && part.parse().is_ok_and(|n| range.contains(&n))
    };
    matches!(parts[..], [year, month, day] if number(year, 4, 1..=9999) && number(month, 2, 1..=12) && number(day, 2, 1..=31))
}

fn entry(line: &str, before: Option<f64>) -> Result<Entry, Flaw> {
    if line.trim().is_empty() {
        return flaw("an empty line: expected an entry", "delete the line");
    }
    let line = json::<Line>(line, "an entry")?;
    if !line.at_ms.is_finite() || line.at_ms.is_sign_negative() {
        let problem = format!("at_ms {}: expected milliseconds since the process started, from 0 on", line.at_ms);
        return flaw(problem, "count from the start of the process");
    }
    if let Some(before) = before
        && line.at_ms < before
    {
        let problem = format!("at_ms {} after {before}: expected a time that does not go back", line.at_ms);
        return flaw(problem, "sort the lines, or correct the time; two lines may share one");
    }
    if let Some(label) = &line.label
        && (label.is_empty() || label.contains('#') || label.chars().any(char::is_whitespace))
    {
        let problem = format!("label `{label}`: expected a name without spaces and without `#`");
        return flaw(problem, "names such as `result#2` are derived and never stored: leave them out");
    }
    let (from, at_ms, label) = (line.from, line.at_ms, line.label.clone());
    let what = what(line)?;
    check_source(from, &what)?;
    Ok(Entry { at_ms, from, what, label })
}

fn what(line: Line) -> Result<What, Flaw> {
    let found = [
        line.frame.map(What::Frame),
        line.raw.map(What::Raw),
        line.close.map(What::Close),
        line.signal.map(What::Signal),
        line.exit.map(What::Exit),
    ];
    let mut found: Vec<What> = found.into_iter().flatten().collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => flaw(format!("nothing happens here: expected {KINDS}"), "say what happened, or delete the line"),
        _ => {
            let keys: Vec<&str> = found.iter().map(What::key).collect();
            flaw(format!("{} in one entry: expected {KINDS}", keys.join(" and ")), "write one line for each")
        }
    }
}

/// What each of the three can cause.
fn check_source(from: From, what: &What) -> Result<(), Flaw> {
    let source = from.name();
    match what {
        What::Frame(_) | What::Raw(_) if from == From::World => {
            flaw("a line from the world: expected `host` or `cli`", "say who wrote it")
        }
        What::Close(stream) if from == From::World => {
            flaw(format!("{stream:?} closed by the world: expected `host` or `cli`"), "say whose end was closed")
        }
        What::Signal(_) if from != From::World => {
            flaw(format!("a signal from `{source}`: expected `world`"), "signals come from outside: write \"from\":\"world\"")
        }
        What::Signal(name) if !is_signal(name) => {
            flaw(format!("signal `{name}`: expected a name such as SIGINT"), "write its POSIX name in capitals")
        }
        What::Exit(_) if from != From::Cli => {
            flaw(format!("an exit of `{source}`: expected `cli`"), "only the recorded process ends: write \"from\":\"cli\"")
        }
        What::Exit(exit) => match (exit.code, &exit.signal) {
            (Some(_), None) => Ok(()),
            (None, Some(name)) if is_signal(name) => Ok(()),
            (None, Some(name)) => {
                flaw(format!("exit by signal `{name}`: expected a name such as SIGKILL"), "write its POSIX name in capitals")
            }
            _ => flaw("an exit needs exactly one of `code` and `signal`", "write {\"code\":0} or {\"signal\":\"SIGKILL\"}"),
        },
        _ => Ok(()),
    }
}

fn is_signal(name: &str) -> bool {
    name.strip_prefix("SIG").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase()) && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    })
}

fn json<'de, T: Deserialize<'de>>(line: &'de str, what: &str) -> Result<T, Flaw> {
    serde_json::from_str(line).map_err(|error| {
        let problem = match error.classify() {
            serde_json::error::Category::Data => format!("{error}: expected {what}"),
            _ => format!("not JSON ({error}): expected {what}"),
        };
        (
            problem.replace(" at line 1 column ", " at column "),
            "each line is one JSON object; compare with ARCHITECTURE.md, captures".to_owned(),
        )
    })
}
