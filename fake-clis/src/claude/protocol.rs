//! The protocol model: everything that Claude Code says which is neither the model's nor a tool's.

mod agents;
mod background;
mod block;
mod child;
mod compaction;
mod control;
mod core;
mod failures;
mod forks;
mod frames;
mod input;
mod interrupt;
mod ledger;
mod local;
mod local_bash;
mod message;
mod permission;
mod result;
mod resume;
mod state;
mod steer;
mod task_frames;
mod tools;
mod turn;

pub(in crate::claude) use self::core::Core;
