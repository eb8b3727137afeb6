//! Walks the points of a kind. Says how many there were and tries them all.

use captures::races::Races;
use scenarios::Plan;

use super::enumerate::{Sweep, points};
use crate::{
    cast::Casting,
    invariants::{Violation, host::two_runs},
    stage::run::RunOutcome,
    suite::{self, Piece},
};
use reports::Verdict;

/// What a sweep of one kind over one piece brought.
#[derive(Debug)]
pub struct Swept {
    /// The kind.
    pub kind: Sweep,
    /// Points that there were; all were tried.
    pub points: usize,
    /// All plans, in the order tried.
    pub plans: Vec<Plan>,
    /// The trace hash of each.
    pub hashes: Vec<String>,
    /// Ends that were compared with the end of the recorded order (I13).
    pub compared: u64,
    /// Runs that do not conform, with their plans.
    pub failing: Vec<(Plan, RunOutcome)>,
}

/// Walks every point of `kind` in `piece`, whose run in the recorded order is `base`.
///
/// # Errors
/// When the engine cannot be started.
pub fn sweep(
    casting: &Casting,
    piece: &Piece,
    base: &RunOutcome,
    kind: Sweep,
    races: Option<&Races>,
    seed: u64,
) -> anyhow::Result<Swept> {
    let plans = points(kind, base, piece.played_by().0, races);
    let end = two_runs::Final::of(&base.view);
    let mut swept = Swept { kind, points: plans.len(), compared: 0, failing: Vec::new(), hashes: Vec::new(), plans: Vec::new() };
    for plan in &plans {
        let mut outcome = suite::rehearse(casting, piece, plan.clone(), seed)?;
        swept.hashes.push(outcome.hash.clone());
        if kind.keeps_the_end() && outcome.verdict == Verdict::Conforms {
            swept.compared += 1;
            let found = two_runs::compare("I13", &end, &two_runs::Final::of(&outcome.view));
            if !found.violations.is_empty() {
                outcome.violations.extend(found.violations);
                outcome.verdict = Verdict::Violated;
            }
        }
        if outcome.verdict != Verdict::Conforms {
            swept.failing.push((plan.clone(), outcome));
        }
    }
    swept.plans = plans;
    Ok(swept)
}

impl Swept {
    /// Which invariants were broken, each once.
    pub fn broken(&self) -> Vec<&'static str> {
        let mut ids: Vec<&'static str> = self
            .failing
            .iter()
            .flat_map(|(_, outcome)| &outcome.violations)
            .map(|violation: &Violation| violation.invariant)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
