//! Frames of the engine's MCP server: JSON-RPC 2.0, one object a line.
//!
//! The server process carries lines and adds its [`super::Origin`]; what they mean is decided here and in the core.

use serde_json::{Value, json};

use super::{CallError, ErrorKind};
use crate::core::input::Parent;

/// Version of the protocol that is answered when the client names none.
pub const PROTOCOL: &str = "2025-06-18";

/// What every chat is told.
const ABOUT: &str = "Tools of the engine that runs this chat: chats can be created, messaged, waited for, read and archived.";
/// What a side chat is told: delegation is one level deep.
const SIDE_CHAT: &str = "This is a side chat: it may not create chats.";
/// What a chat is told whose own subagents are switched off.
pub const DELEGATE: &str = "Where you would start a subagent, delegate with create_chats instead.";

/// What a frame asks of the core.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// `initialize`.
    Initialize {
        /// Version that the client speaks.
        protocol: Option<String>,
    },
    /// `ping`.
    Ping,
    /// `tools/list`.
    ListTools,
    /// `tools/call`.
    CallTool {
        /// Name of the tool.
        name: String,
        /// Its arguments, an object.
        arguments: Value,
    },
    /// A notification: nothing is answered.
    Notification,
    /// A method that the server does not have.
    Unknown(String),
}

impl Frame {
    /// Reads a frame. One without an id is a notification, whatever it says.
    pub fn read(frame: &Value) -> Frame {
        if frame["id"].is_null() {
            return Frame::Notification;
        }
        let params = &frame["params"];
        match frame["method"].as_str().unwrap_or_default() {
            "initialize" => Frame::Initialize { protocol: params["protocolVersion"].as_str().map(str::to_owned) },
            "ping" => Frame::Ping,
            "tools/list" => Frame::ListTools,
            "tools/call" => Frame::CallTool {
                name: params["name"].as_str().unwrap_or_default().to_owned(),
                arguments: params["arguments"].clone(),
            },
            other => Frame::Unknown(other.to_owned()),
        }
    }
}

/// The result of `initialize`. The rule about delegation follows the flag that the server process started with, not what the
/// user prefers by now: the process that reads it was launched the same way.
pub fn initialized(protocol: Option<String>, parent: Option<&Parent>, side_chats_only: bool) -> Value {
    let mut instructions = vec![ABOUT];
    if matches!(parent, Some(Parent::Chat(_))) {
        instructions.push(SIDE_CHAT);
    }
    if side_chats_only {
        instructions.push(DELEGATE);
    }
    json!({
        "protocolVersion": protocol.unwrap_or_else(|| PROTOCOL.to_owned()),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": super::launch::SERVER, "version": "1"},
        "instructions": instructions.join(" "),
    })
}

/// A response with a result.
pub fn response(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A response with an error of the protocol.
pub fn error(id: &Value, error: &CallError) -> Value {
    let code = match error.kind {
        ErrorKind::UnknownMethod => -32601,
        ErrorKind::BadParameters => -32602,
        ErrorKind::Refused => -32000,
    };
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": error.message}})
}

/// The result of a tool. What the engine refuses is a result too, so that the model reads why; only a tool that is not there is
/// an error of the protocol.
pub fn tool_response(id: &Value, outcome: Result<Value, CallError>) -> Value {
    match outcome {
        Ok(value) => {
            let text = value.to_string();
            response(id, json!({"content": [{"type": "text", "text": text}], "structuredContent": value, "isError": false}))
        }
        Err(refused) if refused.kind == ErrorKind::UnknownMethod => error(id, &refused),
        Err(refused) => response(id, json!({"content": [{"type": "text", "text": refused.message}], "isError": true})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SW-06, SW-12: one more sentence, exactly when the server was started with the flag.
    #[test]
    fn the_rule_about_delegation_is_missing_or_always_there() {
        for parent in [None, Some(Parent::None), Some(Parent::Unknown), Some(Parent::Chat("m".to_owned()))] {
            for flag in [false, true] {
                let answer = initialized(None, parent.as_ref(), flag);
                let instructions = answer["instructions"].as_str().expect("instructions");
                assert_eq!(instructions.contains(DELEGATE), flag, "{parent:?}: {instructions}");
                let side = matches!(parent, Some(Parent::Chat(_)));
                assert_eq!(instructions.contains("may not create"), side, "{parent:?}: {instructions}");
            }
        }
    }

    #[test]
    fn a_notification_is_answered() {
        assert_eq!(Frame::read(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})), Frame::Notification);
        assert_eq!(
            Frame::read(&json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"})),
            Frame::Unknown("resources/list".to_owned())
        );
    }
}
