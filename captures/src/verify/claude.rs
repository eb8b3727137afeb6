//! How Claude Code's frames fit together: ids, tool calls, the lifecycle of messages, results.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Findings, control::Control, stream::Stream, tasks::Tasks};

/// Frames whose class has no uuid and no session.
const BARE: [&str; 3] = ["control_request", "control_response", "control_cancel_request"];

#[derive(Debug, Default)]
pub(super) struct Checker {
    control: Control,
    stream: Stream,
    tasks: Tasks,
    /// Uuids that the host wrote.
    messages: BTreeSet<String>,
    /// Last lifecycle state of each.
    states: BTreeMap<String, String>,
    /// Uuids of the CLI's frames.
    frames: BTreeSet<String>,
    /// Tool calls, by id; true once they have a result.
    tools: BTreeMap<String, bool>,
    session: Option<String>,
    reset: bool,
    results: u64,
    /// A result had its `result_index`: older versions give none to any.
    indexed: bool,
}

impl Checker {
    pub(super) fn host(&mut self, frame: &Value) {
        match text(frame, "type") {
            Some("user") => self.messages.extend(text(frame, "uuid").map(str::to_owned)),
            _ => self.control.host(frame),
        }
    }

    pub(super) fn cli(&mut self, frame: &Value, findings: &mut Findings) {
        let Some(kind) = text(frame, "type") else {
            return findings.add("no-type", "a frame without `type`: expected one");
        };
        if !BARE.contains(&kind) {
            self.ids(kind, frame, findings);
        }
        match kind {
            "assistant" => self.called(frame),
            "user" => self.returned(frame, findings),
            "stream_event" => {
                if let Some(block) = frame.get("event").and_then(|event| event.get("content_block")) {
                    self.call(block);
                }
                self.stream.event(frame.get("event").unwrap_or(&Value::Null), findings);
            }
            "command_lifecycle" => self.lifecycle(frame, findings),
            "result" => {
                let index = frame.get("result_index").and_then(Value::as_u64);
                let expected = self.results;
                let counted = index == Some(expected) || (index.is_none() && !self.indexed);
                self.indexed |= index.is_some();
                findings.expect(counted, "result-index", || {
                    format!("result_index {index:?}: expected {expected}, one more than the result before")
                });
                self.results += 1;
            }
            "conversation_reset" => self.reset = true,
            "system" => self.tasks.system(frame, findings),
            "control_request" | "control_response" | "control_cancel_request" => {
                self.control.cli(kind, frame, findings);
                if let Some(tool) = frame.get("request").and_then(|request| text(request, "tool_use_id")) {
                    let known = self.tools.contains_key(tool);
                    findings
                        .expect(known, "unknown-tool", || format!("permission for `{tool}`: expected a tool that was called"));
                }
            }
            _ => {}
        }
        if kind == "assistant" || kind == "user" {
            self.tasks.tagged(frame, findings);
            self.tag(frame, findings);
        }
    }

    fn ids(&mut self, kind: &str, frame: &Value, findings: &mut Findings) {
        match text(frame, "uuid") {
            None => findings.add("no-uuid", format!("a {kind} frame without `uuid`: expected one")),
            Some(uuid) => {
                let fresh = self.frames.insert(uuid.to_owned());
                findings.expect(fresh, "uuid-twice", || format!("uuid {uuid} stands on an earlier frame: expected a new one"));
            }
        }
        let Some(session) = text(frame, "session_id") else {
            return findings.add("no-session", format!("a {kind} frame without `session_id`: expected one"));
        };
        let same = self.session.as_deref().is_none_or(|before| before == session);
        findings.expect(same || self.reset, "session-changed", || {
            format!("session {session} without a conversation_reset before: expected {:?}", self.session)
        });
        if !same {
            self.reset = false;
        }
        self.session = Some(session.to_owned());
    }

    fn called(&mut self, frame: &Value) {
        for block in blocks(frame) {
            self.call(block);
        }
    }

    fn call(&mut self, block: &Value) {
        if text(block, "type") == Some("tool_use")
            && let Some(id) = text(block, "id")
        {
            self.tools.entry(id.to_owned()).or_insert(false);
        }
    }

    fn returned(&mut self, frame: &Value, findings: &mut Findings) {
        for block in blocks(frame).filter(|block| text(block, "type") == Some("tool_result")) {
            let id = text(block, "tool_use_id").unwrap_or_default();
            match self.tools.get_mut(id) {
                None => findings.add("unknown-tool", format!("tool_result for `{id}`: expected a tool that was called")),
                Some(true) => findings.add("result-twice", format!("a second tool_result for `{id}`: expected one")),
                Some(done) => *done = true,
            }
        }
    }

    /// A tag is the id of the call that started the agent, or a typed fork's name.
    fn tag(&self, frame: &Value, findings: &mut Findings) {
        if let Some(tag) = text(frame, "parent_tool_use_id") {
            let known = tag.starts_with("forked-command-") || self.tools.contains_key(tag);
            findings.expect(known, "unknown-tag", || format!("a frame tagged `{tag}`: expected a tool that was called"));
        }
    }

    fn lifecycle(&mut self, frame: &Value, findings: &mut Findings) {
        let uuid = text(frame, "command_uuid").unwrap_or_default();
        let state = text(frame, "state").unwrap_or_default();
        findings.expect(self.messages.contains(uuid), "unknown-message", || {
            format!("lifecycle `{state}` of {uuid}: expected a uuid that the host wrote before")
        });
        let before = self.states.insert(uuid.to_owned(), state.to_owned());
        let before = before.as_deref();
        let follows = match state {
            "queued" => before.is_none(),
            "started" => before == Some("queued"),
            "completed" => before == Some("started"),
            "cancelled" => matches!(before, Some("queued" | "started")),
            _ => false,
        };
        findings.expect(follows, "lifecycle-order", || {
            format!("lifecycle `{state}` after {before:?}: expected queued, started, then completed or cancelled")
        });
    }
}

fn blocks(frame: &Value) -> impl Iterator<Item = &Value> {
    frame.get("message").and_then(|message| message.get("content")).and_then(Value::as_array).into_iter().flatten()
}

/// The text under a key, if it is there and is text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
