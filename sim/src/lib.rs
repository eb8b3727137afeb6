//! The stage, the world, the invariants and the explorer: real frames against a real engine, under a clock and an order that
//! this crate owns.

pub mod cast;
pub mod cli;
pub mod evidence;
pub mod explore;
pub mod history;
pub mod host;
pub mod invariants;
pub mod report;
pub mod rows;
pub mod stage;
pub mod suite;
pub mod trace;
pub mod view;
pub mod world;
