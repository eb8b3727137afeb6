//! What the core wants done. The shell performs a list in its order; a store effect is the last of its list and its outcome is
//! the next input.

use serde::{Deserialize, Serialize};

use crate::{
    core::input::ProcId,
    feed::{Change, ChatRow, JournalRow, MessageRow, SessionRow},
};

/// One effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start a process; its result comes back as an input.
    Spawn(Spawn),
    /// Write bytes to stdin; never waits, the shell keeps them until the pipe takes them.
    Write {
        /// To whom.
        proc: ProcId,
        /// The bytes: whole records.
        bytes: Vec<u8>,
    },
    /// Close stdin once everything written has gone out.
    CloseStdin {
        /// Whose.
        proc: ProcId,
    },
    /// Send a signal.
    Signal {
        /// To whom.
        proc: ProcId,
        /// Which.
        signal: Signal,
    },
    /// A change for the viewers.
    Publish(Change),
    /// One transaction.
    Store(std::sync::Arc<Txn>),
}

/// A process to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The core's number for it.
    pub proc: ProcId,
    /// The chat it serves.
    pub chat: String,
    /// Program.
    pub program: String,
    /// Arguments without the program.
    pub args: Vec<String>,
    /// Variables set over the inherited environment.
    pub env: Vec<(String, String)>,
    /// Working directory.
    pub cwd: String,
}

/// Signals that the engine sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

/// One transaction with all its row changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Txn {
    /// Journal rows, in order.
    pub journal: Vec<JournalRow>,
    /// Session rows; the last of a chat counts.
    pub sessions: Vec<SessionRow>,
    /// Registry rows; the last of a chat counts.
    pub chats: Vec<ChatRow>,
    /// Message rows; the last of a message counts.
    pub messages: Vec<MessageRow>,
    /// Run ledger: messages handed to a run (chat, message id, text) or taken off (no text).
    pub ledger: Vec<(String, String, Option<String>)>,
    /// Document updates.
    pub docs: Vec<DocWrite>,
    /// Finished subagent documents: key `blob/<chat>/<subdoc>`, snapshot.
    pub blobs: Vec<(String, Vec<u8>)>,
}

impl Txn {
    /// Adds what a later step made.
    pub fn append(&mut self, mut later: Txn) {
        self.journal.append(&mut later.journal);
        self.sessions.append(&mut later.sessions);
        self.chats.append(&mut later.chats);
        self.messages.append(&mut later.messages);
        self.ledger.append(&mut later.ledger);
        self.docs.append(&mut later.docs);
        self.blobs.append(&mut later.blobs);
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.journal.is_empty()
            && self.sessions.is_empty()
            && self.chats.is_empty()
            && self.messages.is_empty()
            && self.ledger.is_empty()
            && self.docs.is_empty()
            && self.blobs.is_empty()
    }
}

/// One document update with what it reflects.
#[derive(Clone, Debug, PartialEq)]
pub struct DocWrite {
    /// Document id.
    pub doc_id: String,
    /// Its chat.
    pub chat_id: String,
    /// Loro update bytes.
    pub bytes: Vec<u8>,
    /// Last journal number that the document holds.
    pub folded_seq: u64,
}
