//! Subagents: the live writer (sink) of each child's document, and what a child's event does to chip, tab and pill.
//!
//! A sink opens at the first event that is not a Done and closes at the Done. The pill is the number of sinks, so chip and
//! count change in the same step. An id without a chip in this chat opens nothing (V4).

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use sha2::{Digest, Sha256};

use crate::{
    chat::{ChatDoc, layout::SubagentStatus},
    core::hub::Hub,
    event::{AgentEvent, DoneStatus},
    session::{Chat, Run},
};

/// Longest id of a document, characters of A–Z a–z 0–9 _ -.
pub const ID_CHARS: usize = 128;

/// The live subagents of one run.
#[derive(Default)]
pub struct Sinks {
    live: IndexMap<String, ChatDoc>,
    settled: BTreeSet<String>,
    /// Documents by id that are loaded and that no sink has open (recovery at start).
    pub(crate) ready: BTreeMap<String, ChatDoc>,
}

impl Sinks {
    /// The pill.
    pub fn running(&self) -> u32 {
        self.live.len() as u32
    }

    /// Stores and publishes what waits in the child documents.
    pub fn flush(&mut self, hub: &mut Hub, seq: u64) {
        for doc in self.live.values_mut() {
            hub.doc_update(doc, seq, false);
        }
    }
}

/// Document id of a child: `<chat>--sub--<chip>`, cleaned; where that is too long 8 bytes of its SHA-256 stand for the chip.
pub fn subdoc_id(chat: &str, chip: &str) -> String {
    let cleaned: String = chip.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-').collect();
    let id = format!("{chat}--sub--{cleaned}");
    if id.len() <= ID_CHARS && cleaned == chip {
        return id;
    }
    let digest = Sha256::digest(chip.as_bytes());
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{chat}--sub--{hex}")
}

impl Chat {
    /// One event of a child.
    pub(crate) fn subagent_event(&mut self, hub: &mut Hub, run: &mut Run, chip: &str, event: AgentEvent) {
        self.journal_child(hub, chip, &event);
        // A child that ended: what the wake after it says is not lost.
        run.bypass |= self.route_child(hub, &mut run.sinks, chip, &event, false);
    }

    /// What an event does to chip, document and pill. With `held` the document holds it already. Gives whether the child ended.
    pub(crate) fn route_child(&mut self, hub: &mut Hub, sinks: &mut Sinks, chip: &str, event: &AgentEvent, held: bool) -> bool {
        let Some(shown) = self.doc_mut().chip(chip) else { return false };
        let steers = matches!(event, AgentEvent::UserMessage { .. } | AgentEvent::Steered { .. });
        let live = sinks.live.contains_key(chip);
        // A child that an earlier run settled is settled for this one too: its chip says so, and late traffic must not count it.
        let over = matches!(shown.status, Some(SubagentStatus::Done | SubagentStatus::Failed));
        if !live && (over || sinks.settled.contains(chip)) {
            if !steers {
                // A straggler: a killed agent's last frames come after its status.
                return false;
            }
            sinks.settled.remove(chip);
        }
        if let AgentEvent::Done { status, error, .. } = event {
            self.child_done(hub, sinks, chip, *status, error.as_deref());
            return true;
        }
        if !live && !self.open_sink(hub, sinks, chip, steers) {
            return false;
        }
        let now = hub.now.wall;
        let Some(doc) = sinks.live.get_mut(chip) else { return false };
        match event {
            AgentEvent::UserMessage { text } => {
                if !held {
                    doc.finish_segment(false, None, None);
                    let (entry, next) = (hub.ids.uuid(), hub.ids.uuid());
                    doc.push_user(&entry, text, now, &hub.config.device_id);
                    doc.begin_segment(&next, now, &hub.config.device_id);
                }
                self.doc_mut().set_chip(chip, None, Some(SubagentStatus::Running), true);
            }
            _ if held => {}
            other => {
                if !doc.has_segment() {
                    let next = hub.ids.uuid();
                    doc.begin_segment(&next, now, &hub.config.device_id);
                }
                doc.fold(other);
            }
        }
        self.arm_flush_for_child(hub);
        false
    }

    /// Opens the child's document; one that was finished before is continued. Where it cannot be opened the chip stays as it is,
    /// has no document and is not counted.
    pub(crate) fn open_sink(&mut self, hub: &mut Hub, sinks: &mut Sinks, chip: &str, steers: bool) -> bool {
        let id = subdoc_id(self.chat_id(), chip);
        let peer = hub.ids.bits();
        let loaded = match (sinks.ready.remove(&id), self.children.get(&id)) {
            (Some(doc), _) => Ok(doc),
            (None, Some(snapshot)) => ChatDoc::load(&id, self.chat_id(), peer, snapshot, &[]),
            (None, None) => Ok(ChatDoc::new(&id, self.chat_id(), peer)),
        };
        let mut doc = match loaded {
            Ok(doc) => doc,
            Err(error) => {
                let text = format!("the document of subagent {chip} cannot be opened: {error}");
                self.journal(hub, AgentEvent::Note { kind: "subagent-document".to_owned(), text });
                return false;
            }
        };
        if let Some(streams) = doc.streaming_entry().map(str::to_owned) {
            doc.begin_segment(&streams, hub.now.wall, &hub.config.device_id);
        }
        self.doc_mut().set_chip(chip, Some(&id), Some(SubagentStatus::Running), steers);
        sinks.live.insert(chip.to_owned(), doc);
        self.pill(hub, sinks);
        true
    }

