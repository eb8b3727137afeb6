//! The Claude Code driver: one `claude` process over stream-json.
//!
//! `driver` holds the state and the doors, `turn` the turn loop (hold of Done, confirmation, stop in place), `normalize` what
//! each frame becomes, `permission` questions and approvals, `fork` the typed fork, `result` the reading of results, `wire` the
//! lines that are written.

pub mod driver;
pub mod fork;
mod normalize;
mod permission;
pub mod result;
mod tools;
mod turn;
pub mod wire;

pub use driver::Claude;
