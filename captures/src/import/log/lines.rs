//! From a log's lines to what was written, with what each line says of itself.

use serde_json::{Map, Value};

use super::{
    super::{Flaw, clock::wall_ms, flaw},
    words::{DIRECTION_KEYS, MS_KEYS, PAYLOAD_KEYS, Side, TIME_KEYS, side},
};
use crate::format::What;

/// A number above this is a time of day in ms, one above a thousandth of it a time of day in s: 1973 and later.
const EPOCH_MS: f64 = 1e11;

/// When a line was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    /// Ms since 1970.
    Wall(f64),
    /// Ms since a start of the log's own.
    Since(f64),
}

/// One line of what was written, before it is known who wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) at: Option<Time>,
    pub(super) side: Option<Side>,
    pub(super) what: What,
}

/// All of a log.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    /// Lines of stderr, which are left out.
    pub(super) stderr: usize,
}

/// What stands on a log's line.
struct Parsed {
    at: Option<Time>,
    side: Option<Side>,
    payload: Payload,
}

enum Payload {
    Frame(Value),
    /// Text as it was read from a pipe: a line, a part of one, or several.
    Text(String),
    /// Text after a prefix: a line by itself.
    Line(String),
}

/// Whether a line is of a kind that this module reads: for telling formats apart.
pub(in crate::import) fn is_line(line: &str) -> bool {
    match parse(line.trim()) {
        Ok(Parsed { side: Some(_), .. }) => true,
        Ok(Parsed { payload: Payload::Frame(frame), .. }) => frame.get("type").is_some(),
        _ => false,
    }
}

/// Reads a log; an error comes with its line.
pub(super) fn read(text: &str) -> Result<Lines, (usize, Flaw)> {
    let mut lines = Lines::default();
    let mut pipes = Pipes::default();
    let last = text.lines().count();
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        let parsed = parse(line).map_err(|(problem, help)| {
            let cut = number == last && problem.contains("EOF while parsing");
            let help = if cut { "the log ends within a line: delete it".to_owned() } else { help };
            (number, (problem, help))
        })?;
        if parsed.side == Some(Side::Stderr) {
            lines.stderr += 1;
            continue;
        }
        let whole = |what| Line { number, at: parsed.at, side: parsed.side, what };
        match parsed.payload {
            Payload::Frame(frame) => lines.lines.push(whole(What::Frame(frame))),
            Payload::Line(text) => lines.lines.push(whole(record(&text))),
            Payload::Text(text) => pipes.take(&text, number, parsed.at, parsed.side, &mut lines.lines),
        }
    }
    pipes.end(&mut lines.lines);
    Ok(lines)
}

/// A frame, or a line that is none.
fn record(text: &str) -> What {
    match serde_json::from_str::<Value>(text) {
        Ok(frame @ Value::Object(_)) => What::Frame(frame),
        _ => What::Raw(text.to_owned()),
    }
}

/// What was read from each pipe and is no whole line yet.
#[derive(Default)]
struct Pipes {
    open: Vec<(Option<Side>, String, usize, Option<Time>)>,
}

impl Pipes {
    fn take(&mut self, text: &str, number: usize, at: Option<Time>, side: Option<Side>, lines: &mut Vec<Line>) {
        let position = self.open.iter().position(|(of, ..)| *of == side);
        let whole = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        let mut held = match position.map(|position| self.open.remove(position)) {
            // A whole line after a part of another: the part was a line of its own, one that is no JSON.
            Some((_, part, first, then)) if whole(text) => {
                lines.push(Line { number: first, at: then, side, what: record(&part) });
                String::new()
            }
            Some((_, part, ..)) => part,
            None => String::new(),
        };
        held.push_str(text);
        while let Some(end) = held.find('\n') {
            let line: String = held.drain(..=end).collect();
            if !line.trim().is_empty() {
                lines.push(Line { number, at, side, what: record(line.trim()) });
            }
        }
        if whole(&held) {
            lines.push(Line { number, at, side, what: record(&held) });
        } else if !held.is_empty() {
            self.open.push((side, held, number, at));
        }
    }

    fn end(self, lines: &mut Vec<Line>) {
        for (side, part, number, at) in self.open {
            lines.push(Line { number, at, side, what: record(&part) });
        }
    }
}

