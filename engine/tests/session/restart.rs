//! The engine is killed after each of its effects and started again on what it had written.

use std::collections::BTreeMap;

use engine::{
    chat::{
        ChatDoc,
        layout::{EntryStatus, Role},
        read::{self, Entry, Part},
        view,
    },
    core::effect::Effect,
    event::{AgentEvent, DoneStatus},
    feed::{JournalRow, MessageState, Status},
    store::{Stored, journal::Row as Checked},
};

use crate::rig::{self, Rig, check};

/// A turn with everything: steers, children, a question, a wake, a stop, an exit with an orphan, a queue.
const EVERYTHING: &str = "
    10 send m1 one
    20000 say session s1 ; taken m1 ; text hi ; call t1 Agent ; child t1 user go ; child t1 text a
    30000 queue q1 later
    40000 send m2 two
    50000 say text more ; child t1 text b ; call t2 Agent ; child t2 think hm
    60000 say closed a1 ; fork a1 ; child t2 done completed ; steered m2 ; ask r1
    80000 answer yes
    80010 say child t1 text c ; text tail ; child t1 done errored ; child t1 text straggler
    80020 send m3 three
    100000 say result t1 ; child t2 user again ; child t2 text d ; steered m3 ; done completed
    120000 say text awake ; taken q1
    130000 say done completed
    140000 send m4 four
    160000 exit 1
    180000 say session s1 ; taken m4 ; text there ; done completed
    200000 send m5 five
    200010 stop
    200020 exit 0
";

/// What a viewer that begins anew is shown of a chat, ids left out.
fn shown(rig: &Rig) -> String {
    let mut lines: Vec<String> = rig.viewer.entries("c").iter().map(rig::entry).collect();
    for row in view::subagent_rows(&rig.viewer.entries("c")) {
        lines.push(format!("{} {:?}", row.title, row.status));
        lines.extend(rig.viewer.entries(&row.doc_id).iter().map(rig::entry));
    }
    lines.extend(rig.viewer.messages.values().map(|row| format!("{} {:?}", row.message_id, row.state)));
    lines.extend(rig.viewer.journal.iter().map(|row| format!("{} {} {:?}", row.era, row.seq, row.event)));
    lines.extend(rig.viewer.sessions.values().map(|row| format!("{:?} {}", row.status, row.last_completed_turn)));
    lines.join("\n")
}

/// What of an entry the journal tells.
fn told(entry: &Entry) -> (EntryStatus, Vec<Part>) {
    let mut parts = entry.parts.clone();
    for part in &mut parts {
        if let Part::Tool(tool) = part {
            (tool.subagent_ref, tool.subagent_status) = (None, None);
        }
    }
    (entry.status, parts)
}

fn replies(entries: &[Entry]) -> Vec<(EntryStatus, Vec<Part>)> {
    entries.iter().filter(|entry| entry.role == Role::Assistant).map(told).collect()
}

/// The replies of a journal, folded from its first row (M4).
fn folded(rows: &[JournalRow]) -> Vec<(EntryStatus, Vec<Part>)> {
    let mut doc = ChatDoc::new("c", "c", 1);
    for row in rows {
        match &row.event {
            AgentEvent::Steered { .. } => doc.finish_segment(false, None, None),
            AgentEvent::Done { status, error, .. } => {
                if error.is_some() && !doc.has_segment() {
                    doc.begin_segment(&format!("e{}", row.seq), 0, "d");
                }
                doc.finish_segment(*status == DoneStatus::Interrupted, error.as_deref(), None);
            }
            event => {
                if !doc.has_segment() {
                    doc.begin_segment(&format!("e{}", row.seq), 0, "d");
                }
                doc.fold(event);
            }
        }
    }
    replies(&read::entries(doc.loro()))
}

/// Texts of a child: what the journal tells of it, but for stragglers behind its end.
fn child_texts(rows: &[JournalRow], chip: &str) -> String {
    let (mut texts, mut over) = (String::new(), false);
    for row in rows {
        let AgentEvent::Subagent { parent_tool_use_id, event } = &row.event else { continue };
        if parent_tool_use_id != chip {
            continue;
        }
        match event.as_ref() {
            AgentEvent::Done { .. } => over = true,
            AgentEvent::UserMessage { text } => {
                over = false;
                texts += text;
            }
            AgentEvent::TextDelta { text, .. } | AgentEvent::ReasoningDelta { text, .. } if !over => texts += text,
            _ => {}
        }
    }
    texts
}

