//! How a turn settles: once, in one transaction with the Done's journal record.

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{hub::Hub, input::Message},
    event::{AgentEvent, DoneStatus},
    feed::{MessageState, Status},
};

impl Chat {
    /// A Done of the live run.
    pub(super) fn done(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let AgentEvent::Done { status, error, session_id, .. } = &event else { return };
        let (status, error) = (*status, error.clone());
        // All of it is one transaction; nothing of it is seen before its outcome.
        hub.require_commit();
        let active = !run.is_parked();
        if !active && run.killed {
            let text = format!("a Done ({status:?}) of background work that the user stopped");
            self.journal(hub, AgentEvent::Note { kind: "late-terminal".to_owned(), text });
            return;
        }
        if !active {
            // A background wake that ends without visible content gives no Done in the driver; one that comes all the same
            // settles a turn of its own, which nobody is told of (R2).
            self.turns += 1;
            self.open_turn(hub, run, true);
        }
        if let Some(session) = session_id.clone() {
            self.follow_session(hub, &session);
        }
        self.close_questions(hub, run);
        if let Some(first) = run.first.take() {
            // The turn is over without any sign that the provider took the prompt.
            hub.ledger(&self.id, &first.id, None);
            let state = if status == DoneStatus::Completed { MessageState::Delivered } else { MessageState::NotDelivered };
            self.message_state(hub, &first.id, state);
        }
        let took = hub.now.mono.saturating_sub(run.turn_began);
        self.doc.finish_segment(status == DoneStatus::Interrupted, error.as_deref(), Some(took));
        self.journal(hub, event);
        // The interrupt deadline is the run's: a killed run never parks, and its end disarms it.
        let key = self.run_timer("stop-turn-settle");
        hub.timers.disarm(&key);
        let in_place = Chat::stopped_in_place(run, status);
        let (stopping, stopped) = (std::mem::take(&mut run.stopping), std::mem::take(&mut run.stopped));
        if in_place {
            // A message that was sent after the stop is none of the turn that was stopped.
            let touched = |message: &Message| !stopping || stopped.contains(&message.id);
            let (withdrawn, later): (Vec<Message>, Vec<Message>) = std::mem::take(&mut run.ledger).into_iter().partition(touched);
            run.ledger = later.into();
            for message in withdrawn {
                self.not_sent(hub, &message.id, MessageState::Withdrawn);
            }
        }
        let goes_on = !run.ledger.is_empty() || !self.waiting.is_empty();
        if status == DoneStatus::Completed && active && !run.killed && !goes_on {
            self.session.last_completed_turn = self.turns;
        }
        if (status == DoneStatus::Completed || in_place) && run.parks() {
            run.phase = Phase::Parked { since: hub.now.mono };
            run.bypass = false;
            run.aliases.clear();
            // Also for a message that waits for this process to go: a wake of it may end before.
            let waits = !run.ledger.is_empty() || !self.waiting.is_empty();
            let next = if waits { Status::Working } else { Status::Idle };
            self.settle_status(hub, next);
            // At rest the document is stored anew as a whole.
            hub.doc_update(&mut self.doc, self.seq, true);
            self.flush_with(hub, run);
        } else {
            let next = if status == DoneStatus::Errored { Status::Errored } else { Status::Idle };
            self.end_run(hub, run, next);
        }
    }

    /// Publishes the row of a settled turn, also where only its number changed.
    fn settle_status(&mut self, hub: &mut Hub, status: Status) {
        self.session.status = status;
        self.session.started_at = match status {
            Status::Idle | Status::Errored => None,
            Status::Working | Status::AwaitingInput => Some(hub.now.wall),
        };
        self.publish_session(hub);
    }
}
