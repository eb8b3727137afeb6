//! The lines of another harness: `{"emit": …}` is what its fake says, `{"expect": …}` what it expects of the host.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Flaw, ImportError, Options, Read, clock, flaw, guess};
use crate::{
    format::{Entry, From, Origin, What},
    ids::made_up,
    provider::Provider,
};

/// Milliseconds before a line that states no delay.
const DELAY_MS: f64 = 10.0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    emit: Option<Value>,
    #[serde(default)]
    expect: Option<Value>,
    #[serde(default)]
    delay_ms: Option<f64>,
}

pub(super) fn read(file: &str, text: &str, options: &Options) -> Result<Read, ImportError> {
    let at = |line: usize| move |(problem, help): Flaw| ImportError { file: file.to_owned(), line, problem, help };
    let mut entries = Vec::new();
    let (mut at_ms, mut without) = (0.0, 0);
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        if line.trim().is_empty() {
            continue;
        }
        let (from, said, delay) = parse(line).map_err(at(number))?;
        without += usize::from(delay.is_none());
        at_ms = clock::tenths(at_ms + delay.unwrap_or(DELAY_MS));
        let said = if let Value::Array(several) = said { several } else { vec![said] };
        entries.extend(said.into_iter().map(|said| Entry { at_ms, from, what: what(said), label: None }));
    }
    if entries.is_empty() {
        return Err(at(1)(("no emit and no expect in the whole file: expected at least one".into(), "check the file".into())));
    }
    let mut said = vec![
        ("directions", "the file's own: `emit` is the CLI's, `expect` the host's".to_owned()),
        ("times", format!("delay_ms; {without} lines without one come {DELAY_MS} ms after the one before")),
        ("origin", "synthetic: lines of another harness".to_owned()),
    ];
    let mut guessed = Vec::new();
    if options.provider.unwrap_or(Provider::Claude) == Provider::Claude
        && let Some(words) = fill(&mut entries)
    {
        guessed.push(format!("fields: {words}"));
        said.push(("filled in", words));
    }
    if let Some(words) = guess::end(&mut entries) {
        guessed.push(format!("end: {words}"));
        said.push(("end", words));
    }
    let known = guess::Known {
        origin: Some(Origin::Synthetic),
        imported_from: "emit/expect lines of another harness".to_owned(),
        ..guess::Known::default()
    };
    let mut capture = guess::capture(file, entries, known, options, &mut said).map_err(at(1))?;
    capture.header.guessed = guessed;
    Ok(Read { capture, said })
}

fn parse(line: &str) -> Result<(From, Value, Option<f64>), Flaw> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        let problem = format!("{error}: expected `emit` or `expect`, and `delay_ms` if it waits");
        (problem.replace(" at line 1 column ", " at column "), "each line is one JSON object with one of the two".to_owned())
    })?;
    if let Some(delay) = line.delay_ms.filter(|delay| !(delay.is_finite() && *delay >= 0.0)) {
        return flaw(format!("delay_ms {delay}: expected milliseconds, 0 or more"), "correct the delay");
    }
    match (line.emit, line.expect) {
        (Some(said), None) => Ok((From::Cli, said, line.delay_ms)),
        (None, Some(said)) => Ok((From::Host, said, line.delay_ms)),
        (Some(_), Some(_)) => flaw("`emit` and `expect` on one line: expected one of them", "write a line for each"),
        (None, None) => flaw("neither `emit` nor `expect`: expected one of them", "say what happens, or delete the line"),
    }
}

/// A frame; a text may be one, written as a line.
fn what(said: Value) -> What {
    match said {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(frame @ Value::Object(_)) => What::Frame(frame),
            _ => What::Raw(text.trim_end_matches(['\n', '\r']).to_owned()),
        },
        frame => What::Frame(frame),
    }
}

/// Frames of the CLI that have no uuid and no session.
const BARE: [&str; 3] = ["control_request", "control_response", "control_cancel_request"];

/// Puts in the ids that every frame of the real CLI has and that harnesses leave out; the words to say, if any were missing.
fn fill(entries: &mut [Entry]) -> Option<String> {
    let mut uuid = made_up("emit-expect");
    let session = entries.iter().find_map(|entry| entry.what.frame()?.get("session_id")?.as_str().filter(|id| !id.is_empty()));
    let session = session.map_or_else(&mut uuid, str::to_owned);
    let (mut filled, mut results) = (0, 0);
    for entry in entries {
        let from = entry.from;
        let What::Frame(Value::Object(frame)) = &mut entry.what else { continue };
        let kind = frame.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut missing = Vec::new();
        match from {
            From::Host if kind == "user" => {
                missing.push(("uuid", json!(uuid())));
                if let Some(Value::Object(message)) = frame.get_mut("message") {
                    message.entry("role").or_insert_with(|| json!("user"));
                }
            }
            From::Cli if !kind.is_empty() && !BARE.contains(&kind.as_str()) => {
                missing.push(("uuid", json!(uuid())));
                missing.push(("session_id", json!(session)));
                if kind == "result" {
                    missing.push(("result_index", json!(results)));
                    results += 1;
                }
            }
            _ => {}
        }
        for (key, value) in missing {
            if !frame.contains_key(key) {
                frame.insert(key.to_owned(), value);
                filled += 1;
            }
        }
    }
    (filled > 0).then(|| format!("{filled} ids and counts that the CLI's frames have (uuid, session_id, result_index)"))
}
