//! The reading side: plain structs from a Loro document, by the `layout` alone.
//!
//! Split entries and texts come out joined, so that a reader cannot see where a limit fell (M5). What is malformed is skipped
//! and never blanks the transcript.

use std::collections::BTreeMap;

use loro::{LoroDoc, LoroMapValue, LoroValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::layout::{self, EntryStatus, MESSAGES, META, Role, SubagentStatus, entry, meta, part};
use super::value::to_json;
use crate::event::{ToolCall, UserInputQuestion};

/// A logical entry, its continuations joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Id of the root.
    pub id: String,
    /// Who wrote it.
    pub role: Role,
    /// Where it stands.
    pub status: EntryStatus,
    /// Wall clock, ms.
    pub created_at: u64,
    /// Device that wrote it.
    pub device_id: String,
    /// How long the reply took.
    pub duration_ms: Option<u64>,
    /// Native position after which the reply can be forked.
    pub native_fork_point: Option<Value>,
    /// What it shows, in order.
    pub parts: Vec<Part>,
}

/// One shown part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Part {
    /// Text, its pieces joined.
    Text {
        /// Provider part key.
        part: Option<String>,
        /// The text.
        text: String,
    },
    /// Thinking, its pieces joined.
    Reasoning {
        /// Provider part key.
        part: Option<String>,
        /// The text.
        text: String,
    },
    /// A tool, or a chip.
    Tool(ToolView),
    /// A question or approval.
    Input {
        /// Our id of the request.
        request_id: String,
        /// What is asked.
        questions: Vec<UserInputQuestion>,
        /// Whether it is closed.
        resolved: bool,
    },
    /// An error.
    Error {
        /// Words for the user.
        message: String,
    },
    /// An image that the provider made.
    Image {
        /// Part id.
        id: String,
        /// Where the file lies.
        path: String,
        /// File name shown.
        name: String,
        /// MIME type.
        mime_type: String,
    },
    /// Where this chat was forked from.
    Fork {
        /// The chat.
        source_chat_id: String,
        /// Its title at that time.
        source_title: String,
    },
}

/// A tool part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// Tool-use id.
    pub id: String,
    /// The call, as far as it may be shown.
    pub call: ToolCall,
    /// Whether its result came.
    pub resolved: bool,
    /// Whether the result is an error.
    pub is_error: bool,
    /// Size of the output.
    pub output_bytes: Option<u64>,
    /// Lines added and removed.
    pub diff_stats: Option<DiffStats>,
    /// Document of the child.
    pub subagent_ref: Option<String>,
    /// Where the child stands.
    pub subagent_status: Option<SubagentStatus>,
}

/// Lines that a diff adds and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffStats {
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// The root map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The chat.
    pub chat_id: Option<String>,
    /// Tokens in the context.
    pub context_tokens: Option<u64>,
    /// Tokens the window holds.
    pub context_window: Option<u64>,
    /// Input tokens of the last turn.
    pub input_tokens: Option<u64>,
    /// Output tokens of the last turn.
    pub output_tokens: Option<u64>,
    /// Provider session that was given the text history of a fork.
    pub fork_history_session: Option<String>,
}

/// Reads the root map.
pub fn meta(doc: &LoroDoc) -> Meta {
    let LoroValue::Map(map) = doc.get_map(META).get_deep_value() else { return Meta::default() };
    let inner = |key, field| match map.get(key) {
        Some(LoroValue::Map(inner)) => count(inner, field),
        _ => None,
    };
    Meta {
        chat_id: string(&map, meta::CHAT_ID),
        context_tokens: inner(meta::CONTEXT_USAGE, meta::TOKENS),
        context_window: inner(meta::CONTEXT_USAGE, meta::WINDOW),
        input_tokens: inner(meta::TOKEN_USAGE, meta::INPUT_TOKENS),
        output_tokens: inner(meta::TOKEN_USAGE, meta::OUTPUT_TOKENS),
        fork_history_session: string(&map, meta::FORK_HISTORY_SESSION),
    }
}

/// Reads the transcript in order.
pub fn entries(doc: &LoroDoc) -> Vec<Entry> {
    let LoroValue::List(items) = doc.get_list(MESSAGES).get_deep_value() else { return Vec::new() };
    let mut joined: Vec<Joined> = Vec::new();
    let mut roots: BTreeMap<String, usize> = BTreeMap::new();
    for item in items.iter() {
        let Some((stored, continues)) = read_entry(item) else { continue };
        let root = continues.as_ref().and_then(|root| Some((*roots.get(root)?, continuation(root, &stored.id))));
        match root {
            Some((root, n)) => joined[root].continuations.push((n, stored)),
            None => {
                // A continuation whose root is unreadable is shown as an entry of its own: what follows it joins there.
                let id = continues.unwrap_or_else(|| stored.id.clone());
                roots.entry(id).or_insert(joined.len());
                joined.push(Joined { root: stored, continuations: Vec::new() });
            }
        }
    }
    joined.into_iter().map(Joined::join).collect()
}

fn continuation(root: &str, id: &str) -> u32 {
    layout::continuation_number(root, id).unwrap_or(u32::MAX)
}

