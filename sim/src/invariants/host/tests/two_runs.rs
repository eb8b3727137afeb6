//! I13, and I10 over two runs.

use super::super::two_runs::{Final, compare};
use crate::view::{Chat, Entry, EntryState, HostView, Message, MessageState, Part};

fn view(message: &str, at: u64, text: &str) -> HostView {
    let part = Part::Text { key: None, text: text.to_string() };
    let entry = Entry { id: message.to_string(), role: "user".to_string(), state: EntryState::Complete, parts: vec![part] };
    let state = MessageState::Delivered;
    let shown = Message { id: message.to_string(), text: text.to_string(), accepted_at: at, state };
    let chat = Chat { id: format!("chat-{at}"), messages: vec![shown], transcript: vec![entry], ..Chat::default() };
    HostView { chats: vec![chat], ..HostView::default() }
}

#[test]
fn ids_and_times_do_not_count() {
    let found = compare("I13", &Final::of(&view("m1", 5, "hi")), &Final::of(&view("x9", 700, "hi")));
    assert!(found.violations.is_empty() && found.checked == 1, "{found:?}");
}

#[test]
fn a_text_that_depends_on_the_order_does() {
    let found = compare("I13", &Final::of(&view("m1", 5, "hi")), &Final::of(&view("m1", 5, "hi hi")));
    assert_eq!(found.violations[0].invariant, "I13");
    assert!(found.violations[0].message.contains("hi hi"), "{found:?}");
}

#[test]
fn something_more_at_the_end_does() {
    let more = {
        let mut view = view("m1", 5, "hi");
        view.chats.push(Chat { id: "other".to_string(), ..Chat::default() });
        view
    };
    let found = compare("I10", &Final::of(&view("m1", 5, "hi")), &Final::of(&more));
    assert!(found.violations[0].message.contains("nothing more"), "{found:?}");
}
