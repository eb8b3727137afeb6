//! I1, I2, I3, I8, I11.

use super::*;
use crate::{
    history::{UserAction, What},
    invariants::stub::CHAT,
    view::{Cause, ChildState, MessageState, Part, ProcessState, Settle},
};

#[test]
fn a_plain_turn_keeps_every_rule() {
    for id in ["I1", "I2", "I3", "I4", "I8", "I9", "I11", "FID"] {
        holds(id, ended().rest());
    }
}

#[test]
fn a_turn_that_ends_twice() {
    breaks(
        &["I1"],
        ended().later(10).view(|chat| {
            let mut again = chat.turns[0].settles[0].clone();
            again.at += 10;
            chat.turns[0].settles.push(again);
        }),
    );
}

#[test]
fn a_turn_whose_outcome_changes_later() {
    breaks(&["I1"], ended().later(10).view(|chat| chat.turns[0].settles[0].outcome = Outcome::Interrupted));
}

#[test]
fn a_turn_that_never_ends_though_the_provider_is_done() {
    breaks(&["I1"], replied().said(result("m1")).rest());
}

#[test]
fn a_turn_that_the_provider_still_runs_is_not_owed() {
    holds("I2", replied().rest());
}

#[test]
fn a_turn_left_open_by_a_dead_process() {
    let host = replied().exited(1).rest();
    breaks(&["I1"], host);
}

#[test]
fn a_swallowed_result_is_the_providers_fault() {
    holds("I2", replied().said_falsely(result("m1")).broken_provider().rest());
}

#[test]
fn a_chat_that_stays_busy_after_its_turn() {
    breaks(&["I2"], ended().view(|chat| chat.busy = true).rest());
}

#[test]
fn a_chat_that_looks_idle_while_its_turn_is_open() {
    breaks(&["I2"], replied().view(|chat| chat.busy = false).rest());
}

/// A turn with a background agent whose row runs.
fn with_agent() -> Stub {
    let host = replied().said(call("t1", "Agent", json!({"prompt": "Look."}))).tool("t1", "Agent").row("t1", "Agent");
    host.tab_text("t1", "user", "Look.").said(returned("t1", false)).resolved("t1", false)
}

