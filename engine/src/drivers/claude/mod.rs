//! The Claude Code driver: one `claude` process over stream-json.
//!
//! `driver` holds the state and the doors, `turn` the turn loop (confirmation, hold of Done), `settle` how a turn ends (results,
//! stop in place, end of the stream), `normalize` what each frame becomes, with `stream`, `reply`, `child` and `tasks` for the
//! big kinds; `permission` questions and approvals, `fork` the typed fork, `result` the reading of results, `transcript` what
//! an earlier process left, `wire` the lines that are written.

mod child;
mod control;
pub mod driver;
pub mod fork;
mod normalize;
mod permission;
mod reply;
pub mod result;
mod settle;
mod stream;
mod tasks;
mod tools;
pub mod transcript;
mod turn;
pub mod wire;

pub use driver::Claude;
