//! Stems of Claude Code's stream-json frames.

use serde_json::Value;

use super::{FALLBACK, text};

/// What the host writes: `prompt`, `answer`, `host:interrupt`.
pub(super) fn host(frame: &Value) -> String {
    match text(frame, &["type"]) {
        Some("user") => "prompt".to_owned(),
        Some("control_response") => "answer".to_owned(),
        Some("control_request") => format!("host:{}", text(frame, &["request", "subtype"]).unwrap_or("control_request")),
        Some(other) => format!("host:{other}"),
        None => format!("host:{FALLBACK}"),
    }
}

/// What the CLI writes: `init`, `task_started`, `delta`, `result`.
pub(super) fn cli(frame: &Value) -> String {
    let Some(kind) = text(frame, &["type"]) else {
        return FALLBACK.to_owned();
    };
    let stem = match kind {
        "system" => text(frame, &["subtype"]).unwrap_or(kind),
        "stream_event" => stream(text(frame, &["event", "type"]).unwrap_or(kind)),
        "command_lifecycle" => text(frame, &["state"]).unwrap_or(kind),
        "user" if frame.get("isReplay").and_then(Value::as_bool) == Some(true) => "replay",
        "user" if holds_tool_result(frame) => "tool_result",
        "control_request" => match text(frame, &["request", "subtype"]) {
            Some("can_use_tool") => "can_use_tool",
            Some(other) => return format!("control_request:{other}"),
            None => kind,
        },
        other => other,
    };
    stem.to_owned()
}

/// Short names for the stream events; blocks and deltas are what scenarios speak of most.
fn stream(event: &str) -> &str {
    match event {
        "content_block_start" => "block_start",
        "content_block_delta" => "delta",
        "content_block_stop" => "block_stop",
        other => other,
    }
}

fn holds_tool_result(frame: &Value) -> bool {
    let blocks = frame.get("message").and_then(|m| m.get("content")).and_then(Value::as_array);
    blocks.is_some_and(|blocks| blocks.iter().any(|block| text(block, &["type"]) == Some("tool_result")))
}
