//! The turn loop: which message is taken when, and how long a Done is held.
//!
//! A result may be the end of a turn or only the boundary before a message that waits. So a Done is held while a message of
//! ours waits, and is superseded when that message is confirmed.

use super::driver::{Claude, Held, Ours, Turn, UNACKNOWLEDGED, UNACKNOWLEDGED_SETTLE_MS, UNREPORTED, UNREPORTED_SETTLE_MS};
use crate::{
    core::timers::Class,
    drivers::{Cx, Output},
    event::{AgentEvent, DoneStatus},
};

impl Claude {
    /// `command_lifecycle`, as a frame of its own or as a system subtype.
    pub(super) fn lifecycle(&mut self, cx: &mut Cx<'_>, uuid: &str, state: &str) {
        self.reported = true;
        match self.ours.get(uuid) {
            None => cx.note("foreign-lifecycle", format!("{state} of a message that is not ours: {uuid}")),
            Some(Ours::Withdrawn) => {
                self.taking_back.remove(uuid);
                cx.note("withdrawn-lifecycle", format!("{state} of a message that was taken back: {uuid}"));
            }
            // What ended is over: its completed or cancelled comes after the result and tells nothing new.
            Some(Ours::Ended) => {}
            Some(known) => match (state, *known) {
                ("queued", Ours::Written) => {
                    self.ours.insert(uuid.to_owned(), Ours::Queued);
                }
                ("started", _) => self.confirm(cx, uuid),
                ("completed", _) if self.is_pending(uuid) => self.confirm(cx, uuid),
                // The first prompt of a process is never pending: its result, the stop or the exit ends its turn.
                ("cancelled" | "canceled" | "failed", Ours::Written | Ours::Queued) if self.is_pending(uuid) => {
                    self.given_back(cx, uuid, state);
                }
                _ => {}
            },
        }
        self.look_at_hold(cx);
    }

    /// A replayed user frame: a receipt for a message of ours.
    pub(super) fn receipt(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        match self.ours.get(uuid) {
            None => cx.note("foreign-replay", format!("a replay of a message that is not ours: {uuid}")),
            Some(Ours::Withdrawn) => cx.note("withdrawn-replay", format!("a replay of a message that was taken back: {uuid}")),
            Some(_) => {
                self.confirm(cx, uuid);
                self.look_at_hold(cx);
            }
        }
    }

    pub(super) fn is_pending(&self, uuid: &str) -> bool {
        self.pending.iter().any(|id| id == uuid)
    }

