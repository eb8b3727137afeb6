//! Indexes of a loaded document. What cannot be made sense of is passed over, as readers do.

use loro::{Container, LoroMap, LoroValue, ValueOrContainer};

use super::chips::ToolPart;
use super::doc::ChatDoc;
use super::entry::{Node, Reply, Shown};
use super::layout::{self, EntryStatus, Role, SubagentStatus, entry, meta, part};
use super::text::{Piece, Run, RunKind};
use super::value::{get_bool, get_list, get_str, get_text, get_value, to_json};
use crate::event::ToolCall;

impl ChatDoc {
    /// Walks the document once.
    pub(super) fn index(&mut self) {
        if let Some(LoroValue::Map(usage)) = get_value(&self.meta, meta::CONTEXT_USAGE) {
            let count = |key| usage.get(key).and_then(|n| u64::try_from(*n.as_i64()?).ok());
            self.context = (count(meta::TOKENS), count(meta::WINDOW));
        }
        let mut maps = Vec::new();
        self.messages.for_each(|item| {
            if let ValueOrContainer::Container(Container::Map(map)) = item {
                maps.push(map);
            }
        });
        for map in maps {
            // An entry without these is torn; nothing refers to it.
            self.index_entry(map);
        }
        for index in self.streaming.clone() {
            // Only an entry that still streams has tools that count as open.
            self.index_open_tools(index);
        }
    }

    fn index_entry(&mut self, map: LoroMap) -> Option<()> {
        let id = get_str(&map, entry::ID).filter(|id| !self.by_id.contains_key(id))?;
        let role = Role::parse(&get_str(&map, entry::ROLE)?)?;
        let status = EntryStatus::parse(&get_str(&map, entry::STATUS)?)?;
        let parts = get_list(&map, entry::PARTS)?;
        let root = get_str(&map, entry::CONTINUATION_OF).and_then(|root| {
            let index = *self.by_id.get(&root)?;
            Some((index, layout::continuation_number(&root, &id)?))
        });
        let index = match root {
            Some((index, n)) => {
                let reply = &mut self.replies[index];
                reply.next_continuation = reply.next_continuation.max(n.saturating_add(1));
                index
            }
            None => {
                let created_at = get_value(&map, entry::CREATED_AT).and_then(|at| at.as_i64().copied()).unwrap_or(0);
                let device_id = get_str(&map, entry::DEVICE_ID).unwrap_or_default();
                self.replies.push(Reply::new(&id, role, status, created_at, &device_id));
                self.replies.len() - 1
            }
        };
        self.by_id.insert(id, index);
        if status == EntryStatus::Streaming {
            self.streaming.insert(index);
        }
        let node = self.replies[index].nodes.len();
        let mut items = Vec::new();
        parts.for_each(|item| items.push(item));
        self.replies[index].nodes.push(Node { map, parts, slots: Vec::new(), bytes: 0 });
        for item in items {
            let slot = self.replies[index].take_slot();
            self.replies[index].nodes[node].slots.push(slot);
            if let ValueOrContainer::Container(Container::Map(map)) = item {
                let bytes = self.index_part(index, node, slot, map).unwrap_or(0);
                self.replies[index].nodes[node].bytes += bytes;
            }
        }
        Some(())
    }

    /// Indexes one part and returns its bytes of content.
    fn index_part(&mut self, index: usize, node: usize, slot: u64, map: LoroMap) -> Option<usize> {
        let kind = get_str(&map, part::KIND)?;
        let bytes = match kind.as_str() {
            part::KIND_TEXT => return self.index_piece(index, node, slot, RunKind::Text, &map),
            part::KIND_REASONING => return self.index_piece(index, node, slot, RunKind::Reasoning, &map),
            part::KIND_TOOL => self.index_tool(index, slot, map)?,
            part::KIND_INPUT => {
                let request_id = get_str(&map, part::REQUEST_ID)?;
                let bytes = get_value(&map, part::QUESTIONS).map_or(0, |value| to_json(&value).to_string().len());
                self.inputs.insert(request_id.clone(), index);
                if !get_bool(&map, part::RESOLVED) {
                    self.replies[index].open_inputs.insert(request_id, map);
                }
                bytes
            }
            part::KIND_ERROR => {
                let message = get_str(&map, part::MESSAGE)?;
                let bytes = message.len();
                self.replies[index].errors.insert(message);
                bytes
            }
            part::KIND_IMAGE => {
                self.replies[index].images.insert(get_str(&map, part::ID)?);
                get_str(&map, part::PATH).map_or(0, |path| path.len())
            }
            part::KIND_FORK => get_str(&map, part::SOURCE_TITLE).map_or(0, |title| title.len()),
            _ => return None,
        };
        self.replies[index].order.insert(slot, Shown::Other);
        Some(bytes)
    }

    fn index_piece(&mut self, index: usize, node: usize, slot: u64, kind: RunKind, map: &LoroMap) -> Option<usize> {
        let id = get_str(map, part::ID)?;
        let text = get_text(map, part::TEXT)?;
        let (chars, bytes) = (text.len_unicode(), text.len_utf8());
        let reply = &mut self.replies[index];
        let piece = |n| Piece { node, slot, n, text, chars, bytes };
        if let Some(root) = get_str(map, part::CONTINUES) {
            let run = reply.runs.get_mut(&layout::text_number(&root)?)?;
            run.pieces.push(piece(layout::piece_number(&root, &id)?));
        } else {
            let run = layout::text_number(&id)?;
            let key = get_str(map, part::PART);
            if let Some(key) = &key {
                self.keys.entry(key.clone()).or_default().insert((index, run));
            }
            reply.runs.insert(run, Run { kind, key, pieces: vec![piece(0)] });
            reply.order.insert(slot, Shown::Run(run));
        }
        Some(bytes)
    }

    fn index_tool(&mut self, index: usize, slot: u64, map: LoroMap) -> Option<usize> {
        let id = get_str(&map, part::ID)?;
        let json = to_json(&get_value(&map, part::CALL)?);
        let bytes = json.to_string().len();
        let call: Option<ToolCall> = serde_json::from_value(json).ok();
        let tool = ToolPart {
            entry: index,
            slot,
            spawn: call.filter(ToolCall::is_spawn).map(|call| call.name().to_owned()),
            resolved: get_bool(&map, part::RESOLVED),
            subagent_ref: get_str(&map, part::SUBAGENT_REF),
            status: get_str(&map, part::SUBAGENT_STATUS).and_then(|word| SubagentStatus::parse(&word)),
            map,
        };
        self.know_tool(&id, tool);
        Some(bytes)
    }

    fn index_open_tools(&mut self, index: usize) {
        let open = self.tools.iter().flat_map(|(id, parts)| parts.iter().map(move |tool| (id, tool)));
        let open = open.filter(|(_, tool)| tool.entry == index && !tool.resolved);
        self.replies[index].open_tools = open.map(|(id, tool)| (tool.slot, id.clone())).collect();
    }
}
