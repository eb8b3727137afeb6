//! Stems for the providers whose frames name themselves: JSON-RPC methods, or a `type`.

use serde_json::Value;

use super::{FALLBACK, text};

/// What the host writes: `host:turn/start`, `prompt`; its answers to requests of the CLI are `answer`.
pub(super) fn host(frame: &Value) -> String {
    match name(frame) {
        Some("prompt") => "prompt".to_owned(),
        Some(name) => format!("host:{name}"),
        None if is_reply(frame) => "answer".to_owned(),
        None => format!("host:{FALLBACK}"),
    }
}

/// What the CLI writes: `turn/started`, `message_end`; answers to requests of the host are `reply`.
pub(super) fn cli(frame: &Value) -> String {
    match name(frame) {
        // pi says `"type":"response"` where JSON-RPC has a bare `result`.
        Some("response") => "reply".to_owned(),
        Some(name) => name.to_owned(),
        None if is_reply(frame) => "reply".to_owned(),
        None => FALLBACK.to_owned(),
    }
}

fn name(frame: &Value) -> Option<&str> {
    text(frame, &["method"]).or_else(|| text(frame, &["type"]))
}

fn is_reply(frame: &Value) -> bool {
    frame.get("result").is_some() || frame.get("error").is_some()
}