/// A stored entry before its pieces are joined.
struct Stored {
    id: String,
    view: Entry,
    parts: Vec<StoredPart>,
}

struct StoredPart {
    id: Option<String>,
    continues: Option<String>,
    view: Part,
}

struct Joined {
    root: Stored,
    continuations: Vec<(u32, Stored)>,
}

impl Joined {
    fn join(mut self) -> Entry {
        self.continuations.sort_by_key(|(n, _)| *n);
        let mut entry = self.root.view;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let stored = self.root.parts.into_iter().chain(self.continuations.into_iter().flat_map(|(_, stored)| stored.parts));
        for StoredPart { id, continues, view } in stored {
            let root = continues.or(id);
            if let Some(root) = &root
                && let Some(place) = places.get(root)
                && let Some(text) = text_of(&mut entry.parts[*place])
                && let Part::Text { text: more, .. } | Part::Reasoning { text: more, .. } = &view
            {
                text.push_str(more);
                continue;
            }
            if let Some(root) = root {
                places.insert(root, entry.parts.len());
            }
            entry.parts.push(view);
        }
        entry
    }
}

fn text_of(part: &mut Part) -> Option<&mut String> {
    match part {
        Part::Text { text, .. } | Part::Reasoning { text, .. } => Some(text),
        _ => None,
    }
}

fn read_entry(item: &LoroValue) -> Option<(Stored, Option<String>)> {
    let LoroValue::Map(map) = item else { return None };
    let LoroValue::List(parts) = map.get(entry::PARTS)? else { return None };
    let id = string(map, entry::ID)?;
    let view = Entry {
        id: id.clone(),
        role: Role::parse(&string(map, entry::ROLE)?)?,
        status: EntryStatus::parse(&string(map, entry::STATUS)?)?,
        created_at: count(map, entry::CREATED_AT).unwrap_or(0),
        device_id: string(map, entry::DEVICE_ID).unwrap_or_default(),
        duration_ms: count(map, entry::DURATION_MS),
        native_fork_point: string(map, entry::NATIVE_FORK_POINT).and_then(|json| serde_json::from_str(&json).ok()),
        parts: Vec::new(),
    };
    let parts = parts.iter().filter_map(read_part).collect();
    Some((Stored { id, view, parts }, string(map, entry::CONTINUATION_OF)))
}

fn read_part(item: &LoroValue) -> Option<StoredPart> {
    let LoroValue::Map(map) = item else { return None };
    let mut stored = StoredPart { id: None, continues: None, view: Part::Error { message: String::new() } };
    stored.view = match string(map, part::KIND)?.as_str() {
        kind @ (part::KIND_TEXT | part::KIND_REASONING) => {
            (stored.id, stored.continues) = (string(map, part::ID), string(map, part::CONTINUES));
            let (part, text) = (string(map, part::PART), string(map, part::TEXT)?);
            if kind == part::KIND_TEXT { Part::Text { part, text } } else { Part::Reasoning { part, text } }
        }
        part::KIND_TOOL => Part::Tool(ToolView {
            id: string(map, part::ID)?,
            call: serde_json::from_value(to_json(map.get(part::CALL)?)).ok()?,
            resolved: flag(map, part::RESOLVED),
            is_error: flag(map, part::IS_ERROR),
            output_bytes: count(map, part::OUTPUT_BYTES),
            diff_stats: match map.get(part::DIFF_STATS) {
                Some(LoroValue::Map(stats)) => {
                    Some(DiffStats { added: count(stats, part::ADDED)?, removed: count(stats, part::REMOVED)? })
                }
                _ => None,
            },
            subagent_ref: string(map, part::SUBAGENT_REF),
            subagent_status: string(map, part::SUBAGENT_STATUS).and_then(|word| SubagentStatus::parse(&word)),
        }),
        part::KIND_INPUT => Part::Input {
            request_id: string(map, part::REQUEST_ID)?,
            questions: serde_json::from_value(to_json(map.get(part::QUESTIONS)?)).ok()?,
            resolved: flag(map, part::RESOLVED),
        },
        part::KIND_ERROR => Part::Error { message: string(map, part::MESSAGE)? },
        part::KIND_IMAGE => Part::Image {
            id: string(map, part::ID)?,
            path: string(map, part::PATH)?,
            name: string(map, part::NAME)?,
            mime_type: string(map, part::MIME_TYPE)?,
        },
        part::KIND_FORK => {
            Part::Fork { source_chat_id: string(map, part::SOURCE_CHAT_ID)?, source_title: string(map, part::SOURCE_TITLE)? }
        }
        _ => return None,
    };
    Some(stored)
}

fn string(map: &LoroMapValue, key: &str) -> Option<String> {
    match map.get(key)? {
        LoroValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn count(map: &LoroMapValue, key: &str) -> Option<u64> {
    match map.get(key)? {
        LoroValue::I64(n) => u64::try_from(*n).ok(),
        _ => None,
    }
}

fn flag(map: &LoroMapValue, key: &str) -> bool {
    matches!(map.get(key), Some(LoroValue::Bool(true)))
}
