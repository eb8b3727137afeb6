//! What the session machine makes of the document.

use crate::rig::check;

/// RL-08: the session names itself after content (a typed fork as the first prompt): what was folded stays.
#[test]
fn a_late_session_start_costs_the_content_before_it() {
    check(
        "
        10 send m1 /probe
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 say taken m1 ; call t1 Agent: /probe ; child t1 user go ; text before
            m1 delivered
            Working pill 1
        30 say session s1 ; text after
        40 say child t1 done completed ; result t1 ; done completed
            Working
            Idle
        50 doc
            user complete: /probe
            assistant complete: [Agent: /probe done resolved] | beforeafter
        ",
    );
}

/// §9.8: a turn that showed nothing leaves no entry; an interrupted one is aborted.
#[test]
fn a_turn_without_content_leaves_an_entry() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        40 say steered m2 ; text half
            m2 delivered
            Working
        50 stop-turn
            p1 <- stop
        60 say done interrupted
            Idle
        70 doc
            user complete: one
            user complete: two
            assistant aborted: half
        ",
    );
}

/// §9.5 step 11: the point is bound to the reply that its id names, in one transaction with its journal record, document first.
#[test]
fn a_fork_point_is_bound_to_another_reply_or_seen_before_its_commit() {
    check(
        "
        0 show doc journal commit
        10 send m1 one
            commit
            Working
            m1 sent
            document c
            p1 spawned
            p1 <- m1
        200 say text hi ; closed a1
            +1 text hi
            +2 assistantMessageCompleted
          @320 c flush
            commit
            document c
        500 say fork a9
        510 say fork a1
            commit
            document c
            +3 nativeForkReady
        ",
    );
}

/// T5, second order: the chip opens alone, and the Steered that follows splits it from its result. It settles all the same,
/// where it stands, and the turn has one Done.
#[test]
fn a_split_leaves_the_chip_of_a_typed_fork_running() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        2000 send m2 /probe
            Working
            m2 sent
            p1 <- m2
        2010 say call t1 Agent: /probe ; child t1 user go
            Working
            Working pill 1
        2020 say steered m2
            m2 delivered
            Working pill 1
        2500 say child t1 text found ; child t1 done completed ; result t1 ; done completed
            Working
            Idle
        2510 doc
            user complete: one
            user complete: /probe
            assistant complete: [Agent: /probe done]
        2510 tab t1
            user complete: go
            assistant complete: found
        2510 journal
            +1 done completed
            +2 call t1
            +3 child t1 user go
            +4 steered m2
            +5 child t1 text found
            +6 child t1 done completed
            +7 done completed
        ",
    );
}

/// T5, second order inside the gate: the chip is dropped, so its child is journaled and never counted.
#[test]
fn a_chip_that_the_gate_dropped_is_counted() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        500 send m2 /probe
            Working
            m2 sent
            p1 <- m2
        510 say call t1 Agent: /probe ; child t1 user go
        520 say steered m2
            m2 delivered
            Working
        900 say child t1 done completed ; result t1 ; text hi ; done completed
            Idle
        910 doc
            user complete: one
            user complete: /probe
            assistant complete: hi
        ",
    );
}
