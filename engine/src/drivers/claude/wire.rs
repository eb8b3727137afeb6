//! Lines that the host writes to Claude Code, and the command line it starts it with.
//!
//! One malformed line kills the CLI, so a line is made whole by serde_json or not at all.

use serde_json::{Value, json};

use crate::{
    core::{config::EngineConfig, input::Sandbox},
    drivers::{McpServer, RunRequest},
};

/// Request id of the initialize request.
pub const INITIALIZE: &str = "engine_initialize";
/// Request id of the interrupt that kills a run.
pub const KILL_INTERRUPT: &str = "int_1";

/// How a message written during a turn is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Cuts streamed text; a running tool ends by itself first.
    Now,
    /// Folded in after the next tool result, or taken after the turn.
    Next,
}

/// Arguments of the CLI, without the program.
pub fn arguments(config: &EngineConfig, request: &RunRequest, mcp: Option<&McpServer>) -> Vec<String> {
    let mut args: Vec<String> = [
        "--print",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--replay-user-messages",
    ]
    .map(str::to_owned)
    .to_vec();
    // An older CLI refuses to start with an option it does not know.
    if config.claude_thinking_display {
        args.extend(["--thinking-display".to_owned(), "summarized".to_owned()]);
    }
    args.extend(["--permission-prompt-tool".to_owned(), "stdio".to_owned()]);
    if let Some(model) = &request.model {
        args.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(effort) = &request.effort {
        args.extend(["--effort".to_owned(), effort.clone()]);
    }
    let bypass = request.sandbox == Sandbox::DangerFullAccess && request.auto_approve;
    let mode = if bypass { "bypassPermissions" } else { "default" };
    args.extend(["--permission-mode".to_owned(), mode.to_owned()]);
    if let Some(session) = &request.resume {
        args.push(format!("--resume={session}"));
    }
    if let Some(server) = mcp {
        let env: serde_json::Map<String, Value> =
            server.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let entry = json!({"command": server.command, "args": server.args, "env": env});
        args.extend(["--mcp-config".to_owned(), json!({"mcpServers": {&server.name: entry}}).to_string()]);
    }
    if request.native_subagents_off {
        // `Workflow` also runs agents and needs its own name; `Agent` is listed as `Task` by init.
        args.push("--disallowedTools=Agent,Task,Workflow".to_owned());
    }
    args
}

/// Variables set for the CLI: without the first one the text and thinking of foreground children is not forwarded.
pub fn environment() -> Vec<(String, String)> {
    vec![("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT".to_owned(), "1".to_owned())]
}

/// A user message. Every one has a uuid of ours: without it the CLI reports no lifecycle and no owner of the result.
pub fn user(uuid: &str, text: &str, priority: Option<Priority>) -> String {
    let mut line = json!({
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid,
    });
    if let Some(priority) = priority {
        line["priority"] = match priority {
            Priority::Now => "now".into(),
            Priority::Next => "next".into(),
        };
    }
    line.to_string()
}

fn control_request(request_id: &str, request: Value) -> String {
    json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
}

/// The initialize request.
pub fn initialize() -> String {
    control_request(INITIALIZE, json!({"subtype": "initialize"}))
}

/// The interrupt that kills a run.
pub fn kill_interrupt() -> String {
    control_request(KILL_INTERRUPT, json!({"subtype": "interrupt"}))
}

/// The interrupt that stops the turn and takes back what is queued; the process lives on.
pub fn stop(request_id: &str) -> String {
    control_request(request_id, json!({"subtype": "interrupt", "cancel_queued": true}))
}

/// Changes the model; it holds from the next call of the model.
pub fn set_model(request_id: &str, model: &str) -> String {
    control_request(request_id, json!({"subtype": "set_model", "model": model}))
}

/// Changes the effort level.
pub fn set_effort(request_id: &str, effort: &str) -> String {
    control_request(request_id, json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": effort}}))
}

/// Takes back one message that was not taken.
pub fn cancel(request_id: &str, message_uuid: &str) -> String {
    control_request(request_id, json!({"subtype": "cancel_async_message", "message_uuid": message_uuid}))
}

/// An answer to a request of the CLI.
pub fn answer(request_id: &str, response: Value) -> String {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": request_id, "response": response}})
        .to_string()
}

/// A request of the CLI that no host of this kind answers: an error lets it go on.
pub fn unsupported(request_id: &str, what: &str) -> String {
    json!({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": what}}).to_string()
}
