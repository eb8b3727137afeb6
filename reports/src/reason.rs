//! Why something fails, in one line: what tables, annotations and test results show.

use crate::model::Stale;
use crate::run::RunResult;
use crate::verdict::Verdict;

/// Whether the verdict is what makes a run fail; otherwise it fails, if at all, because it was not repeatable.
pub(crate) fn by_verdict(run: &RunResult) -> bool {
    run.verdict.is_failing() && run.known.is_none()
}

/// The kind of a failure, as files name it.
pub(crate) fn word(run: &RunResult) -> &'static str {
    if by_verdict(run) { run.verdict.name() } else { "nondeterminism" }
}

/// The kind of a failure, for people.
pub(crate) fn words(run: &RunResult) -> String {
    if by_verdict(run) { run.verdict.to_string() } else { "not repeatable".to_owned() }
}

/// Why a run fails: what belongs to its verdict.
pub(crate) fn reason(run: &RunResult) -> String {
    if !by_verdict(run) {
        return "played twice, it went two ways".to_owned();
    }
    let told = match run.verdict {
        Verdict::HarnessFault => run.harness_fault.clone(),
        Verdict::EnginePanicked => run.panic.clone(),
        Verdict::OffScript => run.off_script.clone(),
        Verdict::Violated | Verdict::Liveness | Verdict::Conforms => None,
    };
    let violations: Vec<String> =
        run.violations.iter().map(|it| format!("{} ({}) at {} ms: {}", it.invariant, it.words, it.at_ms, it.message)).collect();
    told.or_else(|| (!violations.is_empty()).then(|| violations.join("; "))).unwrap_or_else(|| run.verdict.to_string())
}

/// Why an entry of the baseline is stale.
pub(crate) fn stale_reason(entry: &Stale) -> String {
    let happened = if entry.paste.is_some() { "it passes" } else { "there is no such run in the library" };
    format!("{}:{} lists {} as {} ({}), and {happened}", entry.file, entry.line, entry.id, entry.verdict, entry.why)
}
