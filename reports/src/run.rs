//! One run: a scenario, played to one version of one provider under one plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verdict::{Origin, Tier, Verdict};

/// What [`RunResult::plan`] says when the plan is empty.
pub const RECORDED_ORDER: &str = "recorded order";

/// Whether something wrong happened, or something right did not happen in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// The invariant did not hold.
    #[default]
    Safety,
    /// What had to come did not come within its bound, after the faults had healed.
    Liveness,
}

/// One invariant that did not hold, with the moment and what the viewer saw change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// Id of the invariant.
    pub invariant: String,
    /// The rule in words.
    pub words: String,
    /// Safety or liveness.
    #[serde(default)]
    pub kind: ViolationKind,
    /// Simulated milliseconds since the run began.
    pub at_ms: u64,
    /// What was seen instead.
    pub message: String,
    /// The event the stage had just delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The view before that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The view after that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// A line of the trace, as an excerpt shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceLine {
    /// Simulated milliseconds since the run began.
    pub at_ms: u64,
    /// Who did it, or from whom to whom (`cli > host`).
    pub who: String,
    /// What happened.
    pub what: String,
    /// Whether this is the moment the excerpt is about.
    #[serde(default)]
    pub moment: bool,
}

/// What one run said. Times in simulated milliseconds, except [`RunResult::wall_us`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// Id of the scenario.
    pub id: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where the scenario stands, as a path from the root of the project, for annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Provider the understudies played.
    pub provider: String,
    /// Version of that provider.
    pub version: String,
    /// How close to the real thing the run was.
    pub tier: Tier,
    /// The plan in words; [`RECORDED_ORDER`] for the empty one.
    pub plan: String,
    /// Where the frames come from.
    pub origin: Origin,
    /// Whether the stage itself wrote the host's lines, since no host would; only byte-level invariants judge then.
    pub raw: bool,
    /// The verdict that counts.
    pub verdict: Verdict,
    /// Verdicts that apply too but stand behind [`RunResult::verdict`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Verdict>,
    /// Every invariant that did not hold.
    pub violations: Vec<Violation>,
    /// Why the run left the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_script: Option<String>,
    /// What the host's code said when it panicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic: Option<String>,
    /// What failed in the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_fault: Option<String>,
    /// The same run, played twice, went two ways: the common prefix and both continuations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nondeterminism: Option<String>,
    /// Why this failure is known: set by a baseline that lists it with this verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The verdict a baseline expects, if it lists this run with another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed_as: Option<Verdict>,
    /// What is no failure and still worth knowing: beats never reached, for example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Hash over everything that happened.
    pub trace_hash: String,
    /// Number of events the stage delivered.
    pub events: u64,
    /// Simulated milliseconds the run lasted.
    pub simulated_ms: u64,
    /// Wall-clock microseconds the run took. The only field of a run that may differ between two equal runs.
    pub wall_us: u64,
    /// The command to paste to see this run again.
    pub paste: String,
    /// Trace lines around the moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpt: Vec<TraceLine>,
}

impl RunResult {
    /// A run of the recorded order about which nothing has been said yet. Fill in what happened, then
    /// [`settle`](Self::settle).
    pub fn new(
        id: impl Into<String>,
        provider: impl Into<String>,
        version: impl Into<String>,
        tier: Tier,
        origin: Origin,
    ) -> Self {
        Self {
            id: id.into(),
            title: None,
            file: None,
            provider: provider.into(),
            version: version.into(),
            tier,
            plan: RECORDED_ORDER.to_owned(),
            origin,
            raw: false,
            verdict: Verdict::Conforms,
            also: Vec::new(),
            violations: Vec::new(),
            off_script: None,
            panic: None,
            harness_fault: None,
            nondeterminism: None,
            known: None,
            listed_as: None,
            notes: Vec::new(),
            trace_hash: String::new(),
            events: 0,
            simulated_ms: 0,
            wall_us: 0,
            paste: String::new(),
            excerpt: Vec::new(),
        }
    }

    /// Sets [`verdict`](Self::verdict) to the first that applies and [`also`](Self::also) to the others, from what
    /// the run recorded.
    pub fn settle(&mut self) {
        let kinds = |kind| self.violations.iter().any(|violation| violation.kind == kind);
        let applies = |verdict: &Verdict| match verdict {
            Verdict::HarnessFault => self.harness_fault.is_some(),
            Verdict::EnginePanicked => self.panic.is_some(),
            Verdict::Violated => kinds(ViolationKind::Safety),
            Verdict::OffScript => self.off_script.is_some(),
            Verdict::Liveness => kinds(ViolationKind::Liveness),
            Verdict::Conforms => false,
        };
        let mut all = Verdict::ALL.into_iter().filter(applies);
        let first = all.next().unwrap_or(Verdict::Conforms);
        let rest = all.collect();
        self.verdict = first;
        self.also = rest;
    }

    /// Whether this run makes the suite fail: it does not conform and no baseline lists it so, or it was not
    /// repeatable (which no baseline excuses).
    pub fn fails(&self) -> bool {
        self.nondeterminism.is_some() || (self.verdict.is_failing() && self.known.is_none())
    }

    /// `provider@version`, or as much of it as there is.
    pub fn subject(&self) -> String {
        subject(&self.provider, &self.version)
    }

    /// The command to paste: [`paste`](Self::paste), or, if nobody gave one, the check of this scenario alone.
    pub fn command(&self) -> String {
        if !self.paste.is_empty() {
            return self.paste.clone();
        }
        match self.subject() {
            subject if subject.is_empty() => format!("rehearsal check {}", self.id),
            subject => format!("rehearsal check {} --provider {subject}", self.id),
        }
    }
}

/// `provider@version`, or as much of it as there is.
pub(crate) fn subject(provider: &str, version: &str) -> String {
    if version.is_empty() { provider.to_owned() } else { format!("{provider}@{version}") }
}

/// Orders versions as people do: 2.1.9 before 2.1.310. What is no number stands after the numbers, by its letters.
pub(crate) type VersionKey = Vec<(u64, String)>;

/// The key of one version.
pub(crate) fn version_key(version: &str) -> VersionKey {
    version.split('.').map(|part| part.parse().map_or_else(|_| (u64::MAX, part.to_owned()), |n| (n, String::new()))).collect()
}
