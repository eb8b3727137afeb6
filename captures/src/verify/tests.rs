use serde_json::{Value, json};

use super::*;
use crate::{
    catalog::Catalog,
    format::{Exit, Stream as Pipe},
};

#[test]
fn no_embedded_capture_has_a_finding() {
    let catalog = Catalog::embedded();
    let mut wrong = Vec::new();
    for listed in catalog.iter() {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        wrong.extend(tape(&capture).into_iter().map(|finding| format!("{}: {finding:?}", listed.file)));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Breaks a good capture at a label (a derived one) and expects findings of one rule, the first one at the label itself.
fn check(scene: &str, label: &str, rule: &str, breakage: impl FnOnce(&mut Vec<Entry>, usize)) {
    let mut capture = (*Catalog::embedded().get(Provider::Claude, "2.1.332", scene).unwrap()).clone();
    let at = capture.find_label(label).unwrap();
    breakage(&mut capture.entries, at);
    let findings = tape(&capture);
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&rule), "{scene}, {label}: expected {rule}, found {findings:?}");
    let first = findings.iter().find(|finding| finding.rule == rule).unwrap();
    assert_eq!(first.at_ms.to_bits(), capture.entries[first.entry].at_ms.to_bits());
    assert!(!first.problem.is_empty());
}

fn frame(entry: &mut Entry) -> &mut Value {
    match &mut entry.what {
        What::Frame(frame) => frame,
        other => panic!("{other:?} is no frame"),
    }
}

/// Sets a value of the labelled frame.
fn set(pointer: &'static str, value: Value) -> impl FnOnce(&mut Vec<Entry>, usize) {
    move |entries, at| *frame(&mut entries[at]).pointer_mut(pointer).unwrap() = value
}

/// Removes a key of the labelled frame.
fn unset(key: &'static str) -> impl FnOnce(&mut Vec<Entry>, usize) {
    move |entries, at| {
        assert!(frame(&mut entries[at]).as_object_mut().unwrap().shift_remove(key).is_some(), "no {key}");
    }
}

fn drop_it(entries: &mut Vec<Entry>, at: usize) {
    entries.remove(at);
}

/// The same frame once more, under another uuid.
fn again(entries: &mut Vec<Entry>, at: usize) {
    let mut copy = entries[at].clone();
    if let Some(uuid) = frame(&mut copy).get_mut("uuid") {
        *uuid = json!("00000000-0000-4000-8000-000000000000");
    }
    entries.insert(at + 1, copy);
}

#[test]
fn a_label_twice() {
    check("plain-turn", "init#1", "label-twice", |entries, at| {
        entries[at].label = Some("x".to_owned());
        entries[at + 1].label = Some("x".to_owned());
    });
}

#[test]
fn a_time_that_goes_back() {
    check("plain-turn", "init#1", "time-goes-back", |entries, at| entries[at].at_ms = 0.0);
    check("plain-turn", "init#1", "time-goes-back", |entries, at| entries[at].at_ms = f64::NAN);
}

#[test]
fn an_exit_that_is_not_the_end() {
    check("plain-turn", "init#1", "exit-not-last", |entries, at| {
        entries[at].what = What::Exit(Exit { code: Some(0), signal: None });
    });
}

#[test]
fn a_capture_without_an_exit() {
    check("plain-turn", "init#1", "no-exit", |entries, _| drop(entries.pop()));
}

#[test]
fn a_line_after_its_pipe_was_closed() {
    check("plain-turn", "init#1", "written-after-close", |entries, at| entries[at].what = What::Close(Pipe::Stdout));
    check("second-turn", "prompt#1", "written-after-close", |entries, at| entries[at].what = What::Close(Pipe::Stdin));
}

#[test]
fn a_pipe_that_is_closed_twice() {
    check("plain-turn", "prompt#1", "closed-twice", |entries, at| entries[at].what = What::Close(Pipe::Stdin));
    check("plain-turn", "result#1", "closed-twice", |entries, at| entries[at].what = What::Close(Pipe::Stdout));
}

#[test]
fn a_result_of_a_tool_that_was_never_called() {
    check("bash", "tool_result#1", "unknown-tool", set("/message/content/0/tool_use_id", json!("toolu_other")));
}

#[test]
fn two_results_of_one_tool() {
    check("bash", "tool_result#1", "result-twice", again);
}

#[test]
fn a_permission_for_a_tool_that_was_never_called() {
    check("permission-allow", "can_use_tool#1", "unknown-tool", set("/request/tool_use_id", json!("toolu_other")));
}

