//! The report as Markdown, for a GitHub step summary: the figures, a table of what failed, and the details folded.

use crate::human::{self, Options};
use crate::model::{InvariantCount, SuiteReport};
use crate::reason::{reason, words};
use crate::run::{RunResult, subject};
use crate::sentence;
use crate::text::cut;

/// Runs whose details are written.
const DETAILS: usize = 25;
/// Bytes after which no more details are written: a step summary of more than a mebibyte is thrown away whole.
const DETAILS_END: usize = 900 * 1024;
/// Characters of a reason in the table.
const REASON: usize = 300;
/// Rows of the table of failing runs.
const ROWS: usize = 500;

/// The page.
pub fn render(report: &SuiteReport) -> String {
    let failing: Vec<&RunResult> = report.failing().collect();
    let mut page = format!("## rehearsal: {}\n\n{}\n", text(&report.engine), text(&sentence::closing(report)));
    if !failing.is_empty() {
        let rows = failing.iter().take(ROWS).map(|run| {
            [words(run), run.id.clone(), run.subject(), run.tier.to_string(), cut(&run.plan, REASON), cut(&reason(run), REASON)]
        });
        page.push_str(&table(["verdict", "scenario", "provider", "tier", "plan", "what"], rows));
        if failing.len() > ROWS {
            page.push_str(&format!("\nand {} more failing runs\n", failing.len() - ROWS));
        }
    }
    if !report.stale.is_empty() {
        let rows = report.stale.iter().map(|entry| {
            let place = format!("{}:{}", entry.file, entry.line);
            let happened = if entry.paste.is_some() { "passes" } else { "no such run" };
            let subject = subject(&entry.provider, &entry.version);
            [place, entry.id.clone(), subject, entry.verdict.to_string(), happened.to_owned()]
        });
        page.push_str(&table(["stale baseline", "scenario", "provider", "listed as", "now"], rows));
    }
    let mut left = failing.len();
    for details in failing.iter().take(DETAILS).map(|run| details(run)) {
        if page.len() + details.len() > DETAILS_END {
            break;
        }
        page.push_str(&details);
        left -= 1;
    }
    if left > 0 {
        page.push_str(&format!("\nDetails of {left} more failing runs are in the log.\n"));
    }
    if !report.invariants.is_empty() {
        let row = |count: &InvariantCount| {
            let [checked, nothing, hidden] =
                [count.checked, count.nothing_to_judge, count.not_observable].map(|number| number.to_string());
            [count.id.clone(), checked, nothing, hidden, count.words.clone()]
        };
        let titles = ["invariant", "checked", "nothing to judge", "not observable", "rule"];
        let table = table(titles, report.invariants.iter().map(row));
        page.push_str(&format!("\n<details><summary>What each invariant had to judge</summary>\n{table}\n</details>\n"));
    }
    page
}

fn details(run: &RunResult) -> String {
    let block = human::render_run(run, &Options::default());
    let fence = fence(&block);
    let summary = html(&format!("{} {}", run.id, run.subject()));
    format!("\n<details><summary>{summary}</summary>\n\n{fence}text\n{block}{fence}\n\n</details>\n")
}

/// A table with a blank line before it.
fn table<const N: usize>(titles: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = format!("\n| {} |\n|{}\n", titles.join(" | "), "---|".repeat(N));
    for row in rows {
        table.push_str(&format!("| {} |\n", row.map(|cell| text(&cell)).join(" | ")));
    }
    table
}

/// Text that stays text: no markup, no HTML, no end of a cell.
fn text(plain: &str) -> String {
    let mut safe = String::with_capacity(plain.len());
    for character in plain.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' | '\t' => safe.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' => safe.extend(['\\', character]),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}

/// Text inside an HTML tag, where a backslash would be seen.
fn html(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r'], " ")
}

/// A fence longer than any run of backticks inside.
fn fence(block: &str) -> String {
    let (mut longest, mut current) = (0, 0);
    for character in block.chars() {
        current = if character == '`' { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    "`".repeat((longest + 1).max(3))
}
