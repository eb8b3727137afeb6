//! The parked gate: trailing frames of a finished turn must not reopen it, a wake of the provider must.

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{config::PARKED_GATE_MS, hub::Hub},
    event::{AgentEvent, LIVE_PLAN},
};

impl Chat {
    /// Untagged content of a parked run. The gate is a comparison with the instant of the park, no timer; it is open at once
    /// when a background subagent or task settled since the park, so that the text of a prompt wake is not lost.
    pub(super) fn gate(&mut self, hub: &mut Hub, run: &mut Run, event: AgentEvent) {
        let Phase::Parked { since } = run.phase else { return };
        if run.killed {
            // A run that is being killed wakes nobody: what it still says is the end of work that the user stopped.
            return;
        }
        let open = run.bypass || hub.now.mono >= since + PARKED_GATE_MS;
        let wakes = match &event {
            AgentEvent::TextDelta { text, .. } => !text.is_empty(),
            AgentEvent::ToolCall { id, .. } => id == LIVE_PLAN || !self.doc.knows_tool(id),
            AgentEvent::Error { .. } => true,
            // The session may name itself late (a typed fork as the first prompt); that is no content.
            AgentEvent::SessionStarted { .. } => {
                self.content(hub, run, event);
                return;
            }
            _ => false,
        };
        if open && wakes {
            self.turns += 1;
            self.open_turn(hub, run, true);
            self.content(hub, run, event);
        }
    }
}
