//! I16.

use super::*;
use crate::{
    history::What,
    view::{MessageState, Settle},
};

/// A turn has ended, the host is killed and started again, and shows what it had.
fn back() -> Stub {
    ended().later(500).happens(What::HostEnded { power_lost: false }).happens(What::HostStarted)
}

/// A turn is running when the host is killed; the one that starts ends it.
fn cut() -> Stub {
    let host = replied().happens(What::HostEnded { power_lost: false }).happens(What::HostStarted);
    let host = host.exited(1).view(|chat| chat.transcript.retain(|entry| entry.role == "user" || !entry.parts.is_empty()));
    host.settle(Outcome::Interrupted).view(|chat| {
        let settle: &mut Settle = &mut chat.turns[0].settles[0];
        settle.synthetic = Some("restart".to_string());
    })
}

#[test]
fn a_host_that_comes_back_with_everything() {
    holds("I16", back().rest());
}

#[test]
fn a_host_that_comes_back_and_still_shows_the_turn_as_running() {
    breaks(&["I16"], cut().rest());
}

#[test]
fn a_host_that_loses_a_message() {
    breaks(&["I16", "I3"], back().view(|chat| chat.messages.clear()).rest());
}

#[test]
fn a_host_that_loses_a_whole_reply() {
    breaks(&["I16", "I9", "FID"], back().view(|chat| chat.transcript.retain(|entry| entry.role == "user")).rest());
}

#[test]
fn a_host_that_loses_an_end_it_had_shown() {
    let host = ended().journal(json!({"type": "done", "status": "completed"}));
    let host = host.happens(What::HostEnded { power_lost: true }).happens(What::HostStarted);
    breaks(&["I16"], host.view(|chat| chat.journal.clear()).rest());
}

#[test]
fn a_host_that_does_not_start_though_no_disk_failed() {
    let host = ended().happens(What::HostEnded { power_lost: true });
    let host = host.happens(What::HostRefused { words: "its store answered CORRUPT".to_string() });
    breaks(&["I16"], host.happens(What::HostStarted).rest());
}

#[test]
fn a_message_that_was_never_accepted_is_not_owed() {
    let host = Stub::new().send("m1", "hi").happens(What::HostEnded { power_lost: false }).happens(What::HostStarted);
    holds("I16", host.rest());
}

#[test]
fn a_message_left_as_sent_by_a_host_that_is_gone() {
    let host = Stub::new().send("m1", "hi").accept("m1").happens(What::HostEnded { power_lost: false });
    let host = host.happens(What::HostStarted).view(|chat| chat.turns.clear());
    breaks(&["I3", "I16"], host.message("m1", MessageState::Sent).rest());
}
