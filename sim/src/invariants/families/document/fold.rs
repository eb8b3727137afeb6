//! A second fold of the journal, written from the rules alone: what transcript and tabs must hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::frames;
use crate::view::{Entry, Part, Tab};

/// One piece of content. Texts that follow each other are one: where the document splits them is its own affair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A message to a child.
    User(String),
    /// Text of a reply.
    Text(String),
    /// A tool call, by its id.
    Tool(String),
}

/// The singleton plan is shown anew in each reply; it is left out on both sides.
const LIVE_PLAN: &str = "live-plan";

#[derive(Clone, Debug)]
enum Piece {
    User(String),
    Text { key: Option<String>, text: String },
    Tool(String),
}

/// A run of content: the segments of a chat, or a child's whole tab.
#[derive(Debug, Default)]
struct Stream {
    segments: Vec<Vec<Piece>>,
    reasoning: BTreeSet<String>,
    tools: BTreeSet<String>,
}

impl Stream {
    fn current(&mut self) -> &mut Vec<Piece> {
        if self.segments.is_empty() {
            self.segments.push(Vec::new());
        }
        let last = self.segments.len() - 1;
        &mut self.segments[last]
    }

    fn close(&mut self) {
        if self.segments.last().is_some_and(|segment| !segment.is_empty()) {
            self.segments.push(Vec::new());
        }
    }

    fn fold(&mut self, event: &Value) {
        let text = event["text"].as_str().unwrap_or_default();
        let part = event["part"].as_str();
        match frames::kind(event) {
            "textDelta" if !text.is_empty() => self.text(part, text),
            "reasoningDelta" => self.reasoning.extend(part.map(str::to_string)),
            "textSnapshot" => self.snapshot(part.unwrap_or_default(), text),
            "toolCall" => {
                let id = event["id"].as_str().unwrap_or_default();
                if id != LIVE_PLAN && self.tools.insert(id.to_string()) {
                    self.current().push(Piece::Tool(id.to_string()));
                }
            }
            "userMessage" => {
                self.current().push(Piece::User(text.to_string()));
            }
            _ => {}
        }
    }

    /// Text belongs to the part of its key in this segment; without a key it goes on where unkeyed text stands last.
    fn text(&mut self, part: Option<&str>, text: &str) {
        let segment = self.current();
        let place = match part {
            Some(part) => segment.iter().rposition(|piece| matches!(piece, Piece::Text { key: Some(key), .. } if key == part)),
            None => segment.len().checked_sub(1),
        };
        match place.map(|place| &mut segment[place]) {
            Some(Piece::Text { key, text: before }) if key.as_deref() == part => before.push_str(text),
            _ => segment.push(Piece::Text { key: part.map(str::to_string), text: text.to_string() }),
        }
    }

    /// Replaces the text of a part where it stands.
    fn snapshot(&mut self, part: &str, text: &str) {
        let of_part = |piece: &Piece| matches!(piece, Piece::Text { key: Some(key), .. } if key == part);
        for segment in self.segments.iter_mut().rev() {
            if let Some(place) = segment.iter().rposition(of_part) {
                match text.is_empty() {
                    true => _ = segment.remove(place),
                    false => segment[place] = Piece::Text { key: Some(part.to_string()), text: text.to_string() },
                }
                return;
            }
        }
        if !text.is_empty() && !self.reasoning.contains(part) {
            self.current().push(Piece::Text { key: Some(part.to_string()), text: text.to_string() });
        }
    }
}

fn items(pieces: &[Piece]) -> Vec<Item> {
    let mut items = Vec::new();
    for piece in pieces {
        match piece {
            Piece::User(text) => items.push(Item::User(text.clone())),
            Piece::Text { text, .. } => push_text(&mut items, text),
            Piece::Tool(id) => items.push(Item::Tool(id.clone())),
        }
    }
    items
}

fn push_text(items: &mut Vec<Item>, text: &str) {
    match items.last_mut() {
        _ if text.is_empty() => {}
        Some(Item::Text(before)) => before.push_str(text),
        _ => items.push(Item::Text(text.to_string())),
    }
}

/// What the journal of one chat says.
#[derive(Debug, Default)]
pub(super) struct Fold {
    stream: Stream,
    /// Results of tools: id, whether it was an error. The first one counts.
    pub results: BTreeMap<String, bool>,
    chips: BTreeSet<String>,
    children: BTreeMap<String, ChildFold>,
    sessions: u64,
}

