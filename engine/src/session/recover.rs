//! A chat after the engine's end: its documents catch up with the journal, what ran is settled, what was not delivered is queued.
//!
//! All of it is one transaction, and nobody sees anything before it. A second end in the middle finds everything as it was.

use std::collections::{BTreeMap, BTreeSet};

use super::{chat::Chat, replay::is_stale};
use crate::{
    chat::{ChatDoc, SubagentStatus},
    core::{
        effect::{DocKind, DocWrite},
        hub::Hub,
        input::{ChatSpec, Message, Parent},
    },
    event::{AgentEvent, DoneStatus},
    feed::{ChatRow, JournalRow, MessageRow, MessageState, Row, SessionRow, Status},
    store::{Damage, Place, StoredChat, StoredDoc, journal},
    subagents::{Sinks, subdoc_id},
};

/// What a reply says that the engine's end has cut.
pub const RESTARTED: &str = "The engine was restarted before this reply was finished.";

/// A document after its load.
struct Loaded {
    doc: ChatDoc,
    /// Last journal number that it holds.
    folded_seq: u64,
    /// It is not what was stored: it must be stored anew as a whole.
    anew: bool,
    /// Something that was stored is not in it.
    lost: bool,
}

impl Chat {
    /// Brings a chat back. `arrived` are messages that the provider is known to have. Gives its journal too, as a
    /// viewer is to see it.
    pub fn recover(
        hub: &mut Hub,
        mut stored: StoredChat,
        damage: &[Damage],
        arrived: &BTreeSet<String>,
    ) -> (Chat, Vec<JournalRow>) {
        let id = stored.chat.clone();
        let mut damage = damage.to_vec();
        let docs = std::mem::take(&mut stored.docs);
        let (mut rows, era) = Chat::checked_rows(hub, &id, &mut stored);
        let last = rows.len() as u64;
        let (mut docs, main) = Chat::load_docs(hub, &id, docs, last, &mut damage);
        let Loaded { doc, folded_seq, anew: doc_anew, lost } = main;
        let (mut row, spec) = Chat::identity(hub, &id, &stored);
        if row.harness_session_id.is_none() {
            row.harness_session_id = named_session(&rows, &spec.cwd);
        }
        let device_id = hub.config.device_id.clone();
        let session = stored.session.unwrap_or_else(|| resting(&id, device_id));
        let busy = matches!(session.status, Status::Working | Status::AwaitingInput);
        // A row that is busy only for a message that nobody took yet shows no turn.
        let stale = is_stale(&rows, |named| busy && (named || stored.ledger.is_empty()));
        // One that the provider has began a turn of its own, which nobody lived to see.
        let stale = stale || stored.ledger.iter().any(|message| arrived.contains(&message.id));

        let mut chat = Chat::at_rest(spec, row, session, doc);
        (chat.era, chat.seq) = (era, last);
        chat.messages = stored.messages.into_iter().map(|row| (row.message_id.clone(), row)).collect();
        let ends = rows.iter().filter(|row| matches!(row.event, AgentEvent::Done { .. })).count() as u64;
        chat.turns = ends.max(chat.session.last_completed_turn);
        chat.queue = stored.queue.into();
        chat.queue_paused = stored.paused;
        chat.notes = stored.notes;
        chat.kept_queue = (chat.queue_paused, chat.queue.clone(), chat.notes.clone());

        let mut sinks = Sinks::default();
        chat.miss_children(hub, &mut docs, &mut damage);
        chat.rebuild_children(hub, &mut docs, &rows, folded_seq);
        let anew: Vec<String> = docs.iter().filter(|(_, loaded)| loaded.anew).map(|(id, _)| id.clone()).collect();
        let folded: BTreeMap<String, u64> = docs.iter().map(|(id, loaded)| (id.clone(), loaded.folded_seq)).collect();
        sinks.ready = docs.into_iter().map(|(id, loaded)| (id, loaded.doc)).collect();
        chat.open_running(hub, &mut sinks);
        chat.replay(hub, &mut sinks, &rows, folded_seq, &folded, lost);

        chat.settle_after_restart(hub, &mut sinks, stale);
        chat.keep_ready(hub, sinks, &anew);
        chat.queue_again(hub, stored.ledger, arrived);
        chat.mend(hub, &damage);
        if stale {
            let (error, synthetic) = (Some(RESTARTED.to_owned()), Some("restart".to_owned()));
            let status = DoneStatus::Interrupted;
            chat.journal(hub, AgentEvent::Done { status, result: None, error, session_id: None, synthetic });
        }
        if doc_anew {
            chat.doc.take_update();
            hub.txn().docs.push(DocWrite {
                doc_id: id.clone(),
                chat_id: id.clone(),
                kind: DocKind::Snapshot,
                bytes: chat.doc.snapshot(),
                folded_seq: chat.seq,
            });
        } else {
            hub.doc_update(&mut chat.doc, chat.seq, false);
        }
        chat.keep_queue(hub);
        hub.timers.disarm(&chat.flush_key());
        rows.extend(hub.txn().journal.iter().cloned());
        (chat, rows)
    }

