//! A parked run that was started otherwise than one would be started now makes way before its next turn: never during a turn,
//! never while it has background work, since both would be killed with it.

use super::{chat::Chat, run::Run};
use crate::{
    core::hub::Hub,
    delegation::launch::{self, Stamp},
    feed::Status,
};

impl Chat {
    /// What a run that starts now is started with.
    pub(super) fn stamp(&self, hub: &Hub) -> Stamp {
        let harness = self.spec.harness.id();
        Stamp {
            mode: launch::mode(&self.row.parent, hub.prefs.subagents_off(harness), hub.config.ipc_port),
            build: hub.builds.get(harness).cloned(),
        }
    }

    /// Ends a parked run that is not what would be started now. The next message finds none, and resumes the session.
    pub(super) fn replace_outdated(&mut self, hub: &mut Hub) {
        let stamp = self.stamp(hub);
        let rests = |run: &Run| run.is_parked() && run.background == 0 && run.sinks.running() == 0 && run.ledger.is_empty();
        if self.run.as_ref().is_some_and(|run| run.takes_messages() && rests(run) && run.stamp.differs(&stamp)) {
            self.with_run(hub, |chat, hub, run| chat.end_run(hub, run, Status::Idle));
        }
    }
}
