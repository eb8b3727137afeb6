//! The trace: one aligned line an event, an NDJSON twin, and a hash over everything that happened.

use serde::{Deserialize, Serialize};

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Virtual time, ms.
    pub at: u64,
    /// Who: `user`, `claude 1`, `host`, `view`, `disk`, `world`.
    pub who: String,
    /// What, in short.
    pub what: String,
}

/// A trace being written.
#[derive(Default)]
pub struct Trace {
    lines: Vec<Line>,
    hasher: blake3::Hasher,
}

impl Trace {
    /// Writes a line and takes `bytes`, which it stands for, into the hash.
    pub fn line(&mut self, at: u64, who: &str, what: String, bytes: &[u8]) {
        self.hash(at, who.as_bytes());
        self.hash(what.len() as u64, what.as_bytes());
        self.hash(bytes.len() as u64, bytes);
        self.lines.push(Line { at, who: who.to_owned(), what });
    }

    /// Takes something into the hash that has no line of its own.
    pub fn hash(&mut self, number: u64, bytes: &[u8]) {
        self.hasher.update(&number.to_le_bytes());
        self.hasher.update(bytes);
    }

    /// The lines so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Hash over every byte each way, every timer, disk call with its outcome, row change, document update and verdict.
    pub fn digest(&self) -> String {
        self.hasher.finalize().to_hex()[..32].to_owned()
    }

    /// The lines, aligned for a reader.
    pub fn render(lines: &[Line]) -> String {
        let who = lines.iter().map(|line| line.who.len()).max().unwrap_or(0);
        let mut page = String::new();
        for line in lines {
            page.push_str(&format!("{:>10} ms  {:who$}  {}\n", line.at, line.who, line.what));
        }
        page
    }

    /// The NDJSON twin of the lines.
    pub fn ndjson(lines: &[Line]) -> String {
        let mut page = String::new();
        for line in lines {
            page.push_str(&serde_json::to_string(line).unwrap_or_default());
            page.push('\n');
        }
        page
    }
}
