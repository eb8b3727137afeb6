//! Hosts that keep a rule, and the same hosts with one thing broken. Every stub is shown to all host-neutral invariants: the
//! broken one must be named by exactly the rules it breaks.

mod content;
mod crash;
mod frames;
mod questions;
mod recorded;
mod turns;
mod two_runs;

use serde_json::{Value, json};

use super::all;
use crate::{
    invariants::stub::{Stub, user},
    view::Outcome,
};

/// Asserts that this host keeps all rules, and that the one named had something to judge.
fn holds(id: &str, host: Stub) {
    host.holds(all(), id);
}

/// Asserts that exactly these rules name this host.
fn breaks(ids: &[&'static str], host: Stub) {
    host.breaks(all(), ids);
}

fn lifecycle(message: &str, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": message, "state": state, "session_id": "s1"})
}

fn text(id: &str, words: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s1",
           "message": {"id": id, "content": [{"type": "text", "text": words}]}})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s1",
           "message": {"id": format!("msg-{id}"), "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
}

fn returned(id: &str, is_error: bool) -> Value {
    json!({"type": "user", "parent_tool_use_id": null, "session_id": "s1", "message":
           {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "out", "is_error": is_error}]}})
}

fn tagged(mut frame: Value, tag: &str) -> Value {
    frame["parent_tool_use_id"] = json!(tag);
    frame
}

fn result(message: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "session_id": "s1",
           "user_message_uuids": [message]})
}

fn with(mut frame: Value, key: &str, value: Value) -> Value {
    frame[key] = value;
    frame
}

fn ask(id: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool", "tool_name": "Bash"}})
}

fn answer(id: &str, behavior: &str) -> Value {
    json!({"type": "control_response", "response":
           {"subtype": "success", "request_id": id, "response": {"behavior": behavior}}})
}

/// A chat whose first message has been taken: a turn is open, the process runs it.
fn running() -> Stub {
    let host = Stub::new().send("m1", "hi").accept("m1").spawned(&["claude"]).heard(user("m1", "hi"));
    host.said(lifecycle("m1", "queued")).said(lifecycle("m1", "started")).deliver("m1")
}

/// The same, with a reply said and shown.
fn replied() -> Stub {
    running().said(text("a1", "Hello there.")).text("Hello there.")
}

/// A whole turn, settled and not yet at rest.
fn ended() -> Stub {
    replied().said(result("m1")).settle(Outcome::Completed).said(lifecycle("m1", "completed"))
}
