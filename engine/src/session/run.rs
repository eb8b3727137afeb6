//! State of one run.

use std::collections::{BTreeSet, VecDeque};

use indexmap::IndexMap;

use crate::{
    core::input::{Message, ProcId},
    delegation::launch::Stamp,
    drivers::{Capabilities, Driver},
    subagents::Sinks,
};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A turn is open.
    Running,
    /// Between turns: the process lives and waits.
    Parked {
        /// When it parked, ms of the monotonic clock.
        since: u64,
    },
    /// Over; the process may still be on its way out.
    Ended,
}

/// A question of the run that waits for the human.
#[derive(Clone, Debug)]
pub struct OpenInput {
    /// The provider's id of the request.
    pub provider_request: String,
}

/// One driver lifetime.
pub struct Run {
    /// The process it owns.
    pub proc: ProcId,
    /// Its driver.
    pub driver: Box<dyn Driver>,
    /// What it was started with.
    pub stamp: Stamp,
    /// What the driver can do.
    pub caps: Capabilities,
    /// Where it stands.
    pub phase: Phase,
    /// The first prompt, until the provider took it.
    pub first: Option<Message>,
    /// Messages handed to the run and not confirmed by Steered, oldest first.
    pub ledger: VecDeque<Message>,
    /// The interrupt token was used: no turn of this run parks any more.
    pub killed: bool,
    /// The mailbox is closed: the run takes no more messages, what it runs may end by itself.
    pub closed: bool,
    /// A stop in place is under way.
    pub stopping: bool,
    /// Messages that waited when that stop came: they are withdrawn with its Done. One that was sent since is not touched.
    pub stopped: BTreeSet<String>,
    /// Open questions by our request id, oldest first.
    pub inputs: IndexMap<String, OpenInput>,
    /// Live subagents.
    pub sinks: Sinks,
    /// Background tasks that the provider runs.
    pub background: usize,
    /// A background subagent or task settled since the park: the gate is open at once.
    pub bypass: bool,
    /// Assistant message ids that are aliases of the current entry.
    pub aliases: BTreeSet<String>,
    /// When the open turn began, ms of the monotonic clock.
    pub turn_began: u64,
    /// The session id that a strict run requires, until it was seen.
    pub required_session: Option<String>,
    /// The process is reaped.
    pub reaped: bool,
    /// The stream ended.
    pub stream_over: bool,
}

impl Run {
    /// A run that is about to start.
    pub fn new(proc: ProcId, driver: Box<dyn Driver>, stamp: Stamp, now: u64) -> Self {
        let caps = driver.capabilities();
        Run {
            proc,
            driver,
            stamp,
            caps,
            phase: Phase::Running,
            first: None,
            ledger: VecDeque::new(),
            killed: false,
            closed: false,
            stopping: false,
            stopped: BTreeSet::new(),
            inputs: IndexMap::new(),
            sinks: Sinks::default(),
            background: 0,
            bypass: false,
            aliases: BTreeSet::new(),
            turn_began: now,
            required_session: None,
            reaped: false,
            stream_over: false,
        }
    }

    /// Whether it waits between turns.
    pub fn is_parked(&self) -> bool {
        matches!(self.phase, Phase::Parked { .. })
    }

    /// Whether a message may go to its mailbox.
    pub fn takes_messages(&self) -> bool {
        self.parks() && !self.closed && self.phase != Phase::Ended
    }

    /// Whether it lives on between turns.
    pub fn parks(&self) -> bool {
        self.caps.supports_steering && !self.killed && !self.stream_over
    }
}
