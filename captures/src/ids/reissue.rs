//! From captured ids to fresh ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Roles, shape};
use crate::format::{Capture, What};

/// A mapping from every id of a capture to a fresh one of the same shape.
///
/// The ids that the host gives (its messages' uuids, its requests) are bound to what it really wrote with [`bind`](Self::bind).
#[derive(Clone, Debug)]
pub struct Reissue {
    map: BTreeMap<String, String>,
    /// Lengths of the captured ids, longest first when walked backwards.
    lengths: BTreeSet<usize>,
}

impl Reissue {
    /// Draws a fresh id for each captured one, in the order of their first appearance: the same numbers, the same ids.
    pub fn new(roles: &Roles, next: &mut dyn FnMut() -> u64) -> Reissue {
        let mut map = BTreeMap::new();
        let mut given: BTreeSet<String> = BTreeSet::new();
        for (captured, role) in roles.iter() {
            let mut fresh = shape::fresh(role, captured, next);
            // Two ids must stay two, whatever the numbers; a source that never moves on gets counted names.
            let mut twin = 1_u64;
            while roles.get(&fresh).is_some() || !given.insert(fresh.clone()) {
                let base = next();
                fresh = shape::fresh(role, captured, &mut || {
                    twin += 1;
                    base.wrapping_add(twin.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                });
            }
            map.insert(captured.to_owned(), fresh);
        }
        let lengths = map.keys().map(String::len).collect();
        Reissue { map, lengths }
    }

    /// From now on `captured` becomes `actual`.
    pub fn bind(&mut self, captured: &str, actual: &str) {
        self.lengths.insert(captured.len());
        self.map.insert(captured.to_owned(), actual.to_owned());
    }

    /// What a captured id becomes; `None` if the capture has no such id.
    pub fn get(&self, captured: &str) -> Option<&str> {
        self.map.get(captured).map(String::as_str)
    }

    /// The capture with all ids replaced: in frames, in raw lines and on the command line.
    pub fn capture(&self, capture: &Capture) -> Capture {
        let mut fresh = capture.clone();
        for argument in &mut fresh.header.launch {
            *argument = self.text(argument);
        }
        for entry in &mut fresh.entries {
            match &mut entry.what {
                What::Frame(frame) => *frame = self.frame(frame),
                What::Raw(text) => *text = self.text(text),
                What::Close(_) | What::Signal(_) | What::Exit(_) => {}
            }
        }
        fresh
    }

    /// The frame with all ids replaced, in values and in keys; everything else as it was, in the same order.
    pub fn frame(&self, frame: &Value) -> Value {
        match frame {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(values) => Value::Array(values.iter().map(|value| self.frame(value)).collect()),
            Value::Object(keys) => {
                let keys = keys.iter().map(|(key, value)| (self.text(key), self.frame(value)));
                Value::Object(keys.collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => frame.clone(),
        }
    }

    /// The text with all ids replaced: whole, or as words of a longer one (`agent-a0….jsonl`, `toolu_…-heartbeat-0`).
    pub fn text(&self, text: &str) -> String {
        if let Some(fresh) = self.map.get(text) {
            return fresh.clone();
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        let mut within = false;
        while let Some(first) = text[at..].chars().next() {
            if !within && let Some((length, fresh)) = self.id_at(text, at) {
                out.push_str(fresh);
                at += length;
                within = true;
                continue;
            }
            out.push(first);
            at += first.len_utf8();
            within = is_word(first);
        }
        out
    }

    /// The longest id that begins here and ends at the end of a word.
    fn id_at(&self, text: &str, at: usize) -> Option<(usize, &str)> {
        self.lengths.iter().rev().find_map(|&length| {
            let word = text.get(at..at + length)?;
            let ends = !text[at + length..].starts_with(is_word);
            let fresh = self.map.get(word).filter(|_| ends)?;
            Some((length, fresh.as_str()))
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
