//! Whole documents: ids, ends, chips, sanitising, loading.

use super::script::{CREATED_AT, DEVICE, apply, parse, render, spawn};
use super::{check, run_all_ways};
use crate::chat::{ChatDoc, DocError, SubagentStatus, read, view};
use crate::event::{AgentEvent, ToolCall};

/// DO-03: a message that comes twice is one entry.
#[test]
fn user_message_written_twice() {
    check(
        "user m hi
         user m hi
         begin a
         text yo
         user m hi",
        "user m complete
           text hi
         assistant a streaming
           text yo",
    );
    let mut doc = ChatDoc::new("c", "c", 1);
    assert!(doc.push_user("m", "hi", 1, "d"));
    assert!(!doc.push_user("m", "hi again", 2, "d"));
}

/// E2-03: each way to end a reply closes its entry.
#[test]
fn entry_left_streaming() {
    check(
        "begin a
         text one
         abort
         begin b
         text two
         begin c
         text three
         finish",
        "assistant a aborted
           text one
         assistant b complete
           text two
         assistant c complete
           text three",
    );
}

#[test]
fn reply_of_an_ended_entry_reopened() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\ntext one\nfinish") {
        apply(&mut doc, &op);
    }
    assert!(!doc.begin_segment("a", CREATED_AT, DEVICE));
    assert!(!doc.has_segment());
    assert!(!doc.fold(&AgentEvent::TextDelta { text: "late".into(), part: None }));
    assert_eq!(render(&read::entries(doc.loro())), "assistant a complete\n  text one\n");
}

#[test]
fn entries_streaming_for_ever_after_a_restart() {
    check(
        "begin a
         text one
         ask q Sure?
         recover engine restarted
         recover engine restarted
         begin b
         error engine restarted
         recover engine restarted",
        "assistant a aborted
           text one
           ask q Sure? resolved
           error engine restarted
         assistant b aborted
           error engine restarted",
    );
}

/// DO-05: the status of a tool only goes forward.
#[test]
fn late_traffic_sets_a_done_chip_back_to_running() {
    check(
        "begin a
         spawn c1 Agent
         spawn c2 Agent
         spawn c3 Agent
         chip c1 doc=d1
         chip c2 doc=d2 running
         chip c1 done
         chip c1 running
         chip c1 failed
         chip c2 failed
         chip c2 done
         chip c2 revive done
         chip c3 done
         chip none running",
        "assistant a streaming
           spawn c1 Agent [open doc=d1 done]
           spawn c2 Agent [open doc=d2 failed]
           spawn c3 Agent [open done]",
    );
}

#[test]
fn steered_chip_stays_done() {
    check(
        "begin a
         spawn c Agent
         chip c doc=d done
         chip c running revive",
        "assistant a streaming
           spawn c Agent [open doc=d running]",
    );
}

#[test]
fn ordinary_tool_taken_for_a_chip() {
    check(
        "begin a
         exec t ls
         chip t doc=d running",
        "assistant a streaming
           exec t ls [open]",
    );
}

/// DO-06: a chip keeps its badge and never its prompt.
#[test]
fn prompt_stored_in_a_chip() {
    let mut doc = ChatDoc::new("c", "c", 1);
    doc.begin_segment("a", CREATED_AT, DEVICE);
    let mcp = ToolCall::Mcp {
        server: "s".into(),
        tool: "Agent: /probe".into(),
        input: serde_json::json!({"prompt": "SECRET", "model": "small"}),
    };
    doc.fold(&AgentEvent::ToolCall { id: "c1".into(), call: spawn("Agent") });
    doc.fold(&AgentEvent::ToolCall { id: "c1".into(), call: spawn("Agent: /probe") });
    doc.fold(&AgentEvent::ToolCall { id: "c2".into(), call: mcp });
    doc.fold(&AgentEvent::ToolResult { id: "c1".into(), is_error: false, output: Some("SECRET".into()), diff: None });
    let bytes = doc.take_update().expect("changes");
    let found = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
    assert!(!found("SECRET") && !found("prompt") && !found("description"));
    assert!(found("scout") && found("small"), "the badge is kept");
}

#[test]
fn stale_echo_taken_for_a_new_tool() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\nexec t ls\nplan one\nfinish\nbegin b\nexec u ls") {
        apply(&mut doc, &op);
    }
    assert!(doc.tool_in_earlier_segment("t"));
    assert!(!doc.tool_in_earlier_segment("u"));
    assert!(!doc.tool_in_earlier_segment("live-plan"));
    assert!(!doc.tool_in_earlier_segment("never seen"));
    assert!(doc.knows_tool("t") && doc.knows_tool("live-plan") && !doc.knows_tool("never seen"));
    doc.finish_segment(false, None, None);
    assert!(doc.tool_in_earlier_segment("u"));
}

#[test]
fn open_tools_count_those_of_ended_segments_or_the_plan() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\nexec old ls\nfinish\nbegin b\nplan x\nexec z ls\nexec y ls\nexec x ls\nresult y") {
        apply(&mut doc, &op);
    }
    assert_eq!(doc.open_tools(), ["z", "x"]);
    doc.finish_segment(false, None, None);
    assert_eq!(doc.open_tools(), Vec::<String>::new());
}

