//! Content blocks: their deltas, their assistant frames, and the tools that they start.

use serde_json::{Value, json};

use super::{
    core::Core,
    state::{AfterDelta, TaskKind, ThreadId},
};

/// Characters of thinking that count as one token in `thinking_tokens`.
const CHARS_PER_THOUGHT: u64 = 4;

impl Core {
    pub(super) fn block_start(&mut self, thread: ThreadId, index: usize) {
        let now = self.now_ms;
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        speaking.block = Some(index);
        speaking.part.clear();
        speaking.thought = 0;
        speaking.since = now;
        let content = &speaking.reply.blocks[index].content;
        let (empty, extra) = match content["type"].as_str() {
            Some("thinking") => {
                let display = [("thinking_display", json!("updates"))];
                (json!({"type": "thinking", "thinking": "", "signature": ""}), display.to_vec())
            }
            Some("tool_use") => {
                (json!({"type": "tool_use", "id": content["id"], "name": content["name"], "input": {}}), Vec::new())
            }
            _ => (json!({"type": "text", "text": ""}), Vec::new()),
        };
        self.say_event(thread, json!({"index": index, "content_block": empty, "type": "content_block_start"}), &extra);
    }

    pub(super) fn delta(&mut self, thread: ThreadId, index: usize, chunk: usize) {
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        let delta = speaking.reply.blocks[index].chunks[chunk].1.clone();
        let text = ["text", "thinking", "partial_json"].iter().find_map(|key| delta.get(*key).and_then(Value::as_str));
        let chars = text.map_or(0, |text| text.chars().count() as u64);
        speaking.chars += chars;
        speaking.part.push_str(text.unwrap_or_default());
        let mut extra = Vec::new();
        if delta["type"] == "thinking_delta" {
            let tokens = chars.div_ceil(CHARS_PER_THOUGHT);
            speaking.thought += tokens;
            let mut frame = json!({
                "type": "system", "subtype": "thinking_tokens",
                "estimated_tokens": speaking.thought, "estimated_tokens_delta": tokens,
            });
            if let Some(uuids) = self.uuids() {
                frame["user_message_uuid"] = json!(uuids[0]);
            }
            self.say(frame);
            extra.push(("thinking_display", json!("updates")));
        }
        self.say_event(thread, json!({"index": index, "delta": delta, "type": "content_block_delta"}), &extra);
    }

    pub(super) fn block_done(&mut self, thread: ThreadId, index: usize) {
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        let content = speaking.reply.blocks[index].content.clone();
        speaking.done = index + 1;
        match content["type"].as_str() {
            Some("text") => {
                let text = content["text"].as_str().unwrap_or_default().to_owned();
                self.threads[thread].text.clone_from(&text);
                if let Some(turn) = self.turn.as_mut().filter(|_| thread == super::state::MAIN) {
                    turn.text = text;
                }
            }
            Some("tool_use") => {
                let name = content["name"].as_str().unwrap_or_default().to_owned();
                self.threads[thread].tools.push(name);
            }
            _ => {}
        }
        match self.threads[thread].task {
            None => self.say_block(thread, index, &content, false),
            Some(task) => self.say_child_block(thread, task, &content),
        }
        if content["type"] == "tool_use" && self.begins_before_stop(&content) {
            self.begin_tool(thread, index);
        }
    }

    /// The assistant frame of a block of the main thread.
    pub(super) fn say_block(&mut self, thread: ThreadId, index: usize, content: &Value, aborted: bool) {
        let mut frame = self.assistant_frame(thread, content);
        if content["type"] == "thinking" {
            let since = self.threads[thread].reply.as_ref().map_or(self.now_ms, |speaking| speaking.since);
            frame["thinking_duration_ms"] = json!(self.now_ms - since);
            frame["thinking_display"] = json!("updates");
        }
        if aborted {
            frame["aborted"] = json!(true);
        }
        self.put_first_spoken(&mut frame);
        let uuid = self.say(frame.clone());
        self.record(&frame, &uuid);
        if let Some(turn) = self.turn.as_mut() {
            if index == 0 {
                turn.kept.clear();
            }
            turn.kept.push(uuid);
        }
    }

    /// An assistant frame of one block, without what only the main thread's have.
    fn assistant_frame(&self, thread: ThreadId, content: &Value) -> Value {
        let reply = self.threads[thread].reply.as_ref().map(|speaking| &speaking.reply);
        let mut frame = json!({
            "type": "assistant",
            "message": {
                "id": reply.map(|reply| &reply.id), "type": "message", "role": "assistant", "model": self.model,
                "content": [content], "stop_reason": null, "stop_sequence": null,
                "usage": reply.map(|reply| &reply.usage), "context_management": null,
            },
            "parent_tool_use_id": null,
            "timestamp": self.stamp(),
        });
        if let Some(request_id) = reply.and_then(|reply| reply.request_id.as_ref()) {
            frame["request_id"] = json!(request_id);
        }
        frame
    }

    /// The assistant frame of a child's block, and the agent's progress: before the frame in the foreground, after it in
    /// the background.
    fn say_child_block(&mut self, thread: ThreadId, task: usize, content: &Value) {
        let call = content["type"] == "tool_use";
        let agent = self.tasks[task].kind == TaskKind::Agent;
        let background = self.tasks[task].background;
        if call && agent && !background {
            self.say_progress(task, content);
        }
        if call || self.args.env.forward_text {
            let frame = self.assistant_frame(thread, content);
            self.say_tagged(task, frame);
        }
        if call && agent && background {
            self.say_progress(task, content);
        }
    }

    pub(super) fn block_stop(&mut self, thread: ThreadId, index: usize) {
        self.say_event(thread, json!({"index": index, "type": "content_block_stop"}), &[]);
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        speaking.block = None;
        let content = speaking.reply.blocks[index].content.clone();
        if content["type"] == "tool_use" && !self.begins_before_stop(&content) {
            self.begin_tool(thread, index);
        }
    }

    /// What a tool sets off either at once or, for a message's last block, behind `message_delta`.
    pub(super) fn at_once_or_after_delta(&mut self, thread: ThreadId, index: usize, what: AfterDelta, later: bool) {
        let main = self.is_main(thread);
        if let Some(speaking) = self.threads[thread].reply.as_mut()
            && later
            && main
            && speaking.reply.streamed
            && index + 1 == speaking.reply.blocks.len()
        {
            speaking.after_delta.push(what);
            return;
        }
        self.set_off(what);
    }

    /// Says what waited for `message_delta`.
    pub(super) fn flush_after_delta(&mut self, thread: ThreadId) {
        let waiting =
            self.threads[thread].reply.as_mut().map(|speaking| std::mem::take(&mut speaking.after_delta)).unwrap_or_default();
        for what in waiting {
            self.set_off(what);
        }
    }

    fn set_off(&mut self, what: AfterDelta) {
        match what {
            AfterDelta::Echo(task) => self.echo_prompt(task),
            AfterDelta::Ask(id) => self.ask_host(&id),
            AfterDelta::Launched(id) => self.launched(&id),
        }
    }
}
