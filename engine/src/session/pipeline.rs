//! What one driver event does, in the order of its tests. The order is the rule: child frames come before the parked gate, so
//! that they work while parked and never reopen a turn.

use super::{chat::Chat, run::Run};
use crate::{
    core::{hub::Hub, input::Message},
    event::{AgentEvent, DoneStatus, LIVE_PLAN},
    feed::{MessageState, Status},
};

impl Chat {
    /// One event of the live run.
    pub(super) fn event(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        match event {
            AgentEvent::Subagent { parent_tool_use_id, event } => self.subagent_event(hub, run, &parent_tool_use_id, *event),
            // A question comes through the engine's own door, so that its id is one that the engine registered.
            AgentEvent::InputRequested { .. } | AgentEvent::InputResolved { .. } => {}
            AgentEvent::ContextUsage { .. } | AgentEvent::AvailableCommands { .. } | AgentEvent::AgentChanged { .. } => {
                self.write(hub, event);
            }
            AgentEvent::Note { .. } => self.journal(hub, event),
            AgentEvent::Steered { .. } => self.steered(hub, run, event),
            AgentEvent::SteerReturned { .. } => self.steer_returned(hub, run, event),
            AgentEvent::Done { .. } => self.done(hub, run, event),
            event if run.is_parked() => self.gate(hub, run, event),
            event => self.content(hub, run, event),
        }
    }

    /// Journals, publishes and folds.
    pub(super) fn write(&mut self, hub: &mut Hub, event: AgentEvent) {
        self.doc.fold(&event);
        self.journal(hub, event);
    }

    /// Content of an open turn.
    pub(super) fn content(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        match &event {
            // A heartbeat: activity, never content.
            AgentEvent::ReasoningDelta { text, .. } if text.is_empty() => return,
            AgentEvent::ToolCall { id, .. } | AgentEvent::ToolResult { id, .. }
                if id != LIVE_PLAN && self.doc.tool_in_earlier_segment(id) =>
            {
                return;
            }
            AgentEvent::SessionStarted { .. } => {
                self.session_started(hub, run, event);
                return;
            }
            AgentEvent::NativeForkReady { .. } => {
                self.fork_ready(hub, run, event);
                return;
            }
            AgentEvent::AssistantMessageCompleted { assistant_message_id } => {
                run.aliases.insert(assistant_message_id.clone());
            }
            _ => {}
        }
        if run.inputs.is_empty() {
            self.status(hub, Status::Working, false);
        }
        self.write(hub, event);
    }

    /// The provider named its session: remembered for resuming, checked where a strict run requires one (D10).
    fn session_started(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let AgentEvent::SessionStarted { session_id, .. } = &event else { return };
        let named = session_id.clone();
        let wrong = run.required_session.take().filter(|required| *required != named);
        if self.row.harness_session_id.as_deref() != Some(named.as_str()) && wrong.is_none() {
            // Without it the next life of the engine would begin another session.
            hub.require_commit();
            self.row.harness_session_id = Some(named.clone());
            hub.chat(&self.row);
        }
        self.write(hub, event);
        if let Some(required) = wrong {
            self.wrong_session(hub, run, &named, &required);
        }
    }

    /// A strict run in another session than the required one: cancelled and Errored, and nothing is sent into it again.
    fn wrong_session(&mut self, hub: &mut Hub, run: &mut Run, named: &str, required: &str) {
        for message in std::mem::take(&mut run.ledger) {
            self.not_sent(hub, &message.id, MessageState::NotDelivered);
        }
        run.killed = true;
        self.call(hub, run, |driver, cx| driver.interrupt(cx));
        let error = Some(format!("The provider opened session {named} where {required} is required."));
        let synthetic = Some("wrong-session".to_owned());
        self.done(hub, run, AgentEvent::Done { status: DoneStatus::Errored, result: None, error, session_id: None, synthetic });
    }

    /// The session id that a later frame of the provider names (a `/clear` of the user).
    pub(super) fn follow_session(&mut self, hub: &mut Hub, session: &str) {
        if self.row.harness_session_id.as_deref() != Some(session) {
            self.row.harness_session_id = Some(session.to_owned());
            hub.chat(&self.row);
        }
    }

