//! M1 to M3: entries and the states of what they hold.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    frames,
    wire::{Wire, slot},
};
use crate::{
    invariants::{Found, Invariant, Moment},
    view::{Chat, ChildState, Entry, EntryState, MessageState},
};

struct Known {
    id: String,
    /// Whether it may go again: an entry without content, or a message that was given or taken back.
    loose: bool,
}

/// M1.
#[derive(Default)]
pub(super) struct StableIds {
    chats: BTreeMap<String, Vec<Known>>,
}

impl StableIds {
    fn judge(&mut self, moment: &Moment<'_>, found: &mut Found, chat: &Chat) {
        let known = slot(&mut self.chats, &chat.id);
        let mut places = BTreeMap::new();
        let mut twice = None;
        for (place, entry) in chat.transcript.iter().enumerate() {
            if places.insert(entry.id.as_str(), place).is_some() {
                twice = Some(entry);
            }
        }
        found.judge("M1", moment.at, twice.is_none(), || {
            let (id, role) = twice.map_or(("", ""), |entry| (&entry.id, &entry.role));
            format!("{}: {role} entry {id} stands in the transcript twice", chat.id)
        });
        let mut last = 0;
        let moved = known.iter().find(|known| match places.get(known.id.as_str()) {
            Some(place) => std::mem::replace(&mut last, *place) > *place,
            None => !known.loose && !is_returned(chat, &known.id),
        });
        found.judge("M1", moment.at, moved.is_none(), || {
            format!("{}: entry {} went away or changed its place", chat.id, moved.map_or("", |known| known.id.as_str()))
        });
        *known = chat.transcript.iter().map(|entry| Known { id: entry.id.clone(), loose: entry.parts.is_empty() }).collect();
    }
}

fn is_returned(chat: &Chat, id: &str) -> bool {
    let returned = [MessageState::Queued, MessageState::NotDelivered, MessageState::Withdrawn];
    chat.messages.iter().any(|message| message.id == id && returned.contains(&message.state))
}

impl Invariant for StableIds {
    fn id(&self) -> &'static str {
        "M1"
    }

    fn words(&self) -> &'static str {
        "entries keep their ids and places, a user message is written once"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            let known = slot(&mut self.chats, &chat.id);
            let same_end = known.last().map(|known| known.id.as_str()) == chat.transcript.last().map(|entry| entry.id.as_str());
            if known.len() != chat.transcript.len() || !same_end {
                self.judge(moment, found, chat);
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in moment.view.chats.iter().filter(|chat| !chat.transcript.is_empty()) {
            self.judge(moment, found, chat);
        }
    }
}

fn streaming(entries: &[Entry]) -> Option<&Entry> {
    entries.iter().find(|entry| entry.state == EntryState::Streaming)
}

/// M2.
#[derive(Default)]
pub(super) struct StreamingEnds {
    wire: Wire,
    due: BTreeSet<String>,
}

impl Invariant for StreamingEnds {
    fn id(&self) -> &'static str {
        "M2"
    }

    fn words(&self) -> &'static str {
        "an entry that is being written ends as complete or aborted"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for batch in &look.batches {
            let chat = batch.chat;
            if batch.entries.iter().any(|entry| frames::kind(&entry.event) == "done") {
                self.due.insert(chat.id.clone());
            }
            if !self.due.contains(&chat.id) || !chat.delivery.is_delivered() {
                continue;
            }
            self.due.remove(&chat.id);
            // The next turn may have begun already.
            if chat.open_turn().is_none() && !self.wire.facts(&chat.id).opened {
                let open = streaming(&chat.transcript);
                found.judge("M2", moment.at, open.is_none(), || {
                    format!("{}: the turn is over, entry {} is still being written", chat.id, open.map_or("", |entry| &entry.id))
                });
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            // While the provider holds a turn open its reply, the last one, may wait.
            let reply = chat.transcript.iter().rposition(|entry| entry.role == "assistant");
            let closed = match (chat.open_turn(), reply) {
                (Some(_), Some(reply)) => &chat.transcript[..reply],
                _ => chat.transcript.as_slice(),
            };
            if !closed.is_empty() {
                let open = streaming(closed);
                found.judge("M2", moment.at, open.is_none(), || {
                    format!("{}: entry {} is never ended", chat.id, open.map_or("", |entry| &entry.id))
                });
            }
            for row in chat.rows.iter().filter(|row| row.state != ChildState::Running) {
                let Some(tab) = chat.tabs.iter().find(|tab| tab.child == row.child) else { continue };
                let open = streaming(&tab.entries);
                found.judge("M2", moment.at, open.is_none(), || {
                    format!(
                        "{}: {} is settled, its entry {} is never ended",
                        chat.id,
                        row.title,
                        open.map_or("", |entry| &entry.id)
                    )
                });
            }
        }
    }
}

#[derive(Default)]
struct Child {
    state: Option<ChildState>,
    /// Messages to it that the journal told of, and how many there were when it settled.
    steers: u64,
    settled_with: u64,
}

/// M3.
#[derive(Default)]
pub(super) struct Monotone {
    wire: Wire,
    children: BTreeMap<String, BTreeMap<String, Child>>,
    resolved: BTreeMap<String, BTreeSet<String>>,
}

impl Monotone {
    /// Tools that were resolved stay so. `live-plan` is one tool in each reply.
    fn tools(&mut self, moment: &Moment<'_>, found: &mut Found, chat: &Chat) {
        let resolved = slot(&mut self.resolved, &chat.id);
        for tool in chat.tools().filter(|tool| tool.id != "live-plan") {
            if tool.resolved {
                resolved.insert(tool.id.clone());
            }
            if resolved.contains(&tool.id) {
                found.judge("M3", moment.at, tool.resolved, || {
                    format!("{}: tool {} had a result and runs again", chat.id, tool.id)
                });
            }
        }
    }
}

impl Invariant for Monotone {
    fn id(&self) -> &'static str {
        "M3"
    }

    fn words(&self) -> &'static str {
        "a tool that ended does not run again, a child only when it is given a message"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for batch in &look.batches {
            let chat = batch.chat;
            let mut done = false;
            for entry in batch.entries {
                done |= frames::kind(&entry.event) == "done";
                let Some((chip, event)) = frames::child(&entry.event) else { continue };
                if matches!(frames::kind(event), "userMessage" | "steered") {
                    slot(slot(&mut self.children, &chat.id), chip).steers += 1;
                }
            }
            if done {
                self.tools(moment, found, chat);
            }
            if chat.rows.is_empty() || chat.delivery.rows > 0 {
                // The message that woke a child may be under way.
                continue;
            }
            let children = slot(&mut self.children, &chat.id);
            for row in &chat.rows {
                let child = slot(children, &row.chip);
                if child.state == Some(row.state) {
                    continue;
                }
                if let Some(before) = child.state {
                    let holds = before == ChildState::Running || child.steers > child.settled_with;
                    found.judge("M3", moment.at, holds, || {
                        format!("{}: {} went from {before:?} to {:?} without a message to it", chat.id, row.title, row.state)
                    });
                }
                child.state = Some(row.state);
                if row.state != ChildState::Running {
                    child.settled_with = child.steers;
                }
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            self.tools(moment, found, chat);
        }
    }
}
