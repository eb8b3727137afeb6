use serde_json::json;

use super::*;
use crate::catalog::Catalog;

/// The stems of a line from the CLI and, in front of it with `>`, from the host.
fn check(provider: Provider, frame: &str, expected: &str) {
    let (from, frame) = frame.strip_prefix('>').map_or((From::Cli, frame), |frame| (From::Host, frame));
    assert_eq!(stem(provider, &from, &serde_json::from_str(frame).unwrap()), expected, "{frame}");
}

#[test]
fn claude_frames_have_the_names_of_the_field() {
    for (frame, expected) in [
        (r#"{"type":"system","subtype":"init"}"#, "init"),
        (r#"{"type":"system","subtype":"background_tasks_changed"}"#, "background_tasks_changed"),
        (r#"{"type":"system"}"#, "system"),
        (r#"{"type":"stream_event","event":{"type":"message_start"}}"#, "message_start"),
        (r#"{"type":"stream_event","event":{"type":"content_block_start"}}"#, "block_start"),
        (r#"{"type":"stream_event","event":{"type":"content_block_delta"}}"#, "delta"),
        (r#"{"type":"stream_event","event":{"type":"content_block_stop"}}"#, "block_stop"),
        (r#"{"type":"stream_event","event":{"type":"message_delta"}}"#, "message_delta"),
        (r#"{"type":"stream_event","event":{"type":"message_stop"}}"#, "message_stop"),
        (r#"{"type":"stream_event"}"#, "stream_event"),
        (r#"{"type":"assistant"}"#, "assistant"),
        (r#"{"type":"user","message":{"content":"x"}}"#, "user"),
        (r#"{"type":"user","isReplay":false,"message":{"content":"x"}}"#, "user"),
        (r#"{"type":"user","isReplay":true,"message":{"content":[{"type":"tool_result"}]}}"#, "replay"),
        (r#"{"type":"user","message":{"content":[{"type":"text"},{"type":"tool_result"}]}}"#, "tool_result"),
        (r#"{"type":"result","subtype":"success"}"#, "result"),
        (r#"{"type":"command_lifecycle","state":"queued"}"#, "queued"),
        (r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#, "can_use_tool"),
        (r#"{"type":"control_request","request":{"subtype":"hook_callback"}}"#, "control_request:hook_callback"),
        (r#"{"type":"control_response"}"#, "control_response"),
        (r#"{"type":"control_cancel_request"}"#, "control_cancel_request"),
        (r#"{"type":"tool_progress"}"#, "tool_progress"),
        (r#"{"type":7}"#, "frame"),
        ("null", "frame"),
        (r#">{"type":"user"}"#, "prompt"),
        (r#">{"type":"control_request","request":{"subtype":"interrupt"}}"#, "host:interrupt"),
        (r#">{"type":"control_response"}"#, "answer"),
        (r#">{"type":"keep_alive"}"#, "host:keep_alive"),
        (r#">[]"#, "host:frame"),
    ] {
        check(Provider::Claude, frame, expected);
    }
}

#[test]
fn frames_that_name_themselves_keep_their_names() {
    for (provider, frame, expected) in [
        (Provider::Codex, r#"{"method":"turn/started","params":{}}"#, "turn/started"),
        (Provider::Codex, r#"{"id":1,"result":{}}"#, "reply"),
        (Provider::Codex, r#"{"id":1,"error":{}}"#, "reply"),
        (Provider::Codex, r#"{"type":"thread.started"}"#, "thread.started"),
        (Provider::Codex, r#">{"id":1,"method":"turn/start"}"#, "host:turn/start"),
        (Provider::Codex, r#">{"id":1,"result":{"decision":"accept"}}"#, "answer"),
        (Provider::Pi, r#"{"type":"message_end"}"#, "message_end"),
        (Provider::Pi, r#"{"type":"response","command":"prompt"}"#, "reply"),
        (Provider::Pi, r#">{"type":"prompt"}"#, "prompt"),
        (Provider::Pi, r#">{"type":"steer"}"#, "host:steer"),
        (Provider::Opencode, r#"{"type":"session.idle"}"#, "session.idle"),
        (Provider::Opencode, "3", "frame"),
    ] {
        check(provider, frame, expected);
    }
}

#[test]
fn the_nth_frame_of_a_stem_is_n() {
    let mut counter = Counter::new();
    let labels: Vec<String> = ["result", "init", "result", "result"].iter().map(|stem| counter.label(stem)).collect();
    assert_eq!(labels, ["result#1", "init#1", "result#2", "result#3"]);
    assert_eq!(counter.counts().get("result"), Some(&3));
}

#[test]
fn every_frame_of_every_capture_has_a_label_of_its_own() {
    let catalog = Catalog::embedded();
    for listed in catalog.iter() {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        let labels: Vec<String> = capture.labels().into_iter().flatten().collect();
        let distinct: std::collections::BTreeSet<&String> = labels.iter().collect();
        assert_eq!(distinct.len(), labels.len(), "{}", listed.file);
        assert!(!labels.iter().any(|label| label.contains("frame#")), "{}: a frame without a stem", listed.file);
    }
}

fn capture() -> Capture {
    let catalog = Catalog::embedded();
    let mut capture = (*catalog.get(Provider::Claude, "2.1.310", "second-turn").unwrap()).clone();
    let first =
        capture.entries.iter().position(|entry| entry.what.frame().is_some_and(|f| f["type"] == json!("result"))).unwrap();
    capture.entries[first].label = Some("first-turn-over".to_owned());
    capture
}

#[test]
fn a_frame_is_found_by_its_hand_label_and_by_its_derived_one() {
    let capture = capture();
    let first = capture.find_label("result#1").unwrap();
    assert_eq!(capture.find_label("first-turn-over").unwrap(), first);
    assert!(capture.find_label("result#2").unwrap() > first);
}

#[test]
fn a_wrong_label_is_told_the_near_ones() {
    let capture = capture();
    for (wrong, near) in [("result#3", "result#1"), ("resutl#2", "result#2"), ("first-turn-ovr", "first-turn-over")] {
        let error = capture.find_label(wrong).unwrap_err();
        assert!(error.near.iter().any(|name| name == near), "{error}");
        assert!(error.near.len() <= 5, "{error}");
        assert!(error.to_string().contains("second-turn"), "{error}");
    }
}
