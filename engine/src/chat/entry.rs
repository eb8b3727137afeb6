//! Logical entries of the document: an entry and its continuations, with the handles and positions that make every later
//! change cost the same however long the document is.

use std::collections::{BTreeMap, BTreeSet};

use loro::{LoroList, LoroMap};

use super::doc::ChatDoc;
use super::layout::{self, ENTRY_INLINE_LIMIT, EntryStatus, Role, entry, part};
use super::text::Run;
use super::value::{number, sure};

/// One stored entry: the root of a logical entry or one of its continuations.
pub(super) struct Node {
    pub map: LoroMap,
    pub parts: LoroList,
    /// Slot of each stored part, ascending: a part's position is found by a search, also after a removal.
    pub slots: Vec<u64>,
    /// Bytes of content, against [`ENTRY_INLINE_LIMIT`].
    pub bytes: usize,
}

/// What a shown part is, as far as later events care.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Text or reasoning, by its number.
    Run(u32),
    Other,
}

/// A logical entry.
pub(super) struct Reply {
    pub id: String,
    pub role: Role,
    pub status: EntryStatus,
    pub created_at: i64,
    pub device_id: String,
    pub nodes: Vec<Node>,
    pub next_continuation: u32,
    pub next_slot: u64,
    /// Text parts by number; the next one gets the highest plus one, so that a loaded document counts on as the old one did.
    pub runs: BTreeMap<u32, Run>,
    /// Shown parts by slot. The last one is what unkeyed text merges into.
    pub order: BTreeMap<u64, Shown>,
    /// Texts of the Error parts.
    pub errors: BTreeSet<String>,
    pub images: BTreeSet<String>,
    /// Unresolved tools by slot.
    pub open_tools: BTreeMap<u64, String>,
    /// Unresolved questions by request id.
    pub open_inputs: BTreeMap<String, LoroMap>,
}

impl Reply {
    pub fn new(id: &str, role: Role, status: EntryStatus, created_at: i64, device_id: &str) -> Reply {
        Reply {
            id: id.to_owned(),
            role,
            status,
            created_at,
            device_id: device_id.to_owned(),
            nodes: Vec::new(),
            next_continuation: 1,
            next_slot: 0,
            runs: BTreeMap::new(),
            order: BTreeMap::new(),
            errors: BTreeSet::new(),
            images: BTreeSet::new(),
            open_tools: BTreeMap::new(),
            open_inputs: BTreeMap::new(),
        }
    }

    /// The next slot of a part.
    pub fn take_slot(&mut self) -> u64 {
        let slot = self.next_slot;
        self.next_slot += 1;
        slot
    }
}

/// Where a new part was put.
pub(super) struct Placed {
    pub map: LoroMap,
    pub node: usize,
    pub slot: u64,
}

impl ChatDoc {
    /// Appends an entry; the caller has made sure that the id is free.
    pub(super) fn push_entry(&mut self, id: &str, role: Role, status: EntryStatus, created_at: u64, device_id: &str) -> usize {
        let index = self.replies.len();
        self.replies.push(Reply::new(id, role, status, number(created_at), device_id));
        self.by_id.insert(id.to_owned(), index);
        if status == EntryStatus::Streaming {
            self.streaming.insert(index);
        }
        self.push_node(index);
        index
    }

    /// Appends the root of a logical entry, or its next continuation.
    pub(super) fn push_node(&mut self, index: usize) {
        let map = sure(self.messages.push_container(LoroMap::new()));
        let reply = &mut self.replies[index];
        if reply.nodes.is_empty() {
            sure(map.insert(entry::ID, reply.id.as_str()));
        } else {
            let id = layout::continuation_id(&reply.id, reply.next_continuation);
            reply.next_continuation += 1;
            sure(map.insert(entry::ID, id.as_str()));
            sure(map.insert(entry::CONTINUATION_OF, reply.id.as_str()));
            self.by_id.insert(id, index);
        }
        sure(map.insert(entry::ROLE, reply.role.as_str()));
        sure(map.insert(entry::STATUS, reply.status.as_str()));
        sure(map.insert(entry::CREATED_AT, reply.created_at));
        sure(map.insert(entry::DEVICE_ID, reply.device_id.as_str()));
        let parts = sure(map.insert_container(entry::PARTS, LoroList::new()));
        reply.nodes.push(Node { map, parts, slots: Vec::new(), bytes: 0 });
        self.dirty = true;
    }

    /// Appends a part map with its kind to the last node of an entry, to a new continuation when `bytes` do not fit any more.
    pub(super) fn push_part(&mut self, index: usize, kind: &str, bytes: usize) -> Placed {
        let last = self.last_node(index);
        if last.bytes > 0 && last.bytes + bytes > ENTRY_INLINE_LIMIT {
            self.push_node(index);
        }
        let reply = &mut self.replies[index];
        let slot = reply.take_slot();
        let node = reply.nodes.len() - 1;
        let last = &mut reply.nodes[node];
        let map = sure(last.parts.push_container(LoroMap::new()));
        sure(map.insert(part::KIND, kind));
        last.slots.push(slot);
        last.bytes += bytes;
        self.dirty = true;
        Placed { map, node, slot }
    }

    /// Appends a part that shows something of its own, other than text.
    pub(super) fn push_shown(&mut self, index: usize, kind: &str, bytes: usize) -> Placed {
        let placed = self.push_part(index, kind, bytes);
        self.replies[index].order.insert(placed.slot, Shown::Other);
        placed
    }

    pub(super) fn last_node(&self, index: usize) -> &Node {
        let nodes = &self.replies[index].nodes;
        &nodes[nodes.len() - 1]
    }

    /// Takes a part out of its list.
    pub(super) fn remove_part(&mut self, index: usize, node: usize, slot: u64, bytes: usize) {
        let node = &mut self.replies[index].nodes[node];
        if let Ok(position) = node.slots.binary_search(&slot) {
            sure(node.parts.delete(position, 1));
            node.slots.remove(position);
            node.bytes = node.bytes.saturating_sub(bytes);
            self.dirty = true;
        }
    }

    /// Appends an Error part unless the entry holds one with the same text and `unless_there` says to look.
    pub(super) fn push_error(&mut self, index: usize, message: &str, unless_there: bool) -> bool {
        if unless_there && self.replies[index].errors.contains(message) {
            return false;
        }
        let placed = self.push_shown(index, part::KIND_ERROR, message.len());
        sure(placed.map.insert(part::MESSAGE, message));
        self.replies[index].errors.insert(message.to_owned());
        true
    }

    /// Ends an entry: its status on the root and every continuation, its open questions resolved.
    pub(super) fn close_entry(&mut self, index: usize, aborted: bool, duration_ms: Option<u64>) {
        let reply = &mut self.replies[index];
        reply.status = if aborted { EntryStatus::Aborted } else { EntryStatus::Complete };
        for node in &reply.nodes {
            sure(node.map.insert(entry::STATUS, reply.status.as_str()));
        }
        if let Some(duration) = duration_ms {
            sure(reply.nodes[0].map.insert(entry::DURATION_MS, number(duration)));
        }
        for map in std::mem::take(&mut reply.open_inputs).into_values() {
            sure(map.insert(part::RESOLVED, true));
        }
        reply.open_tools.clear();
        self.streaming.remove(&index);
        self.dirty = true;
    }
}
