use serde_json::{Value, json};

use crate::{
    format::{Capture, From, Origin},
    import::{Format, Imported, Options, import},
    verify,
};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// A transcript of records: each gets a uuid, its parent, the session and a time a second later.
fn transcript(records: &[Value]) -> String {
    let mut parent = Value::Null;
    let mut text = String::new();
    for (index, record) in records.iter().enumerate() {
        let uuid = format!("22222222-2222-4222-8222-{index:012x}");
        let mut line = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/dev/project", "sessionId": SESSION,
            "version": "2.1.310", "gitBranch": "main", "uuid": uuid, "timestamp": format!("2026-11-30T10:00:{index:02}.000Z"),
        });
        line.as_object_mut().unwrap().extend(record.as_object().unwrap().clone());
        parent = line["uuid"].clone();
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn reply(id: &str, block: Value) -> Value {
    json!({"type": "assistant", "requestId": "req_1", "message": {"id": id, "type": "message", "role": "assistant",
        "model": "claude-haiku-5-5", "content": [block], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 5}}})
}

fn says(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn outcome(id: &str, text: &str, result: Value) -> Value {
    json!({"type": "user", "toolUseResult": result,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}})
}

/// The capture of these records: sound, synthetic, with these labels in this order.
#[track_caller]
fn check(records: &[Value], labels: &str) -> Imported {
    let imported = import("session.jsonl", &transcript(records), &Options::default()).unwrap();
    let capture = &imported.capture;
    assert_eq!((imported.format, capture.header.origin), (Format::Transcript, Origin::Synthetic));
    assert_eq!(verify::tape(capture), []);
    let found: Vec<String> = capture.labels().into_iter().flatten().collect();
    let expected: Vec<&str> = labels.split_whitespace().collect();
    assert_eq!(found, expected);
    imported
}

#[track_caller]
fn check_error(text: &str, line: usize, problem: &str) {
    let options = Options { format: Some(Format::Transcript), ..Options::default() };
    let error = import("wrong.jsonl", text, &options).expect_err("imported");
    assert_eq!(error.line, line, "{error}");
    assert!(error.problem.contains(problem) && !error.help.is_empty(), "{error}");
}

fn frames(capture: &Capture, from: From) -> Vec<&Value> {
    capture.entries.iter().filter(|entry| entry.from == from).filter_map(|entry| entry.what.frame()).collect()
}

#[test]
fn two_turns_with_a_tool() {
    let imported = check(
        &[
            json!({"type": "summary", "summary": "About files", "leafUuid": "x"}),
            prompt("list the files"),
            reply("msg_1", call("toolu_1", "Bash", json!({"command": "ls"}))),
            outcome("toolu_1", "a.txt", json!({"stdout": "a.txt", "stderr": "", "interrupted": false})),
            reply("msg_2", says("There is a.txt.")),
            prompt("thanks"),
            reply("msg_3", says("You are welcome.")),
        ],
        "prompt#1 queued#1 started#1 init#1 replay#1 assistant#1 tool_result#1 assistant#2 result#1 completed#1
         prompt#2 queued#2 started#2 init#2 replay#2 assistant#3 result#2 completed#2",
    );
    let capture = &imported.capture;
    let results: Vec<_> = frames(capture, From::Cli).into_iter().filter(|frame| frame["type"] == "result").collect();
    assert_eq!(results[0]["result"], "There is a.txt.");
    assert_eq!((&results[0]["num_turns"], &results[1]["num_turns"]), (&json!(2), &json!(1)));
    let outcome = frames(capture, From::Cli).into_iter().find(|frame| frame.get("tool_use_result").is_some()).unwrap();
    assert_eq!(outcome["tool_use_result"]["stdout"], "a.txt");
    assert_eq!((capture.header.version.as_str(), capture.header.recorded_on.as_str()), ("2.1.310", "2026-11-30"));
    // The second message came five seconds after the first, which is the second record.
    let prompts: Vec<f64> = capture.entries.iter().filter(|e| e.from == From::Host).map(|e| e.at_ms).collect();
    assert_eq!(prompts[..2], [10.0, 4010.0]);
    assert!(imported.said.contains(&("left out", "1 summary records".to_owned())), "{:?}", imported.said);
}

