//! The host's lives: how it starts, how it ends, and what becomes of its processes and of its viewer.

use captures::format::Exit;
use scenarios::plan::{self, DiskFault, Perturbation, When};

use super::{play::Stage, queue::Event, run::End};
use crate::{
    history::What,
    host::fault::{Ending, Fault, Place},
    view::ProcessState,
    world::disk::Outcome,
};

/// Whoever watches over the host starts it again this long after its end, ms.
pub const RESTART_AFTER_MS: u64 = 1_000;

/// Where the host stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// Before its first start.
    NotYet,
    /// It runs.
    Runs,
    /// It ended.
    Ended {
        /// When, ms.
        since: u64,
        /// Whether somebody starts it again; otherwise a step of the scenario does.
        again: bool,
    },
}

/// The faults of a plan that happen to the host itself.
pub(super) fn faults(plan: &scenarios::Plan) -> impl Iterator<Item = Fault> + '_ {
    plan.perturb.iter().filter_map(|perturbation| match perturbation {
        Perturbation::Kill { at, when } => Some(kill(*at, *when)),
        Perturbation::Disk { call, with } => Some(Fault::Disk { call: u64::from(*call), outcome: outcome(*with) }),
        Perturbation::PowerLoss { sync, torn } => Some(Fault::PowerLoss { sync: u64::from(*sync), torn: *torn }),
        _ => None,
    })
}

/// A kill, in the host's words.
pub(super) fn kill(at: plan::Place, when: When) -> Fault {
    let at = match at {
        plan::Place::Effect(number) => Place::Effect(u64::from(number)),
        plan::Place::Disk(number) => Place::DiskCall(u64::from(number)),
    };
    Fault::Kill { at, after: when == When::After }
}

/// A disk call's end, in the disk's words.
pub(super) fn outcome(fault: DiskFault) -> Outcome {
    match fault {
        DiskFault::Full => Outcome::Full,
        DiskFault::Busy => Outcome::Busy,
        DiskFault::IoErr => Outcome::IoError,
        DiskFault::ShortWrite => Outcome::ShortWrite,
    }
}

