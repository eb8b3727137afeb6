//! A viewer finds its host again after the host's end: it forgets what it was shown, and is served everything anew.
//!
//! What the world keeps of the chat stays (turns with their ends, when a message or a journal row first came), so that what
//! comes again is not taken for something new.

use std::collections::BTreeMap;

use crate::invariants::host::FLUSH_BOUND_MS;

use super::{
    model::{Cause, Chat, Clock, JournalEntry, Message, MessageState, Settle, Turn},
    viewer::Viewer,
};

/// What a chat showed before its host ended.
#[derive(Default)]
pub(super) struct Before {
    journal: BTreeMap<u64, JournalEntry>,
    messages: Vec<Message>,
}

impl Before {
    /// When a journal row first came, if it is one that was shown already.
    pub(super) fn row_came_at(&self, row: &JournalEntry) -> Option<u64> {
        self.journal.get(&row.seq).filter(|known| known.event == row.event).map(|known| known.at)
    }

    /// When a message was accepted, if it was shown already.
    pub(super) fn accepted_at(&self, id: &str) -> Option<u64> {
        self.messages.iter().find(|message| message.id == id).map(|message| message.accepted_at)
    }
}

impl Viewer {
    /// Forgets what was shown by a host that ended at `ended` (ms); what comes until the end of this batch comes again.
    pub fn reconnect(&mut self, clock: Clock, ended: u64) {
        self.forget();
        let mut before = BTreeMap::new();
        for chat in &mut self.view_mut().chats {
            // Work that nobody had asked for, begun and not yet written down: the next host never knew of it.
            let unwritten =
                |turn: &Turn| turn.cause == Cause::Wake && turn.settles.is_empty() && turn.accepted_at + FLUSH_BOUND_MS >= ended;
            chat.turns.retain(|turn| !unwritten(turn));
        }
        for (index, chat) in self.view_mut().chats.iter_mut().enumerate() {
            let journal = std::mem::take(&mut chat.journal);
            let known = Before {
                journal: journal.into_iter().map(|entry| (entry.seq, entry)).collect(),
                messages: std::mem::take(&mut chat.messages),
            };
            before.insert(index, known);
            for approval in chat.approvals.iter_mut().filter(|approval| approval.closed_at.is_none()) {
                // The card went with the window that showed it.
                approval.closed_at = Some(clock.mono);
                approval.closings += 1;
            }
            let kept = std::mem::take(chat);
            *chat = Chat { id: kept.id, turns: kept.turns, approvals: kept.approvals, ..Chat::default() };
        }
        self.replaying = Some(before);
    }

    /// The end of the batch in which everything came again.
    pub(super) fn replayed(&mut self) {
        let Some(before) = self.replaying.take() else { return };
        for index in before.into_keys() {
            let chat = &mut self.view_mut().chats[index];
            for message in &chat.messages {
                if !matches!(message.state, MessageState::Queued | MessageState::Withdrawn) {
                    continue;
                }
                let cause = Cause::Message(message.id.clone());
                let taken = super::viewer::taken(&chat.journal, &message.id);
                // A message that waits again opened no turn after all; where its turn was ended by the restart, the end stays.
                chat.turns.retain(|turn| taken || turn.cause != cause || !turn.settles.is_empty());
                for turn in chat.turns.iter_mut().filter(|turn| !taken && turn.cause == cause) {
                    turn.cause = Cause::Recovery;
                }
            }
        }
    }
}

/// An end that came with the replay where no turn is open: of a turn whose beginning the host did not live to show.
pub(super) fn unseen_turn(chat: &Chat, clock: Clock, settle: Settle) -> Turn {
    let unseen = chat.messages.iter().find(|message| {
        message.state == MessageState::Delivered
            && message.accepted_at == clock.mono
            && !chat.turns.iter().any(|turn| turn.cause == Cause::Message(message.id.clone()))
    });
    let cause = unseen.map_or(Cause::Wake, |message| Cause::Message(message.id.clone()));
    Turn { number: chat.turns.len() as u64 + 1, cause, accepted_at: clock.mono, settles: vec![settle] }
}
