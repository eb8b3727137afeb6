//! The fold rules once more, told as plainly as possible: no document, no index, no limit. The documents must agree with it.

use serde_json::json;

use super::script::{CREATED_AT, DEVICE, Op};
use crate::chat::layout::{EntryStatus, Role, SubagentStatus};
use crate::chat::read::{DiffStats, Entry, Part, ToolView};
use crate::event::{AgentEvent, LIVE_PLAN};

/// What the ops show.
pub fn entries(ops: &[Op]) -> Vec<Entry> {
    let mut model = Model { entries: Vec::new(), open: None };
    for op in ops {
        model.apply(op);
    }
    model.entries
}

struct Model {
    entries: Vec<Entry>,
    /// Id of the open segment.
    open: Option<String>,
}

impl Model {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::User { id, text } => {
                if self.find(id).is_none() && self.open.as_ref() != Some(id) {
                    let parts = vec![Part::Text { part: None, text: text.clone() }];
                    self.entries.push(entry(id, Role::User, EntryStatus::Complete, parts));
                }
            }
            Op::Begin { id } => {
                if self.open.as_ref().is_some_and(|open| open != id) {
                    self.finish(false, None);
                }
                let free = self.find(id).is_none_or(|entry| entry.status == EntryStatus::Streaming);
                self.open = free.then(|| id.clone());
            }
            Op::Fold(event) => self.fold(event),
            Op::Chip { id, doc, status, revive } => self.chip(id, doc.as_ref(), *status, *revive),
            Op::Finish { aborted, error } => self.finish(*aborted, error.as_deref()),
            Op::Point { id, point } => {
                if let Some(entry) = self.find(id) {
                    entry.native_fork_point = Some(json!(point));
                }
            }
            Op::Recover { error } => {
                for entry in self.entries.iter_mut().filter(|entry| entry.status == EntryStatus::Streaming) {
                    end(entry, true, Some(error));
                }
                self.open = None;
            }
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    fn parts(&mut self) -> impl DoubleEndedIterator<Item = &mut Part> {
        self.entries.iter_mut().flat_map(|entry| &mut entry.parts)
    }

    fn tool(&mut self, id: &str) -> Option<&mut ToolView> {
        self.parts().rev().find_map(|part| match part {
            Part::Tool(tool) if tool.id == id => Some(tool),
            _ => None,
        })
    }

    /// Parts of the open segment, whose entry is made now.
    fn open_parts(&mut self) -> Option<&mut Vec<Part>> {
        let id = self.open.clone()?;
        if self.find(&id).is_none() {
            self.entries.push(entry(&id, Role::Assistant, EntryStatus::Streaming, Vec::new()));
        }
        Some(&mut self.find(&id)?.parts)
    }

