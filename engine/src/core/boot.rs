//! The first input of an engine that goes on with a database: every chat is brought to rest, one transaction each, before anybody
//! is served.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    Core,
    effect::Effect,
    input::{Harness, Input, ProcId},
};
use crate::{
    delegation::prefs::Preferences,
    drivers::claude::transcript,
    feed::{JournalRow, NoticeRow, Row},
    session::Chat,
    store::{Damage, Stored, StoredChat},
};

/// The recovery at start.
#[derive(Default)]
pub(super) struct Boot {
    pending: VecDeque<StoredChat>,
    damage: Vec<Damage>,
    /// The transcripts were asked for.
    asked: bool,
    /// What could not be read of the preferences.
    unread: Vec<String>,
    /// Journal rows of the chats that are done, for the viewers.
    rows: Vec<JournalRow>,
    /// Transcripts that are awaited, with their chats.
    reads: BTreeMap<ProcId, String>,
    /// Messages that a provider is known to have, by chat.
    arrived: BTreeMap<String, BTreeSet<String>>,
    /// What happened meanwhile.
    held: Vec<Input>,
}

impl Boot {
    /// An input that comes before the recovery is done: a transcript, or what has to wait. Gives whether all was read with it.
    pub(super) fn take(&mut self, input: Input) -> bool {
        match input {
            Input::File { proc, content } if self.reads.contains_key(&proc) => {
                if let Some(chat) = self.reads.remove(&proc) {
                    self.arrived.insert(chat, transcript::arrived(&content.unwrap_or_default()));
                }
                self.reads.is_empty()
            }
            input => {
                self.held.push(input);
                false
            }
        }
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

    /// Asks for the transcripts of sessions to which messages were handed that nobody has confirmed: the provider may have them.
    fn read_transcripts(&mut self) -> Vec<Effect> {
        let Some(boot) = &mut self.boot else { return Vec::new() };
        let mut effects = Vec::new();
        for stored in boot.pending.iter().filter(|stored| !stored.ledger.is_empty()) {
            let (Some(row), Some(config)) = (&stored.row, &stored.config) else { continue };
            let path = row.harness_session_id.as_deref().and_then(|session| transcript::path(&config.cwd, session));
            if let Some(path) = path.filter(|_| config.harness == Harness::ClaudeCode) {
                self.hub.next_proc += 1;
                let proc = ProcId(self.hub.next_proc);
                boot.reads.insert(proc, stored.chat.clone());
                effects.push(Effect::ReadFile { proc, path });
            }
        }
        effects
    }

    /// The next chat that has anything to write; behind the last one everything is shown.
    pub(super) fn go_on_booting(&mut self) -> Vec<Effect> {
        let Some(boot) = &mut self.boot else { return Vec::new() };
        if !std::mem::replace(&mut boot.asked, true) {
            let reads = self.read_transcripts();
            if !reads.is_empty() {
                return reads;
            }
        }
        let Some(boot) = &mut self.boot else { return Vec::new() };
        while let Some(stored) = boot.pending.pop_front() {
            let damage: Vec<Damage> = boot.damage.iter().filter(|damage| damage.chat == stored.chat).cloned().collect();
            let arrived = boot.arrived.remove(&stored.chat).unwrap_or_default();
            let (chat, rows) = Chat::recover(&mut self.hub, stored, &damage, &arrived);
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
