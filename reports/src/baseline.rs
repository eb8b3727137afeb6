//! Failures that are known, and why.
//!
//! ```toml
//! [[known]]
//! id       = "steer/cross-session"
//! provider = "claude"        # optional: every provider otherwise
//! version  = "2.1.310"       # optional, needs a provider: every version otherwise
//! verdict  = "off-script"
//! why      = "the recording holds no answer to a second steer"
//! ```
//!
//! A run that is listed and fails with the listed verdict passes; a run that fails and is not listed, or is listed with
//! another verdict, fails; and an entry whose run passes is *stale* and fails the suite, since it would hide the next
//! failure of that scenario.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::model::{SCHEMA_VERSION, Stale, SuiteReport};
use crate::run::RunResult;
use crate::verdict::Verdict;

/// One failure that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Id of the scenario.
    pub id: String,
    /// Provider it speaks of; every one if none.
    pub provider: Option<String>,
    /// Version it speaks of; every one if none.
    pub version: Option<String>,
    /// The verdict that is expected.
    pub verdict: Verdict,
    /// Why it is known.
    pub why: String,
    /// Line of the entry in the file, from 1.
    pub line: u32,
}

/// A baseline that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The file, for messages.
    pub file: String,
    /// The entries, in the order of the file.
    pub known: Vec<Known>,
}

/// What of the library ran: decides whether an entry that names no run says something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A part was chosen: an entry that names no run speaks of the rest.
    Part,
    /// Everything: an entry that names no run is stale, its scenario or version is gone.
    Whole,
}

/// A baseline that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the baseline {file}:{line}: {problem}; {next}")]
pub struct BaselineError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub next: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: Option<Spanned<u32>>,
    #[serde(default)]
    known: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Spanned<String>,
    provider: Option<String>,
    version: Option<Spanned<String>>,
    verdict: Spanned<Verdict>,
    why: Spanned<String>,
}

const SHAPE: &str = "an entry is [[known]] with id, verdict, why and, if you like, provider and version";

impl Baseline {
    /// Reads a baseline. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// With file, line and what to do: no TOML, an unknown key, another schema version, an entry without a reason, one
    /// that lists *conforms* (nothing to list) or *harness fault* (which says nothing about the host), or one that
    /// stands there twice.
    pub fn parse(text: &str, file: &str) -> Result<Self, BaselineError> {
        let fault = |at: usize, problem: String, next: &str| BaselineError {
            file: file.to_owned(),
            line: line_of(text, at),
            problem,
            next: next.to_owned(),
        };
        let read: File = toml::from_str(text)
            .map_err(|e| fault(e.span().map_or(0, |span| span.start), e.message().replace('\n', ", "), SHAPE))?;
        if let Some(version) = read.schema_version.filter(|version| *version.get_ref() != SCHEMA_VERSION) {
            let problem = format!("schema_version {} is not known", version.get_ref());
            return Err(fault(version.span().start, problem, "this build reads schema_version 1, the default"));
        }
        let mut known: Vec<Known> = Vec::new();
        for entry in read.known {
            let line = line_of(text, entry.span().start);
            let start = entry.span().start;
            let entry = entry.into_inner();
            for (key, value) in [("id", &entry.id), ("why", &entry.why)] {
                if value.get_ref().trim().is_empty() {
                    let next = "name the scenario, and say why its failure is known";
                    return Err(fault(value.span().start, format!("{key} is empty"), next));
                }
            }
            match entry.verdict.get_ref() {
                Verdict::Conforms => {
                    let next = "a baseline lists failures: delete the entry";
                    return Err(fault(entry.verdict.span().start, "verdict \"conforms\" is no failure".to_owned(), next));
                }
                Verdict::HarnessFault => {
                    let problem = "verdict \"harness-fault\" cannot be known, it says nothing about the host".to_owned();
                    return Err(fault(
                        entry.verdict.span().start,
                        problem,
                        "mend the harness or the scenario and delete the entry",
                    ));
                }
                _ => {}
            }
            if let (None, Some(version)) = (&entry.provider, &entry.version) {
                let next = "add provider = \"…\" beside it";
                return Err(fault(version.span().start, "version stands without a provider".to_owned(), next));
            }
            let entry = Known {
                id: entry.id.into_inner(),
                provider: entry.provider,
                version: entry.version.map(Spanned::into_inner),
                verdict: entry.verdict.into_inner(),
                why: entry.why.into_inner(),
                line,
            };
            if let Some(twin) = known.iter().find(|other| other.same_claim(&entry)) {
                let problem = format!("{:?} is listed with the same verdict on line {} already", entry.id, twin.line);
                return Err(fault(start, problem, "keep one of the two"));
            }
            known.push(entry);
        }
        Ok(Self { file: file.to_owned(), known })
    }
}

impl Known {
    fn covers(&self, run: &RunResult) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        self.id == run.id && fits(&self.provider, &run.provider) && fits(&self.version, &run.version)
    }

    fn same_claim(&self, other: &Self) -> bool {
        let claim = |known: &Self| (known.id.clone(), known.provider.clone(), known.version.clone(), known.verdict);
        claim(self) == claim(other)
    }
}

/// Marks the runs the baseline lists, finds the entries that are stale, and counts anew. Applying it again changes
/// nothing; applying another baseline forgets the first.
///
/// An entry is stale for a version of a provider if every run of its scenario there passes, whatever the plan: a race
/// that only some plans lose is listed rightly.
pub fn apply(baseline: &Baseline, report: &mut SuiteReport, scope: Scope) {
    for run in &mut report.results {
        let listed: Vec<&Known> = baseline.known.iter().filter(|known| known.covers(run)).collect();
        let right = listed.iter().find(|known| known.verdict == run.verdict);
        run.known = right.map(|known| known.why.clone());
        let wrong = listed.first().filter(|_| right.is_none() && run.verdict.is_failing());
        run.listed_as = wrong.map(|known| known.verdict);
    }
    report.stale = baseline.known.iter().flat_map(|known| stale(baseline, known, &report.results, scope)).collect();
    report.count();
}

fn stale(baseline: &Baseline, known: &Known, runs: &[RunResult], scope: Scope) -> Vec<Stale> {
    let entry = |provider: &str, version: &str, paste: Option<String>| Stale {
        id: known.id.clone(),
        provider: provider.to_owned(),
        version: version.to_owned(),
        verdict: known.verdict,
        why: known.why.clone(),
        file: baseline.file.clone(),
        line: known.line,
        paste,
    };
    let mut versions: BTreeMap<(&str, &str), Vec<&RunResult>> = BTreeMap::new();
    for run in runs.iter().filter(|run| known.covers(run)) {
        versions.entry((&run.provider, &run.version)).or_default().push(run);
    }
    if versions.is_empty() && scope == Scope::Whole {
        let named = |part: &Option<String>| part.clone().unwrap_or_default();
        return vec![entry(&named(&known.provider), &named(&known.version), None)];
    }
    let passing = versions.into_iter().filter(|(_, runs)| runs.iter().all(|run| !run.verdict.is_failing()));
    passing.map(|((provider, version), runs)| entry(provider, version, runs.first().map(|run| run.command()))).collect()
}

/// The line, from 1, that holds byte `at`.
fn line_of(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}
