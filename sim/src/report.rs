//! A run as a line of the report.

use reports::{Origin, RunResult, Tier, TraceLine, Violation};

use crate::{stage::run::RunOutcome, suite::Piece};

/// Trace lines handed to a report around the moment of a fault.
const AROUND: usize = 40;

/// The run as the report keeps it. `plan` is its plan in words (none: the recorded order), `paste` the command that shows it
/// again.
pub fn result(piece: &Piece, outcome: &RunOutcome, plan: Option<String>, paste: String, wall_us: u64) -> RunResult {
    let (provider, version) = piece.played_by();
    let synthetic = piece.captures().iter().any(|capture| capture.header.origin == captures::format::Origin::Synthetic);
    let origin = if synthetic { Origin::Synthetic } else { Origin::Recorded };
    let mut result = RunResult::new(piece.id(), provider.name(), version, Tier::Sim, origin);
    result.title = piece.title().map(str::to_owned);
    if let Piece::Scenario(scenario, _) = piece {
        result.file = Some(format!("scenarios/library/{}.toml", scenario.id));
    }
    if let Some(plan) = plan {
        result.plan = plan;
    }
    result.raw = piece.is_raw();
    result.off_script.clone_from(&outcome.off_script);
    match outcome.verdict {
        reports::Verdict::EnginePanicked => result.panic.clone_from(&outcome.fault),
        _ => result.harness_fault.clone_from(&outcome.fault),
    }
    for violation in &outcome.violations {
        let words = outcome.counts.iter().find(|count| count.id == violation.invariant).map_or("", |count| count.words);
        result.violations.push(Violation {
            invariant: violation.invariant.to_owned(),
            words: if violation.invariant == "expect" { "what the scenario expects".to_owned() } else { words.to_owned() },
            kind: reports::ViolationKind::Safety,
            at_ms: violation.at,
            message: violation.message.clone(),
            event: None,
            before: None,
            after: None,
        });
    }
    if let Some(words) = &outcome.liveness {
        result.violations.push(Violation {
            invariant: "liveness".to_owned(),
            words: "what had to come comes within its bound".to_owned(),
            kind: reports::ViolationKind::Liveness,
            at_ms: outcome.simulated_ms,
            message: words.clone(),
            event: None,
            before: None,
            after: None,
        });
    }
    if !outcome.unreached.is_empty() {
        result.notes.push(format!("{} recorded beats were not reached", outcome.unreached.len()));
    }
    result.trace_hash.clone_from(&outcome.hash);
    result.events = outcome.events;
    result.simulated_ms = outcome.simulated_ms;
    result.wall_us = wall_us;
    result.paste = paste;
    result.settle();
    if result.fails() {
        result.excerpt = excerpt(outcome);
    }
    result
}

/// Lines around the first fault.
fn excerpt(outcome: &RunOutcome) -> Vec<TraceLine> {
    let moment = outcome.violations.first().map_or(outcome.simulated_ms, |violation| violation.at);
    let at = outcome.lines.iter().rposition(|line| line.at <= moment).unwrap_or(0);
    let from = at.saturating_sub(AROUND);
    let lines = outcome.lines.iter().enumerate().skip(from).take(2 * AROUND);
    lines.map(|(n, line)| TraceLine { at_ms: line.at, who: line.who.clone(), what: line.what.clone(), moment: n == at }).collect()
}
