//! M1 to M5.

use super::*;

fn turn() -> Stub {
    begun().reply("msg_1", "Hello.").ends(&["m1"])
}

#[test]
fn a_user_message_is_written_once() {
    let doubled = turn().view(|chat| {
        let entry = chat.transcript[0].clone();
        chat.transcript.push(entry);
    });
    check(&["M1"], turn().rest(), doubled);
    turn().later(1).view(|chat| chat.transcript.swap(0, 1)).breaks(all(), &["M1"]);
    turn().later(1).view(|chat| _ = chat.transcript.remove(0)).breaks(all(), &["M1"]);
}

#[test]
fn an_entry_that_is_written_ends() {
    let open = turn().view(|chat| chat.transcript[1].state = EntryState::Streaming);
    check(&["M2"], turn().rest(), open.rest());
}

#[test]
fn a_settled_child_runs_again_only_for_a_message() {
    let settled = || begun().agent("toolu_1").agent_ends("toolu_1").later(1);
    let again = |stub: Stub| stub.row_is("toolu_1", ChildState::Running);
    let woken = settled().journal(child_message("toolu_1", "More.")).tab_text("toolu_1", "user", "More.");
    check(&["M3"], again(woken), again(settled()));
}

#[test]
fn a_tool_that_was_resolved_stays_so() {
    let call = || json!({"type": "toolCall", "id": "toolu_b", "call": {"kind": "exec", "command": "ls"}});
    let run = || {
        let frame = assistant(None, "msg_1", tool_block("toolu_b", "Bash", json!({"command": "ls"})));
        let stub = begun().said(frame).journal(call()).journal(completed("r1")).tool("toolu_b", "Exec");
        stub.later(1).journal(tool_result("toolu_b")).resolved("toolu_b", false).ends(&["m1"])
    };
    let back = run().later(1).view(|chat| {
        let crate::view::Part::Tool(tool) = &mut chat.transcript[1].parts[0] else { return };
        tool.resolved = false;
    });
    check(&["M3", "M4"], run().rest(), back.rest());
}

#[test]
fn the_transcript_is_the_fold_of_the_journal() {
    let changed = begun().reply("msg_1", "Hello.").text(" And more.").ends(&["m1"]).rest();
    check(&["M4"], turn().rest(), changed);
    // What the provider took back is in neither.
    let taken_back = begun().reply("msg_1", "Hel").reply("msg_2", "Hello.").view(|chat| {
        chat.transcript[1].parts.remove(0);
    });
    let snapshot = json!({"type": "textSnapshot", "part": "msg_1/0", "text": ""});
    holds("M4", taken_back.journal(snapshot).ends(&["m1"]).rest());
}

#[test]
fn a_tab_is_the_fold_of_its_childs_events() {
    let says = || begun().agent("toolu_1").later(1).journal(child_text("toolu_1", "Looking."));
    let shown = says().tab_text("toolu_1", "assistant", "Looking.");
    check(&["M4"], shown.agent_ends("toolu_1").ends(&["m1"]).rest(), says().agent_ends("toolu_1").ends(&["m1"]).rest());
}

#[test]
fn a_long_reply_reads_as_one() {
    let long = "x".repeat(40_000);
    let whole = begun().reply("msg_1", &long).ends(&["m1"]).rest();
    let cut = begun().reply("msg_1", &long).view(|chat| {
        let crate::view::Part::Text { text, .. } = &mut chat.transcript[1].parts[0] else { return };
        text.truncate(32_768);
    });
    check(&["M5", "M4"], whole, cut.ends(&["m1"]).rest());
}
