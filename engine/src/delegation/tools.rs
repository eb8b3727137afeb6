//! What the engine's MCP server offers, and what the arguments of its tools mean.

use serde_json::{Value, json};

use super::CallError;

/// Items of one `create_chats` or `send_messages`, at most.
pub const ITEMS: usize = 32;
/// Entries that `read_chat` gives when it is not told how many.
pub const ENTRIES: usize = 20;

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Who the caller is.
    WhoAmI,
    /// Creates side chats of the caller, each with its first message.
    CreateChats(Vec<NewChat>),
    /// Sends messages to chats.
    SendMessages(Vec<NewMessage>),
    /// Answers when the turn of a chat is over.
    WaitForTurn {
        /// Which chat.
        chat: String,
    },
    /// The last entries of a chat.
    ReadChat {
        /// Which chat.
        chat: String,
        /// How many entries.
        entries: usize,
    },
    /// Stops a side chat of the caller and puts it away.
    ArchiveChat {
        /// Which chat.
        chat: String,
    },
}

/// A side chat to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChat {
    /// Its title.
    pub title: Option<String>,
    /// Its first message.
    pub prompt: String,
    /// Its model; none takes the caller's.
    pub model: Option<String>,
    /// Its directory; none takes the caller's.
    pub cwd: Option<String>,
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// To which chat.
    pub chat: String,
    /// Its text.
    pub text: String,
    /// How it is sent.
    pub mode: SendMode,
}

/// How a message of an agent is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// As a steer where a turn runs, else as a turn.
    Auto,
    /// Into the queue.
    Queue,
}

impl Tool {
    /// Reads a call.
    ///
    /// # Errors
    /// There is no such tool, or its arguments are not what it takes.
    pub fn read(name: &str, arguments: &Value) -> Result<Tool, CallError> {
        match name {
            "whoami" => Ok(Tool::WhoAmI),
            "create_chats" => Ok(Tool::CreateChats(items(arguments, "chats", new_chat)?)),
            "send_messages" => Ok(Tool::SendMessages(items(arguments, "messages", new_message)?)),
            "wait_for_turn" => Ok(Tool::WaitForTurn { chat: text(arguments, "chat_id")? }),
            "read_chat" => Ok(Tool::ReadChat {
                chat: text(arguments, "chat_id")?,
                entries: match &arguments["entries"] {
                    Value::Null => ENTRIES,
                    number => number
                        .as_u64()
                        .and_then(|number| usize::try_from(number).ok())
                        .filter(|number| *number > 0)
                        .ok_or_else(|| CallError::bad_parameters("`entries` is a number from 1."))?,
                },
            }),
            "archive_chat" => Ok(Tool::ArchiveChat { chat: text(arguments, "chat_id")? }),
            other => Err(CallError::unknown_method(other)),
        }
    }
}

/// Between one and [`ITEMS`] items.
fn items<T>(arguments: &Value, key: &str, one: impl Fn(&Value) -> Result<T, CallError>) -> Result<Vec<T>, CallError> {
    let list = arguments[key].as_array().ok_or_else(|| CallError::bad_parameters(format!("`{key}` is a list.")))?;
    if list.is_empty() || list.len() > ITEMS {
        return Err(CallError::bad_parameters(format!("`{key}` takes 1 to {ITEMS} items, not {}.", list.len())));
    }
    list.iter().map(one).collect()
}

fn new_chat(item: &Value) -> Result<NewChat, CallError> {
    Ok(NewChat {
        title: optional(item, "title")?,
        prompt: text(item, "prompt")?,
        model: optional(item, "model")?,
        cwd: optional(item, "cwd")?,
    })
}

fn new_message(item: &Value) -> Result<NewMessage, CallError> {
    let mode = match optional(item, "mode")?.as_deref() {
        None | Some("auto") => SendMode::Auto,
        Some("queue") => SendMode::Queue,
        Some(other) => return Err(CallError::bad_parameters(format!("`mode` is auto or queue, not {other:?}."))),
    };
    Ok(NewMessage { chat: text(item, "chat_id")?, text: text(item, "text")?, mode })
}

