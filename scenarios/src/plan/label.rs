//! Labels of beats as plans, edits and steps write them.

use std::{fmt, str::FromStr};

/// The label of a beat: `result#1`, or `result#1@claude#2` when several processes have one.
///
/// Without a process it is the first of the cast whose tape has the label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BeatLabel {
    /// The label as the capture lists it.
    pub label: String,
    /// Name of the process.
    pub process: Option<String>,
}

impl BeatLabel {
    /// A label on whichever tape has it first.
    pub fn new(label: impl Into<String>) -> Self {
        BeatLabel { label: label.into(), process: None }
    }
}

impl fmt::Display for BeatLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        match &self.process {
            Some(process) => write!(f, "@{process}"),
            None => Ok(()),
        }
    }
}

impl FromStr for BeatLabel {
    type Err = BadLabel;

    fn from_str(text: &str) -> Result<Self, BadLabel> {
        let (label, process) = match text.split_once('@') {
            Some((label, process)) => (label, Some(process)),
            None => (text, None),
        };
        if label.is_empty() {
            return Err(BadLabel::Empty);
        }
        if process.is_some_and(|process| process.is_empty() || process.contains('@')) {
            return Err(BadLabel::Process);
        }
        if text.chars().any(char::is_whitespace) {
            return Err(BadLabel::Space);
        }
        Ok(BeatLabel { label: label.to_owned(), process: process.map(str::to_owned) })
    }
}

/// Why a text is no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLabel {
    /// Nothing before the `@`.
    #[error("it is empty")]
    Empty,
    /// Nothing, or a second `@`, behind the `@`.
    #[error("one process has to be named behind `@`")]
    Process,
    /// A blank in it.
    #[error("it has a blank in it")]
    Space,
}
