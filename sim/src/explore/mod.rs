//! Orders that nobody recorded: the points of a kind, walked one by one.

pub mod enumerate;
pub mod sweep;

pub use enumerate::{Sweep, points};
pub use sweep::{Swept, sweep};
