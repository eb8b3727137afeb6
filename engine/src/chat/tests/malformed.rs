//! Torn and malformed content: the rest is shown.

use loro::{ExportMode, LoroDoc, LoroList, LoroMap, LoroText, LoroValue};
use serde_json::{Value, json};

use super::script::{CREATED_AT, DEVICE, apply, parse, render};
use crate::chat::value::to_loro;
use crate::chat::{ChatDoc, read};

/// Writes plain maps as entries, parts as containers; a part's `text` becomes a text container.
fn write(entries: &[Value]) -> LoroDoc {
    let doc = LoroDoc::new();
    let messages = doc.get_list("messages");
    for entry in entries {
        let Value::Object(fields) = entry else {
            messages.push(to_loro(entry)).expect("push");
            continue;
        };
        let map = messages.push_container(LoroMap::new()).expect("push");
        for (key, value) in fields {
            match value {
                Value::Array(parts) if key == "parts" => {
                    let list = map.insert_container("parts", LoroList::new()).expect("insert");
                    parts.iter().for_each(|part| write_part(&list, part));
                }
                value => map.insert(key, to_loro(value)).expect("insert"),
            }
        }
    }
    doc.commit();
    doc
}

fn write_part(list: &LoroList, part: &Value) {
    let Value::Object(fields) = part else {
        list.push(to_loro(part)).expect("push");
        return;
    };
    let map = list.push_container(LoroMap::new()).expect("push");
    for (key, value) in fields {
        match value {
            Value::String(text) if key == "text" => {
                let container = map.insert_container("text", LoroText::new()).expect("insert");
                container.insert(0, text).expect("insert");
            }
            value => map.insert(key, LoroValue::from(value.clone())).expect("insert"),
        }
    }
}

/// Reads hand-written entries, loads them in a host, folds on, and reads again.
#[track_caller]
fn check_read(entries: &[Value], expected: &str) {
    let trimmed = |block: &str| block.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let doc = write(entries);
    assert_eq!(trimmed(&render(&read::entries(&doc))), trimmed(expected));

    let snapshot = doc.export(ExportMode::Snapshot).expect("export");
    let mut host = ChatDoc::load("c", "c", 1, &snapshot, &[]).expect("a malformed entry keeps no document from loading");
    host.begin_segment("new", CREATED_AT, DEVICE);
    for op in parse("text on\nfinish") {
        apply(&mut host, &op);
    }
    let more = format!("{expected}\nassistant new complete\ntext on");
    assert_eq!(trimmed(&render(&read::entries(host.loro()))), trimmed(&more));
}

fn good(id: &str, parts: &Value) -> Value {
    json!({"id": id, "role": "assistant", "status": "complete", "createdAt": 1, "deviceId": "d", "parts": parts})
}

fn hi() -> Value {
    json!([{"kind": "text", "id": "t0", "text": "hi"}])
}

/// DO-01: an entry that cannot be read costs itself.
#[test]
fn transcript_blank_because_one_entry_is_malformed() {
    check_read(
        &[
            good("first", &hi()),
            json!({}),
            json!("no map"),
            json!(null),
            json!({"id": "x", "role": "assistant", "status": "complete"}),
            json!({"id": "x", "role": "assistant", "parts": hi()}),
            json!({"role": "assistant", "status": "complete", "parts": hi()}),
            json!({"id": "x", "role": "robot", "status": "complete", "parts": hi()}),
            json!({"id": "x", "role": "assistant", "status": "done", "parts": hi()}),
            json!({"id": 7, "role": "assistant", "status": "complete", "parts": hi()}),
            json!({"id": "x", "role": "assistant", "status": "complete", "parts": "none"}),
            json!({"id": "bare", "role": "user", "status": "complete", "parts": hi()}),
            good("last", &hi()),
        ],
        "assistant first complete
           text hi
         user bare complete
           text hi
         assistant last complete
           text hi",
    );
}

/// DO-01: a part that cannot be read costs itself.
#[test]
fn entry_blank_because_one_part_is_malformed() {
    let parts = json!([
        {"kind": "text", "id": "t0", "text": "before"},
        "no map",
        {},
        {"kind": "hologram", "id": "h"},
        {"kind": "text", "id": "t9"},
        {"kind": "tool", "id": "t"},
        {"kind": "tool", "id": "t", "call": {"kind": "levitate"}, "resolved": true},
        {"kind": "tool", "call": {"kind": "exec", "command": "ls"}},
        {"kind": "input", "requestId": "q", "questions": "?", "resolved": false},
        {"kind": "error"},
        {"kind": "image", "id": "i"},
        {"kind": "fork"},
        {"kind": "tool", "id": "bare", "call": {"kind": "exec", "command": "ls"}},
        {"kind": "text", "text": "after"},
    ]);
    check_read(
        &[good("a", &parts)],
        "assistant a complete
           text before
           exec bare ls [open]
           text after",
    );
}

#[test]
fn continuation_lost_with_its_root() {
    let part = |id: &str, continues: Option<&str>, text: &str| match continues {
        Some(root) => json!([{"kind": "text", "id": id, "continues": root, "text": text}]),
        None => json!([{"kind": "text", "id": id, "text": text}]),
    };
    let continued = |id: &str, root: &str, parts: &Value| {
        let mut entry = good(id, parts);
        entry["continuationOf"] = json!(root);
        entry
    };
    check_read(
        &[
            good("whole", &part("t0", None, "a")),
            continued("torn#c1", "torn", &part("t0~1", Some("t0"), "b")),
            continued("whole#c2", "whole", &part("t0~2", Some("t0"), "c")),
            continued("torn#c2", "torn", &part("t0~2", Some("t0"), "d")),
            continued("whole#c1", "whole", &part("t0~1", Some("t0"), "b")),
        ],
        "assistant whole complete
           text abc
         assistant torn#c1 complete
           text bd",
    );
}
