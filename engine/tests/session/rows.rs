//! The session row: what it says before, during and after a turn.

use crate::rig::check;

/// RL-01: a viewer that saw the message on an Idle row would show a false "completed".
#[test]
fn a_message_shows_on_an_idle_row() {
    check(
        "
        0 show chat
        10 send m1 hello
            Working
            m1 sent
            last message: hello
            p1 spawned
            p1 <- m1
        20 say taken m1 ; text hi ; done completed
            m1 delivered
            Idle
        30 send m2 more
            Working
            m2 sent
            last message: more
            p1 <- m2
        ",
    );
}

/// RL-02: a turn that goes on, or that somebody stopped, completed nothing.
#[test]
fn a_turn_that_goes_on_or_was_stopped_is_announced_as_completed() {
    check(
        "
        0 show turns
        10 send m1 one
            Working completed 0
            m1 sent
            p1 spawned
            p1 <- m1
        20 say taken m1 ; text hi
            m1 delivered
        30 send m2 two
            m2 sent
            p1 <- m2
        # A pending steer: the turn goes on.
        40 say done completed
            Working completed 0
        50 say steered m2 ; text more ; done completed
            m2 delivered
            Working completed 0
            Idle completed 2
        60 send m3 three
            Working completed 2
            m3 sent
            p1 <- m3
        70 say steered m3 ; done interrupted
            m3 delivered
            Working completed 2
            Idle completed 2
        80 send m4 four
            Working completed 2
            m4 sent
            p1 <- m4
        90 say steered m4 ; done completed
            m4 delivered
            Working completed 2
            Idle completed 4
        ",
    );
}

/// RL-02: a Done that comes while nothing was asked and nothing was shown settles, and announces nothing.
#[test]
fn a_done_without_a_turn_is_announced_as_completed() {
    check(
        "
        0 show turns
        10 send m1 one
            Working completed 0
            m1 sent
            p1 spawned
            p1 <- m1
        20 say taken m1 ; done completed
            m1 delivered
            Idle completed 1
        5000 say done completed
            Working completed 1
            Idle completed 1
        5001 doc
            user complete: one
        ",
    );
}

/// RL-02: what the user stopped is not completed by a result that crosses the stop.
#[test]
fn a_killed_run_announces_the_result_that_crossed_its_kill() {
    check(
        "
        0 show turns
        10 send m1 one
            Working completed 0
            m1 sent
            p1 spawned
            p1 <- m1
        20 say taken m1 ; text hi
            m1 delivered
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        40 say done completed
            Idle completed 0
            p1 <- end
        ",
    );
}

/// RL-15: the token of one chat stops another.
#[test]
fn an_interrupt_of_one_chat_stops_another() {
    check(
        "
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        10 d: send m2 two
            d: Working
            d: m2 sent
            p2 spawned
            p2 <- m2
        20 say taken m1 ; text hi
            m1 delivered
        20 d: say taken m2 ; text hi
            d: m2 delivered
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        40 exit 0
            Idle
        50 d: say text more ; done completed
            d: Idle
        50 d: leases
            p2 leased
        60 d: doc
            user complete: two
            assistant complete: himore
        ",
    );
}

/// RR-03: a process for every turn.
#[test]
fn every_turn_starts_a_process_of_its_own() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        40 say steered m2 ; done completed
            m2 delivered
            Working
            Idle
        50 send m3 three
            Working
            m3 sent
            p1 <- m3
        60 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
        5000000 send m4 four
            Working
            m4 sent
            p1 <- m4
        5000010 say steered m4 ; done completed
            m4 delivered
            Working
            Idle
        5000020 leases
            p1 leased
        ",
    );
}
