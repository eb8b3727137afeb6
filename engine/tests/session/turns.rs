//! How a turn settles: the table of run, terminal and row.

use crate::rig::check;

/// RL-03, E2-02: completed with nothing waiting parks Idle, with a steer waiting parks Working.
#[test]
fn a_completed_turn_ends_its_run() {
    check(
        "
        20 begun m1 one
        20 say text hi ; done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        40 say steered m2
            m2 delivered
            Working
        50 send m3 three
            m3 sent
            p1 <- m3
        60 say done completed
            Working
        70 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
        80 leases
            p1 leased
        ",
    );
}

/// RL-03: interrupted in place parks Idle, and what waited is withdrawn and shown so.
#[test]
fn a_stop_in_place_ends_the_run_or_keeps_what_waited() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 send m2 two
            m2 sent
            p1 <- m2
        40 stop-turn
            p1 <- stop
        50 say done interrupted
            m2 withdrawn
            Idle
        60 send m3 three
            Working
            m3 sent
            p1 <- m3
        70 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
        80 doc
            user complete: one
            assistant aborted: hi
            user complete: two
            user complete: three
        # The settle of the stop was disarmed by its end.
        20000 wait
        20001 timers
        20001 leases
            p1 leased
        ",
    );
}

/// RL-03: interrupted where the driver cannot stop in place ends the run, Idle.
#[test]
fn a_driver_that_cannot_stop_in_place_parks_after_an_interrupt() {
    check(
        "
        0 chat mock steer
        20 begun m1 one
        20 say done interrupted
            Idle
            p1 <- end
            p1 SIGTERM
        30 exit 0
        ",
    );
}

/// RL-03: after a kill the run ends Idle, whatever its terminal says.
#[test]
fn a_killed_run_parks() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        40 say done interrupted
            Idle
            p1 <- end
        50 exit 0
        60 leases
        60 doc
            user complete: one
            assistant aborted: hi
        ",
    );
}

/// RL-03: an errored turn ends its run also when the process lives on; the next message runs on a fresh one.
#[test]
fn an_errored_turn_parks_its_run() {
    check(
        "
        20 begun m1 one
        20 say done errored out of luck
            Errored
            p1 <- end
            p1 SIGTERM
        25 send m2 two
            Working
            m2 sent
        30 exit 0
            p2 spawned
            p2 <- m2
        40 say taken m2 ; done completed
            m2 delivered
            Idle
        50 doc
            user complete: one
            assistant complete: error out of luck
            user complete: two
        ",
    );
}

/// RL-03, D1: a stream that ends inside a turn is an error that says so.
#[test]
fn a_stream_that_ends_inside_a_turn_leaves_it_working() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 exit 3
            Errored
        40 doc
            user complete: one
            assistant complete: hi | error The provider's stream ended inside the turn.
        40 journal
            +1 text hi
            +2 done errored synthetic stream-end
        ",
    );
}

/// RL-03: a parked run whose process leaves is over, and that is no error.
#[test]
fn a_parked_run_that_ends_is_an_error() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 exit 1
            Idle
        40 send m2 two
            Working
            m2 sent
            p2 spawned
            p2 <- m2
        ",
    );
}

/// RL-03: a program that is not there.
#[test]
fn a_process_that_never_started_leaves_the_chat_working() {
    check(
        "
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 not-started
            m1 not delivered
            Errored
        20 leases
        30 send m2 two
            Working
            m2 sent
            p2 spawned
            p2 <- m2
        ",
    );
}

/// RL-04: a killed run that answers nothing has one synthetic end, and its late Done is a note.
#[test]
fn an_interrupt_that_is_never_answered_has_no_end_or_two() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        3030 wait
          @3030 c kill-grace
            p1 SIGKILL
          @3030 c interrupt-deadline
            Idle
            p1 <- end
        3100 say done completed
        3200 exit 0
        3300 journal
            +1 text hi
            +2 done interrupted synthetic interrupt-deadline
            +3 note late-terminal: a Done (Completed) of a run that was over
        ",
    );
}

/// RL-04: the driver's own end at the very instant of the deadline comes first, and then no synthetic one.
#[test]
fn the_deadline_settles_what_the_driver_settled_at_the_same_instant() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        3030 say done interrupted
            Idle
            p1 <- end
        3030 timers
            kill-grace at 3030
            terminate-wait at 8030
          @3030 c kill-grace
            p1 SIGKILL
        3031 wait
        3040 journal
            +1 text hi
            +2 done interrupted
        ",
    );
}

/// A stop in place that settles nothing becomes a terminate, and that has a deadline too.
#[test]
fn a_stop_in_place_that_settles_nothing_waits_for_ever() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 stop-turn
            p1 <- stop
        40 stop-turn
        50 send-now m2 two
            m2 queued
        15030 wait
          @15030 c stop-turn-settle
            p1 <- interrupt
            p1 SIGTERM
        18030 wait
          @18030 c kill-grace
            p1 SIGKILL
          @18030 c interrupt-deadline
            Idle
            p1 <- end
            Working
            m2 sent
        18100 exit 0
            p2 spawned
            p2 <- m2
        ",
    );
}

/// A user's cancel wins over the exit that it caused.
#[test]
fn a_process_that_dies_of_a_stop_in_place_is_an_error() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 send m2 two
            m2 sent
            p1 <- m2
        40 stop-turn
            p1 <- stop
        50 exit 143
            m2 withdrawn
            Idle
        60 doc
            user complete: one
            assistant aborted: hi
            user complete: two
        ",
    );
}

/// A strict run in a session that nobody required: cancelled and Errored, and what waited is not sent into it again.
#[test]
fn a_strict_run_goes_on_in_another_session() {
    check(
        "
        0 chat mock steer stop resume=s1
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        15 send m2 two
            m2 sent
            p1 <- m2
        20 say session s2 ; text hi
            m2 not delivered
            m1 not delivered
            Errored
            p1 <- interrupt
            p1 SIGTERM
            p1 <- end
        30 exit 0
        40 doc
            user complete: one
            user complete: two
            assistant complete: error The provider opened session s2 where s1 is required.
        40 journal
            +1 sessionStarted
            +2 done errored synthetic wrong-session
        ",
    );
}

/// The required session itself is no error, and a second naming of another is not this rule's.
#[test]
fn a_strict_run_is_refused_in_its_own_session() {
    check(
        "
        0 chat mock steer stop resume=s1
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 say session s1 ; taken m1 ; text hi ; done completed
            m1 delivered
            Idle
        ",
    );
}