fn parse(line: &str) -> Result<Parsed, Flaw> {
    if line.starts_with('{') {
        let keys = serde_json::from_str::<Map<String, Value>>(line).map_err(|error| {
            let problem = format!("not JSON ({error}): expected a frame").replace(" at line 1 column ", " at column ");
            (problem, "each line is one JSON object: correct it or delete it".to_owned())
        })?;
        return object(keys);
    }
    let (at, rest) = stamp(line);
    let (word, rest) = prefix(rest);
    let Some(side) = side(word) else {
        let shown: String = line.chars().take(40).collect();
        return flaw(
            format!("`{shown}` is no JSON and has no direction: expected a frame, or `>`, `<`, `stdin:`, `stdout:` before it"),
            "delete the line if the CLI did not write it, or put `stdout:` before it if it did",
        );
    };
    let payload = match serde_json::from_str::<Map<String, Value>>(rest) {
        Ok(keys) => Payload::Frame(Value::Object(keys)),
        Err(_) => Payload::Line(rest.to_owned()),
    };
    Ok(Parsed { at, side: Some(side), payload })
}

/// A time of day before everything else, in brackets or not.
fn stamp(line: &str) -> (Option<Time>, &str) {
    let bare = line.strip_prefix('[').unwrap_or(line);
    // One blank may stand between date and time, so two words are tried as well.
    for count in [1, 2] {
        let Some((end, _)) = bare.match_indices(' ').nth(count - 1) else { break };
        let (word, rest) = bare.split_at(end);
        if let Some(wall) = wall_ms(word.trim_end_matches([']', ':'])) {
            return (Some(Time::Wall(wall)), rest.trim_start());
        }
    }
    (None, line)
}

/// The word before the line, and the line.
fn prefix(text: &str) -> (&str, &str) {
    let arrow = text.find(|c| !matches!(c, '<' | '>' | '-')).unwrap_or(text.len());
    if arrow > 0 {
        return (&text[..arrow], text[arrow..].trim_start());
    }
    let bare = text.strip_prefix('[').unwrap_or(text);
    let end = bare.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '>'))).unwrap_or(bare.len());
    let (word, rest) = bare.split_at(end);
    (word, rest.trim_start_matches([']', ':']).trim_start())
}

/// A frame, or an object with a line in it.
fn object(keys: Map<String, Value>) -> Result<Parsed, Flaw> {
    let direction = DIRECTION_KEYS.iter().find_map(|key| Some((*key, side(keys.get(*key)?.as_str()?)?)));
    let payload = PAYLOAD_KEYS.iter().find(|key| matches!(keys.get(**key), Some(Value::Object(_) | Value::String(_))));
    let bare = keys.contains_key("type") && direction.is_none();
    if let (None, Some(word)) = (direction, keys.get("direction").or_else(|| keys.get("dir")).filter(|_| !bare)) {
        return flaw(
            format!("direction {word}: expected in or out, send or recv, stdin or stdout, host or cli"),
            "say who wrote the line in one of these words",
        );
    }
    let at = time(&keys);
    match payload {
        Some(key) if !bare && (direction.is_some() || at.is_some()) => {
            let payload = match keys.get(*key).cloned() {
                Some(Value::String(text)) => Payload::Text(text),
                other => Payload::Frame(other.unwrap_or_default()),
            };
            Ok(Parsed { at, side: direction.map(|(_, side)| side), payload })
        }
        None if direction.is_some_and(|(key, _)| key == "direction" || key == "dir") => {
            let help = "put the line under `frame`, `data`, `message` or `line`";
            flaw("a direction and no line: expected the line under one of the keys that logs use", help)
        }
        _ => Ok(Parsed { at: None, side: None, payload: Payload::Frame(Value::Object(keys)) }),
    }
}

/// The time that a wrapped line has.
fn time(keys: &Map<String, Value>) -> Option<Time> {
    if let Some(ms) = MS_KEYS.iter().find_map(|key| keys.get(*key)?.as_f64()) {
        return Some(if ms >= EPOCH_MS { Time::Wall(ms) } else { Time::Since(ms) });
    }
    TIME_KEYS.iter().find_map(|key| match keys.get(*key)? {
        Value::String(text) => Some(Time::Wall(wall_ms(text)?)),
        Value::Number(number) => match number.as_f64()? {
            ms if ms >= EPOCH_MS => Some(Time::Wall(ms)),
            seconds if seconds >= EPOCH_MS / 1000.0 => Some(Time::Wall(seconds * 1000.0)),
            // Since a start: programs that count in seconds write fractions, those that count in ms mostly do not.
            since if since.fract() != 0.0 => Some(Time::Since(since * 1000.0)),
            since => Some(Time::Since(since)),
        },
        _ => None,
    })
}
