//! What a scenario says is what is read.

mod common;

use std::time::Duration;

use common::render;
use scenarios::{
    Scenario,
    expect::Check,
    plan::{BeatLabel, Cut, Exit, Insertion, Kind, Pipe, Place, Signal, When},
    problem::{Span, Spanned},
    scenario::{
        Action, Answer, AnswerTo, Choice, Decision, Destination, Edit, Killing, PowerLoss, Reply, ReplyContent, Request, Role,
        Steer, Tag, ViewCall,
    },
};
use serde_json::json;

#[track_caller]
fn scenario(lines: &str) -> Scenario {
    let mut file = String::new();
    for (key, line) in [
        ("cast", "cast = [{ as = \"claude\", capture = \"plain-turn\", edits = [{ hold = \"result#1\" }] }]"),
        ("devices", "devices = [\"device\", \"viewer\"]"),
    ] {
        let given = lines.lines().any(|given| given.starts_with(&format!("{key} =")));
        let replaced = key == "cast" && lines.contains("[agent]");
        if !given && !replaced {
            file += &format!("{line}\n");
        }
    }
    let head = "scenario = 1\ntitle = \"T\"\nwhy = \"W\"\nguards = [\"I1\"]\n";
    Scenario::parse("g/s", "g/s.toml", &format!("{head}{file}{lines}")).unwrap_or_else(|problems| panic!("{}", render(&problems)))
}

/// The action of the last step, after a message `m` has been sent.
#[track_caller]
fn check(step: &str, expected: Action) {
    let scenario = scenario(&format!("steps = [{{ send = \"a\", label = \"m\" }}, {{ {step} }}]"));
    let step = scenario.steps.last().expect("two steps");
    assert_eq!(step.action, expected);
    assert_eq!(scenario.text()[step.span.start..step.span.end], *expected.key(), "the step points at its action");
}

fn at<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn name(text: &str) -> Spanned<String> {
    at(text.to_owned())
}

#[test]
fn every_action_of_the_user_is_read() {
    check("send = \"hi\"", Action::Send("hi".into()));
    check("send_now = \"m\"", Action::SendNow(name("m")));
    check("queue = \"q\"", Action::Queue("q".into()));
    check("edit = { message = \"m\", text = \"\" }", Action::Edit { message: name("m"), text: String::new() });
    check("remove = \"m\"", Action::Remove(name("m")));
    check("lease = \"m\"", Action::Lease(name("m")));
    check("steer = \"s\"", Action::Steer(Steer::Text("s".into())));
    check("steer = { queued = \"m\" }", Action::Steer(Steer::Queued(name("m"))));
    check("stop = true", Action::Stop);
    check("close = true", Action::Close);
    check("switch = false", Action::Switch { on: false, provider: None });
    check("switch = true, provider = \"codex\"", Action::Switch { on: true, provider: Some(Role::Codex) });
    check(
        "fork = { point = \"m\", destination = \"side\", request = \"r1\", chat = \"f\" }",
        Action::Fork { point: Some(name("m")), destination: Destination::Side, request: name("r1"), chat: name("f") },
    );
    check("create = { chat = \"c\" }", Action::Create { chat: name("c"), parent: None });
    check("claim = { chat = \"c\", parent = \"main\" }", Action::Claim { chat: name("c"), parent: Some(name("main")) });
}

#[test]
fn every_form_of_an_answer_is_read() {
    let decision = |decision, message: Option<&str>, interrupt| AnswerTo::Decision {
        decision,
        message: message.map(str::to_owned),
        interrupt,
    };
    let answer = |open, to| Action::Answer(Answer { open, to });
    let choice = |question: Option<&str>, labels: &[&str]| Choice {
        question: question.map(name),
        labels: labels.iter().map(|label| name(label)).collect(),
    };
    check("answer = \"allow_always\"", answer(1, decision(Decision::AllowAlways, None, false)));
    check(
        "answer = { decision = \"deny\", message = \"no\", interrupt = true, open = 2 }",
        answer(2, decision(Decision::Deny, Some("no"), true)),
    );
    check("answer = { choose = \"B\" }", answer(1, AnswerTo::Choices(vec![choice(None, &["B"])])));
    check("answer = { choose = [\"A\", \"B\"] }", answer(1, AnswerTo::Choices(vec![choice(None, &["A", "B"])])));
    check(
        "answer = { choose = { Z = \"B\", A = [\"C\"] } }",
        answer(1, AnswerTo::Choices(vec![choice(Some("Z"), &["B"]), choice(Some("A"), &["C"])])),
    );
    check("answer = { text = \"own words\" }", answer(1, AnswerTo::Text("own words".into())));
}

