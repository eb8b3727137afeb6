//! What machines choke on: escapes, markup, limits.

use reports::{RunResult, SuiteReport, Verdict, github, json, junit, markdown};

use crate::fixture::{ending, everything, passing};

#[test]
fn a_step_summary_stays_within_its_limit_when_failures_talk() {
    let mut run = ending("steer/plain", Verdict::Violated);
    run.violations[0].message = "word ".repeat(20_000);
    let text = markdown::render(&SuiteReport::new("reference engine", vec![run; 30], Vec::new(), 5));
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
    check(&text, &["</details>", "more failing runs are in the log"], &["Details of 5 more"]);
}

/// A suite whose one failure says `message` in a scenario named `id`.
fn saying(id: &str, message: &str) -> SuiteReport {
    let mut run = ending(id, Verdict::Violated);
    run.violations[0].message = message.to_owned();
    run.file = Some("scenarios/a,b:c%.toml".to_owned());
    SuiteReport::new("reference engine", vec![run], Vec::new(), 5)
}

fn check(rendered: &str, holds: &[&str], lacks: &[&str]) {
    for part in holds {
        assert!(rendered.contains(part), "{rendered}\nlacks: {part}");
    }
    for part in lacks {
        assert!(!rendered.contains(part), "{rendered}\nholds: {part}");
    }
}

#[test]
fn annotations_escape_what_would_end_them() {
    let text = github::render(&saying("a:b,c", "100%\r\n::error::forged"));
    check(&text, &["::error file=scenarios/a%2Cb%3Ac%25.toml,title=violated%3A a%3Ab%2Cc ", "100%25%0D%0A::error::forged"], &[]);
    assert!(text.lines().all(|line| line.starts_with("::")) && text.lines().count() == 2, "{text}");
}

#[test]
fn a_suite_that_passes_annotates_only_its_figures() {
    let text = github::render(&passing());
    assert!(text.starts_with("::notice title=reference engine::4 runs of 3 scenarios") && text.lines().count() == 1, "{text}");
}

#[test]
fn nothing_ran_is_annotated_as_an_error() {
    check(
        &github::render(&SuiteReport::new("reference engine", Vec::new(), Vec::new(), 5)),
        &["::error title=reference engine::nothing ran"],
        &[],
    );
}

#[test]
fn xml_holds_no_markup_and_no_control_characters_of_ours() {
    let text = junit::render(&saying("a<b>&\"c", "</failure>\u{1b}[2J\u{0}"));
    check(&text, &["a&lt;b&gt;&amp;&quot;c", "&lt;/failure&gt;", "failures=\"1\""], &["\u{1b}", "\u{0}"]);
}

#[test]
fn a_listed_failure_is_a_skipped_case_with_its_reason() {
    let text = junit::render(&passing());
    let skipped =
        "<skipped message=\"off-script as listed: the recording holds no answer to a second steer\" type=\"off-script\"/>";
    check(&text, &[skipped, "failures=\"0\""], &["<failure"]);
}

#[test]
fn xml_carries_no_clock_and_no_id() {
    check(&junit::render(&everything()), &["errors=\"1\"", "failures=\"5\""], &["timestamp", "uuid"]);
}

#[test]
fn markdown_cells_cannot_end_their_row() {
    let text = markdown::render(&saying("a|b", "one\ntwo <img> `x`"));
    check(&text, &["| a\\|b |", "one two &lt;img&gt; \\`x\\`"], &[]);
}

#[test]
fn markdown_fences_outlive_backticks() {
    check(&markdown::render(&saying("a", "````")), &["\n`````text\n", "\n`````\n"], &[]);
}

#[test]
fn a_step_summary_stays_within_its_limit() {
    let runs: Vec<RunResult> = (0..2_000).map(|n| ending(&format!("steer/{n:04}"), Verdict::Violated)).collect();
    let text = markdown::render(&SuiteReport::new("reference engine", runs, Vec::new(), 5));
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
    check(&text, &["and 1500 more failing runs", "Details of 1975 more failing runs"], &[]);
}

#[test]
fn json_has_the_documented_names() {
    let value: serde_json::Value = serde_json::from_str(&json::render(&everything())).expect("one JSON object");
    let has = |value: &serde_json::Value, keys: &[&str]| {
        for key in keys {
            assert!(value.get(key).is_some(), "{value} lacks {key}");
        }
    };
    has(&value, &["schema_version", "engine", "summary", "results", "invariants"]);
    has(&value["summary"], &["scenarios", "runs", "failed", "off_script", "wall_ms", "simulated_ms"]);
    for run in value["results"].as_array().expect("results") {
        has(run, &["id", "provider", "version", "tier", "plan", "verdict", "violations", "trace_hash"]);
        for violation in run["violations"].as_array().expect("violations") {
            has(violation, &["invariant", "at_ms", "message"]);
        }
    }
    for invariant in value["invariants"].as_array().expect("invariants") {
        has(invariant, &["id", "checked", "nothing_to_judge", "not_observable"]);
    }
}
