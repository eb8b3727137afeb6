//! Interrupts: what stops, in which order it is said, and when the answer comes.

use serde_json::{Value, json};

use super::{
    core::Core,
    ledger::Tokens,
    result::Ending,
    state::{JobState, Kind, MAIN, TaskId, TaskKind, ThreadId},
    task_frames::Killer,
};
use crate::claude::pace;

/// From a `now` message to the cut, in ms.
pub(super) const CUT_MS: u64 = 3;
/// Characters that count as one token of a cut message's output.
const CHARS_PER_TOKEN: u64 = 3;

/// What runs when a message or an interrupt comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum During {
    /// Nothing.
    Idle,
    /// Nothing but agents in the background.
    BackgroundAgents,
    /// A request without a first byte, or the wait between two tries.
    Request,
    /// A message that streams.
    Text,
    /// Tools.
    Tools,
    /// A question to the host.
    Question,
    /// An agent or a Skill fork in the foreground.
    ForegroundAgent,
    /// A typed fork.
    TypedFork,
    /// A command of the CLI's own.
    LocalCommand,
    /// A turn that has nothing left but its result.
    Ending,
}

impl During {
    /// Every situation there is.
    #[cfg(test)]
    pub(super) const ALL: [During; 10] = [
        During::Idle,
        During::BackgroundAgents,
        During::Request,
        During::Text,
        During::Tools,
        During::Question,
        During::ForegroundAgent,
        During::TypedFork,
        During::LocalCommand,
        During::Ending,
    ];
}

/// What an interrupt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Only the answer.
    Answer,
    /// Kill the agents in the background, then the answer.
    KillThenAnswer,
    /// The answer, then the message is cut and the turn ends in an error.
    CutMessage,
    /// The answer, then the calls are rejected and the turn ends in an error.
    RejectCalls,
    /// The question is taken back, the answer, then as for calls.
    WithdrawThenReject,
    /// The answer, then the fork stops: `success`, no error.
    EndFork,
}

/// The table of the wire.
#[rustfmt::skip]
const TABLE: &[(During, Stop)] = &[
    (During::Idle,             Stop::Answer),
    (During::BackgroundAgents, Stop::KillThenAnswer),
    (During::Request,          Stop::CutMessage),
    (During::Text,             Stop::CutMessage),
    (During::Tools,            Stop::RejectCalls),
    (During::Question,         Stop::WithdrawThenReject),
    (During::ForegroundAgent,  Stop::RejectCalls),
    (During::TypedFork,        Stop::EndFork),
    (During::LocalCommand,     Stop::Answer),
    (During::Ending,           Stop::Answer),
];

impl Core {
    /// What runs now.
    pub(super) fn during(&self) -> During {
        let Some(turn) = self.turn.as_ref() else {
            let background = self.tasks.iter().any(|task| task.running && task.background);
            return if background { During::BackgroundAgents } else { During::Idle };
        };
        if turn.ending {
            return During::Ending;
        }
        match turn.kind {
            Kind::Fork(_) => return During::TypedFork,
            Kind::Local(_) => return During::LocalCommand,
            Kind::Model | Kind::FollowUp { .. } => {}
        }
        let main = &self.threads[MAIN];
        let begun = main.reply.as_ref().is_some_and(|speaking| speaking.message_begun);
        let jobs: Vec<_> = main.open.iter().filter_map(|id| self.jobs.get(id)).collect();
        if jobs.iter().any(|job| job.state == JobState::Asking) {
            During::Question
        } else if jobs.is_empty() && main.streams() && begun {
            During::Text
        } else if jobs.iter().any(|job| job.task.is_some_and(|task| self.tasks[task].kind != TaskKind::Command)) {
            During::ForegroundAgent
        } else if !jobs.is_empty() {
            During::Tools
        } else {
            During::Request
        }
    }

    /// `control_request/interrupt`.
    pub(super) fn interrupt(&mut self, request_id: &str, request: &Value) {
        let during = self.during();
        let mut response = json!({});
        if request["cancel_queued"] == true {
            let cancelled = self.cancel_queue();
            response["still_queued"] = json!([]);
            response["cancelled"] = json!(cancelled);
        } else {
            let queued: Vec<&String> = self.queue.iter().filter_map(|message| message.uuid.as_ref()).collect();
            response["still_queued"] = json!(queued);
        }
        let stop = TABLE.iter().find(|row| row.0 == during).map_or(Stop::Answer, |row| row.1);
        match stop {
            Stop::KillThenAnswer if !self.spares_background => self.kill_all_background(),
            Stop::WithdrawThenReject | Stop::RejectCalls => {
                let mut threads = vec![MAIN];
                threads.extend(self.children_of(MAIN).into_iter().filter_map(|task| self.tasks[task].thread));
                self.withdraw_questions(&threads);
            }
            _ => {}
        }
        self.answer(request_id, Some(response));
        self.stop_turn(stop);
    }

