//! What a process says: records of the mock, or frames of Claude Code, several in one read with ` ; ` between.

use engine::{
    drivers::mock::Said,
    event::{AgentEvent, DoneStatus, LIVE_PLAN, ToolCall, UserInputQuestion},
};
use serde_json::{Value, json};

/// Records of the mock.
pub fn mock(said: &str) -> Vec<u8> {
    lines(said, |words| serde_json::to_string(&record(words)).expect("a record is JSON"))
}

/// Frames of Claude Code.
pub fn claude(said: &str) -> Vec<u8> {
    lines(said, |words| frame(words).to_string())
}

fn lines(said: &str, one: impl Fn(&[&str]) -> String) -> Vec<u8> {
    let records = said.split(" ; ").map(|record| one(&record.split(' ').collect::<Vec<_>>()) + "\n");
    records.collect::<String>().into_bytes()
}

fn record(words: &[&str]) -> Said {
    match words {
        ["taken", message] => Said::Taken((*message).to_owned()),
        ["background", count] => Said::Background(count.parse().expect("a count")),
        ["ask", request] => Said::Ask { request: (*request).to_owned(), questions: vec![question()] },
        ["unask", request] => Said::AskWithdrawn((*request).to_owned()),
        words => Said::Event(event(words)),
    }
}

fn question() -> UserInputQuestion {
    UserInputQuestion {
        id: "q".to_owned(),
        header: "H".to_owned(),
        question: "Q?".to_owned(),
        options: vec!["yes".to_owned(), "no".to_owned()],
        multi_select: false,
        prefill: None,
        multiline: false,
    }
}

/// A normalized event in words.
pub fn event(words: &[&str]) -> AgentEvent {
    let text = |words: &[&str]| words.join(" ");
    match words {
        ["text", rest @ ..] => AgentEvent::TextDelta { text: text(rest), part: None },
        ["think", rest @ ..] => AgentEvent::ReasoningDelta { text: text(rest), part: None },
        ["call", id, name @ ..] => AgentEvent::ToolCall { id: (*id).to_owned(), call: call(&text(name)) },
        ["plan", items @ ..] => AgentEvent::ToolCall {
            id: LIVE_PLAN.to_owned(),
            call: ToolCall::Todo { items: items.iter().map(|item| (*item).to_owned()).collect() },
        },
        ["result", id] => AgentEvent::ToolResult { id: (*id).to_owned(), is_error: false, output: None, diff: None },
        ["steered"] => AgentEvent::Steered { message_id: None, assistant_message_id: None, next_assistant_message_id: None },
        ["steered", message] => AgentEvent::Steered {
            message_id: Some((*message).to_owned()),
            assistant_message_id: None,
            next_assistant_message_id: None,
        },
        ["returned", message] => AgentEvent::SteerReturned { message_id: (*message).to_owned(), reason: "cancelled".to_owned() },
        ["done", status, error @ ..] => AgentEvent::Done {
            status: match *status {
                "completed" => DoneStatus::Completed,
                "interrupted" => DoneStatus::Interrupted,
                "errored" => DoneStatus::Errored,
                other => panic!("no outcome `{other}`"),
            },
            result: None,
            error: (!error.is_empty()).then(|| text(error)),
            session_id: None,
            synthetic: None,
        },
        ["session", id] => AgentEvent::SessionStarted {
            harness: "mock".to_owned(),
            model: None,
            tools: Vec::new(),
            cwd: None,
            session_id: (*id).to_owned(),
            assistant_message_id: "a0".to_owned(),
        },
        ["closed", id] => AgentEvent::AssistantMessageCompleted { assistant_message_id: (*id).to_owned() },
        ["fork", id] => AgentEvent::NativeForkReady { assistant_message_id: (*id).to_owned(), point: json!({"at": "here"}) },
        ["context", tokens] => AgentEvent::ContextUsage { tokens: tokens.parse().ok(), window: None },
        ["agent", name] => AgentEvent::AgentChanged { agent: (*name).to_owned() },
        ["note", rest @ ..] => AgentEvent::Note { kind: "test".to_owned(), text: text(rest) },
        ["error", rest @ ..] => AgentEvent::Error { message: text(rest) },
        ["asked", id] => AgentEvent::InputRequested { request_id: (*id).to_owned(), questions: vec![question()] },
        ["user", rest @ ..] => AgentEvent::UserMessage { text: text(rest) },
        ["child", chip, inner @ ..] => {
            AgentEvent::Subagent { parent_tool_use_id: (*chip).to_owned(), event: Box::new(event(inner)) }
        }
        other => panic!("no such event: {other:?}"),
    }
}

