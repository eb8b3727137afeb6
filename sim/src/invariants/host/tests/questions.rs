//! I5, I6, I14.

use super::*;
use crate::{
    history::UserAction,
    invariants::stub::{CHAT, PID},
    view::{Approval, ChildState, Request, Status, Timer},
};

fn with_tool() -> Stub {
    replied().said(call("t1", "Bash", json!({}))).tool("t1", "Bash")
}

#[test]
fn a_tool_left_running() {
    let sound = || with_tool().said(returned("t1", false)).resolved("t1", false).said(result("m1")).settle(Outcome::Completed);
    holds("I5", sound().rest());
    // The entry is still being written, the result never came, and no turn is open.
    let open = |chat: &mut crate::view::Chat| chat.transcript.last_mut().unwrap().state = crate::view::EntryState::Streaming;
    breaks(&["I5"], with_tool().said(result("m1")).settle(Outcome::Completed).view(open).rest());
}

#[test]
fn a_tool_cut_by_a_stop_is_shown_as_cancelled() {
    let stopped = with_tool().stop().said(with(result("m1"), "terminal_reason", json!("aborted_tools")));
    holds("I5", stopped.settle(Outcome::Interrupted).rest());
}

#[test]
fn a_child_that_outlives_its_process() {
    let agent = || {
        let host = replied().said(call("t1", "Agent", json!({"prompt": "Look."}))).tool("t1", "Agent").row("t1", "Agent");
        let host = host.tab_text("t1", "user", "Look.").said(returned("t1", false)).resolved("t1", false);
        host.said(result("m1")).settle(Outcome::Completed).exited(0)
    };
    breaks(&["I5"], agent().rest());
    holds("I5", agent().row_is("t1", ChildState::Failed).rest());
}

fn card(chat: &mut crate::view::Chat, opened_at: u64) {
    chat.approvals.push(Approval {
        id: "card-1".to_string(),
        provider_request: "r1".to_string(),
        opened_at,
        closed_at: None,
        openings: 1,
        closings: 0,
    });
    chat.status = Status::AwaitingInput;
}

fn close(chat: &mut crate::view::Chat) {
    let card = &mut chat.approvals[0];
    (card.closings, card.closed_at) = (card.closings + 1, Some(card.opened_at + 1));
    chat.status = Status::Working;
}

fn asked() -> Stub {
    replied().said(ask("r1")).view(|chat| card(chat, 1))
}

fn clicked() -> Stub {
    asked().user(UserAction::Answer { chat: CHAT.to_string(), answers: vec!["yes".to_string()] }).view(close)
}

fn finish(host: Stub) -> Stub {
    host.said(result("m1")).settle(Outcome::Completed).rest()
}

#[test]
fn a_question_answered_once() {
    holds("I6", finish(clicked().heard(answer("r1", "allow"))));
}

#[test]
fn a_question_answered_twice() {
    breaks(&["I6"], finish(clicked().heard(answer("r1", "allow")).heard(answer("r1", "allow"))));
}

#[test]
fn a_question_that_nobody_is_shown() {
    breaks(&["I6"], replied().said(ask("r1")).rest());
    holds("I6", asked().rest());
}

#[test]
fn a_card_that_stays_after_its_request_was_taken_back() {
    let cancelled = || asked().said(json!({"type": "control_cancel_request", "request_id": "r1"}));
    breaks(&["I6"], cancelled().rest());
    holds("I6", finish(cancelled().view(close)));
}

#[test]
fn a_card_that_outlives_its_turn() {
    breaks(&["I6"], asked().said(result("m1")).settle(Outcome::Completed));
}

#[test]
fn a_card_closed_twice() {
    breaks(
        &["I6"],
        finish(clicked().heard(answer("r1", "allow")).view(close).view(|chat| chat.approvals[0].closed_at = Some(9))),
    );
}

#[test]
fn a_grant_for_a_request_that_had_ended() {
    let late = asked().said(json!({"type": "control_cancel_request", "request_id": "r1"})).view(close);
    let late = late.user(UserAction::Answer { chat: CHAT.to_string(), answers: vec!["yes".to_string()] });
    breaks(&["I6"], finish(late.heard(answer("r1", "allow"))));
}

#[test]
fn an_answer_to_what_was_never_asked() {
    breaks(&["I6"], finish(replied().heard(answer("r9", "allow"))));
}

fn requested() -> Stub {
    replied().heard(json!({"type": "control_request", "request_id": "q1", "request": {"subtype": "interrupt"}})).inside(
        |inside| {
            let (id, method) = ("q1".to_string(), "interrupt".to_string());
            inside.requests.push(Request { id, pid: PID, method, sent_at: 7, ended_at: None, end: None });
        },
    )
}

#[test]
fn a_request_without_a_deadline() {
    let timer = |deadline| Timer { deadline, class: "P".to_string(), key: format!("{CHAT}/interrupt-grace/0") };
    holds("I14", requested().inside(|inside| inside.timers.push(timer(2_000))));
    breaks(&["I14"], requested());
    breaks(&["I14"], requested().inside(|inside| inside.timers.push(timer(2_000_000))));
}

#[test]
fn a_request_that_outlives_its_process() {
    let gone = || requested().inside(|inside| inside.requests[0].ended_at = Some(8)).exited(1).settle(Outcome::Failed);
    holds("I14", gone().rest());
    let open = gone().later(1).later(1).inside(|inside| inside.requests[0].ended_at = None);
    breaks(&["I14"], open);
}

#[test]
fn a_host_without_an_inside_cannot_be_judged_for_its_timers() {
    let mut judge = super::super::Requests::new(&Default::default());
    assert!(replied().closed().later(1).judge(&mut judge).not_observable);
}
