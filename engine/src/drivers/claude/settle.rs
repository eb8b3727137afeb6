//! How a turn ends: by a result, by a stop in place, by the end of the stream.

use serde_json::Value;

use super::{
    control::{Control, done},
    driver::{Claude, DUPLICATE_RESULT_MS, Held, INTERRUPT_GRACE_MS, Ours, STOP_SETTLE, Stopping, Turn},
    result::{self, Owner},
    wire,
};
use crate::{
    core::timers::Class,
    drivers::{Cx, Output},
    event::{AgentEvent, DoneStatus},
};

impl Claude {
    /// Every Done goes through here: fork point, what is still asked, the typed fork's settle, the Done, and what it leaves
    /// behind. The fork's two events come directly before the Done (T4); `fork_status` is for a fork that was told none.
    pub(super) fn close_turn(&mut self, cx: &mut Cx<'_>, held: Held, fork_status: DoneStatus) {
        cx.out.extend(held.fork_point.map(Output::Event));
        self.refuse_open_requests(cx);
        self.settle_fork(cx, fork_status);
        cx.event(held.done);
        self.disarm_hold(cx);
        let key = cx.key(Class::D, STOP_SETTLE);
        cx.timers.disarm(&key);
        self.open_tools.clear();
        self.shown_errors.clear();
        self.turn = Turn::None;
        self.end_messages();
        self.last_native = None;
        if self.retiring {
            self.retire(cx);
        }
    }

    /// The process gets no more messages; it ends by itself once its background work has.
    fn retire(&mut self, cx: &mut Cx<'_>) {
        self.process.close_stdin(cx);
        if self.background.is_empty() && !self.interrupted {
            self.process.terminate_after(cx, INTERRUPT_GRACE_MS);
        }
    }

    pub(super) fn settle_fork(&mut self, cx: &mut Cx<'_>, status: DoneStatus) {
        if let Some(fork) = self.fork.take() {
            self.open_tools.remove(&fork.chip);
            fork.settle(cx, status);
        }
    }

    fn owner(&self, frame: &Value) -> Owner {
        let named = result::named(frame);
        let mine: Vec<String> = named.iter().filter(|id| self.ours.contains_key(*id)).cloned().collect();
        if !mine.is_empty() {
            let over = mine.iter().all(|id| matches!(self.ours.get(id), Some(Ours::Ended | Ours::Withdrawn)));
            return if over { Owner::Settled } else { Owner::Messages(mine) };
        }
        if !named.is_empty() || !frame["origin"].is_null() { Owner::Process } else { Owner::Unnamed }
    }

    /// A `result` frame.
    pub(super) fn result(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        match self.owner(frame) {
            Owner::Settled if self.turn == Turn::Background => self.result_ends_turn(cx, frame),
            Owner::Settled => cx.note("late-result", "a result for messages that were settled before; dropped"),
            Owner::Messages(mine) => {
                for id in &mine {
                    self.confirm(cx, id);
                }
                if self.turn_open() {
                    self.result_ends_turn(cx, frame);
                } else {
                    cx.note("absorbed-result", "a result for a message whose turn is not open");
                }
                for id in mine {
                    self.ours.insert(id, Ours::Ended);
                }
            }
            Owner::Process if self.turn == Turn::Background => self.result_ends_turn(cx, frame),
            Owner::Process => cx.note("absorbed-result", "a result that names no message of ours; an open prompt stays open"),
            Owner::Unnamed if self.is_duplicate_of_stop(cx) => {
                cx.note("late-result", "a second result within the window after a stop; dropped");
            }
            Owner::Unnamed if self.turn_open() => self.result_ends_turn(cx, frame),
            Owner::Unnamed => cx.note("absorbed-result", "a result while no turn is open"),
        }
        self.look_at_hold(cx);
    }

    fn is_duplicate_of_stop(&self, cx: &Cx<'_>) -> bool {
        self.stopping.is_none()
            && !self.active_since_stop
            && self.stop_done_at.is_some_and(|at| cx.now.mono < at + DUPLICATE_RESULT_MS)
    }

