//! Other formats made into captures. One module a source format; each says what it cannot read.
//!
//! What a source does not say is guessed by stated rules, and every guess is said: in [`Imported::said`] for the person who
//! imports, and in the header's `guessed` for everybody after. A capture in which a frame or a host line was made up is
//! `synthetic`; one whose lines all stand in the source keeps the source's word.

mod clock;
mod emit;
mod format;
mod guess;
mod log;
mod recording;
mod transcript;

pub use clock::date;
pub use format::Format;
pub use recording::recording;

use crate::{
    format::{self as capture_format, Capture},
    provider::Provider,
    scrub,
};

/// A source file that cannot be made into a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to import {file}, line {line}: {problem} (help: {help})")]
pub struct ImportError {
    /// The file as the caller named it.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// What was found and what was expected.
    pub problem: String,
    /// What to do next.
    pub help: String,
}

/// What the person who imports knows better than the source; empty for "see for yourself".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The source's format.
    pub format: Option<Format>,
    /// Whose frames these are.
    pub provider: Option<Provider>,
    /// The version of the CLI.
    pub version: Option<String>,
    /// The scene's name.
    pub scene: Option<String>,
    /// The day of the recording, `YYYY-MM-DD`.
    pub recorded_on: Option<String>,
    /// The day to state when nothing in the source says one: that of the file.
    pub file_date: Option<String>,
    /// Leave names, paths and keys as they are.
    pub keep_private: bool,
}

/// A capture, and what was done to get it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The capture.
    pub capture: Capture,
    /// The format that the source has.
    pub format: Format,
    /// What was taken, guessed, made up, left out and scrubbed: a subject and words.
    pub said: Vec<(&'static str, String)>,
}

/// A problem and its help; the caller knows file and line.
type Flaw = (String, String);

fn flaw<T>(problem: impl Into<String>, help: impl Into<String>) -> Result<T, Flaw> {
    Err((problem.into(), help.into()))
}

/// What a source's reader hands over.
struct Read {
    capture: Capture,
    said: Vec<(&'static str, String)>,
}

/// Makes a capture of a file's text. `file` is used in errors, and its name becomes the scene when nothing says another.
///
/// # Errors
///
/// A format that is none of [`Format`]'s, and whatever the format's reader cannot read: with the line, what was expected and
/// what to do.
pub fn import(file: &str, text: &str, options: &Options) -> Result<Imported, ImportError> {
    let format = match options.format {
        Some(format) => format,
        None => format::detect(file, text)?,
    };
    let mut read = match format {
        Format::Capture => {
            let capture = capture_format::parse(file, text).map_err(|error| ImportError {
                file: error.file,
                line: error.line,
                problem: error.problem,
                help: error.help,
            })?;
            Read { capture, said: Vec::new() }
        }
        Format::Recording => Read { capture: recording(file, text)?, said: Vec::new() },
        Format::Log => log::read(file, text, options)?,
        Format::Transcript => transcript::read(file, text, options)?,
        Format::EmitExpect => emit::read(file, text, options)?,
    };
    guess::overrule(&mut read.capture.header, options);
    if !options.keep_private {
        let done = scrub::scrub(&mut read.capture);
        if !done.is_empty() {
            let counts: Vec<String> = done.iter().map(|(what, count)| format!("{what} ({count})")).collect();
            read.said.push(("scrubbed", counts.join(", ")));
        }
    }
    // The format's own rules (names, times) are checked in one place, by reading what would be written.
    let capture = capture_format::parse(file, &capture_format::write(&read.capture)).map_err(|error| ImportError {
        file: file.to_owned(),
        line: if matches!(format, Format::Capture | Format::Recording) { error.line } else { 1 },
        problem: error.problem,
        help: error.help,
    })?;
    Ok(Imported { capture, format, said: read.said })
}

#[cfg(test)]
mod tests;
