//! I8: at most one live writer a session.

use std::collections::BTreeSet;

use super::since;
use crate::{
    evidence::{ProcessFacts, Shared},
    history::What,
    invariants::{Found, Invariant, Moment},
    view::ProcessState,
};

const ID: &str = "I8";

/// I8. A process that the host sent SIGKILL writes nothing more, though its end comes later. Sessions are those that a process was told to resume or named itself. A host with an inside view also keeps a hold on
/// every process until it is reaped.
pub struct Writers {
    evidence: Shared,
    happenings: usize,
    told: BTreeSet<(u32, u32)>,
    killed: BTreeSet<u32>,
}

impl Writers {
    pub(super) fn new(evidence: &Shared) -> Self {
        Writers { evidence: evidence.clone(), happenings: 0, told: BTreeSet::new(), killed: BTreeSet::new() }
    }
}

impl Invariant for Writers {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a provider session has at most one live process that may write to it, and only own processes are killed"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for happening in since(&mut self.happenings, moment.history) {
            match &happening.what {
                What::Spawned { .. } => found.checked += 1,
                What::Signal { pid, signal, by_host: true } => {
                    if signal == "SIGKILL" {
                        self.killed.insert(*pid);
                    }
                    found.judge(ID, moment.at, evidence.process(*pid).is_some(), || {
                        format!("{signal} was sent to process {pid}, which the host never started")
                    });
                }
                _ => {}
            }
        }
        let writes = |process: &&ProcessFacts| process.exited_at.is_none() && !self.killed.contains(&process.pid);
        let live = || evidence.processes.iter().filter(writes).filter(|process| process.session.is_some());
        for (number, one) in live().enumerate() {
            for other in live().skip(number + 1).filter(|other| other.session == one.session) {
                if self.told.insert((one.pid, other.pid)) {
                    found.judge(ID, moment.at, false, || {
                        let session = one.session.as_deref().unwrap_or_default();
                        format!("processes {} and {} both live and write to session {session}", one.pid, other.pid)
                    });
                }
            }
        }
        for process in moment.view.inside.iter().flat_map(|inside| &inside.processes) {
            if owes_lease(process.state) && !process.leased && self.told.insert((process.pid, process.pid)) {
                found.judge(ID, moment.at, false, || format!("process {} is not reaped, and the host let go of it", process.pid));
            }
        }
    }
}

/// A process that ended, or whose host did, is held by nobody.
fn owes_lease(state: ProcessState) -> bool {
    !matches!(state, ProcessState::Reaped | ProcessState::Orphan)
}
