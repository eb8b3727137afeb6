//! The command ledger: what devices want of the chats of this host.

use crate::rig::{Rig, check};
use engine::core::effect::Effect;

/// CM-01: the processed mark is durable before anything runs; a command that was processed is skipped, also after a restart; a
/// later interrupt supersedes no message.
#[test]
fn a_command_runs_before_its_mark_or_twice() {
    check(
        r#"
        0 show commit
        5 chat mock steer stop
        10 commands c1 run m1 one
            commit
            c1 pending
            commit
            Working
            m1 sent
            p1 spawned
            p1 <- m1
            c1 applied
        20 commands c1 run m1 one
        30 store busy
        40 commands c2 steer m2 two ; c3 interrupt
            commit
        50 store works
          @1040 device storage-retry
            commit
            c2 pending
            c3 pending
            commit
            m2 sent
            p1 <- m2
            c2 applied
            m2 withdrawn
            p1 <- interrupt
            p1 SIGTERM
            c3 applied
        1100 wait
        1200 exit 0
            commit
            m1 not delivered
            Idle
        2000 restart
            commit
            Idle
            m1 not delivered
            m2 withdrawn
        2010 commands c1 run m1 one ; c2 steer m2 two
        "#,
    );
}

/// CM-03, CM-04: commands that reach a host with no row claim one, once.
#[test]
fn a_run_before_its_row_is_lost() {
    check(
        r#"
        0 show chat
        10 commands c1 run m1 one ; c2 steer m2 two
            c1 pending
            c2 pending
            Working
            m1 sent
            last message: one
            p1 spawned
            p1 <- m1
            c1 applied
            m2 sent
            last message: two
            p1 <- m2
            c2 applied
        "#,
    );
}

/// RL-16: a steer without a run is a turn of its own, and the ledger says so. CM-05: an answer to a question that is gone is
/// sent as a message, once.
#[test]
fn a_steer_or_an_answer_without_its_turn_is_lost() {
    check(
        r#"
        5 chat mock steer stop
        10 commands c1 steer m1 one
            c1 pending
            Working
            m1 sent
            p1 spawned
            p1 <- m1
            c1 applied: No turn was running: it was run as a new one.
        20 say taken m1 ; done completed
            m1 delivered
            Idle
        30 commands c2 respond r9 blue, please
            c2 pending
            Working
            c2 sent
            p1 <- c2
            c2 applied: The question was gone: the answer was sent as a message.
        40 commands c2 respond r9 blue, please
        "#,
    );
}

/// CM-06: the entry's time is the one of the command, not before the entry in front of it and not in the future.
#[test]
fn an_entry_is_dated_out_of_order() {
    let mut rig = Rig::play(
        "
        5 chat mock steer stop
        1000 commands c1 @400 run m1 one
        2000 commands c2 @100 steer m2 two
        3000 commands c3 @999999 steer m3 three
        ",
        None,
    );
    let wall = rig.viewer.entries("c").iter().map(|entry| entry.created_at % 1_000_000).collect::<Vec<_>>();
    assert_eq!(wall.first(), Some(&400));
    let users: Vec<u64> =
        rig.viewer.entries("c").iter().filter(|e| e.role.as_str() == "user").map(|e| e.created_at % 1_000_000).collect();
    assert_eq!(users[2], 3000, "{users:?}: not in the future");
    assert!(users.is_sorted(), "{users:?}: not before the entry in front");
    rig.go_on("3010 all-exit");
}

/// CM-07: a hundred steers in one batch: each once, in order.
#[test]
fn a_batch_of_steers_is_doubled_or_reordered() {
    let batch: Vec<String> = (1..=100).map(|n| format!("c{n} steer s{n} text")).collect();
    let mut script = format!("10 send m1 one\n20 say taken m1\n30 commands {}\n", batch.join(" ; "));
    let mut at = 100;
    for n in 1..=32 {
        script += &format!("{at} say steered s{n}\n");
        at += 1;
    }
    for n in 33..=100 {
        script += &format!("{at} say done completed\n{} say steered s{n}\n", at + 1);
        at += 2;
    }
    let rig = Rig::play(&script, None);
    let text = |effect: &Effect| match effect {
        Effect::Write { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    };
    let heard: Vec<String> = rig.performed.iter().map(text).filter(|line| line.contains("\"s")).collect();
    let ids: Vec<String> =
        heard.iter().filter_map(|line| line.split("\"id\":\"").nth(1)?.split('"').next().map(str::to_owned)).collect();
    assert_eq!(ids, (1..=100).map(|n| format!("s{n}")).collect::<Vec<_>>());
}

/// CM-08: an interrupt acts at once, whatever is being drained.
#[test]
fn an_interrupt_waits_for_a_drain() {
    check(
        r#"
        5 chat mock steer stop
        10 commands c1 run m1 one
            c1 pending
            Working
            m1 sent
            p1 spawned
            p1 <- m1
            c1 applied
        20 say taken m1
            m1 delivered
        30 rpc QueueMessage {"chat":"c","message":"m2","text":"two","attachments":["a"]}
            m2 queued
            answer 1: {}
        40 commands c2 interrupt
            c2 pending
            p1 <- interrupt
            p1 SIGTERM
            c2 applied
        50 say done interrupted
            Idle
            p1 <- end
        60 exit 0
        70 rpc AttachmentReady {"chat":"c","message":"m2","attachment":"a"}
            answer 2: {}
        "#,
    );
}

/// E2-04: a crash between the mark and the run swallows the command; the retry under the same message id runs it once.
#[test]
fn a_retry_after_a_crash_shows_the_message_twice() {
    let first = "5 chat mock steer stop\n10 commands c1 run m1 one";
    let calm = Rig::play(first, None);
    let mark = calm.performed.iter().position(|effect| matches!(effect, Effect::Store(txn) if !txn.commands.is_empty()));
    let mut rig = Rig::play_until(first, mark.expect("the mark is stored") as u64 + 1);
    rig.restart(None);
    rig.go_on("100 commands c1 run m1 one\n200 commands c2 run m1 one\n300 commands c3 run m1 one");
    let entries = rig.viewer.entries("c");
    let users = entries.iter().filter(|entry| entry.role.as_str() == "user").count();
    let writes = rig.performed.iter().filter(|effect| matches!(effect, Effect::Write { .. })).count();
    assert_eq!((users, writes), (1, 1), "{entries:?}");
}