    /// The journal without gaps: what stands for a lost row says so, and what is cut is cut.
    fn checked_rows(hub: &mut Hub, id: &str, stored: &mut StoredChat) -> (Vec<JournalRow>, u64) {
        let checked = std::mem::take(&mut stored.journal);
        // A chat without any row begins in era 1.
        let era = checked.era.max(1) + u64::from(checked.is_damaged());
        hub.txn().cuts.extend(checked.cut.iter().map(|(seq, _)| (id.to_owned(), *seq)));
        let rows = checked.rows.into_iter().zip(1..).map(|(row, seq)| {
            let chat_id = id.to_owned();
            match row {
                journal::Row::Whole { era, event } => JournalRow { chat_id, era, seq, event },
                journal::Row::Lost(why) => {
                    let text = format!("journal row {seq} is lost: {why}");
                    let event = AgentEvent::Note { kind: "journal-row-lost".to_owned(), text };
                    let row = JournalRow { chat_id, era, seq, event };
                    hub.txn().repairs.push(row.clone());
                    row
                }
            }
        });
        (rows.collect(), era)
    }

    /// The chat's own document, and those of its children. What cannot be loaded is reported.
    fn load_docs(
        hub: &mut Hub,
        id: &str,
        mut stored: BTreeMap<String, StoredDoc>,
        last: u64,
        damage: &mut Vec<Damage>,
    ) -> (BTreeMap<String, Loaded>, Loaded) {
        let main = stored.remove(id).unwrap_or_default();
        let main = load(hub, id, id, main, last, damage);
        let children = stored.into_iter().map(|(doc, stored)| {
            let loaded = load(hub, id, &doc, stored, last, damage);
            (doc, loaded)
        });
        (children.collect(), main)
    }

    fn identity(hub: &Hub, id: &str, stored: &StoredChat) -> (ChatRow, ChatSpec) {
        let mut row = stored.row.clone().unwrap_or_else(|| ChatRow {
            chat_id: id.to_owned(),
            device_id: hub.config.device_id.clone(),
            cwd: stored.config.as_ref().map(|spec| spec.cwd.clone()).unwrap_or_default(),
            preview: String::new(),
            last_message_at: None,
            harness_session_id: None,
            // Whose side chat it is may be lost with its row: then nobody knows.
            parent: stored.config.as_ref().map_or(Parent::Unknown, |spec| spec.parent.clone()),
            title: None,
            archived: false,
        });
        let spec = stored.config.clone().unwrap_or_else(|| ChatSpec {
            chat: id.to_owned(),
            cwd: row.cwd.clone(),
            parent: row.parent.clone(),
            ..ChatSpec::default()
        });
        if row.cwd != spec.cwd {
            // A session belongs to the directory it was begun in.
            row.harness_session_id = None;
            row.cwd.clone_from(&spec.cwd);
        }
        (row, spec)
    }

    /// Children whose document the chat's own names and that is not stored.
    fn miss_children(&self, hub: &mut Hub, docs: &mut BTreeMap<String, Loaded>, damage: &mut Vec<Damage>) {
        for doc_id in self.doc.chips().into_iter().filter_map(|chip| chip.subagent_ref) {
            docs.entry(doc_id).or_insert_with_key(|doc_id| {
                let why = "it is not stored".to_owned();
                damage.push(Damage { chat: self.id.clone(), place: Place::Document(doc_id.clone()), why });
                let doc = ChatDoc::new(doc_id, &self.id, hub.ids.bits());
                Loaded { doc, folded_seq: 0, anew: true, lost: true }
            });
        }
    }

