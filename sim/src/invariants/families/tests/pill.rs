//! V1 to V4.

use super::*;

#[test]
fn the_pill_is_the_number_of_running_rows() {
    let sound = begun().agent("toolu_1").agent_ends("toolu_1").ends(&["m1"]).rest();
    check(&["V1"], sound, begun().agent("toolu_1").view(|chat| chat.pill = 2));
}

#[test]
fn the_pill_is_ahead_for_one_flush_at_most() {
    let ahead = || begun().reply("msg_1", "Hello.").view(|chat| (chat.pill, chat.delivery.unflushed) = (1, true));
    let flushed =
        |stub: Stub| stub.view(|chat| chat.delivery.unflushed = false).tool("toolu_1", "Bash").view(|chat| chat.pill = 0);
    // The flush comes at its deadline; another thing that is due then may be looked at first.
    check(&["V2"], flushed(ahead().later(120)), ahead().later(121).later(1));
}

#[test]
fn the_rows_are_never_ahead() {
    let run = || begun().agent("toolu_1");
    let settled = |stub: Stub| stub.row_is("toolu_1", ChildState::Done).view(|chat| chat.delivery.unflushed = true);
    check(
        &["V2"],
        run().view(|chat| (chat.pill, chat.delivery.unflushed) = (0, true)),
        settled(run()).view(|chat| chat.pill = 1),
    );
}

#[test]
fn a_chat_without_a_run_has_no_running_child() {
    let died = || begun().agent("toolu_1").exited(1).journal(done("errored")).settle(Outcome::Failed);
    check(&["V3"], died().row_is("toolu_1", ChildState::Failed).later(201).rest(), died().later(201).later(1));
}

#[test]
fn an_id_without_a_chip_opens_no_tab() {
    let stranger = || begun().reply("msg_1", "Hello.").later(1).journal(child_text("toolu_x", "Who?"));
    let opened = stranger().view(|chat| {
        let (child, title) = ("chat-1--sub--toolu_x".to_string(), String::new());
        chat.tabs.push(crate::view::Tab { child, title, entries: Vec::new() });
    });
    check(&["V4"], stranger().ends(&["m1"]).rest(), opened.ends(&["m1"]).rest());
}
