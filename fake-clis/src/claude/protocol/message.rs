//! A request to the model and the message that answers it, framed for the main thread's stream.

use serde_json::{Value, json};

use super::{
    core::Core,
    ledger::Tokens,
    state::{MAIN, Speaking, Step, ThreadId},
};
use crate::claude::{
    ids, pace,
    script::{Answer, End, Reply},
};

impl Core {
    /// Asks the model: `status/requesting`, a compaction if the conversation is full, then the answer.
    pub(super) fn request(&mut self, thread: ThreadId) {
        self.threads[thread].waiting = false;
        if self.is_main(thread) {
            if self.args.partial {
                let mut frame = json!({"type": "system", "subtype": "status", "status": "requesting"});
                self.put_uuids(&mut frame, false);
                self.say(frame);
            }
            if self.threads[thread].last.overflows() {
                self.compact_in_turn();
                return;
            }
        }
        self.ask_model(thread);
    }

    /// Takes the next answer of the script, or the default one.
    pub(super) fn ask_model(&mut self, thread: ThreadId) {
        if self.is_main(thread)
            && let Some(turn) = self.turn.as_mut()
            && turn.num_turns == 0
        {
            turn.num_turns = 1;
        }
        let answer = self.threads[thread].answers.pop_front().unwrap_or_else(|| {
            let id = format!("msg_{:016x}", self.random());
            let request = format!("req_{:016x}", self.random());
            Answer::Reply(Reply::default_for(&self.threads[thread].prompt, id, request))
        });
        match answer {
            Answer::Reply(reply) => self.speak(thread, reply),
            Answer::Failure(failure) => {
                let wait = failure.wait_ms;
                self.threads[thread].answers.push_front(Answer::Failure(failure));
                self.call(thread, wait, Core::request_failed);
            }
        }
    }

    /// Lays out a message as steps.
    fn speak(&mut self, thread: ThreadId, reply: Reply) {
        let main = self.is_main(thread);
        let mut steps: Vec<(u64, Step)> = Vec::new();
        if reply.streamed || !main {
            steps.push((reply.wait_ms, Step::Call(Core::message_start)));
            for (index, block) in reply.blocks.iter().enumerate() {
                if main {
                    steps.push((block.start_ms, Step::BlockStart(index)));
                    steps.extend(block.chunks.iter().enumerate().map(|(n, (ms, _))| (*ms, Step::Delta(index, n))));
                }
                if !reply.is_open(index) {
                    steps.push((block.done_ms, Step::BlockDone(index)));
                    steps.push((block.stop_ms, Step::BlockStop(index)));
                }
            }
        } else {
            steps.push((reply.wait_ms, Step::Call(Core::whole_message)));
        }
        match &reply.end {
            End::Stop { .. } if main && !reply.streamed => {}
            End::Stop { delta_ms, stop_ms, .. } => {
                steps.push((*delta_ms, Step::Call(Core::message_delta)));
                steps.push((*stop_ms, Step::Call(Core::message_stop)));
            }
            End::Cut(ms) => steps.push((*ms, Step::Call(Core::connection_lost))),
            End::SseError(ms) => steps.push((*ms, Step::Call(Core::stream_error))),
        }
        if matches!(reply.end, End::Stop { .. }) && (reply.streamed || !main) {
            steps.push((0, Step::Call(Core::reply_end)));
        }
        self.threads[thread].reply = Some(Speaking {
            reply,
            done: 0,
            block: None,
            part: String::new(),
            chars: 0,
            stopped: false,
            thought: 0,
            since: self.now_ms,
            after_delta: Vec::new(),
            message_begun: false,
        });
        self.run(thread, steps);
    }

    /// Says a stream event of the main thread, if the launch asked for them.
    pub(super) fn say_event(&mut self, thread: ThreadId, event: Value, extra: &[(&str, Value)]) {
        if !self.is_main(thread) || !self.args.partial {
            return;
        }
        let id = self.threads[thread].reply.as_ref().map(|speaking| speaking.reply.id.clone()).unwrap_or_default();
        let mut frame = json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
        for (key, value) in extra {
            frame[*key] = value.clone();
        }
        frame["api_message_id"] = json!(id);
        self.say(frame);
    }

    fn message_start(&mut self, thread: ThreadId) {
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        speaking.message_begun = true;
        let (id, usage) = (speaking.reply.id.clone(), speaking.reply.usage.clone());
        if !self.is_main(thread) {
            return;
        }
        self.release_replays();
        let model = self.model.clone();
        let started = self.turn.as_ref().map_or(self.now_ms, |turn| turn.started_ms);
        let mut frame = json!({
            "type": "stream_event",
            "event": {
                "message": {"id": id, "type": "message", "role": "assistant", "model": model, "content": [],
                    "stop_reason": null, "stop_sequence": null, "usage": usage},
                "type": "message_start",
            },
            "parent_tool_use_id": null,
            "ttft_ms": self.now_ms - started,
            "thinking_display": "updates",
            "api_message_id": id,
        });
        let first = self.turn.as_ref().is_some_and(|turn| !turn.begun);
        if first && self.uuids().is_some() {
            self.put_uuids(&mut frame, true);
            if self.profile.newer {
                frame["owed_rows"] = json!([]);
            }
        }
        let tokens = Tokens::of(&usage);
        if let Some(turn) = self.turn.as_mut() {
            turn.begun = true;
            turn.begun_ids.push(id);
            turn.first_request.get_or_insert((tokens.input, tokens.cache_read));
        }
        self.had_turn = true;
        if self.args.partial {
            self.say(frame);
        }
    }