#[test]
fn every_happening_of_the_world_is_read() {
    let between = || Some(Cut::Between("device".into(), "viewer".into()));
    check("kill = true", Action::Kill(Killing::Now));
    check("kill = { effect = 3 }", Action::Kill(Killing::At(Place::Effect(3), When::Before)));
    check("restart = true", Action::Restart(Killing::Now));
    check("restart = { disk = 2, when = \"after\" }", Action::Restart(Killing::At(Place::Disk(2), When::After)));
    check("crash = true", Action::Crash(PowerLoss::Now));
    check("crash = { sync = 2, torn = true }", Action::Crash(PowerLoss::At { sync: 2, torn: true }));
    check("suspend = \"2h\"", Action::Suspend(Duration::from_secs(7_200)));
    check("partition = true", Action::Partition(None));
    check("partition = { between = [\"device\", \"viewer\"] }", Action::Partition(between()));
    check("heal = { between = [\"device\", \"viewer\"] }", Action::Heal(between()));
    check(
        "heal = { from = \"viewer\", to = \"device\" }",
        Action::Heal(Some(Cut::OneWay { from: "viewer".into(), to: "device".into() })),
    );
    check("disk = { call = 3, with = \"FULL\" }", Action::Disk { call: 3, with: scenarios::plan::DiskFault::Full });
    check("advance = \"1200ms\"", Action::Advance(Duration::from_millis(1_200)));
    check("release = \"result#1\"", Action::Release(at(BeatLabel::new("result#1"))));
    check(
        "release = \"result#1@claude\"",
        Action::Release(at(BeatLabel { label: "result#1".into(), process: Some("claude".into()) })),
    );
    check("note = \"n\"", Action::Note("n".into()));
}

#[test]
fn every_question_to_the_engine_is_read() {
    let request =
        || Request { method: name("m"), params: json!({ "b": 1, "a": [true, 2.5, "x"] }), answer: at(json!({ "ok": true })) };
    let body = "{ method = \"m\", params = { b = 1, a = [true, 2.5, \"x\"] }, answer = { ok = true } }";
    check(&format!("rpc = {body}"), Action::Rpc(request()));
    check(&format!("mcp = {body}"), Action::Mcp(request()));
    check(
        "view = { of = \"shown_title\", given = { n = 0x10 }, is = \"Agent\" }",
        Action::View(ViewCall { of: name("shown_title"), given: json!({ "n": 16 }), is: at(json!("Agent")) }),
    );
}

/// The checks of an expectation as they are printed, in order.
#[track_caller]
fn check_expectation(body: &str, expected: &[&str]) {
    let steps = format!(
        "steps = [{{ send = \"a\", label = \"m\" }}, {{ expect = {{ {body} }} }}, {{ until = {{ {body} }}, within = \"5s\" }}]"
    );
    let scenario = scenario(&steps);
    let (Action::Expect(expect), Action::Until { expectation: until, within }) =
        (&scenario.steps[1].action, &scenario.steps[2].action)
    else {
        panic!("an expect and an until");
    };
    assert_eq!(expect.checks.iter().map(Check::to_string).collect::<Vec<_>>(), expected);
    assert_eq!(expect, until, "the same words mean the same in both");
    assert_eq!(*within, Duration::from_secs(5));
}

#[test]
fn expectations_keep_the_order_of_the_file() {
    check_expectation(
        r#"pill = 1, rows.running = 1, tab."Agent: /probe" = ["prompt"], busy = true, row."Agent: /probe" = "running""#,
        &[
            "pill is 1",
            "rows.running is 1",
            "tab.\"Agent: /probe\" is [\"prompt\"]",
            "busy is true",
            "row.\"Agent: /probe\" is \"running\"",
        ],
    );
}

