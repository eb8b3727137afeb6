//! What a baseline lets pass, what it does not, and how it is refused.

use reports::baseline::{Baseline, Scope, apply};
use reports::{ExitCode, Flags, RunResult, SuiteReport, Verdict, exit_code};

use crate::fixture::{ending, run};

const OFF_SCRIPT: &str = "[[known]]\nid = \"steer/plain\"\nverdict = \"off-script\"\nwhy = \"no answer recorded\"\n";

fn judged(text: &str, runs: Vec<RunResult>, scope: Scope) -> SuiteReport {
    let listed = Baseline::parse(text, "baseline.toml").expect("a baseline");
    let mut report = SuiteReport::new("reference engine", runs, Vec::new(), 5);
    apply(&listed, &mut report, scope);
    let once = report.clone();
    apply(&listed, &mut report, scope);
    assert_eq!(report, once, "applying it again changes something");
    report
}

fn check(text: &str, runs: Vec<RunResult>, expected: ExitCode) {
    let report = judged(text, runs, Scope::Part);
    assert_eq!(exit_code(&report, Flags::default()), expected, "{report:#?}");
}

fn refused(text: &str, expected: &str) {
    let said = Baseline::parse(text, "baseline.toml").expect_err("it must be refused").to_string();
    assert!(said.contains(expected), "{said}\nlacks: {expected}");
}

#[test]
fn listed_and_failing_passes() {
    check(OFF_SCRIPT, vec![ending("steer/plain", Verdict::OffScript)], ExitCode::Conforms);
    let late = OFF_SCRIPT.replace("off-script", "liveness");
    check(&late, vec![ending("steer/plain", Verdict::Liveness)], ExitCode::Conforms);
    let report = judged(OFF_SCRIPT, vec![ending("steer/plain", Verdict::OffScript)], Scope::Part);
    assert_eq!(report.results[0].known.as_deref(), Some("no answer recorded"));
    assert_eq!((report.summary.known, report.summary.failed, report.summary.off_script), (1, 0, 1));
}

#[test]
fn unlisted_and_failing_fails() {
    let runs = vec![ending("steer/plain", Verdict::OffScript), ending("steer/other", Verdict::OffScript)];
    check(OFF_SCRIPT, runs, ExitCode::Failed);
}

#[test]
fn listed_and_failing_otherwise_fails_and_says_so() {
    check(OFF_SCRIPT, vec![ending("steer/plain", Verdict::Violated)], ExitCode::Failed);
    let report = judged(OFF_SCRIPT, vec![ending("steer/plain", Verdict::Violated)], Scope::Part);
    assert_eq!(report.results[0].listed_as, Some(Verdict::OffScript));
}

#[test]
fn listed_and_passing_is_stale() {
    check(OFF_SCRIPT, vec![run("steer/plain")], ExitCode::StaleBaseline);
    let report = judged(OFF_SCRIPT, vec![run("steer/plain")], Scope::Part);
    assert_eq!((report.stale[0].line, report.stale[0].version.as_str()), (1, "2.1.310"));
}

#[test]
fn an_entry_without_a_version_is_stale_where_that_version_passes() {
    let mut newer = run("steer/plain");
    newer.version = "2.1.332".to_owned();
    let report = judged(OFF_SCRIPT, vec![ending("steer/plain", Verdict::OffScript), newer], Scope::Part);
    let stale: Vec<&str> = report.stale.iter().map(|entry| entry.version.as_str()).collect();
    assert_eq!(stale, ["2.1.332"]);
}

#[test]
fn a_race_that_only_some_plans_lose_is_listed_rightly() {
    let mut lost = ending("steer/plain", Verdict::OffScript);
    lost.plan = "the recorded order, but frame 5 before frame 4".to_owned();
    check(OFF_SCRIPT, vec![run("steer/plain"), lost], ExitCode::Conforms);
}

#[test]
fn an_entry_speaks_of_its_version_only() {
    let text = format!("{OFF_SCRIPT}provider = \"claude\"\nversion = \"2.1.332\"\n");
    check(&text, vec![ending("steer/plain", Verdict::OffScript)], ExitCode::Failed);
    check(&text, vec![run("steer/plain")], ExitCode::Conforms);
    check(&text.replace("332", "310"), vec![ending("steer/plain", Verdict::OffScript)], ExitCode::Conforms);
}

#[test]
fn an_entry_that_names_no_run_is_stale_only_if_everything_ran() {
    let gone = OFF_SCRIPT.replace("steer/plain", "steer/gone");
    assert_eq!(judged(&gone, vec![run("steer/plain")], Scope::Part).stale, []);
    let stale = judged(&gone, vec![run("steer/plain")], Scope::Whole).stale;
    assert_eq!((stale.len(), stale[0].paste.clone()), (1, None));
}

#[test]
fn no_baseline_excuses_a_run_that_is_not_repeatable() {
    let mut unsteady = ending("steer/plain", Verdict::OffScript);
    unsteady.nondeterminism = Some("two ways".to_owned());
    check(OFF_SCRIPT, vec![unsteady], ExitCode::Nondeterminism);
}

#[test]
fn unknown_keys_are_refused_with_file_and_line() {
    refused(&format!("{OFF_SCRIPT}until = \"2027\"\n"), "failed to read the baseline baseline.toml:5: unknown field `until`");
    refused(&format!("strict = true\n{OFF_SCRIPT}"), "baseline.toml:1: unknown field `strict`");
}

#[test]
fn what_is_not_an_entry_is_refused_with_its_line() {
    refused("[[known]]\nid = \"a\"\nverdict = \"off-script\"\n", "baseline.toml:1: missing field `why`");
    refused(&OFF_SCRIPT.replace("off-script", "flaky"), "baseline.toml:3: unknown variant `flaky`");
    refused(&OFF_SCRIPT.replace("off-script", "conforms"), "baseline.toml:3: verdict \"conforms\" is no failure");
    refused(&OFF_SCRIPT.replace("off-script", "harness-fault"), "baseline.toml:3: verdict \"harness-fault\" cannot be known");
    refused(&OFF_SCRIPT.replace("no answer recorded", " "), "baseline.toml:4: why is empty");
    refused(&OFF_SCRIPT.replace("steer/plain", ""), "baseline.toml:2: id is empty");
    refused(&format!("{OFF_SCRIPT}version = \"2.1.310\"\n"), "baseline.toml:5: version stands without a provider");
    refused(&format!("{OFF_SCRIPT}\n{OFF_SCRIPT}"), "baseline.toml:6: \"steer/plain\" is listed with the same verdict on line 1");
    refused("[[known]\n", "baseline.toml:1: ");
    refused(&format!("schema_version = 2\n{OFF_SCRIPT}"), "baseline.toml:1: schema_version 2 is not known");
}

#[test]
fn an_empty_baseline_lists_nothing() {
    check("", vec![ending("steer/plain", Verdict::Violated)], ExitCode::Failed);
    check("schema_version = 1\n", vec![run("steer/plain")], ExitCode::Conforms);
}
