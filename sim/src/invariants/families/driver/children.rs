//! D5 to D7: what is the child's stays the child's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{
    frames,
    wire::{Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
};

/// What one side of the wire said: the chat itself, or its children.
#[derive(Default)]
struct Side {
    tools: BTreeSet<String>,
    messages: BTreeSet<String>,
    texts: BTreeSet<String>,
}

impl Side {
    fn take(&mut self, frame: &Value) {
        if frames::kind(frame) == "stream_event" {
            self.messages.extend(frame["event"]["message"]["id"].as_str().map(str::to_string));
        }
        if frames::kind(frame) == "assistant" {
            self.messages.extend(frame["message"]["id"].as_str().map(str::to_string));
            self.messages.extend(frame["uuid"].as_str().map(str::to_string));
            self.tools.extend(frames::tool_uses(frame).map(|(id, _, _)| id.to_string()));
            self.texts.extend(frames::texts(frame).map(|text| text.trim().to_string()));
        }
        let results = frames::blocks(frame).filter(|block| frames::kind(block) == "tool_result");
        self.tools.extend(results.filter_map(|block| block["tool_use_id"].as_str()).map(str::to_string));
    }

    /// Whether an event stems from this side, as far as its ids and words tell.
    fn said(&self, event: &Value) -> bool {
        let known = |set: &BTreeSet<String>, key: &str| event[key].as_str().is_some_and(|id| set.contains(id));
        match frames::kind(event) {
            "toolCall" | "toolResult" => known(&self.tools, "id"),
            "textDelta" | "reasoningDelta" | "textSnapshot" => match event["part"].as_str() {
                Some(part) => self.messages.contains(part.rsplit_once('/').map_or(part, |(message, _)| message)),
                None => event["text"].as_str().is_some_and(|text| self.texts.contains(text.trim())),
            },
            _ => false,
        }
    }
}

/// D5.
#[derive(Default)]
pub(in super::super) struct OwnSide {
    wire: Wire,
    plain: Side,
    tagged: Side,
    /// Tool calls of children, with the tag that they were said under.
    tags: BTreeMap<String, String>,
    spawns: BTreeSet<String>,
}

impl Invariant for OwnSide {
    fn id(&self) -> &'static str {
        "D5"
    }

    fn words(&self) -> &'static str {
        "what a child said never appears as the chat's own, what the chat said never appears as a child's"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            match frames::tag(frame) {
                Some(tag) => {
                    self.tagged.take(frame);
                    for (id, _, _) in frames::tool_uses(frame) {
                        self.tags.insert(id.to_string(), tag.to_string());
                    }
                }
                None => {
                    self.plain.take(frame);
                    let spawns = frames::tool_uses(frame).filter(|(_, name, _)| frames::spawns(name));
                    self.spawns.extend(spawns.map(|(id, _, _)| id.to_string()));
                }
            }
        }
        for batch in &look.batches {
            for entry in batch.entries {
                let chip = frames::child(&entry.event);
                let event = chip.map_or(&entry.event, |(_, event)| event);
                let (plain, tagged) = (self.plain.said(event), self.tagged.said(event));
                if !plain && !tagged {
                    continue;
                }
                let kind = frames::kind(event);
                found.judge("D5", moment.at, if chip.is_some() { tagged } else { plain }, || {
                    let (said, shown) = if chip.is_some() { ("the chat", "a child") } else { ("a child", "the chat") };
                    format!("journal {} of {}: a {kind} that {said} said appears as {shown}'s", entry.seq, batch.chat.id)
                });
                let tag = event["id"].as_str().and_then(|id| self.tags.get(id));
                if let (Some((chip, _)), Some(tag)) = (chip, tag) {
                    // A fork's frames go to its chip, those of a later call to the child that it addresses.
                    let moved = chip != tag.as_str() && self.spawns.contains(tag);
                    found.judge("D5", moment.at, !moved, || {
                        format!("journal {} of {}: a {kind} of child {tag} appears under {chip}", entry.seq, batch.chat.id)
                    });
                }
            }
        }
    }
}

/// D6.
#[derive(Default)]
pub(in super::super) struct NoRotation {
    wire: Wire,
}