/// A text that must be there.
pub fn text(from: &Value, key: &str) -> Result<String, CallError> {
    optional(from, key)?
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| CallError::bad_parameters(format!("`{key}` is missing or empty.")))
}

/// A text that may be left out.
fn optional(from: &Value, key: &str) -> Result<Option<String>, CallError> {
    match &from[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(CallError::bad_parameters(format!("`{key}` is a text."))),
    }
}

/// The tools as `tools/list` names them.
pub fn list() -> Value {
    let text = |words: &str| json!({"type": "string", "description": words});
    let chat = || json!({"chat_id": text("id of the chat")});
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required});
    let array = |item: Value| json!({"type": "array", "minItems": 1, "maxItems": ITEMS, "items": item});
    let new_chat = object(
        json!({
            "prompt": text("first message of the chat"),
            "title": text("title of the chat"),
            "model": text("model; left out, that of this chat"),
            "cwd": text("directory; left out, that of this chat"),
        }),
        &["prompt"],
    );
    let new_message = object(
        json!({
            "chat_id": text("id of the chat"),
            "text": text("the message"),
            "mode": {"type": "string", "enum": ["auto", "queue"], "description": "auto: at once, into a running turn too; queue: after it"},
        }),
        &["chat_id", "text"],
    );
    let read = object(
        json!({"chat_id": text("id of the chat"), "entries": {"type": "integer", "minimum": 1, "description": "how many of the last entries"}}),
        &["chat_id"],
    );
    let tool = |name: &str, words: &str, schema: Value| json!({"name": name, "description": words, "inputSchema": schema});
    json!([
        tool("whoami", "Which chat and device this is, and whether it is a side chat.", object(json!({}), &[])),
        tool(
            "create_chats",
            "Creates side chats that work on their own, each with its first message.",
            object(json!({"chats": array(new_chat)}), &["chats"]),
        ),
        tool("send_messages", "Sends messages to chats.", object(json!({"messages": array(new_message)}), &["messages"])),
        tool("wait_for_turn", "Answers when the turn that your last message began is over.", object(chat(), &["chat_id"])),
        tool("read_chat", "The last entries of a chat.", read),
        tool("archive_chat", "Stops a side chat of yours and puts it away.", object(chat(), &["chat_id"])),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MC-01: 1 to 32 items.
    #[test]
    fn the_limit_of_items_is_off_by_one() {
        for (count, taken) in [(0, false), (1, true), (32, true), (33, false)] {
            let chats: Vec<Value> = (0..count).map(|n| json!({"prompt": format!("part {n}")})).collect();
            let messages: Vec<Value> = (0..count).map(|n| json!({"chat_id": "c", "text": format!("part {n}")})).collect();
            let created = Tool::read("create_chats", &json!({"chats": chats}));
            let sent = Tool::read("send_messages", &json!({"messages": messages}));
            assert_eq!((created.is_ok(), sent.is_ok()), (taken, taken), "{count} items: {created:?}, {sent:?}");
        }
    }

    #[test]
    fn bad_arguments_are_taken() {
        for (name, arguments) in [
            ("create_chats", json!({"chats": [{"prompt": " "}]})),
            ("create_chats", json!({"chats": [{"prompt": "go", "model": 7}]})),
            ("create_chats", json!({"chats": "go"})),
            ("send_messages", json!({"messages": [{"chat_id": "c", "text": "go", "mode": "now"}]})),
            ("read_chat", json!({"chat_id": "c", "entries": 0})),
            ("wait_for_turn", json!({})),
            ("spawn", json!({})),
        ] {
            assert!(Tool::read(name, &arguments).is_err(), "{name} {arguments}");
        }
    }

    /// Every tool that is offered is one that is understood.
    #[test]
    fn an_offered_tool_is_unknown() {
        let arguments = json!({"chat_id": "c", "chats": [{"prompt": "go"}], "messages": [{"chat_id": "c", "text": "go"}]});
        for tool in list().as_array().expect("a list") {
            let name = tool["name"].as_str().expect("a name");
            assert!(Tool::read(name, &arguments).is_ok(), "{name}");
        }
    }
}
