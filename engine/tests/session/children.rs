//! Subagents: chip, tab and pill.

use crate::rig::check;

/// MI-01: a message to a parked run replaces it and kills its children.
#[test]
fn a_message_to_a_parked_run_kills_its_children() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text looking ; result t1 ; done completed
            Working pill 1
            Idle pill 1
        200 send m2 two
            Working pill 1
            m2 sent
            p1 <- m2
        210 say steered m2 ; text hi ; done completed
            m2 delivered
            Working pill 1
            Idle pill 1
        400 doc
            user complete: one
            assistant complete: [Agent running resolved]
            user complete: two
            assistant complete: hi
        410 leases
            p1 leased
        ",
    );
}

/// MI-03: a silent child and repeated frames are counted once each.
#[test]
fn a_child_is_counted_twice() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; call t2 Agent ; call t1 Agent ; call t2 Agent
        30 say child t1 user go ; child t1 user go
            Working pill 1
        40 say child t2 steered
            Working pill 2
        50 say child t2 steered ; child t1 text a ; child t1 text a
        60 say child t1 done completed ; child t1 done completed
            Working pill 1
        70 say child t2 done completed
            Working
        80 say done completed
            Idle
        90 doc
            user complete: one
            assistant complete: [Agent done] | [Agent done]
        90 tab t1
            user complete: go
            user complete: go
            assistant complete: aa
        ",
    );
}

/// RL-05: a child whose only event is its Done has no document and is never counted.
#[test]
fn a_child_that_only_ends_gets_an_empty_tab() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent
        30 say child t1 done errored
        200 doc
            user complete: one
            assistant streaming: [Agent failed no-tab]
        200 tab t1
            no tab among 1 documents
        ",
    );
}

/// V4: tagged frames under an id that has no chip open nothing.
#[test]
fn a_child_without_a_chip_is_counted() {
    check(
        "
        20 begun m1 one
        20 say call t1 Bash
        30 say child t9 user go ; child t9 text a ; child t1 text b
        200 doc
            user complete: one
            assistant streaming: [Bash]
        200 tab t9
            no tab among 1 documents
        ",
    );
}

/// RL-07: a chip in an older entry stays running when its child ends in a later turn.
#[test]
fn a_chip_in_an_older_entry_stays_running() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text looking ; result t1 ; done completed
            Working pill 1
            Idle pill 1
        30 send m2 two
            Working pill 1
            m2 sent
            p1 <- m2
        40 say steered m2 ; text hi
            m2 delivered
            Working pill 1
        50 say child t1 done interrupted
            Working
        60 say done completed
            Idle
        70 doc
            user complete: one
            assistant complete: [Agent done resolved]
            user complete: two
            assistant complete: hi
        70 tab t1
            assistant aborted: looking
        ",
    );
}

/// Late traffic of a settled child is a straggler; only its steer brings it back, and then its document goes on where it ended.
#[test]
fn a_straggler_revives_its_child_or_a_steer_does_not() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 user go ; child t1 text first
            Working pill 1
        30 say child t1 done completed
            Working
        40 say child t1 text late ; child t1 call x Bash
        50 say child t1 user once more ; child t1 text second
            Working pill 1
        60 say child t1 done completed
            Working
        70 say done completed
            Idle
        80 doc
            user complete: one
            assistant complete: [Agent done]
        80 tab t1
            user complete: go
            assistant complete: first
            user complete: once more
            assistant complete: second
        ",
    );
}

/// M3: a fresh run knows nothing of the children of the one before, but their chips do: late traffic must not count them.
#[test]
fn a_child_of_an_earlier_run_is_counted_again() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 user go ; child t1 text first ; done completed
            Working pill 1
            Idle pill 1
        30 exit 0
            Idle
        40 send m2 two
            Working
            m2 sent
            p2 spawned
            p2 <- m2
        50 say taken m2 ; child t1 text late
            m2 delivered
        60 say child t1 done completed
        70 say child t1 user once more ; child t1 text second
            Working pill 1
        80 say child t1 done completed ; done completed
            Working
            Idle
        200 doc
            user complete: one
            assistant complete: [Agent done]
            user complete: two
        200 tab t1
            user complete: go
            assistant aborted: first
            user complete: once more
            assistant complete: second
        ",
    );
}

/// §9.6: child frames work while the chat is parked and never reopen its turn.
#[test]
fn a_child_reopens_the_turn_of_its_parent() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text a ; done completed
            Working pill 1
            Idle pill 1
        5000 say child t1 text b ; child t1 call x Bash
        5200 tab t1
            assistant streaming: ab | [Bash]
        ",
    );
}

/// VW-01: children open and settle while text streams; at every event pill and rows agree in delivered state (the rig judges
/// it after each step).
#[test]
fn pill_and_rows_disagree_while_text_streams() {
    check(
        "
        20 begun m1 one
        20 say text a
        60 say call t1 Agent: /probe
        100 say text b ; child t1 user go
            Working pill 1
        130 say text c
        260 say call t2 Agent ; child t2 text go ; text d
            Working pill 2
        290 say child t1 done completed ; text e
            Working pill 1
        420 say child t2 text more
        450 say child t2 done errored ; text f ; done completed
            Working
            Idle
        460 doc
            user complete: one
            assistant complete: a | [Agent: /probe done] | bc | [Agent failed] | def
        ",
    );
}
