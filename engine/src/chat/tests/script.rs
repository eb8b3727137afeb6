//! A line language for tests: one call a line, and one line for each thing a reader sees.

use std::fmt::Write as _;

use serde_json::json;

use crate::chat::ChatDoc;
use crate::chat::layout::{EntryStatus, Role, SubagentStatus};
use crate::chat::read::{Entry, Part, ToolView};
use crate::event::{AgentEvent, ToolCall, UserInputQuestion};

pub const CREATED_AT: u64 = 1_700_000_000_000;
pub const DEVICE: &str = "dev";

/// One call.
#[derive(Clone, Debug)]
pub enum Op {
    User { id: String, text: String },
    Begin { id: String },
    Fold(AgentEvent),
    Chip { id: String, doc: Option<String>, status: Option<SubagentStatus>, revive: bool },
    Finish { aborted: bool, error: Option<String> },
    Point { id: String, point: String },
    Recover { error: String },
}

/// Reads a script.
#[track_caller]
pub fn parse(script: &str) -> Vec<Op> {
    script.lines().map(str::trim).filter(|line| !line.is_empty()).map(line).collect()
}

#[track_caller]
fn line(line: &str) -> Op {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let (word, key) = word.split_once('/').map_or((word, None), |(word, key)| (word, Some(key.to_owned())));
    match word {
        "user" => Op::User { id: first.into(), text: more.into() },
        "begin" => Op::Begin { id: first.into() },
        "text" => Op::Fold(AgentEvent::TextDelta { text: unquote(rest), part: key }),
        "think" => Op::Fold(AgentEvent::ReasoningDelta { text: unquote(rest), part: key }),
        "snap" => Op::Fold(AgentEvent::TextSnapshot { text: unquote(rest), part: key.expect("a snapshot names its part") }),
        "exec" => Op::Fold(AgentEvent::ToolCall { id: first.into(), call: ToolCall::Exec { command: more.into() } }),
        "plan" => Op::Fold(AgentEvent::ToolCall { id: "live-plan".into(), call: ToolCall::Todo { items: vec![rest.into()] } }),
        "spawn" => Op::Fold(AgentEvent::ToolCall { id: first.into(), call: spawn(more) }),
        "result" => Op::Fold(result(first, more)),
        "ask" => Op::Fold(AgentEvent::InputRequested { request_id: first.into(), questions: vec![question(more)] }),
        "answer" => Op::Fold(AgentEvent::InputResolved { request_id: first.into() }),
        "error" => Op::Fold(AgentEvent::Error { message: rest.into() }),
        "image" => Op::Fold(AgentEvent::GeneratedImage {
            id: first.into(),
            path: more.into(),
            name: more.into(),
            mime_type: "image/png".into(),
        }),
        "chip" => {
            let words: Vec<&str> = more.split(' ').collect();
            Op::Chip {
                id: first.into(),
                doc: words.iter().find_map(|word| word.strip_prefix("doc=")).map(str::to_owned),
                status: words.iter().find_map(|word| SubagentStatus::parse(word)),
                revive: words.contains(&"revive"),
            }
        }
        "finish" => Op::Finish { aborted: false, error: None },
        "abort" => Op::Finish { aborted: true, error: None },
        "fail" => Op::Finish { aborted: false, error: Some(rest.into()) },
        "point" => Op::Point { id: first.into(), point: more.into() },
        "recover" => Op::Recover { error: rest.into() },
        other => panic!("unknown word {other:?} in {line:?}"),
    }
}

/// `"…"` keeps spaces; `x40000` stands for that many bytes; anything else is itself.
fn unquote(text: &str) -> String {
    if let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return inner.to_owned();
    }
    match text.strip_prefix('x').and_then(|n| n.parse().ok()) {
        Some(n) => "x".repeat(n),
        None => text.to_owned(),
    }
}

pub fn spawn(name: &str) -> ToolCall {
    let input = json!({"prompt": "SECRET", "description": "SECRET", "subagent_type": "scout", "model": "small"});
    ToolCall::Unknown { name: name.to_owned(), input }
}

