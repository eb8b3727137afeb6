//! Reading a document as a viewer does: the layout is public (`meta` map, `messages` list), the code is the viewer's own.
//!
//! A malformed entry is skipped and never blanks the transcript. Continuations (`<root>#c<n>`) and pieces of long texts
//! (`<id>~<n>`) are joined.

use loro::{LoroDoc, LoroValue};

use super::model::{ChildState, Entry, EntryState, Part, Tool};

/// The entries of a document in order.
pub fn entries(doc: &LoroDoc) -> Vec<Entry> {
    let LoroValue::List(messages) = doc.get_list("messages").get_deep_value() else { return Vec::new() };
    let mut entries: Vec<Entry> = Vec::new();
    for value in messages.iter() {
        let Some((mut entry, parts)) = entry(value) else { continue };
        let root = text(value, "continuationOf");
        if let Some(root) = root.and_then(|root| entries.iter_mut().rev().find(|entry| entry.id == root)) {
            root.state = entry.state;
            parts.into_iter().for_each(|part| join(&mut root.parts, part));
            continue;
        }
        parts.into_iter().for_each(|part| join(&mut entry.parts, part));
        entries.push(entry);
    }
    entries
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

/// An entry without its parts, and the parts, each with whether it goes on the text before it.
fn entry(value: &LoroValue) -> Option<(Entry, Vec<(Part, bool)>)> {
    let state = match text(value, "status")?.as_str() {
        "streaming" => EntryState::Streaming,
        "complete" => EntryState::Complete,
        "aborted" => EntryState::Aborted,
        _ => return None,
    };
    let parts = match field(value, "parts") {
        Some(LoroValue::List(list)) => list.iter().filter_map(part).collect(),
        _ => Vec::new(),
    };
    Some((Entry { id: text(value, "id")?, role: text(value, "role")?, state, parts: Vec::new() }, parts))
}

/// A piece of a long text goes on where the piece before it ended.
fn join(parts: &mut Vec<Part>, (part, continues): (Part, bool)) {
    if continues {
        match (parts.last_mut(), &part) {
            (Some(Part::Text { text, .. }), Part::Text { text: more, .. })
            | (Some(Part::Reasoning { text, .. }), Part::Reasoning { text: more, .. }) => {
                text.push_str(more);
                return;
            }
            _ => {}
        }
    }
    parts.push(part);
}

fn part(value: &LoroValue) -> Option<(Part, bool)> {
    let continues = field(value, "continues").is_some();
    let part = match text(value, "kind")?.as_str() {
        "text" => Part::Text { key: text(value, "part"), text: text(value, "text").unwrap_or_default() },
        "reasoning" => Part::Reasoning { key: text(value, "part"), text: text(value, "text").unwrap_or_default() },
        "tool" => Part::Tool(tool(value)?),
        "input" => Part::Input { request: text(value, "requestId")?, resolved: flag(value, "resolved") },
        "error" => Part::Error { message: text(value, "message")? },
        other => Part::Other { kind: other.to_owned() },
    };
    Some((part, continues))
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

/// Name of a call: its own name where it has one, else its kind with a capital letter.
fn name(call: &LoroValue) -> String {
    if let Some(name) = text(call, "name").or_else(|| text(call, "tool")) {
        return name;
    }
    let kind = text(call, "kind").unwrap_or_default();
    let mut letters = kind.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => kind,
    }
}