    /// Reports what was damaged, and writes again what stands in its place, so that it is reported once.
    fn mend(&mut self, hub: &mut Hub, damage: &[Damage]) {
        for Damage { place, .. } in damage {
            match place {
                Place::Registry => hub.chat(&self.row),
                Place::Config => hub.config(&self.spec),
                Place::Session => hub.session(&self.session),
                Place::Message(id) if !self.messages.contains_key(id) => {
                    // Its words are in the document, if it was ever sent.
                    let (chat_id, message_id) = (self.id.clone(), id.clone());
                    let row = MessageRow { chat_id, message_id, text: String::new(), state: MessageState::Delivered };
                    hub.message(&row);
                    self.messages.insert(id.clone(), row);
                }
                _ => {}
            }
        }
        // A row that is lost in the middle is reported at its place.
        for damage in damage.iter().filter(|damage| !matches!(damage.place, Place::JournalRow(_))) {
            self.journal(hub, AgentEvent::Note { kind: "damage".to_owned(), text: damage.to_string() });
        }
    }

    /// A child's document that is lost is made anew from the journal alone, up to where the chat's own document stands.
    fn rebuild_children(&mut self, hub: &mut Hub, docs: &mut BTreeMap<String, Loaded>, rows: &[JournalRow], upto: u64) {
        for (doc_id, loaded) in docs.iter_mut().filter(|(_, loaded)| loaded.anew) {
            let mut settled = false;
            for row in rows.iter().filter(|row| row.seq > loaded.folded_seq && row.seq <= upto) {
                let AgentEvent::Subagent { parent_tool_use_id: chip, event } = &row.event else { continue };
                if subdoc_id(&self.id, chip) != *doc_id {
                    continue;
                }
                let doc = &mut loaded.doc;
                let (device, wall) = (&hub.config.device_id, hub.now.wall);
                match event.as_ref() {
                    AgentEvent::UserMessage { text } => {
                        settled = false;
                        doc.finish_segment(false, None, None);
                        doc.push_user(&hub.ids.uuid(), text, wall, device);
                    }
                    AgentEvent::Done { status, error, .. } => {
                        settled = true;
                        doc.finish_segment(*status == DoneStatus::Interrupted, error.as_deref(), None);
                    }
                    _ if settled => {}
                    event => {
                        if !doc.has_segment() {
                            let entry = doc.streaming_entry().map(str::to_owned).unwrap_or_else(|| hub.ids.uuid());
                            doc.begin_segment(&entry, wall, device);
                        }
                        doc.fold(event);
                    }
                }
            }
            loaded.folded_seq = loaded.folded_seq.max(upto);
        }
    }

    /// Children that the document shows as running.
    fn open_running(&mut self, hub: &mut Hub, sinks: &mut Sinks) {
        for chip in self.doc.chips() {
            if chip.status == Some(SubagentStatus::Running) && chip.subagent_ref.is_some() {
                self.open_sink(hub, sinks, &chip.id, false);
            }
        }
    }

    /// Nothing runs any more: questions closed, children failed, the open reply aborted, the row at rest.
    fn settle_after_restart(&mut self, hub: &mut Hub, sinks: &mut Sinks, stale: bool) {
        for request_id in self.doc.open_questions() {
            self.write(hub, AgentEvent::InputResolved { request_id });
        }
        self.fail_sinks(hub, sinks);
        for chip in self.doc.chips() {
            if chip.status == Some(SubagentStatus::Running) {
                self.doc.set_chip(&chip.id, None, Some(SubagentStatus::Failed), false);
            }
        }
        if stale {
            if !self.doc.has_segment() {
                self.begin_segment(hub);
            }
            self.doc.finish_segment(true, Some(RESTARTED), None);
        }
        self.doc.abort_streaming(Some(RESTARTED));
        let busy = matches!(self.session.status, Status::Working | Status::AwaitingInput);
        if busy || self.session.running_subagents > 0 || self.session.started_at.is_some() {
            self.session.status = if busy { Status::Idle } else { self.session.status };
            self.session.started_at = None;
            self.session.running_subagents = 0;
            self.publish_session(hub);
        }
    }

    /// Documents of children that are not running: kept for a later steer, stored where they are not what was stored.
    fn keep_ready(&mut self, hub: &mut Hub, mut sinks: Sinks, anew: &[String]) {
        for (id, mut doc) in std::mem::take(&mut sinks.ready) {
            let changed = doc.abort_streaming(None) || anew.contains(&id);
            if changed {
                self.keep_child(hub, doc);
            } else {
                self.children.insert(id, doc.snapshot());
            }
        }
    }

