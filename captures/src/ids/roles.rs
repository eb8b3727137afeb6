//! Finding the ids: by the key they stand under, then, for what is left, by their shape.

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    Role,
    shape::{UUID_LENGTH, is_run, is_task, is_uuid},
};
use crate::format::{Capture, From};

/// The least length in bytes of a request id that is told from other words.
const REQUEST_LENGTH: usize = 8;

/// Every id of a capture with what it names, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    found: IndexMap<String, Role>,
}

impl Roles {
    /// The ids of a capture.
    pub fn of(capture: &Capture) -> Roles {
        let mut roles = Roles::default();
        // A UUID on the command line is the session that is resumed.
        for uuid in capture.header.launch.iter().flat_map(|argument| uuids(argument)) {
            roles.note(uuid, Role::Session);
        }
        for entry in &capture.entries {
            if let Some(frame) = entry.what.frame() {
                roles.add(&entry.from, frame);
            }
        }
        // UUIDs under keys that say nothing, and in paths and prose: last, so that a key always decides first.
        for entry in &capture.entries {
            if let Some(frame) = entry.what.frame() {
                roles.rest(frame);
            }
        }
        roles
    }

    /// Adds the ids of one more frame. The role that an id had first stays.
    pub fn add(&mut self, from: &From, frame: &Value) {
        let Value::Object(keys) = frame else { return };
        let kind = keys.get("type").and_then(Value::as_str).unwrap_or_default();
        if let Some(uuid) = keys.get("uuid").and_then(Value::as_str) {
            self.note(uuid, if *from == From::Host { Role::Host } else { Role::Frame });
        }
        let control = kind.starts_with("control_");
        for (key, value) in keys.iter().filter(|(key, _)| *key != "uuid") {
            self.value(key, value, control);
        }
    }

    fn value(&mut self, key: &str, value: &Value, control: bool) {
        match value {
            Value::String(text) => {
                if let Some((id, role)) = role(key, text, control) {
                    self.note(id, role);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.value(key, value, control)),
            Value::Object(keys) => keys.iter().for_each(|(key, value)| self.value(key, value, control)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn rest(&mut self, value: &Value) {
        match value {
            Value::String(text) => uuids(text).for_each(|uuid| self.note(uuid, Role::Frame)),
            Value::Array(values) => values.iter().for_each(|value| self.rest(value)),
            Value::Object(keys) => keys.values().for_each(|value| self.rest(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn note(&mut self, id: &str, role: Role) {
        if !self.found.contains_key(id) {
            self.found.insert(id.to_owned(), role);
        }
    }

    /// What an id names, if the capture has it.
    pub fn get(&self, id: &str) -> Option<Role> {
        self.found.get(id).copied()
    }

    /// All ids, in order of first appearance; those that only their shape betrays come last.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Role)> {
        self.found.iter().map(|(id, role)| (id.as_str(), *role))
    }
}

/// The id under a key and what it names. A key alone proves nothing (`id` is used for much), so the shape must agree.
fn role<'a>(key: &str, text: &'a str, control: bool) -> Option<(&'a str, Role)> {
    let shaped = |role, agrees: bool| agrees.then_some((text, role));
    match key {
        "session_id" => shaped(Role::Session, is_uuid(text)),
        "command_uuid"
        | "user_message_uuid"
        | "user_message_uuids"
        | "message_uuid"
        | "refused_user_message_uuid"
        | "still_queued"
        | "cancelled" => shaped(Role::Host, is_uuid(text)),
        // A host may count its requests; a `1` could be any word of any text, so short ids stay as they are.
        "request_id" if control => shaped(Role::Request, text.len() >= REQUEST_LENGTH),
        "task_id" | "agent_id" | "agentId" | "parent_task_id" | "backgroundTaskId" => shaped(Role::Task, is_task(text)),
        "run_id" | "runId" => shaped(Role::Run, is_run(text)),
        // The CLI's own (`<synthetic>`) messages have a UUID where the model's have `msg_…`.
        "id" if is_uuid(text) => Some((text, Role::Message)),
        _ if is_uuid(text) => None,
        _ if is_key_of_id(key) => {
            let text = heartless(text);
            let named = [("toolu_", Role::Tool), ("msg_", Role::Message), ("req_", Role::ApiRequest)];
            named
                .into_iter()
                .find(|(prefix, _)| text.len() > prefix.len() && text.starts_with(prefix))
                .map(|(_, role)| (text, role))
        }
        _ => None,
    }
}

fn is_key_of_id(key: &str) -> bool {
    key == "id" || key.ends_with("_id") || key.ends_with("_ids") || key.ends_with("ID") || key.ends_with("Id")
}

/// A heartbeat's id is the tool call's with a suffix; the tool call is what it names.
fn heartless(text: &str) -> &str {
    text.split_once("-heartbeat-").map_or(text, |(id, _)| id)
}

/// The UUIDs within a text.
fn uuids(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at + UUID_LENGTH <= text.len() {
            let start = at;
            match text.get(start..start + UUID_LENGTH) {
                Some(candidate) if is_uuid(candidate) => {
                    at = start + UUID_LENGTH;
                    return Some(candidate);
                }
                _ => at += 1,
            }
        }
        None
    })
}
