//! C1 to C9.

use super::*;
use crate::history::UserAction;
use crate::view::{Cause, Turn};

/// A message that is sent to a chat whose turn has ended opens one.
fn opens(stub: Stub, message: &str) -> Stub {
    let cause = Cause::Message(message.to_string());
    stub.view(|chat| {
        let number = chat.turns.len() as u64 + 1;
        chat.turns.push(Turn { number, cause, accepted_at: 0, settles: Vec::new() });
    })
}

#[test]
fn text_said_before_a_message_was_taken_stands_before_it() {
    let said = || {
        let stub = begun().said(message_start("msg_1")).said(delta("msg_1", "Hel")).journal(text("msg_1", "Hel")).text("Hel");
        stub.steer("m2").said(delta("msg_1", "lo."))
    };
    let sound = said().journal(text("msg_1", "lo.")).view(|chat| {
        chat.transcript[1].parts.push(crate::view::Part::Text { key: None, text: "lo.".to_string() });
    });
    let end = |stub: Stub| stub.ends(&["m1", "m2"]).rest();
    let late = said().take("m2").journal(text("msg_1", "lo.")).text("lo.");
    check(&["C1"], end(sound.take("m2").reply("msg_2", "And?")), end(late));
}

#[test]
fn a_result_before_a_message_that_waits_settles_nothing() {
    let bounded = || begun().reply("msg_1", "Hello.").steer("m2").said(result(&["m1"])).journal(usage());
    let sound = bounded().take("m2").reply("msg_2", "And?").ends(&["m2"]).rest();
    let settled = bounded().journal(done("completed")).settle(Outcome::Completed);
    let settled = opens(settled.said(life("m2", "started")).journal(steered("m2")).deliver("m2"), "m2");
    check(&["C2"], sound, settled.reply("msg_2", "And?").ends(&["m2"]).rest());
}

#[test]
fn the_error_of_a_boundary_stays_in_its_reply() {
    let failed = json!({"type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error",
                        "user_message_uuids": ["m1"]});
    let bounded = || begun().reply("msg_1", "Hello.").steer("m2").said(failed.clone());
    let error = json!({"type": "error", "message": "API Error: 529"});
    let end = |stub: Stub| stub.take("m2").reply("msg_2", "And?").ends(&["m2"]).rest();
    check(&["C2"], end(bounded().journal(error)), end(bounded()));
}

#[test]
fn a_later_message_confirms_earlier_ones_that_nobody_reported() {
    let both = || begun().reply("msg_1", "Hello.").steer("m2").steer("m3").said(life("m3", "started"));
    let sound = both().journal(steered("m2")).journal(steered("m3")).deliver("m2").deliver("m3").ends(&["m1", "m2", "m3"]);
    check(&["C3"], sound.rest(), both().journal(steered("m3")).deliver("m3").ends(&["m1", "m3"]).rest());
    // One that is reported as queued is taken later, by itself.
    let queued = begun().reply("msg_1", "Hello.").steer("m2").queue("m2").steer("m3").take("m3").take("m2");
    holds("C3", queued.ends(&["m1", "m2", "m3"]).rest());
}

#[test]
fn a_queued_message_holds_the_done() {
    let queued = || begun().reply("msg_1", "Hello.").steer("m2").queue("m2").said(result(&["m1"])).journal(usage());
    let sound = queued().later(60_000).take("m2").reply("msg_2", "And?").ends(&["m2"]).rest();
    check(&["C4"], sound, queued().later(30_000).journal(done("completed")).settle(Outcome::Completed).rest());
}

#[test]
fn a_queued_message_that_is_cancelled_releases_the_done() {
    let held = || begun().reply("msg_1", "Hello.").steer("m2").queue("m2").said(result(&["m1"])).journal(usage());
    let cancelled = || held().said(life("m2", "cancelled"));
    check(&["C5"], cancelled().journal(done("completed")).settle(Outcome::Completed).rest(), cancelled().rest());
    let steered_anyway = cancelled().journal(done("completed")).settle(Outcome::Completed).later(5).journal(steered("m2"));
    steered_anyway.rest().breaks(all(), &["C5", "D4"]);
}

#[test]
fn the_old_done_does_not_settle_the_turn_of_a_message_sent_now() {
    let now = || {
        let (chat, message, text) = ("chat-1".to_string(), "m2".to_string(), "also".to_string());
        begun().reply("msg_1", "Hello.").user(UserAction::SendNow { chat, message, text })
    };
    let stopped = now().said(result(&["m1"])).journal(usage()).journal(done("interrupted")).settle(Outcome::Interrupted);
    let sound = stopped.later(1).accept("m2").heard(user("m2", "also")).take("m2").reply("msg_2", "And?").ends(&["m2"]);
    let old = now().accept("m2").heard(user("m2", "also")).take("m2").reply("msg_2", "And?").later(1);
    check(&["C6"], sound.rest(), old.journal(done("interrupted")).settle(Outcome::Interrupted).rest());
}

#[test]
fn a_late_duplicate_of_a_result_changes_nothing() {
    let stopped = || begun().reply("msg_1", "Hello.").user(UserAction::StopTurn { chat: "chat-1".to_string() });
    let settled = || stopped().said(result(&["m1"])).journal(usage()).journal(done("interrupted")).settle(Outcome::Interrupted);
    let error = json!({"type": "error", "message": "interrupted"});
    let again = || settled().said(result(&["m1"]));
    check(&["C7"], again().journal(note()).rest(), again().journal(error.clone()).rest());
    let nameless = json!({"type": "result", "subtype": "error_during_execution", "is_error": true});
    settled().later(2_000).said(nameless).journal(error).breaks(all(), &["C7"]);
}

#[test]
fn a_quick_result_of_a_new_message_is_no_duplicate() {
    let stopped = || begun().reply("msg_1", "Hello.").user(UserAction::StopTurn { chat: "chat-1".to_string() });
    let settled = || stopped().said(result(&["m1"])).journal(usage()).journal(done("interrupted")).settle(Outcome::Interrupted);
    let quick = || settled().steer("m2").take("m2");
    check(&["C7"], quick().ends(&["m2"]).rest(), quick().said(result(&["m2"])).journal(note()).rest());
}

#[test]
fn a_result_of_others_never_ends_a_prompt() {
    let orphans = || begun().said(background_result());
    let sound = orphans().journal(note()).reply("msg_1", "Hello.").ends(&["m1"]).rest();
    check(&["C8"], sound, orphans().journal(done("completed")).settle(Outcome::Completed).rest());
}

#[test]
fn a_wake_that_showed_something_has_a_done_of_its_own() {
    let woken = || begun().reply("msg_1", "Hello.").ends(&["m1"]).later(1_500).wake().reply("msg_2", "Done now.");
    let end = |stub: Stub| stub.journal(usage()).journal(done("completed")).settle(Outcome::Completed);
    check(&["C9"], end(woken().said(background_result())).rest(), woken().said(background_result()).rest());
}

#[test]
fn a_wake_that_showed_nothing_has_none() {
    let ended = || begun().reply("msg_1", "Hello.").ends(&["m1"]).later(1_500).said(background_result());
    // It is a Done without a turn as well.
    check(&["C9", "D1"], ended().journal(note()).rest(), ended().journal(done("completed")).rest());
}
