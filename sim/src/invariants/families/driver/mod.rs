//! Rules that every driver keeps, whatever its provider: D1 to D11.

mod children;
mod messages;
mod process;
mod turns;

use crate::invariants::Invariant;

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(turns::OneDone::default()),
        Box::new(turns::UsageBeforeDone::default()),
        Box::new(turns::ForkPointBeforeEnd::default()),
        Box::new(messages::OneSteered::default()),
        Box::new(children::OwnSide::default()),
        Box::new(children::NoRotation::default()),
        Box::new(children::OneChip::default()),
        Box::new(process::StopEnds::default()),
        Box::new(process::LeaseOutlives::default()),
        Box::new(process::SessionFollowed::default()),
        Box::new(process::UnknownIsHarmless::default()),
    ]
}