    fn message_delta(&mut self, thread: ThreadId) {
        let Some(speaking) = self.threads[thread].reply.as_ref() else { return };
        let End::Stop { reason, usage, .. } = speaking.reply.end.clone() else { return };
        if reason == "refusal" && self.is_main(thread) {
            self.refused(thread, &reason, &usage);
            return;
        }
        self.say_stop_reason(thread, &reason, &usage);
    }

    /// `message_delta` with a stop reason; the message's tokens are booked.
    pub(super) fn say_stop_reason(&mut self, thread: ThreadId, reason: &str, usage: &Value) {
        self.say_event(
            thread,
            json!({"delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage, "type": "message_delta"}),
            &[],
        );
        let tokens = Tokens::of(usage);
        self.book(thread, tokens);
        if let Some(turn) = self.turn.as_mut().filter(|_| thread == MAIN) {
            turn.tokens.add(tokens);
            turn.stop_reason = Some(reason.to_owned());
        }
        self.flush_after_delta(thread);
    }

    /// Books the tokens of a whole message.
    pub(super) fn book(&mut self, thread: ThreadId, tokens: Tokens) {
        self.threads[thread].last = tokens;
        let model = self.model.clone();
        self.ledger.book(&model, tokens);
    }

    fn message_stop(&mut self, thread: ThreadId) {
        self.say_event(thread, json!({"type": "message_stop"}), &[]);
        if let Some(speaking) = self.threads[thread].reply.as_mut() {
            speaking.stopped = true;
        }
        let state = &mut self.threads[thread];
        (state.tries, state.fallback, state.fallback_tries) = (0, false, 0);
        let late: Vec<_> = self.late_launches.extract_if(.., |late| late.0 == thread).collect();
        for (_, id, task) in late {
            self.command_launched(&id, task);
        }
        self.take_waiting_answers(thread);
    }

    /// The answer to a request without streaming: one assistant frame for all of it.
    fn whole_message(&mut self, thread: ThreadId) {
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        speaking.stopped = true;
        let reply = speaking.reply.clone();
        let End::Stop { reason, usage, .. } = &reply.end else { return };
        let content: Vec<Value> = reply.blocks.iter().map(|block| block.content.clone()).collect();
        self.release_replays();
        let mut frame = json!({
            "type": "assistant",
            "message": {"id": reply.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
                "stop_reason": reason, "stop_sequence": null, "usage": usage, "context_management": null},
            "parent_tool_use_id": null,
            "timestamp": self.stamp(),
        });
        if let Some(request_id) = &reply.request_id {
            frame["request_id"] = json!(request_id);
        }
        self.put_first_spoken(&mut frame);
        let uuid = self.say(frame.clone());
        self.record(&frame, &uuid);
        let tokens = Tokens::of(usage);
        self.book(thread, tokens);
        if let Some(turn) = self.turn.as_mut() {
            turn.tokens.add(tokens);
            turn.first_request.get_or_insert((tokens.input, tokens.cache_read));
            turn.stop_reason = Some(reason.clone());
            turn.text = crate::claude::script::text_of(&json!(content));
        }
        let state = &mut self.threads[thread];
        (state.tries, state.fallback, state.fallback_tries) = (0, false, 0);
        for (index, block) in reply.blocks.iter().enumerate() {
            if block.content["type"] == "tool_use" {
                self.begin_tool(thread, index);
            }
        }
        self.call(thread, 0, Core::reply_end);
    }

    /// The turn's first assistant frame names the turn's messages.
    pub(super) fn put_first_spoken(&mut self, frame: &mut Value) {
        if self.turn.as_ref().is_some_and(|turn| !turn.spoken) {
            self.put_uuids(frame, true);
        }
        if let Some(turn) = self.turn.as_mut() {
            turn.spoken = true;
        }
    }

    /// The message has ended: wait for its tools, go on, or end.
    pub(super) fn reply_end(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread];
        let reason = state.reply.as_ref().and_then(|speaking| match &speaking.reply.end {
            End::Stop { reason, .. } => Some(reason.clone()),
            _ => None,
        });
        let called = state
            .reply
            .as_ref()
            .is_some_and(|speaking| speaking.reply.blocks.iter().any(|block| block.content["type"] == "tool_use"));
        state.cuts = 0;
        if called {
            if state.open.is_empty() {
                self.after_tools(thread);
            } else {
                state.waiting = true;
            }
            return;
        }
        match (reason.as_deref(), self.is_main(thread)) {
            (Some("max_tokens"), true) => self.token_limit(thread),
            (Some("refusal"), true) => self.after_refusal(thread),
            (_, true) => {
                if let Some(turn) = self.turn.as_mut() {
                    turn.ending = true;
                }
                self.call(MAIN, pace::RESULT, Core::finish_turn);
            }
            (_, false) => {
                let tail = self.threads[thread].tail_ms;
                self.call(thread, tail, Core::child_ends);
            }
        }
    }

    /// All results of a message are in.
    pub(super) fn after_tools(&mut self, thread: ThreadId) {
        self.threads[thread].waiting = false;
        if self.is_main(thread) {
            self.between_requests();
        } else if self.overtaken(thread) {
            self.stop_overtaken_child(thread);
        } else {
            self.call(thread, 0, Core::request);
        }
    }

    /// A fresh task id of an agent.
    pub(super) fn agent_id(&mut self) -> String {
        ids::agent(&mut || self.random())
    }
}
