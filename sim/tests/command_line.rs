//! What a person types, and what comes of it.

mod common;

use std::io::Write;

use common::rehearsal;

/// Runs the command and gives exit code, stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = rehearsal().args(arguments).output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A plan in a file of its own.
fn plan(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().expect("file");
    file.write_all(text.as_bytes()).expect("write");
    file
}

#[test]
fn one_scene_end_to_end() {
    let (code, out, _) = run(&["run", "--capture", "second-turn-typed-fork", "--provider", "claude@2.1.310"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("reference engine"), "{out}");
}

#[test]
fn the_trace_is_aligned_lines_or_ndjson() {
    let (_, out, _) = run(&["run", "--capture", "plain-turn", "--trace"]);
    assert!(out.contains("ms  user    send \"Say hello. MOCK:plain\""), "{out}");
    let (_, out, _) = run(&["run", "--capture", "plain-turn", "--trace", "ndjson"]);
    let first = out.lines().next().expect("a line");
    assert_eq!(serde_json::from_str::<serde_json::Value>(first).expect("JSON")["at"], 0);
}

#[test]
fn an_unknown_scene_is_a_usage_error_that_names_a_near_one() {
    let (code, _, err) = run(&["run", "--capture", "plain-tern"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("Did you mean `captures/plain-turn`?"), "{err}");
}

#[test]
fn a_filter_that_takes_nothing_says_that_nothing_ran() {
    let (code, ..) = run(&["check", "no-such-thing"]);
    assert_eq!(code, Some(4));
}

#[test]
fn a_plan_of_weather_changes_the_trace_and_nothing_a_user_sees() {
    let weather = plan(
        "plan = 1\n[[perturb]]\ndelay = { label = \"result#1\", by = \"40ms\" }\n[[perturb]]\nsplit = { label = \"assistant#1\", at = [1, 20] }\n",
    );
    let path = weather.path().display().to_string();
    let (_, plain, _) = run(&["run", "--capture", "bash", "--trace"]);
    let (code, out, err) = run(&["run", "--capture", "bash", "--trace", "--plan", &path]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_ne!(plain, out);
    assert!(out.contains("bytes of a record"), "the split is not in the trace: {out}");
}

#[test]
fn a_turn_whose_result_is_lost_fails_with_its_process_and_not_the_harness() {
    let breakage = plan("plan = 1\n[[perturb]]\ndrop = { label = \"result#1\" }\n");
    let path = breakage.path().display().to_string();
    let (code, out, _) = run(&["run", "--capture", "plain-turn", "--plan", &path]);
    assert_eq!(code, Some(0), "{out}");
    let (_, out, _) = run(&["run", "--capture", "plain-turn", "--plan", &path, "--trace"]);
    assert!(out.contains("result#1 is dropped") && out.contains("done \"errored\""), "{out}");
}

#[test]
fn a_plan_that_does_not_parse_shows_the_place() {
    let bad = plan("plan = 1\n[[perturb]]\ndorp = \"result#1\"\n");
    let path = bad.path().display().to_string();
    let (code, _, err) = run(&["run", "--capture", "plain-turn", "--plan", &path]);
    assert_eq!(code, Some(2));
    assert!(err.contains("dorp"), "{err}");
}

#[test]
fn a_plan_that_the_stage_does_not_perform_is_refused_and_not_ignored() {
    let ties = plan("plan = 1\n[[perturb]]\nties = { at = \"10ms\", order = [\"a\", \"b\"] }\n");
    let (code, _, err) = run(&["run", "--capture", "plain-turn", "--plan", &ties.path().display().to_string()]);
    assert_eq!(code, Some(2));
    assert!(err.contains("`ties`"), "{err}");
}

#[test]
fn a_plan_moves_what_the_user_does_and_the_wall_clock() {
    let (_, plain, _) = run(&["run", "--capture", "second-turn", "--trace"]);
    let (code, out, _) = run(&[
        "run",
        "--capture",
        "second-turn",
        "--trace",
        "--perturb",
        "user = { step = 2, to = { after = \"delta#3\" } }",
        "--perturb",
        "suspend = { at = \"500ms\", for = \"8h\" }",
    ]);
    assert_eq!(code, Some(0), "{out}");
    let second = |page: &str| page.lines().position(|line| line.contains("user    send") && line.contains("And again"));
    let result = |page: &str| page.lines().position(|line| line.contains("result#1"));
    assert!(second(&plain) > result(&plain), "{plain}");
    assert!(second(&out).is_some() && second(&out) < result(&out), "{out}");
}

#[test]
fn everything_is_played_again_in_a_second_process() {
    let once_more = ["captures/plain-turn", "--provider", "claude@2.1.310", "--check-determinism", "--sweep"];
    let (code, out, _) = run(&[&["check"][..], &once_more, &["stop", "--sweep", "disk"]].concat());
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("sweep stop: ") && out.contains("sweep disk: "), "{out}");
}

#[test]
fn list_and_explain_know_scenarios_scenes_and_invariants() {
    let (code, out, _) = run(&["list", "typed-fork"]);
    assert_eq!(code, Some(0));
    let line = out.lines().find(|line| line.starts_with("captures/second-turn-typed-fork ")).expect("the scene");
    assert!(line.ends_with("claude@2.1.310 claude@2.1.332"), "{line}");
    let (_, out, _) = run(&["explain", "V1"]);
    assert!(out.starts_with("V1"), "{out}");
    let (code, _, err) = run(&["explain", "steer/nothing"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("rehearsal list"), "{err}");
}

#[test]
fn rows_are_listed_and_explained_with_their_guards() {
    let (code, out, _) = run(&["list", "--rows", "TF-12"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("TF-12  claude  A typed fork sent to a parked session"), "{out}");
    assert!(out.contains("\n    scenario  typed-fork/parked-session\n"), "{out}");
    assert!(out.contains("\n    test      engine::claude_driver::forks::"), "{out}");
    let (code, out, _) = run(&["list", "--rows", "--format", "json"]);
    assert_eq!(code, Some(0));
    let page: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(page["schema_version"], 1);
    let row = page["rows"].as_array().expect("rows").iter().find(|row| row["id"] == "TF-12").expect("the row");
    assert_eq!(row["scenarios"], serde_json::json!(["typed-fork/parked-session"]));
    let (code, out, _) = run(&["explain", "TF-12"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("judged by  T5  ") && out.ends_with("rehearsal run typed-fork/parked-session\n"), "{out}");
    let (_, out, _) = run(&["explain", "typed-fork/parked-session"]);
    assert!(out.contains("\nguards TF-12  A typed fork sent to a parked session"), "{out}");
    assert_eq!(run(&["list", "--rows", "nothing"]).0, Some(4));
    assert_eq!(run(&["list", "--format", "json"]).0, Some(2));
}

#[test]
fn schemas_are_json() {
    for format in ["scenario", "plan", "rows", "report", "view"] {
        let (code, out, _) = run(&["schema", format]);
        assert_eq!(code, Some(0), "{format}");
        assert!(serde_json::from_str::<serde_json::Value>(&out).expect("JSON").is_object(), "{format}");
    }
}

#[test]
fn captures_verify_and_show() {
    let (code, out, _) = run(&["captures", "verify", "--mode", "tape"]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out, _) = run(&["captures", "verify", "--mode", "model", "plain-turn"]);
    assert_eq!(code, Some(0), "{out}");
    let (code, out, _) = run(&["captures", "show", "typed-fork"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("task_started#1"), "{out}");
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_rehearsal"))
        .args(["run", "--capture", "compact", "--trace"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!err.contains("panicked"), "{err}");
}
