//! A frame, a change and a line in a few words, for the trace.

use serde_json::Value;

use crate::host::Feed;

/// Longest text shown, characters.
const WORDS: usize = 60;

fn cut(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    if text.chars().count() <= WORDS { text } else { text.chars().take(WORDS - 1).chain(['…']).collect() }
}

/// What matters of a provider's frame.
pub fn frame(frame: &Value) -> String {
    let mut words = Vec::new();
    for key in
        ["subtype", "state", "status", "task_id", "tool_use_id", "parent_tool_use_id", "terminal_reason", "is_error", "num_turns"]
    {
        match &frame[key] {
            Value::Null => {}
            Value::String(text) => words.push(format!("{key}={}", cut(text))),
            other => words.push(format!("{key}={other}")),
        }
    }
    let event = &frame["event"];
    if let Some(text) = event["delta"]["text"].as_str().or_else(|| event["delta"]["thinking"].as_str()) {
        words.push(format!("{:?}", cut(text)));
    }
    let blocks = frame["message"]["content"].as_array().into_iter().flatten();
    for block in blocks {
        let text = ["text", "thinking", "name", "content"].iter().find_map(|key| block[*key].as_str()).unwrap_or_default();
        words.push(format!("{}:{:?}", block["type"].as_str().unwrap_or("block"), cut(text)));
    }
    words.join(" ")
}

/// What matters of a host's line.
pub fn line(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap_or("no JSON");
    let mut words = vec![kind.to_owned()];
    for value in [&frame["request"]["subtype"], &frame["response"]["response"]["behavior"], &frame["priority"], &frame["method"]]
    {
        words.extend(value.as_str().map(str::to_owned));
    }
    if kind == "user" {
        words.push(format!("{:?}", cut(&crate::stage::implied::text(&frame["message"]["content"]))));
    }
    words.join(" ")
}

/// What a viewer received.
pub fn feed(feed: &Feed) -> String {
    match feed {
        Feed::Chat { session, .. } => format!("chat session={}", session.as_deref().unwrap_or("-")),
        Feed::Session { status, pill, completed_turns, .. } => format!("row {status:?} pill={pill} completed={completed_turns}"),
        Feed::Message { text, state, .. } => format!("message {state:?} {:?}", cut(text)),
        Feed::Queue { paused, messages, .. } => {
            format!("queue of {}{}", messages.len(), if *paused { ", paused" } else { "" })
        }
        Feed::Input { open, .. } => format!("question {}", if *open { "opened" } else { "closed" }),
        Feed::Journal { seq, event, .. } => format!("journal {seq} {}", event_words(event)),
        Feed::Doc { doc, bytes, .. } => format!("document {doc} {} bytes", bytes.len()),
    }
}

fn event_words(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or("event");
    if kind == "subagent" {
        return format!("child {}: {}", event["parentToolUseId"].as_str().unwrap_or_default(), event_words(&event["event"]));
    }
    let detail = ["text", "status", "kind", "message", "id"].iter().find_map(|key| event[*key].as_str()).unwrap_or_default();
    format!("{kind} {:?}", cut(detail))
}