#[test]
fn every_expectation_is_read() {
    check_expectation(
        r#"status = "waiting", pill = { at_least = 1 }, turns = { at_least = 1, at_most = 3 }"#,
        &["status is \"waiting\"", "pill is at least 1", "turns is from 1 to 3"],
    );
    check_expectation(
        r#"turns = ["completed", "running"], rows = ["A", "B"]"#,
        &["turns is [\"completed\", \"running\"]", "rows is [\"A\", \"B\"]"],
    );
    check_expectation(
        r#"rows = { running = 0, done = 1, failed = { at_most = 2 }, all = 3 }, row = { A = "done", B = "failed" }"#,
        &[
            "rows.running is 0",
            "rows.done is 1",
            "rows.failed is at most 2",
            "rows.all is 3",
            "row.\"A\" is \"done\"",
            "row.\"B\" is \"failed\"",
        ],
    );
    check_expectation(
        r#"tab.A = { entries = ["prompt", "tool:Agent: /x"], text = { lacks = "no" }, last_reply = "r", state = "aborted" }"#,
        &[
            "tab.\"A\" is [\"prompt\", \"tool:Agent: /x\"]",
            "tab.\"A\".text lacks \"no\"",
            "tab.\"A\".last_reply is \"r\"",
            "tab.\"A\".state is \"aborted\"",
        ],
    );
    check_expectation(
        r#"entries = [], text = { contains = ["a", "b"], once = "c" }, transcript = "t", last_reply = """#,
        &[
            "entries is []",
            "text contains \"a\" and contains \"b\" and contains once \"c\"",
            "transcript is \"t\"",
            "last_reply is \"\"",
        ],
    );
    check_expectation(
        r#"messages.m = "not_delivered", queue = ["m"], question = false, approval = true, notices = ["n"]"#,
        &["messages.m is \"not_delivered\"", "queue is [\"m\"]", "question is false", "approval is true", "notices is [\"n\"]"],
    );
    check_expectation(
        r#"queue = { messages = [], length = 0, paused = true }, notices = { contains = "n" }"#,
        &["queue is []", "queue.length is 0", "queue.paused is true", "notices contains \"n\""],
    );
}

#[test]
fn an_until_without_a_bound_has_sixty_seconds() {
    let scenario = scenario("steps = [{ until = { pill = 0 } }]");
    assert!(matches!(&scenario.steps[0].action, Action::Until { within, .. } if *within == Duration::from_secs(60)));
}

#[test]
fn a_check_points_at_its_own_key() {
    let scenario = scenario("steps = [{ expect = { pill = 0, row.\"Agent: /probe\" = \"done\" } }]");
    let Action::Expect(expectation) = &scenario.steps[0].action else { panic!("an expect") };
    let words: Vec<&str> = expectation.checks.iter().map(|check| &scenario.text()[check.span.start..check.span.end]).collect();
    assert_eq!(words, ["pill", "\"Agent: /probe\""]);
}

#[test]
fn every_edit_of_a_tape_is_read() {
    let edits = r#"{ hold = "a" }, { drop = "a" }, { duplicate = "a" }, { swap = ["a", "b"] }, { delay = "a", by = "40ms" },
        { insert = '{"type":"x"}', after = "a" }, { insert_raw = "x", after = "a" }, { exit = 1, after = "a" },
        { exit = "SIGKILL", after = "a" }, { close = "stdout", after = "a" }, { deaf = true, after = "a" }, { ignore = "SIGTERM" }"#;
    let cast = format!("cast = [{{ as = \"claude\", capture = \"bash\", version = \"2.1.310\", edits = [{edits}] }}]");
    let scenario = scenario(&format!("{cast}\nsteps = [{{ send = \"a\" }}]"));
    let a = || BeatLabel::new("a");
    let read: Vec<&Edit> = scenario.cast()[0].edits.iter().map(|edit| &edit.value).collect();
    assert_eq!(
        read,
        [
            &Edit::Hold(a()),
            &Edit::Drop(a()),
            &Edit::Duplicate(a()),
            &Edit::Swap(a(), BeatLabel::new("b")),
            &Edit::Delay { label: a(), by: Duration::from_millis(40) },
            &Edit::Insert { line: Insertion::Frame(json!({ "type": "x" })), after: a() },
            &Edit::Insert { line: Insertion::Raw("x".into()), after: a() },
            &Edit::Exit { exit: Exit::Code(1), after: a() },
            &Edit::Exit { exit: Exit::Signal(Signal::Kill), after: a() },
            &Edit::Close { pipe: Pipe::Stdout, after: a() },
            &Edit::Deaf { after: a() },
            &Edit::Ignore(Signal::Term),
        ]
    );
}

