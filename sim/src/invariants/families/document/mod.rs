//! M1 to M5: the transcript and the tabs.

mod content;
mod entries;
mod fold;

use crate::invariants::Invariant;

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(entries::StableIds::default()),
        Box::new(entries::StreamingEnds::default()),
        Box::new(entries::Monotone::default()),
        Box::new(content::FoldIsDocument::default()),
        Box::new(content::SplitIsWhole::default()),
    ]
}