    /// Messages that no provider is known to have taken stand at the head of the queue, in their order; nothing is sent before
    /// the user says so.
    fn queue_again(&mut self, hub: &mut Hub, ledger: Vec<Message>, arrived: &BTreeSet<String>) {
        let mut next = 0;
        for message in ledger {
            hub.ledger(&self.id, &message.id, None);
            if self.queue.iter().any(|queued| queued.id == message.id) {
                continue;
            }
            if arrived.contains(&message.id) {
                self.message_row(hub, &message, MessageState::Delivered);
                continue;
            }
            self.message_row(hub, &message, MessageState::Queued);
            // One that the provider gave back before has its entry, and stays before later ones.
            let returned = |queued: &&Message| self.doc.has_entry(&queued.id) && self.returned_before(queued, &message);
            next = self.queue.iter().take_while(returned).count().max(next);
            self.queue.insert(next, message);
            next += 1;
        }
        self.queue_paused |= !self.queue.is_empty();
        let waits: Vec<String> =
            self.messages.values().filter(|row| self.is_nowhere(row)).map(|row| row.message_id.clone()).collect();
        for message in waits {
            self.message_state(hub, &message, MessageState::NotDelivered);
        }
    }

    /// A message that says it waits and stands in no list any more, for its row was lost: it is shown with a way to retry.
    fn is_nowhere(&self, row: &MessageRow) -> bool {
        matches!(row.state, MessageState::Queued | MessageState::Sent)
            && !self.queue.iter().any(|queued| queued.id == row.message_id)
    }

    /// Shows the rows of a chat to a viewer that has nothing.
    pub fn publish_rows(&self, hub: &mut Hub) {
        hub.publish(Row::Session(self.session.clone()));
        hub.publish(Row::Chat(self.row.clone()));
        for row in self.messages.values() {
            hub.publish(Row::Message(row.clone()));
        }
        if self.queue_paused || !self.queue.is_empty() {
            hub.publish(Row::Queue(self.queue_row().shown()));
        }
    }

    /// Shows its documents to a viewer that has nothing.
    pub fn publish_docs(&self, hub: &mut Hub) {
        for (doc, bytes) in &self.children {
            hub.publish_doc(doc, &self.id, bytes.clone());
        }
        hub.publish_doc(&self.id, &self.id, self.doc.snapshot());
    }
}

fn load(hub: &mut Hub, chat: &str, id: &str, stored: StoredDoc, last: u64, damage: &mut Vec<Damage>) -> Loaded {
    let peer = hub.ids.bits();
    let (seqs, updates): (Vec<u64>, Vec<Vec<u8>>) = stored.updates.into_iter().unzip();
    hub.doc_updates.insert(id.to_owned(), updates.len() as u32);
    let never_stored = stored.snapshot.is_empty() && updates.is_empty() && stored.folded_seq == 0;
    if never_stored {
        return Loaded { doc: ChatDoc::new(id, chat, peer), folded_seq: 0, anew: false, lost: false };
    }
    // A snapshot that holds rows and is not there was lost: what came behind it stands on nothing.
    let gone = stored.snapshot.is_empty() && stored.folded_seq > 0;
    let (doc, held, why) = if gone {
        (ChatDoc::new(id, chat, peer), None, Some("its snapshot is missing".to_owned()))
    } else {
        let (doc, held, why) = ChatDoc::load_prefix(id, chat, peer, &stored.snapshot, &updates);
        (doc, held, why.map(|why| why.to_string()))
    };
    let folded_seq = held.map_or(0, |held| held.checked_sub(1).map_or(stored.folded_seq, |update| seqs[update]));
    let lost = why.is_some();
    damage.extend(why.map(|why| Damage { chat: chat.to_owned(), place: Place::Document(id.to_owned()), why }));
    // A document may be ahead of a journal that lost its tail: the numbers that come will be used for other events.
    let anew = lost || folded_seq > last;
    Loaded { doc, folded_seq: folded_seq.min(last), anew, lost }
}

fn resting(id: &str, device_id: String) -> SessionRow {
    SessionRow {
        chat_id: id.to_owned(),
        device_id,
        status: Status::Idle,
        started_at: None,
        updated_at: 0,
        last_completed_turn: 0,
        running_subagents: 0,
    }
}

/// The last session that the journal names, unless it was begun in another directory.
fn named_session(rows: &[JournalRow], cwd: &str) -> Option<String> {
    let began = rows.iter().rev().find_map(|row| match &row.event {
        AgentEvent::SessionStarted { cwd, .. } => Some(cwd.as_deref()),
        _ => None,
    });
    if began.flatten().is_some_and(|began| began != cwd) {
        return None;
    }
    rows.iter().rev().find_map(|row| match &row.event {
        AgentEvent::Done { session_id: Some(session_id), .. } | AgentEvent::SessionStarted { session_id, .. } => {
            Some(session_id.clone())
        }
        _ => None,
    })
}
