//! The disk of a world: in memory, ours to fail, to cut off and to compare.
//!
//! SQLite runs on it unchanged, through a VFS of our own. What it writes is pending until it syncs, a name that comes or goes is
//! pending until it syncs the directory, and every call it makes has a number, an outcome that a plan may choose, and a place in
//! the trace. A [`Disk`] reads no clock, draws from its seed and never waits; two of them in one process do not meet.
//!
//! Two ways to an end: after a kill the next process finds what was pending still pending ([`Disk::restart`]); after a power loss
//! only what was durable is there, and some of the rest as [`PowerLoss`] says ([`Disk::restart_after`]).

mod bytes;
mod call;
mod image;
mod medium;
mod state;
mod vfs;

use std::sync::Arc;

use rusqlite::Connection;

pub use self::{
    call::{Call, Kind, Outcome},
    image::Image,
    medium::{PowerLoss, SECTOR_BYTES},
};
use self::{medium::Medium, state::State, vfs::World};

/// A handle on a disk; clones are the same disk. It is gone with its last handle and last connection.
#[derive(Clone)]
pub struct Disk {
    world: Arc<World>,
}

impl Disk {
    /// An empty disk. The seed decides what SQLite draws: salts, nonces, `random()`.
    pub fn new(seed: u64) -> Self {
        Disk::from_image(&Image::default(), seed)
    }

    /// A disk that holds an image, all of it durable. The bytes are shared until somebody writes.
    pub fn from_image(image: &Image, seed: u64) -> Self {
        Disk { world: World::new(State::new(Medium::from_image(image), seed)) }
    }

    /// Opens the database at `path`, made when it is missing. The connection may outlive every handle.
    ///
    /// # Errors
    /// What SQLite says when the disk refuses.
    pub fn open(&self, path: &str) -> rusqlite::Result<Connection> {
        self.world.connect(path)
    }

    /// Decides the outcome of call `number`, counted from 1. Passed over where that kind of call cannot have it
    /// ([`Outcome::can_happen_to`]).
    pub fn arm(&self, number: u64, outcome: Outcome) {
        self.world.state().decisions.call(number, outcome);
    }

    /// Decides the outcome of sync `number`, counted from 1 as [`Disk::syncs`] counts.
    pub fn arm_sync(&self, number: u64, outcome: Outcome) {
        self.world.state().decisions.sync(number, outcome);
    }

    /// From call `number` on every call that can have it has this outcome, until [`Disk::heal`].
    pub fn arm_from(&self, number: u64, outcome: Outcome) {
        self.world.state().decisions.from(number, outcome);
    }

    /// Ends what [`Disk::arm_from`] began.
    pub fn heal(&self) {
        self.world.state().decisions.heal();
    }

    /// Calls so far. Those after the fence do not count.
    pub fn calls(&self) -> u64 {
        self.world.state().calls
    }

    /// Syncs so far, of files and of directories.
    pub fn syncs(&self) -> u64 {
        self.world.state().syncs
    }

    /// The calls since the last time this was asked, in order.
    pub fn take_log(&self) -> Vec<Call> {
        std::mem::take(&mut self.world.state().log)
    }

    /// Sets the wall clock that SQLite reads, ms since 1970.
    pub fn set_wall_ms(&self, wall_ms: u64) {
        self.world.state().wall_ms = wall_ms;
    }

    /// From here on every call fails and nothing changes any more, whatever connections and destructors still try.
    pub fn fence(&self) {
        self.world.state().fenced = true;
    }

    /// Whether the disk is fenced, by [`Disk::fence`] or by an [`Outcome::Kill`].
    pub fn is_fenced(&self) -> bool {
        self.world.state().fenced
    }

    /// What every process of the machine sees, pending bytes included.
    pub fn image(&self) -> Image {
        self.world.state().medium.image()
    }

    /// Ends everything here and now, and tells what a power loss at this moment leaves. Can be asked again, with another loss.
    pub fn crash(&self, loss: PowerLoss) -> Image {
        self.fence();
        self.world.state().medium.after(loss)
    }

    /// Ends everything here and now (`kill -9`) and gives the disk to the next process: what was pending still is. Numbers,
    /// decisions, randomness and clock go on.
    pub fn restart(&self) -> Self {
        self.fence();
        let state = self.world.state();
        Disk { world: World::new(state.next_life(state.medium.abandoned())) }
    }

    /// The disk after a power loss at this moment. Numbers, decisions, randomness and clock go on.
    pub fn restart_after(&self, loss: PowerLoss) -> Self {
        let left = Medium::from_image(&self.crash(loss));
        Disk { world: World::new(self.world.state().next_life(left)) }
    }
}
