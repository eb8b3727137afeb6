//! The report for a pull request: GitHub workflow commands, one with the figures and one per failing run.
//!
//! The figures come first: GitHub shows the first ten errors of a step and drops the rest.

use crate::model::{Stale, SuiteReport};
use crate::reason::{reason, stale_reason, word};
use crate::run::RunResult;
use crate::sentence;

/// One command a line; every line starts with `::`.
pub fn render(report: &SuiteReport) -> String {
    let failed = report.failing().next().is_some() || !report.stale.is_empty() || report.results.is_empty();
    let level = if failed { "error" } else { "notice" };
    let figures = command(level, &[("title", &report.engine)], &sentence::closing(report));
    std::iter::once(figures).chain(report.failing().map(failure)).chain(report.stale.iter().map(stale)).collect()
}

fn failure(run: &RunResult) -> String {
    let title = format!("{}: {} {} {}", word(run), run.id, run.subject(), run.tier);
    let message = format!("{}\n{}", reason(run), run.command());
    let file = run.file.as_deref().unwrap_or_default();
    command("error", &[("file", file), ("title", &title)], &message)
}

fn stale(entry: &Stale) -> String {
    let line = entry.line.to_string();
    let title = format!("stale baseline: {}", entry.id);
    command("error", &[("file", &entry.file), ("line", &line), ("title", &title)], &stale_reason(entry))
}

fn command(level: &str, properties: &[(&str, &str)], message: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", escape_property(value)))
        .collect();
    let gap = if properties.is_empty() { "" } else { " " };
    format!("::{level}{gap}{}::{}\n", properties.join(","), escape_data(message))
}

/// As the runner reads them back: `%` first, or the escapes would be escaped.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}