impl Invariant for NoRotation {
    fn id(&self) -> &'static str {
        "D6"
    }

    fn words(&self) -> &'static str {
        "a child's frame never closes a message of its parent"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for batch in &look.batches {
            let closed = batch.entries.iter().filter(|entry| frames::kind(&entry.event) == "assistantMessageCompleted").count();
            let (mut own, mut childs) = (0, 0);
            for happening in &moment.history.happenings[batch.span.from..batch.span.to] {
                let What::Said { pid, frame, .. } = &happening.what else { continue };
                if !self.wire.is_of(*pid, &batch.chat.id) {
                    continue;
                }
                match (frames::tag(frame), frames::kind(frame)) {
                    (Some(_), _) => childs += 1,
                    (None, "assistant") => own += 1,
                    _ => {}
                }
            }
            let reads = self.wire.procs_of(&batch.chat.id).all(|(_, proc)| proc.claude);
            if reads && closed + childs > 0 {
                found.judge("D6", moment.at, closed <= own, || {
                    format!(
                        "{}: {closed} message(s) closed where the chat itself said {own} frame(s) and its children {childs}",
                        batch.chat.id
                    )
                });
            }
        }
    }
}

#[derive(Default)]
struct Bindings {
    child_of: BTreeMap<String, String>,
    chip_of: BTreeMap<String, String>,
}

/// D7.
#[derive(Default)]
pub(in super::super) struct OneChip {
    wire: Wire,
    plain: BTreeSet<String>,
    /// Tasks of typed forks, with the chip that stands for each.
    forks: BTreeMap<String, Option<String>>,
    chips: BTreeSet<String>,
    bindings: BTreeMap<String, Bindings>,
}

impl OneChip {
    fn fault(&mut self, chip: &str) -> Option<String> {
        if self.plain.contains(chip) || !self.chips.insert(chip.to_string()) {
            return None;
        }
        let fork = self.forks.iter_mut().find(|(task, _)| chip.contains(task.as_str()));
        let Some((task, known)) = fork else {
            return Some(format!("chip {chip} stands for no spawn that the provider told of"));
        };
        match known {
            Some(other) if other != chip => Some(format!("task {task} has two chips, {other} and {chip}")),
            _ => {
                *known = Some(chip.to_string());
                None
            }
        }
    }
}

impl Invariant for OneChip {
    fn id(&self) -> &'static str {
        "D7"
    }

    fn words(&self) -> &'static str {
        "one chip per subagent, and the chip keeps its child"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            if frames::tag(frame).is_none() {
                self.plain.extend(frames::tool_uses(frame).map(|(id, _, _)| id.to_string()));
            }
            if frames::is_fork_start(frame) {
                slot(&mut self.forks, frames::task(frame).unwrap_or_default());
            }
        }
        for batch in &look.batches {
            let reads = self.wire.procs_of(&batch.chat.id).all(|(_, proc)| proc.claude);
            for entry in batch.entries.iter().filter(|entry| reads && frames::chip_name(&entry.event).is_some()) {
                let fault = self.fault(entry.event["id"].as_str().unwrap_or_default());
                found.judge("D7", moment.at, fault.is_none(), || format!("{}: {}", batch.chat.id, fault.unwrap_or_default()));
            }
            let bindings = slot(&mut self.bindings, &batch.chat.id);
            for row in &batch.chat.rows {
                let (child, chip) = (bindings.child_of.get(&row.chip), bindings.chip_of.get(&row.child));
                if let (Some(child), Some(chip)) = (child, chip)
                    && *child == row.child
                    && *chip == row.chip
                {
                    continue;
                }
                let moved = child.is_some_and(|child| *child != row.child) || chip.is_some_and(|chip| *chip != row.chip);
                found.judge("D7", moment.at, !moved, || {
                    format!("{}: chip {} and child {} were bound to others before", batch.chat.id, row.chip, row.child)
                });
                bindings.child_of.insert(row.chip.clone(), row.child.clone());
                bindings.chip_of.insert(row.child.clone(), row.chip.clone());
            }
        }
    }
}
