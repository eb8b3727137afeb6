//! The parked gate: trailing frames of a finished turn must not reopen it, a wake of the provider must.

use crate::rig::check;

/// QZ-01: at exactly 1,000 ms the gate is open, one millisecond before it is not.
#[test]
fn a_self_continued_reply_is_lost() {
    check(
        "
        20 begun m1 one
        20 say text hi ; done completed
            Idle
        1019 say text trailing
        1020 say text awake
            Working
        1030 say text , still
        1040 say done completed
            Idle
        1050 doc
            user complete: one
            assistant complete: hi
            assistant complete: awake, still
        ",
    );
}

/// QZ-01: a tool that nobody knows, the live plan and an error wake too; what shows nothing does not.
#[test]
fn only_text_wakes_a_parked_chat() {
    check(
        "
        20 begun m1 one
        20 say call t1 Bash ; result t1 ; done completed
            Idle
        2000 say think hm ; result t9 ; context 5 ; agent plan ; note x ; closed a9 ; text
        2010 say call t2 Bash
            Working
        2020 say done completed
            Idle
        4000 say plan a b
            Working
        4010 say done completed
            Idle
        6000 say error overloaded
            Working
        6010 say done completed
            Idle
        6020 doc
            user complete: one
            assistant complete: [Bash resolved]
            assistant complete: [Bash]
            assistant complete: [Todo]
            assistant complete: error overloaded
        ",
    );
}

/// QZ-04: the echo of a tool that the chat knows stays parked; in a later turn it is a stale echo and is dropped.
#[test]
fn a_stale_tool_echo_reopens_the_turn() {
    check(
        "
        20 begun m1 one
        20 say call t1 Bash ; done completed
            Idle
        3000 say call t1 Bash ; result t1
        3010 send m2 two
            Working
            m2 sent
            p1 <- m2
        3020 say steered m2 ; result t1 ; call t1 Bash ; plan a ; text hi
            m2 delivered
            Working
        3030 say done completed
            Idle
        3040 doc
            user complete: one
            assistant complete: [Bash]
            user complete: two
            assistant complete: [Todo] | hi
        ",
    );
}

/// QZ-09: a background child that settled since the park opens the gate at once.
#[test]
fn the_text_of_a_prompt_wake_is_lost() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text looking ; result t1 ; done completed
            Working pill 1
            Idle pill 1
        100 say child t1 done completed
            Idle
        110 say text it found something
            Working
        120 say done completed
            Idle
        130 doc
            user complete: one
            assistant complete: [Agent done resolved]
            assistant complete: it found something
        ",
    );
}

/// QZ-09: a settle before the park opens nothing, and neither does one that was already known.
#[test]
fn the_gate_opens_without_a_settle_since_the_park() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text looking ; child t1 done completed ; background 1 ; background 0 ; done completed
            Working pill 1
            Working
            Idle
        100 say text trailing ; child t1 done completed ; child t9 done completed
        110 say text trailing
        120 doc
            user complete: one
            assistant complete: [Agent done]
        ",
    );
}

/// QZ-09: a background task that ended opens the gate like a child does; a new park closes it again.
#[test]
fn the_gate_stays_open_after_the_next_park() {
    check(
        "
        20 begun m1 one
        20 say background 2 ; done completed
            Idle
        100 say background 1 ; text awake
            Working
        110 say done completed
            Idle
        120 say text trailing
        ",
    );
}

/// QZ-10, MI-02: a change of the background count alone, up or down, never reopens a turn.
#[test]
fn a_background_count_reopens_the_turn() {
    check(
        "
        20 begun m1 one
        20 say background 1 ; done completed
            Idle
        3000 say background 2
        3010 say background 0
        9000 wait
        ",
    );
}

/// QZ-11: heartbeats are activity, never content: no entry is made of them, parked or not.
#[test]
fn a_heartbeat_leaves_an_empty_part() {
    check(
        "
        20 begun m1 one
        20 say think
        30 say think ; done completed
            Idle
        3000 say think
        3010 doc
            user complete: one
        3010 journal
            +1 done completed
        ",
    );
}

/// A Steered reopens at once, whatever the gate says, and the messages of one chat do not wait for its second.
#[test]
fn a_steer_inside_the_gate_is_dropped() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        40 say steered m2 ; text hi
            m2 delivered
            Working
        50 say done completed
            Idle
        60 doc
            user complete: one
            user complete: two
            assistant complete: hi
        ",
    );
}

/// A Done while parked settles a turn of its own; an errored one ends the run.
#[test]
fn a_done_while_parked_is_swallowed() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 say done completed
            Working
            Idle
        40 say done errored broken
            Working
            Errored
            p1 <- end
            p1 SIGTERM
        50 journal
            +1 done completed
            +2 done completed
            +3 done errored
        60 doc
            user complete: one
            assistant complete: error broken
        ",
    );
}
