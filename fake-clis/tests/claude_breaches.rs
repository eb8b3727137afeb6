//! Host lines that Claude Code would reject are named; lines that only cross with something are not.

use std::sync::Arc;

use fake_clis::{
    claude::{Claude, profile::builtin, script::Script},
    drive::{Drive, MemoryFiles},
    understudy::Launch,
};
use serde_json::{Value, json};

/// The rules that a host breaks with one line, written to an idle process; `off-script` for what was never recorded.
fn check(line: &str, expected: &[&str]) {
    check_launch("", line, expected);
}

/// The same of a process with these switches more.
fn check_launch(switches: &str, line: &str, expected: &[&str]) {
    let words = "claude -p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio";
    let words = format!("{words} {switches}");
    let launch = Launch {
        argv: words.split_whitespace().map(str::to_owned).collect(),
        env: Default::default(),
        cwd: "/home/dev/project".into(),
        pid: 1,
        root: true,
    };
    let profile = Arc::new(builtin("2.1.332").expect("a recorded version"));
    let mut files = MemoryFiles::default();
    let mut drive = Drive::start(Claude::new(launch, profile, Script::default()), &mut files, 1);
    drive.run_until(10);
    assert_eq!(drive.exit, None, "{switches}: {}", drive.stderr);
    drive.give(fake_clis::understudy::Input::Stdin(format!("{line}\n").as_bytes()));
    drive.run_until(5_000);
    let breaches = drive.breaches.iter().map(|breach| breach.rule);
    let rules: Vec<&str> = breaches.chain(drive.off_script.iter().map(|_| "off-script")).collect();
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

#[test]
fn what_was_never_recorded_is_a_mistake_of_the_host() {
    check(&request(json!({"subtype": "mcp_set_servers", "servers": {}})), &["off-script"]);
    check(&request(json!({"subtype": "get_usage"})), &["off-script"]);
    check_launch("--continue", "", &["off-script"]);
    check_launch("--resume-session-at=u1", "", &["off-script"]);
}

#[test]
fn a_switch_of_the_official_clients_is_refused() {
    let launches = [
        "--system-prompt x --tools=default --max-budget-usd 1 --task-budget 5 --thinking adaptive --thinking-display summarized",
        "--thinking=disabled --max-thinking-tokens=1024 --max-turns=3 --effort=low --betas b --fallback-model=sonnet",
        "--setting-sources= --settings {} --add-dir /x --mcp-config {} --strict-mcp-config --plugin-dir /x --plugin-dir-no-mcp=/x",
        "--await-initialize --initialize-fields=settings --managed-settings {} --managed-settings-in-initialize --debug",
        "--permission-prompts=all --project-config-root=/x --no-session-persistence --allow-dangerously-skip-permissions",
        "--system-prompt-file /x --append-system-prompt x --include-hook-events --session-id=00000000-0000-4000-8000-000000000001",
    ];
    for switches in launches {
        check_launch(switches, "", &[]);
    }
}