#[test]
fn a_lifecycle_of_a_message_that_the_host_never_wrote() {
    check("plain-turn", "started#1", "unknown-message", set("/command_uuid", json!("00000000-0000-4000-8000-000000000000")));
    check("plain-turn", "prompt#1", "unknown-message", unset("uuid"));
}

#[test]
fn a_lifecycle_out_of_order() {
    check("plain-turn", "queued#1", "lifecycle-order", drop_it);
    check("plain-turn", "started#1", "lifecycle-order", drop_it);
    check("plain-turn", "completed#1", "lifecycle-order", again);
    check("plain-turn", "completed#1", "lifecycle-order", set("/state", json!("paused")));
}

#[test]
fn a_task_that_was_never_started() {
    for label in ["task_progress#1", "task_updated#1", "task_notification#1"] {
        check("foreground-agent", label, "unknown-task", set("/task_id", json!("a0000000000000000")));
    }
    check("typed-fork", "task_started#1", "unknown-task", drop_it);
}

#[test]
fn only_what_a_killed_session_left_is_stopped_without_a_start() {
    check("resume-after-kill-with-background-agents", "task_notification#1", "unknown-task", set("/status", json!("completed")));
    check("resume-after-kill-with-background-agents", "task_notification#1", "unknown-task", |entries, at| {
        frame(&mut entries[at])["run_id"] = json!("0mx3no10h-51f16f35");
    });
}

#[test]
fn a_frame_of_an_agent_that_was_never_started() {
    check("foreground-agent", "task_started#1", "unknown-task", drop_it);
}

#[test]
fn a_task_that_is_started_twice_or_goes_on_when_it_is_over() {
    check("foreground-agent", "task_started#1", "task-twice", again);
    check("foreground-agent", "task_notification#1", "task-over", again);
}

#[test]
fn a_task_whose_run_changes() {
    check("foreground-agent", "task_notification#1", "run-changed", set("/run_id", json!("000000000-00000000")));
}

#[test]
fn a_tag_of_a_tool_that_was_never_called() {
    check("foreground-agent", "user#1", "unknown-tag", set("/parent_tool_use_id", json!("toolu_other")));
}

#[test]
fn a_frame_without_what_its_class_has() {
    check("plain-turn", "result#1", "no-uuid", unset("uuid"));
    check("plain-turn", "delta#1", "no-session", unset("session_id"));
    check("plain-turn", "assistant#1", "no-type", unset("type"));
    check("plain-turn", "init#1", "no-subtype", unset("subtype"));
}

#[test]
fn a_uuid_twice() {
    check("plain-turn", "delta#1", "uuid-twice", |entries, at| {
        let copy = entries[at].clone();
        entries.insert(at, copy);
    });
}

#[test]
fn a_session_that_changes_without_a_reset() {
    check("second-turn", "init#2", "session-changed", set("/session_id", json!("00000000-0000-4000-8000-000000000000")));
    check("local-commands", "conversation_reset#1", "session-changed", drop_it);
}

#[test]
fn a_result_that_is_not_counted() {
    check("second-turn", "result#1", "result-index", drop_it);
    check("second-turn", "result#2", "result-index", unset("result_index"));
}

#[test]
fn an_answer_that_nobody_asked_for() {
    check("interrupt-when-idle", "host:interrupt#1", "unknown-request", drop_it);
    check("interrupt-when-idle", "control_response#1", "answered-twice", again);
    check("permission-allow", "answer#1", "unknown-request", drop_it);
    check(
        "interrupt-while-permission-pending",
        "control_cancel_request#1",
        "unknown-request",
        set("/request_id", json!("other")),
    );
}

#[test]
fn a_request_id_that_is_used_twice() {
    check("permission-allow", "can_use_tool#1", "request-id", again);
}

#[test]
fn a_stream_whose_frames_do_not_nest() {
    for label in ["message_start#1", "block_start#1", "block_stop#1"] {
        let scene = if label == "block_stop#1" { "bash" } else { "plain-turn" };
        // A block that never stops is only seen when its index comes back, so the stop is doubled instead.
        let breakage = if label == "block_stop#1" { again } else { drop_it };
        check(scene, label, "stream-framing", breakage);
    }
    check("plain-turn", "message_start#1", "stream-framing", again);
    check("plain-turn", "block_start#1", "stream-framing", again);
    check("plain-turn", "message_stop#1", "stream-framing", again);
    check("second-turn", "message_stop#1", "stream-framing", drop_it);
}
