//! The first input of an engine that goes on with a database: every chat is brought to rest, one transaction each, before anybody
//! is served.

use std::collections::VecDeque;

use super::{Core, effect::Effect, input::Input};
use crate::{
    delegation::prefs::Preferences,
    feed::{JournalRow, NoticeRow, Row},
    session::Chat,
    store::{Damage, Stored, StoredChat},
};

/// The recovery at start.
#[derive(Default)]
pub(super) struct Boot {
    pending: VecDeque<StoredChat>,
    damage: Vec<Damage>,
    /// What could not be read of the preferences.
    unread: Vec<String>,
    /// Journal rows of the chats that are done, for the viewers.
    rows: Vec<JournalRow>,
    /// What happened meanwhile: only while the disk refuses can anything.
    held: Vec<Input>,
}

impl Boot {
    pub(super) fn hold(&mut self, input: Input) {
        self.held.push(input);
    }
}

impl Core {
    pub(super) fn begin_boot(&mut self, stored: Stored) -> Vec<Effect> {
        let hub = &mut self.hub;
        hub.silent = true;
        // Numbers of processes are never used again, in no life of this database.
        hub.next_proc = stored.boots << 32;
        let (prefs, unread) = Preferences::load(stored.prefs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        hub.prefs = prefs;
        self.commands.known = stored.commands.into_iter().map(|row| row.command_id).collect();
        let instance = hub.ids.uuid();
        let device = hub.config.device_id.clone();
        let facts = [("boots", (stored.boots + 1).to_string()), ("device", device), ("instance", instance)];
        hub.txn().meta.extend(facts.map(|(key, value)| (key.to_owned(), value)));
        hub.require_commit();
        self.boot = Some(Boot { pending: stored.chats.into(), damage: stored.damage, unread, ..Boot::default() });
        self.hub.finish()
    }

    /// The next chat that has anything to write; behind the last one everything is shown.
    pub(super) fn go_on_booting(&mut self) -> Vec<Effect> {
        let Some(boot) = &mut self.boot else { return Vec::new() };
        while let Some(stored) = boot.pending.pop_front() {
            let damage: Vec<Damage> = boot.damage.iter().filter(|damage| damage.chat == stored.chat).cloned().collect();
            let (chat, rows) = Chat::recover(&mut self.hub, stored, &damage);
            self.chats.insert(chat.chat_id().to_owned(), chat);
            boot.rows.extend(rows);
            if self.hub.has_uncommitted() {
                self.hub.require_commit();
                return self.hub.finish();
            }
        }
        let Boot { rows, held, unread, .. } = self.boot.take().unwrap_or_default();
        self.hub.silent = false;
        for text in unread {
            let device_id = self.hub.config.device_id.clone();
            self.hub.publish(Row::Notice(NoticeRow { device_id, text }));
        }
        for chat in self.chats.values() {
            chat.publish_rows(&mut self.hub);
        }
        for row in rows {
            self.hub.publish(Row::Journal(row));
        }
        for chat in self.chats.values() {
            chat.publish_docs(&mut self.hub);
        }
        for input in held {
            self.handle(input);
        }
        self.hub.finish()
    }
}
