//! Plain values: JSON to Loro and back, sizes, statistics of a diff.

use loro::{Container, LoroList, LoroMap, LoroResult, LoroText, LoroValue, ValueOrContainer};
use serde_json::Value;

use super::layout::VALUE_DEPTH_LIMIT;

/// The result of an operation that fails only if an index of this module does not match the document, which is a bug here
/// and never the input's fault.
#[track_caller]
pub(super) fn sure<T>(result: LoroResult<T>) -> T {
    result.expect("the indexes of a chat document match the document")
}

/// A count as Loro stores it.
pub(super) fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// JSON as a plain Loro value; what lies deeper than [`VALUE_DEPTH_LIMIT`] becomes its JSON text.
pub(super) fn to_loro(value: &Value) -> LoroValue {
    nested(value, VALUE_DEPTH_LIMIT)
}

fn nested(value: &Value, levels: usize) -> LoroValue {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => LoroValue::from(value.to_string()),
        Value::Array(items) => LoroValue::from(items.iter().map(|item| nested(item, levels - 1)).collect::<Vec<_>>()),
        Value::Object(fields) => {
            LoroValue::Map(fields.iter().map(|(key, field)| (key.clone(), nested(field, levels - 1))).collect())
        }
        scalar => LoroValue::from(scalar.clone()),
    }
}

/// A plain Loro value as JSON, keys sorted: Loro keeps no order of keys.
pub(super) fn to_json(value: &LoroValue) -> Value {
    match value {
        LoroValue::List(items) => Value::Array(items.iter().map(to_json).collect()),
        LoroValue::Map(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            Value::Object(sorted.into_iter().map(|(key, field)| (key.clone(), to_json(field))).collect())
        }
        scalar => Value::from(scalar.clone()),
    }
}

/// A map of counts.
pub(super) fn counts(pairs: &[(&str, u64)]) -> LoroValue {
    LoroValue::Map(pairs.iter().map(|(key, n)| ((*key).to_owned(), LoroValue::from(number(*n)))).collect())
}

/// String under a key of a map in the document.
pub(super) fn get_str(map: &LoroMap, key: &str) -> Option<String> {
    match map.get(key)? {
        ValueOrContainer::Value(LoroValue::String(text)) => Some(text.to_string()),
        _ => None,
    }
}

/// Plain value under a key of a map in the document.
pub(super) fn get_value(map: &LoroMap, key: &str) -> Option<LoroValue> {
    match map.get(key)? {
        ValueOrContainer::Value(value) => Some(value),
        ValueOrContainer::Container(_) => None,
    }
}

/// Whether a key of a map in the document holds `true`.
pub(super) fn get_bool(map: &LoroMap, key: &str) -> bool {
    matches!(map.get(key), Some(ValueOrContainer::Value(LoroValue::Bool(true))))
}

/// List container under a key of a map in the document.
pub(super) fn get_list(map: &LoroMap, key: &str) -> Option<LoroList> {
    match map.get(key)? {
        ValueOrContainer::Container(Container::List(list)) => Some(list),
        _ => None,
    }
}

/// Text container under a key of a map in the document.
pub(super) fn get_text(map: &LoroMap, key: &str) -> Option<LoroText> {
    match map.get(key)? {
        ValueOrContainer::Container(Container::Text(text)) => Some(text),
        _ => None,
    }
}

/// Lines that a unified diff adds and removes. Inside a hunk its head says how many lines are content, so that an added line
/// `++ x` is not taken for a file head; without counts in the hunk heads every `+` and `-` line counts but file heads.
pub(super) fn diff_stats(diff: &str) -> (u64, u64) {
    let (mut added, mut removed) = (0, 0);
    let (mut old_left, mut new_left) = (0_u64, 0_u64);
    let counted = diff.lines().any(|line| hunk_counts(line).is_some());
    for line in diff.lines() {
        let in_hunk = old_left > 0 || new_left > 0;
        if !in_hunk && let Some((old, new)) = hunk_counts(line) {
            (old_left, new_left) = (old, new);
        } else if counted && !in_hunk || !counted && (line.starts_with("+++ ") || line.starts_with("--- ")) {
            continue;
        } else if line.starts_with('+') {
            added += 1;
            new_left = new_left.saturating_sub(1);
        } else if line.starts_with('-') {
            removed += 1;
            old_left = old_left.saturating_sub(1);
        } else if !line.starts_with('\\') {
            old_left = old_left.saturating_sub(1);
            new_left = new_left.saturating_sub(1);
        }
    }
    (added, removed)
}

/// Line counts of a hunk head `@@ -1,4 +1,6 @@`; an absent count is 1.
fn hunk_counts(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    let old = words.next().and_then(count)?;
    let new = words.next()?.strip_prefix('+').and_then(count)?;
    Some((old, new))
}