    /// SIGINT: the frames of an interrupt without its answer, then the process ends.
    pub(in crate::claude) fn signal(&mut self) {
        let during = self.during();
        self.interrupted_by_signal = true;
        self.leaving = true;
        let stop = TABLE.iter().find(|row| row.0 == during).map_or(Stop::Answer, |row| row.1);
        self.stop_turn(stop);
        self.after(pace::SIGINT, super::state::Event::Leave(0));
    }

    fn stop_turn(&mut self, stop: Stop) {
        match stop {
            Stop::Answer | Stop::KillThenAnswer => {}
            Stop::CutMessage => {
                self.halt(MAIN);
                self.call(MAIN, pace::STOPPING, Core::cut_by_host);
            }
            Stop::RejectCalls | Stop::WithdrawThenReject => {
                self.halt(MAIN);
                self.call(MAIN, pace::STOPPING, Core::reject_calls);
            }
            Stop::EndFork => {
                if let Some(Kind::Fork(task)) = self.turn.as_ref().map(|turn| turn.kind.clone()) {
                    self.interrupt_typed_fork(task);
                }
            }
        }
    }

    /// Cancels every message that waits; their uuids.
    fn cancel_queue(&mut self) -> Vec<String> {
        let waiting: Vec<String> = self.queue.drain(..).filter_map(|message| message.uuid).collect();
        for uuid in &waiting {
            self.lifecycle(Some(uuid), "cancelled");
        }
        waiting
    }

    fn kill_all_background(&mut self) {
        let running: Vec<TaskId> =
            (0..self.tasks.len()).filter(|task| self.tasks[*task].running && self.tasks[*task].background).collect();
        for task in running {
            self.kill_background(task);
        }
    }

    /// The host stopped a message: aborted block, the words, the message's tail, an error.
    fn cut_by_host(&mut self, _: usize) {
        if !self.begun_message() {
            self.release_replays();
            self.say_interrupted(MAIN, false);
            self.end_turn(Ending::AbortedStreaming { by_host: true });
            return;
        }
        let kept = self.say_aborted_block();
        self.reject_unbegun();
        self.say_interrupted(MAIN, false);
        self.say_cut_tail(kept);
        self.end_turn(Ending::AbortedStreaming { by_host: true });
    }

    /// A `now` message cut a message: no words of an interrupt, and no error.
    pub(super) fn cut_by_steer(&mut self, _: usize) {
        if self.begun_message() {
            let kept = self.say_aborted_block();
            self.reject_unbegun();
            self.say_cut_tail(kept);
        } else {
            self.release_replays();
        }
        self.end_turn(Ending::AbortedStreaming { by_host: false });
    }

    fn begun_message(&self) -> bool {
        self.threads[MAIN].reply.as_ref().is_some_and(|speaking| speaking.message_begun && !speaking.stopped)
    }

    /// The open block's text so far, `aborted`; a block that is no text is dropped. Returns the index of the first block
    /// that is not kept.
    fn say_aborted_block(&mut self) -> usize {
        let Some(speaking) = self.threads[MAIN].reply.as_ref() else { return 0 };
        let done = speaking.done;
        let open_text = speaking.block.filter(|index| *index >= done && speaking.reply.blocks[*index].content["type"] == "text");
        let part = speaking.part.clone();
        match open_text {
            Some(index) if !part.is_empty() => {
                self.say_block(MAIN, index, &json!({"type": "text", "text": part}), true);
                if let Some(turn) = self.turn.as_mut() {
                    turn.text = part;
                }
                index + 1
            }
            _ => done,
        }
    }

    /// The tail of a cut message: block stop, `message_delta` without a reason, `message_stop`.
    pub(super) fn say_cut_tail(&mut self, kept: usize) {
        let Some(speaking) = self.threads[MAIN].reply.as_ref() else { return };
        let (id, open) = (speaking.reply.id.clone(), speaking.block);
        let usage = null_delta_usage(&speaking.reply.usage);
        if let Some(index) = open {
            self.say_event(MAIN, json!({"index": index, "type": "content_block_stop"}), &[]);
        }
        let delta = null_delta(&usage);
        self.say_event(MAIN, delta, &[]);
        let abandoned = json!({"api_message_id": id, "from_block_index": kept});
        let extra = [("abandoned_blocks", abandoned)];
        self.say_event(MAIN, json!({"type": "message_stop"}), if self.profile.newer { &extra } else { &[] });
        self.book_cut(MAIN);
        if let Some(turn) = self.turn.as_mut() {
            turn.stop_reason = None;
        }
        if let Some(speaking) = self.threads[MAIN].reply.as_mut() {
            speaking.stopped = true;
        }
    }

