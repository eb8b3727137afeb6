//! The turn loop: which message is taken when, when a Done is held, how a stop in place ends.
//!
//! A result may be the end of a turn or only the boundary before a message that waits. So a Done is held while a message of
//! ours waits, and is superseded when that message is confirmed.

use serde_json::Value;

use super::{
    driver::{
        Claude, DUPLICATE_RESULT_MS, Held, Ours, STOP_SETTLE_MS, Stopping, Turn, UNACKNOWLEDGED_SETTLE_MS, UNREPORTED_SETTLE_MS,
    },
    result::{self, Owner},
    wire,
};
use crate::{
    core::timers::Class,
    drivers::{Cx, Output},
    event::{AgentEvent, DoneStatus},
};

impl Claude {
    /// `command_lifecycle`, as a frame of its own or as a system subtype.
    pub(super) fn lifecycle(&mut self, cx: &mut Cx<'_>, uuid: &str, state: &str) {
        self.reported = true;
        let Some(known) = self.ours.get(uuid).copied() else {
            cx.note("foreign-lifecycle", format!("{state} of a message that is not ours: {uuid}"));
            return;
        };
        if known == Ours::Withdrawn || known == Ours::Ended {
            // What ended is over: its completed or cancelled comes after the result and tells nothing new.
            self.taking_back.remove(uuid);
            if known == Ours::Withdrawn {
                cx.note("withdrawn-lifecycle", format!("{state} of a message that was taken back: {uuid}"));
            }
            return;
        }
        match state {
            "queued" => {
                if known == Ours::Written {
                    self.ours.insert(uuid.to_owned(), Ours::Queued);
                }
            }
            "started" => self.confirm(cx, uuid),
            "completed" if self.is_pending(uuid) => self.confirm(cx, uuid),
            "cancelled" | "canceled" | "failed" if matches!(known, Ours::Written | Ours::Queued) => {
                self.given_back(cx, uuid, state)
            }
            _ => {}
        }
        self.look_at_hold(cx);
    }

    pub(super) fn is_pending(&self, uuid: &str) -> bool {
        self.pending.iter().any(|id| id == uuid)
    }

    /// The CLI takes a message: one Steered for it, and before it one for every earlier one that the CLI never reported as
    /// queued; an earlier one that *is* queued stays pending (a typed skill is taken later than a message after it).
    pub(super) fn confirm(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        if !self.is_pending(uuid) {
            if self.ours.get(uuid).is_some_and(|state| matches!(state, Ours::Written | Ours::Queued)) {
                self.ours.insert(uuid.to_owned(), Ours::Started);
                self.turn = Turn::Own;
                cx.out.push(Output::Taken(uuid.to_owned()));
            }
            return;
        }
        let mut confirmed: Vec<String> = Vec::new();
        for earlier in &self.pending {
            if earlier == uuid {
                break;
            }
            if self.ours.get(earlier) == Some(&Ours::Written) {
                confirmed.push(earlier.clone());
            }
        }
        confirmed.push(uuid.to_owned());
        self.pending.retain(|id| !confirmed.contains(id));
        if let Some(held) = self.held.take() {
            // The result was only a boundary: its Done is superseded, its fork point stays true (D3).
            cx.out.extend(held.fork_point.map(Output::Event));
            self.disarm_hold(cx);
            self.end_messages();
        }
        for id in confirmed {
            self.steered(cx, &id);
        }
    }

    fn steered(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        self.ours.insert(uuid.to_owned(), Ours::Started);
        self.taking_back.remove(uuid);
        self.turn = Turn::Own;
        self.turn_messages.push(uuid.to_owned());
        let closed = std::mem::replace(&mut self.assistant_id, cx.ids.uuid());
        cx.event(AgentEvent::Steered {
            message_id: Some(uuid.to_owned()),
            assistant_message_id: Some(closed),
            next_assistant_message_id: Some(self.assistant_id.clone()),
        });
    }

    fn given_back(&mut self, cx: &mut Cx<'_>, uuid: &str, state: &str) {
        let was_pending = self.is_pending(uuid);
        self.pending.retain(|id| id != uuid);
        let by_us = self.taking_back.remove(uuid);
        self.ours.insert(uuid.to_owned(), Ours::Withdrawn);
        if was_pending {
            let reason = if by_us { "withdrawn" } else { state };
            cx.event(AgentEvent::SteerReturned { message_id: uuid.to_owned(), reason: reason.to_owned() });
        }
    }

