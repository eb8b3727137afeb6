//! Limits: both sides of each boundary, and what is split reads as if it were not (M5).

use loro::ToJson;
use serde_json::{Value, json};

use super::script::{CREATED_AT, DEVICE, apply, parse};
use super::{check, run_all_ways};
use crate::chat::layout::VALUE_DEPTH_LIMIT;
use crate::chat::read::{self, Part};
use crate::chat::{ChatDoc, ENTRY_INLINE_LIMIT, TEXT_PIECE_LIMIT};
use crate::event::{AgentEvent, ToolCall};

/// Stored entries as `(id, ids of the text parts)`.
fn stored(doc: &ChatDoc) -> Vec<(String, Vec<String>)> {
    let value = doc.loro().get_deep_value().to_json_value();
    let word = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
    let parts = |entry: &Value| entry["parts"].as_array().into_iter().flatten().map(word).collect();
    value["messages"].as_array().into_iter().flatten().map(|entry| (word(entry), parts(entry))).collect()
}

/// One delta of `text`: how it is stored, and that it reads whole.
#[track_caller]
fn check_stored(text: &str, expected: &[(&str, usize)]) {
    let mut doc = ChatDoc::new("c", "c", 1);
    doc.begin_segment("a", CREATED_AT, DEVICE);
    doc.fold(&AgentEvent::TextDelta { text: text.to_owned(), part: None });
    let found = stored(&doc);
    let found: Vec<(&str, usize)> = found.iter().map(|(id, parts)| (id.as_str(), parts.len())).collect();
    assert_eq!(found, expected);
    let entries = read::entries(doc.loro());
    assert_eq!(entries.len(), 1);
    assert!(entries[0].parts == [Part::Text { part: None, text: text.to_owned() }], "joined again");
}

#[test]
fn piece_longer_than_its_limit() {
    check_stored(&"x".repeat(TEXT_PIECE_LIMIT), &[("a", 1)]);
    check_stored(&"x".repeat(TEXT_PIECE_LIMIT + 1), &[("a", 2)]);
}

#[test]
fn entry_longer_than_its_limit() {
    let full = ENTRY_INLINE_LIMIT / TEXT_PIECE_LIMIT;
    check_stored(&"x".repeat(ENTRY_INLINE_LIMIT), &[("a", full)]);
    check_stored(&"x".repeat(ENTRY_INLINE_LIMIT + 1), &[("a", full), ("a#c1", 1)]);
    check_stored(&"x".repeat(2 * ENTRY_INLINE_LIMIT + 1), &[("a", full), ("a#c1", full), ("a#c2", 1)]);
}

#[test]
fn character_cut_in_two_at_a_limit() {
    let text = format!("{}é", "x".repeat(TEXT_PIECE_LIMIT - 1));
    check_stored(&text, &[("a", 2)]);
    check_stored(&"€".repeat(ENTRY_INLINE_LIMIT / 3 + 1), &[("a", 9), ("a#c1", 1)]);
}

#[test]
fn ids_of_what_is_split() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\nthink hm\ntext x270000\nexec t ls") {
        apply(&mut doc, &op);
    }
    let names = |range: std::ops::Range<u32>| range.map(|n| format!("t1~{n}"));
    let root: Vec<String> = ["t0".to_owned(), "t1".to_owned()].into_iter().chain(names(1..8)).collect();
    let rest: Vec<String> = names(8..9).chain(["t".to_owned()]).collect();
    assert_eq!(stored(&doc), [("a".to_owned(), root), ("a#c1".to_owned(), rest)]);
}

/// DO-02: a split entry reads as one, its fork point included.
#[test]
fn fork_point_or_status_lost_on_a_split_entry() {
    check(
        "begin a
         text x600000
         user m meanwhile
         exec t ls
         text x600000
         point a p
         finish
         user n more",
        "assistant a complete point=\"p\"
           text (600000 bytes)
           exec t ls [open]
           text (600000 bytes)
         user m complete
           text meanwhile
         user n complete
           text more",
    );
}

#[test]
fn two_long_parts_mixed_up_when_they_stream_at_once() {
    check(
        "begin a
         text/p x100000
         think/r x100000
         text/p x100000
         think/r x100000
         abort",
        "assistant a aborted
           text/p (200000 bytes)
           think/r (200000 bytes)",
    );
}

#[test]
fn long_part_replaced_by_a_shorter_or_taken_back() {
    check(
        "begin a
         text/p x100000
         text/q x300000
         text/r tail
         snap/p short
         snap/q x32768
         text/q y
         text/p er
         snap/r x40000
         snap/r x32769
         snap/r \"\"",
        "assistant a streaming
           text/p shorter
           text/q (32769 bytes)",
    );
}

#[test]
fn room_of_text_taken_back_lost_for_the_entry() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\ntext/p x200000\nsnap/p \"\"\ntext/q x200000\nsnap/q x10\ntext/q x200000") {
        apply(&mut doc, &op);
    }
    assert_eq!(stored(&doc).len(), 1);
}

#[test]
fn call_larger_than_an_entry_cut_or_looped_on() {
    let command = "x".repeat(ENTRY_INLINE_LIMIT + 1);
    let mut doc = ChatDoc::new("c", "c", 1);
    doc.begin_segment("a", CREATED_AT, DEVICE);
    doc.fold(&AgentEvent::ToolCall { id: "t".into(), call: ToolCall::Exec { command: command.clone() } });
    doc.fold(&AgentEvent::TextDelta { text: "after".into(), part: None });
    let entries = read::entries(doc.loro());
    assert!(matches!(&entries[0].parts[0], Part::Tool(tool) if tool.call == ToolCall::Exec { command }));
    assert_eq!(entries[0].parts[1], Part::Text { part: None, text: "after".into() });
    assert_eq!(stored(&doc).len(), 2);
}

#[test]
fn call_nested_deeper_than_the_document_holds() {
    let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let store = |levels: usize| {
        let mut doc = ChatDoc::new("c", "c", 1);
        doc.begin_segment("a", CREATED_AT, DEVICE);
        let call = ToolCall::Unknown { name: "deep".into(), input: nest(levels) };
        doc.fold(&AgentEvent::ToolCall { id: "t".into(), call });
        let loaded = ChatDoc::load("c", "c", 2, &doc.snapshot(), &[]).expect("own snapshot");
        match read::entries(loaded.loro()).remove(0).parts.remove(0) {
            Part::Tool(tool) => tool.call,
            other => panic!("{other:?}"),
        }
    };
    // The call itself is one level.
    let whole = VALUE_DEPTH_LIMIT - 1;
    assert_eq!(store(whole), ToolCall::Unknown { name: "deep".into(), input: nest(whole) });
    let cut = (0..whole).fold(json!("[1]"), |inner, _| json!([inner]));
    assert_eq!(store(whole + 1), ToolCall::Unknown { name: "deep".into(), input: cut });
    store(120);
}

#[test]
fn long_user_message_cut() {
    let entries = run_all_ways(&parse(&format!("user m {}", "y".repeat(ENTRY_INLINE_LIMIT + 7))));
    assert!(matches!(&entries[0].parts[..], [Part::Text { text, .. }] if text.len() == ENTRY_INLINE_LIMIT + 7));
}
