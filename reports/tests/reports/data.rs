//! The model: which verdict counts, what is counted, and that a report is read back as it was written or not at all.

use reports::{InvariantCount, Judgement, SuiteReport, Verdict, ViolationKind, json};

use crate::fixture::{ending, everything, passing, run, violation};

#[test]
fn of_every_two_verdicts_the_first_counts_and_the_other_is_named() {
    for (at, graver) in Verdict::ALL.into_iter().enumerate() {
        for milder in Verdict::ALL.into_iter().skip(at + 1) {
            let (mut both, other) = (ending("both", graver), ending("both", milder));
            both.harness_fault = both.harness_fault.or(other.harness_fault);
            both.panic = both.panic.or(other.panic);
            both.off_script = both.off_script.or(other.off_script);
            both.violations.extend(other.violations);
            both.settle();
            assert_eq!(both.verdict, graver, "{graver} before {milder}");
            let named: Vec<Verdict> = [milder].into_iter().filter(|verdict| verdict.is_failing()).collect();
            assert_eq!(both.also, named, "{graver} names {milder}");
        }
    }
}

#[test]
fn a_late_answer_is_liveness_and_a_wrong_one_is_not() {
    let mut late = run("late");
    late.violations.push(violation(ViolationKind::Liveness));
    late.settle();
    assert_eq!(late.verdict, Verdict::Liveness);
    late.violations.push(violation(ViolationKind::Safety));
    late.settle();
    assert_eq!(late.verdict, Verdict::Violated);
}

#[test]
fn names_in_files_are_the_ones_serde_writes() {
    for verdict in Verdict::ALL {
        assert_eq!(serde_json::to_value(verdict).expect("a verdict"), verdict.name());
    }
}

#[test]
fn the_figures_count_every_run_once() {
    let summary = everything().summary;
    assert_eq!((summary.scenarios, summary.runs, summary.raw), (9, 10, 2));
    assert_eq!((summary.conforms, summary.failed, summary.known), (4, 6, 1));
    assert_eq!((summary.off_script, summary.nondeterministic, summary.stale), (2, 1, 1));
    assert_eq!((summary.wall_ms, summary.simulated_ms), (1_930, 11_520_000 + 8 * 2_400));
}

#[test]
fn runs_stand_in_order_whichever_finished_first() {
    let mut results = everything().results;
    let expected = SuiteReport::new("reference engine", results.clone(), Vec::new(), 5);
    results.reverse();
    assert_eq!(SuiteReport::new("reference engine", results, Vec::new(), 5), expected);
}

#[test]
fn versions_stand_in_the_order_of_their_numbers() {
    let versions = ["2.1.310", "2.1.9", "2.1.beta", "2.1"].map(|version| {
        let mut run = run("steer/plain");
        run.version = version.to_owned();
        run
    });
    let report = SuiteReport::new("reference engine", versions.to_vec(), Vec::new(), 5);
    let order: Vec<&str> = report.results.iter().map(|run| run.version.as_str()).collect();
    assert_eq!(order, ["2.1", "2.1.9", "2.1.310", "2.1.beta"]);
    assert!(reports::closing(&report).contains(", claude 2.1 2.1.9 2.1.310 2.1.beta: "));
}

#[test]
fn an_invariant_that_never_looked_has_passed_nothing() {
    let mut count = InvariantCount::new("settles-once", "every accepted turn settles exactly once");
    count.add(Judgement::Checked(0));
    assert_eq!((count.checked, count.nothing_to_judge), (0, 1));
    count.add(Judgement::Checked(3));
    assert_eq!((count.checked, count.nothing_to_judge, count.judgements), (1, 1, 3));
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    for report in [everything(), passing()] {
        assert_eq!(json::read(&json::render(&report), "report.json").expect("a report"), report);
    }
}

/// What reading a report says after `change` was made to it.
fn check(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut value: serde_json::Value = serde_json::from_str(&json::render(&passing())).expect("a report");
    change(&mut value);
    json::read(&value.to_string(), "report.json").expect_err("it must be refused").to_string()
}

#[test]
fn unknown_keys_are_refused_at_every_depth() {
    let said = check(|report| report["colour"] = "red".into());
    assert!(said.contains("report.json:1:") && said.contains("unknown field `colour`"), "{said}");
    let said = check(|report| report["results"][0]["verdickt"] = "conforms".into());
    assert!(said.contains("unknown field `verdickt`"), "{said}");
    let said = check(|report| report["summary"]["walls"] = 4.into());
    assert!(said.contains("unknown field `walls`"), "{said}");
    let said = check(|report| report["invariants"][0]["name"] = "x".into());
    assert!(said.contains("unknown field `name`"), "{said}");
}

#[test]
fn a_report_of_the_future_is_refused_for_its_version_first() {
    let said = check(|report| {
        report["schema_version"] = 2.into();
        report["colour"] = "red".into();
    });
    assert_eq!(said, "failed to read the report report.json: schema_version is 2, expected 1; write it again with this build");
}

#[test]
fn masked_times_leave_nothing_that_differs_between_equal_runs() {
    let (mut slow, mut fast) = (everything(), everything());
    slow.summary.wall_ms *= 7;
    slow.results.iter_mut().for_each(|run| run.wall_us += 13);
    assert_ne!(json::render(&slow), json::render(&fast));
    slow.mask_times();
    fast.mask_times();
    assert_eq!(json::render(&slow), json::render(&fast));
}

#[test]
fn the_schema_names_what_a_report_holds() {
    let schema = json::schema();
    let report = serde_json::to_value(everything()).expect("a report");
    for key in report.as_object().expect("an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key} is missing in {schema}");
    }
}
