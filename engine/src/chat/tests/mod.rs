//! Tests of the chat documents.

mod document;
mod fold;
mod layout;
mod limits;
mod malformed;
mod model;
mod random;
mod script;

use loro::LoroDoc;

use super::read::{self, Entry};
use super::{ChatDoc, view};
use script::{Op, apply, parse, render};

/// Runs a script and compares what a reader sees with the expected block. The same script runs on three more ways that must
/// show the same: by a viewer that imports every update, by a document loaded from a snapshot, and by a host that is killed and
/// reloads after every line.
#[track_caller]
fn check(script: &str, expected: &str) {
    let ops = parse(script);
    let trimmed = |block: &str| block.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
    let expected: Vec<String> = trimmed(expected);
    let entries = run_all_ways(&ops);
    assert_eq!(trimmed(&render(&entries)), expected);
}

/// What a reader sees after the ops, equal on every way.
#[track_caller]
fn run_all_ways(ops: &[Op]) -> Vec<Entry> {
    let mut host = ChatDoc::new("chat", "chat", 7);
    let viewer = LoroDoc::new();
    let mut bytes: Vec<_> = host.take_update().into_iter().collect();
    viewer.import(&bytes[0]).expect("a viewer takes every update");
    for op in ops {
        apply(&mut host, op);
        if let Some(update) = host.take_update() {
            viewer.import(&update).expect("a viewer takes every update");
            bytes.push(update);
        }
        assert!(!host.dirty());
    }
    let entries = read::entries(host.loro());
    assert_eq!(read::entries(&viewer), entries, "viewer");
    assert_eq!(read::meta(&viewer), read::meta(host.loro()), "viewer");

    let snapshot = host.snapshot();
    let loaded = ChatDoc::load("chat", "chat", 8, &snapshot, &[]).expect("own snapshot");
    assert_eq!(read::entries(loaded.loro()), entries, "loaded from a snapshot");
    assert_eq!(loaded.chips(), host.chips(), "loaded from a snapshot");
    let loaded = ChatDoc::load("chat", "chat", 8, &[], &bytes).expect("own updates");
    assert_eq!(read::entries(loaded.loro()), entries, "loaded from updates");

    let reloaded = run_with_reloads(ops, |_| true);
    assert_eq!(read::entries(reloaded.loro()), entries, "killed after every line");
    assert_eq!(reloaded.chips(), host.chips(), "killed after every line");

    let mut again = ChatDoc::new("chat", "chat", 7);
    let mut bytes_again: Vec<_> = again.take_update().into_iter().collect();
    for op in ops {
        apply(&mut again, op);
        bytes_again.extend(again.take_update());
    }
    assert!(bytes_again == bytes && again.snapshot() == snapshot, "equal calls gave other bytes");
    check_chips(&host, &entries);
    entries
}

/// Runs the ops with a kill after each op that `kill` names; the segment is opened again by its id, as recovery does.
fn run_with_reloads(ops: &[Op], kill: impl Fn(usize) -> bool) -> ChatDoc {
    let mut host = ChatDoc::new("chat", "chat", 1000);
    for (n, op) in ops.iter().enumerate() {
        apply(&mut host, op);
        if kill(n) {
            let open = host.segment_entry().map(str::to_owned);
            host = ChatDoc::load("chat", "chat", 1001 + n as u64, &host.snapshot(), &[]).expect("own snapshot");
            assert!(!host.dirty(), "a load is no change");
            if let Some(id) = open {
                assert!(host.begin_segment(&id, script::CREATED_AT, script::DEVICE), "the streaming entry is continued");
            }
        }
    }
    host
}

/// The two ways to chips agree: the host's index and the reader's walk.
#[track_caller]
fn check_chips(host: &ChatDoc, entries: &[Entry]) {
    // Of several chips that name one document the last one counts.
    let documents = host.chips().into_iter().filter_map(|chip| Some((chip.subagent_ref?, chip.status)));
    let documents: std::collections::BTreeMap<_, _> = documents.collect();
    let running = documents.values().filter(|status| **status == Some(super::SubagentStatus::Running)).count();
    assert_eq!(view::running_rows(entries), running, "running rows");
    for chip in host.chips() {
        assert!(view::shown_title(entries, &chip.id).is_some_and(|title| title.starts_with(&chip.name)));
    }
}