fn result(id: &str, words: &str) -> AgentEvent {
    let output = words.split(' ').find_map(|word| word.strip_prefix("out=")).map(str::to_owned);
    let diff = words.contains("diff").then(|| "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+++ y\n+z\n".to_owned());
    AgentEvent::ToolResult { id: id.to_owned(), is_error: words.contains("bad"), output, diff }
}

fn question(text: &str) -> UserInputQuestion {
    UserInputQuestion {
        id: "q".into(),
        header: "h".into(),
        question: text.into(),
        options: vec!["yes".into(), "no".into()],
        multi_select: false,
        prefill: None,
        multiline: false,
    }
}

/// Makes the call.
pub fn apply(doc: &mut ChatDoc, op: &Op) -> bool {
    match op {
        Op::User { id, text } => doc.push_user(id, text, CREATED_AT, DEVICE),
        Op::Begin { id } => doc.begin_segment(id, CREATED_AT, DEVICE),
        Op::Fold(event) => doc.fold(event),
        Op::Chip { id, doc: child, status, revive } => doc.set_chip(id, child.as_deref(), *status, *revive),
        Op::Finish { aborted, error } => {
            doc.finish_segment(*aborted, error.as_deref(), None);
            true
        }
        Op::Point { id, point } => doc.set_fork_point(id, &json!(point)),
        Op::Recover { error } => doc.abort_streaming(Some(error)),
    }
}

/// One line for each thing that a reader sees; long texts by their length.
pub fn render(entries: &[Entry]) -> String {
    let mut out = String::new();
    for entry in entries {
        let role = match entry.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        let status = match entry.status {
            EntryStatus::Streaming => "streaming",
            EntryStatus::Complete => "complete",
            EntryStatus::Aborted => "aborted",
        };
        let point = entry.native_fork_point.as_ref().map(|point| format!(" point={point}")).unwrap_or_default();
        let _ = writeln!(out, "{role} {} {status}{point}", entry.id);
        for part in &entry.parts {
            let _ = writeln!(out, "  {}", part_line(part));
        }
    }
    out
}

fn part_line(part: &Part) -> String {
    let keyed = |word: &str, part: &Option<String>, text: &str| {
        let key = part.as_ref().map(|key| format!("/{key}")).unwrap_or_default();
        let text = if text.len() > 200 { format!("({} bytes)", text.len()) } else { text.to_owned() };
        format!("{word}{key} {text}")
    };
    match part {
        Part::Text { part, text } => keyed("text", part, text),
        Part::Reasoning { part, text } => keyed("think", part, text),
        Part::Tool(tool) => tool_line(tool),
        Part::Input { request_id, questions, resolved } => {
            format!("ask {request_id} {} {}", questions[0].question, if *resolved { "resolved" } else { "open" })
        }
        Part::Error { message } => format!("error {message}"),
        Part::Image { id, path, .. } => format!("image {id} {path}"),
        Part::Fork { source_chat_id, source_title } => format!("fork {source_chat_id} {source_title}"),
    }
}

fn tool_line(tool: &ToolView) -> String {
    let mut line = match &tool.call {
        ToolCall::Exec { command } => format!("exec {} {command}", tool.id),
        ToolCall::Todo { items } => format!("plan {}", items.join(", ")),
        call => format!("spawn {} {}", tool.id, call.name()),
    };
    let state = match (tool.resolved, tool.is_error) {
        (false, _) => "open",
        (true, false) => "ok",
        (true, true) => "bad",
    };
    let _ = write!(line, " [{state}");
    if let Some(bytes) = tool.output_bytes {
        let _ = write!(line, " {bytes} bytes");
    }
    if let Some(stats) = tool.diff_stats {
        let _ = write!(line, " +{} -{}", stats.added, stats.removed);
    }
    if let Some(doc) = &tool.subagent_ref {
        let _ = write!(line, " doc={doc}");
    }
    if let Some(status) = tool.subagent_status {
        let _ = write!(line, " {}", status.as_str());
    }
    line + "]"
}
