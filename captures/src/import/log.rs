//! Logs of stream-json lines, as people write them: a plain dump of stdout, lines with `>` and `<` or `stdin:` and `stdout:`
//! before them, objects with a direction and the line in them; with times and without.

mod host;
mod lines;
mod side;
mod words;

pub(super) use lines::is_line;

use super::{Flaw, ImportError, Options, Read, clock, guess};
use crate::{
    format::{Entry, From, Origin, What},
    provider::Provider,
};

/// Milliseconds before a CLI's line of a log without times.
const CLI_MS: f64 = 10.0;
/// Milliseconds before a host's line of a log without times: a person is slower than a program.
const HOST_MS: f64 = 100.0;

/// One thing that a log says.
#[derive(Clone, Debug, PartialEq)]
struct Happening {
    /// Line of the log, from 1.
    line: usize,
    /// Its time, if it has one.
    at: Option<lines::Time>,
    from: From,
    what: What,
}

pub(super) fn read(file: &str, text: &str, options: &Options) -> Result<Read, ImportError> {
    let at = |line: usize| move |(problem, help): Flaw| ImportError { file: file.to_owned(), line, problem, help };
    let provider = options.provider.unwrap_or(Provider::Claude);
    let read = lines::read(text).map_err(|(line, flaw)| at(line)(flaw))?;
    if read.lines.is_empty() {
        return Err(at(1)(("no frame in the whole log: expected at least one".to_owned(), "check what was logged".to_owned())));
    }
    let (happenings, directions) = side::sides(provider, read.lines).map_err(|(line, flaw)| at(line)(flaw))?;
    let mut said = vec![("directions", directions.words.clone())];
    let mut guessed = Vec::new();
    if directions.guessed {
        guessed.push(format!("directions: {}", directions.words));
    }
    let (happenings, made_up) = if provider == Provider::Claude { host::complete(happenings) } else { (happenings, None) };
    if let Some(words) = &made_up {
        said.push(("host lines", words.clone()));
        guessed.push(format!("host lines: {words}"));
    }
    let wall_ms = happenings.iter().find_map(|happening| match happening.at {
        Some(lines::Time::Wall(wall)) => Some(wall),
        _ => None,
    });
    let (mut entries, times) = space(happenings);
    said.push(("times", times.words.clone()));
    if times.guessed {
        guessed.push(format!("times: {}", times.words));
    }
    if let Some(words) = guess::end(&mut entries) {
        guessed.push(format!("end: {words}"));
        said.push(("end", words));
    }
    if read.stderr > 0 {
        said.push(("left out", format!("{} lines of stderr", read.stderr)));
    }
    let origin = if made_up.is_none() { Origin::Recorded } else { Origin::Synthetic };
    said.push((
        "origin",
        match made_up {
            None => "recorded: every line stands in the log; by whom it was recorded is not known".to_owned(),
            Some(_) => "synthetic: the log lacks what the host wrote".to_owned(),
        },
    ));
    let known = guess::Known {
        wall_ms,
        origin: Some(origin),
        imported_from: "a stream-json log; by whom it was recorded is not known".to_owned(),
        ..guess::Known::default()
    };
    let mut capture = guess::capture(file, entries, known, options, &mut said).map_err(at(1))?;
    capture.header.guessed = guessed;
    Ok(Read { capture, said })
}

/// What was found out or guessed, in words.
struct Finding {
    words: String,
    guessed: bool,
}

/// Gives every line its time: its own, else that of the line before it; without any times, by rule.
fn space(happenings: Vec<Happening>) -> (Vec<Entry>, Finding) {
    let entry = |at_ms, happening: Happening| Entry { at_ms, from: happening.from, what: happening.what, label: None };
    let Some(first) = happenings.iter().find_map(|happening| happening.at) else {
        let mut at_ms = 0.0;
        let spaced = happenings.into_iter().map(|happening| {
            at_ms += if happening.from == From::Host { HOST_MS } else { CLI_MS };
            entry(at_ms, happening)
        });
        let words =
            format!("none in the log: a line of the CLI comes {CLI_MS} ms after the one before, one of the host {HOST_MS}");
        return (spaced.collect(), Finding { words, guessed: true });
    };
    let (mut without, mut back, mut before) = (0, 0, 0.0);
    // Times since a start of the log's own stay as they are; times of the day are counted from the first.
    let since = |time: lines::Time| match (time, first) {
        (lines::Time::Wall(wall), lines::Time::Wall(first)) => wall - first,
        (lines::Time::Since(ms), _) | (lines::Time::Wall(ms), lines::Time::Since(_)) => ms,
    };
    let mut entries = Vec::with_capacity(happenings.len());
    for happening in happenings {
        let at_ms = match happening.at {
            None => {
                without += 1;
                before
            }
            Some(time) if since(time) < before => {
                back += 1;
                before
            }
            Some(time) => clock::tenths(since(time)),
        };
        before = at_ms;
        entries.push(entry(at_ms, happening));
    }
    let mut words = match first {
        lines::Time::Wall(_) => "the log's own, counted from its first".to_owned(),
        lines::Time::Since(_) => "the log's own".to_owned(),
    };
    if without > 0 {
        words.push_str(&format!("; {without} lines without one take that of the line before"));
    }
    if back > 0 {
        words.push_str(&format!("; {back} went back and take that of the line before"));
    }
    (entries, Finding { words, guessed: without + back > 0 })
}

#[cfg(test)]
mod tests;
