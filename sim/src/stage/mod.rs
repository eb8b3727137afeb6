//! The stage: owns order and time.
//!
//! Every outside happening (a frame, an exit, a stdin read, a user action, a signal) is an event in one queue with a due time.
//! The stage delivers **one** event or one due timer of the host, lets the host run until it is done, looks with every
//! invariant, and goes on. Two events never share a virtual millisecond.

mod asking;
pub mod brief;
mod calls;
pub mod changes;
pub mod director;
pub mod implied;
mod lives;
pub mod lookup;
mod play;
pub mod queue;
pub mod run;
mod saying;
pub mod scripted;

pub use director::{Cue, Direct, Director};
pub use lives::RESTART_AFTER_MS;
pub use run::{Rehearsal, RunOutcome, Setting, run};