#[test]
fn processes_of_one_provider_are_numbered() {
    let scenario = scenario(
        "cast = [{ as = \"claude\", capture = \"a\" }, { as = \"pi\", capture = \"a\" }, { as = \"claude\", capture = \"b\" }, { as = \"claude\", capture = \"c\", name = \"helper\" }]\nsteps = [{ send = \"a\" }]",
    );
    assert_eq!(
        scenario.cast().iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(),
        ["claude", "pi", "claude#2", "helper"]
    );
}

#[test]
fn the_mock_and_its_events_are_read() {
    let scenario = scenario(
        "cast = [{ as = \"mock\", events = [{ event = { text_delta = \"x\" }, on = \"message\", label = \"first\" }, { event = \"done\", at = \"5ms\" }] }]\nsteps = [{ send = \"a\" }]",
    );
    let scenarios::scenario::Frames::Events(events) = &scenario.cast()[0].frames else { panic!("events") };
    assert_eq!(events[0].event.value, json!({ "text_delta": "x" }));
    assert_eq!(events[0].on, Some(scenarios::scenario::Trigger::Message));
    assert_eq!((&events[1].event.value, events[1].at), (&json!("done"), Duration::from_millis(5)));
}

#[test]
fn the_scripted_agent_takes_the_place_of_a_cast() {
    let scenario = scenario(
        "steps = [{ send = \"a\" }]\n[agent]\ndepth = 1\ntools = [\"fork\"]\nreplies = [{ tools = [{ tool = \"fork\", input = { task = \"t\" } }] }, { text = \"done\", after = \"1s\" }]\nchildren.\"t\" = [{ fail = \"overloaded\" }]",
    );
    let agent = scenario.agent().expect("an agent");
    assert!(scenario.cast().is_empty());
    assert_eq!(agent.depth, Some(1));
    assert_eq!(agent.replies.len(), 2);
    let failing = Reply { thinking: None, content: ReplyContent::Fail("overloaded".into()), after: Duration::ZERO };
    assert_eq!(agent.children.get("t"), Some(&vec![failing]));
}

#[test]
fn the_head_of_a_scenario_is_read() {
    let scenario = scenario(
        "from = \"https://example.org\"\nprovenance = \"all recorded\"\ntags = [\"raw\", \"kernel\"]\nconfig = { session_idle_ms = 5, a = \"b\" }\nsteps = [{ send = \"a\", chat = \"c\", device = \"viewer\" }]\nperturb = { weather = [\"user-timing\"], breakage = [\"exit\"], protect = [\"result#1\"] }",
    );
    assert_eq!(scenario.id, "g/s");
    assert_eq!(scenario.tags.iter().copied().collect::<Vec<_>>(), [Tag::Kernel, Tag::Raw]);
    let settings: Vec<_> = scenario.config.iter().map(|setting| (setting.key.value.as_str(), setting.value.clone())).collect();
    assert_eq!(settings, [("session_idle_ms", json!(5)), ("a", json!("b"))]);
    assert_eq!((scenario.steps[0].chat(), scenario.device_of(&scenario.steps[0])), ("c", "viewer"));
    assert_eq!((&scenario.perturb.weather, &scenario.perturb.breakage), (&vec![Kind::UserTiming], &vec![Kind::Exit]));
}

#[test]
fn a_scenario_that_no_file_holds_plays_on_one_device() {
    let made = Scenario::made("capture/plain-turn", "T", Vec::new(), scenario("steps = [{ send = \"a\" }]").steps);
    assert_eq!((made.device_of(&made.steps[0]), made.steps[0].chat()), ("device", "main"));
    let report = render(&made.problem(Span::default(), "no version has the scene", "here"));
    assert!(report.contains("no version has the scene"), "{report}");
}
