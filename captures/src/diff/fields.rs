//! Fields of two frames of one kind.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN: usize = 80;

/// What happened to a field from the first capture to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the second has it.
    Added,
    /// Only the first has it.
    Removed,
    /// Its value is another.
    Changed,
}

/// A field that differs in frames of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The kind of the frames.
    pub kind: String,
    /// Where it stands: `message.usage.speed`, `tools[]`.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// How many frames it happened in.
    pub frames: usize,
    /// Its value in the first such frame of the first capture, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The same of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<String>,
}

/// Collects differences, one for each kind, path and change.
#[derive(Default)]
pub(super) struct Fields {
    found: IndexMap<(String, String, Change), Field>,
}

impl Fields {
    /// Compares two frames of a kind.
    pub(super) fn compare(&mut self, kind: &str, left: &Value, right: &Value) {
        let mut differences = Vec::new();
        walk(String::new(), Some(left), Some(right), &mut differences);
        // A list with ten new members is one difference of one frame.
        differences.dedup_by(|a, b| (&a.0, a.1) == (&b.0, b.1));
        for (path, change, left, right) in differences {
            let field = self.found.entry((kind.to_owned(), path.clone(), change)).or_insert_with(|| Field {
                kind: kind.to_owned(),
                path,
                change,
                frames: 0,
                left: left.map(show),
                right: right.map(show),
            });
            field.frames += 1;
        }
    }

    pub(super) fn finish(self) -> Vec<Field> {
        self.found.into_values().collect()
    }
}

type Difference<'a> = (String, Change, Option<&'a Value>, Option<&'a Value>);

fn walk<'a>(path: String, left: Option<&'a Value>, right: Option<&'a Value>, found: &mut Vec<Difference<'a>>) {
    match (left, right) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let within = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            for (key, value) in a {
                walk(within(key), Some(value), b.get(key), found);
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                walk(within(key), None, Some(value), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (one, other) in a.iter().zip(b) {
                walk(format!("{path}[]"), Some(one), Some(other), found);
            }
        }
        // Lists of words: what is in one and not in the other.
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.iter().chain(b).all(Value::is_string) => {
            found.extend(
                a.iter().filter(|one| !b.contains(one)).map(|one| (format!("{path}[]"), Change::Removed, Some(one), None)),
            );
            found
                .extend(b.iter().filter(|one| !a.contains(one)).map(|one| (format!("{path}[]"), Change::Added, None, Some(one))));
        }
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) => found.push((path, Change::Changed, left, right)),
        (Some(_), None) => found.push((path, Change::Removed, left, None)),
        (None, _) => found.push((path, Change::Added, None, right)),
    }
}

fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN { text } else { format!("{}…", text.chars().take(SHOWN).collect::<String>()) }
}
