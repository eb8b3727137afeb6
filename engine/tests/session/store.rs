//! What happens when a write fails: nothing that needed it is seen, and nothing is lost.

use engine::core::{
    effect::{Effect, Txn},
    input::StoreError,
};

use crate::rig::{Failing, Rig, check};

/// A turn with everything: a steer, a child, a question, a stop, an exit with an orphan.
const EVERYTHING: &str = "
    10 send m1 one
    20000 say taken m1 ; session s1 ; text hi ; call t1 Agent ; child t1 user go ; child t1 text a
    40000 send m2 two
    60000 say closed a1 ; fork a1 ; steered m2 ; ask r1
    80000 answer yes
    100000 say child t1 done completed ; result t1 ; done completed
    120000 say text awake
    140000 send m3 three
    160000 exit 1
    180000 say taken m3 ; text there ; done completed
    200000 wait
";

/// CO-02: whichever store effect fails, and however: the same effects in the same order, only later, and the same rows.
#[test]
fn a_failed_write_loses_or_reorders_what_came_after_it() {
    let calm = Rig::play(EVERYTHING, None);
    let stores = calm.performed.iter().filter(|effect| matches!(effect, Effect::Store(_))).count() as u64;
    assert!(stores > 10, "the script writes {stores} times: too few to fail");
    for from in 1..=stores {
        for (kind, times) in [(StoreError::Busy, 1), (StoreError::Full, 3), (StoreError::Io, 7), (StoreError::Corrupt, 2)] {
            let stormy = Rig::play(EVERYTHING, Some(Failing { from, times, kind }));
            assert!(visible(&stormy.performed) == visible(&calm.performed), "{kind:?} at {from}, {times} times: effects differ");
            assert_eq!(written(&stormy.performed), written(&calm.performed), "{kind:?} at {from}, {times} times");
        }
    }
}

/// Everything but the transactions, in order. Signals may overtake what is owed, so they are not compared here.
fn visible(effects: &[Effect]) -> Vec<&Effect> {
    effects.iter().filter(|effect| !matches!(effect, Effect::Store(_) | Effect::Signal { .. })).collect()
}

/// Rows that the store ends up with, whatever transactions they came in: a failed try is offered again, so of equal journal
/// numbers the last counts.
fn written(effects: &[Effect]) -> Vec<String> {
    let mut all = Txn::default();
    for effect in effects {
        if let Effect::Store(txn) = effect {
            all.append(Txn::clone(txn));
        }
    }
    let mut rows: Vec<String> = all.journal.iter().map(|row| format!("{} {}", row.seq, serde_json::json!(row.event))).collect();
    rows.extend(all.ledger.iter().map(|row| format!("ledger {row:?}")));
    rows.extend(all.docs.iter().map(|doc| format!("{} {:?} {} bytes", doc.doc_id, doc.kind, doc.bytes.len())));
    rows.sort();
    rows.dedup();
    rows
}

/// CO-02, E2-02: the line is written on the outcome, the rows are seen on it; the retry comes after a second, as often as it takes.
#[test]
fn a_provider_hears_a_message_that_was_never_stored() {
    check(
        "
        0 show commit
        10 send m1 one
            commit
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        200 say taken m1
            commit
            m1 delivered
        500 store full
        510 send m2 two
            commit
          @1510 device storage-retry
            commit
        1600 wait
        2000 say steered m2 ; text hi ; done completed
        2400 store works
          @2510 device storage-retry
            commit
            m2 sent
            p1 <- m2
            m2 delivered
            Working
            Idle
        3000 wait
        3010 doc
            user complete: one
            user complete: two
            assistant complete: hi
        ",
    );
}

/// D8: a kill ends in bounded time whatever the disk does.
#[test]
fn a_full_disk_keeps_a_stopped_process_alive() {
    check(
        "
        20 begun m1 one
        20 say text hi
        200 store full
        210 send m2 two
        300 stop
            p1 SIGTERM
          @1210 device storage-retry
          @2210 device storage-retry
          @3210 device storage-retry
          @3300 c kill-grace
            p1 SIGKILL
          @3300 c interrupt-deadline
        3400 wait
        3500 store works
          @4210 device storage-retry
            m2 sent
            p1 <- m2
            m2 withdrawn
            p1 <- interrupt
            Idle
            p1 <- end
        4300 wait
        4400 exit 0
        ",
    );
}

/// A process whose start is owed is not signalled before it is started: the signal would find nobody, the start would last.
#[test]
fn a_process_is_started_after_its_own_kill() {
    check(
        "
        5 store busy
        10 send m1 one
        20 stop
        900 store works
          @1010 device storage-retry
            Idle
            Working
            m1 sent
            p1 spawned
            p1 <- m1
            p1 <- interrupt
            p1 SIGTERM
        1100 wait
        1200 exit 0
            m1 not delivered
            Idle
        ",
    );
}