    /// What a stopped message cost: the newer version estimates it, the older one leaves it out.
    pub(super) fn book_cut(&mut self, thread: ThreadId) {
        let Some(speaking) = self.threads[thread].reply.as_ref().filter(|speaking| !speaking.stopped) else { return };
        if self.profile.newer && speaking.message_begun {
            let tokens = Tokens { output: speaking.chars / CHARS_PER_TOKEN, ..Tokens::of(&speaking.reply.usage) };
            let model = self.model.clone();
            self.ledger.book(&model, tokens);
        }
    }

    /// The host stopped the turn's tools: rejections, the agents' ends, the words, an error.
    fn reject_calls(&mut self, _: usize) {
        let open = std::mem::take(&mut self.threads[MAIN].open);
        self.threads[MAIN].waiting = false;
        for id in &open {
            let Some(job) = self.jobs.get_mut(id) else { continue };
            let running = std::mem::replace(&mut job.state, JobState::Done) == JobState::Running;
            let task = job.task;
            if !running {
                self.note_denial(id);
            }
            let given = self.rejected(id, running && !self.interrupted_by_signal);
            self.say_result(MAIN, id, given);
            if let Some(task) = task {
                self.stop_task_of_call(task);
            }
        }
        self.reject_unbegun();
        self.say_interrupted(MAIN, true);
        if self.begun_message() {
            // The message that called them still streams: its open block is dropped.
            let kept = self.threads[MAIN].reply.as_ref().map_or(0, |speaking| speaking.done);
            self.say_cut_tail(kept);
        }
        self.end_turn(Ending::AbortedTools { by_host: true });
    }

    /// Calls that were said and whose tools never began: the message was stopped in between.
    fn reject_unbegun(&mut self) {
        let Some(speaking) = self.threads[MAIN].reply.as_ref() else { return };
        let said = speaking.reply.blocks.iter().take(speaking.done).filter_map(|block| block.content["id"].as_str());
        let unbegun: Vec<String> = said.filter(|id| !self.jobs.contains_key(*id)).map(str::to_owned).collect();
        for id in unbegun {
            let given = self.rejected(&id, false);
            self.say_result(MAIN, &id, given);
        }
    }

    fn stop_task_of_call(&mut self, task: TaskId) {
        if !self.tasks[task].running {
            // A command that was to begin in the background, and now never does.
            self.late_launches.retain(|late| late.2 != task);
        } else if self.tasks[task].kind == TaskKind::Command {
            self.tasks[task].running = false;
            let words = self.tasks[task].description.clone();
            self.say_notification(task, "stopped", &words);
        } else if !self.tasks[task].background {
            self.kill_agent(task, Killer::User);
        }
    }

    /// A denial with `interrupt` stops the turn as an interrupt would.
    pub(super) fn stop_turn_at_denied(&mut self, id: &str) {
        let thread = self.jobs[id].thread;
        if thread == MAIN {
            self.halt(MAIN);
            let given = self.rejected(id, false);
            self.jobs[id].state = JobState::Done;
            self.threads[MAIN].open.retain(|open| open != id);
            self.say_result(MAIN, id, given);
            self.call(MAIN, 0, Core::reject_calls);
        } else {
            let given = self.rejected(id, false);
            self.give(id, given);
            self.stop_turn(Stop::RejectCalls);
        }
    }
}

/// The usage of a `message_delta` without a stop reason: that of `message_start`.
pub(super) fn null_delta_usage(start: &Value) -> Value {
    json!({
        "output_tokens_details": {"thinking_tokens": 0},
        "cache_creation_input_tokens": start["cache_creation_input_tokens"],
        "cache_read_input_tokens": start["cache_read_input_tokens"],
        "input_tokens": start["input_tokens"],
        "iterations": [],
        "output_tokens": start["output_tokens"],
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "fallback_credit": null,
    })
}

/// The `message_delta` that the CLI itself makes for a message without an end.
pub(super) fn null_delta(usage: &Value) -> Value {
    json!({
        "type": "message_delta",
        "context_management": null,
        "delta": {"container": null, "stop_details": null, "stop_reason": null, "stop_sequence": null},
        "usage": usage,
    })
}