#[test]
fn the_pill_and_the_rows_agree() {
    let done = with_agent().said(json!({"type": "system", "subtype": "task_started", "task_id": "k1", "tool_use_id": "t1"}));
    let done = done.said(json!({"type": "system", "subtype": "task_notification", "task_id": "k1", "status": "completed"}));
    holds("I2", done.row_is("t1", ChildState::Done).said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn a_pill_that_counts_what_no_row_shows() {
    breaks(&["I2"], with_agent().view(|chat| chat.pill = 2));
}

#[test]
fn a_pill_that_runs_ahead_of_the_rows_for_one_flush() {
    let flush = |ms| with_agent().view(|chat| (chat.pill, chat.delivery.unflushed) = (2, true)).later(ms);
    holds("I2", flush(120));
    breaks(&["I2"], flush(121));
}

#[test]
fn rows_that_run_ahead_of_the_pill() {
    breaks(
        &["I2"],
        with_agent().later(5).view(|chat| {
            chat.rows[0].state = ChildState::Done;
            chat.delivery.unflushed = true;
        }),
    );
}

#[test]
fn a_link_that_holds_documents_back_is_not_counted() {
    holds("I2", with_agent().later(1).view(|chat| (chat.pill, chat.delivery.docs) = (2, 1)).later(5_000));
}

#[test]
fn a_message_that_is_shown_nowhere() {
    breaks(&["I3"], ended().send("m2", "lost").rest());
}

#[test]
fn a_message_run_twice() {
    let again = ended().heard(user("m1", "hi")).said(lifecycle("m1", "started")).said(result("m1"));
    breaks(&["I3"], again.rest());
}

#[test]
fn a_message_given_back_may_come_again() {
    let back = replied().send("m2", "more").accept("m2").heard(user("m2", "more")).said(lifecycle("m2", "cancelled"));
    let back = back.message("m2", MessageState::Queued).said(result("m1")).settle(Outcome::Completed);
    let again = back.later(1).view(|chat| {
        let accepted_at = chat.turns[0].settles[0].at + 1;
        let cause = Cause::Message("m2".to_string());
        chat.turns.push(crate::view::Turn { number: 2, cause, accepted_at, settles: Vec::new() });
        chat.busy = true;
    });
    let again = again.heard(user("m2", "more")).said(lifecycle("m2", "started")).deliver("m2");
    holds("I3", again.said(result("m2")).settle(Outcome::Completed).rest());
}

#[test]
fn a_message_that_was_taken_and_is_shown_as_queued() {
    breaks(&["I3"], ended().message("m1", MessageState::Queued).rest());
}

#[test]
fn a_message_withdrawn_by_nobody() {
    let host = replied().send("m2", "more").accept("m2").message("m2", MessageState::Withdrawn);
    breaks(&["I3"], host.said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn a_message_withdrawn_by_the_user() {
    let host = replied().send("m2", "more").accept("m2");
    let host = host.user(UserAction::Withdraw { chat: CHAT.to_string(), message: "m2".to_string() });
    let host = host.message("m2", MessageState::Withdrawn);
    holds("I3", host.said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn messages_that_arrive_out_of_order() {
    let host = replied().send("m2", "two").accept("m2").send("m3", "three").accept("m3");
    let host = host.heard(user("m3", "three")).heard(user("m2", "two"));
    let host = host.said(lifecycle("m3", "started")).deliver("m3").said(lifecycle("m2", "started")).deliver("m2");
    let end = with(result("m1"), "user_message_uuids", json!(["m1", "m2", "m3"]));
    breaks(&["I3", "FID"], host.said(end).settle(Outcome::Completed).rest());
}

#[test]
fn two_processes_that_write_to_one_session() {
    let other = ended().with_pid(2).spawned(&["claude", "--resume", "s1"]);
    breaks(&["I8"], other.rest());
    let after = ended().exited(0).with_pid(2).spawned(&["claude", "--resume", "s1"]);
    holds("I8", after.rest());
    holds("I8", ended().with_pid(2).spawned(&["claude", "--resume", "s1", "--fork-session"]).rest());
    let kill = |signal: &str| What::Signal { pid: 1, signal: signal.to_string(), by_host: true };
    holds("I8", ended().happens(kill("SIGKILL")).with_pid(2).spawned(&["claude", "--resume", "s1"]));
    breaks(&["I8"], ended().happens(kill("SIGTERM")).with_pid(2).spawned(&["claude", "--resume", "s1"]));
}

#[test]
fn a_stranger_killed() {
    let kill = What::Signal { pid: 77, signal: "SIGKILL".to_string(), by_host: true };
    breaks(&["I8"], ended().happens(kill).rest());
}

#[test]
fn a_lease_that_ends_before_its_process() {
    breaks(&["I8"], ended().later(1).inside(|inside| inside.processes[0].leased = false).rest());
    holds("I8", ended().later(1).inside(|inside| inside.processes[0].state = ProcessState::Exited).rest());
}

fn failing() -> Stub {
    let error = with(with(result("m1"), "is_error", json!(true)), "result", json!("API Error: 529"));
    replied().said(error)
}

#[test]
fn a_failure_that_calls_itself_success() {
    holds("I11", failing().settle(Outcome::Failed).rest());
    breaks(&["I11"], failing().settle(Outcome::Completed).rest());
}

#[test]
fn a_failure_without_a_cause() {
    breaks(&["I11"], failing().settle(Outcome::Failed).view(|chat| chat.turns[0].settles[0].error = None).rest());
}

#[test]
fn a_turn_settled_by_silence() {
    breaks(&["I11"], replied().later(60_000).settle(Outcome::Completed));
}

#[test]
fn a_turn_interrupted_by_nobody() {
    breaks(&["I11"], replied().said(result("m1")).settle(Outcome::Interrupted).rest());
    holds("I11", replied().stop().said(result("m1")).settle(Outcome::Interrupted).rest());
}

#[test]
fn a_typed_fork_that_was_stopped_did_not_complete() {
    let stopped = || {
        let host = running().said(json!({"type": "system", "subtype": "task_started", "task_id": "k1",
                                         "description": "/probe", "prompt": "Probe."}));
        let host = host.tool("forked-command-probe-k1", "Agent: /probe").row("forked-command-probe-k1", "Agent: /probe");
        let host = host.tab_text("forked-command-probe-k1", "user", "Probe.");
        let host = host.said(json!({"type": "system", "subtype": "task_notification", "task_id": "k1", "status": "stopped"}));
        host.said(result("m1")).row_is("forked-command-probe-k1", ChildState::Done)
    };
    holds("I11", stopped().settle(Outcome::Interrupted).rest());
    breaks(&["I11"], stopped().settle(Outcome::Completed).rest());
}

#[test]
fn a_synthetic_end_that_nothing_bears_out() {
    let ended = |mark: &str| {
        let mark = mark.to_string();
        replied().later(3_000).settle(Outcome::Interrupted).view(|chat| chat.turns[0].settles[0].synthetic = Some(mark))
    };
    breaks(&["I11"], ended("interrupt-deadline"));
    holds("I11", ended("restart"));
}

#[test]
fn a_process_that_died_fails_its_turn() {
    holds("I11", replied().exited(1).settle(Outcome::Failed).rest());
    breaks(&["I11"], replied().exited(1).settle(Outcome::Completed).rest());
}

#[test]
fn an_end_without_words_is_not_a_part() {
    // A settle that the view tells beside an error part names its cause by it.
    let told = failing().part(Part::Error { message: "API Error: 529".to_string() }).settle(Outcome::Failed);
    holds(
        "I11",
        told.view(|chat| chat.turns[0].settles = vec![Settle { error: None, ..chat.turns[0].settles[0].clone() }]).rest(),
    );
}
