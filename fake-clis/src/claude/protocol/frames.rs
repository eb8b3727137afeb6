//! Frames that several rooms say.

use serde_json::{Value, json};

use super::{
    core::Core,
    state::{TaskId, TaskKind, ThreadId},
};

impl Core {
    /// `command_lifecycle` of a message; a message without a uuid has none.
    pub(super) fn lifecycle(&mut self, uuid: Option<&str>, state: &str) {
        if let Some(uuid) = uuid {
            self.say(json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state}));
        }
    }

    /// The uuids of the turn's messages, where it has any.
    pub(super) fn uuids(&self) -> Option<Vec<String>> {
        self.turn.as_ref().map(|turn| turn.uuids.clone()).filter(|uuids| !uuids.is_empty())
    }

    /// Puts `user_message_uuids` into a frame, and the first of them alone where asked.
    pub(super) fn put_uuids(&self, frame: &mut Value, first: bool) {
        if let Some(uuids) = self.uuids() {
            if first {
                frame["user_message_uuid"] = json!(uuids[0]);
            }
            frame["user_message_uuids"] = json!(uuids);
        }
    }

    /// `init`: the version's template, with what the session is now.
    pub(super) fn say_init(&mut self) {
        let mut init = self.profile.init.clone();
        let cwd = self.launch.cwd.clone();
        init["cwd"] = json!(cwd);
        init["session_id"] = json!(self.session);
        init["tools"] = json!(self.profile.tools(&self.args.disallowed));
        if !self.args.mcp_servers.is_empty() {
            // Not recorded: no scene was started with a server. A server that starts is listed as connected.
            let servers = self.args.mcp_servers.iter().map(|name| json!({"name": name, "status": "connected"}));
            init["mcp_servers"] = servers.collect();
        }
        init["model"] = json!(self.model);
        init["permissionMode"] = json!(self.mode);
        init["claude_code_version"] = json!(self.profile.version);
        init["memory_paths"] = json!({"auto": format!("{}/memory/", self.project_dir())});
        init["original_cwd"] = json!(cwd);
        let uuid = self.uuid();
        init["uuid"] = json!(uuid);
        self.put_uuids(&mut init, false);
        if let Some(turn) = self.turn.as_mut() {
            turn.opened = true;
        }
        if self.args.env.session_state {
            self.say(json!({"type": "system", "subtype": "session_state_changed", "state": "running", "sdk_host_only": true}));
        }
        self.say(init);
    }

    /// A replay of a message, `isReplay`.
    pub(super) fn replay(&self, uuid: Option<&str>, content: &Value) -> Value {
        let mut frame = json!({
            "type": "user", "message": {"role": "user", "content": content},
            "session_id": self.session, "parent_tool_use_id": null,
        });
        if let Some(uuid) = uuid {
            frame["uuid"] = json!(uuid);
        }
        frame["timestamp"] = json!(self.stamp());
        frame["isReplay"] = json!(true);
        frame
    }

    /// Says a replay, if the launch asked for replays.
    pub(super) fn say_replay(&mut self, frame: Value) {
        if self.args.replay {
            self.say(frame);
        }
    }

    /// Says the replays that were held until the API answered.
    pub(super) fn release_replays(&mut self) {
        let held = self.turn.as_mut().map(|turn| std::mem::take(&mut turn.replays)).unwrap_or_default();
        for frame in held {
            self.say_replay(frame);
        }
    }

    /// A user frame of the main thread that is no replay: it counts as a turn of the model.
    pub(super) fn say_user(&mut self, mut frame: Value) -> String {
        if let Some(turn) = self.turn.as_mut() {
            turn.num_turns += 1;
        }
        frame["timestamp"] = json!(self.stamp());
        let uuid = self.say(frame.clone());
        self.record(&frame, &uuid);
        if let Some(turn) = self.turn.as_mut() {
            turn.kept.push(uuid.clone());
        }
        uuid
    }

    /// `[Request interrupted by user…]` of a thread.
    pub(super) fn say_interrupted(&mut self, thread: ThreadId, for_tool: bool) {
        let words = if for_tool { "[Request interrupted by user for tool use]" } else { "[Request interrupted by user]" };
        let frame = json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": words}]},
            "parent_tool_use_id": null,
        });
        match self.threads[thread].task {
            None => {
                self.say_user(frame);
            }
            Some(task) => self.say_tagged(task, frame),
        }
    }

    /// A frame of an agent or a fork, tagged; held until the end where its fork is silent.
    pub(super) fn say_tagged(&mut self, task: TaskId, mut frame: Value) {
        let owner = &self.tasks[task];
        frame["parent_tool_use_id"] = json!(owner.tag);
        frame["session_id"] = json!(self.session);
        frame["agent_id"] = json!(owner.id);
        frame["subagent_type"] = json!(owner.subagent);
        frame["task_description"] = json!(owner.words);
        frame["timestamp"] = json!(self.stamp());
        let line = json!({
            "isSidechain": true, "agentId": self.tasks[task].id, "sessionId": self.session, "type": frame["type"],
            "message": frame["message"], "timestamp": frame["timestamp"],
        });
        let path = format!("{}/{}/subagents/agent-{}.jsonl", self.project_dir(), self.session, self.tasks[task].id);
        self.write(path, format!("{line}\n"));
        match self.holder(task) {
            Some(holder) => self.tasks[holder].held.push(frame),
            None => {
                self.say(frame);
            }
        }
    }

    /// The typed fork that holds the frames of this task: its own, or the one whose foreground agent it is.
    pub(super) fn holder(&self, task: TaskId) -> Option<TaskId> {
        let owner = &self.tasks[task];
        if owner.kind == TaskKind::TypedFork {
            return Some(task);
        }
        let parent = owner.parent.filter(|_| !owner.background)?;
        self.holder(parent)
    }

    /// A message of the CLI's own making: model `<synthetic>`.
    pub(super) fn synthetic(&mut self, text: &str, stop_reason: &str) -> Value {
        let id = self.uuid();
        let stop_sequence = if stop_reason == "end_turn" { Value::Null } else { json!("") };
        json!({
            "diagnostics": null, "id": id, "container": null, "model": "<synthetic>", "role": "assistant",
            "stop_details": null, "stop_reason": stop_reason, "stop_sequence": stop_sequence, "type": "message",
            "usage": {
                "output_tokens_details": null, "input_tokens": 0, "output_tokens": 0,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
                "service_tier": null,
                "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
                "inference_geo": null, "iterations": null, "speed": null, "fallback_credit": null,
            },
            "content": [{"type": "text", "text": text}], "context_management": null,
        })
    }
}
