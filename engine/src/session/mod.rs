//! The session machine: one chat, its run, its documents and rows.
//!
//! A run is one driver lifetime, from dispatch until the stream ends; it may span many turns. `dispatch` says where a message
//! goes, `pipeline` what an event does, `gate` what a parked run lets through, `done` how a turn settles, `exit` how a run
//! ends, `questions` how the human is asked, `queue` what the user does with queued messages, `registry` what a chat's row says of it, `replace` when a parked run makes way for
//! one that is started otherwise; `recover` and `replay` bring a chat back after the engine's end.

mod chat;
mod dispatch;
mod done;
mod exit;
mod gate;
mod pipeline;
mod questions;
mod queue;
mod recover;
mod registry;
mod replace;
mod replay;
mod run;

pub use chat::Chat;
pub use run::{Phase, Run};
