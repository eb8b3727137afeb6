//! Restoring on resume: what an earlier process of the session left in its transcript file.
//!
//! The file is read before the new process is started, so that nothing writes to it meanwhile. What it tells are the agents (a
//! background agent may be addressed, and may end, in a later process), the frames that came before (a repeat is no news), and
//! the messages that the provider has: an engine that was killed may not know that one of them arrived.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    control::done,
    driver::{Claude, Ours, Turn},
    tools,
};
use crate::{
    core::{effect::Effect, input::Message},
    drivers::{Cx, Output},
    event::{AgentEvent, DoneStatus},
};

/// What is shown where a message turns out to have arrived in an earlier life of the engine.
pub const ARRIVED_BEFORE: &str =
    "This message had reached Claude Code before. It is not sent again; what was answered then is not shown here.";

/// A start that waits for the transcript.
pub(super) struct Reading {
    /// The first prompt, and what was sent since.
    messages: Vec<Message>,
    /// The mailbox was closed meanwhile.
    closed: bool,
}

/// The transcript of a session below the CLI's own directory. None: no file can have this name.
pub fn path(cwd: &str, session: &str) -> Option<String> {
    let is_id = !session.is_empty() && session.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let slug: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    is_id.then(|| format!("projects/{slug}/{session}.jsonl"))
}

/// The messages that a session's earlier processes took, by id.
pub fn arrived(transcript: &[u8]) -> BTreeSet<String> {
    let users = records(transcript).filter(|record| record["type"].as_str() == Some("user"));
    users.filter_map(|record| record["uuid"].as_str().map(str::to_owned)).collect()
}

/// Records of the main thread. A torn last record, and what is no record, is passed over.
fn records(transcript: &[u8]) -> impl Iterator<Item = Value> {
    let lines = transcript.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).filter(|record| {
        let tagged = ["parent_tool_use_id", "parentToolUseID"].iter().any(|key| record[*key].is_string());
        !tagged && record["isSidechain"].as_bool() != Some(true)
    })
}

impl Claude {
    /// Starts at once, or asks for the transcript of the session that is resumed.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>, first: &Message) {
        let session = self.request.resume.as_deref();
        match session.and_then(|session| path(&self.request.cwd, session)) {
            Some(path) => {
                self.reading = Some(Reading { messages: vec![first.clone()], closed: false });
                cx.out.push(Output::Effect(Effect::ReadFile { proc: self.process.proc, path }));
            }
            None => self.launch(cx, first),
        }
    }

    /// A message that came while the transcript is awaited. False: nothing is awaited.
    pub(super) fn waits_for_start(&mut self, message: &Message) -> bool {
        let Some(reading) = &mut self.reading else { return false };
        reading.messages.push(message.clone());
        true
    }

    /// Takes such a message back. False: it is none of them.
    pub(super) fn unwait(&mut self, cx: &mut Cx<'_>, message_id: &str) -> bool {
        let Some(reading) = &mut self.reading else { return false };
        let Some(at) = reading.messages.iter().skip(1).position(|message| message.id == message_id) else { return false };
        reading.messages.remove(at + 1);
        cx.event(AgentEvent::SteerReturned { message_id: message_id.to_owned(), reason: "withdrawn".to_owned() });
        true
    }

    /// The mailbox is closed before the start. False: nothing is awaited.
    pub(super) fn close_before_start(&mut self) -> bool {
        self.reading.as_mut().map(|reading| reading.closed = true).is_some()
    }

    /// The run is ended before the start: there is no process to end. False: nothing is awaited.
    pub(super) fn end_before_start(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.reading.take().is_none() {
            return false;
        }
        self.never_started(cx, DoneStatus::Interrupted, None);
        true
    }

    fn never_started(&mut self, cx: &mut Cx<'_>, status: DoneStatus, error: Option<String>) {
        self.process.spawn_failed = true;
        self.turn = Turn::Own;
        cx.out.push(Output::Reaped);
        self.ended(cx, status, error);
    }

    /// What came of the read: the transcript, or none.
    pub(super) fn transcript(&mut self, cx: &mut Cx<'_>, content: Option<&[u8]>) {
        let Some(Reading { messages, closed }) = self.reading.take() else { return };
        self.restore(content.unwrap_or_default());
        let mut messages = messages.into_iter();
        let Some(first) = messages.next() else { return };
        if self.arrived.contains(&first.id) {
            // What was sent since is the run's, and goes to a fresh one.
            cx.out.push(Output::Taken(first.id));
            self.never_started(cx, DoneStatus::Errored, Some(ARRIVED_BEFORE.to_owned()));
            return;
        }
        self.launch(cx, &first);
        for message in messages {
            self.take_message(cx, &message);
        }
        if closed {
            self.process.close_stdin(cx);
        }
    }

    /// A message for the live process, which may have reached an earlier one already.
    pub(super) fn take_message(&mut self, cx: &mut Cx<'_>, message: &Message) {
        if !self.arrived.contains(&message.id) {
            self.write_message(cx, message, false);
            self.pending.push_back(message.id.clone());
            self.active_since_stop = true;
            self.look_at_hold(cx);
            return;
        }
        self.ours.insert(message.id.clone(), Ours::Ended);
        cx.event(AgentEvent::Steered {
            message_id: Some(message.id.clone()),
            assistant_message_id: Some(self.assistant_id.clone()),
            next_assistant_message_id: Some(self.assistant_id.clone()),
        });
        if self.turn_open() {
            self.shows_error(cx, ARRIVED_BEFORE.to_owned());
        } else {
            cx.event(done(DoneStatus::Errored, None, Some(ARRIVED_BEFORE.to_owned()), self.session_id.clone()));
        }
    }

    fn restore(&mut self, transcript: &[u8]) {
        for record in records(transcript) {
            match record["type"].as_str() {
                Some("assistant") => self.restore_calls(&record),
                Some("user") => self.restore_agents(&record),
                Some("system") if record["subtype"].as_str() == Some("compact_boundary") => {}
                _ => continue,
            }
            self.take_in(&record);
        }
    }

    fn restore_calls(&mut self, record: &Value) {
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) else { continue };
            if tools::spawns(name) {
                self.chips.insert(id.to_owned());
            } else if name == "SendMessage"
                && let Some(chip) = self.addressed(&block["input"])
            {
                self.tool_spawns.insert(id.to_owned(), chip);
            }
        }
    }

    fn restore_agents(&mut self, record: &Value) {
        if let Some(uuid) = record["uuid"].as_str() {
            self.arrived.insert(uuid.to_owned());
        }
        let Some(task) = record["toolUseResult"]["agentId"].as_str() else { return };
        let blocks = record["message"]["content"].as_array().into_iter().flatten();
        for tool in blocks.filter_map(|block| block["tool_use_id"].as_str()).filter(|tool| self.chips.contains(*tool)) {
            self.agent_tasks.insert(task.to_owned(), tool.to_owned());
        }
    }
}
