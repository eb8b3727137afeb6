//! Where a message goes: to the live run's mailbox, to a fresh run, or into the queue.

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{
        config::{MAILBOX, STOP_TURN_SETTLE_MS},
        hub::Hub,
        input::{Harness, Message, ResumePolicy},
    },
    delegation::launch::{self, Mode},
    drivers::{Driver, RunRequest, claude::Claude, mock::Mock},
    feed::{MessageState, Status},
};

impl Chat {
    /// A message of the user.
    pub fn send(&mut self, hub: &mut Hub, message: Message) {
        if self.is_known(&message.id) {
            return;
        }
        hub.require_commit();
        self.queue_paused = false;
        self.dispatched_again.remove(&message.id);
        let overtakes = self.queue.iter().any(|queued| self.overflow.contains(&queued.id));
        if overtakes && self.run.as_ref().is_some_and(Run::takes_messages) {
            self.overflow(hub, message);
        } else {
            self.dispatch(hub, message);
        }
        self.look_at_waiting(hub);
    }

    /// Changes model or effort from the next message on; none leaves it as it is.
    pub fn configure(&mut self, hub: &mut Hub, model: Option<String>, effort: Option<String>) {
        self.spec.model = model.or_else(|| self.spec.model.take());
        self.spec.effort = effort.or_else(|| self.spec.effort.take());
        hub.require_commit();
        hub.config(&self.spec);
    }

    /// The same id again is the same message: written once, sent once (M1). Only one that was shown as not delivered is taken
    /// again: that is the user's retry, and its entry is there already.
    fn is_known(&self, id: &str) -> bool {
        self.messages.get(id).is_some_and(|row| row.state != MessageState::NotDelivered)
    }

    /// Puts a message into the queue: it is sent at the next idle edge, behind what stands there.
    pub fn enqueue(&mut self, hub: &mut Hub, message: Message) {
        if self.is_known(&message.id) {
            return;
        }
        hub.require_commit();
        self.message_row(hub, &message, MessageState::Queued);
        self.queue.push_back(message);
        self.look_at_waiting(hub);
    }

    /// Stops the turn and sends the message when it has ended. It stands at the head of the queue until then. A message that
    /// is queued already is taken from its place.
    pub fn send_now(&mut self, hub: &mut Hub, message: Message) {
        let message = match self.queue.iter().position(|queued| queued.id == message.id) {
            Some(at) => self.queue.remove(at).unwrap_or(message),
            None if self.is_known(&message.id) => return,
            None => message,
        };
        hub.require_commit();
        self.queue_paused = false;
        if self.run.as_ref().is_none_or(|run| run.phase != Phase::Running) {
            self.overflow.remove(&message.id);
            self.dispatch(hub, message);
            self.look_at_waiting(hub);
            return;
        }
        self.message_row(hub, &message, MessageState::Queued);
        self.queue.push_front(message);
        self.stop_turn(hub);
        self.look_at_waiting(hub);
    }

    /// Sends what waits: to the mailbox of a live run, else on a fresh run.
    pub(super) fn dispatch(&mut self, hub: &mut Hub, message: Message) {
        self.replace_outdated(hub);
        let boundary = |run: &Run| run.phase == Phase::Running && !run.caps.supports_steering && !run.killed;
        if self.run.as_ref().is_some_and(boundary) {
            // It takes nothing inside a turn: held until the turn ends.
            self.message_row(hub, &message, MessageState::Queued);
            self.queue.push_back(message);
            return;
        }
        if let Some(run) = self.run.as_ref().filter(|run| run.takes_messages()) {
            if run.ledger.len() >= MAILBOX {
                self.overflow(hub, message);
                return;
            }
            let shown = Chat::open_status(run);
            // The entry of a steer comes behind what was streamed so far; the reply goes on in the open segment until Steered.
            self.accept(hub, &message, shown);
            self.with_run(hub, |chat, hub, run| chat.hand_over(hub, run, message));
            return;
        }
        // While a killed run is on its way out its question is closed already, so Working is what is shown.
        self.accept(hub, &message, Status::Working);
        if self.run.is_some() || self.dying.is_some() {
            // The old process is on its way out: never two writers of one session.
            self.waiting.push_back(message);
            return;
        }
        self.start(hub, message);
    }

    /// The mailbox has no room, or others wait for room before this message: it stands behind them in the queue.
    fn overflow(&mut self, hub: &mut Hub, message: Message) {
        self.message_row(hub, &message, MessageState::Queued);
        self.overflow.insert(message.id.clone());
        self.queue.push_back(message);
    }

