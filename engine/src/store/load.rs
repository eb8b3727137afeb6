//! What a core starts from: every row that is there and can be read, and a list of what cannot.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use indexmap::IndexMap;
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;

use super::{
    Store,
    journal::{self, Checked, RawRow, Row},
    kind,
};
use crate::{
    core::{
        effect::blob_key,
        input::{ChatSpec, Message, StoreError},
    },
    feed::{ChatRow, CommandRow, JournalRow, MessageRow, QueueNote, SessionRow},
};

/// Everything a core starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    /// How often an engine was started on this database before.
    pub boots: u64,
    /// Preferences: key and value.
    pub prefs: Vec<(String, String)>,
    /// Commands, first processed first.
    pub commands: Vec<CommandRow>,
    /// The chats.
    pub chats: Vec<StoredChat>,
    /// Rows that could not be read, with their places.
    pub damage: Vec<Damage>,
}

/// One chat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredChat {
    /// Chat id.
    pub chat: String,
    /// Registry row.
    pub row: Option<ChatRow>,
    /// Configuration.
    pub config: Option<ChatSpec>,
    /// Session row.
    pub session: Option<SessionRow>,
    /// Message rows, first accepted first.
    pub messages: Vec<MessageRow>,
    /// Messages handed to a run and not confirmed, oldest first.
    pub ledger: Vec<Message>,
    /// The queue, head first.
    pub queue: Vec<Message>,
    /// Nothing of it is sent until an explicit send.
    pub paused: bool,
    /// What is known of some of its messages besides their words.
    pub notes: BTreeMap<String, QueueNote>,
    /// The journal after its check.
    pub journal: Checked,
    /// Documents by id: the chat's own and those of its subagents.
    pub docs: BTreeMap<String, StoredDoc>,
}

/// One document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredDoc {
    /// The whole of it, empty if none was stored.
    pub snapshot: Vec<u8>,
    /// Last journal number that the snapshot holds.
    pub folded_seq: u64,
    /// Updates since, in order, each with the last journal number that the document holds with it.
    pub updates: Vec<(u64, Vec<u8>)>,
}

/// Something that could not be read. It costs only itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Chat id.
    pub chat: String,
    /// Where.
    pub place: Place,
    /// What is wrong with it.
    pub why: String,
}

/// Where something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A journal row with others behind it.
    JournalRow(u64),
    /// A row of the journal's tail.
    JournalTail(i64),
    /// The registry row.
    Registry,
    /// The configuration.
    Config,
    /// The session row.
    Session,
    /// The row of a message.
    Message(String),
    /// A document.
    Document(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of chat {}: {}", self.place, self.chat, self.why)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::JournalRow(seq) => write!(f, "journal row {seq}"),
            Place::JournalTail(seq) => write!(f, "journal row {seq}, at the end,"),
            Place::Registry => f.write_str("the registry row"),
            Place::Config => f.write_str("the configuration"),
            Place::Session => f.write_str("the session row"),
            Place::Message(id) => write!(f, "the row of message {id}"),
            Place::Document(id) => write!(f, "document {id}"),
        }
    }
}

impl Store {
    /// Reads everything. No row can make it fail.
    ///
    /// # Errors
    /// When the disk fails, or the file is no database any more.
    pub fn load(&mut self) -> Result<Stored, StoreError> {
        let mut loading = Loading { store: self, chats: IndexMap::new(), stored: Stored::default() };
        loading.all().map_err(|error| kind(&error))?;
        let Loading { chats, mut stored, .. } = loading;
        stored.chats = chats.into_values().collect();
        Ok(stored)
    }

