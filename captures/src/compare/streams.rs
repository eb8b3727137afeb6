//! Which stream a frame belongs to: within one the order is fixed, between two it is not.

use std::collections::BTreeMap;

use serde_json::Value;

/// Sorts the frames of one process into streams. It remembers tasks, so it must see each frame once, in order.
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    /// Task id → what its frames are filed under.
    tasks: BTreeMap<String, String>,
}

impl Sorter {
    /// The stream of the next frame.
    pub fn stream(&mut self, frame: &Value) -> String {
        let text = |key: &str| frame.get(key).and_then(Value::as_str);
        match (text("type"), text("subtype")) {
            (Some("stream_event"), _) | (Some("system"), Some("thinking_tokens")) => "stream".into(),
            (Some("control_request" | "control_response" | "control_cancel_request"), _) => "control".into(),
            (Some("tool_progress"), _) => "heartbeat".into(),
            (Some("command_lifecycle"), _) if text("state") == Some("queued") => "queued".into(),
            (Some("system"), Some("background_tasks_changed")) => "tasks".into(),
            (Some("system"), Some("status")) if frame.get("permissionMode").is_some() => "control".into(),
            (Some("system"), _) if frame.get("task_id").is_some() => self.task(frame),
            (Some("system"), Some("session_title_changed")) => "title".into(),
            _ => match text("parent_tool_use_id") {
                Some(tag) => format!("child {tag}"),
                None => "main".into(),
            },
        }
    }

    fn task(&mut self, frame: &Value) -> String {
        let id = frame["task_id"].as_str().unwrap_or_default();
        let next = self.tasks.len() + 1;
        let call = frame["tool_use_id"].as_str();
        let name = call.map_or_else(|| format!("task #{next}"), |call| format!("task {call}"));
        self.tasks.entry(id.to_owned()).or_insert(name).clone()
    }
}
