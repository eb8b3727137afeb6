//! I4 and FID.

use super::*;
use crate::view::{ChildState, Part};

fn keyed(key: &str, text: &str) -> Part {
    Part::Text { key: Some(key.to_string()), text: text.to_string() }
}

#[test]
fn an_entry_shown_twice() {
    breaks(&["I4", "FID"], ended().view(|chat| chat.transcript.push(chat.transcript[1].clone())).rest());
}

#[test]
fn a_row_shown_twice() {
    breaks(
        &["I4"],
        agent().view(|chat| {
            chat.rows.push(chat.rows[0].clone());
            chat.rows[1].state = ChildState::Done;
        }),
    );
}

#[test]
fn a_journal_number_that_comes_twice() {
    let entry = |seq| crate::view::JournalEntry { at: 1, seq, event: json!({"type": "note"}) };
    holds("I4", ended().view(|chat| chat.journal.push(entry(1))).later(1).view(|chat| chat.journal.push(entry(2))).rest());
    breaks(&["I4"], ended().view(|chat| chat.journal.push(entry(1))).later(1).view(|chat| chat.journal.push(entry(1))).rest());
}

fn streamed(words: &str, message: &str) -> Stub {
    let start = json!({"type": "stream_event", "parent_tool_use_id": null, "event":
                       {"type": "message_start", "message": {"id": message}}});
    running().said(start).said(delta(words)).part(keyed(&format!("{message}/0"), words))
}

fn delta(words: &str) -> Value {
    json!({"type": "stream_event", "parent_tool_use_id": null, "event":
           {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}}})
}

