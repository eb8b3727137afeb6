//! The report for CI servers that collect JUnit XML: a suite per provider and version, a case per run.
//!
//! No timestamps and no ids are written, so that one report is always the same file. A listed failure is a skipped
//! case with its reason; a stale entry of the baseline is a failing case of a suite of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::human::{self, Options};
use crate::model::{Stale, SuiteReport};
use crate::reason::{reason, stale_reason, word};
use crate::run::{RECORDED_ORDER, RunResult, subject};
use crate::text::one_line;
use crate::verdict::{Origin, Verdict};

/// The XML document, with a line break at its end.
pub fn render(report: &SuiteReport) -> String {
    let mut document = Report::new(format!("rehearsal: {}", report.engine));
    document.set_time(Duration::from_millis(report.summary.wall_ms));
    let mut suites: BTreeMap<String, Vec<&RunResult>> = BTreeMap::new();
    for run in &report.results {
        suites.entry(format!("{} {}", run.subject(), run.tier).trim_start().to_owned()).or_default().push(run);
    }
    for (name, runs) in &suites {
        let mut suite = TestSuite::new(name.as_str());
        suite.set_time(runs.iter().map(|run| Duration::from_micros(run.wall_us)).sum());
        suite.add_test_cases(runs.iter().map(|run| case(name, run)));
        document.add_test_suite(suite);
    }
    if !report.stale.is_empty() {
        let mut suite = TestSuite::new("baseline");
        suite.add_test_cases(report.stale.iter().map(stale));
        document.add_test_suite(suite);
    }
    // Writing to memory cannot fail; what XML cannot hold was dropped when it was put in.
    let mut text = document.to_string().unwrap_or_default();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn case(suite: &str, run: &RunResult) -> TestCase {
    let name = if run.plan == RECORDED_ORDER { run.id.clone() } else { format!("{} [{}]", run.id, run.plan) };
    let mut case = TestCase::new(name, status(run));
    case.set_classname(suite).set_time(Duration::from_micros(run.wall_us));
    if !run.trace_hash.is_empty() {
        case.add_property(("trace_hash", run.trace_hash.as_str()));
    }
    if run.origin == Origin::Synthetic {
        case.add_property(("origin", "synthetic"));
    }
    if run.raw {
        case.add_property(("raw", "true"));
    }
    if !run.notes.is_empty() {
        case.set_system_out(run.notes.join("\n"));
    }
    case
}

fn status(run: &RunResult) -> TestCaseStatus {
    if run.fails() {
        let kind = if run.verdict == Verdict::HarnessFault { NonSuccessKind::Error } else { NonSuccessKind::Failure };
        let mut status = TestCaseStatus::non_success(kind);
        status
            .set_type(word(run))
            .set_message(one_line(&reason(run)))
            .set_description(human::render_run(run, &Options::default()));
        return status;
    }
    match &run.known {
        Some(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(run.verdict.name()).set_message(format!("{} as listed: {}", run.verdict, one_line(why)));
            status
        }
        None => TestCaseStatus::success(),
    }
}

fn stale(entry: &Stale) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type("stale-baseline").set_message(one_line(&stale_reason(entry)));
    let name = format!("{} {}", entry.id, subject(&entry.provider, &entry.version));
    let mut case = TestCase::new(name.trim_end(), status);
    case.set_classname("baseline");
    case
}