    /// What a viewer sees of a message that is handed on: the status first, then the entry, then the time of the chat (R1).
    /// Ledger row and user entry are one transaction, and the provider hears of it on its outcome. The ledger row stays until
    /// the message is confirmed, however many runs that takes.
    fn accept(&mut self, hub: &mut Hub, message: &Message, shown: Status) {
        hub.require_commit();
        self.overflow.remove(&message.id);
        self.status(hub, shown, false);
        hub.ledger(&self.id, &message.id, Some(&message.text));
        self.message_row(hub, message, MessageState::Sent);
        let at = self.written_at(hub, &message.id);
        self.doc.push_user(&message.id, &message.text, at, &self.spec_device(hub));
        self.note_message(hub, &message.text);
        self.flush(hub);
    }

    /// The time of a user entry: when somebody issued it, but not before the entry in front of it, and not in the future (L5).
    fn written_at(&mut self, hub: &Hub, message: &str) -> u64 {
        let now = hub.now.wall;
        let before = self.doc.last_created_at().unwrap_or(0);
        self.issued.remove(message).map_or(now, |issued| issued.max(before).min(now))
    }

    fn spec_device(&self, hub: &Hub) -> String {
        hub.config.device_id.clone()
    }

    /// Hands an accepted message to the live run.
    fn hand_over(&mut self, hub: &mut Hub, run: &mut Run, message: Message) {
        run.ledger.push_back(message.clone());
        let (model, effort) = (self.spec.model.clone(), self.spec.effort.clone());
        self.call(hub, run, |driver, cx| {
            // A changed configuration rides on the message: the process stays.
            driver.configure(cx, model.as_deref(), effort.as_deref());
            driver.steer(cx, &message);
        });
    }

    /// Starts a fresh run with a message that is accepted.
    pub(super) fn start(&mut self, hub: &mut Hub, message: Message) {
        let proc = hub.new_proc(&self.id);
        let stamp = self.stamp(hub);
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
            native_subagents_off: stamp.mode == Mode::SideChatsOnly,
        };
        let driver: Box<dyn Driver> = match self.spec.harness {
            Harness::ClaudeCode => {
                let server = launch::mcp_server(&hub.config, &self.id, stamp.mode);
                let driver = Claude::new(proc, request);
                Box::new(match server {
                    Some(server) => driver.with_mcp(server),
                    None => driver,
                })
            }
            Harness::Mock(caps) => Box::new(Mock::new(proc, caps, request.cwd)),
        };
        let mut run = Run::new(proc, driver, stamp, hub.now.mono);
        run.required_session = resume.filter(|_| strict);
        run.first = Some(message.clone());
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
        if self.run.is_none()
            && self.dying.is_none()
            && let Some(message) = self.waiting.pop_front()
        {
            self.start(hub, message);
        }
        while let Some(message) = self.waiting.front().cloned() {
            let room = self.run.as_ref().is_some_and(|run| run.takes_messages() && run.ledger.len() < MAILBOX);
            if !room {
                break;
            }
            self.waiting.pop_front();
            self.with_run(hub, |chat, hub, run| chat.hand_over(hub, run, message));
        }
        self.drain(hub);
    }

    /// One head row of the queue per idle edge.
    fn drain(&mut self, hub: &mut Hub) {
        let idle = matches!(self.session.status, Status::Idle | Status::Errored) && self.waiting.is_empty();
        if self.queue_paused || !idle || self.head_is_held() || self.run.as_ref().is_some_and(|run| run.phase == Phase::Running) {
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
            hub.require_commit();
            self.not_sent(hub, message_id, MessageState::Withdrawn);
            self.settle_when_nothing_waits(hub);
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

    /// A message that leaves the run ledger without having been taken.
    pub(super) fn not_sent(&mut self, hub: &mut Hub, message_id: &str, state: MessageState) {
        self.overflow.remove(message_id);
        self.withdrawing.remove(message_id);
        hub.ledger(&self.id, message_id, None);
        self.message_state(hub, message_id, state);
    }

    /// A chat that is Working only for a message that waits for the old process to go is Idle when that message is gone. The old
    /// run may have ended, or be parked and on its way out.
    pub(super) fn settle_when_nothing_waits(&mut self, hub: &mut Hub) {
        let working = matches!(self.session.status, Status::Working | Status::AwaitingInput);
        let rests = self.run.as_ref().is_none_or(|run| run.is_parked() && run.ledger.is_empty());
        if working && rests && self.waiting.is_empty() {
            self.status(hub, Status::Idle, false);
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
                    run.stopped = run.ledger.iter().map(|message| message.id.clone()).collect();
                    chat.close_questions(hub, run);
                    chat.call(hub, run, |driver, cx| driver.stop_turn(cx));
                });
            }
            Phase::Parked { .. } if run.ledger.is_empty() => {}
            _ => self.terminate(hub),
        }
    }
}
