//! What changed between two views, leaf by leaf: a whole view is too long to read, the change is what matters.

use std::collections::BTreeSet;

use serde_json::Value;

/// One leaf that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where it stands: `rows[2].state`.
    pub path: String,
    /// What stood there before; `absent` if nothing.
    pub before: String,
    /// What stands there now; `absent` if nothing.
    pub after: String,
}

/// Every leaf that differs, in the order of the paths' segments.
pub(crate) fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    walk(String::new(), Some(before), Some(after), &mut found);
    found
}

fn walk(path: String, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Change>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(b)), Some(Value::Object(a))) => {
            let keys: BTreeSet<&String> = b.keys().chain(a.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(path, b.get(key), a.get(key), found);
            }
        }
        (Some(Value::Array(b)), Some(Value::Array(a))) => {
            for index in 0..b.len().max(a.len()) {
                walk(format!("{path}[{index}]"), b.get(index), a.get(index), found);
            }
        }
        (before, after) => found.push(Change { path, before: shown(before), after: shown(after) }),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), Value::to_string)
}
