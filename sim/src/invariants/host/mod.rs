//! Invariants that any host of coding-agent CLIs should keep. They speak of view and history only.
//!
//! A host that is right is never accused: what a stop cut, what a gate of the host may drop, what a dead or a broken provider
//! left open is not judged, or judged as far as it can be.

mod approvals;
mod busy;
mod bytes;
pub mod crash;
mod duplicates;
mod fidelity;
mod messages;
mod outcome;
mod owed;
mod requests;
mod scope;
mod strange;
mod tools;
mod turns;
pub mod two_runs;
mod writers;

pub use approvals::Approvals;
pub use busy::Busy;
pub use bytes::Bytes;
pub use crash::Crash;
pub use duplicates::Duplicates;
pub use fidelity::Fidelity;
pub use messages::Messages;
pub use outcome::Outcomes;
pub use requests::Requests;
pub use scope::Scopes;
pub use strange::Strange;
pub use tools::Tools;
pub use turns::Turns;
pub use two_runs::Order;
pub use writers::Writers;

use super::{Found, Invariant, Violation};
use crate::{evidence::Shared, history::History};

/// How long the pill and the rows may differ while a document change waits for its flush, ms.
pub const FLUSH_BOUND_MS: u64 = 120;
/// Within this time a healed host comes to rest, ms.
pub const SETTLE_BOUND_MS: u64 = 600_000;
/// How long after the end of a turn a host may drop untagged content as an echo of that turn, ms.
pub const GATE_MS: u64 = 1_000;

/// Every host-neutral invariant, fresh, on one shared evidence: a value judges one run.
pub fn all() -> Vec<Box<dyn Invariant>> {
    let evidence = Shared::default();
    vec![
        Box::new(Turns::new(&evidence)),
        Box::new(Busy::default()),
        Box::new(Messages::new(&evidence)),
        Box::new(Duplicates::new(&evidence)),
        Box::new(Tools::new(&evidence)),
        Box::new(Approvals::new(&evidence)),
        Box::new(Writers::new(&evidence)),
        Box::new(Bytes::new(&evidence)),
        Box::new(Strange::new(&evidence)),
        Box::new(Outcomes::new(&evidence)),
        Box::new(Scopes::new(&evidence)),
        Box::new(Order),
        Box::new(Requests::new(&evidence)),
        Box::new(Crash::default()),
        Box::new(Fidelity::new(&evidence)),
    ]
}

/// Judges a state that stays: every look counts, but one fault is told once, when it begins.
fn judge_state(found: &mut Found, wrong: &mut bool, id: &'static str, at: u64, holds: bool, fault: impl FnOnce() -> String) {
    found.checked += 1;
    if !holds && !*wrong {
        found.violations.push(Violation { invariant: id, at, message: fault() });
    }
    *wrong = !holds;
}

/// The memory of chat number `index`, made on first use. Chats keep their place in the view.
fn memory<T: Default>(memories: &mut Vec<T>, index: usize) -> &mut T {
    if memories.len() <= index {
        memories.resize_with(index + 1, T::default);
    }
    &mut memories[index]
}

/// Whether the host came back from its store in this run: what it did not see then it need not know.
fn was_restarted(history: &History) -> bool {
    history.happenings.iter().any(|happening| matches!(happening.what, crate::history::What::HostStarted))
}

/// What happened since `seen`, and the new value of `seen`.
fn since<'a>(seen: &mut usize, history: &'a History) -> &'a [crate::history::Happening] {
    let new = &history.happenings[(*seen).min(history.happenings.len())..];
    *seen = history.happenings.len();
    new
}

#[cfg(test)]
mod tests;
