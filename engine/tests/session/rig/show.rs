//! Effects and states in short lines.

use engine::{
    core::{
        Core,
        effect::{Effect, Signal},
        input::ProcId,
    },
    delegation::CallError,
    drivers::mock::Heard,
    event::AgentEvent,
    feed::{Change, MessageState, Row, Status},
};
use serde_json::Value;

use super::viewer::{self, Viewer};

/// An effect as a script shows it; none for kinds that the script does not show (`chat`, `journal`, `commit`, `doc`).
pub fn effect(effect: &Effect, shows: &[String]) -> Option<String> {
    let shown = |kind: &str| shows.iter().any(|show| show == kind);
    Some(match effect {
        Effect::Spawn(spawn) => {
            let resume = spawn.args.iter().find_map(|arg| arg.strip_prefix("--resume="));
            let line = match resume {
                Some(session) => format!("p{} spawned resuming {session}", number(spawn.proc)),
                None => format!("p{} spawned", number(spawn.proc)),
            };
            if shown("launch") { line + &launch(&spawn.args) } else { line }
        }
        Effect::Write { proc, bytes } => format!("p{} <- {}", number(*proc), written(bytes)),
        Effect::CloseStdin { proc } => format!("p{} <- end", number(*proc)),
        Effect::Signal { proc, signal } => {
            format!("p{} {}", number(*proc), if *signal == Signal::Term { "SIGTERM" } else { "SIGKILL" })
        }
        Effect::Answer(answer) => format!("answer {}: {}", answer.id, outcome(&answer.outcome)),
        Effect::Store(_) if shown("commit") => "commit".to_owned(),
        Effect::Publish(Change::Doc(update)) if shown("doc") => format!("document {}", update.doc_id),
        Effect::Publish(Change::Row(row)) => return self::row(row, &shown),
        Effect::ReadFile { path, .. } if shown("read") => format!("read {path}"),
        Effect::ReadFile { .. } | Effect::Store(_) | Effect::Publish(Change::Doc(_)) => return None,
    })
}

/// A process by its number within a life of the engine.
fn number(proc: ProcId) -> u64 {
    proc.0 & u64::from(u32::MAX)
}

fn row(row: &Row, shown: &dyn Fn(&str) -> bool) -> Option<String> {
    Some(match row {
        Row::Session(row) => {
            let status = match row.status {
                Status::Idle => "Idle",
                Status::Working => "Working",
                Status::AwaitingInput => "AwaitingInput",
                Status::Errored => "Errored",
            };
            let mut line = format!("{}{status}", chat(&row.chat_id));
            if row.running_subagents > 0 {
                line += &format!(" pill {}", row.running_subagents);
            }
            if shown("turns") {
                line += &format!(" completed {}", row.last_completed_turn);
            }
            line
        }
        Row::Message(row) => {
            let state = match row.state {
                MessageState::Queued => "queued",
                MessageState::Sent => "sent",
                MessageState::Delivered => "delivered",
                MessageState::NotDelivered => "not delivered",
                MessageState::Withdrawn => "withdrawn",
            };
            format!("{}{} {state}", chat(&row.chat_id), row.message_id)
        }
        Row::Input(row) => format!("card {} {}", row.provider_request_id, if row.open { "open" } else { "closed" }),
        Row::Chat(row) if shown("chat") => {
            let words = if row.preview.is_empty() { "no message".to_owned() } else { format!("last message: {}", row.preview) };
            format!("{}{words}", chat(&row.chat_id))
        }
        Row::Journal(row) if shown("journal") => format!("+{} {}", row.seq, event(&row.event)),
        Row::Queue(row) if shown("queue") => {
            let paused = if row.paused { " paused" } else { "" };
            let notes = row.notes.iter().filter(|(_, note)| !note.pending_attachments.is_empty());
            let waits: String = notes.map(|(id, _)| format!(", {id} waits")).collect();
            format!("{}queue{paused} [{}]{waits}", chat(&row.chat_id), row.messages.join(" "))
        }
        Row::Command(row) => {
            let resolution = row.resolution.iter().map(|words| format!(": {words}")).collect::<String>();
            format!("{} {:?}{resolution}", row.command_id, row.status).replace("Pending", "pending").replace("Applied", "applied")
        }
        Row::Queue(_) => return None,
        Row::Notice(row) => format!("notice {}", row.text),
        Row::Chat(_) | Row::Journal(_) => return None,
    })
}

