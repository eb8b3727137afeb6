//! What the core wants done. The shell performs a list in its order; a store effect is the last of its list and its outcome is
//! the next input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    core::input::{ChatSpec, Message, ProcId},
    feed::{Change, ChatRow, CommandRow, JournalRow, MessageRow, QueueNote, QueueRow, SessionRow},
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
    /// Read a file that the provider keeps; its content comes back as an input.
    ReadFile {
        /// For whom.
        proc: ProcId,
        /// Where, below the provider's own directory (`$CLAUDE_CONFIG_DIR`, or `.claude` in the home directory).
        path: String,
    },
    /// A change for the viewers.
    Publish(Change),
    /// The answer to a call.
    Answer(crate::delegation::Answer),
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

/// One transaction with all its row changes, written in the order of its fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Txn {
    /// Facts about the database itself.
    pub meta: Vec<(String, String)>,
    /// Journal rows that are taken out (chat, number): a tail that failed its check.
    pub cuts: Vec<(String, i64)>,
    /// Journal rows that stand for a lost one, at its place.
    pub repairs: Vec<JournalRow>,
    /// Journal rows, in order.
    pub journal: Vec<JournalRow>,
    /// Session rows; the last of a chat counts.
    pub sessions: Vec<SessionRow>,
    /// Registry rows; the last of a chat counts.
    pub chats: Vec<ChatRow>,
    /// Configurations of chats; the last of a chat counts.
    pub configs: Vec<ChatSpec>,
    /// Message rows; the last of a message counts.
    pub messages: Vec<MessageRow>,
    /// Run ledger: messages handed to a run (chat, message id, text) or taken off (no text).
    pub ledger: Vec<(String, String, Option<String>)>,
    /// Queues; the last of a chat counts.
    pub queues: Vec<QueueWrite>,
    /// Document changes.
    pub docs: Vec<DocWrite>,
    /// Commands; the last of an id counts.
    pub commands: Vec<CommandRow>,
    /// Preferences: key and value; the last of a key counts.
    pub prefs: Vec<(String, String)>,
}

impl Txn {
    /// Adds what a later step made.
    pub fn append(&mut self, mut later: Txn) {
        self.meta.append(&mut later.meta);
        self.cuts.append(&mut later.cuts);
        self.repairs.append(&mut later.repairs);
        self.journal.append(&mut later.journal);
        self.sessions.append(&mut later.sessions);
        self.chats.append(&mut later.chats);
        self.configs.append(&mut later.configs);
        self.messages.append(&mut later.messages);
        self.ledger.append(&mut later.ledger);
        self.queues.append(&mut later.queues);
        self.docs.append(&mut later.docs);
        self.commands.append(&mut later.commands);
        self.prefs.append(&mut later.prefs);
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.meta.is_empty()
            && self.cuts.is_empty()
            && self.repairs.is_empty()
            && self.journal.is_empty()
            && self.sessions.is_empty()
            && self.chats.is_empty()
            && self.configs.is_empty()
            && self.messages.is_empty()
            && self.ledger.is_empty()
            && self.queues.is_empty()
            && self.docs.is_empty()
            && self.commands.is_empty()
            && self.prefs.is_empty()
    }

    /// Finished subagent documents in it.
    pub fn blobs(&self) -> usize {
        self.docs.iter().filter(|doc| doc.kind == DocKind::Blob).count()
    }
}

/// The queue of a chat as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueWrite {
    /// Chat id.
    pub chat_id: String,
    /// Nothing of it is sent until an explicit send.
    pub paused: bool,
    /// Its messages, head first.
    pub messages: Vec<Message>,
    /// What is known of some of them besides their words.
    pub notes: BTreeMap<String, QueueNote>,
}

impl QueueWrite {
    /// As a viewer sees it: the words of the messages stand in their own rows.
    pub fn shown(&self) -> QueueRow {
        QueueRow {
            chat_id: self.chat_id.clone(),
            paused: self.paused,
            messages: self.messages.iter().map(|message| message.id.clone()).collect(),
            notes: self.notes.clone(),
        }
    }
}

/// How document bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocKind {
    /// An update behind those that are there.
    Update,
    /// The whole document: it takes the place of all that is there.
    Snapshot,
    /// The whole document of a finished subagent, kept as a blob.
    Blob,
}

/// One document change with what it reflects.
#[derive(Clone, Debug, PartialEq)]
pub struct DocWrite {
    /// Document id.
    pub doc_id: String,
    /// Its chat.
    pub chat_id: String,
    /// How it is kept.
    pub kind: DocKind,
    /// Loro bytes.
    pub bytes: Vec<u8>,
    /// Last journal number that the document holds.
    pub folded_seq: u64,
}

/// Key of the blob of a finished subagent document.
pub fn blob_key(chat: &str, doc: &str) -> String {
    format!("blob/{chat}/{doc}")
}
