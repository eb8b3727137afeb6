//! What a whole suite said: the shape that `--format json` prints.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{RunResult, version_key};
use crate::verdict::Verdict;

/// Version of the report's format. Raised when a field changes its meaning or goes away, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// What one invariant had to say about one run. Only `Checked` is a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// It had something to judge, this many times.
    Checked(u64),
    /// What it speaks of did not occur.
    NothingToJudge,
    /// The view lacks what it needs.
    NotObservable,
}

/// What one invariant had to say, summed over the runs of a suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvariantCount {
    /// Id of the invariant.
    pub id: String,
    /// The rule in words.
    pub words: String,
    /// Number of runs in which it had something to judge.
    pub checked: u64,
    /// Number of runs in which what it speaks of did not occur.
    pub nothing_to_judge: u64,
    /// Number of runs whose view lacks what it needs.
    pub not_observable: u64,
    /// How often it judged, over all runs.
    #[serde(default)]
    pub judgements: u64,
}

impl InvariantCount {
    /// An invariant that has seen no run yet.
    pub fn new(id: impl Into<String>, words: impl Into<String>) -> Self {
        Self { id: id.into(), words: words.into(), checked: 0, nothing_to_judge: 0, not_observable: 0, judgements: 0 }
    }

    /// Counts one run. `Checked(0)` is counted as nothing to judge: an invariant that never looked has passed nothing.
    pub fn add(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Checked(0) | Judgement::NothingToJudge => self.nothing_to_judge += 1,
            Judgement::NotObservable => self.not_observable += 1,
            Judgement::Checked(times) => {
                self.checked += 1;
                self.judgements += times;
            }
        }
    }
}

/// An entry of a baseline that no longer says the truth, which fails the suite: otherwise it would hide the next
/// failure of that scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stale {
    /// Id of the scenario the entry names.
    pub id: String,
    /// Provider of the run that passed; empty if there was no such run.
    pub provider: String,
    /// Version of that provider.
    pub version: String,
    /// The verdict the entry expects.
    pub verdict: Verdict,
    /// Why the entry says the failure is known.
    pub why: String,
    /// File of the baseline.
    pub file: String,
    /// Line of the entry, from 1.
    pub line: u32,
    /// The command to paste to see the run pass; none if the entry names no run of the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paste: Option<String>,
}

/// The figures of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Number of different scenarios that ran.
    pub scenarios: u64,
    /// Number of runs.
    pub runs: u64,
    /// Runs with the verdict *conforms*, raw ones included.
    pub conforms: u64,
    /// Runs that make the suite fail: not conforming and not listed, or not repeatable.
    pub failed: u64,
    /// Runs that do not conform and that a baseline lists so.
    pub known: u64,
    /// Runs with the verdict *off-script*, listed or not.
    pub off_script: u64,
    /// Runs whose host lines the stage wrote itself.
    pub raw: u64,
    /// Runs that went two ways when played twice.
    pub nondeterministic: u64,
    /// Entries of the baseline that no longer say the truth.
    pub stale: u64,
    /// Wall-clock milliseconds of the whole suite. May differ between two equal suites.
    pub wall_ms: u64,
    /// Simulated milliseconds, summed over the runs.
    pub simulated_ms: u64,
}

/// What a whole suite said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteReport {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The engine that was judged, in words (`reference engine`).
    pub engine: String,
    /// The figures.
    pub summary: Summary,
    /// The runs, ordered by scenario, provider, version, tier and plan.
    pub results: Vec<RunResult>,
    /// What each invariant had to judge.
    pub invariants: Vec<InvariantCount>,
    /// Entries of the baseline that no longer say the truth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
}

impl SuiteReport {
    /// Puts the runs in order (whichever finished first) and counts them. `wall_ms` is the wall-clock time of the
    /// whole suite in milliseconds.
    pub fn new(engine: impl Into<String>, mut results: Vec<RunResult>, invariants: Vec<InvariantCount>, wall_ms: u64) -> Self {
        results.sort_by_cached_key(|run| {
            (run.id.clone(), run.provider.clone(), version_key(&run.version), run.tier, run.plan.clone())
        });
        let summary = Summary { wall_ms, ..Summary::default() };
        let mut report =
            Self { schema_version: SCHEMA_VERSION, engine: engine.into(), summary, results, invariants, stale: Vec::new() };
        report.count();
        report
    }

    /// Counts the runs anew. Call it after changing `results` or `stale` by hand; keeps the wall-clock time.
    pub fn count(&mut self) {
        let count = |test: &dyn Fn(&RunResult) -> bool| self.results.iter().filter(|run| test(run)).count() as u64;
        self.summary = Summary {
            scenarios: self.results.iter().map(|run| &run.id).collect::<BTreeSet<_>>().len() as u64,
            runs: self.results.len() as u64,
            conforms: count(&|run| !run.verdict.is_failing()),
            failed: count(&RunResult::fails),
            known: count(&|run| run.verdict.is_failing() && run.known.is_some()),
            off_script: count(&|run| run.verdict == Verdict::OffScript),
            raw: count(&|run| run.raw),
            nondeterministic: count(&|run| run.nondeterminism.is_some()),
            stale: self.stale.len() as u64,
            wall_ms: self.summary.wall_ms,
            simulated_ms: self.results.iter().map(|run| run.simulated_ms).sum(),
        };
    }

    /// The runs that make the suite fail, in order.
    pub fn failing(&self) -> impl Iterator<Item = &RunResult> {
        self.results.iter().filter(|run| run.fails())
    }

    /// The failing run to look at first: the one whose exit code and verdict stand before the others'.
    pub fn worst(&self) -> Option<&RunResult> {
        self.failing().min_by_key(|run| {
            let exit = crate::exit::codes_of(run).into_iter().map(crate::exit::rank).min();
            (exit, run.verdict)
        })
    }

    /// Sets every wall-clock time to zero, so that two equal suites render to equal bytes.
    pub fn mask_times(&mut self) {
        self.summary.wall_ms = 0;
        for run in &mut self.results {
            run.wall_us = 0;
        }
    }
}
