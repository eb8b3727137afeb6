//! Where a message goes: to the live run's mailbox, to a fresh run, or into the queue.

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{
        config::{MAILBOX, STOP_TURN_SETTLE_MS},
        hub::Hub,
        input::{Message, ResumePolicy},
    },
    drivers::{RunRequest, claude::Claude},
    feed::{MessageState, Status},
};

impl Chat {
    /// A message of the user.
    pub fn send(&mut self, hub: &mut Hub, message: Message) {
        if self.messages.contains_key(&message.id) {
            // The same id again is the same message: written once, sent once (M1).
            return;
        }
        hub.require_commit();
        self.queue_paused = false;
        self.dispatch(hub, message);
        self.look_at_waiting(hub);
    }

    /// Stops the turn and sends the message when it has ended. It stands at the head of the queue until then.
    pub fn send_now(&mut self, hub: &mut Hub, message: Message) {
        if self.messages.contains_key(&message.id) {
            return;
        }
        if self.run.as_ref().is_none_or(|run| run.phase != Phase::Running) {
            self.send(hub, message);
            return;
        }
        hub.require_commit();
        self.queue_paused = false;
        self.message_row(hub, &message, MessageState::Queued);
        self.queue.push_front(message);
        self.stop_turn(hub);
        self.look_at_waiting(hub);
    }

    /// Sends what waits: to the mailbox of a live run, else on a fresh run.
    pub(super) fn dispatch(&mut self, hub: &mut Hub, message: Message) {
        if self.run.as_ref().is_some_and(Run::takes_messages) {
            let full = self.run.as_ref().is_some_and(|run| run.ledger.len() >= MAILBOX);
            if full {
                self.message_row(hub, &message, MessageState::Queued);
                self.queue.push_back(message);
                return;
            }
            self.with_run(hub, |chat, hub, run| chat.to_mailbox(hub, run, message));
            return;
        }
        self.accept(hub, &message);
        if self.run.is_some() || self.dying.is_some() {
            // The old process is on its way out: never two writers of one session.
            self.waiting.push_back(message);
            return;
        }
        self.start(hub, message);
    }

    /// What a viewer sees of a message that is handed on: Working first, then the entry, then the time of the chat (R1).
    fn accept(&mut self, hub: &mut Hub, message: &Message) {
        hub.require_commit();
        self.status(hub, Status::Working, false);
        self.message_row(hub, message, MessageState::Sent);
        self.doc.push_user(&message.id, &message.text, hub.now.wall, &self.spec_device(hub));
        self.note_message(hub, &message.text);
        self.flush(hub);
    }

    fn spec_device(&self, hub: &Hub) -> String {
        hub.config.device_id.clone()
    }

    /// Ledger and user entry in one step and one transaction; the line is written on its outcome.
    fn to_mailbox(&mut self, hub: &mut Hub, run: &mut Run, message: Message) {
        hub.require_commit();
        hub.ledger(&self.id, &message.id, Some(&message.text));
        run.ledger.push_back(message.clone());
        // The entry of a steer comes behind what was streamed so far; the reply goes on in the open segment until Steered.
        self.accept(hub, &message);
        run.sinks.flush(hub, &self.id, self.seq);
        self.call(hub, run, |driver, cx| driver.steer(cx, &message));
    }

    /// Starts a fresh run with a message that is accepted.
    pub(super) fn start(&mut self, hub: &mut Hub, message: Message) {
        let proc = hub.new_proc(&self.id);
        let resume = self.row.harness_session_id.clone().filter(|session| !session.is_empty());
        let strict = self.spec.resume_policy == ResumePolicy::RequireExisting;
        let request = RunRequest {
            cwd: self.spec.cwd.clone(),
            model: self.spec.model.clone(),
            effort: self.spec.effort.clone(),
            sandbox: self.spec.sandbox,
            auto_approve: self.spec.auto_approve,
            resume: resume.clone(),
            resume_policy: self.spec.resume_policy,
            native_subagents_off: self.spec.native_subagents_off,
        };
        let mut run = Run::new(proc, Box::new(Claude::new(proc, request)), hub.now.mono);
        run.required_session = resume.filter(|_| strict);
        run.first = Some(message.clone());
        hub.ledger(&self.id, &message.id, Some(&message.text));
        self.turns += 1;
        self.begin_segment(hub);
        self.run = Some(run);
        self.with_run(hub, |chat, hub, run| chat.call(hub, run, |driver, cx| driver.start(cx, &message)));
    }

    /// Opens the segment of the next reply.
    pub(super) fn begin_segment(&mut self, hub: &mut Hub) {
        let entry = hub.ids.uuid();
        let device = hub.config.device_id.clone();
        self.doc.begin_segment(&entry, hub.now.wall, &device);
    }

    /// Messages that waited for the old process to go, and the head of the queue at an idle edge.
    pub(super) fn look_at_waiting(&mut self, hub: &mut Hub) {
        if self.run.is_none() && self.dying.is_none() {
            if let Some(message) = self.waiting.pop_front() {
                self.start(hub, message);
            }
        }
        while let Some(message) = self.waiting.front().cloned() {
            let room = self.run.as_ref().is_some_and(|run| run.takes_messages() && run.ledger.len() < MAILBOX);
            if !room {
                break;
            }
            self.waiting.pop_front();
            self.with_run(hub, |chat, hub, run| chat.to_mailbox(hub, run, message));
        }
        self.drain(hub);
    }

    /// One head row of the queue per idle edge.
    fn drain(&mut self, hub: &mut Hub) {
        let idle = matches!(self.session.status, Status::Idle | Status::Errored) && self.waiting.is_empty();
        if self.queue_paused || !idle || self.run.as_ref().is_some_and(|run| run.phase == Phase::Running) {
            return;
        }
        if let Some(message) = self.queue.pop_front() {
            self.dispatch(hub, message);
        }
    }

    /// Takes a message back that the provider has not taken.
    pub fn withdraw(&mut self, hub: &mut Hub, message_id: &str) {
        let before = self.queue.len() + self.waiting.len();
        for list in [&mut self.queue, &mut self.waiting] {
            list.retain(|message| message.id != message_id);
        }
        if self.queue.len() + self.waiting.len() < before {
            self.message_state(hub, message_id, MessageState::Withdrawn);
            return;
        }
        if self.run.as_ref().is_some_and(|run| run.ledger.iter().any(|message| message.id == message_id)) {
            self.withdrawing.insert(message_id.to_owned());
            self.with_run(hub, |chat, hub, run| {
                chat.call(hub, run, |driver, cx| {
                    driver.withdraw(cx, message_id);
                });
            });
        }
    }

    /// Stops the turn in place where the driver can and a turn is open; otherwise the run is terminated.
    pub fn stop_turn(&mut self, hub: &mut Hub) {
        let Some(run) = &self.run else { return };
        match run.phase {
            Phase::Running if run.caps.stops_turn_in_place && !run.killed => {
                if run.stopping {
                    return;
                }
                let key = self.run_timer("stop-turn-settle");
                hub.timers.arm(key, hub.now.mono + STOP_TURN_SETTLE_MS);
                self.with_run(hub, |chat, hub, run| {
                    run.stopping = true;
                    chat.close_questions(hub, run);
                    chat.call(hub, run, |driver, cx| driver.stop_turn(cx));
                });
            }
            Phase::Parked { .. } if run.ledger.is_empty() => {}
            _ => self.terminate(hub),
        }
    }
}
