//! What a tool call of Claude Code is in the normalized vocabulary.

use serde_json::Value;

use crate::event::ToolCall;

/// Maps a `tool_use` block by its tool's name.
pub fn call(name: &str, input: &Value) -> ToolCall {
    let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
    match name {
        "Bash" => ToolCall::Exec { command: text("command") },
        "Read" => ToolCall::ReadFile { path: text("file_path") },
        "Write" => ToolCall::WriteFile { path: text("file_path") },
        "Edit" | "MultiEdit" => ToolCall::EditFile { path: text("file_path") },
        "NotebookEdit" => ToolCall::EditFile { path: text("notebook_path") },
        "Grep" => ToolCall::Search { pattern: text("pattern") },
        "Glob" => ToolCall::Glob { pattern: text("pattern") },
        "WebFetch" => ToolCall::WebFetch { url: text("url") },
        "WebSearch" => ToolCall::WebSearch { query: text("query") },
        "TodoWrite" => ToolCall::Todo {
            items: input["todos"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|todo| todo["content"].as_str().map(str::to_owned))
                .collect(),
        },
        // The tool is called Agent and listed as Task; both names spawn.
        "Agent" | "Task" => ToolCall::Unknown { name: "Agent".to_owned(), input: input.clone() },
        _ => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) => ToolCall::Mcp { server: server.to_owned(), tool: tool.to_owned(), input: input.clone() },
            None => ToolCall::Unknown { name: name.to_owned(), input: input.clone() },
        },
    }
}

/// Whether the tool starts a subagent of the chat.
pub fn spawns(name: &str) -> bool {
    matches!(name, "Agent" | "Task")
}

/// Text of a content block; a bare string stands for a text block. Other kinds have none.
pub fn block_text(block: &Value) -> &str {
    match block {
        Value::String(text) => text,
        _ if block["type"].as_str() == Some("text") => block["text"].as_str().unwrap_or_default(),
        _ => "",
    }
}

/// Text of a `tool_result` block's content: a string, or the texts of its blocks.
pub fn result_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}
