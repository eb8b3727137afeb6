//! I5: no tool left running.

use super::memory;
use crate::{
    evidence::{Evidence, Shared},
    invariants::{Found, Invariant, Moment},
    view::{Chat, ChildState, Entry, EntryState, Part, Tool},
};

const ID: &str = "I5";

/// I5. A tool is shown as running while its result has not come and its entry is still being written: in a finished or aborted
/// entry a tool without a result is shown as cancelled. Judged at rest, and once all processes of a chat are gone.
pub struct Tools {
    evidence: Shared,
    /// Per chat: the number of ended processes at which it was judged.
    judged: Vec<usize>,
}

impl Tools {
    pub(super) fn new(evidence: &Shared) -> Self {
        Tools { evidence: evidence.clone(), judged: Vec::new() }
    }
}

impl Invariant for Tools {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a running tool belongs to an open turn or to background work, and the process that runs it lives"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let judged = memory(&mut self.judged, index);
            let ended = evidence.processes_of(&chat.id).filter(|process| process.exited_at.is_some()).count();
            let over = !evidence.alive(&chat.id) && chat.open_turn().is_none() && chat.delivery.is_delivered();
            if ended != *judged && over {
                *judged = ended;
                judge(&evidence, chat, moment.at, found);
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for chat in &moment.view.chats {
            judge(&evidence, chat, moment.at, found);
        }
    }
}

fn judge(evidence: &Evidence, chat: &Chat, at: u64, found: &mut Found) {
    let alive = evidence.alive(&chat.id);
    let open = chat.open_turn().is_some();
    for (tool, running) in shown(&chat.transcript) {
        found.judge(ID, at, !running || (open && alive), || {
            let why = if open { "its process is gone" } else { "no turn is open" };
            format!("{}: tool {} ({}) is shown as running, and {why}", chat.id, tool.id, tool.name)
        });
    }
    for row in &chat.rows {
        let running = row.state == ChildState::Running;
        found.judge(ID, at, !running || alive, || {
            format!("{}: {} is shown as running, and its process is gone", chat.id, row.title)
        });
        let tab = chat.tabs.iter().find(|tab| tab.child == row.child);
        for (tool, running_tool) in tab.into_iter().flat_map(|tab| shown(&tab.entries)) {
            found.judge(ID, at, !running_tool || running, || {
                format!("{}: tool {} in the tab {} is shown as running, and {} has ended", chat.id, tool.id, row.title, row.title)
            });
        }
    }
}

/// Tools of entries, and whether each is shown as running.
fn shown(entries: &[Entry]) -> impl Iterator<Item = (&Tool, bool)> {
    entries.iter().flat_map(|entry| {
        entry.parts.iter().filter_map(|part| match part {
            Part::Tool(tool) => Some((tool, !tool.resolved && entry.state == EntryState::Streaming)),
            _ => None,
        })
    })
}
