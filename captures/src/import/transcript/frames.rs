//! The frames that a session's records would have been, and the ones between them.

use serde_json::{Map, Value, json};

use super::{
    super::{Flaw, clock, flaw},
    agents::Agent,
    record::Record,
};
use crate::{
    format::{Entry, From, What},
    ids::made_up,
};

/// Milliseconds from the process's start to the first message.
const BOOT_MS: f64 = 10.0;

/// Writes frames, each at the time of the record that it is made of.
pub(super) struct Frames {
    pub(super) entries: Vec<Entry>,
    /// Results so far.
    pub(super) results: u64,
    session: String,
    init: Value,
    start_wall: f64,
    now: f64,
    uuid: Box<dyn FnMut() -> String>,
}

impl Frames {
    /// `first` is the session's first message, `start_wall` its time.
    pub(super) fn new(first: &Record, start_wall: f64) -> Frames {
        let session = first.text("sessionId").unwrap_or_default().to_owned();
        let mut uuid: Box<dyn FnMut() -> String> = Box::new(made_up(&session));
        let session = if session.is_empty() { uuid() } else { session };
        let init = json!({
            "type": "system", "subtype": "init", "cwd": first.text("cwd").unwrap_or("/"), "session_id": session, "tools": [],
            "mcp_servers": [], "model": "unknown", "permissionMode": first.text("permissionMode").unwrap_or("bypassPermissions"),
            "slash_commands": [], "apiKeySource": "none", "claude_code_version": first.text("version"), "output_style": "default",
            "agents": [], "skills": [], "plugins": [],
        });
        Frames { entries: Vec::new(), results: 0, session, init, start_wall, now: BOOT_MS, uuid }
    }

    /// It is this wall time; a transcript whose times go back stands still.
    pub(super) fn at(&mut self, wall_ms: f64) {
        self.now = self.now.max(clock::tenths(wall_ms - self.start_wall + BOOT_MS));
    }

    pub(super) fn now(&self) -> f64 {
        self.now
    }

    fn push(&mut self, from: From, frame: Value) {
        self.entries.push(Entry { at_ms: self.now, from, what: What::Frame(frame), label: None });
    }

    /// A frame of the CLI: with the session, and a uuid of its own unless it has one.
    fn say(&mut self, mut frame: Value) {
        if let Value::Object(keys) = &mut frame {
            if !keys.contains_key("uuid") {
                keys.insert("uuid".into(), json!((self.uuid)()));
            }
            keys.insert("session_id".into(), json!(self.session));
        }
        self.push(From::Cli, frame);
    }

    /// A message of the host, and what the CLI says when its turn begins.
    pub(super) fn turn(&mut self, uuid: &str, text: &str, record: &Record) {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        self.push(
            From::Host,
            json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": uuid}),
        );
        self.lifecycle(uuid, "queued");
        self.lifecycle(uuid, "started");
        let mut init = self.init.clone();
        init["user_message_uuids"] = json!([uuid]);
        self.say(init);
        self.say(json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "uuid": uuid, "timestamp": record.text("timestamp"),
            "isReplay": true,
        }));
    }

    pub(super) fn lifecycle(&mut self, uuid: &str, state: &str) {
        self.say(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}));
    }

    pub(super) fn result(&mut self, mut result: Value) {
        result["result_index"] = json!(self.results);
        self.results += 1;
        self.say(result);
    }

    /// One block of a reply, of the main thread or of an agent.
    pub(super) fn assistant(&mut self, record: &Record, block: &Value, agent: Option<&Agent>) -> Result<(), Flaw> {
        let Value::Object(message) = &record.value["message"] else {
            return flaw("a reply without `message`: expected one", "give the file as the CLI wrote it");
        };
        let mut message = message.clone();
        message.insert("content".into(), json!([block]));
        let mut frame = self.tagged("assistant", Value::Object(message), record, agent);
        for (key, name) in [("requestId", "request_id"), ("isApiErrorMessage", "is_api_error_message")] {
            if let Some(value) = record.value.get(key) {
                frame.insert(name.into(), value.clone());
            }
        }
        self.say(Value::Object(frame));
        Ok(())
    }

    pub(super) fn tool_result(&mut self, record: &Record) -> Result<(), Flaw> {
        let mut frame = self.tagged("user", record.value["message"].clone(), record, None);
        if let Some(outcome) = record.value.get("toolUseResult") {
            frame.insert("tool_use_result".into(), outcome.clone());
        }
        self.say(Value::Object(frame));
        Ok(())
    }

    /// A stop: the host's request, its answer, and the CLI's words.
    pub(super) fn interrupted(&mut self, record: &Record) -> Result<(), Flaw> {
        let id = (self.uuid)();
        self.push(From::Host, json!({"type": "control_request", "request_id": id, "request": {"subtype": "interrupt"}}));
        let answer = json!({"subtype": "success", "request_id": id, "response": {"still_queued": []}});
        self.push(From::Cli, json!({"type": "control_response", "response": answer}));
        let frame = self.tagged("user", record.value["message"].clone(), record, None);
        self.say(Value::Object(frame));
        Ok(())
    }

    /// A record of an agent.
    pub(super) fn child(&mut self, record: &Record, agent: &Agent) -> Result<(), Flaw> {
        if record.text("type") == Some("assistant") {
            return record.blocks().iter().try_for_each(|block| self.assistant(record, block, Some(agent)));
        }
        if record.text("type") == Some("user") {
            let mut message = record.value["message"].clone();
            if let Value::String(text) = &message["content"] {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
            let frame = self.tagged("user", message, record, Some(agent));
            self.say(Value::Object(frame));
        }
        Ok(())
    }

    pub(super) fn agent_started(&mut self, agent: &Agent, block: &Value) {
        self.say(json!({
            "type": "system", "subtype": "task_started", "task_id": agent.task, "description": agent.description,
            "subagent_type": agent.kind, "is_backgrounded": false, "task_type": "local_agent", "prompt": agent.prompt,
            "tool_use_id": block["id"],
        }));
    }

    pub(super) fn agent_ended(&mut self, agent: &Agent, record: &Record) {
        let report = record.value["toolUseResult"]["content"][0]["text"].as_str().unwrap_or(&agent.description);
        self.say(json!({
            "type": "system", "subtype": "task_notification", "task_id": agent.task, "status": "completed", "output_file": "",
            "summary": report, "tool_use_id": agent.call,
        }));
    }

    /// What every frame of a message has.
    fn tagged(&self, kind: &str, message: Value, record: &Record, agent: Option<&Agent>) -> Map<String, Value> {
        let mut frame = Map::new();
        frame.insert("type".into(), json!(kind));
        frame.insert("message".into(), message);
        frame.insert("parent_tool_use_id".into(), json!(agent.map(|agent| &agent.call)));
        if let Some(agent) = agent {
            frame.insert("agent_id".into(), json!(agent.task));
            frame.insert("subagent_type".into(), json!(agent.kind));
            frame.insert("task_description".into(), json!(agent.description));
        }
        // A record may become several frames: the uuid is the first one's.
        let uuid = record.text("uuid").filter(|uuid| !self.has(uuid));
        if let Some(uuid) = uuid {
            frame.insert("uuid".into(), json!(uuid));
        }
        if let Some(time) = record.text("timestamp") {
            frame.insert("timestamp".into(), json!(time));
        }
        frame
    }

    fn has(&self, uuid: &str) -> bool {
        let last = self.entries.iter().rev().take(64);
        last.filter_map(|entry| entry.what.frame()).any(|frame| frame["uuid"] == uuid)
    }
}
