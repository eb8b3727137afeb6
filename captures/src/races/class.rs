//! The class of each frame of a Claude Code stream, as the table names it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{format::From, provider::Provider};

/// What the table calls a frame, and whom the frame is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameClass {
    /// `child/assistant[text]`, `task/task_started (local_bash)`.
    pub class: String,
    /// The agent, fork or command it is about: the tag of its frames (`toolu_…`, `forked-command-…`), or else its task id.
    pub task: Option<String>,
}

/// Names frames in the order in which they come; it remembers tasks, so it must see each frame of a process once.
#[derive(Clone, Debug)]
pub struct Classifier {
    provider: Provider,
    /// Listed background tasks; whether one still has a parent.
    listed: BTreeMap<String, bool>,
    /// Task id → the tag its frames carry.
    tags: BTreeMap<String, String>,
    /// Tags whose first assistant frame has been seen.
    spoken: BTreeSet<String>,
}

impl Classifier {
    /// A classifier that has seen nothing.
    pub fn new(provider: Provider) -> Self {
        Classifier { provider, listed: BTreeMap::new(), tags: BTreeMap::new(), spoken: BTreeSet::new() }
    }

    /// The class of the next frame; `None` for frames the table leaves out (deltas, thinking_tokens, other providers').
    pub fn class(&mut self, from: &From, frame: &Value) -> Option<FrameClass> {
        if self.provider != Provider::Claude {
            return None;
        }
        let kind = text(frame, "type")?;
        if *from == From::Host {
            let class = match kind {
                "control_request" => format!("host/control_request/{}", text(frame.get("request")?, "subtype")?),
                "user" => format!("host/user{}", content(frame)),
                other => format!("host/{other}"),
            };
            return Some(FrameClass { class, task: None });
        }
        match kind {
            "stream_event" => stream(frame.get("event")?),
            "assistant" | "user" => Some(self.message(kind, frame)),
            "system" => self.system(frame),
            _ => Some(main(frame, kind)),
        }
    }

    fn message(&mut self, kind: &str, frame: &Value) -> FrameClass {
        let content = content(frame);
        let Some(tag) = text(frame, "parent_tool_use_id") else {
            let replay = if frame.get("isReplay").and_then(Value::as_bool) == Some(true) { " replay" } else { "" };
            let launched = frame.get("tool_use_result").and_then(|result| text(result, "agentId"));
            let task = launched.map(|id| self.tag(id));
            return FrameClass { class: format!("main/{kind}{content}{replay}"), task };
        };
        let stream = if tag.starts_with("forked-command-") { "fork" } else { "child" };
        let first = stream == "child" && kind == "assistant" && self.spoken.insert(tag.to_owned());
        let words = if first { " (its first)" } else { "" };
        FrameClass { class: format!("{stream}/{kind}{content}{words}"), task: Some(tag.to_owned()) }
    }

    fn system(&mut self, frame: &Value) -> Option<FrameClass> {
        let subtype = text(frame, "subtype")?;
        let id = text(frame, "task_id");
        let class = match subtype {
            "thinking_tokens" => return None,
            "background_tasks_changed" => return Some(self.listed(frame)),
            "task_started" => {
                if let (Some(id), Some(tag)) = (id, text(frame, "tool_use_id")) {
                    self.tags.insert(id.to_owned(), tag.to_owned());
                }
                let bash = text(frame, "task_type") == Some("local_bash");
                format!("task/task_started{}", if bash { " (local_bash)" } else { "" })
            }
            "task_progress" => "task/task_progress".to_owned(),
            "task_notification" => format!("task/{subtype}/{}", text(frame, "status")?),
            "task_updated" => format!("task/{subtype}/{}", text(frame.get("patch")?, "status")?),
            "status" => match text(frame, "status") {
                Some(status) => format!("main/status/{status}"),
                None => "main/status".to_owned(),
            },
            other => format!("main/{other}"),
        };
        Some(FrameClass { class, task: id.map(|id| self.tag(id)) })
    }

    /// `(+)` if the list grew, `(-)` if it shrank, `(~)` if it only lost a parent, nothing if it is as it was (2.1.332 says so
    /// at `/clear`). The one task it is about, if it is one.
    fn listed(&mut self, frame: &Value) -> FrameClass {
        let tasks = frame.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let now: BTreeMap<String, bool> = tasks
            .iter()
            .filter_map(|task| Some((text(task, "task_id")?.to_owned(), task.get("parent_task_id").is_some())))
            .collect();
        let added: Vec<&String> = now.keys().filter(|id| !self.listed.contains_key(*id)).collect();
        let gone: Vec<&String> = self.listed.keys().filter(|id| !now.contains_key(*id)).collect();
        let orphaned = now.iter().any(|(id, child)| !child && self.listed.get(id) == Some(&true));
        let (sign, about) = match (added.is_empty(), gone.is_empty()) {
            (false, _) => ("(+)", added),
            (true, false) => ("(-)", gone),
            (true, true) if orphaned => ("(~)", Vec::new()),
            (true, true) => ("", Vec::new()),
        };
        let task = if let [id] = about[..] { Some(self.tag(id)) } else { None };
        self.listed = now;
        FrameClass { class: format!("task/background_tasks_changed{sign}"), task }
    }

    fn tag(&self, id: &str) -> String {
        self.tags.get(id).map_or_else(|| id.to_owned(), Clone::clone)
    }
}

fn main(frame: &Value, kind: &str) -> FrameClass {
    let class = match kind {
        "result" => format!("main/result/{}", text(frame, "subtype").unwrap_or("?")),
        "command_lifecycle" => format!("main/command_lifecycle/{}", text(frame, "state").unwrap_or("?")),
        "control_request" => {
            format!("main/control_request/{}", frame.get("request").and_then(|request| text(request, "subtype")).unwrap_or("?"))
        }
        other => format!("main/{other}"),
    };
    FrameClass { class, task: None }
}

fn stream(event: &Value) -> Option<FrameClass> {
    let class = match text(event, "type")? {
        "content_block_delta" => return None,
        "content_block_start" => format!("stream/content_block_start/{}", text(event.get("content_block")?, "type")?),
        other => format!("stream/{other}"),
    };
    Some(FrameClass { class, task: None })
}

/// `[text]`, `[tool_result]`, `[str]`: the kind of a message's first block.
fn content(frame: &Value) -> String {
    match frame.get("message").and_then(|message| message.get("content")) {
        Some(Value::String(_)) => "[str]".to_owned(),
        Some(Value::Array(blocks)) => format!("[{}]", blocks.first().and_then(|block| text(block, "type")).unwrap_or("?")),
        _ => "[?]".to_owned(),
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
