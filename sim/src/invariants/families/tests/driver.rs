//! D1 to D11.

use super::*;
use crate::{history::UserAction, history::What, view::MessageState};

#[test]
fn a_second_done_closes_no_turn() {
    let turn = || begun().reply("msg_1", "Hello.").ends(&["m1"]);
    check(&["D1"], turn().rest(), turn().later(5).journal(done("completed")).rest());
}

#[test]
fn a_provider_that_dies_inside_a_turn_leaves_it_without_done() {
    let dies = || begun().reply("msg_1", "Hello.").exited(1);
    let sound = dies().journal(done("errored")).settle(Outcome::Failed).rest();
    check(&["D1"], sound, dies().rest());
}

#[test]
fn usage_after_its_done_counts_for_nobody() {
    let turn = || begun().reply("msg_1", "Hello.");
    let late = turn().said(result(&["m1"])).journal(done("completed")).settle(Outcome::Completed).journal(usage());
    check(&["D2"], turn().ends(&["m1"]).rest(), late.rest());
}

#[test]
fn the_window_of_a_turn_comes_before_its_done_the_size_of_a_tail_may_follow() {
    let window = json!({"type": "contextUsage", "window": 200_000});
    let ended = || begun().reply("msg_1", "Hello.").ends(&["m1"]);
    // A compaction between turns tells the size by itself.
    let compacted = json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": {"post_tokens": 10}});
    check(&["D2"], ended().said(compacted).journal(window.clone()).rest(), ended().journal(window).rest());
}

#[test]
fn a_fork_point_after_the_done_belongs_to_no_reply() {
    let ready = || json!({"type": "nativeForkReady", "assistantMessageId": "r1", "point": {}});
    let turn = || begun().reply("msg_1", "Hello.").said(result(&["m1"])).journal(usage());
    let sound = turn().journal(ready()).journal(done("completed")).settle(Outcome::Completed).rest();
    let late = turn().journal(done("completed")).settle(Outcome::Completed).journal(ready()).rest();
    check(&["D3"], sound, late);
    let failed = turn().journal(ready()).journal(done("errored")).settle(Outcome::Failed).rest();
    failed.breaks(all(), &["D3"]);
}

#[test]
fn a_message_is_steered_when_it_is_taken_and_once() {
    let waits = || begun().reply("msg_1", "Hello.").steer("m2").queue("m2");
    let sound = waits().take("m2").ends(&["m1", "m2"]).rest();
    let early = waits().journal(steered("m2")).said(life("m2", "started")).ends(&["m1", "m2"]).rest();
    check(&["D4"], sound, early);
    let twice = waits().take("m2").later(1).journal(steered("m2")).ends(&["m1", "m2"]).rest();
    twice.breaks(all(), &["D4"]);
    let never = waits().said(life("m2", "started")).deliver("m2").ends(&["m1", "m2"]).rest();
    never.breaks(all(), &["D4"]);
}

#[test]
fn a_message_that_was_given_back_is_owed_no_steered() {
    let waits = begun().reply("msg_1", "Hello.").steer("m2").queue("m2");
    holds(
        "D4",
        waits.steer("m3").take("m3").said(life("m2", "cancelled")).message("m2", MessageState::Queued).ends(&["m1", "m3"]).rest(),
    );
}

#[test]
fn a_childs_tool_does_not_become_the_chats() {
    let call = || assistant(Some("toolu_1"), "msg_c", tool_block("toolu_c", "Bash", json!({"command": "ls"})));
    let event = || json!({"type": "toolCall", "id": "toolu_c", "call": {"kind": "exec", "command": "ls"}});
    let spawned = || begun().agent("toolu_1").said(call());
    let shown = |stub: Stub| stub.journal(child("toolu_1", event())).tab_part("toolu_1", "assistant", part("toolu_c"));
    let sound = shown(spawned()).agent_ends("toolu_1").ends(&["m1"]).rest();
    let leaked = spawned().journal(event()).tool("toolu_c", "Exec").agent_ends("toolu_1").ends(&["m1"]).rest();
    check(&["D5"], sound, leaked);
}

fn part(id: &str) -> crate::view::Part {
    crate::view::Part::Tool(crate::invariants::stub::tool(id, "Exec"))
}

#[test]
fn a_childs_frame_closes_no_message_of_its_parent() {
    let says = || {
        let frame = assistant(Some("toolu_1"), "msg_c", text_block("Looking."));
        begun().agent("toolu_1").said(frame).journal(child_text("toolu_1", "Looking.")).tab_text(
            "toolu_1",
            "assistant",
            "Looking.",
        )
    };
    let end = |stub: Stub| stub.agent_ends("toolu_1").ends(&["m1"]).rest();
    check(&["D6"], end(says()), end(says().journal(completed("r1"))));
}

#[test]
fn a_child_has_one_chip() {
    let run = || begun().agent("toolu_1");
    let end = |stub: Stub| stub.agent_ends("toolu_1").ends(&["m1"]).rest();
    let doubled = run().journal(chip("toolu_1b", "Agent")).tool("toolu_1b", "Agent");
    check(&["D7"], end(run()), end(doubled));
    let rebound = run().view(|chat| {
        (chat.rows[0].child, chat.tabs[0].child) = ("chat-1--sub--other".to_string(), "chat-1--sub--other".to_string());
    });
    rebound.breaks(all(), &["D7"]);
}

#[test]
fn a_stop_that_the_provider_ignores_ends_all_the_same() {
    let stopped = || begun().reply("msg_1", "Hello.").stop().later(2_000);
    let end = json!({"type": "done", "status": "interrupted", "synthetic": "interrupt-deadline"});
    let signal = |signal: &str| What::Signal { pid: 1, signal: signal.to_string(), by_host: true };
    let settled = |stub: Stub| stub.journal(end.clone()).settle(Outcome::Interrupted);
    let sound = settled(stopped().happens(signal("SIGTERM")).later(999)).later(2_000).happens(signal("SIGKILL")).exited(137);
    check(&["D8"], sound.rest(), stopped().happens(signal("SIGTERM")).later(1_500).later(1));
    // The turn ends in time, the process is left to itself.
    settled(stopped().later(900)).later(3_000).later(1).breaks(all(), &["D8"]);
}

#[test]
fn a_stop_in_place_has_its_own_bound() {
    let stopped = || begun().reply("msg_1", "Hello.").user(UserAction::StopTurn { chat: "chat-1".to_string() });
    let end = json!({"type": "done", "status": "interrupted", "synthetic": "interrupt-deadline"});
    let sound = stopped().later(15_000).later(3_000).journal(end).settle(Outcome::Interrupted).rest();
    check(&["D8"], sound, stopped().later(15_000).later(3_001).later(1));
}

#[test]
fn a_lease_outlives_its_process() {
    let turn = || begun().reply("msg_1", "Hello.").ends(&["m1"]);
    check(&["D9"], turn().exited(0).rest(), turn().inside(|inside| inside.processes[0].leased = false));
}

#[test]
fn a_session_that_changes_is_followed_with_a_note() {
    let cleared = || begun().reply("msg_1", "Hello.").ends(&["m1"]).said(init("s2"));
    check(&["D10"], cleared().journal(note()).rest(), cleared().rest());
}

#[test]
fn a_record_that_nobody_knows_ends_no_turn() {
    let odd = || begun().reply("msg_1", "Hello.").said_falsely(json!({"type": "news"}));
    check(&["D11"], odd().ends(&["m1"]).rest(), odd().journal(done("errored")).settle(Outcome::Failed).rest());
}
