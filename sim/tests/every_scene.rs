//! Every scene of every version, and the whole library, against the reference engine.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::rehearsal;
use serde_json::Value;

/// Runs `check` and gives its JSON report and its exit code.
fn check(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = rehearsal().arg("check").args(["--format", "json"]).args(arguments).output().expect("runs");
    let report = serde_json::from_slice(&output.stdout).expect("a JSON report");
    (report, output.status.code())
}

fn hashes(report: &Value) -> BTreeMap<String, String> {
    let results = report["results"].as_array().expect("results");
    let line = |result: &Value| {
        let key = format!("{} {}", result["id"].as_str().expect("id"), result["version"].as_str().expect("version"));
        (key, result["trace_hash"].as_str().expect("hash").to_owned())
    };
    results.iter().map(line).collect()
}

/// CO-01: all that is recorded and written conforms, and a second process gives the same bytes.
#[test]
fn every_scene_conforms_and_two_processes_give_one_hash() {
    let (first, code) = check(&[]);
    let bad: Vec<&Value> =
        first["results"].as_array().expect("results").iter().filter(|result| result["verdict"] != "conforms").collect();
    assert_eq!(code, Some(0), "{bad:#?}");
    assert!(bad.is_empty(), "{bad:#?}");
    let (second, _) = check(&[]);
    let (first, second) = (hashes(&first), hashes(&second));
    assert!(first.len() >= 172, "{} runs", first.len());
    assert_eq!(first, second, "the same scenario and plan gave another trace");
    let distinct: BTreeSet<&String> = first.values().collect();
    assert!(distinct.len() > first.len() / 2, "hashes do not tell runs apart");
}

#[test]
fn another_seed_gives_another_trace() {
    let (one, _) = check(&["captures/plain-turn"]);
    let (two, _) = check(&["captures/plain-turn", "--seed", "2"]);
    assert_ne!(hashes(&one), hashes(&two));
}

/// Ids of the invariants that judged something.
fn judging(report: &Value) -> BTreeSet<String> {
    let lines = report["invariants"].as_array().expect("invariants").iter();
    lines.filter(|line| line["checked"] != 0).map(|line| line["id"].as_str().expect("id").to_owned()).collect()
}

#[test]
fn an_invariant_that_never_judges_anything_is_no_invariant() {
    let (report, _) = check(&[]);
    // Two runs are compared where a sweep walks orders that change nothing.
    let (swept, code) = check(&["captures/typed-fork", "--provider", "claude@2.1.310", "--sweep", "split", "join"]);
    assert_eq!(code, Some(0));
    let judged: BTreeSet<String> = judging(&report).union(&judging(&swept)).cloned().collect();
    let all = report["invariants"].as_array().expect("invariants").iter();
    let idle: Vec<&str> = all.map(|line| line["id"].as_str().expect("id")).filter(|id| !judged.contains(*id)).collect();
    assert!(idle.is_empty(), "nothing to judge in the whole library: {idle:?}");
}
