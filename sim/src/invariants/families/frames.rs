//! Reading frames of Claude Code and journaled events, field by field, tolerant of anything.

use serde_json::Value;

/// `type` of a frame or of an event.
pub(super) fn kind(value: &Value) -> &str {
    value["type"].as_str().unwrap_or_default()
}

/// Subtype of a system frame.
pub(super) fn system(frame: &Value) -> Option<&str> {
    if kind(frame) == "system" { frame["subtype"].as_str() } else { None }
}

/// The tool that a frame is tagged with: it belongs to a child.
pub(super) fn tag(frame: &Value) -> Option<&str> {
    match kind(frame) {
        "assistant" | "user" | "stream_event" => frame["parent_tool_use_id"].as_str(),
        _ => None,
    }
}

/// Content blocks of an assistant or user frame.
pub(super) fn blocks(frame: &Value) -> impl Iterator<Item = &Value> {
    frame["message"]["content"].as_array().into_iter().flatten()
}

/// Texts of a user frame, whichever shape its content has.
pub(super) fn texts(frame: &Value) -> impl Iterator<Item = &str> {
    let whole = frame["message"]["content"].as_str();
    whole.into_iter().chain(blocks(frame).filter(|block| kind(block) == "text").filter_map(|block| block["text"].as_str()))
}

/// Tool calls of an assistant frame: id, name, block.
pub(super) fn tool_uses(frame: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let calls = blocks(frame).filter(|block| kind(block) == "tool_use");
    calls.filter_map(|block| Some((block["id"].as_str()?, block["name"].as_str().unwrap_or_default(), block)))
}

/// Whether a tool of this name starts a subagent of the chat.
pub(super) fn spawns(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// Whether an assistant frame tells an API failure.
pub(super) fn is_api_error(frame: &Value) -> bool {
    frame["is_api_error_message"].as_bool() == Some(true) || !frame["error"].is_null()
}

/// Message and state of a lifecycle frame.
pub(super) fn lifecycle(frame: &Value) -> Option<(&str, &str)> {
    if kind(frame) != "command_lifecycle" && system(frame) != Some("command_lifecycle") {
        return None;
    }
    Some((frame["command_uuid"].as_str()?, frame["state"].as_str()?))
}

/// Messages that a result names.
pub(super) fn named(frame: &Value) -> impl Iterator<Item = &str> {
    let list = frame["user_message_uuids"].as_array().into_iter().flatten();
    list.chain([&frame["user_message_uuid"]]).filter_map(Value::as_str)
}

/// Id of the task that a frame is about.
pub(super) fn task(frame: &Value) -> Option<&str> {
    frame["task_id"].as_str().or_else(|| frame["taskId"].as_str())
}

/// The tool call that a task stands for.
pub(super) fn task_tool(frame: &Value) -> Option<&str> {
    frame["tool_use_id"].as_str().or_else(|| frame["toolUseId"].as_str())
}

/// Whether a `task_started` begins a typed fork: no tool id, a bare command as description.
pub(super) fn is_fork_start(frame: &Value) -> bool {
    let command = frame["description"].as_str().is_some_and(|description| description.starts_with('/'));
    system(frame) == Some("task_started") && task(frame).is_some() && task_tool(frame).is_none() && command
}

/// The task that a frame ends, with a terminal status.
pub(super) fn task_end(frame: &Value) -> Option<&str> {
    let word = match system(frame)? {
        "task_notification" => frame["status"].as_str()?,
        "task_updated" => frame["patch"]["status"].as_str()?,
        _ => return None,
    };
    let terminal = [
        "completed",
        "complete",
        "succeeded",
        "success",
        "failed",
        "errored",
        "error",
        "killed",
        "cancelled",
        "canceled",
        "stopped",
        "interrupted",
    ];
    if terminal.contains(&word) { task(frame) } else { None }
}

/// Chip and child event of a `subagent` event.
pub(super) fn child(event: &Value) -> Option<(&str, &Value)> {
    if kind(event) != "subagent" {
        return None;
    }
    Some((event["parentToolUseId"].as_str()?, &event["event"]))
}

/// Name shown for the call of a `toolCall` event that is a chip.
pub(super) fn chip_name(event: &Value) -> Option<&str> {
    if kind(event) != "toolCall" {
        return None;
    }
    let call = &event["call"];
    let name = match call["kind"].as_str()? {
        "unknown" => call["name"].as_str()?,
        "mcp" => call["tool"].as_str()?,
        _ => return None,
    };
    is_chip_name(name).then_some(name)
}

/// Whether a tool of this shown name is a chip.
pub(super) fn is_chip_name(name: &str) -> bool {
    name == "Agent" || name.starts_with("Agent: ")
}

/// Whether a top-level event is content, or opens a reply: it can only stand inside a turn.
pub(super) fn opens(event: &Value) -> bool {
    match kind(event) {
        "textDelta" | "reasoningDelta" => event["text"].as_str().is_some_and(|text| !text.is_empty()),
        "steered" | "toolCall" | "generatedImage" | "error" | "inputRequested" => true,
        _ => false,
    }
}
