//! What two runs of one thing have in common: the streams in which order is fixed, and frames without what varies.

mod names;
mod streams;

pub use names::{Names, children_race};
pub use streams::Sorter;