#[test]
fn segment_empty_only_until_content_comes_and_after_it_is_taken_back() {
    let mut doc = ChatDoc::new("c", "c", 1);
    let mut step = |script: &str| {
        for op in parse(script) {
            apply(&mut doc, &op);
        }
        (doc.has_segment(), doc.segment_is_empty(), doc.segment_entry().map(str::to_owned))
    };
    let a = || Some("a".to_owned());
    assert_eq!(step(""), (false, true, None));
    assert_eq!(step("begin a"), (true, true, a()));
    assert_eq!(step("text/p x"), (true, false, a()));
    assert_eq!(step("snap/p \"\""), (true, true, a()));
    assert_eq!(step("finish"), (false, true, None));
}

#[test]
fn rows_in_the_wrong_order_or_twice() {
    let entries = run_all_ways(&parse(
        "begin a
         spawn c1 Agent
         spawn c2 Agent: /probe
         spawn c3 Agent
         spawn c4 Agent: /probe
         spawn c5 Agent
         chip c1 doc=d1 done
         chip c2 doc=d2 running
         chip c3 doc=d3 failed
         chip c4 doc=d4 running
         finish
         begin b
         spawn c6 Agent
         chip c6 doc=d1 running",
    ));
    let rows: Vec<_> = view::subagent_rows(&entries).iter().map(|row| format!("{} {}", row.title, row.doc_id)).collect();
    assert_eq!(rows, ["Agent: /probe d2", "Agent: /probe#2 d4", "Agent#4 d1", "Agent#2 d3"]);
    assert_eq!(view::running_rows(&entries), 3);
    assert_eq!(view::shown_title(&entries, "c5").as_deref(), Some("Agent#3"));
    assert_eq!(view::shown_title(&entries, "nothing"), None);
}

#[test]
fn chip_listed_out_of_transcript_order() {
    let mut doc = ChatDoc::new("c", "c", 1);
    for op in parse("begin a\nspawn z Agent\nspawn b Agent\nfinish\nbegin b\nspawn a Agent\nchip b doc=d") {
        apply(&mut doc, &op);
    }
    let chips: Vec<_> = doc.chips().into_iter().map(|chip| (chip.id, chip.status)).collect();
    let none = |id: &str| (id.to_owned(), None);
    assert_eq!(chips, [none("z"), ("b".to_owned(), Some(SubagentStatus::Running)), none("a")]);
}

#[test]
fn usage_lost_or_halved() {
    let mut doc = ChatDoc::new("c", "c", 1);
    let context = |tokens, window| AgentEvent::ContextUsage { tokens, window };
    assert!(doc.fold(&context(Some(5), None)));
    assert!(doc.fold(&context(None, Some(200))));
    assert!(!doc.fold(&context(None, None)));
    assert!(doc.fold(&AgentEvent::Usage { input_tokens: 7, output_tokens: u64::MAX }));
    doc.set_fork_history_session("s");
    let mut doc = ChatDoc::load("c", "c", 2, &doc.snapshot(), &[]).expect("own snapshot");
    assert!(doc.fold(&context(Some(6), None)));
    let meta = read::meta(doc.loro());
    assert_eq!((meta.context_tokens, meta.context_window), (Some(6), Some(200)));
    assert_eq!((meta.input_tokens, meta.output_tokens), (Some(7), Some(i64::MAX as u64)));
    assert_eq!((meta.chat_id.as_deref(), meta.fork_history_session.as_deref()), (Some("c"), Some("s")));
}

#[test]
fn damaged_or_foreign_bytes_loaded() {
    let mut doc = ChatDoc::new("c", "c", 1);
    let first = doc.take_update().expect("the chat id");
    doc.push_user("m", "hi", 1, "d");
    let second = doc.take_update().expect("the message");
    let load = |chat: &str, snapshot: &[u8], updates: &[Vec<u8>]| ChatDoc::load("c", chat, 2, snapshot, updates).err();

    assert!(load("c", &[], &[first.clone(), second.clone()]).is_none());
    assert!(load("c", &first, std::slice::from_ref(&second)).is_none());
    assert!(matches!(load("c", &[], std::slice::from_ref(&second)), Some(DocError::Gap { what, .. }) if what == "update 1"));
    assert!(matches!(load("d", &first, &[]), Some(DocError::OtherChat { found, .. }) if found == "c"));
    assert!(matches!(load("c", b"junk", &[]), Some(DocError::Damaged { what, .. }) if what == "the snapshot"));
    let mut torn = second;
    torn.truncate(torn.len() - 1);
    assert!(matches!(load("c", &first, &[torn]), Some(DocError::Damaged { what, .. }) if what == "update 1"));
}

#[test]
fn update_taken_twice_or_when_nothing_changed() {
    let mut doc = ChatDoc::new("c", "c", 1);
    assert!(doc.dirty() && doc.take_update().is_some());
    assert!(!doc.dirty() && doc.take_update().is_none());
    doc.begin_segment("a", CREATED_AT, DEVICE);
    doc.fold(&AgentEvent::ReasoningDelta { text: String::new(), part: None });
    assert!(!doc.dirty() && doc.take_update().is_none());
    doc.push_user("m", "hi", 1, "d");
    let before = doc.snapshot();
    assert!(doc.dirty(), "a snapshot is no take");
    assert!(doc.take_update().is_some());
    assert_eq!(doc.snapshot(), before);
}
