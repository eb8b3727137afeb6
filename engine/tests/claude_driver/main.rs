//! The Claude Code driver over scripts of frames: what comes out of it, one line each.
//!
//! A test is one call of [`script::check`] with a transcript: a line at the margin is something that happens, the indented lines
//! below it are everything that the driver answers. See `script` for the words.

mod fork_ends;
mod forks;
mod frames;
mod holds;
mod hostile;
mod launch;
mod questions;
mod render;
mod replies;
mod results;
mod script;
mod steers;
mod stops;
mod tasks;
