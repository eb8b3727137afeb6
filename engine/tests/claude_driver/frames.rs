//! Frames of Claude Code by short words, shaped as recordings have them.
//!
//! `\n` in a text stands for a line end. A line that begins with `[tag]` is a child's.

use serde_json::{Value, json};

/// Builds frames and gives each its uuid.
#[derive(Default)]
pub struct Frames {
    made: u64,
    last: Value,
}

impl Frames {
    /// The frame that a line stands for.
    pub fn build(&mut self, line: &str) -> Value {
        if line == "again" {
            return self.last.clone();
        }
        let (tag, words) = match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((tag, words)) => (Some(tag), words),
            None => (None, line),
        };
        self.made += 1;
        let mut frame = frame(words, self.made);
        let fields = frame.as_object_mut().expect("a frame is an object");
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !kind.starts_with("control_") {
            fields.entry("uuid").or_insert(format!("u{}", self.made).into());
            fields.entry("session_id").or_insert("s1".into());
        }
        if ["assistant", "user", "stream_event"].contains(&kind.as_str()) {
            fields.entry("parent_tool_use_id").or_insert(tag.into());
        }
        self.last = frame.clone();
        frame
    }
}

/// Words of the first texts of all builders, for tests that go over every kind of frame.
pub const ONE_OF_EACH: &[&str] = &[
    "queued b",
    "started b",
    "completed b",
    "cancelled b",
    "init s2",
    "replay b",
    "message m1",
    "delta 0 Words",
    "think 1 Words",
    "input 2 {}",
    "abandon m1 0",
    "end-message",
    "says m1 Words",
    "says m2 Words",
    "thinks m2 Words",
    "calls m1 t1 Bash {\"command\":\"ls\"}",
    "calls m1 t2 Agent {\"prompt\":\"Look\"}",
    "calls m1 t3 SendMessage {\"to\":\"k2\",\"message\":\"More\"}",
    "calls m1 t4 TodoWrite {\"todos\":[{\"content\":\"x\"}]}",
    "calls m1 t5 mcp__engine__spawn {}",
    "api-error API Error: 529",
    "returns t1 ok Output",
    "returns t2 error Refused",
    "task k2 t2",
    "shell k1 t1",
    "fork k9 /probe Body",
    "notified k2 completed",
    "updated k9 failed",
    "background k1 k2",
    "[t2] says Words",
    "[t2] thinks Words",
    "[t2] calls c1 Bash {\"command\":\"ls\"}",
    "[t2] returns c1 ok Output",
    "[forked-command-probe] user Body",
    "[t2] api-error API Error: 400",
    "[t2] delta 0 Words",
    "result window a",
    "result api-error b",
    "result fork origin",
    "ask r1 Bash {\"command\":\"ls\"}",
    "ask-always r2 Bash {\"command\":\"ls\"}",
    "questions r3 Which one?=red/blue",
    "cancel-request r1",
    "response engine_stop_2 {\"still_queued\":[\"b\"]}",
    "response engine_initialize {\"commands\":[{\"name\":\"compact\"}]}",
    "progress t1",
    "retry",
    "status",
    "compact 1234",
    "rate-limited",
    "reset",
];

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n")
}