    /// Journal rows of a chat for a viewer that has all up to `after` of `era`: those since, or all when the era changed.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn replay(&mut self, chat: &str, era: u64, after: u64) -> Result<Vec<JournalRow>, StoreError> {
        let mut rows = Vec::new();
        let text = "SELECT seq, era, length, crc32, event FROM journal WHERE chat = ? ORDER BY seq";
        self.each(text, [chat], |row| rows.push(raw(row, 0))).map_err(|error| kind(&error))?;
        let checked = journal::check(rows.into_iter().flatten());
        let from = if checked.era == era { after } else { 0 };
        let whole = checked.rows.into_iter().zip(1..).filter_map(|(row, seq)| match row {
            Row::Whole { era, event } => Some(JournalRow { chat_id: chat.to_owned(), era, seq, event }),
            Row::Lost(_) => None,
        });
        Ok(whole.filter(|row| row.seq > from).collect())
    }

    fn each(&self, text: &str, values: impl rusqlite::Params, mut take: impl FnMut(&rusqlite::Row<'_>)) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(text)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            take(row);
        }
        Ok(())
    }
}

struct Loading<'a> {
    store: &'a Store,
    chats: IndexMap<String, StoredChat>,
    stored: Stored,
}

impl Loading<'_> {
    fn all(&mut self) -> rusqlite::Result<()> {
        let store = self.store;
        store.each("SELECT value FROM meta WHERE key = 'boots'", [], |row| {
            self.stored.boots = text(row, 0).and_then(|boots| boots.parse().ok()).unwrap_or_default();
        })?;
        store.each("SELECT key, value FROM prefs ORDER BY key", [], |row| {
            // A value that is no text is one that cannot be read.
            self.stored.prefs.extend(text(row, 0).map(|key| (key, text(row, 1).unwrap_or_default())));
        })?;
        store.each("SELECT chat, row, config FROM chats ORDER BY chat", [], |row| {
            let Some(chat) = text(row, 0) else { return };
            let (registry, config) = (self.parse(&chat, Place::Registry, row, 1), self.parse(&chat, Place::Config, row, 2));
            let stored = self.chat(&chat);
            (stored.row, stored.config) = (registry, config);
        })?;
        store.each("SELECT chat, row FROM sessions ORDER BY chat", [], |row| {
            let Some(chat) = text(row, 0) else { return };
            let session = self.parse(&chat, Place::Session, row, 1);
            self.chat(&chat).session = session;
        })?;
        store.each("SELECT chat, message, row FROM messages ORDER BY n", [], |row| {
            let (Some(chat), Some(message)) = (text(row, 0), text(row, 1)) else { return };
            if let Some(row) = self.parse(&chat, Place::Message(message), row, 2) {
                self.chat(&chat).messages.push(row);
            }
        })?;
        store.each("SELECT chat, message, text FROM ledger ORDER BY n", [], |row| self.message(row, |chat| &mut chat.ledger))?;
        let queue = "SELECT chat, message, text FROM queue ORDER BY chat, position";
        store.each(queue, [], |row| self.message(row, |chat| &mut chat.queue))?;
        store.each("SELECT row FROM commands ORDER BY n", [], |row| {
            let read = text(row, 0).and_then(|row| serde_json::from_str(&row).ok());
            self.stored.commands.extend::<Option<CommandRow>>(read);
        })?;
        store.each("SELECT chat, paused, notes FROM queues", [], |row| {
            let Some(chat) = text(row, 0) else { return };
            // A note that cannot be read holds nothing back.
            let notes = text(row, 2).and_then(|notes| serde_json::from_str(&notes).ok());
            self.chat(&chat).notes = notes.unwrap_or_default();
            self.chat(&chat).paused = integer(row, 1) != Some(0);
        })?;
        self.journals()?;
        self.documents()
    }

    fn chat(&mut self, id: &str) -> &mut StoredChat {
        if !self.chats.contains_key(id) {
            self.chats.insert(id.to_owned(), StoredChat { chat: id.to_owned(), ..StoredChat::default() });
        }
        &mut self.chats[id]
    }

    fn damage(&mut self, chat: &str, place: Place, why: String) {
        self.stored.damage.push(Damage { chat: chat.to_owned(), place, why });
    }

    /// A row kept as JSON. A value that is not there is no damage.
    fn parse<T: DeserializeOwned>(&mut self, chat: &str, place: Place, row: &rusqlite::Row<'_>, column: usize) -> Option<T> {
        if matches!(row.get_ref(column), Ok(ValueRef::Null)) {
            return None;
        }
        match serde_json::from_str(&text(row, column).unwrap_or_default()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.damage(chat, place, error.to_string());
                None
            }
        }
    }

    fn message(&mut self, row: &rusqlite::Row<'_>, list: impl FnOnce(&mut StoredChat) -> &mut Vec<Message>) {
        if let (Some(chat), Some(id), Some(text)) = (text(row, 0), text(row, 1), text(row, 2)) {
            list(self.chat(&chat)).push(Message { chat, id, text });
        }
    }

    fn journals(&mut self) -> rusqlite::Result<()> {
        let mut rows: IndexMap<String, Vec<RawRow>> = IndexMap::new();
        self.store.each("SELECT chat, seq, era, length, crc32, event FROM journal ORDER BY chat, seq", [], |row| {
            if let (Some(chat), Some(raw)) = (text(row, 0), raw(row, 1)) {
                rows.entry(chat).or_default().push(raw);
            }
        })?;
        for (chat, rows) in rows {
            let checked = journal::check(rows);
            for (row, seq) in checked.rows.iter().zip(1_u64..) {
                if let Row::Lost(why) = row {
                    self.damage(&chat, Place::JournalRow(seq), why.clone());
                }
            }
            for (seq, why) in &checked.cut {
                self.damage(&chat, Place::JournalTail(*seq), why.clone());
            }
            self.chat(&chat).journal = checked;
        }
        Ok(())
    }

    fn documents(&mut self) -> rusqlite::Result<()> {
        let mut chats: BTreeMap<String, String> = BTreeMap::new();
        let mut finished: BTreeSet<String> = BTreeSet::new();
        let store = self.store;
        store.each("SELECT chat, doc, folded_seq, snapshot FROM docs ORDER BY chat, doc", [], |row| {
            let (Some(chat), Some(doc)) = (text(row, 0), text(row, 1)) else { return };
            let folded_seq = integer(row, 2).and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default();
            let snapshot = bytes(row, 3).unwrap_or_default();
            if snapshot.is_empty() {
                finished.insert(doc.clone());
            }
            self.chat(&chat).docs.insert(doc.clone(), StoredDoc { snapshot, folded_seq, updates: Vec::new() });
            chats.insert(doc, chat);
        })?;
        for doc in finished {
            let chat = &chats[&doc];
            store.each("SELECT bytes FROM blobs WHERE key = ?", [blob_key(chat, &doc)], |row| {
                if let Some(stored) = self.chats.get_mut(chat).and_then(|chat| chat.docs.get_mut(&doc)) {
                    stored.snapshot = bytes(row, 0).unwrap_or_default();
                }
            })?;
        }
        store.each("SELECT doc, folded_seq, bytes FROM doc_updates ORDER BY doc, n", [], |row| {
            let Some(doc) = text(row, 0) else { return };
            let Some(chat) = chats.get(&doc) else { return };
            let folded_seq = integer(row, 1).and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default();
            if let Some(stored) = self.chats.get_mut(chat).and_then(|chat| chat.docs.get_mut(&doc)) {
                stored.updates.push((folded_seq, bytes(row, 2).unwrap_or_default()));
            }
        })
    }
}

/// A journal row whose number stands in column `first`. Only the number is needed to know its place.
fn raw(row: &rusqlite::Row<'_>, first: usize) -> Option<RawRow> {
    let number = |column| integer(row, first + column);
    Some(RawRow { seq: number(0)?, era: number(1), length: number(2), crc32: number(3), event: bytes(row, first + 4) })
}

fn integer(row: &rusqlite::Row<'_>, column: usize) -> Option<i64> {
    row.get_ref(column).ok()?.as_i64().ok()
}

fn text(row: &rusqlite::Row<'_>, column: usize) -> Option<String> {
    Some(String::from_utf8_lossy(row.get_ref(column).ok()?.as_bytes().ok()?).into_owned())
}

fn bytes(row: &rusqlite::Row<'_>, column: usize) -> Option<Vec<u8>> {
    Some(row.get_ref(column).ok()?.as_bytes().ok()?.to_vec())
}
