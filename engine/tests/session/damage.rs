//! A database that was damaged, or changed, between two lives of the engine: each loss costs only itself, and is said once.

use engine::{
    chat::view,
    core::effect::Effect,
    event::AgentEvent,
    store::{Stored, StoredChat, journal::Row},
};

use crate::{
    restart::at_rest,
    rig::{self, Rig},
};

const WORK: &str = "
    10 send m1 one
    1000 say session s1 ; taken m1 ; text hi ; call t1 Agent ; child t1 user go ; child t1 text a
    2000 say child t1 text b ; child t1 done completed ; text there ; done completed
    3000 send m2 two
    4000 say steered m2 ; text second ; call t2 Agent ; child t2 user look ; child t2 text c
    5000 wait
";

/// Changes the database after [`WORK`], starts the engine on it, and gives what is shown. It must be whole, be at rest, report
/// the damage once, and stay as it is at the next start.
#[track_caller]
fn check(change: impl FnOnce(&mut StoredChat)) -> (Rig, String) {
    let mut rig = Rig::play(WORK, None);
    let is_clean = rig.stored().damage.is_empty();
    assert!(is_clean, "a database that nobody touched is damaged");
    rig.restart_with(|stored| change(&mut stored.chats[0]));
    let lines = shown(&rig);
    rig.restart(None);
    assert_eq!(shown(&rig), lines, "a second start finds something else");
    at_rest(&rig, "after the damage");
    (rig, lines)
}

fn shown(rig: &Rig) -> String {
    let mut lines: Vec<String> = rig.viewer.entries("c").iter().map(rig::entry).collect();
    for row in view::subagent_rows(&rig.viewer.entries("c")) {
        lines.extend(rig.viewer.entries(&row.doc_id).iter().map(|entry| format!("{}: {}", row.chip_id, rig::entry(entry))));
    }
    lines.extend(rig.viewer.journal.iter().filter_map(|row| match &row.event {
        AgentEvent::Note { text, .. } => Some(format!("{} {text}", row.seq)),
        _ => None,
    }));
    lines.join("\n")
}

const WHOLE: &str = "user complete: one
assistant complete: hi | [Agent done] | there
user complete: two
assistant aborted: second | [Agent failed] | error The engine was restarted before this reply was finished.
t2: user complete: look
t2: assistant aborted: c
t1: user complete: go
t1: assistant complete: ab";

#[test]
fn a_database_that_nobody_touched_is_repaired() {
    assert_eq!(check(|_| {}).1, WHOLE);
}

/// JR-01: what stands in the place of a lost row says so, and the era tells viewers to read everything.
#[test]
fn a_lost_journal_row_takes_others_with_it() {
    let (mut rig, lines) = check(|chat| chat.journal.rows[0] = Row::Lost("its checksum is wrong".to_owned()));
    assert_eq!(lines, format!("{WHOLE}\n1 journal row 1 is lost: its checksum is wrong"));
    let journal = &rig.stored().chats[0].journal;
    assert_eq!((journal.era, journal.is_damaged()), (2, false));
}

/// J1: a tail that is cut is reported behind what is left, and the numbers go on from there.
#[test]
fn a_cut_tail_leaves_the_document_ahead_of_the_journal() {
    let mut rig = Rig::play(WORK, None);
    rig.restart_with(|stored| {
        let chat = &mut stored.chats[0];
        let last = chat.journal.rows.len() as i64;
        chat.journal.rows.pop();
        chat.journal.cut.push((last, "its checksum is wrong".to_owned()));
    });
    let seq = rig.viewer.journal.last().map(|row| (row.era, row.seq));
    assert_eq!(seq.map(|(era, _)| era), Some(2), "the era did not change");
    rig.go_on("60000 send m9 nine\n60100 say session s2 ; taken m9 ; text fresh\n61000 restart");
    let entries: Vec<String> = rig.viewer.entries("c").iter().map(rig::entry).collect();
    assert!(entries.iter().any(|entry| entry.starts_with("assistant aborted: fresh | error")), "{entries:?}");
}

/// M4: a document that does not load is made again from the journal and the messages.
#[test]
fn a_torn_document_loses_the_chat() {
    type Tear = fn(&mut Vec<u8>);
    let tears: [(&str, Tear); 3] = [
        ("torn", |bytes| bytes.truncate(bytes.len() / 2)),
        ("garbled", |bytes| bytes.iter_mut().skip(20).for_each(|byte| *byte ^= 0x55)),
        ("emptied", Vec::clear),
    ];
    for (how, tear) in tears {
        for doc in ["c", "c--sub--t1", "c--sub--t2"] {
            let (_, lines) = check(|chat| {
                let stored = chat.docs.get_mut(doc).expect("it is stored");
                tear(&mut stored.snapshot);
                stored.updates.iter_mut().for_each(|(_, bytes)| tear(bytes));
                stored.folded_seq = stored.folded_seq.max(1);
            });
            let (whole, reports) = lines.split_at(WHOLE.len().min(lines.len()));
            assert_eq!(whole, WHOLE, "{doc} {how}");
            assert_eq!(reports.trim().lines().count(), 1, "{doc} {how}: {reports}");
        }
    }
}

/// A later update that is torn costs what was in it, and that is folded again.
#[test]
fn a_torn_update_loses_the_chat() {
    let (_, lines) = check(|chat| {
        let updates = &mut chat.docs.get_mut("c").expect("it is stored").updates;
        let last = updates.len() - 1;
        updates[last].1.truncate(9);
    });
    assert!(lines.starts_with(WHOLE), "{lines}");
}

/// Rows that cannot be read are written again, and said once.
#[test]
fn a_chat_without_its_rows_is_gone() {
    let (_, lines) = check(|chat| {
        (chat.row, chat.session) = (None, None);
        chat.docs.remove("c--sub--t1");
    });
    assert!(lines.starts_with(WHOLE), "{lines}");
}

/// What the next message's process is started with.
fn resumed(change: impl FnOnce(&mut Stored)) -> Option<String> {
    let mut rig = Rig::play("0 chat claude\n10 send m1 one\n500 claude init ; lifecycle m1 started ; result m1", None);
    rig.restart_with(change);
    let begun = rig.performed.len();
    rig.go_on("9000 send m2 two");
    rig.performed[begun..].iter().find_map(|effect| match effect {
        Effect::Spawn(spawn) => {
            Some(spawn.args.iter().find_map(|arg| arg.strip_prefix("--resume=")).unwrap_or("none").to_owned())
        }
        _ => None,
    })
}

/// RR-05, RR-13: the chat row first, then the journal; the same directory only; an empty id is no session.
#[test]
fn a_session_is_resumed_where_it_must_not_be() {
    let row = |stored: &mut Stored, session: Option<&str>| {
        stored.chats[0].row.as_mut().expect("a row").harness_session_id = session.map(str::to_owned);
    };
    assert_eq!(resumed(|_| {}).as_deref(), Some("s1"));
    assert_eq!(resumed(|stored| row(stored, Some("s7"))).as_deref(), Some("s7"));
    assert_eq!(resumed(|stored| row(stored, None)).as_deref(), Some("s1"), "the journal names it");
    assert_eq!(resumed(|stored| row(stored, Some(""))).as_deref(), Some("none"), "a tombstone");
    let elsewhere = |stored: &mut Stored| stored.chats[0].config.as_mut().expect("a configuration").cwd = "/other".to_owned();
    assert_eq!(resumed(elsewhere).as_deref(), Some("none"), "another directory");
}
