//! Reading a document as a viewer does: the layout is public (`meta` map, `messages` list), the code is the viewer's own.
//!
//! A malformed entry is skipped and never blanks the transcript. Continuations (`<root>#c<n>`) and pieces of long texts
//! (`<id>~<n>`) are joined.

use loro::{LoroDoc, LoroValue};

use super::model::{ChildState, Entry, EntryState, Part, Tool};

/// The entries of a document in order.
pub fn entries(doc: &LoroDoc) -> Vec<Entry> {
    let LoroValue::List(messages) = doc.get_list("messages").get_deep_value() else { return Vec::new() };
    let mut roots: Vec<(Entry, Vec<Piece>)> = Vec::new();
    for value in messages.iter() {
        let Some((entry, mut pieces)) = entry(value) else { continue };
        let root = text(value, "continuationOf");
        match root.and_then(|root| roots.iter_mut().rev().find(|(entry, _)| entry.id == root)) {
            Some((_, parts)) => parts.append(&mut pieces),
            None => roots.push((entry, pieces)),
        }
    }
    roots.into_iter().map(|(entry, pieces)| Entry { parts: joined(pieces), ..entry }).collect()
}

/// A part as it is stored: its own id, and the id of the part whose text it goes on.
struct Piece {
    id: Option<String>,
    continues: Option<String>,
    part: Part,
}

/// The texts of later pieces follow that of the part they continue, wherever they stand.
fn joined(pieces: Vec<Piece>) -> Vec<Part> {
    let mut parts: Vec<(Option<String>, Part)> = Vec::new();
    for Piece { id, continues, part } in pieces {
        let root = continues.and_then(|root| parts.iter_mut().find(|(id, _)| id.as_ref() == Some(&root)));
        match (root, part) {
            (
                Some((_, Part::Text { text, .. } | Part::Reasoning { text, .. })),
                Part::Text { text: more, .. } | Part::Reasoning { text: more, .. },
            ) => {
                text.push_str(&more);
            }
            (_, part) => parts.push((id, part)),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn field<'a>(value: &'a LoroValue, key: &str) -> Option<&'a LoroValue> {
    match value {
        LoroValue::Map(map) => map.get(key),
        _ => None,
    }
}

fn text(value: &LoroValue, key: &str) -> Option<String> {
    match field(value, key)? {
        LoroValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn flag(value: &LoroValue, key: &str) -> bool {
    matches!(field(value, key), Some(LoroValue::Bool(true)))
}

/// An entry without its parts, and its parts as they are stored.
fn entry(value: &LoroValue) -> Option<(Entry, Vec<Piece>)> {
    let state = match text(value, "status")?.as_str() {
        "streaming" => EntryState::Streaming,
        "complete" => EntryState::Complete,
        "aborted" => EntryState::Aborted,
        _ => return None,
    };
    let pieces = match field(value, "parts") {
        Some(LoroValue::List(list)) => list.iter().filter_map(piece).collect(),
        _ => Vec::new(),
    };
    Some((Entry { id: text(value, "id")?, role: text(value, "role")?, state, parts: Vec::new() }, pieces))
}

fn piece(value: &LoroValue) -> Option<Piece> {
    let part = match text(value, "kind")?.as_str() {
        "text" => Part::Text { key: text(value, "part"), text: text(value, "text").unwrap_or_default() },
        "reasoning" => Part::Reasoning { key: text(value, "part"), text: text(value, "text").unwrap_or_default() },
        "tool" => Part::Tool(tool(value)?),
        "input" => Part::Input { request: text(value, "requestId")?, resolved: flag(value, "resolved") },
        "error" => Part::Error { message: text(value, "message")? },
        other => Part::Other { kind: other.to_owned() },
    };
    Some(Piece { id: text(value, "id"), continues: text(value, "continues"), part })
}

fn tool(value: &LoroValue) -> Option<Tool> {
    Some(Tool {
        id: text(value, "id")?,
        name: name(field(value, "call")?),
        resolved: flag(value, "resolved"),
        is_error: flag(value, "isError"),
        child: text(value, "subagentRef"),
        child_state: match text(value, "subagentStatus").as_deref() {
            Some("running") => Some(ChildState::Running),
            Some("done") => Some(ChildState::Done),
            Some("failed") => Some(ChildState::Failed),
            _ => None,
        },
    })
}

/// Name of a call, the same for every provider: `exec`, `read_file` …, `SERVER/TOOL` for MCP, else the tool's own name.
fn name(call: &LoroValue) -> String {
    let kind = text(call, "kind").unwrap_or_default();
    match kind.as_str() {
        "unknown" => text(call, "name").unwrap_or_default(),
        // A spawn goes by the name of its tool alone, as the chip shows it.
        "mcp" => match (text(call, "server"), text(call, "tool")) {
            (_, Some(tool)) if tool == "Agent" || tool.starts_with("Agent: ") => tool,
            (Some(server), Some(tool)) => format!("{server}/{tool}"),
            _ => kind,
        },
        _ => kind.chars().fold(String::new(), |mut name, letter| {
            if letter.is_uppercase() {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
            name
        }),
    }
}