#[test]
fn a_block_streamed_and_then_told_whole() {
    let told = || streamed("Once.", "a1").said(text("a1", "Once."));
    holds("FID", told().said(result("m1")).settle(Outcome::Completed).rest());
    breaks(&["FID"], told().text("Once.").said(result("m1")).settle(Outcome::Completed).rest());
    breaks(&["FID", "I4"], told().part(keyed("a1/0", "Once.")).said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn text_that_was_taken_back_and_stays() {
    let abandoned = json!({"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "message_stop"},
                           "abandoned_blocks": {"api_message_id": "a1", "from_block_index": 0}});
    let again =
        |host: Stub| host.said(text("a2", "Half a word.")).text("Half a word.").said(result("m1")).settle(Outcome::Completed);
    let gone = streamed("Half a", "a1").said(abandoned.clone()).view(|chat| chat.transcript.last_mut().unwrap().parts.clear());
    holds("I4", again(gone).rest());
    breaks(&["I4", "FID"], again(streamed("Half a", "a1").said(abandoned.clone())).rest());
    // The next process says it under the same id.
    let gone = streamed("Half a", "a1").said(abandoned).view(|chat| chat.transcript.last_mut().unwrap().parts.clear());
    let start = json!({"type": "stream_event", "event": {"type": "message_start", "message": {"id": "a1"}}});
    let next = gone.exited(1).with_pid(2).spawned(&["claude"]).said(start).said(delta("Half a")).part(keyed("a1/0", "Half a"));
    holds("I4", next);
}

#[test]
fn a_reply_that_is_missing() {
    let lost = replied().said(text("a2", "And more.")).said(result("m1")).settle(Outcome::Completed);
    breaks(&["I9", "FID"], lost.rest());
}

#[test]
fn replies_out_of_order() {
    let host = running().said(text("a1", "One.")).said(text("a2", "Two.")).text("Two.").text("One.");
    breaks(&["FID"], host.said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn blocks_may_be_joined() {
    let host = running().said(text("a1", "One.")).said(text("a2", "Two.")).text("One.Two.");
    holds("FID", host.said(result("m1")).settle(Outcome::Completed).rest());
}

#[test]
fn what_comes_after_a_stop_may_be_shown_or_left_out() {
    let stopped = || replied().stop().said(text("a2", "And more."));
    let end =
        |host: Stub| host.said(with(result("m1"), "terminal_reason", json!("aborted_streaming"))).settle(Outcome::Interrupted);
    holds("FID", end(stopped()).rest());
    holds("FID", end(stopped().text("And more.")).rest());
    breaks(&["FID"], end(stopped().text("And something else.")).rest());
}

#[test]
fn an_api_error_is_shown_as_an_error() {
    let error = with(text("a2", "API Error: 529"), "is_api_error_message", json!(true));
    let end = |host: Stub| host.said(with(result("m1"), "is_error", json!(true))).settle(Outcome::Failed).rest();
    let shown = || Part::Error { message: "API Error: 529".to_string() };
    holds("FID", end(replied().said(error.clone()).part(shown())));
    breaks(&["FID"], end(replied().said(error.clone())));
    // Two failures in the same words are two.
    holds("FID", end(replied().said(error.clone()).part(shown()).said(error.clone()).part(shown())));
    breaks(&["FID"], end(replied().said(error).text("API Error: 529").part(shown())));
}

#[test]
fn a_message_that_was_taken_and_stands_nowhere() {
    breaks(&["FID"], ended().view(|chat| drop(chat.transcript.remove(0))).rest());
}

/// A turn with a foreground agent, its first text said and shown.
fn agent() -> Stub {
    let host = replied().said(call("t1", "Agent", json!({"prompt": "Look."}))).tool("t1", "Agent").row("t1", "Agent");
    let host = host.tab_text("t1", "user", "Look.");
    let host = host.said(json!({"type": "system", "subtype": "task_started", "task_id": "k1", "tool_use_id": "t1"}));
    let echo = json!({"type": "user", "message": {"content": [{"type": "text", "text": "Look.\n"}]}});
    let host =
        host.said(tagged(echo, "t1")).said(tagged(text("b1", "Looking."), "t1")).tab_text("t1", "assistant", "Looking.\n\n");
    let host = host.said(tagged(call("t2", "Bash", json!({})), "t1"));
    host.tab_part("t1", "assistant", Part::Tool(crate::invariants::stub::tool("t2", "Bash")))
}

fn resolve_in_tab(host: Stub) -> Stub {
    host.said(tagged(returned("t2", false), "t1")).view(|chat| {
        for part in chat.tabs[0].entries.iter_mut().flat_map(|entry| &mut entry.parts) {
            if let Part::Tool(tool) = part {
                tool.resolved = true;
            }
        }
    })
}

fn agent_ends(host: Stub) -> Stub {
    let host = host.said(json!({"type": "system", "subtype": "task_notification", "task_id": "k1", "status": "completed"}));
    host.row_is("t1", ChildState::Done).view(|chat| {
        for entry in &mut chat.tabs[0].entries {
            entry.state = crate::view::EntryState::Complete;
        }
    })
}

fn turn_ends(host: Stub) -> Stub {
    host.said(returned("t1", false)).resolved("t1", false).said(result("m1")).settle(Outcome::Completed).rest()
}

#[test]
fn a_child_has_its_own_tab() {
    holds("FID", turn_ends(agent_ends(resolve_in_tab(agent()))));
}

#[test]
fn a_childs_text_in_the_transcript() {
    breaks(&["FID"], turn_ends(agent_ends(resolve_in_tab(agent()).text("Looking."))));
}

#[test]
fn a_childs_text_that_is_missing() {
    breaks(&["FID"], turn_ends(agent_ends(resolve_in_tab(agent()).said(tagged(text("b2", "Found."), "t1")))));
}

#[test]
fn a_prompt_shown_twice() {
    breaks(&["FID"], turn_ends(agent_ends(resolve_in_tab(agent()).tab_text("t1", "user", "Look."))));
}

#[test]
fn a_childs_result_that_is_missing() {
    breaks(&["FID"], turn_ends(agent_ends(agent().said(tagged(returned("t2", false), "t1")))));
}

#[test]
fn a_straggler_of_a_settled_child_is_shown_nowhere() {
    let late = || agent_ends(resolve_in_tab(agent())).said(tagged(text("b9", "Too late."), "t1"));
    holds("FID", turn_ends(late()));
    let reopened = late().tab_text("t1", "assistant", "Too late.").view(|chat| {
        for entry in &mut chat.tabs[0].entries {
            entry.state = crate::view::EntryState::Complete;
        }
    });
    breaks(&["FID"], turn_ends(reopened));
}

#[test]
fn a_skill_call_is_no_child() {
    let skill = |host: Stub| {
        let host = host.said(call("k", "Skill", json!({"skill": "probe"}))).tool("k", "Skill");
        host.said(tagged(text("b1", "Probing."), "k"))
    };
    let end =
        |host: Stub| host.said(returned("k", false)).resolved("k", false).said(result("m1")).settle(Outcome::Completed).rest();
    holds("FID", end(skill(replied())));
    let tab = skill(replied()).row("k", "Skill").tab_text("k", "user", "Probing.").row_is("k", ChildState::Done);
    breaks(&["FID"], end(tab));
}

/// A typed command that ran as a fork: its burst came before the result.
fn fork() -> Stub {
    let start =
        json!({"type": "system", "subtype": "task_started", "task_id": "k1", "description": "/probe", "prompt": "Probe."});
    let chip = "forked-command-probe-k1";
    let host = running().said(start).tool(chip, "Agent: /probe").row(chip, "Agent: /probe").tab_text(chip, "user", "Probe.");
    let host = host.said(json!({"type": "system", "subtype": "task_notification", "task_id": "k1", "status": "completed"}));
    let echo = json!({"type": "user", "message": {"content": [{"type": "text", "text": "Probe."}]}});
    let host = host.said(tagged(echo, "forked-command-probe")).said(tagged(text("b1", "Probing."), "forked-command-probe"));
    host.said(tagged(text("b2", "Inner."), "toolu-inner"))
}

fn fork_ends(host: Stub) -> Stub {
    host.said(result("m1")).row_is("forked-command-probe-k1", ChildState::Done).settle(Outcome::Completed).rest()
}

#[test]
fn a_typed_forks_burst_stands_in_its_tab() {
    let chip = "forked-command-probe-k1";
    let shown = || fork().view(|_| {}).tab_text(chip, "user", "");
    let close = |chat: &mut crate::view::Chat| {
        for entry in &mut chat.tabs[0].entries {
            entry.state = crate::view::EntryState::Complete;
        }
    };
    holds("FID", fork_ends(shown().tab_text(chip, "assistant", "Probing.").view(close)));
    breaks(&["FID"], fork_ends(shown()));
    breaks(&["FID"], fork_ends(shown().tab_text(chip, "assistant", "Probing. Inner.").view(close)));
}
