//! From a label to its entry, and from a wrong label to the ones that were meant.

use crate::format::Capture;

/// How many near names an error lists.
const NEAR: usize = 5;

/// A label that no entry of the capture has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to find label `{label}` in scene {scene}: near names are {}", .near.join(", "))]
pub struct LabelError {
    /// What was asked for.
    pub label: String,
    /// The capture's scene.
    pub scene: String,
    /// Labels that exist, nearest first, at most five; empty only if the capture has no frame at all.
    pub near: Vec<String>,
}

pub(super) fn find(capture: &Capture, label: &str) -> Result<usize, LabelError> {
    if let Some(index) = capture.entries.iter().position(|entry| entry.label.as_deref() == Some(label)) {
        return Ok(index);
    }
    let derived = capture.labels();
    if let Some(index) = derived.iter().position(|name| name.as_deref() == Some(label)) {
        return Ok(index);
    }
    let by_hand = capture.entries.iter().filter_map(|entry| entry.label.clone());
    let mut names: Vec<String> = by_hand.chain(derived.into_iter().flatten()).collect();
    // The sort is stable, so names at the same distance stay in the capture's order.
    names.sort_by_cached_key(|name| distance(label, name));
    names.truncate(NEAR);
    Err(LabelError { label: label.to_owned(), scene: capture.header.scene.clone(), near: names })
}

/// Edit distance; the same stem with another count is nearer than another stem.
fn distance(wanted: &str, name: &str) -> usize {
    let stem = |label: &str| label.split('#').next().unwrap_or_default().to_owned();
    edits(&stem(wanted), &stem(name)) * 100 + edits(wanted, name)
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