    fn result_ends_turn(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let stopping = self.stopping.is_some() || self.interrupted;
        let fork_stopped = self.fork.as_ref().is_some_and(|fork| fork.status == Some(DoneStatus::Interrupted));
        let (status, error) = result::status(frame, stopping, fork_stopped);
        self.context_window(cx, frame);
        if let Some(usage) = frame["usage"].as_object() {
            let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
            cx.event(AgentEvent::Usage { input_tokens: tokens("input_tokens"), output_tokens: tokens("output_tokens") });
        }
        let fork_point = match (status, self.last_native.take()) {
            (DoneStatus::Completed, Some((assistant_message_id, uuid))) => Some(AgentEvent::NativeForkReady {
                assistant_message_id,
                point: serde_json::json!({"kind": "claudeMessage", "uuid": uuid}),
            }),
            _ => None,
        };
        let text = frame["result"].as_str().map(str::to_owned);
        let held = Held { done: done(status, text, error, self.session_id.clone()), fork_point };
        if self.waits() && !stopping {
            self.settle_fork(cx, status);
            self.end_messages();
            // The provider's turn is over: no tool of it can be open, so the next message is not held back by one.
            self.open_tools.clear();
            self.held = Some(held);
            return;
        }
        self.held = None;
        self.close_turn(cx, held, status);
        if self.stopping.take().is_some() {
            self.stop_is_done(cx);
        }
    }

    fn stop_is_done(&mut self, cx: &Cx<'_>) {
        self.stop_done_at = Some(cx.now.mono);
        self.active_since_stop = false;
    }

    /// Stop in place: what waits is taken back, the turn is interrupted, the process lives on.
    pub(super) fn stop(&mut self, cx: &mut Cx<'_>) {
        if !self.turn_open() || self.stopping.is_some() || self.interrupted {
            return;
        }
        self.close_questions(cx);
        self.withdraw_pending();
        let end = self.held.take().map(|held| match held.done {
            AgentEvent::Done { result, session_id, .. } => done(DoneStatus::Interrupted, result, None, session_id),
            other => other,
        });
        self.disarm_hold(cx);
        let id = self.next_control("engine_stop");
        let line = wire::stop(&id);
        self.stopping = Some(Stopping { request_id: id.clone(), end });
        self.control(cx, id, Control::Stop, line);
    }

    /// What waits is the user's again: its lifecycle changes nothing from here on.
    pub(super) fn withdraw_pending(&mut self) {
        for id in std::mem::take(&mut self.pending) {
            self.ours.insert(id, Ours::Withdrawn);
        }
    }

    /// The stop was answered and no result came: the turn ends all the same.
    pub(super) fn stop_settle(&mut self, cx: &mut Cx<'_>) {
        let Some(stopping) = self.stopping.take() else { return };
        let synthetic = || AgentEvent::Done {
            status: DoneStatus::Interrupted,
            result: None,
            error: None,
            session_id: self.session_id.clone(),
            synthetic: Some(STOP_SETTLE.to_owned()),
        };
        let done = stopping.end.unwrap_or_else(synthetic);
        self.close_turn(cx, Held { done, fork_point: None }, DoneStatus::Interrupted);
        self.stop_is_done(cx);
    }

    /// Everything that the process said is in.
    pub(super) fn stream_over(&mut self, cx: &mut Cx<'_>) {
        let stopped = self.stopping.take().is_some() || self.interrupted;
        let (status, error) = if stopped {
            (DoneStatus::Interrupted, None)
        } else {
            (DoneStatus::Errored, Some(self.process.crash_text("Claude Code")))
        };
        self.ended(cx, status, error);
    }

    /// Nothing more comes from the process: a held Done is released, an open turn ends as told.
    pub(super) fn ended(&mut self, cx: &mut Cx<'_>, status: DoneStatus, error: Option<String>) {
        self.close_questions(cx);
        // Its process is gone: no answer is owed.
        self.requests.clear();
        self.forget_controls(cx);
        if self.held.is_some() {
            self.release_held(cx);
        } else if self.turn_open() {
            let done = done(status, None, error, self.session_id.clone());
            self.close_turn(cx, Held { done, fork_point: None }, DoneStatus::Interrupted);
        }
        self.settle_fork(cx, DoneStatus::Interrupted);
        if !self.background.is_empty() {
            self.background.clear();
            cx.out.push(Output::Background(0));
        }
        cx.out.push(Output::Ended);
    }
}