/// A line of Claude Code's transcript: `user UUID TEXT`, `spawn TOOL`, `agent TOOL TASK`, `torn`; `side` before it for a side chain.
pub fn record_of(words: &[&str]) -> String {
    let (side, words) = if words[0] == "side" { (true, &words[1..]) } else { (false, words) };
    let record = match words {
        ["user", uuid, text @ ..] => json!({"type": "user", "uuid": uuid, "message": {"role": "user",
            "content": [{"type": "text", "text": text.join(" ")}]}}),
        ["spawn", tool] => json!({"type": "assistant", "uuid": format!("u-{tool}"), "message": {"id": "msg", "role": "assistant",
            "content": [{"type": "tool_use", "id": tool, "name": "Agent", "input": {"prompt": "go"}}]}}),
        ["agent", tool, task] => json!({"type": "user", "uuid": format!("u-{task}"), "toolUseResult": {"agentId": task},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": tool, "content": "launched"}]}}),
        ["torn"] => return "{\"type\":\"user\",\"uuid\":\"m".to_owned(),
        other => panic!("no such record: {other:?}"),
    };
    let mut record = record;
    record["isSidechain"] = json!(side);
    format!("{record}\n")
}

fn call(name: &str) -> ToolCall {
    ToolCall::Unknown { name: name.to_owned(), input: json!({"prompt": "secret"}) }
}

/// The frames of Claude Code that these tests need; everything else about its wire is tested with the driver.
fn frame(words: &[&str]) -> Value {
    match words {
        ["init", servers @ ..] => json!({"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "tools": [],
            "cwd": "/w", "uuid": "u-init",
            "mcp_servers": servers.iter().map(|name| json!({"name": name, "status": "connected"})).collect::<Vec<_>>()}),
        ["lifecycle", message, state] => json!({"type": "command_lifecycle", "command_uuid": message, "state": state,
            "session_id": "s1", "uuid": format!("u-{message}-{state}")}),
        ["text", uuid, rest @ ..] => json!({"type": "assistant", "uuid": uuid, "session_id": "s1", "parent_tool_use_id": null,
            "message": {"id": format!("msg-{uuid}"), "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": rest.join(" ")}]}}),
        ["tool", uuid, id, name] => json!({"type": "assistant", "uuid": uuid, "session_id": "s1", "parent_tool_use_id": null,
            "message": {"id": format!("msg-{uuid}"), "role": "assistant", "model": "m",
                "content": [{"type": "tool_use", "id": id, "name": name, "input": {"prompt": "go", "description": "probe"}}]}}),
        ["message-to", task, id, rest @ ..] => json!({"type": "assistant", "uuid": format!("u-{id}"), "session_id": "s1",
            "parent_tool_use_id": null, "message": {"id": format!("msg-{id}"), "role": "assistant", "model": "m",
                "content": [{"type": "tool_use", "id": id, "name": "SendMessage",
                    "input": {"to": task, "message": rest.join(" ")}}]}}),
        ["agent-started", task, tool] => json!({"type": "system", "subtype": "task_started", "task_id": task,
            "tool_use_id": tool, "description": "probe", "subagent_type": "general-purpose", "prompt": "go", "session_id": "s1",
            "uuid": format!("u-{task}")}),
        ["agent-over", task, tool] => json!({"type": "system", "subtype": "task_notification", "task_id": task,
            "tool_use_id": tool, "status": "completed", "summary": "", "session_id": "s1", "uuid": format!("u-{task}-over")}),
        ["fork-started", task] => json!({"type": "system", "subtype": "task_started", "task_id": task,
            "description": "/probe", "prompt": "look around", "session_id": "s1", "uuid": format!("u-{task}")}),
        ["result", named @ ..] => json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok",
            "session_id": "s1", "uuid": format!("u-result-{}", named.join("-")),
            "usage": {"input_tokens": 1, "output_tokens": 1}, "user_message_uuids": named}),
        ["answered", request] => json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": request, "response": {"still_queued": []}}}),
        other => panic!("no such frame: {other:?}"),
    }
}
