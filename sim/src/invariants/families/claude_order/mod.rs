//! C1 to C9: the order in which a Claude Code turn is put together.

mod boundaries;
mod endings;
mod text;

use crate::invariants::Invariant;

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(text::OldTextFirst::default()),
        Box::new(boundaries::BoundaryIsNoEnd::default()),
        Box::new(boundaries::EarlierOnesToo::default()),
        Box::new(boundaries::QueuedHolds::default()),
        Box::new(boundaries::CancelledReleases::default()),
        Box::new(endings::OldDoneStaysOld::default()),
        Box::new(endings::LateDuplicate::default()),
        Box::new(endings::ForeignResult::default()),
        Box::new(endings::WakeHasItsOwn::default()),
    ]
}