impl Stage<'_> {
    /// The first start, with the plan's faults armed.
    pub(super) fn begin(&mut self) -> Result<(), End> {
        for fault in faults(&self.setting.plan) {
            self.history.disk_faults += u32::from(matches!(fault, Fault::Disk { .. }));
            self.host.arm(fault).map_err(End::Fault)?;
        }
        self.start_host()
    }

    /// When the host that ended is started again, ms. Not while a process of the dead host lives: whoever starts it waits for
    /// what it left behind, so that a session has one writer.
    pub(super) fn restart_due(&self) -> Option<u64> {
        match self.life {
            Life::Ended { since, again: true } if !self.has_orphans() => Some(since + RESTART_AFTER_MS),
            _ => None,
        }
    }

    fn has_orphans(&self) -> bool {
        self.processes.values().any(|process| process.orphan && process.is_alive())
    }

    /// Starts the host although processes of the dead one wait for ever: whoever watches over it kills them first.
    pub(super) fn start_over_orphans(&mut self) -> Result<(), End> {
        self.own_instant();
        let left = self.processes.values().filter(|process| process.orphan && process.is_alive());
        let left: Vec<u32> = left.map(|process| process.pid).collect();
        left.into_iter().for_each(|pid| self.signalled(pid, "SIGKILL", false));
        self.own_instant();
        self.start_host()
    }

    /// Starts the host. A viewer finds it again and gets everything anew.
    pub(super) fn start_host(&mut self) -> Result<(), End> {
        let first = self.life == Life::NotYet;
        let ended = if let Life::Ended { since, .. } = self.life { since } else { 0 };
        if !first {
            self.trace.line(self.now(), "world", "starts the host again".to_owned(), &[]);
        }
        self.life = Life::Runs;
        let clock = self.clock();
        if !first {
            self.viewer.reconnect(clock, ended);
        }
        match self.host.start(clock) {
            Ok(()) => {
                if !first {
                    self.history.healed_at = self.now();
                    self.note(What::HostStarted);
                }
            }
            Err(words) => {
                self.trace.line(self.now(), "host", words.clone(), &[]);
                self.note(What::HostRefused { words });
                self.life = Life::Ended { since: self.now(), again: true };
            }
        }
        self.after_host()?;
        if !first && self.host.is_running() {
            let lost = self.setups.iter().filter(|setup| self.viewer.view().chat(&setup.chat).is_none());
            self.lost = lost.cloned().collect();
        }
        Ok(())
    }

    /// The host has ended: its pipes close as the kernel closes them, what was on its way to it is lost.
    pub(super) fn host_ended(&mut self, ending: Ending) {
        let now = self.now();
        let words = match ending {
            Ending::Killed => "the host is killed",
            Ending::PowerLost => "the power fails",
        };
        self.trace.line(now, "world", words.to_owned(), &[]);
        self.note(What::HostEnded { power_lost: ending == Ending::PowerLost });
        self.queue.forget_host();
        self.end_requests(|_| true, "host-gone");
        let left: Vec<(u32, bool)> = self
            .processes
            .values_mut()
            .filter(|process| !process.orphan)
            .map(|process| {
                process.orphan = true;
                (process.pid, process.is_alive())
            })
            .collect();
        for (pid, alive) in left {
            if alive && let Some(shown) = self.shown(pid) {
                shown.state = ProcessState::Orphan;
            }
            if !alive {
                self.gone(pid);
            } else if ending == Ending::PowerLost {
                self.exit(pid, Exit { code: None, signal: Some("SIGKILL".to_owned()) });
            } else {
                // Behind what the pipe has taken already.
                self.queue.push(now, Event::StdinClosed { pid });
            }
        }
        self.life = Life::Ended { since: now, again: !self.stays_down };
        self.stays_down = false;
        self.inside();
    }

    /// Ends the host from outside, between two happenings.
    pub(super) fn end_host(&mut self, ending: Ending) -> Result<(), End> {
        if !self.host.is_running() {
            return Err(End::Wrong("the engine is down already".to_owned()));
        }
        self.own_instant();
        self.stays_down = true;
        self.host.kill(ending);
        self.after_host()
    }

    /// Decides a fault beforehand, counted behind what the host has done so far.
    pub(super) fn arm(&mut self, fault: Fault) -> Result<(), End> {
        let reached = self.host.reached();
        let fault = match fault {
            Fault::Kill { at: Place::Effect(number), after } => {
                Fault::Kill { at: Place::Effect(reached.effects + number), after }
            }
            Fault::Kill { at: Place::DiskCall(number), after } => {
                Fault::Kill { at: Place::DiskCall(reached.disk_calls + number), after }
            }
            Fault::Disk { call, outcome } => Fault::Disk { call: reached.disk_calls + call, outcome },
            Fault::PowerLoss { sync, torn } => Fault::PowerLoss { sync: reached.syncs + sync, torn },
        };
        self.history.disk_faults += u32::from(matches!(fault, Fault::Disk { .. }));
        self.trace.line(self.now(), "world", format!("decides {fault:?}"), &[]);
        self.host.arm(fault).map_err(End::Fault)
    }

    /// The machine sleeps: the wall clock runs, the monotonic one does not.
    pub(super) fn sleep(&mut self, length: u64) {
        self.own_instant();
        self.trace.line(self.now(), "world", format!("the machine sleeps {length} ms"), &[]);
        self.slept_by_steps += length;
    }

    /// A process that no host reaps has ended.
    pub(super) fn gone(&mut self, pid: u32) {
        if let Some(shown) = self.shown(pid) {
            shown.state = ProcessState::Reaped;
            shown.leased = false;
        }
    }
}
