//! What must hold in every run, judged after every effect and every step, whatever the script tests.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    chat::view,
    core::{
        effect::{Effect, Txn},
        input::StoreError,
    },
    event::AgentEvent,
    feed::{Change, Row, Status},
    store::Stored,
};

use loro::LoroDoc;

use super::viewer::Viewer;

/// Pill and rows may differ this long while a document change waits for its flush, ms.
const FLUSH_MS: u64 = 120;

#[derive(Default)]
pub struct Watch {
    durable_events: BTreeSet<(String, u64)>,
    durable_docs: BTreeMap<String, LoroDoc>,
    owes: bool,
    /// Since when pill and rows of a chat differ, ms.
    differ_since: BTreeMap<String, u64>,
}

impl Watch {
    /// A list holds at most one store effect, and it is the last of the list.
    pub fn list(&self, effects: &[Effect]) {
        let stores: Vec<usize> =
            effects.iter().enumerate().filter(|(_, e)| matches!(e, Effect::Store(_))).map(|(n, _)| n).collect();
        assert!(stores.is_empty() || stores == [effects.len() - 1], "a store effect is not the last of its list");
    }

    pub fn stored(&mut self, txn: &Txn, outcome: Result<(), StoreError>) {
        self.owes = outcome.is_err();
        if outcome.is_ok() {
            self.durable_events.extend(txn.journal.iter().map(|row| (row.chat_id.clone(), row.seq)));
            for doc in &txn.docs {
                assert!(doc.folded_seq == 0 || self.durable_events.contains(&(doc.chat_id.clone(), doc.folded_seq)));
                let durable = self.durable_docs.entry(doc.doc_id.clone()).or_default();
                durable.import(&doc.bytes).expect("stored bytes of the engine");
            }
        }
    }

    /// Takes what a changed database holds as durable.
    pub fn trust(&mut self, stored: &Stored) {
        for chat in &stored.chats {
            self.durable_events.extend((1..=chat.journal.rows.len() as u64).map(|seq| (chat.chat.clone(), seq)));
            for (doc, bytes) in &chat.docs {
                let durable = self.durable_docs.entry(doc.clone()).or_default();
                for bytes in [&bytes.snapshot].into_iter().chain(bytes.updates.iter().map(|(_, bytes)| bytes)) {
                    let _ = durable.import(bytes);
                }
            }
        }
    }

    /// A viewer begins anew.
    pub fn reconnected(&mut self) {
        self.owes = false;
        self.differ_since.clear();
    }

    /// Whether a store effect failed and was not made good yet.
    pub fn owes(&self) -> bool {
        self.owes
    }

    /// Nothing that needs a commit is seen before it, and a message never stands on an Idle row (R1).
    pub fn published(&self, change: &Change, seen: &Viewer) {
        match change {
            Change::Doc(update) => {
                // Bytes that are durable already bring nothing new to what is stored, in whatever form it is stored.
                let durable = self.durable_docs.get(&update.doc_id).is_some_and(|doc| {
                    let before = doc.oplog_vv();
                    doc.import(&update.bytes).is_ok() && doc.oplog_vv() == before
                });
                assert!(durable, "document bytes of {} were published before their commit", update.doc_id);
            }
            Change::Row(Row::Journal(row)) => {
                let needs = matches!(
                    row.event,
                    AgentEvent::Done { .. }
                        | AgentEvent::Steered { .. }
                        | AgentEvent::InputRequested { .. }
                        | AgentEvent::NativeForkReady { .. }
                );
                let durable = self.durable_events.contains(&(row.chat_id.clone(), row.seq));
                assert!(durable || !needs, "{:?} was published before its commit", row.event);
            }
            Change::Row(Row::Chat(row)) => {
                // A viewer that knows nothing of the chat is served it as it is.
                let known = seen.chats.get(&row.chat_id);
                if known.is_some_and(|known| known.last_message_at != row.last_message_at) {
                    let status = seen.sessions.get(&row.chat_id).map(|row| row.status);
                    let busy = matches!(status, Some(Status::Working | Status::AwaitingInput));
                    assert!(busy, "last_message_at was bumped on a row that says {status:?}");
                }
            }
            Change::Row(_) => {}
        }
    }

    /// V1 in delivered state; V2 outside of it: within one flush interval, and only in one direction.
    pub fn pill_and_rows(&mut self, now: u64, delivered: bool, seen: &Viewer) {
        for (chat, row) in &seen.sessions {
            let pill = row.running_subagents as usize;
            let rows = view::running_rows(&seen.entries(chat));
            if pill == rows {
                self.differ_since.remove(chat);
                continue;
            }
            assert!(!delivered, "{chat}: pill {pill} and {rows} running rows in delivered state at {now}");
            let since = *self.differ_since.entry(chat.clone()).or_insert(now);
            assert!(self.owes || now <= since + FLUSH_MS, "{chat}: pill {pill} and {rows} rows since {since}, at {now}");
        }
    }
}
