//! The session machine and the core, rehearsed with scripts: inputs with their times, and what the engine does about each.
//!
//! A script is one block of text. A line that begins with a number is an input at that virtual millisecond; the indented lines
//! under it are what the engine did. [`rig::check`] plays it twice and compares the whole block; what must hold in every run
//! whatever it tests (pill and rows, nothing before its commit, Working before the message time) is judged after every step.

mod rig;

mod agents;
mod children;
mod claude;
mod commands;
mod damage;
mod delegation;
mod documents;
mod exits;
mod gate;
mod messages;
mod questions;
mod queue;
mod random;
mod restart;
mod rows;
mod store;
mod ties;
mod turns;