    fn child_done(&mut self, hub: &mut Hub, sinks: &mut Sinks, chip: &str, status: DoneStatus, error: Option<&str>) {
        let shown = if status == DoneStatus::Errored { SubagentStatus::Failed } else { SubagentStatus::Done };
        sinks.settled.insert(chip.to_owned());
        self.doc_mut().set_chip(chip, None, Some(shown), false);
        if let Some(mut doc) = sinks.live.shift_remove(chip) {
            doc.finish_segment(status == DoneStatus::Interrupted, error, None);
            self.keep_child(hub, doc);
            self.pill(hub, sinks);
        }
        self.arm_flush_for_child(hub);
    }

    /// Stores the document of a child that has ended.
    pub(crate) fn keep_child(&mut self, hub: &mut Hub, mut doc: ChatDoc) {
        // Document bytes are seen only when they are durable with the journal rows that they reflect.
        hub.require_commit();
        let whole = hub.doc_finished(&mut doc, self.journal_seq());
        self.children.insert(doc.doc_id().to_owned(), whole);
    }

    /// Run exit: every remaining child failed, its entry aborted.
    pub(crate) fn fail_sinks(&mut self, hub: &mut Hub, sinks: &mut Sinks) {
        for (chip, mut doc) in std::mem::take(&mut sinks.live) {
            sinks.settled.insert(chip.clone());
            self.doc_mut().set_chip(&chip, None, Some(SubagentStatus::Failed), false);
            doc.finish_segment(true, None, None);
            self.keep_child(hub, doc);
        }
    }

    fn pill(&mut self, hub: &mut Hub, sinks: &Sinks) {
        self.set_running_subagents(hub, sinks.running());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::{
            config::EngineConfig,
            effect::Effect,
            input::{ChatSpec, Harness, Message, ProcId},
        },
        drivers::Capabilities,
        event::ToolCall,
        feed::{Change, Row},
    };

    /// The pills that a viewer is shown while the child's document is damaged before its second life; the last chip state.
    fn pills(damaged: bool) -> (Vec<u32>, Option<SubagentStatus>) {
        let caps = Capabilities { supports_steering: true, stops_turn_in_place: true, deterministic_turn_end: false };
        let mut hub = Hub::new(EngineConfig::default(), 1);
        let spec = ChatSpec { chat: "c".to_owned(), harness: Harness::Mock(caps), ..ChatSpec::default() };
        let mut chat = Chat::new(&mut hub, spec);
        chat.send(&mut hub, Message { chat: "c".to_owned(), id: "m1".to_owned(), text: "go".to_owned() });
        hub.finish();
        hub.stored(Ok(()));
        let user = |text: &str| AgentEvent::UserMessage { text: text.to_owned() };
        let over =
            AgentEvent::Done { status: DoneStatus::Completed, result: None, error: None, session_id: None, synthetic: None };
        chat.drive(&mut hub, ProcId(1), |_, cx| {
            let call = ToolCall::Unknown { name: "Agent".to_owned(), input: serde_json::Value::Null };
            cx.event(AgentEvent::ToolCall { id: "t1".to_owned(), call });
            cx.tagged("t1", user("first"));
            cx.tagged("t1", over);
        });
        hub.finish();
        hub.stored(Ok(()));
        if damaged {
            chat.children.insert(subdoc_id("c", "t1"), b"torn".to_vec());
        }
        chat.drive(&mut hub, ProcId(1), |_, cx| cx.tagged("t1", user("second")));
        let pills = hub.finish().into_iter().filter_map(|effect| match effect {
            Effect::Publish(Change::Row(Row::Session(row))) => Some(row.running_subagents),
            _ => None,
        });
        (pills.collect(), chat.doc_mut().chip("t1").and_then(|chip| chip.status))
    }

    /// RL-06: the child's document cannot be opened: the chip stays as it is, and is not counted.
    #[test]
    fn a_child_whose_document_is_torn_is_counted() {
        assert_eq!(pills(false), (vec![1], Some(SubagentStatus::Running)));
        assert_eq!(pills(true), (vec![], Some(SubagentStatus::Done)));
    }

    #[test]
    fn ids_of_child_documents_stay_within_their_syntax() {
        assert_eq!(subdoc_id("chat", "toolu_1"), "chat--sub--toolu_1");
        let odd = subdoc_id("chat", "a/b c");
        assert_eq!(odd.len(), "chat--sub--".len() + 16);
        assert_ne!(odd, subdoc_id("chat", "a/bc"), "two chips never share a document");
        assert!(subdoc_id("chat", &"x".repeat(500)).len() <= ID_CHARS);
    }
}
