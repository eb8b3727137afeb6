//! A viewer: it has the row feed and the update bytes, and nothing else.

use std::collections::BTreeMap;

use engine::{
    chat::{
        read::{self, Entry, Part, ToolView},
        view,
    },
    feed::{Change, ChatRow, JournalRow, MessageRow, Row, SessionRow},
};
use loro::LoroDoc;

/// What one viewer has received.
#[derive(Default)]
pub struct Viewer {
    pub sessions: BTreeMap<String, SessionRow>,
    pub chats: BTreeMap<String, ChatRow>,
    pub messages: BTreeMap<String, MessageRow>,
    pub journal: Vec<JournalRow>,
    docs: BTreeMap<String, LoroDoc>,
}

impl Viewer {
    pub fn take(&mut self, change: &Change) {
        match change {
            Change::Doc(update) => {
                let doc = self.docs.entry(update.doc_id.clone()).or_default();
                let status = doc.import(&update.bytes).expect("update bytes of the engine");
                assert!(status.pending.is_none(), "an update of {} came before what it builds on", update.doc_id);
            }
            Change::Row(Row::Session(row)) => {
                self.sessions.insert(row.chat_id.clone(), row.clone());
            }
            Change::Row(Row::Chat(row)) => {
                self.chats.insert(row.chat_id.clone(), row.clone());
            }
            Change::Row(Row::Message(row)) => {
                self.messages.insert(row.message_id.clone(), row.clone());
            }
            Change::Row(Row::Journal(row)) => {
                let last = self.journal.iter().rfind(|known| known.chat_id == row.chat_id).map_or(0, |known| known.seq);
                assert_eq!(row.seq, last + 1, "journal numbers have no gaps and come in order");
                self.journal.push(row.clone());
            }
            Change::Row(Row::Input(_) | Row::Notice(_) | Row::Queue(_) | Row::Command(_)) => {}
        }
    }

    pub fn entries(&self, doc: &str) -> Vec<Entry> {
        self.docs.get(doc).map(read::entries).unwrap_or_default()
    }

    pub fn docs(&self) -> impl Iterator<Item = &String> {
        self.docs.keys()
    }

    /// Document of the newest chip with this id, as the chat's document names it.
    pub fn tab(&self, chat: &str, chip: &str) -> Option<String> {
        let entries = self.entries(chat);
        let rows = view::subagent_rows(&entries);
        rows.into_iter().find(|row| row.chip_id == chip).map(|row| row.doc_id)
    }
}

/// An entry in one line.
pub fn entry(entry: &Entry) -> String {
    let parts: Vec<String> = entry.parts.iter().map(part).collect();
    format!("{} {}: {}", entry.role.as_str(), entry.status.as_str(), parts.join(" | "))
}

fn part(part: &Part) -> String {
    match part {
        Part::Text { text, .. } => text.clone(),
        Part::Reasoning { text, .. } => format!("({text})"),
        Part::Tool(tool) => self::tool(tool),
        Part::Input { resolved, .. } => format!("question{}", if *resolved { " closed" } else { "" }),
        Part::Error { message } => format!("error {message}"),
        Part::Image { name, .. } => format!("image {name}"),
        Part::Fork { source_title, .. } => format!("fork of {source_title}"),
    }
}

fn tool(tool: &ToolView) -> String {
    let mut words = vec![format!("[{}", tool.call.name())];
    if let Some(status) = tool.subagent_status {
        words.push(status.as_str().to_owned());
    }
    if tool.call.is_spawn() && tool.subagent_ref.is_none() {
        words.push("no-tab".to_owned());
    }
    if tool.resolved {
        words.push("resolved".to_owned());
    }
    words.join(" ") + "]"
}
