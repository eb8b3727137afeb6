//! What is wrong with a capture file, and what to do about it.

/// A file that is no capture of the version this crate reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read capture {file}, line {line}: {problem} (help: {help})")]
pub struct FormatError {
    /// The file as the caller named it.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// What was found and what was expected.
    pub problem: String,
    /// What to do next.
    pub help: String,
}
