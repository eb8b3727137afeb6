//! The judges. An invariant looks at the view and the history after every event, and once more at rest.
//!
//! Host-neutral invariants (I1 …) speak of hosts; the finer rules of the reference engine (D, N, C, T, V, M) stand beside them,
//! named as such. Each says per run whether it had something to judge; only *checked* is a pass.

pub mod families;
pub mod host;
#[cfg(test)]
pub mod stub;

use serde::Serialize;

use crate::{history::History, view::HostView};

/// What an invariant may look at.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Virtual time, ms.
    pub at: u64,
    /// What the viewer sees now.
    pub view: &'a HostView,
    /// What the world knows; its last happening is the one just delivered.
    pub history: &'a History,
}

/// A fault, in words for the reader of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which invariant.
    pub invariant: &'static str,
    /// When, ms.
    pub at: u64,
    /// What was seen and what should have been.
    pub message: String,
}

/// What one look brought.
#[derive(Debug, Default)]
pub struct Found {
    /// Times there was something to judge.
    pub checked: u64,
    /// Faults found.
    pub violations: Vec<Violation>,
    /// Set when the view lacks what the invariant needs.
    pub not_observable: bool,
}

impl Found {
    /// Counts one judgement; `fault` is asked for words only when `holds` is false.
    pub fn judge(&mut self, invariant: &'static str, at: u64, holds: bool, fault: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.violations.push(Violation { invariant, at, message: fault() });
        }
    }
}

/// One rule over view and history. A fresh value judges one run.
pub trait Invariant {
    /// Stable id: `I2`, `V1`, `T4`.
    fn id(&self) -> &'static str;
    /// The rule in one line, for reports and `explain`.
    fn words(&self) -> &'static str;
    /// Called after every event of the stage, each due timer of the host included.
    fn look(&mut self, moment: &Moment<'_>, found: &mut Found);
    /// Called once at quiescence: nothing is pending, everything is delivered, no short timer is armed.
    fn at_rest(&mut self, _moment: &Moment<'_>, _found: &mut Found) {}
}

/// Invariants that judge a raw scene, whose host lines the stage writes itself: bytes, strange frames, requests.
pub const JUDGE_RAW: [&str; 3] = ["I9", "I10", "I14"];

/// Fresh judges for one run.
pub fn all() -> Vec<Box<dyn Invariant>> {
    host::all().into_iter().chain(families::all()).collect()
}
