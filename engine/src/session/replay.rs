//! Folding again: journal rows that the stored documents do not hold yet.
//!
//! A row is folded exactly as it was when it came. What was journaled and not folded then (stragglers of a child) is not folded
//! now either: the chips, which are part of the document, say which it was.

use std::collections::{BTreeMap, BTreeSet};

use super::chat::Chat;
use crate::{
    core::hub::Hub,
    event::{AgentEvent, DoneStatus},
    feed::{JournalRow, MessageState},
    subagents::{Sinks, subdoc_id},
};

impl Chat {
    /// Folds the rows behind `after`. `folded` says up to which number each child's document holds them; with `whole` the
    /// document had to be made anew, and entries of the user are put back where the journal tells their place.
    pub(super) fn replay(
        &mut self,
        hub: &mut Hub,
        sinks: &mut Sinks,
        rows: &[JournalRow],
        after: u64,
        folded: &BTreeMap<String, u64>,
        whole: bool,
    ) {
        if let Some(streams) = self.doc.streaming_entry().map(str::to_owned) {
            self.doc.begin_segment(&streams, hub.now.wall, &hub.config.device_id);
        }
        let steers: BTreeSet<&str> = rows.iter().filter_map(|row| steered(&row.event)).collect();
        for JournalRow { seq, event, .. } in rows.iter().filter(|row| row.seq > after) {
            match event {
                AgentEvent::Subagent { parent_tool_use_id, event } => {
                    let held = folded.get(&subdoc_id(&self.id, parent_tool_use_id)).is_some_and(|last| seq <= last);
                    self.route_child(hub, sinks, parent_tool_use_id, event, held);
                }
                AgentEvent::Steered { message_id, .. } => {
                    self.doc.finish_segment(false, None, None);
                    if let Some(message) = message_id.as_deref().filter(|_| whole) {
                        self.put_back(hub, |id| id == message);
                    }
                    self.begin_segment(hub);
                }
                AgentEvent::Done { status, error, .. } => {
                    self.doc.finish_segment(*status == DoneStatus::Interrupted, error.as_deref(), None);
                }
                AgentEvent::NativeForkReady { point, .. } => {
                    let entry = self.doc.segment_entry().filter(|_| !self.doc.segment_is_empty()).map(str::to_owned);
                    if let Some(entry) = entry {
                        self.doc.set_fork_point(&entry, point);
                    }
                }
                AgentEvent::SessionStarted { .. } if whole => {
                    // A process names its session once: the first prompt of it has no Steered of its own.
                    self.put_back(hub, |id| !steers.contains(id));
                }
                event => {
                    if opens(event) && !self.doc.has_segment() {
                        self.begin_segment(hub);
                    }
                    self.doc.fold(event);
                }
            }
        }
        if whole {
            while self.put_back(hub, |_| true) {}
        }
    }

    /// Writes the entry of the first message that is missing in the document. False: there is none.
    fn put_back(&mut self, hub: &Hub, wanted: impl Fn(&str) -> bool) -> bool {
        let shown = |state| !matches!(state, MessageState::Queued | MessageState::Withdrawn);
        let missing = self
            .messages
            .values()
            .find(|row| shown(row.state) && !self.doc.has_entry(&row.message_id) && wanted(&row.message_id));
        let Some((id, text)) = missing.map(|row| (row.message_id.clone(), row.text.clone())) else { return false };
        self.doc.push_user(&id, &text, hub.now.wall, &hub.config.device_id)
    }
}

/// Whether an event may be the first content of a turn that nobody prompted.
fn opens(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::TextDelta { .. }
            | AgentEvent::TextSnapshot { .. }
            | AgentEvent::ReasoningDelta { .. }
            | AgentEvent::ToolCall { .. }
            | AgentEvent::GeneratedImage { .. }
            | AgentEvent::Error { .. }
            | AgentEvent::InputRequested { .. }
    )
}

fn steered(event: &AgentEvent) -> Option<&str> {
    match event {
        AgentEvent::Steered { message_id, .. } => message_id.as_deref(),
        _ => None,
    }
}

/// Whether the journal ends inside a turn. Notes and what concerns children or the session alone say nothing about it: a parked
/// run goes on writing them. `begun` tells whether the row shows a turn that the provider has taken up.
pub(super) fn is_stale(rows: &[JournalRow], begun: impl Fn(bool) -> bool) -> bool {
    let mut named = false;
    for row in rows.iter().rev() {
        match &row.event {
            AgentEvent::Done { .. } => break,
            AgentEvent::SessionStarted { .. } => named = true,
            AgentEvent::Note { .. }
            | AgentEvent::Subagent { .. }
            | AgentEvent::SteerReturned { .. }
            | AgentEvent::InputResolved { .. }
            | AgentEvent::ContextUsage { .. }
            | AgentEvent::AvailableCommands { .. }
            | AgentEvent::AgentChanged { .. } => {}
            _ => return true,
        }
    }
    begun(named)
}