    /// The CLI takes a message: one Steered for it, and before it one for every earlier one that the CLI never reported as
    /// queued; an earlier one that *is* queued stays pending (a typed skill is taken later than a message after it).
    pub(super) fn confirm(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        if !self.is_pending(uuid) {
            if self.ours.get(uuid).is_some_and(|state| matches!(state, Ours::Written | Ours::Queued)) {
                self.turn = Turn::Own;
                self.first_taken(cx, uuid);
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
        // The first prompt was written before all of these, so it was taken before them, whether the CLI said so or not; but one
        // that the CLI holds in its queue is overtaken: from here on it waits as a steer does, and has a turn of its own.
        for id in self.turn_messages.clone() {
            match self.ours.get(&id) {
                Some(Ours::Written) => self.first_taken(cx, &id),
                Some(Ours::Queued) => {
                    self.turn_messages.retain(|other| *other != id);
                    self.pending.push_front(id);
                }
                _ => {}
            }
        }
        self.supersede_held(cx);
        for id in confirmed {
            self.steered(cx, &id);
        }
    }

    /// The first prompt of a process has no Steered of its own.
    fn first_taken(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        self.ours.insert(uuid.to_owned(), Ours::Started);
        cx.out.push(Output::Taken(uuid.to_owned()));
    }

    /// The result was only a boundary: its Done is not shown, its error and its fork point belong to the reply that closes
    /// (C2, D3).
    fn supersede_held(&mut self, cx: &mut Cx<'_>) {
        let Some(held) = self.held.take() else { return };
        self.disarm_hold(cx);
        if let AgentEvent::Done { error: Some(message), .. } = held.done
            && !self.shown_errors.contains(&message)
        {
            cx.event(AgentEvent::Error { message });
        }
        cx.out.extend(held.fork_point.map(Output::Event));
        self.end_messages();
    }

    fn steered(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        self.ours.insert(uuid.to_owned(), Ours::Started);
        self.taking_back.remove(uuid);
        self.turn = Turn::Own;
        self.turn_messages.push(uuid.to_owned());
        // A fork point of the reply that closes here may not land on the one that opens.
        self.last_native = None;
        self.shown_errors.clear();
        let closed = std::mem::replace(&mut self.assistant_id, cx.ids.uuid());
        cx.event(AgentEvent::Steered {
            message_id: Some(uuid.to_owned()),
            assistant_message_id: Some(closed),
            next_assistant_message_id: Some(self.assistant_id.clone()),
        });
    }

    /// A message that waited is given back unread.
    pub(super) fn given_back(&mut self, cx: &mut Cx<'_>, uuid: &str, state: &str) {
        self.pending.retain(|id| id != uuid);
        let by_us = self.taking_back.remove(uuid);
        self.ours.insert(uuid.to_owned(), Ours::Withdrawn);
        let reason = if by_us { "withdrawn" } else { state };
        cx.event(AgentEvent::SteerReturned { message_id: uuid.to_owned(), reason: reason.to_owned() });
    }

    /// A message *waits* while it is pending: it is then written or queued, or the CLI never reported lifecycle.
    pub(super) fn waits(&self) -> bool {
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
            return;
        }
        let wanted = match (self.queued_anywhere(), self.reported) {
            // A message that the CLI knows keeps the Done with no time-out (C4).
            (true, _) => None,
            (false, true) => Some((UNACKNOWLEDGED, UNACKNOWLEDGED_SETTLE_MS)),
            (false, false) => Some((UNREPORTED, UNREPORTED_SETTLE_MS)),
        };
        if wanted.map(|(name, _)| name) == self.hold_timer {
            return;
        }
        self.disarm_hold(cx);
        if let Some((name, ms)) = wanted {
            self.arm_turn_timer(cx, name, ms);
            self.hold_timer = Some(name);
        }
    }

    pub(super) fn disarm_hold(&mut self, cx: &mut Cx<'_>) {
        if let Some(name) = self.hold_timer.take() {
            let key = cx.key(Class::D, name);
            cx.timers.disarm(&key);
        }
    }

    /// Arms a timer of the turn; while the human is asked it waits with its whole time.
    pub(super) fn arm_turn_timer(&self, cx: &mut Cx<'_>, name: &'static str, ms: u64) {
        let key = cx.key(Class::D, name);
        cx.timers.arm(key.clone(), cx.now.mono + ms);
        if self.asking {
            cx.timers.suspend(&key, cx.now.mono);
        }
    }

    /// The CLI never acknowledged what waits: one Steered each, then the held Done.
    pub(super) fn hold_expired(&mut self, cx: &mut Cx<'_>) {
        self.hold_timer = None;
        let Some(held) = self.held.take() else { return };
        // The reply that can be forked closes at the first Steered (D3).
        cx.out.extend(held.fork_point.map(Output::Event));
        self.end_messages();
        for id in std::mem::take(&mut self.pending) {
            self.steered(cx, &id);
        }
        self.close_turn(cx, Held { done: held.done, fork_point: None }, DoneStatus::Interrupted);
    }

    pub(super) fn release_held(&mut self, cx: &mut Cx<'_>) {
        if let Some(held) = self.held.take() {
            self.close_turn(cx, held, DoneStatus::Interrupted);
        }
    }

    pub(super) fn end_messages(&mut self) {
        for id in self.turn_messages.drain(..) {
            self.ours.insert(id, Ours::Ended);
        }
    }
}
