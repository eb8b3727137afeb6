//! One Loro document, the host's writing side.

use std::collections::{BTreeMap, BTreeSet};

use loro::{ExportMode, LoroDoc, LoroList, LoroMap, VersionVector};

use super::chips::ToolPart;
use super::entry::Reply;
use super::error::DocError;
use super::layout::{MESSAGES, META, meta};
use super::segment::Segment;
use super::value::{get_str, sure};

/// One chat or subagent document, the host's writing side. Equal calls on documents with equal peer ids give equal bytes.
///
/// Every change costs the same however long the document and the turn are: entries, tools, text parts and questions are found
/// by index, and the document is walked only when it is loaded.
pub struct ChatDoc {
    doc_id: String,
    chat_id: String,
    pub(super) doc: LoroDoc,
    pub(super) meta: LoroMap,
    pub(super) messages: LoroList,
    /// Logical entries in transcript order.
    pub(super) replies: Vec<Reply>,
    /// Logical entry of each stored id, continuations included.
    pub(super) by_id: BTreeMap<String, usize>,
    /// Entries that are neither complete nor aborted.
    pub(super) streaming: BTreeSet<usize>,
    /// Tool parts by id, in transcript order.
    pub(super) tools: BTreeMap<String, Vec<ToolPart>>,
    /// Entry and slot of each chip: transcript order.
    pub(super) chip_order: BTreeSet<(usize, u64, String)>,
    /// Entries and numbers of the text parts of each part key, in transcript order.
    pub(super) keys: BTreeMap<String, BTreeSet<(usize, u32)>>,
    /// Entry of each question.
    pub(super) inputs: BTreeMap<String, usize>,
    /// Last known tokens and window.
    pub(super) context: (Option<u64>, Option<u64>),
    pub(super) segment: Option<Segment>,
    pub(super) dirty: bool,
    taken: VersionVector,
}

impl ChatDoc {
    /// An empty document. A peer id must never have written to this document before: it is fresh from the id source.
    pub fn new(doc_id: &str, chat_id: &str, peer: u64) -> ChatDoc {
        let mut made = ChatDoc::over(open(peer), doc_id, chat_id);
        sure(made.meta.insert(meta::CHAT_ID, chat_id));
        made.dirty = true;
        made
    }

    /// A stored document: a snapshot, empty if none is stored, and the updates since, in their order. What is loaded counts as
    /// taken. The peer id must be a fresh one also here: after a crash viewers may hold changes of the old one that were never
    /// stored.
    pub fn load(doc_id: &str, chat_id: &str, peer: u64, snapshot: &[u8], updates: &[Vec<u8>]) -> Result<ChatDoc, DocError> {
        let doc = open(peer);
        let stored = Some(("the snapshot".to_owned(), snapshot)).filter(|_| !snapshot.is_empty()).into_iter();
        let stored = stored.chain(updates.iter().enumerate().map(|(n, bytes)| (format!("update {}", n + 1), bytes.as_slice())));
        for (what, bytes) in stored {
            let doc_id = doc_id.to_owned();
            match doc.import(bytes) {
                Ok(status) if status.pending.is_none() => {}
                Ok(_) => return Err(DocError::Gap { doc_id, what }),
                Err(source) => return Err(DocError::Damaged { doc_id, what, source }),
            }
        }
        let mut made = ChatDoc::over(doc, doc_id, chat_id);
        made.taken = made.doc.oplog_vv();
        match get_str(&made.meta, meta::CHAT_ID) {
            Some(found) if found != chat_id => {
                return Err(DocError::OtherChat { doc_id: doc_id.to_owned(), found, expected: chat_id.to_owned() });
            }
            Some(_) => {}
            None => {
                sure(made.meta.insert(meta::CHAT_ID, chat_id));
                made.dirty = true;
            }
        }
        made.index();
        Ok(made)
    }

    /// As much of a stored document as can be loaded: the snapshot and the updates up to the first that cannot. Gives the
    /// document, how many updates it holds (none: not even the snapshot), and why it is not all.
    pub fn load_prefix(
        doc_id: &str,
        chat_id: &str,
        peer: u64,
        snapshot: &[u8],
        updates: &[Vec<u8>],
    ) -> (ChatDoc, Option<usize>, Option<DocError>) {
        let load = |count: usize| ChatDoc::load(doc_id, chat_id, peer, snapshot, &updates[..count]);
        let why = match load(updates.len()) {
            Ok(doc) => return (doc, Some(updates.len()), None),
            Err(why) => why,
        };
        let rest = (0..updates.len()).rev().find_map(|count| Some((load(count).ok()?, Some(count))));
        let (doc, count) = rest.unwrap_or_else(|| (ChatDoc::new(doc_id, chat_id, peer), None));
        (doc, count, Some(why))
    }

    /// Wall clock of the last entry, ms.
    pub fn last_created_at(&self) -> Option<u64> {
        self.replies.last().and_then(|reply| u64::try_from(reply.created_at).ok())
    }

    /// The entries as a reader of the document sees them.
    pub fn entries(&self) -> Vec<super::read::Entry> {
        super::read::entries(&self.doc)
    }

    fn over(doc: LoroDoc, doc_id: &str, chat_id: &str) -> ChatDoc {
        ChatDoc {
            doc_id: doc_id.to_owned(),
            chat_id: chat_id.to_owned(),
            meta: doc.get_map(META),
            messages: doc.get_list(MESSAGES),
            doc,
            replies: Vec::new(),
            by_id: BTreeMap::new(),
            streaming: BTreeSet::new(),
            tools: BTreeMap::new(),
            chip_order: BTreeSet::new(),
            keys: BTreeMap::new(),
            inputs: BTreeMap::new(),
            context: (None, None),
            segment: None,
            dirty: false,
            taken: VersionVector::default(),
        }
    }

    /// Document id: the chat id, or that of a subagent document.
    pub fn doc_id(&self) -> &str {
        &self.doc_id
    }

    /// The chat it belongs to.
    pub fn chat_id(&self) -> &str {
        &self.chat_id
    }

    /// The Loro document, for reading only: what is written past this type is not indexed.
    pub fn loro(&self) -> &LoroDoc {
        &self.doc
    }

    /// Whether anything changed since the last take.
    pub fn dirty(&self) -> bool {
        self.dirty
    }

    /// Commits and exports what changed since the last take (since the beginning, or the load, for the first). None: nothing.
    pub fn take_update(&mut self) -> Option<Vec<u8>> {
        if !self.dirty {
            return None;
        }
        self.dirty = false;
        self.doc.commit();
        let now = self.doc.oplog_vv();
        if now == self.taken {
            return None;
        }
        let bytes = self.doc.export(ExportMode::updates(&self.taken)).expect("an attached document exports its own changes");
        self.taken = now;
        Some(bytes)
    }

    /// The whole document with its history, changes not taken yet included. It does not count as a take.
    pub fn snapshot(&self) -> Vec<u8> {
        self.doc.export(ExportMode::Snapshot).expect("an attached document exports its own changes")
    }
}

/// The one place where documents are made: Loro draws a random peer id, which is replaced before anything is written. Times
/// are not recorded, so that no clock is read.
fn open(peer: u64) -> LoroDoc {
    let doc = LoroDoc::new();
    doc.set_record_timestamp(false);
    sure(doc.set_peer_id(peer));
    doc
}
