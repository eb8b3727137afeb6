//! Names for the frames of a capture: `task_started#1`, `result#2`.
//!
//! A label is a *stem* (what kind of frame it is, in the provider's words) and a count from 1 per stem. Derived labels are
//! computed when a capture is read and never stored, so they cannot lie; a hand label (`fork-started`) is stored and comes
//! on top of the derived one.

mod claude;
mod lookup;
mod rpc;

pub use lookup::LabelError;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    format::{Capture, From},
    provider::Provider,
};

/// The stem when a frame says nothing about its kind.
pub const FALLBACK: &str = "frame";

/// The label stem of a frame. Total: every value has one, at worst [`FALLBACK`].
pub fn stem(provider: Provider, from: &From, frame: &Value) -> String {
    match (provider, from) {
        (Provider::Claude, From::Host) => claude::host(frame),
        (Provider::Claude, _) => claude::cli(frame),
        (_, From::Host) => rpc::host(frame),
        (_, _) => rpc::cli(frame),
    }
}

/// Turns stems into labels: the nth time that a stem is seen it becomes `stem#n`.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    seen: BTreeMap<String, u32>,
}

impl Counter {
    /// A counter that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The label of the next frame with this stem.
    pub fn label(&mut self, stem: &str) -> String {
        let count = self.seen.entry(stem.to_owned()).or_insert(0);
        *count += 1;
        format!("{stem}#{count}")
    }

    /// How often each stem was seen, by name.
    pub fn counts(&self) -> &BTreeMap<String, u32> {
        &self.seen
    }
}

impl Capture {
    /// The derived label of each entry, in order; `None` where the entry is no frame.
    pub fn labels(&self) -> Vec<Option<String>> {
        let mut counter = Counter::new();
        let provider = self.header.provider;
        self.entries
            .iter()
            .map(|entry| entry.what.frame().map(|frame| counter.label(&stem(provider, &entry.from, frame))))
            .collect()
    }

    /// The index of the entry that a label names: a hand label first, then a derived one.
    ///
    /// # Errors
    ///
    /// A [`LabelError`] with the names nearest to it when no entry has that label.
    pub fn find_label(&self, label: &str) -> Result<usize, LabelError> {
        lookup::find(self, label)
    }
}

/// The text at a path of keys, if it is there.
fn text<'a>(frame: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(frame, |value, key| value.get(key)).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
