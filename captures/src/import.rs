//! Other formats made into captures. One module a source format; each says what it cannot read.

mod recording;

pub use recording::recording;

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

#[cfg(test)]
mod tests;
