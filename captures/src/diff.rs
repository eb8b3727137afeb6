//! What differs between two captures: per stream, the kinds of frames, their fields, their order.
//!
//! Frames are compared as the check of the protocol model compares them: ids are paired by where they stand, what varies
//! from run to run is left out, and nothing is said about how streams merge.

mod fields;
mod sorted;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{
    compare::{Names, children_race},
    format::{Capture, Origin},
    provider::Provider,
};
use fields::Fields;
pub use fields::{Change, Field};
use sorted::{Frame, sort};

/// Who one of the two captures is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Whose frames.
    pub provider: Provider,
    /// The CLI's version.
    pub version: String,
    /// The scene.
    pub scene: String,
    /// Recorded or synthetic.
    pub origin: Origin,
}

/// Everything that differs; empty streams are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// The first capture.
    pub left: Side,
    /// The second.
    pub right: Side,
    /// Streams with a difference, by name.
    pub streams: Vec<StreamDiff>,
}

/// What differs within one stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamDiff {
    /// `main`, `stream`, `host`, `process`, `child call#1` …; calls are numbered in their order.
    pub stream: String,
    /// Kinds of frames of which one side has more.
    pub kinds: Vec<Kind>,
    /// Fields that one side lacks, or whose value is another.
    pub fields: Vec<Field>,
    /// Frames that stand elsewhere in the order of their stream.
    pub order: Vec<Moved>,
}

/// How many frames of a kind each side has, where the numbers differ; 0 is a kind that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// The kind: a label's stem, and the type of what the frame holds: `assistant[text]`.
    pub kind: String,
    /// Frames of the first capture.
    pub left: usize,
    /// Frames of the second.
    pub right: usize,
}

/// A frame that both have, at different places among the frames of its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The kind.
    pub kind: String,
    /// Its index in the first capture's stream, from 0.
    pub left: usize,
    /// Its index in the second's.
    pub right: usize,
    /// The kind of the frame before it in the first capture; none at the start.
    pub left_after: Option<String>,
    /// The same in the second.
    pub right_after: Option<String>,
}

impl Diff {
    /// Whether nothing differs.
    pub fn equal(&self) -> bool {
        self.streams.is_empty()
    }
}

impl StreamDiff {
    fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.fields.is_empty() && self.order.is_empty()
    }
}

/// Compares two captures.
pub fn diff(left: &Capture, right: &Capture) -> Diff {
    let frames = |capture: &Capture| {
        let frames: Vec<_> = capture.entries.iter().filter_map(|entry| entry.what.frame().cloned()).collect();
        children_race(&frames.iter().collect::<Vec<_>>())
    };
    // One set of names for all streams: an id is the same id in every one of them.
    let mut names = Names::new(frames(left) || frames(right));
    let (mut one, mut other) = (sort(left), sort(right));
    let streams: std::collections::BTreeSet<String> = one.keys().chain(other.keys()).cloned().collect();
    let mut pairs = Vec::new();
    for stream in streams {
        let (mine, theirs) = (one.remove(&stream).unwrap_or_default(), other.remove(&stream).unwrap_or_default());
        let matched = match_up(&mine, &theirs);
        for (at, to) in &matched.same {
            names.normal(mine[*at].value.as_ref(), theirs[*to].value.as_ref());
        }
        pairs.push((stream, mine, theirs, matched));
    }
    // Values only now: an id may be known by its later places, in another stream.
    let mut streams = Vec::new();
    for (stream, mine, theirs, matched) in pairs {
        let mut fields = Fields::default();
        for (at, to) in &matched.same {
            let (a, b) = names.normal(mine[*at].value.as_ref(), theirs[*to].value.as_ref());
            if let (Some(a), Some(b)) = (a, b) {
                fields.compare(&mine[*at].kind, &a, &b);
            }
        }
        let found = StreamDiff { stream, kinds: matched.kinds, fields: fields.finish(), order: matched.moved };
        if !found.is_empty() {
            streams.push(found);
        }
    }
    Diff { left: side(left), right: side(right), streams }
}

fn side(capture: &Capture) -> Side {
    let header = &capture.header;
    Side { provider: header.provider, version: header.version.clone(), scene: header.scene.clone(), origin: header.origin }
}

struct Matched {
    /// Index on the left, index on the right.
    same: Vec<(usize, usize)>,
    moved: Vec<Moved>,
    kinds: Vec<Kind>,
}

/// Which frame of one stream is which of the other: the longest common order first, then those that moved.
fn match_up(left: &[Frame], right: &[Frame]) -> Matched {
    let kinds = |frames: &[Frame]| frames.iter().map(|frame| frame.kind.clone()).collect::<Vec<_>>();
    let (ours, theirs) = (kinds(left), kinds(right));
    let mut same = Vec::new();
    let (mut gone, mut come): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for op in capture_diff_slices(Algorithm::Myers, &ours, &theirs) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            same.extend((0..len).map(|step| (old_index + step, new_index + step)));
        } else {
            gone.extend(op.old_range());
            come.extend(op.new_range());
        }
    }
    let after = |kinds: &[String], at: usize| at.checked_sub(1).map(|before| kinds[before].clone());
    let mut moved = Vec::new();
    gone.retain(|at| {
        let Some(position) = come.iter().position(|to| theirs[*to] == ours[*at]) else { return true };
        let to = come.remove(position);
        same.push((*at, to));
        moved.push(Moved {
            kind: ours[*at].clone(),
            left: *at,
            right: to,
            left_after: after(&ours, *at),
            right_after: after(&theirs, to),
        });
        false
    });
    same.sort_unstable();
    let mut counts: indexmap::IndexMap<&str, (usize, usize)> = indexmap::IndexMap::new();
    for at in gone {
        counts.entry(&ours[at]).or_default().0 += 1;
    }
    for to in come {
        counts.entry(&theirs[to]).or_default().1 += 1;
    }
    let total = |kinds: &[String], kind: &str| kinds.iter().filter(|other| *other == kind).count();
    let kinds = counts
        .into_keys()
        .map(|kind| Kind { kind: kind.to_owned(), left: total(&ours, kind), right: total(&theirs, kind) })
        .collect();
    Matched { same, moved, kinds }
}

#[cfg(test)]
mod tests;