    /// Asks the CLI to give a message back.
    pub(super) fn take_back(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        if self.taking_back.insert(uuid.to_owned()) {
            let id = self.next_control("engine_cancel");
            let line = wire::cancel(&id, uuid);
            self.control(cx, id, "cancel_async_message", line);
        }
    }

    /// A message *waits* while it is pending and written or queued; where the CLI never reported lifecycle, while it is pending.
    fn waits(&self) -> bool {
        !self.pending.is_empty()
    }

    fn queued_anywhere(&self) -> bool {
        self.pending.iter().any(|id| self.ours.get(id) == Some(&Ours::Queued))
    }

    /// Keeps the hold timer true to the state, and releases a held Done when nothing waits any more.
    pub(super) fn look_at_hold(&mut self, cx: &mut Cx<'_>) {
        if self.held.is_none() {
            return;
        }
        if !self.waits() {
            self.release_held(cx);
        } else if self.queued_anywhere() {
            // A message that the CLI knows keeps the Done with no time-out (C4).
            self.disarm_hold(cx);
        } else {
            let (name, ms) = if self.reported {
                ("unacknowledged-settle", UNACKNOWLEDGED_SETTLE_MS)
            } else {
                ("unreported-settle", UNREPORTED_SETTLE_MS)
            };
            let key = cx.key(Class::D, name);
            if !cx.timers.is_armed(&key) {
                self.disarm_hold(cx);
                cx.timers.arm(key, cx.now.mono + ms);
            }
        }
    }

    fn disarm_hold(&self, cx: &mut Cx<'_>) {
        for name in ["unreported-settle", "unacknowledged-settle"] {
            let key = cx.key(Class::D, name);
            cx.timers.disarm(&key);
        }
    }

    /// The CLI never acknowledged what waits: one Steered each, then the held Done.
    pub(super) fn hold_expired(&mut self, cx: &mut Cx<'_>) {
        let Some(held) = self.held.take() else { return };
        self.disarm_hold(cx);
        self.end_messages();
        for id in std::mem::take(&mut self.pending) {
            self.steered(cx, &id);
        }
        self.emit_done(cx, held);
    }

