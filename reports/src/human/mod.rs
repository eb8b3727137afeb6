//! The report for people: a terminal or a CI log.
//!
//! The first line says which engine was judged. A suite that passes says so in a closing block of two lines or so. One
//! that fails shows every failing run, and its last line is a command to paste.

mod failure;
mod paint;

use crate::human::paint::Paint;
use crate::model::{InvariantCount, SuiteReport};
use crate::run::{RunResult, subject};
use crate::sentence;
use crate::text::{columns, cut, wrap};

/// Nothing is readable in fewer columns.
const LEAST_WIDTH: usize = 40;

/// What a page without a terminal is written for, in columns.
pub const DEFAULT_WIDTH: usize = 100;

/// The command that shows what could have run.
const LIST: &str = "rehearsal list";

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns; at least 40 are used.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// Whether to list the failures that are known, the notes, and what each invariant had to judge.
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: DEFAULT_WIDTH, colour: false, verbose: false }
    }
}

/// The report, not verbose.
pub fn render(report: &SuiteReport, width: usize, colour: bool) -> String {
    render_with(report, &Options { width, colour, verbose: false })
}

/// The report.
pub fn render_with(report: &SuiteReport, options: &Options) -> String {
    let (width, paint) = (options.width.max(LEAST_WIDTH), Paint { colour: options.colour });
    let mut lines = vec![first_line(report)];
    let failing: Vec<&RunResult> = report.failing().collect();
    for run in &failing {
        lines.push(String::new());
        lines.extend(failure::block(run, width, paint));
        // With one failing run, its command is the last line of all and need not be said twice.
        if failing.len() > 1 {
            lines.push(String::new());
            lines.push(format!("  {}", run.command()));
        }
    }
    section(&mut lines, stale(report, width));
    if options.verbose {
        section(&mut lines, known(report, width).iter().map(|line| paint.dim(line)).collect());
        section(&mut lines, notes(report, width));
        section(&mut lines, invariants(&report.invariants, width));
    }
    lines.push(String::new());
    lines.extend(idle(report, width).iter().map(|line| paint.dim(line)));
    let command = command(report);
    for line in sentence::closing_lines(report, width) {
        lines.push(if command.is_some() { paint.bad(&line) } else { paint.good(&line) });
    }
    lines.extend(command);
    finish(&lines)
}

/// One run by itself: its block if it does not conform, a line otherwise, and the command last.
pub fn render_run(run: &RunResult, options: &Options) -> String {
    let (width, paint) = (options.width.max(LEAST_WIDTH), Paint { colour: options.colour });
    let mut lines = failure::block(run, width, paint);
    if run.fails() {
        lines.push(String::new());
        lines.push(run.command());
    }
    finish(&lines)
}

fn finish(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn section(lines: &mut Vec<String>, section: Vec<String>) {
    if !section.is_empty() {
        lines.push(String::new());
        lines.extend(section);
    }
}

fn first_line(report: &SuiteReport) -> String {
    match sentence::tiers(report) {
        tiers if tiers.is_empty() => report.engine.clone(),
        tiers => format!("{}, {tiers}", report.engine),
    }
}

/// What to paste after a failure: the worst run, else the run a baseline wrongly lists, else the list of what there is.
fn command(report: &SuiteReport) -> Option<String> {
    let stale = || report.stale.iter().map(|stale| stale.paste.clone().unwrap_or_else(|| LIST.to_owned())).next();
    let nothing = || report.results.is_empty().then(|| LIST.to_owned());
    report.worst().map(RunResult::command).or_else(stale).or_else(nothing)
}

fn stale(report: &SuiteReport, width: usize) -> Vec<String> {
    let said = |entry: &crate::model::Stale| {
        let place = format!("{}:{}", entry.file, entry.line);
        let subject = subject(&entry.provider, &entry.version);
        let who = [entry.id.as_str(), &subject].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
        let happened = if entry.paste.is_some() {
            "it passes: delete the entry, or narrow it to the versions that fail"
        } else {
            "there is no such run in the library: correct or delete the entry"
        };
        wrap(&format!("stale baseline: {who}"), "", "  ", width)
            .into_iter()
            .chain(wrap(&format!("{place} lists it as {} ({}), and {happened}", entry.verdict, entry.why), "  ", "  ", width))
            .collect::<Vec<_>>()
    };
    report.stale.iter().flat_map(said).collect()
}

fn known(report: &SuiteReport, width: usize) -> Vec<String> {
    let listed = report.results.iter().filter(|run| !run.fails());
    listed.filter_map(|run| Some(failure::line(run, &format!("as listed: {}", run.known.as_ref()?), width))).collect()
}

fn notes(report: &SuiteReport, width: usize) -> Vec<String> {
    let quiet = report.results.iter().filter(|run| !run.fails());
    quiet.flat_map(|run| run.notes.iter().map(|note| failure::line(run, note, width))).collect()
}

fn invariants(counts: &[InvariantCount], width: usize) -> Vec<String> {
    if counts.is_empty() {
        return Vec::new();
    }
    let title = ["invariant", "checked", "nothing to judge", "not observable", "rule"].map(str::to_owned).to_vec();
    let row = |count: &InvariantCount| {
        let numbers = [count.checked, count.nothing_to_judge, count.not_observable].map(|number| number.to_string());
        let [checked, nothing, hidden] = numbers;
        vec![count.id.clone(), checked, nothing, hidden, count.words.clone()]
    };
    let rows: Vec<Vec<String>> = std::iter::once(title).chain(counts.iter().map(row)).collect();
    columns(&rows, &[1, 2, 3]).iter().map(|line| cut(line, width)).collect()
}

/// The invariants that judged nothing in this suite: a pass that says nothing about them.
fn idle(report: &SuiteReport, width: usize) -> Vec<String> {
    if report.results.is_empty() {
        return Vec::new();
    }
    let ids = |test: &dyn Fn(&InvariantCount) -> bool| {
        let ids: Vec<&str> =
            report.invariants.iter().filter(|count| count.checked == 0 && test(count)).map(|count| count.id.as_str()).collect();
        ids.join(", ")
    };
    let idle = [
        ("nothing to judge for: ", ids(&|count| count.nothing_to_judge > 0 || count.not_observable == 0)),
        ("not observable: ", ids(&|count| count.nothing_to_judge == 0 && count.not_observable > 0)),
    ];
    let said = idle.iter().filter(|(_, ids)| !ids.is_empty());
    said.flat_map(|(words, ids)| wrap(&format!("{words}{ids}"), "", "  ", width)).collect()
}
