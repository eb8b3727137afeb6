//! Which frames may change places: `races.toml` of a provider, learned from repeated recordings.
//!
//! Frames are named by *class*: `main/result/success`, `child/assistant[text]`, `task/task_started (local_bash)`. A class in
//! the table may be a pattern: `child/*` is every class of that stream, `*` is every class at all, `assistant[*]` is any
//! content, and words in brackets at the end narrow it to frames of which they are true.

mod class;
mod pattern;
mod table;

pub use class::{Classifier, FrameClass};
pub use table::{Basis, Ordered, Race, RaceError, Races, Relation, Variant};

#[cfg(test)]
mod tests;
