//! One line for each output of the driver.

use engine::{
    core::effect::Effect,
    drivers::Output,
    event::{AgentEvent, DoneStatus, ToolCall},
};
use serde_json::Value;

/// Numbers the driver's own ids by their first appearance, so that a transcript does not depend on the seed.
#[derive(Default)]
pub struct Render {
    ids: Vec<String>,
}

impl Render {
    /// The line of an output.
    pub fn output(&mut self, output: &Output) -> String {
        match output {
            Output::Event(event) => self.event(event),
            Output::Effect(effect) => effect_line(effect),
            Output::Taken(message) => format!("taken {message}"),
            Output::Background(count) => format!("background {count}"),
            Output::Ask { provider_request, questions } => {
                let questions: Vec<String> = questions
                    .iter()
                    .map(|question| {
                        let many = if question.multi_select { " (several)" } else { "" };
                        one_line(&format!("{} {}{many}", question.question, question.options.join("/")))
                    })
                    .collect();
                format!("ask {provider_request}: {}", questions.join(" & "))
            }
            Output::AskWithdrawn { provider_request } => format!("card closed {provider_request}"),
            Output::Ended => "ended".to_owned(),
            Output::Reaped => "reaped".to_owned(),
        }
    }

    fn id(&mut self, id: &str) -> String {
        let at = self.ids.iter().position(|known| known == id).unwrap_or_else(|| {
            self.ids.push(id.to_owned());
            self.ids.len() - 1
        });
        format!("#{}", at + 1)
    }

    fn event(&mut self, event: &AgentEvent) -> String {
        let line = match event {
            AgentEvent::SessionStarted { session_id, assistant_message_id, .. } => {
                format!("session {session_id} {}", self.id(assistant_message_id))
            }
            AgentEvent::TextDelta { text, part } => format!("text{} {text}", part_name(part)),
            AgentEvent::TextSnapshot { part, text } if text.is_empty() => format!("takes back [{part}]"),
            AgentEvent::TextSnapshot { part, text } => format!("snapshot [{part}] {text}"),
            AgentEvent::ReasoningDelta { text, part: None } if text.is_empty() => "beat".to_owned(),
            AgentEvent::ReasoningDelta { text, part } => format!("think{} {text}", part_name(part)),
            AgentEvent::AssistantMessageCompleted { assistant_message_id } => {
                format!("message {} closed", self.id(assistant_message_id))
            }
            AgentEvent::NativeForkReady { assistant_message_id, point } => {
                format!("fork point {} {}", self.id(assistant_message_id), point["uuid"].as_str().unwrap_or("?"))
            }
            AgentEvent::ToolCall { id, call } => format!("call {id} {}", call_name(call)),
            AgentEvent::ToolResult { id, is_error, output, .. } => {
                format!("returned {id} {} {}", if *is_error { "error" } else { "ok" }, output.as_deref().unwrap_or_default())
            }
            AgentEvent::ContextUsage { tokens, window } => match (tokens, window) {
                (Some(tokens), _) => format!("context {tokens}"),
                (None, window) => format!("window {}", window.unwrap_or_default()),
            },
            AgentEvent::Usage { input_tokens, output_tokens } => format!("usage {input_tokens}/{output_tokens}"),
            AgentEvent::AvailableCommands { commands } => format!("commands {}", commands.join(" ")),
            AgentEvent::Error { message } => format!("error {message}"),
            AgentEvent::Steered { message_id, .. } => format!("steered {}", message_id.as_deref().unwrap_or("?")),
            AgentEvent::SteerReturned { message_id, reason } => format!("returned unread {message_id}: {reason}"),
            AgentEvent::Done { status, result, error, synthetic, .. } => {
                let status = match status {
                    DoneStatus::Completed => "completed",
                    DoneStatus::Interrupted => "interrupted",
                    DoneStatus::Errored => "errored",
                };
                let word = |before: &str, text: &Option<String>| text.as_ref().map(|text| format!("{before}{text}"));
                let words = [word(" ", result), word(" error: ", error), word(" synthetic: ", synthetic)];
                format!("done {status}{}", words.into_iter().flatten().collect::<String>())
            }
            AgentEvent::UserMessage { text } => format!("user {text}"),
            AgentEvent::Subagent { parent_tool_use_id, event } => format!("[{parent_tool_use_id}] {}", self.event(event)),
            AgentEvent::Note { kind, .. } => format!("note {kind}"),
            other => format!("{other:?}"),
        };
        one_line(&line)
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\u{2028}', "\\u2028").trim_end().to_owned()
}

/// A streamed block has its message and index, one that came whole the uuid of its frame.
fn part_name(part: &Option<String>) -> String {
    match part {
        Some(part) if part.contains('/') => format!(" [{part}]"),
        Some(_) => " [whole]".to_owned(),
        None => String::new(),
    }
}

fn call_name(call: &ToolCall) -> String {
    match call {
        ToolCall::Exec { command } => format!("Exec {command}"),
        ToolCall::Mcp { server, tool, .. } => format!("Mcp {server}.{tool}"),
        ToolCall::Unknown { name, .. } => name.clone(),
        other => other.name().to_owned(),
    }
}

fn effect_line(effect: &Effect) -> String {
    match effect {
        Effect::Spawn(spawn) => {
            let env: Vec<String> = spawn.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("spawn {} {} {}", env.join(" "), spawn.program, spawn.args.join(" "))
        }
        Effect::Write { bytes, .. } => {
            let text = String::from_utf8_lossy(bytes);
            assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "a line is written whole: {text:?}");
            written(&serde_json::from_str(&text).expect("the CLI dies of a line that is no JSON"))
        }
        Effect::ReadFile { path, .. } => format!("reads {path}"),
        Effect::CloseStdin { .. } => "stdin closed".to_owned(),
        Effect::Signal { signal, .. } => format!("signal {signal:?}"),
        other => format!("{other:?}"),
    }
}

fn written(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    match line["type"].as_str() {
        Some("user") => {
            let priority = line["priority"].as_str().map(|priority| format!(" {priority}")).unwrap_or_default();
            one_line(&format!("> user {}{priority}: {}", text(&line["uuid"]), text(&line["message"]["content"][0]["text"])))
        }
        Some("control_request") => {
            let request = &line["request"];
            let cancel = if request["cancel_queued"] == true { " cancel_queued" } else { "" };
            let message = request["message_uuid"].as_str().map(|uuid| format!(" {uuid}")).unwrap_or_default();
            format!("> {} {}{cancel}{message}", text(&request["subtype"]), text(&line["request_id"]))
        }
        Some("control_response") => {
            let response = &line["response"];
            let (id, inner) = (text(&response["request_id"]), &response["response"]);
            match inner["behavior"].as_str() {
                Some("allow") => {
                    let always = &inner["updatedPermissions"];
                    let always = if always.is_null() { String::new() } else { format!(" always {always}") };
                    format!("> allow {id} {}{always}", inner["updatedInput"])
                }
                Some("deny") => {
                    let interrupt = if inner["interrupt"] == true { " and interrupt" } else { "" };
                    format!("> deny {id}{interrupt}: {}", text(&inner["message"]))
                }
                _ => format!("> error {id}: {}", text(&response["error"])),
            }
        }
        _ => format!("> {line}"),
    }
}
