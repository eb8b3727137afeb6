//! How a run ends: its children are settled, what it did not deliver is sent again once, its process is seen to its end.

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{
        config::{INTERRUPT_DEADLINE_MS, TERMINATE_WAIT_MS},
        hub::Hub,
    },
    event::{AgentEvent, DoneStatus},
    feed::{MessageState, Status},
};

impl Chat {
    /// The user's Stop: kills the runtime and its background work; what was queued waits for an explicit send.
    pub fn stop(&mut self, hub: &mut Hub) {
        self.queue_paused = true;
        for message in std::mem::take(&mut self.waiting) {
            self.not_sent(hub, &message.id, MessageState::Withdrawn);
        }
        self.settle_when_nothing_waits(hub);
        self.terminate(hub);
        self.look_at_waiting(hub);
    }

    /// Terminates the live run.
    pub(super) fn terminate(&mut self, hub: &mut Hub) {
        self.with_run(hub, |chat, hub, run| chat.terminate_run(hub, run));
    }

    pub(super) fn terminate_run(&mut self, hub: &mut Hub, run: &mut Run) {
        if run.killed {
            return;
        }
        run.killed = true;
        self.close_questions(hub, run);
        for message in std::mem::take(&mut run.ledger) {
            self.not_sent(hub, &message.id, MessageState::Withdrawn);
        }
        if run.is_parked() && self.waiting.is_empty() {
            self.status(hub, Status::Idle, false);
        }
        let key = self.run_timer("interrupt-deadline");
        hub.timers.arm(key, hub.now.mono + INTERRUPT_DEADLINE_MS);
        self.call(hub, run, |driver, cx| driver.interrupt(cx));
    }

    /// The mailbox is closed: no message goes to the run any more, what it runs may end by itself.
    pub fn close(&mut self, hub: &mut Hub) {
        self.with_run(hub, |chat, hub, run| {
            run.closed = true;
            chat.call(hub, run, |driver, cx| driver.close_mailbox(cx));
        });
    }

    /// A timer of the run is due.
    pub fn run_timer_due(&mut self, hub: &mut Hub, name: &str) {
        match name {
            "flush" => self.flush(hub),
            "interrupt-deadline" => self.with_run(hub, |chat, hub, run| {
                if run.phase == Phase::Running {
                    chat.call(hub, run, |_, cx| {
                        cx.event(AgentEvent::Done {
                            status: DoneStatus::Interrupted,
                            result: None,
                            error: None,
                            session_id: None,
                            synthetic: Some("interrupt-deadline".to_owned()),
                        });
                    });
                } else {
                    chat.end_run(hub, run, Status::Idle);
                }
            }),
            "stop-turn-settle" => self.terminate(hub),
            // The process was never reaped: the run is given up, its lease stays until the reap.
            "terminate-wait" => self.dying = None,
            _ => {}
        }
        self.look_at_waiting(hub);
    }

    /// The stream of the live run ended.
    pub(super) fn stream_ended(&mut self, hub: &mut Hub, run: &mut Run) {
        run.stream_over = true;
        if run.phase == Phase::Running {
            // D1: a stream that ends inside a turn without a Done is Errored, with a text that says so.
            // A user's cancel wins over the exit that it caused.
            let (status, error) = if run.killed || run.stopping {
                (DoneStatus::Interrupted, None)
            } else {
                (DoneStatus::Errored, Some("The provider's stream ended inside the turn.".to_owned()))
            };
            let synthetic = Some("stream-end".to_owned());
            self.done(hub, run, AgentEvent::Done { status, result: None, error, session_id: None, synthetic });
        } else if run.is_parked() {
            self.end_run(hub, run, Status::Idle);
        }
    }

    /// Ends a run: chips failed, pill 0, what it did not deliver is sent again on a fresh run, once.
    pub(super) fn end_run(&mut self, hub: &mut Hub, run: &mut Run, status: Status) {
        hub.require_commit();
        run.phase = Phase::Ended;
        self.fail_sinks(hub, &mut run.sinks);
        for name in ["interrupt-deadline", "stop-turn-settle"] {
            let key = self.run_timer(name);
            hub.timers.disarm(&key);
        }
        let mut again = Vec::new();
        for message in std::mem::take(&mut run.ledger) {
            if run.killed || self.withdrawing.contains(&message.id) {
                self.not_sent(hub, &message.id, MessageState::Withdrawn);
            } else if self.dispatched_again.insert(message.id.clone()) {
                // Its ledger row stays: a kill before the fresh run must find it.
                again.push(message);
            } else {
                self.not_sent(hub, &message.id, MessageState::NotDelivered);
            }
        }
        // What this run did not deliver comes before what the user sent since.
        for message in again.into_iter().rev() {
            self.waiting.push_front(message);
        }
        let status = if self.waiting.is_empty() { status } else { Status::Working };
        self.session.running_subagents = 0;
        self.session.status = status;
        self.session.started_at = if status == Status::Working { Some(hub.now.wall) } else { None };
        self.publish_session(hub);
        self.flush_with(hub, run);
        if !run.reaped {
            let key = self.run_timer("terminate-wait");
            hub.timers.arm(key, hub.now.mono + TERMINATE_WAIT_MS);
            self.call(hub, run, |driver, cx| driver.shut_down(cx));
        }
    }

    /// The process of a run is reaped: its lease goes (D9).
    pub(super) fn reaped(&mut self, hub: &mut Hub, run: &mut Run) {
        run.reaped = true;
        hub.leases.remove(&run.proc);
        let key = self.run_timer("terminate-wait");
        hub.timers.disarm(&key);
    }
}
