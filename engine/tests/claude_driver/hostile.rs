//! Frames of wrong shape: whatever a field holds, the driver goes on.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{frames::ONE_OF_EACH, script::Stage};

/// What stands in the place of a field.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Put(Value),
}

fn values() -> impl Strategy<Value = Change> {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1.5),
        json!(""),
        json!("a"),
        json!("t2"),
        json!("/"),
        json!("completed"),
        json!([]),
        json!([null, 7, "b", {}]),
        json!({}),
        json!({"a": {"b": []}}),
    ];
    prop_oneof![Just(Change::Remove), proptest::sample::select(odd.to_vec()).prop_map(Change::Put)]
}

/// Pointers of all fields of a frame, the inner ones too.
fn fields(value: &Value, at: &str, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value) in inner {
        let path = format!("{at}/{key}");
        fields(value, &path, found);
        found.push(path);
    }
}

fn change(frame: &mut Value, path: &str, change: &Change) {
    match change {
        Change::Put(value) => {
            if let Some(field) = frame.pointer_mut(path) {
                *field = value.clone();
            }
        }
        Change::Remove => {
            let (parent, key) = path.rsplit_once('/').unwrap_or(("", path));
            match frame.pointer_mut(parent) {
                Some(Value::Object(map)) => {
                    map.shift_remove(key);
                }
                Some(Value::Array(list)) => {
                    if let Ok(n) = key.parse::<usize>() {
                        list.remove(n);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A run in the middle of everything: a tool, a child, a fork, a message that waits, open questions, a stop under way.
fn busy(stage: &mut Stage, stop: bool) -> Vec<String> {
    let lines = ["turn a", "calls m1 t1 Bash {}", "calls m1 t2 Agent {\"prompt\":\"Look\"}", "task k2 t2", "message m1"];
    let more = ["fork k9 /probe Body", "steer b More", "ask r1 Bash {\"command\":\"ls\"}", "background k1 k2"];
    lines.iter().chain(&more).chain(stop.then_some(&"stop")).flat_map(|line| stage.line(line)).collect()
}

/// Every field of every kind of frame, removed or with another type: the run goes on, and still ends exactly once.
fn check(kinds: &[usize], picks: &[usize], changes: &[Change], stop: bool) {
    let mut stage = Stage::new();
    let mut outputs = busy(&mut stage, stop);
    for ((kind, pick), with) in kinds.iter().zip(picks).zip(changes) {
        let mut frame = stage.frame(ONE_OF_EACH[kind % ONE_OF_EACH.len()]);
        let mut paths = Vec::new();
        fields(&frame, "", &mut paths);
        change(&mut frame, &paths[pick % paths.len()], with);
        outputs.extend(stage.bytes(format!("{frame}\n").as_bytes()));
    }
    outputs.extend(stage.line("answer r1 Allow once"));
    outputs.extend(stage.line("+60000"));
    outputs.extend(stage.line("gone 1"));
    assert_eq!(outputs.iter().filter(|line| *line == "ended").count(), 1, "{outputs:#?}");
    let forks = |word: &str| outputs.iter().filter(|line| line.starts_with(&format!("{word} forked-command-"))).count();
    assert_eq!(forks("call"), forks("returned"), "every fork settles once: {outputs:#?}");
    // A message has one fate, whatever the CLI says of it: taken once, or given back once (D4).
    let fates = outputs.iter().filter(|line| *line == "steered b" || line.starts_with("returned unread b:")).count();
    assert!(fates <= 1, "{outputs:#?}");
    assert_eq!(stage.line("+600000"), Vec::<String>::new(), "no timer outlives the process");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_field_of_another_type_panics(
        kinds in proptest::collection::vec(any::<usize>(), 1..12),
        picks in proptest::collection::vec(any::<usize>(), 12),
        changes in proptest::collection::vec(values(), 12),
        stop in any::<bool>(),
    ) {
        check(&kinds, &picks, &changes, stop);
    }
}

/// The same without chance: each field of each kind of frame, once with every odd value.
#[test]
fn one_odd_field_panics() {
    let odd =
        [Change::Remove, Change::Put(json!(null)), Change::Put(json!(7)), Change::Put(json!("x")), Change::Put(json!([{}]))];
    for (kind, frame) in ONE_OF_EACH.iter().enumerate() {
        let mut paths = Vec::new();
        fields(&Stage::new().frame(frame), "", &mut paths);
        for pick in 0..paths.len() {
            for with in &odd {
                check(&[kind], &[pick], std::slice::from_ref(with), false);
            }
        }
    }
}