#[derive(Debug, Default)]
struct ChildFold {
    stream: Stream,
    settled: bool,
    session: u64,
    /// Set when it went on in another run: what the new run takes of it cannot be told from the journal.
    doubtful: bool,
}

impl Fold {
    /// Folds one event.
    pub fn fold(&mut self, event: &Value) {
        match frames::kind(event) {
            "subagent" => {
                if let Some((chip, child)) = frames::child(event) {
                    self.child(chip, child);
                }
                return;
            }
            "steered" | "done" => self.stream.close(),
            "sessionStarted" => self.sessions += 1,
            "toolResult" => {
                // One that comes before its call resolves nothing.
                let id = event["id"].as_str().filter(|id| self.stream.tools.contains(*id));
                let error = event["isError"].as_bool().unwrap_or(false);
                id.map(|id| self.results.entry(id.to_string()).or_insert(error));
            }
            _ => {}
        }
        if let (Some(_), Some(id)) = (frames::chip_name(event), event["id"].as_str()) {
            self.chips.insert(id.to_string());
        }
        self.stream.fold(event);
    }

    fn child(&mut self, chip: &str, event: &Value) {
        if !self.chips.contains(chip) {
            // No chip: journal only.
            return;
        }
        let sessions = self.sessions;
        let child =
            self.children.entry(chip.to_string()).or_insert_with(|| ChildFold { session: sessions, ..ChildFold::default() });
        child.doubtful |= child.settled && child.session < sessions;
        match frames::kind(event) {
            "done" => child.settled = true,
            "userMessage" | "steered" => {
                child.settled = false;
                child.stream.fold(event);
            }
            // A straggler of a settled child stays in the journal.
            _ if child.settled => {}
            _ => child.stream.fold(event),
        }
    }

    /// Contents of the replies, those without any left out.
    pub fn replies(&self, from: usize) -> Vec<Vec<Item>> {
        let shown = self.stream.segments.iter().filter(|segment| !segment.is_empty());
        shown.skip(from).map(|segment| items(segment)).filter(|items| !items.is_empty()).collect()
    }

    /// Content of a child's tab; `None` where the journal cannot tell.
    pub fn tab(&self, chip: &str) -> Option<Vec<Item>> {
        let child = self.children.get(chip).filter(|child| !child.doubtful)?;
        let pieces: Vec<Piece> = child.stream.segments.concat();
        Some(items(&pieces))
    }
}

/// Contents of the replies in a transcript, continuations joined, those without content left out.
pub(super) fn shown_replies(transcript: &[Entry]) -> Vec<Vec<Item>> {
    let mut replies: Vec<(&str, Vec<Item>)> = Vec::new();
    for entry in transcript.iter().filter(|entry| entry.role == "assistant") {
        let root = entry.id.split_once("#c").map_or(entry.id.as_str(), |(root, _)| root);
        match replies.iter_mut().rev().find(|(id, _)| *id == root) {
            Some((_, items)) => add(items, &entry.parts),
            None => {
                let mut items = Vec::new();
                add(&mut items, &entry.parts);
                replies.push((root, items));
            }
        }
    }
    replies.into_iter().map(|(_, items)| items).filter(|items| !items.is_empty()).collect()
}

/// Content of a tab.
pub(super) fn shown_tab(tab: &Tab) -> Vec<Item> {
    let mut items = Vec::new();
    for entry in &tab.entries {
        match entry.role.as_str() {
            "user" => {
                let mut text = Vec::new();
                add(&mut text, &entry.parts);
                items.extend(text.into_iter().map(|item| match item {
                    Item::Text(text) => Item::User(text),
                    other => other,
                }));
            }
            _ => add(&mut items, &entry.parts),
        }
    }
    items
}

fn add(items: &mut Vec<Item>, parts: &[Part]) {
    for part in parts {
        match part {
            Part::Text { text, .. } => push_text(items, text),
            Part::Tool(tool) if tool.id != LIVE_PLAN => items.push(Item::Tool(tool.id.clone())),
            _ => {}
        }
    }
}

/// Equal but for white space at the ends of texts, and for empty ones.
pub(super) fn same(left: &[Item], right: &[Item]) -> bool {
    fn bare(items: &[Item]) -> impl Iterator<Item = (u8, &str)> {
        let bare = items.iter().map(|item| match item {
            Item::User(text) => (0, text.trim()),
            Item::Text(text) => (1, text.trim()),
            Item::Tool(id) => (2, id.as_str()),
        });
        bare.filter(|(_, text)| !text.is_empty())
    }
    bare(left).eq(bare(right))
}