    fn release_held(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            self.disarm_hold(cx);
            self.emit_done(cx, held);
        }
    }

    fn emit_done(&mut self, cx: &mut Cx<'_>, held: Held) {
        cx.out.extend(held.fork_point.map(Output::Event));
        cx.event(held.done);
        self.turn_over(cx);
    }

    /// What every emitted Done leaves behind.
    fn turn_over(&mut self, cx: &mut Cx<'_>) {
        self.open_tools.clear();
        self.turn = Turn::None;
        self.end_messages();
        self.last_native = None;
        let key = cx.key(Class::D, "stop-settle");
        cx.timers.disarm(&key);
    }

    fn end_messages(&mut self) {
        for id in self.turn_messages.drain(..) {
            self.ours.insert(id, Ours::Ended);
        }
    }

    /// Ends the open turn without a result of the provider.
    pub(super) fn end_turn_with(&mut self, cx: &mut Cx<'_>, status: DoneStatus, error: Option<String>) {
        self.settle_fork(cx, status);
        let done = self.done(status, None, error, None);
        self.held = None;
        self.disarm_hold(cx);
        self.emit_done(cx, Held { done, fork_point: None });
    }

    pub(super) fn done(
        &self,
        status: DoneStatus,
        result: Option<String>,
        error: Option<String>,
        synthetic: Option<&str>,
    ) -> AgentEvent {
        AgentEvent::Done { status, result, error, session_id: self.session_id.clone(), synthetic: synthetic.map(str::to_owned) }
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
                    if self.is_pending(id) {
                        self.confirm(cx, id);
                    } else if matches!(self.ours.get(id), Some(Ours::Written | Ours::Queued)) {
                        self.confirm(cx, id);
                    }
                }
                if self.turn_open() {
                    self.result_ends_turn(cx, frame);
                } else {
                    for id in mine {
                        self.ours.insert(id, Ours::Ended);
                    }
                    cx.note("absorbed-result", "a result for a message whose turn is not open");
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
        let done = self.done(status, text, error, None);
        if self.waits() && !stopping {
            self.settle_fork(cx, status);
            // The boundary's error belongs to the reply that closes (C2).
            if let AgentEvent::Done { error: Some(message), .. } = &done {
                cx.event(AgentEvent::Error { message: message.clone() });
            }
            self.end_messages();
            self.held = Some(Held { done, fork_point });
            return;
        }
        // The fork point goes before the fork's two settle events: those come directly before the Done (T4).
        cx.out.extend(fork_point.map(Output::Event));
        self.settle_fork(cx, status);
        cx.event(done);
        if self.stopping.take().is_some() {
            self.stop_done_at = Some(cx.now.mono);
            self.active_since_stop = false;
        }
        self.turn_over(cx);
    }

    /// Stop in place: what waits is taken back, the turn is interrupted, the process lives on.
    pub(super) fn stop(&mut self, cx: &mut Cx<'_>) {
        if !self.turn_open() || self.stopping.is_some() || self.interrupted {
            return;
        }
        self.close_questions(cx);
        for id in std::mem::take(&mut self.pending) {
            self.ours.insert(id, Ours::Withdrawn);
        }
        let end = self.held.take().map(|held| match held.done {
            AgentEvent::Done { result, session_id, .. } => {
                AgentEvent::Done { status: DoneStatus::Interrupted, result, error: None, session_id, synthetic: None }
            }
            other => other,
        });
        self.disarm_hold(cx);
        let id = self.next_control("engine_stop");
        let line = wire::stop(&id);
        self.stopping = Some(Stopping { request_id: id.clone(), end });
        self.control(cx, id, "interrupt", line);
    }

    /// A control_response: only the stop's own answer arms the stop settle (the CLI echoes our answers too).
    pub(super) fn control_response(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let response = &frame["response"];
        let Some(id) = response["request_id"].as_str() else { return };
        let Some(what) = self.unanswered.remove(id) else { return };
        if self.unanswered.is_empty() {
            let key = cx.key(Class::P, "control-deadline");
            cx.timers.disarm(&key);
        }
        match what {
            "initialize" => self.initialized(cx, &response["response"]),
            "interrupt" if self.stopping.as_ref().is_some_and(|stopping| stopping.request_id == id) => {
                let key = cx.key(Class::D, "stop-settle");
                cx.timers.arm(key, cx.now.mono + STOP_SETTLE_MS);
                let still_queued: Vec<String> = response["response"]["still_queued"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .filter(|uuid| self.ours.contains_key(*uuid))
                    .map(str::to_owned)
                    .collect();
                for uuid in still_queued {
                    self.take_back(cx, &uuid);
                }
            }
            _ => {}
        }
    }

    /// The stop was answered and no result came: the turn ends all the same.
    pub(super) fn stop_settle(&mut self, cx: &mut Cx<'_>) {
        let Some(stopping) = self.stopping.take() else { return };
        self.settle_fork(cx, DoneStatus::Interrupted);
        let done = stopping.end.unwrap_or_else(|| self.done(DoneStatus::Interrupted, None, None, Some("stop-settle")));
        self.emit_done(cx, Held { done, fork_point: None });
        self.stop_done_at = Some(cx.now.mono);
        self.active_since_stop = false;
    }

    /// Everything that the process said is in.
    pub(super) fn stream_over(&mut self, cx: &mut Cx<'_>) {
        self.close_questions(cx);
        let key = cx.key(Class::D, "stop-settle");
        cx.timers.disarm(&key);
        let key = cx.key(Class::P, "control-deadline");
        cx.timers.disarm(&key);
        self.unanswered.clear();
        let stopped = self.stopping.take().is_some() || self.interrupted;
        if let Some(held) = self.held.take() {
            self.disarm_hold(cx);
            self.emit_done(cx, held);
        } else if self.turn_open() {
            let (status, error) = if stopped {
                (DoneStatus::Interrupted, None)
            } else {
                (DoneStatus::Errored, Some(self.process.crash_text("Claude Code")))
            };
            self.end_turn_with(cx, status, error);
        }
        if !self.background.is_empty() {
            self.background.clear();
            cx.out.push(Output::Background(0));
        }
        cx.out.push(Output::Ended);
    }
}
