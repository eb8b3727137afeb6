//! Plans: what is written is read back, and what an author sees who writes one wrong.

mod common;

use std::time::Duration;

use common::render;
use scenarios::plan::{
    Beat, BeatLabel, Class, Cut, DiskFault, Exit, Insertion, Kind, Moment, Perturbation, Pipe, Place, Plan, Signal, StepName,
    UserAct, When,
};
use serde_json::json;

/// Reads a plan with this one perturbation (or these lines) and keeps the report.
#[track_caller]
fn check(name: &str, lines: &str) {
    let file = if lines.starts_with("plan") { lines.to_owned() } else { format!("plan = 1\n[[perturb]]\n{lines}\n") };
    let problems = Plan::parse("found.toml", &file).expect_err("the plan must be refused");
    insta::assert_snapshot!(name, render(&problems), lines);
}

macro_rules! refused {
    ($($name:ident: $lines:expr;)+) => { $(#[test] fn $name() { check(stringify!($name), $lines); })+ };
}

refused! {
    a_plan_of_the_future: "plan = 2";
    a_plan_without_a_version: "planned = 1";
    an_unknown_perturbation: "dealy = { label = \"a\", by = \"1ms\" }";
    a_perturbation_of_two_kinds: "drop = { label = \"a\" }\nduplicate = { label = \"a\" }";
    a_delay_of_no_beat: "delay = { by = \"1ms\" }";
    a_delay_without_a_length: "delay = { label = \"a\" }";
    a_delay_by_a_number: "delay = { label = \"a\", by = 40 }";
    a_label_with_a_process_that_counts_for_nothing: "delay = { label = \"a\", process = \"claude\", by = \"1ms\" }";
    a_split_before_the_first_byte: "split = { label = \"a\", at = [0, 4] }";
    a_split_backwards: "split = { label = \"a\", at = [4, 4] }";
    a_join_of_one: "join = { labels = [\"a\"] }";
    a_race_with_itself: "race = { a = \"x\", b = \"x\" }";
    a_label_of_two_processes: "drop = { label = \"a@b@c\" }";
    a_broken_frame: "insert = { after = \"a\", frame = '{' }";
    a_frame_and_a_raw_line: "insert = { after = \"a\", frame = '{}', raw = \"x\" }";
    an_exit_without_a_status: "exit = { after = \"a\" }";
    an_unknown_pipe: "close = { after = \"a\", pipe = \"stdoot\" }";
    a_step_number_zero: "user = { step = 0, to = { by = \"1ms\" } }";
    a_user_moved_nowhere: "user = { step = \"second\", to = {} }";
    a_kill_without_a_side: "kill = { effect = 4 }";
    a_link_with_one_end: "partition = { between = [\"a\"], at = \"1s\", for = \"1s\" }";
    a_seed_below_zero: "plan = 1\nseed = -4";
}

fn one_of_each() -> Vec<Perturbation> {
    let label = BeatLabel::new;
    let s = Duration::from_secs;
    vec![
        Perturbation::Delay { beat: Beat::Label(label("result#1")), by: Duration::from_millis(40) },
        Perturbation::Delay { beat: Beat::Number { process: Some("claude#2".into()), number: 7 }, by: s(90) },
        Perturbation::Delay { beat: Beat::Number { process: None, number: 7 }, by: s(0) },
        Perturbation::Hold(label("task_started#1")),
        Perturbation::Split { label: label("init#1"), at: vec![1, 17, 300] },
        Perturbation::Join(vec![label("init#1"), label("status#1")]),
        Perturbation::Race(label("a#1"), BeatLabel { label: "b#1".into(), process: Some("claude#2".into()) }),
        Perturbation::User { step: StepName::Number(3), to: Moment::After(label("result#1")) },
        Perturbation::User { step: StepName::Label("second".into()), to: Moment::Later(s(1)) },
        Perturbation::Kill { at: Place::Effect(4), when: When::Before },
        Perturbation::Kill { at: Place::Disk(9), when: When::After },
        Perturbation::Disk { call: 3, with: DiskFault::Full },
        Perturbation::PowerLoss { sync: 2, torn: false },
        Perturbation::PowerLoss { sync: 2, torn: true },
        Perturbation::Suspend { at: s(3), length: s(7_200) },
        Perturbation::Partition { cut: Cut::Between("device".into(), "viewer".into()), at: s(1), length: s(50) },
        Perturbation::Partition { cut: Cut::OneWay { from: "device".into(), to: "viewer".into() }, at: s(1), length: s(50) },
        Perturbation::Ties { at: s(3), order: vec!["interrupt main".into(), "flush \"main\"".into()] },
        Perturbation::Swap(label("init#1"), label("result#1")),
        Perturbation::Drop(label("result#1")),
        Perturbation::Duplicate(label("result#1")),
        Perturbation::Insert {
            after: label("init#1"),
            line: Insertion::Frame(json!({ "type": "new", "text": "it's \"quoted\"\n\u{2028}'''" })),
        },
        Perturbation::Insert { after: label("init#1"), line: Insertion::Raw("{not json\u{7f}".into()) },
        Perturbation::Exit { after: label("init#1"), exit: Exit::Code(-1) },
        Perturbation::Exit { after: label("init#1"), exit: Exit::Signal(Signal::Segv) },
        Perturbation::Close { after: label("init#1"), pipe: Pipe::Stdout },
        Perturbation::Act { after: label("delta#2"), what: UserAct::Steer },
        Perturbation::Deaf(label("init#1")),
    ]
}

#[test]
fn a_plan_that_is_written_is_read_back() {
    let plan = Plan { scenario: Some("steer/a \"b\"".into()), seed: Some(42), perturb: one_of_each() };
    let toml = plan.to_toml();
    insta::assert_snapshot!("one_of_each_kind", toml);
    assert_eq!(Plan::parse("own.toml", &toml).map_err(|problems| render(&problems)), Ok(plan));
}

#[test]
fn the_example_has_every_kind() {
    let kinds: Vec<Kind> = one_of_each().iter().map(Perturbation::kind).collect();
    assert!(Kind::ALL.iter().all(|kind| kinds.contains(kind)));
}

#[test]
fn the_empty_plan_is_read_back() {
    let plan = Plan::default();
    assert_eq!(Plan::parse("own.toml", &plan.to_toml()).map_err(|problems| render(&problems)), Ok(plan));
}

#[test]
fn one_breakage_makes_the_plan_a_broken_providers() {
    let weather = Perturbation::Hold(BeatLabel::new("a"));
    let breakage = Perturbation::Drop(BeatLabel::new("a"));
    let class =
        |perturb: &[&Perturbation]| Plan { perturb: perturb.iter().map(|p| (*p).clone()).collect(), ..Plan::default() }.class();
    assert_eq!(class(&[]), None);
    assert_eq!(class(&[&weather]), Some(Class::Weather));
    assert_eq!(class(&[&weather, &breakage, &weather]), Some(Class::Breakage));
}
