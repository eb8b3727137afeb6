//! Tools by id, and the chips among them: tool parts that stand for a subagent spawn.

use loro::LoroMap;

use super::doc::ChatDoc;
use super::layout::{SubagentStatus, part};
use super::value::sure;
use crate::event::LIVE_PLAN;

/// One tool part.
pub(super) struct ToolPart {
    pub map: LoroMap,
    pub entry: usize,
    pub slot: u64,
    /// Name of the spawn, when the call is one.
    pub spawn: Option<String>,
    pub resolved: bool,
    pub subagent_ref: Option<String>,
    pub status: Option<SubagentStatus>,
}

/// Where one chip stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipState {
    /// Tool-use id.
    pub id: String,
    /// Name of the spawn: `Agent`, `Agent: /probe`.
    pub name: String,
    /// Document of the child, once it has one.
    pub subagent_ref: Option<String>,
    /// Where the child stands; none before its first event.
    pub status: Option<SubagentStatus>,
    /// Whether a result of the call came. The child of a background spawn runs on after it.
    pub resolved: bool,
}

impl ChatDoc {
    /// Whether a tool id belongs to an earlier segment and not to the open one: what still comes for it is a stale echo. The
    /// live plan never is.
    pub fn tool_in_earlier_segment(&self, id: &str) -> bool {
        let here = |tool: &ToolPart| Some(tool.entry) == self.current();
        id != LIVE_PLAN && self.tools.get(id).is_some_and(|parts| !parts.iter().any(here))
    }

    /// Whether any entry holds a tool with this id.
    pub fn knows_tool(&self, id: &str) -> bool {
        self.tools.contains_key(id)
    }

    /// Whether any entry holds a chip with this id.
    pub fn has_chip(&self, id: &str) -> bool {
        self.newest_chip(id).is_some()
    }

    /// The chip with this id; of several the one in the newest entry.
    pub fn chip(&self, id: &str) -> Option<ChipState> {
        let tool = &self.tools.get(id)?[self.newest_chip(id)?];
        Some(ChipState {
            id: id.to_owned(),
            name: tool.spawn.clone()?,
            subagent_ref: tool.subagent_ref.clone(),
            status: tool.status,
            resolved: tool.resolved,
        })
    }

    /// All chips in transcript order, each once, where its newest part stands.
    pub fn chips(&self) -> Vec<ChipState> {
        let newest = |(entry, slot, id): &(usize, u64, String)| {
            let tool = &self.tools.get(id)?[self.newest_chip(id)?];
            if (tool.entry, tool.slot) == (*entry, *slot) { self.chip(id) } else { None }
        };
        self.chip_order.iter().filter_map(newest).collect()
    }

    /// Sets what is known of a chip's child, on the newest entry that holds the chip. Returns whether the document changed.
    ///
    /// A status is monotone: nothing replaces `done` or `failed` but `running`, and that only with `revive`, which stands for an
    /// explicit steer of the child (M3). A chip that gets its document without a status is `running`: a part with a document
    /// always has a status.
    pub fn set_chip(&mut self, id: &str, subagent_ref: Option<&str>, status: Option<SubagentStatus>, revive: bool) -> bool {
        let Some(newest) = self.newest_chip(id) else { return false };
        let Some(tool) = self.tools.get_mut(id).and_then(|parts| parts.get_mut(newest)) else { return false };
        let mut changed = false;
        if let Some(subagent_ref) = subagent_ref
            && tool.subagent_ref.as_deref() != Some(subagent_ref)
        {
            sure(tool.map.insert(part::SUBAGENT_REF, subagent_ref));
            tool.subagent_ref = Some(subagent_ref.to_owned());
            changed = true;
        }
        let implied = subagent_ref.and(Some(SubagentStatus::Running)).filter(|_| tool.status.is_none());
        if let Some(next) = status.or(implied) {
            let allowed = match tool.status {
                None => true,
                Some(old) if old == next => false,
                Some(SubagentStatus::Running) => true,
                Some(SubagentStatus::Done | SubagentStatus::Failed) => revive && next == SubagentStatus::Running,
            };
            if allowed {
                sure(tool.map.insert(part::SUBAGENT_STATUS, next.as_str()));
                tool.status = Some(next);
                changed = true;
            }
        }
        self.dirty |= changed;
        changed
    }

    /// Unresolved tools of the open segment, in transcript order; the live plan never counts as open.
    pub fn open_tools(&self) -> Vec<String> {
        let open = self.current().map(|index| self.replies[index].open_tools.values());
        open.into_iter().flatten().filter(|id| *id != LIVE_PLAN).cloned().collect()
    }

    fn newest_chip(&self, id: &str) -> Option<usize> {
        self.tools.get(id)?.iter().rposition(|tool| tool.spawn.is_some())
    }
}
