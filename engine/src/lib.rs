//! The reference engine: a host of coding-agent CLIs as one pure core and one thin shell.
//!
//! The core is a function, `Core::step(now, input) -> effects`: no async, no I/O, no clock. The shell performs effects in list
//! order and feeds back what comes of them.

pub mod chat;
pub mod core;
pub mod delegation;
pub mod drivers;
pub mod event;
pub mod feed;
pub mod session;
pub mod shell;
pub mod store;
pub mod subagents;