    /// Bound only when its assistant id is an alias of the current entry.
    fn fork_ready(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let AgentEvent::NativeForkReady { assistant_message_id, point } = &event else { return };
        let entry = self.doc.segment_entry().filter(|_| !self.doc.segment_is_empty()).map(str::to_owned);
        if let Some(entry) = entry.filter(|_| run.aliases.contains(assistant_message_id)) {
            let point = point.clone();
            // Document change first, then the journal row, both in one transaction.
            hub.require_commit();
            self.doc.set_fork_point(&entry, &point);
            self.flush_with(hub, run);
            self.journal(hub, event);
        }
    }

    /// The provider took a message: the old reply closes, a new one opens.
    fn steered(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let AgentEvent::Steered { message_id, .. } = &event else { return };
        let taken = match message_id {
            Some(id) => run.ledger.iter().position(|message| message.id == *id).and_then(|at| run.ledger.remove(at)),
            None => run.ledger.pop_front(),
        };
        let named = message_id.clone();
        hub.require_commit();
        let was_parked = run.is_parked();
        self.journal(hub, event);
        if let Some(message) = taken {
            hub.ledger(&self.id, &message.id, None);
            self.withdrawing.remove(&message.id);
            self.message_state(hub, &message.id, MessageState::Delivered);
        } else if let Some(first) = named {
            // The first prompt, which another message had overtaken.
            self.taken(hub, run, &first);
        }
        let began = run.turn_began;
        self.doc.finish_segment(false, None, Some(hub.now.mono.saturating_sub(began)));
        if was_parked {
            self.turns += 1;
        }
        self.open_turn(hub, run, true);
        self.flush_with(hub, run);
    }

    /// A turn is open from here on: its segment, its status, the flags of the one before are gone.
    pub(super) fn open_turn(&mut self, hub: &mut Hub, run: &mut Run, fresh_start: bool) {
        run.phase = super::run::Phase::Running;
        run.aliases.clear();
        run.turn_began = hub.now.mono;
        self.begin_segment(hub);
        self.status(hub, Chat::open_status(run), fresh_start);
    }

    /// The first prompt of a process has no Steered of its own.
    pub(super) fn taken(&mut self, hub: &mut Hub, run: &mut Run, message: &str) {
        if run.first.as_ref().is_some_and(|first| first.id == message) {
            run.first = None;
            // Once the provider is known to have it, no later life of the engine may send it again.
            hub.require_commit();
            hub.ledger(&self.id, message, None);
            self.message_state(hub, message, MessageState::Delivered);
        }
    }

    /// The provider gave a message back unread: it is queued again at the front, unless the user took it back.
    fn steer_returned(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let AgentEvent::SteerReturned { message_id, .. } = &event else { return };
        let id = message_id.clone();
        let returned = run.ledger.iter().position(|message| message.id == id).and_then(|at| run.ledger.remove(at));
        let returned = returned.or_else(|| run.first.take_if(|first| first.id == id));
        self.journal(hub, event);
        let Some(message) = returned else { return };
        hub.require_commit();
        if self.withdrawing.contains(&id) {
            self.not_sent(hub, &id, MessageState::Withdrawn);
        } else {
            self.not_sent(hub, &id, MessageState::Queued);
            // Several given back keep their order: what stands at the front and was given back before stays before it.
            let at = self.queue.iter().take_while(|queued| self.returned_before(queued, &message)).count();
            self.queue.insert(at, message);
        }
        if run.is_parked() && run.ledger.is_empty() {
            self.status(hub, Status::Idle, false);
        }
        self.flush_with(hub, run);
    }

    pub(super) fn returned_before(&self, queued: &Message, message: &Message) -> bool {
        let place = |id: &str| self.messages.get_index_of(id);
        place(&queued.id) < place(&message.id)
    }

    /// Whether a Done of this status leaves the run alive.
    pub(super) fn stopped_in_place(run: &Run, status: DoneStatus) -> bool {
        status == DoneStatus::Interrupted && run.caps.stops_turn_in_place && !run.killed
    }
}
