//! I9, I10, I12.

use super::*;
use crate::{
    history::{UserAction, What},
    invariants::stub::PID,
};

#[test]
fn a_text_that_lost_a_letter_on_the_way() {
    let lost = running().said(text("a1", "Hello there.")).text("Hello thre.").said(result("m1")).settle(Outcome::Completed);
    breaks(&["I9", "FID"], lost.rest());
}

#[test]
fn white_space_that_was_lost_is_seen_by_the_letter_only() {
    let lost = running().said(text("a1", "a\u{2028}b")).text("ab").said(result("m1")).settle(Outcome::Completed);
    breaks(&["I9"], lost.rest());
}

#[test]
fn a_line_that_is_no_json() {
    breaks(&["I9"], ended().heard(Value::Null).rest());
}

#[test]
fn a_message_whose_words_were_changed() {
    let host = Stub::new().send("m1", "hi there").accept("m1").spawned(&["claude"]).heard(user("m1", "hi"));
    let host = host.said(lifecycle("m1", "started")).deliver("m1").said(result("m1")).settle(Outcome::Completed);
    breaks(&["I9"], host.rest());
}

#[test]
fn a_message_with_context_around_it() {
    let host = Stub::new().send("m1", "hi").accept("m1").spawned(&["claude"]).heard(user("m1", "Before: …\n\nhi"));
    let host = host.said(lifecycle("m1", "started")).deliver("m1").said(result("m1")).settle(Outcome::Completed);
    holds("I9", host.rest());
}

#[test]
fn a_result_that_was_lost() {
    let lost = replied().said(call("t1", "Bash", json!({}))).tool("t1", "Bash").said(returned("t1", true));
    breaks(&["I9", "FID"], lost.resolved("t1", false).said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn an_unknown_frame_that_ends_a_turn() {
    let strange = || replied().said_falsely(json!({"type": "quantum_event", "session_id": "s1"}));
    holds("I10", strange().said(result("m1")).settle(Outcome::Completed).rest());
    breaks(&["I10", "I11"], strange().settle(Outcome::Failed));
}

#[test]
fn a_bad_record_that_kills_the_process() {
    let kill = What::Signal { pid: PID, signal: "SIGTERM".to_string(), by_host: true };
    // Both in one look: the kill is the answer to the record.
    let mut judge = super::super::Strange::new(&Default::default());
    let host = replied().said_falsely(Value::Null);
    assert!(host.judge(&mut judge).violations.is_empty());
    let mut judge = super::super::Strange::new(&Default::default());
    let found = replied().said_falsely(Value::Null).at_once(kill).judge(&mut judge);
    assert_eq!(found.violations.len(), 1, "{found:?}");
}

#[test]
fn a_repeated_result_that_ends_the_next_turn() {
    let second = || {
        let host = ended().send("m2", "more").accept("m2").heard(user("m2", "more")).said(lifecycle("m2", "started"));
        host.deliver("m2").said_falsely(result("m1"))
    };
    holds("I10", second().said(result("m2")).settle(Outcome::Completed).rest());
    breaks(&["I10", "I11"], second().settle(Outcome::Completed));
}

#[test]
fn a_background_result_that_ends_a_prompt() {
    let orphans = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s1",
                         "origin": {"kind": "task-notification"}});
    let early = || replied().said(orphans.clone());
    holds("I12", early().said(result("m1")).settle(Outcome::Completed).rest());
    breaks(&["I11", "I12"], early().settle(Outcome::Completed));
}

fn two_chats() -> Stub {
    replied().on("chat-2").with_pid(2).send("n1", "hey").accept("n1").spawned(&["claude"]).heard(user("n1", "hey"))
}

#[test]
fn a_frame_of_one_chat_that_changes_another() {
    let started = with(lifecycle("n1", "started"), "session_id", json!("s2"));
    holds("I12", two_chats().said(started.clone()).deliver("n1"));
    breaks(
        &["I12", "I11", "I2"],
        two_chats().said(started).deliver("n1").on("chat-1").settle(Outcome::Completed).view(|chat| chat.pill = 1),
    );
}

#[test]
fn a_frame_of_a_replaced_process_that_changes_its_chat() {
    let replaced = || ended().exited(0).with_pid(2).spawned(&["claude", "--resume", "s1"]).with_pid(1).said(text("a9", "late"));
    holds("I12", replaced().rest());
    breaks(&["I12"], replaced().text("late"));
}

#[test]
fn a_message_written_to_the_wrong_process() {
    let wrong = two_chats().with_pid(1).heard(user("n1", "hey"));
    breaks(&["I12", "I3"], wrong);
}

#[test]
fn a_message_taken_back_from_a_process_that_never_had_it() {
    let request = json!({"type": "control_request", "request_id": "c1",
                         "request": {"subtype": "cancel_async_message", "message_uuid": "m9"}});
    breaks(&["I12"], replied().heard(request));
}

#[test]
fn a_stop_of_one_chat_does_not_stop_another() {
    let stopped = two_chats().on("chat-1").user(UserAction::Stop { chat: "chat-2".to_string() });
    breaks(&["I11"], stopped.settle(Outcome::Interrupted));
}