fn frame(words: &str, made: u64) -> Value {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let (second, last) = more.split_once(' ').unwrap_or((more, ""));
    match word {
        "queued" | "started" | "completed" | "cancelled" | "failed" => {
            json!({"type": "command_lifecycle", "command_uuid": first, "state": word})
        }
        "init" => json!({"type": "system", "subtype": "init", "session_id": if first.is_empty() { "s1" } else { first },
            "cwd": "/work", "tools": ["Bash", "Task"], "model": "opus[1m]", "mcp_servers": mcp(more)}),
        "replay" => json!({"type": "user", "uuid": first, "isReplay": true,
            "message": {"role": "user", "content": [{"type": "text", "text": "words"}]}}),
        "message" => json!({"type": "stream_event", "event": {"type": "message_start", "message": {"id": first}}}),
        "delta" => delta(first, json!({"type": "text_delta", "text": unescape(more)})),
        "think" => delta(first, json!({"type": "thinking_delta", "thinking": unescape(more)})),
        "input" => delta(first, json!({"type": "input_json_delta", "partial_json": more})),
        "end-message" => json!({"type": "stream_event", "event": {"type": "message_stop"}}),
        "abandon" => json!({"type": "stream_event", "event": {"type": "message_stop"},
            "abandoned_blocks": {"api_message_id": first, "from_block_index": number(second)}}),
        // A child's message needs no id: nothing of it is streamed.
        "says" | "thinks" | "calls" => assistant(word, rest, made),
        "synthetic" => json!({"type": "assistant", "local_command_source": "<local-command-stdout>",
            "message": {"id": format!("syn-{made}"), "role": "assistant", "model": "<synthetic>",
                "content": [{"type": "text", "text": unescape(rest)}]}}),
        "api-error" => json!({"type": "assistant", "error": "server_error", "is_api_error_message": true,
            "message": {"id": format!("syn-{made}"), "role": "assistant", "model": "<synthetic>",
                "content": [{"type": "text", "text": unescape(rest)}]}}),
        "returns" => json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": first, "is_error": second == "error", "content": unescape(last)}]}}),
        "user" => json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": unescape(rest)}]}}),
        "task" => json!({"type": "system", "subtype": "task_started", "task_id": first, "tool_use_id": second,
            "subagent_type": "general-purpose", "task_type": "local_agent", "description": "Look", "prompt": "Look"}),
        "shell" => json!({"type": "system", "subtype": "task_started", "task_id": first, "tool_use_id": second,
            "task_type": "local_bash", "description": "Sleep"}),
        "fork" => json!({"type": "system", "subtype": "task_started", "task_id": first, "task_type": "local_agent",
            "subagent_type": "general-purpose", "description": second, "prompt": unescape(last), "skip_transcript": true}),
        "notified" => json!({"type": "system", "subtype": "task_notification", "task_id": first, "status": second,
            "summary": "Summary"}),
        "updated" => json!({"type": "system", "subtype": "task_updated", "task_id": first, "patch": {"status": second}}),
        "background" => json!({"type": "system", "subtype": "background_tasks_changed", "tasks":
            rest.split_whitespace().map(|task| json!({"task_id": task, "task_type": "local_agent"})).collect::<Vec<_>>()}),
        "result" => result(first, more),
        "ask" | "ask-always" => json!({"type": "control_request", "request_id": first, "request": {
            "subtype": "can_use_tool", "tool_name": second, "input": parsed(last), "description": "Make a file",
            "permission_suggestions": if word == "ask" { json!([]) } else { json!([{"type": "setMode"}]) }}}),
        "questions" => json!({"type": "control_request", "request_id": first, "request": {"subtype": "can_use_tool",
            "tool_name": "AskUserQuestion", "input": {"questions": more.split(" & ").map(question).collect::<Vec<_>>()}}}),
        "cancel-request" => json!({"type": "control_cancel_request", "request_id": first}),
        "response" => json!({"type": "control_response",
            "response": {"subtype": "success", "request_id": first, "response": parsed(more)}}),
        "progress" => json!({"type": "tool_progress", "tool_use_id": format!("{first}-heartbeat-0"),
            "parent_tool_use_id": first, "heartbeat": true}),
        "retry" => json!({"type": "system", "subtype": "api_retry", "attempt": 1, "error": "overloaded"}),
        "status" => json!({"type": "system", "subtype": "status", "status": "requesting"}),
        "compact" => json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": {"post_tokens": number(first)}}),
        "rate-limited" => json!({"type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "rateLimitType": "five_hour"}}),
        "reset" => json!({"type": "conversation_reset", "new_conversation_id": "x", "trigger": "clear"}),
        "raw" => parsed(rest),
        other => panic!("no frame begins with `{other}`: {words}"),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn mcp(names: &str) -> Value {
    names.split_whitespace().map(|name| json!({"name": name, "status": "connected"})).collect()
}

fn delta(index: &str, delta: Value) -> Value {
    json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": number(index), "delta": delta}})
}

/// `says m1 Words`, `thinks m1 Words`, `calls m1 t1 Bash {…}`; a child's frame has no message id.
fn assistant(word: &str, rest: &str, made: u64) -> Value {
    let (id, text) = match rest.split_once(' ') {
        Some((id, text)) if id.len() == 2 && id.starts_with('m') => (id.to_owned(), text),
        _ => (format!("msg-{made}"), rest),
    };
    let block = match word {
        "says" => json!({"type": "text", "text": unescape(text)}),
        "thinks" => json!({"type": "thinking", "thinking": unescape(text)}),
        _ => {
            let mut words = text.splitn(3, ' ');
            let mut next = || words.next().unwrap_or_else(|| panic!("too few words: {rest}"));
            json!({"type": "tool_use", "id": next(), "name": next(), "input": parsed(next())})
        }
    };
    json!({"type": "assistant", "message": {"id": id, "role": "assistant", "model": "opus", "content": [block],
        "usage": {"input_tokens": 100, "output_tokens": 1}}})
}

fn question(text: &str) -> Value {
    let (question, options) = text.split_once('=').unwrap_or((text, ""));
    json!({"question": question, "header": "Choice", "multiSelect": false,
        "options": options.split('/').map(|label| json!({"label": label, "description": ""})).collect::<Vec<_>>()})
}

/// `result KIND [origin] [UUID…]`.
fn result(kind: &str, owners: &str) -> Value {
    let mut frame = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "Done.",
        "terminal_reason": "completed", "usage": {"input_tokens": 10, "output_tokens": 5}});
    let changes = match kind {
        "ok" => json!({}),
        "window" => json!({"modelUsage": {"opus[1m]": {"contextWindow": 1_000, "canonicalModel": "opus"}}}),
        "fork" => json!({"num_turns": 0, "local_command": "custom", "terminal_reason": null}),
        "empty" => json!({"num_turns": 0, "result": "", "terminal_reason": null}),
        "api-error" => json!({"is_error": true, "terminal_reason": "api_error", "result": "API Error: 529"}),
        "aborted" => json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools",
            "result": null, "errors": ["[ede_diagnostic] result_type=user"]}),
        "cut" => json!({"terminal_reason": "aborted_streaming", "result": "so far"}),
        "missing" => json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": null, "result": null,
            "num_turns": 0, "errors": ["[ede_diagnostic] x", "No conversation found with session ID: s9"]}),
        "max-turns" => json!({"subtype": "error_max_turns", "result": null}),
        "budget" => json!({"subtype": "error_max_budget_usd", "result": null}),
        "structured" => json!({"subtype": "error_max_structured_output_retries", "result": null}),
        "unreadable" => json!({"subtype": 7, "is_error": "yes", "terminal_reason": [], "result": {}}),
        other => panic!("no result is `{other}`"),
    };
    let fields = frame.as_object_mut().expect("an object");
    fields.extend(changes.as_object().expect("an object").clone());
    let uuids: Vec<&str> = owners.split_whitespace().filter(|word| *word != "origin").collect();
    if owners.split_whitespace().any(|word| word == "origin") {
        fields.insert("origin".to_owned(), json!({"kind": "task-notification", "producer": "session-task"}));
    }
    if let Some(last) = uuids.last() {
        fields.insert("user_message_uuid".to_owned(), json!(last));
        fields.insert("user_message_uuids".to_owned(), json!(uuids));
    }
    frame
}
