//! Ends and faults of a host that are decided beforehand, and how far it has come: the numbers by which a plan names a place.

use crate::world::disk::Outcome;

/// A place in a host's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its effect of this number, from 1, counted over all its lives in a run.
    Effect(u64),
    /// Its disk call of this number, counted likewise.
    DiskCall(u64),
}

/// Something that will go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The host is killed (`kill -9`).
    Kill {
        /// Where.
        at: Place,
        /// After the effect or call was performed, not before.
        after: bool,
    },
    /// A disk call ends otherwise.
    Disk {
        /// Which, from 1.
        call: u64,
        /// Its outcome.
        outcome: Outcome,
    },
    /// The machine loses power when this sync is to be performed.
    PowerLoss {
        /// Which, from 1.
        sync: u64,
        /// Whether the sector that was being written is torn.
        torn: bool,
    },
}

/// How a host ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It alone was killed: what its processes hold, and what its disk was given, is still there.
    Killed,
    /// The whole machine lost power: its processes are gone, of the disk there is what was durable.
    PowerLost,
}

/// How far a host has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Effects begun.
    pub effects: u64,
    /// Those of them that ended a chain: what came after them came at another moment.
    pub chain_ends: Vec<u64>,
    /// Disk calls.
    pub disk_calls: u64,
    /// Syncs.
    pub syncs: u64,
}