/// What a launch of Claude Code says about delegation.
fn launch(args: &[String]) -> String {
    let mut words = String::new();
    if let Some(tools) = args.iter().find_map(|arg| arg.strip_prefix("--disallowedTools=")) {
        words += &format!(" without {tools}");
    }
    if let Some(config) = args.iter().skip_while(|arg| *arg != "--mcp-config").nth(1) {
        let config: Value = serde_json::from_str(config).expect("the MCP configuration is JSON");
        let env = config["mcpServers"]["engine"]["env"].as_object().expect("variables");
        let values: Vec<String> = env
            .iter()
            .map(|(key, value)| format!("{}={}", key.trim_start_matches("ENGINE_"), value.as_str().unwrap_or("?")))
            .collect();
        words += &format!(" with {}", values.join(" "));
    }
    words
}

/// An answer: what a tool gave, or what was refused.
fn outcome(outcome: &Result<Value, CallError>) -> String {
    let frame = match outcome {
        Ok(frame) => frame,
        Err(error) => return format!("refused, {}", error.message),
    };
    let result = &frame["result"];
    if let Some(error) = frame["error"]["message"].as_str() {
        format!("error, {error}")
    } else if result["isError"] == true {
        format!("refused, {}", result["content"][0]["text"].as_str().unwrap_or("?"))
    } else if !result["structuredContent"].is_null() {
        result["structuredContent"].to_string()
    } else if let Some(instructions) = result["instructions"].as_str() {
        instructions.to_owned()
    } else {
        frame.to_string()
    }
}

/// Only a second chat is named: most scripts have one.
fn chat(id: &str) -> String {
    if id == "c" { String::new() } else { format!("{id}: ") }
}

/// A journaled event in words.
pub fn event(event: &AgentEvent) -> String {
    match event {
        AgentEvent::TextDelta { text, .. } => format!("text {text}"),
        AgentEvent::ToolCall { id, .. } => format!("call {id}"),
        AgentEvent::ToolResult { id, .. } => format!("result {id}"),
        AgentEvent::Steered { message_id, .. } => format!("steered {}", message_id.as_deref().unwrap_or("-")),
        AgentEvent::Done { status, synthetic, .. } => {
            let status = format!("{status:?}").to_lowercase();
            synthetic.iter().fold(format!("done {status}"), |line, why| format!("{line} synthetic {why}"))
        }
        AgentEvent::Note { kind, text } => format!("note {kind}: {text}"),
        AgentEvent::Subagent { parent_tool_use_id, event } => format!("child {parent_tool_use_id} {}", self::event(event)),
        AgentEvent::UserMessage { text } => format!("user {text}"),
        other => serde_json::to_value(other).ok().and_then(|v| v["type"].as_str().map(str::to_owned)).unwrap_or_default(),
    }
}

/// One line that a process hears: the mock's, or Claude Code's.
fn written(bytes: &[u8]) -> String {
    if let Ok(heard) = serde_json::from_slice::<Heard>(bytes) {
        return match heard {
            Heard::Message { id, .. } => id,
            Heard::Withdraw(id) => format!("withdraw {id}"),
            Heard::Stop => "stop".to_owned(),
            Heard::Interrupt => "interrupt".to_owned(),
            Heard::Answer { request, answers: Some(answers) } => format!("answer {request} {}", answers.join(",")),
            Heard::Answer { request, answers: None } => format!("answer {request} nothing"),
            Heard::Decline(request) => format!("decline {request}"),
        };
    }
    let line: Value = serde_json::from_slice(bytes).expect("a line to a process is JSON");
    match line["type"].as_str() {
        Some("user") => {
            let priority = line["priority"].as_str().map(|priority| format!(" {priority}")).unwrap_or_default();
            format!("{}{priority}", line["uuid"].as_str().unwrap_or("no uuid"))
        }
        Some("control_request") => {
            format!("{} {}", line["request"]["subtype"].as_str().unwrap_or("?"), line["request_id"].as_str().unwrap_or("?"))
        }
        other => other.unwrap_or("?").to_owned(),
    }
}

/// What a script looks at.
pub fn look(what: &[String], chat: &str, core: &Core, seen: &Viewer) -> Vec<String> {
    match what.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["doc"] => seen.entries(chat).iter().map(viewer::entry).collect(),
        ["tab", chip] => match seen.tab(chat, chip) {
            Some(doc) => seen.entries(&doc).iter().map(viewer::entry).collect(),
            None => vec![format!("no tab among {} documents", seen.docs().count())],
        },
        ["journal"] => {
            let rows = seen.journal.iter().filter(|row| row.chat_id == chat);
            rows.map(|row| format!("+{} {}", row.seq, event(&row.event))).collect()
        }
        ["timers"] => core.timers().map(|(at, key)| format!("{} at {at}", key.name)).collect(),
        ["leases"] => core.leases().map(|proc| format!("p{} leased", number(proc))).collect(),
        ref other => panic!("nothing to look at called {other:?}"),
    }
}
