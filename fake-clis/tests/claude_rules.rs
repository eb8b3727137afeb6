//! What Claude Code does where no capture shows it whole: each test is a row of the tables for steering, interrupts, permissions
//! and failures, played on the script of a recorded scene.

use std::collections::BTreeMap;

use captures::{catalog::Catalog, provider::Provider};
use fake_clis::{
    claude::{
        Claude,
        script::{Answer, Failure, Script, reduce},
    },
    drive::{Drive, MemoryFiles},
    understudy::{Input, Launch},
    verify::Verifier,
};
use serde_json::{Value, json};

/// Virtual time of a run, in ms.
const RUN_MS: u64 = 120_000;

/// One thing that the host does: when this frame has been said, it writes that line.
type Move<'a> = (&'a str, Value);

/// A scene's script, changed if need be, with other moves of the host; the frames behind the first `started`, one word a frame.
fn play(version: &str, scene: &str, change: impl Fn(&mut Script), env: &[(&str, &str)], moves: &[Move<'_>]) -> String {
    let catalog = Catalog::embedded();
    let verifier = Verifier::new(catalog.clone()).expect("the embedded captures parse");
    let capture = catalog.get(Provider::Claude, version, scene).expect("an embedded capture");
    let mut script = reduce(&capture);
    change(&mut script);
    let mut launch = Launch {
        argv: capture.header.launch.clone(),
        env: capture.header.env.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        cwd: "/home/dev/project".into(),
        pid: 1,
        root: true,
    };
    launch.env.extend(env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let mut files = MemoryFiles::default();
    let mut drive = Drive::start(Claude::new(launch, verifier.profile(version), script), &mut files, 7);
    let mut moves = moves.iter();
    let mut next = moves.next();
    let mut words = Words::default();
    let mut seen = 0;
    while drive.now_ms < RUN_MS && drive.exit.is_none() {
        while seen < drive.said.len() {
            let frame = drive.said[seen].frame.clone();
            seen += 1;
            words.take(&frame);
        }
        if let Some((after, frame)) = next
            && words.has(after)
        {
            let mut frame = frame.clone();
            words.put_ids(&mut frame);
            drive.line(&frame);
            next = moves.next();
            continue;
        }
        if !drive.fire() {
            break;
        }
    }
    assert!(next.is_none(), "the host waited for `{}` in vain:\n{}", next.map_or("", |next| next.0), words.said.join("\n"));
    drive.give(Input::StdinClosed);
    drive.run_until(RUN_MS * 2);
    for said in &drive.said[seen..] {
        words.take(&said.frame);
    }
    assert!(drive.exit.is_some(), "the process does not end:\n{}", words.said.join("\n"));
    words.said.join("\n")
}

/// Names of frames, and the ids that the host takes from them.
#[derive(Default)]
struct Words {
    said: Vec<String>,
    counts: BTreeMap<String, u32>,
    names: BTreeMap<String, String>,
    question: Option<Value>,
    task: Option<Value>,
}

impl Words {
    fn take(&mut self, frame: &Value) {
        if frame["type"] == "control_request" {
            self.question = Some(frame["request_id"].clone());
        }
        if frame["subtype"] == "task_started" {
            self.task = Some(frame["task_id"].clone());
        }
        if let Some(event) = frame["event"]["type"].as_str() {
            *self.counts.entry(event.to_owned()).or_insert(0) += 1;
        }
        let Some(word) = self.word(frame) else { return };
        *self.counts.entry(word.clone()).or_insert(0) += 1;
        if self.said.last() != Some(&word) || word != "stream*" {
            self.said.push(word);
        }
    }

    /// `task_started`, or `task_started#2` for the second one.
    fn has(&self, after: &str) -> bool {
        let (word, count) = after.split_once('#').unwrap_or((after, "1"));
        self.counts.get(word).copied().unwrap_or(0) >= count.parse().expect("a count")
    }

    fn put_ids(&self, frame: &mut Value) {
        if frame["type"] == "control_response" {
            frame["response"]["request_id"] = self.question.clone().expect("a question was asked");
        }
        if frame["request"]["task_id"] == "LAST" {
            frame["request"]["task_id"] = self.task.clone().expect("a task began");
        }
    }

    /// A short name for a tag or a task: the order of appearance.
    fn name(&mut self, id: &str) -> String {
        if id.starts_with("forked-command-") {
            return id.trim_start_matches("forked-command-").to_owned();
        }
        let next = format!("A{}", self.names.len() + 1);
        self.names.entry(id.to_owned()).or_insert(next).clone()
    }

    fn word(&mut self, frame: &Value) -> Option<String> {
        let text = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
        let tag = frame["parent_tool_use_id"].as_str().map(|tag| format!("<{}>", self.name(tag))).unwrap_or_default();
        let call = frame["tool_use_id"].as_str().map(|call| format!("@{}", self.name(call))).unwrap_or_default();
        let block = &frame["message"]["content"][0];
        let kind = block["type"].as_str().unwrap_or("str");
        Some(match (text("type").as_str(), text("subtype").as_str()) {
            ("stream_event", _) => "stream*".into(),
            ("system", "thinking_tokens") => return None,
            ("command_lifecycle", _) => format!("life/{} {}", text("state"), &text("command_uuid")[..2]),
            ("system", "status") => format!("status/{}", frame["status"].as_str().unwrap_or("null")),
            ("system", "task_updated") => format!("task_updated/{}", frame["patch"]["status"].as_str().unwrap_or("?")),
            ("system", "task_notification") => format!("task_notification/{}{call}", text("status")),
            ("system", "background_tasks_changed") => {
                let tasks = frame["tasks"].as_array().map_or(0, Vec::len);
                let owned = frame["tasks"].as_array().into_iter().flatten().any(|task| task.get("parent_task_id").is_some());
                format!("background_tasks_changed {tasks}{}", if owned { " of a fork" } else { "" })
            }
            ("system", "session_state_changed") => format!("state/{}", text("state")),
            ("system", subtype) => format!("{subtype}{call}"),
            ("assistant", _) => {
                let aborted = if frame["aborted"] == true { " aborted" } else { "" };
                let error = if frame["is_api_error_message"] == true { " error" } else { "" };
                format!("assistant[{kind}]{tag}{aborted}{error}")
            }
            ("user", _) if frame["isReplay"] == true => "replay".into(),
            ("user", _) if kind == "tool_result" => {
                format!("tool_result{tag}{}", if block["is_error"] == true { " error" } else { "" })
            }
            ("user", _) if text_starts(block, "[Request interrupted by user for tool use]") => {
                format!("interrupted for tool{tag}")
            }
            ("user", _) if text_starts(block, "[Request interrupted") => format!("interrupted{tag}"),
            ("user", _) => format!("user[{kind}]{tag}"),
            ("result", subtype) => {
                let error = if frame["is_error"] == true { " is_error" } else { "" };
                format!("result/{subtype} {}{error}", frame["terminal_reason"].as_str().unwrap_or("-"))
            }
            ("control_response", _) => format!("answer/{}", frame["response"]["subtype"].as_str().unwrap_or("?")),
            (other, _) => other.to_owned(),
        })
    }
}

fn text_starts(block: &Value, words: &str) -> bool {
    block["text"].as_str().is_some_and(|text| text.starts_with(words))
}

/// Both versions do the same, and the expected words stand together in what was said.
fn check(scene: &str, change: impl Fn(&mut Script), moves: &[Move<'_>], expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let expected = expected.join("\n");
    for version in ["2.1.310", "2.1.332"] {
        let said = play(version, scene, &change, &[], moves);
        assert!(said.contains(&expected), "{version} {scene}: expected\n{expected}\n\nin\n{said}");
    }
}

fn say(uuid: &str, text: &str, priority: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        "uuid": format!("{uuid}000000-0000-4000-8000-000000000000"), "priority": priority})
}

fn control(request: Value) -> Value {
    json!({"type": "control_request", "request_id": "r", "request": request})
}

fn interrupt() -> Value {
    control(json!({"subtype": "interrupt"}))
}

fn answer(response: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": "", "response": response}})
}

fn unchanged(_: &mut Script) {}

/// The word of a first line: nothing need be said.
const AT_ONCE: &str = "x#0";

#[test]
fn two_steers_during_a_command_are_not_folded_at_one_point() {
    check(
        "steer-next-during-bash",
        unchanged,
        &[
            (AT_ONCE, say("a0", "Run two tools. MOCK:twotools", "next")),
            ("message_stop", say("b0", "One.", "next")),
            ("life/queued b0", say("c0", "Two.", "next")),
        ],
        "tool_result
         replay
         replay
         life/started b0
         life/started c0
         status/requesting
         stream*
         assistant[text]
         stream*
         life/completed b0
         life/completed c0
         result/success completed
         life/completed a0",
    );
}

#[test]
fn a_typed_skill_is_folded_into_a_turn() {
    check(
        "steer-next-during-bash",
        unchanged,
        &[(AT_ONCE, say("a0", "Run two tools. MOCK:twotools", "next")), ("assistant[tool_use]", say("b0", "/probe", "next"))],
        "result/success completed
         life/completed a0
         life/started b0
         task_started",
    );
}

#[test]
fn now_at_a_foreground_agent_kills_its_step() {
    check(
        "steer-next-during-foreground-agent",
        unchanged,
        &[(AT_ONCE, say("a0", "Agent. MOCK:fgslow", "next")), ("assistant[tool_use]<A1>", say("b0", "Change of plan.", "now"))],
        "life/queued b0
         task_started@A2
         task_notification/completed@A2
         tool_result<A1>
         task_updated/killed
         task_notification/stopped@A1
         tool_result error
         result/success aborted_tools
         life/cancelled a0
         life/started b0
         init",
    );
}

#[test]
fn a_queued_message_is_lost_at_an_interrupt() {
    check(
        "interrupt-during-bash",
        unchanged,
        &[
            (AT_ONCE, say("a0", "Sleep. MOCK:longtool", "next")),
            ("message_stop", say("b0", "After.", "later")),
            ("life/queued b0", interrupt()),
        ],
        "answer/success
         tool_result error
         interrupted for tool
         result/error_during_execution aborted_tools is_error
         life/cancelled a0
         life/started b0
         init",
    );
}

#[test]
fn an_interrupt_between_two_tries_waits_for_the_api() {
    check(
        "api-529-until-retries-end",
        unchanged,
        &[(AT_ONCE, say("a0", "Trigger. MOCK:err", "next")), ("api_retry", interrupt())],
        "api_retry
         answer/success
         replay
         interrupted
         result/error_during_execution aborted_streaming is_error
         life/cancelled a0",
    );
}

#[test]
fn a_denial_that_interrupts_lets_the_turn_go_on() {
    let denial = answer(json!({"behavior": "deny", "message": "No.", "interrupt": true}));
    check(
        "permission-deny",
        unchanged,
        &[(AT_ONCE, say("a0", "Touch. MOCK:perm", "next")), ("control_request", denial)],
        "stream*
         answer/success
         tool_result error
         interrupted for tool
         result/error_during_execution aborted_tools is_error
         life/cancelled a0",
    );
}

#[test]
fn an_interrupted_fork_leaves_its_agents_running() {
    check(
        "typed-fork-with-two-agents",
        |script| script.outcomes.clear(),
        &[(AT_ONCE, say("a0", "/fanout", "next")), ("task_progress@A2", interrupt()), ("life/cancelled a0", interrupt())],
        "answer/success
         task_updated/killed
         task_notification/stopped@A1
         task_updated/killed
         task_notification/stopped@A2
         task_notification/stopped
         init
         user[text]<fanout>",
    );
}

#[test]
fn a_fork_holds_the_frames_of_its_background_agents() {
    let in_background = |script: &mut Script| {
        for fork in &mut script.forks {
            for answer in &mut fork.answers {
                let Answer::Reply(reply) = answer else { continue };
                for block in reply.blocks.iter_mut().filter(|block| block.content["name"] == "Agent") {
                    block.content["input"]["run_in_background"] = json!(true);
                }
            }
        }
        for outcome in script.outcomes.values_mut() {
            outcome.ms = 2000;
        }
    };
    check(
        "typed-fork-with-two-agents",
        in_background,
        &[(AT_ONCE, say("a0", "/fanout", "next"))],
        "background_tasks_changed 1 of a fork
         task_started@A1
         background_tasks_changed 2 of a fork
         task_started@A2",
    );
    check(
        "typed-fork-with-two-agents",
        in_background,
        &[(AT_ONCE, say("a0", "/fanout", "next"))],
        "background_tasks_changed 2
         task_notification/completed",
    );
    check(
        "typed-fork-with-two-agents",
        in_background,
        &[(AT_ONCE, say("a0", "/fanout", "next"))],
        "life/completed a0
         assistant[tool_use]<A2>
         task_progress@A2",
    );
}

#[test]
fn an_api_error_in_an_agent_ends_its_parents_turn() {
    check(
        "foreground-agent",
        |script| {
            for child in script.children.values_mut() {
                child.answers = [Answer::Failure(Failure {
                    wait_ms: 30,
                    status: Some(400),
                    message: "mock: bad request".into(),
                    request_id: None,
                    retry_ms: None,
                })]
                .into();
            }
        },
        &[(AT_ONCE, say("a0", "Use an agent. MOCK:fg", "next"))],
        "task_updated/failed
         task_notification/failed@A1
         tool_result error
         status/requesting",
    );
}

#[test]
fn an_empty_session_is_compacted() {
    check(
        "compact",
        unchanged,
        &[(AT_ONCE, say("a0", "/compact", "next"))],
        "life/started a0
         init
         assistant[text]
         replay
         result/success -
         life/completed a0",
    );
}

#[test]
fn a_message_that_nobody_scripted_gets_no_reply() {
    check(
        "plain-turn",
        unchanged,
        &[
            (AT_ONCE, say("a0", "Say hello. MOCK:plain", "next")),
            ("life/completed a0", say("b0", "Something that nobody recorded, said by a user.", "next")),
        ],
        "life/started b0
         init
         status/requesting
         replay
         stream*
         assistant[text]
         stream*
         result/success completed
         life/completed b0",
    );
}

#[test]
fn stopping_the_last_of_two_agents_stops_the_other() {
    check(
        "background-agents-two",
        unchanged,
        &[
            (AT_ONCE, say("a0", "Use two background agents. MOCK:bg", "next")),
            ("life/completed a0", control(json!({"subtype": "stop_task", "task_id": "LAST"}))),
        ],
        "task_updated/killed
         task_notification/stopped@A2
         background_tasks_changed 1
         answer/success",
    );
}

#[test]
fn an_sdk_host_does_not_learn_the_session_s_state() {
    let allow = answer(json!({"behavior": "allow", "updatedInput": {"command": "touch made.txt"}}));
    let said = play(
        "2.1.310",
        "permission-allow",
        unchanged,
        &[("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")],
        &[(AT_ONCE, say("a0", "Touch. MOCK:perm", "next")), ("control_request", allow)],
    );
    let kept = ["state/", "init", "control_request", "tool_result", "result"];
    let order: Vec<&str> = said.lines().filter(|line| kept.iter().any(|start| line.starts_with(start))).collect();
    assert_eq!(
        order,
        [
            "state/running",
            "init",
            "state/requires_action",
            "control_request",
            "state/running",
            "tool_result",
            "result/success completed",
            "state/idle",
        ]
    );
}

#[test]
fn a_host_that_spares_agents_loses_them_to_an_interrupt() {
    check(
        "background-agents-two",
        unchanged,
        &[
            (AT_ONCE, control(json!({"subtype": "initialize", "perTaskStopAffordance": true}))),
            ("answer/success", say("a0", "Use two background agents. MOCK:bg", "next")),
            ("life/completed a0", interrupt()),
        ],
        "life/completed a0
         answer/success",
    );
}

#[test]
fn a_call_that_was_denied_in_the_capture_hangs_when_it_is_allowed() {
    let allow = answer(json!({"behavior": "allow", "updatedInput": {"command": "touch made.txt"}}));
    check(
        "permission-deny",
        unchanged,
        &[(AT_ONCE, say("a0", "Touch. MOCK:perm", "next")), ("control_request", allow)],
        "answer/success
         tool_result
         status/requesting",
    );
}

#[test]
fn words_of_the_host_s_own_lose_the_recorded_answers() {
    let moves = |second: &str| [(AT_ONCE, say("a0", "My own words.", "next")), ("life/completed a0", say("b0", second, "next"))];
    check("bash", unchanged, &moves("More."), "assistant[tool_use]");
}

#[test]
fn two_runs_of_one_seed_differ() {
    let run = || {
        let moves = [(AT_ONCE, say("a0", "Use two agents. MOCK:fg2", "next")), ("task_progress@A2", say("b0", "Now.", "now"))];
        play("2.1.332", "foreground-agents-two", unchanged, &[], &moves)
    };
    assert_eq!(run(), run());
}
