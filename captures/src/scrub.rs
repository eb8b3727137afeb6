//! Takes what is private out of a capture: home directories, user and host names, e-mail addresses, keys and tokens.
//!
//! Replacement is deterministic, and equal things stay equal: the first home directory becomes `/home/dev`, the second
//! `/home/dev2`, wherever they stand, in frames, raw lines, the command line and the environment. A secret that a stream cut
//! into several deltas is found in the deltas joined. What has no telling shape (a company's name in a prompt, a path
//! outside of a home directory) stays: read a capture before you give it away.

mod names;
mod pieces;
mod spans;

use indexmap::IndexMap;
use serde_json::Value;

use crate::format::{Capture, What};
use names::Names;
use spans::Finder;

/// What is replaced, in the words of the header's `scrubbed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Class {
    Home,
    User,
    Host,
    Mail,
    Key,
}

impl Class {
    fn words(self) -> &'static str {
        match self {
            Class::Home => "home directories",
            Class::User => "user names",
            Class::Host => "host names",
            Class::Mail => "e-mail addresses",
            Class::Key => "keys and tokens",
        }
    }
}

/// Scrubs a capture and adds to its header what was replaced; the classes with the number of places.
///
/// A capture that was scrubbed before is left as it is.
pub fn scrub(capture: &mut Capture) -> IndexMap<&'static str, usize> {
    let names = Names::of(capture);
    let mut finder = Finder::new(names);
    let mut counts: IndexMap<Class, usize> = IndexMap::new();
    let header = &mut capture.header;
    for (name, value) in &mut header.env {
        if spans::is_secret_name(name) {
            if let Some(other) = finder.key(value) {
                *value = other;
                *counts.entry(Class::Key).or_insert(0) += 1;
            }
        } else {
            text(&mut finder, value, &mut counts);
        }
    }
    for word in &mut header.launch {
        text(&mut finder, word, &mut counts);
    }
    pieces::deltas(&mut capture.entries, &mut finder, &mut counts);
    for entry in &mut capture.entries {
        match &mut entry.what {
            What::Frame(frame) => value(&mut finder, frame, &mut counts),
            What::Raw(line) => text(&mut finder, line, &mut counts),
            What::Close(_) | What::Signal(_) | What::Exit(_) => {}
        }
    }
    counts.sort_keys();
    for class in counts.keys() {
        if !header.scrubbed.iter().any(|before| before == class.words()) {
            header.scrubbed.push(class.words().to_owned());
        }
    }
    counts.into_iter().map(|(class, count)| (class.words(), count)).collect()
}

fn value(finder: &mut Finder, frame: &mut Value, counts: &mut IndexMap<Class, usize>) {
    match frame {
        Value::String(words) => text(finder, words, counts),
        Value::Array(values) => values.iter_mut().for_each(|one| value(finder, one, counts)),
        Value::Object(keys) => {
            // Paths stand as keys too; the order of keys stays.
            let taken = std::mem::take(keys);
            for (mut key, mut one) in taken {
                if let (true, Value::String(secret)) = (spans::is_secret_name(&key), &mut one) {
                    if let Some(other) = finder.key(secret) {
                        *secret = other;
                        *counts.entry(Class::Key).or_insert(0) += 1;
                    }
                } else {
                    value(finder, &mut one, counts);
                }
                text(finder, &mut key, counts);
                keys.insert(key, one);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn text(finder: &mut Finder, words: &mut String, counts: &mut IndexMap<Class, usize>) {
    let spans = finder.spans(words);
    for span in &spans {
        *counts.entry(span.class).or_insert(0) += 1;
    }
    if !spans.is_empty() {
        let [scrubbed] = &mut pieces::replace(&[words.as_str()], &spans)[..] else { return };
        *words = std::mem::take(scrubbed);
    }
}

#[cfg(test)]
mod tests;