#[test]
fn a_stop_becomes_an_interrupt_of_the_host() {
    let imported = check(
        &[
            prompt("sleep"),
            reply("msg_1", call("toolu_1", "Bash", json!({"command": "sleep 9"}))),
            outcome("toolu_1", "The user doesn't want to proceed", json!("User rejected tool use")),
            json!({"type": "user", "message": {"role": "user", "content": [says("[Request interrupted by user for tool use]")]}}),
        ],
        "prompt#1 queued#1 started#1 init#1 replay#1 assistant#1 tool_result#1 host:interrupt#1 control_response#1 user#1
         result#1 cancelled#1",
    );
    let result = frames(&imported.capture, From::Cli).into_iter().find(|frame| frame["type"] == "result").unwrap();
    assert_eq!((&result["subtype"], &result["terminal_reason"]), (&json!("error_during_execution"), &json!("aborted_tools")));
}

#[test]
fn an_agent_gets_its_task_and_its_tags() {
    let side = |mut record: Value, parent: Value| {
        record["isSidechain"] = json!(true);
        record["parentUuid"] = parent;
        record
    };
    let imported = check(
        &[
            prompt("look"),
            reply(
                "msg_1",
                call("toolu_1", "Task", json!({"description": "Look", "prompt": "look around", "subagent_type": "Explore"})),
            ),
            side(prompt("look around"), Value::Null),
            side(reply("msg_2", says("Nothing here.")), json!("22222222-2222-4222-8222-000000000002")),
            outcome("toolu_1", "Nothing here.", json!({"status": "completed", "content": [says("Nothing here.")]})),
            reply("msg_3", says("It found nothing.")),
        ],
        "prompt#1 queued#1 started#1 init#1 replay#1 assistant#1 task_started#1 user#1 assistant#2 task_notification#1
         tool_result#1 assistant#3 result#1 completed#1",
    );
    let tagged: Vec<_> =
        frames(&imported.capture, From::Cli).into_iter().filter(|frame| frame["parent_tool_use_id"] == "toolu_1").collect();
    assert_eq!(tagged.len(), 2);
    assert!(tagged.iter().all(|frame| frame["agent_id"] == "a0000000000000001"), "{tagged:?}");
}

#[test]
fn a_typed_command_is_what_was_typed_and_what_the_cli_wrote_itself_is_left_out() {
    let mut meta = prompt("Caveat: the messages below …");
    meta["isMeta"] = json!(true);
    let imported = check(
        &[
            meta,
            prompt(
                "<command-message>probe is running</command-message>\n<command-name>/probe</command-name>\n<command-args>two words</command-args>",
            ),
            reply("msg_1", says("Done.")),
            prompt("<local-command-stdout>cleared</local-command-stdout>"),
        ],
        "prompt#1 queued#1 started#1 init#1 replay#1 assistant#1 result#1 completed#1",
    );
    assert_eq!(frames(&imported.capture, From::Host)[0]["message"]["content"][0]["text"], "/probe two words");
}

#[test]
fn a_reply_of_several_blocks_is_a_frame_for_each() {
    let mut two = reply("msg_1", says("First."));
    two["message"]["content"] = json!([says("First."), says("Second.")]);
    check(&[prompt("go"), two], "prompt#1 queued#1 started#1 init#1 replay#1 assistant#1 assistant#2 result#1 completed#1");
}

#[test]
fn what_cannot_be_read_is_named_by_its_line() {
    let good = transcript(&[prompt("go")]);
    check_error(&format!("{good}{{\"type\":\"assis"), 2, "expected a record");
    check_error(&format!("{good}{{\"uuid\":\"x\"}}"), 2, "a record without `type`");
    check_error(&format!("{good}{{\"type\":\"user\"}}"), 2, "without `message`");
    let mut side = prompt("look around");
    side["isSidechain"] = json!(true);
    check_error(&transcript(&[side]), 1, "an agent's transcript");
    check_error(&good.replace("timestamp", "time"), 1, "without a timestamp");
    check_error("", 1, "no message of a user");
}
