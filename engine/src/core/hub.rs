//! What all sub-machines of one engine share inside a step: clocks, ids, timers, effects and the pending transaction.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    chat::ChatDoc,
    core::{
        config::EngineConfig,
        effect::{DocKind, DocWrite, Effect, QueueWrite, Txn},
        ids::IdSource,
        input::{ChatSpec, Now, ProcId, StoreError},
        timers::{Class, TimerKey, TimerTable},
    },
    delegation::prefs::Preferences,
    feed::{Change, ChatRow, CommandRow, DocUpdate, JournalRow, MessageRow, Row, SessionRow, Status},
};

/// A store effect that failed is tried again after this long, ms.
pub const STORAGE_RETRY_MS: u64 = 1_000;

/// After this many stored updates a document is stored anew as a whole.
pub const DOC_UPDATES: u32 = 256;

/// Shared state of one engine.
pub struct Hub {
    /// Configuration.
    pub config: EngineConfig,
    /// Seeded ids.
    pub ids: IdSource,
    /// The one timer table.
    pub timers: TimerTable,
    /// Clocks of the input being handled.
    pub now: Now,
    /// Processes that hold a lease, with their chats: an update of a CLI waits until this is empty.
    pub leases: BTreeMap<ProcId, String>,
    /// The chat of each process whose run still listens. A lease ends with the reap, but a pipe that a grandchild holds may
    /// still bring bytes after it, so the two are kept apart.
    pub routes: BTreeMap<ProcId, String>,
    /// What the user prefers.
    pub prefs: Preferences,
    /// Build of each harness's CLI, as far as one was told.
    pub builds: BTreeMap<String, String>,
    /// Per chat: whether its row rests, and how often it came to rest.
    settles: BTreeMap<String, (bool, u64)>,
    /// Numbers of processes begin behind this one.
    pub next_proc: u64,
    /// Nothing is shown to a viewer yet: the recovery at start is under way.
    pub silent: bool,
    /// Updates that are stored behind the snapshot of each document.
    pub doc_updates: BTreeMap<String, u32>,
    out: Vec<Effect>,
    after: Vec<Effect>,
    txn: Txn,
    commit: bool,
    /// The transaction whose outcome is awaited, and what must not happen before it.
    in_flight: Option<(Arc<Txn>, Vec<Effect>)>,
    owed: bool,
}

impl Hub {
    /// An engine's shared state; all ids follow from `seed`.
    pub fn new(config: EngineConfig, seed: u64) -> Self {
        Hub {
            config,
            ids: IdSource::new(seed),
            timers: TimerTable::default(),
            now: Now::default(),
            leases: BTreeMap::new(),
            routes: BTreeMap::new(),
            prefs: Preferences::default(),
            builds: BTreeMap::new(),
            settles: BTreeMap::new(),
            next_proc: 0,
            silent: false,
            doc_updates: BTreeMap::new(),
            out: Vec::new(),
            after: Vec::new(),
            txn: Txn::default(),
            commit: false,
            in_flight: None,
            owed: false,
        }
    }

    /// A number for a new process; it holds a lease until it is reaped (D9).
    pub fn new_proc(&mut self, chat: &str) -> ProcId {
        self.next_proc += 1;
        let proc = ProcId(self.next_proc);
        self.leases.insert(proc, chat.to_owned());
        self.routes.insert(proc, chat.to_owned());
        proc
    }

    /// Emits an effect, behind the commit where this step needs one.
    pub fn effect(&mut self, effect: Effect) {
        if self.commit { self.after.push(effect) } else { self.out.push(effect) }
    }

    /// What is emitted from now on in this step waits for the commit of everything pending.
    pub fn require_commit(&mut self) {
        self.commit = true;
    }

    /// Shows a row to the viewers.
    pub fn publish(&mut self, row: Row) {
        if !self.silent {
            self.effect(Effect::Publish(Change::Row(row)));
        }
    }

    /// Shows bytes of a document to the viewers.
    pub fn publish_doc(&mut self, doc_id: &str, chat_id: &str, bytes: Vec<u8>) {
        if !self.silent {
            let update = DocUpdate { doc_id: doc_id.to_owned(), chat_id: chat_id.to_owned(), bytes };
            self.effect(Effect::Publish(Change::Doc(update)));
        }
    }

    /// What the next commit writes.
    pub fn txn(&mut self) -> &mut Txn {
        &mut self.txn
    }

    /// Publishes and stores a session row.
    pub fn session(&mut self, row: &SessionRow) {
        let (rests, times) = self.settles.entry(row.chat_id.clone()).or_insert((true, 0));
        let was_at_rest = std::mem::replace(rests, matches!(row.status, Status::Idle | Status::Errored));
        *times += u64::from(*rests && !was_at_rest);
        self.txn.sessions.push(row.clone());
        self.publish(Row::Session(row.clone()));
    }

    /// How often a chat's row came to rest.
    pub fn settles(&self, chat: &str) -> u64 {
        self.settles.get(chat).map_or(0, |(_, times)| *times)
    }

    /// Publishes and stores a registry row.
    pub fn chat(&mut self, row: &ChatRow) {
        self.txn.chats.push(row.clone());
        self.publish(Row::Chat(row.clone()));
    }

    /// Stores a chat's configuration.
    pub fn config(&mut self, spec: &ChatSpec) {
        self.txn.configs.push(spec.clone());
    }

    /// Publishes and stores a chat's queue.
    pub fn queue(&mut self, queue: QueueWrite) {
        self.publish(Row::Queue(queue.shown()));
        self.txn.queues.push(queue);
    }

