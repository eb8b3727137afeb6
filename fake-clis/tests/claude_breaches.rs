//! Host lines that Claude Code would reject are named; lines that only cross with something are not.

use std::sync::Arc;

use fake_clis::{
    claude::{Claude, profile::builtin, script::Script},
    drive::{Drive, MemoryFiles},
    understudy::Launch,
};
use serde_json::{Value, json};

/// The rules that a host breaks with one line, written to an idle process.
fn check(line: &str, expected: &[&str]) {
    let words = "claude -p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio";
    let launch = Launch {
        argv: words.split(' ').map(str::to_owned).collect(),
        env: Default::default(),
        cwd: "/home/dev/project".into(),
        pid: 1,
    };
    let profile = Arc::new(builtin("2.1.332").expect("a recorded version"));
    let mut files = MemoryFiles::default();
    let mut drive = Drive::start(Claude::new(launch, profile, Script::default()), &mut files, 1);
    drive.run_until(10);
    drive.give(fake_clis::understudy::Input::Stdin(format!("{line}\n").as_bytes()));
    drive.run_until(5_000);
    let rules: Vec<&str> = drive.breaches.iter().map(|breach| breach.rule).collect();
    assert_eq!(rules, expected, "{line}");
}

fn request(request: Value) -> String {
    json!({"type": "control_request", "request_id": "r", "request": request}).to_string()
}

#[test]
fn a_line_that_is_no_json_is_passed_over() {
    check("{\"type\":", &["malformed-line"]);
}

#[test]
fn a_user_line_without_a_message_is_taken() {
    check(r#"{"type":"user"}"#, &["user-without-message"]);
    check(r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#, &["user-without-message"]);
    check(r#"{"type":"user","message":{"role":"user","content":"x"},"priority":"soon"}"#, &["unknown-priority"]);
    check(r#"{"type":"user","message":{"role":"user","content":"x"},"priority":"now"}"#, &[]);
}

#[test]
fn a_control_request_that_nobody_knows_is_taken() {
    check(&request(json!({"subtype": "no_such_subtype"})), &["unknown-control-subtype"]);
    check(&request(json!({"subtype": "set_permission_mode", "mode": "nonsense"})), &["unknown-permission-mode"]);
    check(&request(json!({"subtype": "set_permission_mode", "mode": "plan"})), &[]);
    check(&request(json!({"subtype": "stop_task", "task_id": "a0"})), &["unknown-task"]);
    check(r#"{"type":"control_request","request":{"subtype":"interrupt"}}"#, &["control-without-id"]);
    check(&request(json!({"subtype": "interrupt"})), &[]);
}

#[test]
fn an_answer_to_a_question_that_nobody_asked_is_taken() {
    let answer = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "q", "response": {}}});
    check(&answer.to_string(), &["answer-without-question"]);
}

#[test]
fn lines_that_the_cli_ignores_are_breaches() {
    check(r#"{"type":"keep_alive"}"#, &[]);
    check(r#"{"type":"nonsense_type"}"#, &[]);
}