fn texts(entries: &[Entry]) -> String {
    let parts = entries.iter().flat_map(|entry| &entry.parts);
    parts
        .filter_map(|part| match part {
            Part::Text { text, .. } | Part::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Whether the journal ends inside a turn.
fn open_turn(stored: &Stored) -> bool {
    let Some(chat) = stored.chats.first() else { return false };
    let events = chat.journal.rows.iter().rev().filter_map(|row| match row {
        Checked::Whole { event, .. } => Some(event),
        Checked::Lost(_) => None,
    });
    let mut telling = events.filter(|event| {
        !matches!(
            event,
            AgentEvent::Note { .. }
                | AgentEvent::Subagent { .. }
                | AgentEvent::InputResolved { .. }
                | AgentEvent::SteerReturned { .. }
        )
    });
    telling.next().is_some_and(|event| !matches!(event, AgentEvent::Done { .. }))
}

fn restarts(rows: &[JournalRow]) -> usize {
    let restart = |event: &AgentEvent| matches!(event, AgentEvent::Done { synthetic: Some(why), .. } if why == "restart");
    rows.iter().filter(|row| restart(&row.event)).count()
}

/// What holds after every restart, wherever the end fell.
pub fn at_rest(rig: &Rig, words: &str) {
    let entries = rig.viewer.entries("c");
    assert!(entries.iter().all(|entry| entry.status != EntryStatus::Streaming), "{words}: an entry still streams");
    assert_eq!(view::running_rows(&entries), 0, "{words}: a row still runs");
    let row = &rig.viewer.sessions["c"];
    assert!(matches!(row.status, Status::Idle | Status::Errored), "{words}: the row says {:?}", row.status);
    assert_eq!(row.running_subagents, 0, "{words}: the pill counts");
    assert_eq!(replies(&entries), folded(&rig.viewer.journal), "{words}: document and journal differ");
    for row in view::subagent_rows(&entries) {
        let tab = rig.viewer.entries(&row.doc_id);
        assert!(tab.iter().all(|entry| entry.status != EntryStatus::Streaming), "{words}: a tab still streams");
        assert_eq!(texts(&tab), child_texts(&rig.viewer.journal, &row.chip_id), "{words}: tab and journal differ");
    }
}

/// RR-02, RR-10, RR-11, RR-12, CO-03, JR-03, E2-01: whatever effect the kill follows.
#[test]
fn a_kill_leaves_something_running_or_loses_it() {
    let calm = Rig::play(EVERYTHING, None);
    let effects = calm.performed.len() as u64;
    assert!(effects > 120, "{effects} effects: too few");
    let mut stale = 0;
    for after in 1..=effects {
        let mut rig = Rig::play_until(EVERYTHING, after);
        let before = rig.stored();
        assert_eq!(before.damage, [], "after {after}");
        if before.chats.is_empty() {
            continue;
        }
        let spoken = rig.viewer.journal.clone();
        let was_open = open_turn(&before);
        stale += usize::from(was_open);
        rig.restart(None);
        let words = format!("killed after effect {after}");
        at_rest(&rig, &words);
        let ends = restarts(&rig.viewer.journal);
        if was_open {
            assert_eq!(ends, 1, "{words}: synthetic ends");
            let last = rig.viewer.journal.last().map(|row| row.event.clone());
            assert!(matches!(last, Some(AgentEvent::Done { status: DoneStatus::Interrupted, .. })), "{words}: {last:?}");
            let reply = rig.viewer.entries("c").into_iter().rfind(|entry| entry.role == Role::Assistant);
            let names_it = |part: &Part| matches!(part, Part::Error { message } if message.contains("restarted"));
            assert!(reply.is_some_and(|reply| reply.parts.iter().any(names_it)), "{words}: the reply does not say why");
        }
        assert!(ends <= 1, "{words}: {ends} synthetic ends");
        // What a viewer was shown and was durable is shown again under its number.
        for (row, again) in spoken.iter().zip(&rig.viewer.journal).take(before.chats[0].journal.rows.len()) {
            assert_eq!(row, again, "{words}");
        }
        for row in rig.viewer.messages.values() {
            assert_ne!(row.state, MessageState::Sent, "{words}: {} is said to be on its way", row.message_id);
        }
        let first = shown(&rig);
        rig.restart(None);
        assert_eq!(shown(&rig), first, "{words}: a second restart changes something");
    }
    assert!(stale > 30, "{stale} kills fell into a turn: too few");
}

/// RR-02, K29: a kill in the middle of the recovery, and after it.
#[test]
fn a_kill_inside_a_recovery_leaves_half_of_it() {
    let effects = Rig::play(EVERYTHING, None).performed.len() as u64;
    for after in (3..=effects).step_by(13) {
        let mut calm = Rig::play_until(EVERYTHING, after);
        calm.restart(None);
        let begun = Rig::play_until(EVERYTHING, after).performed.len();
        let steps = (calm.performed.len() - begun) as u64;
        for again in 0..=steps {
            let mut rig = Rig::play_until(EVERYTHING, after);
            rig.restart(Some(again));
            let served = rig.performed[begun..].iter().any(|effect| matches!(effect, Effect::Publish(_)));
            let stores = rig.performed[begun..].iter().filter(|effect| matches!(effect, Effect::Store(_))).count();
            assert!(!served || stores >= 1, "somebody is served before the recovery is written");
            rig.restart(None);
            assert_eq!(shown(&rig), shown(&calm), "killed after {after}, then {again} effects into the recovery");
        }
    }
}

/// I3: every message that was accepted is delivered once, or says plainly what became of it; what waits is sent on request.
#[test]
fn a_kill_loses_a_message_or_sends_it_unasked() {
    let effects = Rig::play(EVERYTHING, None).performed.len() as u64;
    for after in 1..=effects {
        let mut rig = Rig::play_until(EVERYTHING, after);
        if rig.stored().chats.is_empty() {
            continue;
        }
        let known: Vec<String> = rig.stored().chats[0].messages.iter().map(|row| row.message_id.clone()).collect();
        rig.restart(None);
        let begun = rig.performed.len();
        let unasked = rig.performed[begun..].iter().any(|effect| matches!(effect, Effect::Spawn(_) | Effect::Write { .. }));
        assert!(!unasked, "killed after {after}: something is sent before the user says so");
        let waiting: Vec<String> =
            known.iter().filter(|id| rig.viewer.messages[*id].state == MessageState::Queued).cloned().collect();
        rig.go_on("900000 send m9 nine\n900100 say taken m9 ; done completed");
        for at in 1..20 {
            let sent = rig.viewer.messages.values().find(|row| row.state == MessageState::Sent).map(|row| row.message_id.clone());
            if let Some(id) = sent {
                rig.go_on(&format!("{} say steered {id} ; done completed", 900_100 + 1_000 * at));
            }
        }
        for id in known.iter().chain(&["m9".to_owned()]) {
            let state = rig.viewer.messages[id].state;
            assert_ne!(state, MessageState::Sent, "killed after {after}: {id}");
            assert!(!waiting.contains(id) || state == MessageState::Delivered, "killed after {after}: {id} is {state:?}");
        }
        let mut entries: BTreeMap<String, usize> = BTreeMap::new();
        for entry in rig.viewer.entries("c") {
            *entries.entry(entry.id).or_default() += 1;
        }
        assert!(entries.values().all(|count| *count == 1), "killed after {after}: an entry stands twice");
        at_rest(&rig, &format!("killed after {after}, gone on"));
    }
}

/// RR-01, RR-11: same session, history intact, nothing sent unasked.
#[test]
fn a_restart_forgets_the_session_or_the_history() {
    check(
        "
        0 chat claude
        0 show journal
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- initialize engine_initialize
            p1 <- m1
        500 claude init ; lifecycle m1 started ; text u1 hello
            +1 sessionStarted
            m1 delivered
            +2 text hello
            +3 assistantMessageCompleted
        1000 restart
            Idle
            m1 delivered
            +1 sessionStarted
            +2 text hello
            +3 assistantMessageCompleted
            +4 done interrupted synthetic restart
        2000 doc
            user complete: one
            assistant aborted: hello | error The engine was restarted before this reply was finished.
        3000 restart
            Idle
            m1 delivered
            +1 sessionStarted
            +2 text hello
            +3 assistantMessageCompleted
            +4 done interrupted synthetic restart
        4000 send m1 one
        4010 send m2 two
            Working
            m2 sent
            p1 spawned resuming s1
            p1 <- initialize engine_initialize
            p1 <- m2
        ",
    );
}

/// CL-28, K23: agents of an earlier process are known again, what their chips were stays theirs, and a torn record or one of a
/// side chain tells nothing.
#[test]
fn a_resumed_session_does_not_know_its_agents() {
    check(
        "
        0 chat claude
        500 begun m1 one
        500 claude tool u-t1 t1 Agent ; agent-started task1 t1
            Working pill 1
        1000 restart
            Idle
            m1 delivered
        1001 record s1 user m1 one
        1001 record s1 spawn t1
        1001 record s1 agent t1 task1
        1001 record s1 side spawn t9
        1001 record s1 torn
        2000 send m2 two
            Working
            m2 sent
            p1 spawned resuming s1
            p1 <- initialize engine_initialize
            p1 <- m2
        3000 doc
            user complete: one
            assistant aborted: [Agent failed] | error The engine was restarted before this reply was finished.
            user complete: two
        3010 show journal
        3020 claude agent-over task1 t1
            +6 child t1 done completed
        3030 claude init ; lifecycle m2 started ; message-to task1 x9 wake up
            +7 sessionStarted
            m2 delivered
            +8 call x9
            +9 child t1 user wake up
            Working pill 1
            +10 assistantMessageCompleted
        3200 tab t1
            user complete: go
            user complete: wake up
        ",
    );
}

/// I3: a message that an earlier process took, though the engine did not live to hear of it, is not sent again; one that it did
/// not take is.
#[test]
fn a_message_that_arrived_before_the_kill_is_sent_twice() {
    check(
        "
        0 chat claude
        500 begun m1 one
        500 claude text u1 hello
        510 send m2 two
            m2 sent
            p1 <- m2 now
        520 send m3 three
            m3 sent
            p1 <- m3 now
        1000 restart
            Idle
            m1 delivered
            m2 queued
            m3 queued
        1001 record s1 user m1 one
        1001 record s1 user m2 two
        2000 send m4 four
            Working
            m4 sent
            p2 spawned resuming s1
            p2 <- initialize engine_initialize
            p2 <- m4
        3000 doc
            user complete: one
            assistant aborted: hello | error The engine was restarted before this reply was finished.
            user complete: two
            user complete: three
            user complete: four
        4000 exit 0
            m4 not delivered
            Errored
            Working
            m2 sent
            m2 delivered
            Errored
            Working
            m3 sent
            p4 spawned resuming s1
            p4 <- initialize engine_initialize
            p4 <- m3
        5000 doc
            user complete: one
            assistant aborted: hello | error The engine was restarted before this reply was finished.
            user complete: two
            user complete: three
            user complete: four
            assistant complete: error Claude Code exited with code 0
            assistant complete: error This message had reached Claude Code before. It is not sent again; what was answered then is not shown here.
        6000 journal
            +1 sessionStarted
            +2 text hello
            +3 assistantMessageCompleted
            +4 done interrupted synthetic restart
            +5 done errored
            +6 done errored
        ",
    );
}

/// What comes between the start and the transcript: a message waits, one is taken back, and nobody is started twice.
#[test]
fn a_message_before_the_transcript_is_lost_or_overtakes() {
    check(
        "
        0 chat claude
        500 begun m1 one
        500 claude result m1
            Idle
        1000 restart
            Idle
            m1 delivered
        1001 slow-disk
        2000 send m2 two
            Working
            m2 sent
        2010 send m3 three
            m3 sent
        2020 send m4 four
            m4 sent
        2030 withdraw m3
            m3 withdrawn
        2040 read-comes
            p1 spawned resuming s1
            p1 <- initialize engine_initialize
            p1 <- m2
            p1 <- m4 now
        ",
    );
}

/// A stop before the transcript: nothing was started, so nothing is killed.
#[test]
fn a_stop_before_the_transcript_starts_a_process() {
    check(
        "
        0 chat claude
        500 begun m1 one
        500 claude result m1
            Idle
        1000 restart
            Idle
            m1 delivered
        1001 slow-disk
        2000 send m2 two
            Working
            m2 sent
        2010 stop
            m2 not delivered
            Idle
        2020 read-comes
        2030 leases
        2040 timers
        ",
    );
}

/// I3: what the transcript tells at the start is said at the start: the message arrived, and its turn was cut by the restart.
#[test]
fn a_message_that_arrived_is_queued_at_the_start() {
    check(
        "
        0 chat claude
        500 begun m1 one
        500 claude text u1 hello ; result m1
            Idle
        2000 send m2 two
            Working
            m2 sent
            p1 <- m2 now
        2010 send m3 three
            m3 sent
            p1 <- m3 now
        2020 record s1 user m1 one
        2020 record s1 user m2 two
        3000 restart
            Idle
            m1 delivered
            m2 delivered
            m3 queued
        4000 doc
            user complete: one
            assistant complete: hello
            user complete: two
            user complete: three
            assistant aborted: error The engine was restarted before this reply was finished.
        4010 journal
            +1 sessionStarted
            +2 text hello
            +3 assistantMessageCompleted
            +4 usage
            +5 nativeForkReady
            +6 done completed
            +7 done interrupted synthetic restart
        5000 send m4 four
            Working
            m4 sent
            p2 spawned resuming s1
            p2 <- initialize engine_initialize
            p2 <- m4
        ",
    );
}