    fn fold(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TextDelta { text, part } => self.text(Part::Text { part: part.clone(), text: text.clone() }),
            AgentEvent::ReasoningDelta { text, part } => self.text(Part::Reasoning { part: part.clone(), text: text.clone() }),
            AgentEvent::TextSnapshot { part, text } => {
                let newest = self.parts().rev().find(|found| key(found) == Some(part));
                if let Some(Part::Text { text: old, .. } | Part::Reasoning { text: old, .. }) = newest {
                    old.clone_from(text);
                    let empty =
                        |part: &Part| matches!(part, Part::Text { text, .. } | Part::Reasoning { text, .. } if text.is_empty());
                    self.entries.iter_mut().for_each(|entry| entry.parts.retain(|part| !empty(part)));
                } else {
                    self.text(Part::Text { part: Some(part.clone()), text: text.clone() });
                }
            }
            AgentEvent::ToolCall { id, call } => {
                let call = call.clone().sanitized();
                let here = self.open.clone();
                let elsewhere = |entry: &&mut Entry| id != LIVE_PLAN || here.as_ref() == Some(&entry.id);
                let known = self.entries.iter_mut().filter(elsewhere).flat_map(|entry| &mut entry.parts).rev();
                let known = known.into_iter().find_map(|part| match part {
                    Part::Tool(tool) if &tool.id == id => Some(tool),
                    _ => None,
                });
                if let Some(tool) = known {
                    tool.call = call;
                } else if let Some(parts) = self.open_parts() {
                    parts.push(Part::Tool(ToolView {
                        id: id.clone(),
                        call,
                        resolved: false,
                        is_error: false,
                        output_bytes: None,
                        diff_stats: None,
                        subagent_ref: None,
                        subagent_status: None,
                    }));
                }
            }
            AgentEvent::ToolResult { id, is_error, output, diff } => {
                if let Some(tool) = self.tool(id).filter(|tool| !tool.resolved) {
                    tool.resolved = true;
                    tool.is_error = *is_error;
                    tool.output_bytes = output.as_ref().map(|output| output.len() as u64);
                    tool.diff_stats = diff.as_ref().map(|_| DiffStats { added: 2, removed: 1 });
                }
            }
            AgentEvent::InputRequested { request_id, questions } => {
                let known = self.parts().any(|part| matches!(part, Part::Input { request_id: id, .. } if id == request_id));
                if !known && let Some(parts) = self.open_parts() {
                    parts.push(Part::Input { request_id: request_id.clone(), questions: questions.clone(), resolved: false });
                }
            }
            AgentEvent::InputResolved { request_id } => {
                for part in self.parts() {
                    if let Part::Input { request_id: id, resolved, .. } = part {
                        *resolved |= id == request_id;
                    }
                }
            }
            AgentEvent::Error { message } => {
                if let Some(parts) = self.open_parts() {
                    parts.push(Part::Error { message: message.clone() });
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, new: Part) {
        let (Part::Text { text: more, .. } | Part::Reasoning { text: more, .. }) = &new else { return };
        if more.is_empty() {
            return;
        }
        let more = more.clone();
        let Some(parts) = self.open_parts() else { return };
        let same = |part: &Part| std::mem::discriminant(part) == std::mem::discriminant(&new) && key(part) == key(&new);
        let known = match key(&new) {
            Some(wanted) => parts.iter_mut().rev().find(|part| key(part) == Some(wanted)),
            None => parts.last_mut(),
        };
        match known.filter(|part| same(part)) {
            Some(Part::Text { text, .. } | Part::Reasoning { text, .. }) => text.push_str(&more),
            _ => parts.push(new),
        }
    }

    fn chip(&mut self, id: &str, doc: Option<&String>, status: Option<SubagentStatus>, revive: bool) {
        let Some(chip) = self.tool(id).filter(|tool| tool.call.is_spawn()) else { return };
        if doc.is_some() {
            chip.subagent_ref = doc.cloned();
            chip.subagent_status = chip.subagent_status.or(status).or(Some(SubagentStatus::Running));
        }
        let ended = chip.subagent_status.is_some_and(SubagentStatus::is_terminal);
        if !ended || revive && status == Some(SubagentStatus::Running) {
            chip.subagent_status = status.or(chip.subagent_status);
        }
    }

    fn finish(&mut self, aborted: bool, error: Option<&str>) {
        if error.is_some() {
            self.open_parts();
        }
        if let Some(id) = self.open.take()
            && let Some(entry) = self.find(&id)
        {
            end(entry, aborted, error);
        }
    }
}

fn key(part: &Part) -> Option<&String> {
    match part {
        Part::Text { part, .. } | Part::Reasoning { part, .. } => part.as_ref(),
        _ => None,
    }
}

fn end(entry: &mut Entry, aborted: bool, error: Option<&str>) {
    if let Some(message) = error {
        let part = Part::Error { message: message.to_owned() };
        if !entry.parts.contains(&part) {
            entry.parts.push(part);
        }
    }
    entry.status = if aborted { EntryStatus::Aborted } else { EntryStatus::Complete };
    for part in &mut entry.parts {
        if let Part::Input { resolved, .. } = part {
            *resolved = true;
        }
    }
}

fn entry(id: &str, role: Role, status: EntryStatus, parts: Vec<Part>) -> Entry {
    Entry {
        id: id.to_owned(),
        role,
        status,
        created_at: CREATED_AT,
        device_id: DEVICE.to_owned(),
        duration_ms: None,
        native_fork_point: None,
        parts,
    }
}
