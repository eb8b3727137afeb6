//! The sentence a suite ends with, the same for every reader.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::SuiteReport;
use crate::run::{VersionKey, version_key};
use crate::text::{plural, span, wrap, wrap_items};
use crate::verdict::{Origin, Verdict};

/// `172 runs of 86 scenarios, claude 2.1.310 2.1.332: 140 conform, 24 off-script as listed, 8 raw — 3 h 12 min
/// simulated in 1.9 s`. Failures stand first; a raw run that passes is counted as raw, not as conforming.
pub fn closing(report: &SuiteReport) -> String {
    if report.results.is_empty() {
        return nothing(report);
    }
    format!("{}: {} — {}", runs(report), verdicts(report).join(", "), times(report))
}

/// The same, broken where it means something if it does not fit.
pub(crate) fn closing_lines(report: &SuiteReport, width: usize) -> Vec<String> {
    let one = closing(report);
    if one.chars().count() <= width || report.results.is_empty() {
        return vec![one];
    }
    let mut lines = wrap(&format!("{}:", runs(report)), "", "  ", width);
    lines.extend(wrap_items(&verdicts(report), "  ", width));
    lines.push(format!("  {}", times(report)));
    lines
}

fn nothing(report: &SuiteReport) -> String {
    let stale = stale(report).map(|part| format!("; {part}")).unwrap_or_default();
    format!("nothing ran: no scenario matches{stale}")
}

fn runs(report: &SuiteReport) -> String {
    let (runs, scenarios) = (plural(report.summary.runs, "run"), plural(report.summary.scenarios, "scenario"));
    format!("{runs} of {scenarios}{}{}", synthetic(report), versions(report))
}

fn times(report: &SuiteReport) -> String {
    format!("{} simulated in {}", span(report.summary.simulated_ms), span(report.summary.wall_ms))
}

/// The tiers that ran, in words: `sim`, `sim and lockstep`; empty if nothing ran.
pub(crate) fn tiers(report: &SuiteReport) -> String {
    let tiers: BTreeSet<_> = report.results.iter().map(|run| run.tier).collect();
    tiers.iter().map(|tier| tier.name()).collect::<Vec<_>>().join(" and ")
}

fn synthetic(report: &SuiteReport) -> String {
    match report.results.iter().filter(|run| run.origin == Origin::Synthetic).count() {
        0 => String::new(),
        count => format!(" ({count} on synthetic frames)"),
    }
}

fn versions(report: &SuiteReport) -> String {
    let mut providers: BTreeMap<&str, BTreeMap<VersionKey, &str>> = BTreeMap::new();
    for run in report.results.iter().filter(|run| !run.provider.is_empty()) {
        providers.entry(&run.provider).or_default().insert(version_key(&run.version), &run.version);
    }
    let said = |(provider, versions): (&&str, &BTreeMap<VersionKey, &str>)| {
        let words = std::iter::once(*provider).chain(versions.values().copied());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        format!(", {}", words.join(" "))
    };
    providers.iter().map(said).collect()
}

fn verdicts(report: &SuiteReport) -> Vec<String> {
    let mut parts = Vec::new();
    let mut say = |count: usize, words: &str| {
        if count > 0 {
            parts.push(format!("{count} {words}"));
        }
    };
    let failing: Vec<Verdict> = Verdict::ALL.into_iter().filter(|verdict| verdict.is_failing()).collect();
    let runs = &report.results;
    for verdict in &failing {
        say(runs.iter().filter(|run| run.verdict == *verdict && run.known.is_none()).count(), &verdict.to_string());
    }
    say(runs.iter().filter(|run| run.nondeterminism.is_some()).count(), "not repeatable");
    say(runs.iter().filter(|run| run.verdict == Verdict::Conforms && !run.raw).count(), "conform");
    for verdict in &failing {
        say(runs.iter().filter(|run| run.verdict == *verdict && run.known.is_some()).count(), &format!("{verdict} as listed"));
    }
    say(runs.iter().filter(|run| run.verdict == Verdict::Conforms && run.raw).count(), "raw");
    parts.extend(stale(report));
    parts
}

fn stale(report: &SuiteReport) -> Option<String> {
    match report.stale.len() as u64 {
        0 => None,
        1 => Some("1 entry of the baseline is stale".to_owned()),
        count => Some(format!("{count} entries of the baseline are stale")),
    }
}
