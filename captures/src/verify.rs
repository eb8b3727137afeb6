//! What can be wrong with a capture that parses.
//!
//! [`tape`] looks at the capture alone: whether its entries fit together as the provider's own frames do. Whether a protocol
//! model reproduces them is another question, answered elsewhere.

mod claude;
mod control;
mod process;
mod stream;
mod tasks;

use serde::Serialize;

use crate::{
    format::{Capture, Entry, From, What},
    provider::Provider,
};

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule that is broken, in a word or two: `exit-not-last`.
    pub rule: &'static str,
    /// Index of the entry, from 0; in the file it stands on line `entry + 2`.
    pub entry: usize,
    /// The entry's time in milliseconds.
    pub at_ms: f64,
    /// What was found and what was expected.
    pub problem: String,
}

/// Collects findings about one entry after the other.
#[derive(Debug, Default)]
struct Findings {
    list: Vec<Finding>,
    entry: usize,
    at_ms: f64,
}

impl Findings {
    fn at(&mut self, index: usize, entry: &Entry) {
        self.entry = index;
        self.at_ms = entry.at_ms;
    }

    fn add(&mut self, rule: &'static str, problem: impl Into<String>) {
        self.list.push(Finding { rule, entry: self.entry, at_ms: self.at_ms, problem: problem.into() });
    }

    fn expect(&mut self, holds: bool, rule: &'static str, problem: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, problem());
        }
    }
}

/// Everything that does not fit, in order. Empty for a good capture.
pub fn tape(capture: &Capture) -> Vec<Finding> {
    let mut findings = Findings::default();
    process::check(capture, &mut findings);
    if capture.header.provider == Provider::Claude {
        let mut checker = claude::Checker::default();
        for (index, entry) in capture.entries.iter().enumerate() {
            findings.at(index, entry);
            if let What::Frame(frame) = &entry.what {
                match entry.from {
                    From::Host => checker.host(frame),
                    From::Cli | From::World => checker.cli(frame, &mut findings),
                }
            }
        }
    }
    findings.list.sort_by_key(|finding| finding.entry);
    findings.list
}

#[cfg(test)]
mod tests;