    /// Publishes and stores a command.
    pub fn command(&mut self, row: CommandRow) {
        self.publish(Row::Command(row.clone()));
        self.txn.commands.push(row);
    }

    /// Publishes and stores a message row.
    pub fn message(&mut self, row: &MessageRow) {
        self.txn.messages.push(row.clone());
        self.publish(Row::Message(row.clone()));
    }

    /// Publishes the row of a question.
    pub fn input(&mut self, row: crate::feed::InputRow) {
        self.publish(Row::Input(row));
    }

    /// Publishes and stores a journal row.
    pub fn journal(&mut self, row: JournalRow) {
        self.txn.journal.push(row.clone());
        self.publish(Row::Journal(row));
    }

    /// Stores a change of the run ledger: with a text the message was handed to a run, without one it was taken off.
    pub fn ledger(&mut self, chat: &str, message: &str, text: Option<&str>) {
        self.txn.ledger.push((chat.to_owned(), message.to_owned(), text.map(str::to_owned)));
    }

    /// Stores the preference of this key.
    pub fn keep_preference(&mut self, key: &str) {
        self.require_commit();
        self.txn.prefs.push(self.prefs.row(key));
    }

    /// Stores and publishes what changed in a document. With `whole`, or when many updates stand behind its snapshot, the
    /// document is stored anew as a whole; a viewer is shown the change alone.
    pub fn doc_update(&mut self, doc: &mut ChatDoc, folded_seq: u64, whole: bool) {
        let update = doc.take_update();
        let stored = self.doc_updates.entry(doc.doc_id().to_owned()).or_default();
        *stored += u32::from(update.is_some());
        if (whole && *stored > 0) || *stored > DOC_UPDATES {
            *stored = 0;
            self.store_doc(doc, DocKind::Snapshot, doc.snapshot(), folded_seq);
        } else if let Some(bytes) = &update {
            self.store_doc(doc, DocKind::Update, bytes.clone(), folded_seq);
        }
        if let Some(bytes) = update {
            self.publish_doc(doc.doc_id(), doc.chat_id(), bytes);
        }
    }

    /// Stores the document of a finished subagent as a whole and publishes what changed in it. Gives the whole.
    pub fn doc_finished(&mut self, doc: &mut ChatDoc, folded_seq: u64) -> Vec<u8> {
        let update = doc.take_update();
        let whole = doc.snapshot();
        self.doc_updates.insert(doc.doc_id().to_owned(), 0);
        self.store_doc(doc, DocKind::Blob, whole.clone(), folded_seq);
        if let Some(bytes) = update {
            self.publish_doc(doc.doc_id(), doc.chat_id(), bytes);
        }
        whole
    }

    fn store_doc(&mut self, doc: &ChatDoc, kind: DocKind, bytes: Vec<u8>, folded_seq: u64) {
        let (doc_id, chat_id) = (doc.doc_id().to_owned(), doc.chat_id().to_owned());
        self.txn.docs.push(DocWrite { doc_id, chat_id, kind, bytes, folded_seq });
    }

    /// Ends a step: the effects in their order, a store effect last.
    pub fn finish(&mut self) -> Vec<Effect> {
        if self.owed {
            return self.behind_the_owed();
        }
        let mut effects = std::mem::take(&mut self.out);
        let after = std::mem::take(&mut self.after);
        if self.commit && !self.txn.is_empty() {
            let txn = Arc::new(std::mem::take(&mut self.txn));
            effects.push(Effect::Store(Arc::clone(&txn)));
            self.in_flight = Some((txn, after));
        } else {
            effects.extend(after);
        }
        self.commit = false;
        effects
    }

    /// Nothing may overtake what is owed: it all waits for the retry. The one exception is a signal to a process that runs:
    /// a kill ends in bounded time whatever the disk does (D8), and it shows nobody anything that is not durable.
    fn behind_the_owed(&mut self) -> Vec<Effect> {
        let Some((_, owed)) = &mut self.in_flight else { return Vec::new() };
        let mut at_once = Vec::new();
        for effect in self.out.drain(..).chain(self.after.drain(..)) {
            match &effect {
                Effect::Signal { proc, .. } if !owed.iter().any(|e| matches!(e, Effect::Spawn(s) if s.proc == *proc)) => {
                    at_once.push(effect);
                }
                _ => owed.push(effect),
            }
        }
        self.commit = false;
        at_once
    }

    /// The outcome of the store effect: what waited for it, or a retry later.
    pub fn stored(&mut self, outcome: Result<(), StoreError>) -> Vec<Effect> {
        match outcome {
            Ok(()) => {
                self.owed = false;
                self.in_flight.take().map(|(_, after)| after).unwrap_or_default()
            }
            Err(_) => {
                // Without a transaction in flight nothing is owed: an outcome that nobody asked for changes nothing.
                self.owed = self.in_flight.is_some();
                if self.owed {
                    let key = TimerKey::new(Class::L, &self.config.device_id, "storage-retry");
                    self.timers.arm(key, self.now.mono + STORAGE_RETRY_MS);
                }
                Vec::new()
            }
        }
    }

    /// Whether rows of this step wait for a later commit.
    pub fn has_uncommitted(&self) -> bool {
        !self.txn.is_empty()
    }

    /// The retry of an owed transaction.
    pub fn retry_store(&mut self) -> Vec<Effect> {
        let pending = std::mem::take(&mut self.txn);
        match (&mut self.in_flight, self.owed) {
            (Some((txn, _)), true) => {
                // What later steps made waits behind the owed effects, so it must be in the same commit.
                Arc::make_mut(txn).append(pending);
                vec![Effect::Store(Arc::clone(txn))]
            }
            _ => {
                self.txn = pending;
                Vec::new()
            }
        }
    }
}
