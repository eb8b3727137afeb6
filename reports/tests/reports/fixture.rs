//! One small report in which everything happens once.

use reports::{InvariantCount, Judgement, Origin, RunResult, SuiteReport, Tier, TraceLine, Verdict, Violation, ViolationKind};
use serde_json::json;

/// A run of the recorded order that conforms.
pub fn run(id: &str) -> RunResult {
    let mut run = RunResult::new(id, "claude", "2.1.310", Tier::Sim, Origin::Recorded);
    run.trace_hash = "5f1d".to_owned();
    run.events = 40;
    run.simulated_ms = 2_400;
    run.wall_us = 1_250;
    run.paste = format!("rehearsal run {id} --provider claude@2.1.310");
    run
}

/// A run that ends with `verdict`, for the reason that leads to it.
pub fn ending(id: &str, verdict: Verdict) -> RunResult {
    let mut run = run(id);
    match verdict {
        Verdict::HarnessFault => run.harness_fault = Some("the queue holds two events for 12 ms".to_owned()),
        Verdict::EnginePanicked => {
            run.panic = Some("index out of bounds: the len is 2 but the index is 2\nat chat/rows.rs:41".to_owned())
        }
        Verdict::Violated => run.violations.push(violation(ViolationKind::Safety)),
        Verdict::OffScript => run.off_script = Some("the host answered a permission the recording denies".to_owned()),
        Verdict::Liveness => run.violations.push(violation(ViolationKind::Liveness)),
        Verdict::Conforms => {}
    }
    run.settle();
    run
}

/// One violation, without views.
pub fn violation(kind: ViolationKind) -> Violation {
    let (invariant, words, message) = match kind {
        ViolationKind::Safety => ("settles-once", "every accepted turn settles exactly once", "turn 2 settled twice"),
        ViolationKind::Liveness => ("bounded-end", "every request ends in bounded time", "Stop has no answer after 30000 ms"),
    };
    Violation {
        invariant: invariant.to_owned(),
        words: words.to_owned(),
        kind,
        at_ms: 2_331,
        message: message.to_owned(),
        event: None,
        before: None,
        after: None,
    }
}

/// Thirty lines of a trace, of which the twentieth is the moment.
pub fn trace() -> Vec<TraceLine> {
    let line = |n: u64| TraceLine {
        at_ms: n * 120,
        who: if n.is_multiple_of(3) { "user" } else { "cli > host" }.to_owned(),
        what: format!("frame {n}"),
        moment: n == 20,
    };
    (1..=30).map(line).collect()
}

/// Every verdict once and more: a plan, a synthetic scene, a raw one, one listed, one not repeatable, one stale entry.
pub fn everything() -> SuiteReport {
    let mut violated = ending("steer/typed-fork-parked", Verdict::Violated);
    violated.title = Some("A typed fork sent to a parked session keeps its chip".to_owned());
    violated.file = Some("scenarios/library/steer/typed-fork-parked.toml".to_owned());
    violated.plan = "the recorded order, but frame 5 before frame 4".to_owned();
    violated.off_script = Some("no reply is left for agent 1".to_owned());
    violated.settle();
    violated.violations[0].event = Some("result#2".to_owned());
    violated.violations[0].before = Some(json!({"pill": "busy", "rows": [{"state": "running"}, {"state": "queued"}]}));
    violated.violations[0].after =
        Some(json!({"pill": "idle", "rows": [{"state": "done"}, {"state": "queued"}, {"state": "done"}]}));
    violated.excerpt = trace();
    violated.paste.push_str(" --plan-text 'swap 4 5'");

    let mut panicked = ending("bytes/split-utf8", Verdict::EnginePanicked);
    panicked.raw = true;
    panicked.excerpt =
        vec![TraceLine { at_ms: 12, who: "stage > host".into(), what: "bytes \u{1b}[2J\nf0 9f".into(), moment: true }];

    let mut late = ending("stop/no-result", Verdict::Liveness);
    late.origin = Origin::Synthetic;
    late.simulated_ms = 11_520_000;

    let mut unsteady = run("registry/reaper");
    unsteady.nondeterminism = Some("    12 ms  timer reap\n< 20 ms  row 1\n> 20 ms  row 2".to_owned());

    let mut codex = RunResult::new("steer/plain", "codex", "0.142.2", Tier::Lockstep, Origin::Recorded);
    codex.notes.push("beat \"second result\" was never reached".to_owned());
    codex.wall_us = 90_000;

    let mut raw = run("bytes/half-line");
    raw.raw = true;

    let results = vec![
        codex,
        unsteady,
        violated,
        late,
        panicked,
        ending("restart/lost-journal", Verdict::HarnessFault),
        ending("delegation/unknown-child", Verdict::OffScript),
        ending("steer/cross-session", Verdict::OffScript),
        ending("steer/plain", Verdict::Conforms),
        raw,
    ];
    let mut report = SuiteReport::new("reference engine", results, invariants(), 1_930);
    let listed = reports::baseline::Baseline::parse(BASELINE, "baseline.toml").expect("the baseline of the fixture");
    reports::baseline::apply(&listed, &mut report, reports::baseline::Scope::Part);
    report
}

const BASELINE: &str = r#"
[[known]]
id = "steer/cross-session"
verdict = "off-script"
why = "the recording holds no answer to a second steer"

[[known]]
id = "steer/plain"
provider = "codex"
verdict = "violated"
why = "steers were lost"

[[known]]
id = "delegation/unknown-child"
verdict = "violated"
why = "children were mixed up"
"#;

fn invariants() -> Vec<InvariantCount> {
    let mut settles = InvariantCount::new("settles-once", "every accepted turn settles exactly once");
    for times in 1..=9 {
        settles.add(Judgement::Checked(times));
    }
    settles.add(Judgement::NothingToJudge);
    let mut writer = InvariantCount::new("one-writer", "at most one live writer");
    let mut devices = InvariantCount::new("converges", "all devices show the same end");
    for _ in 0..10 {
        writer.add(Judgement::NothingToJudge);
        devices.add(Judgement::NotObservable);
    }
    vec![settles, writer, devices]
}

/// A suite that passes: two versions, one failure as listed, one raw.
pub fn passing() -> SuiteReport {
    let mut newer = run("steer/plain");
    newer.version = "2.1.332".to_owned();
    newer.notes.push("beat \"parked\" was never reached".to_owned());
    let mut raw = run("bytes/half-line");
    raw.raw = true;
    let mut listed = ending("steer/cross-session", Verdict::OffScript);
    listed.known = Some("the recording holds no answer to a second steer".to_owned());
    SuiteReport::new("reference engine", vec![newer, run("steer/plain"), raw, listed], invariants(), 1_930)
}
