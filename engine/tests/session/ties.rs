//! What is due at one instant: user control, evidence, messages, timers; timers by class.

use crate::rig::check;

/// CO-04: stop request and result: Interrupted.
#[test]
fn a_result_beats_the_stop_of_the_same_instant() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi
        500 stop-turn
            p1 <- interrupt engine_stop_1
        500 claude result m1
            Idle
        510 journal
            +1 sessionStarted
            +2 text hi
            +3 assistantMessageCompleted
            +4 usage
            +5 done interrupted
        ",
    );
}

/// CO-04: Claude's stop settle and a result: the result settles, the timer is gone.
#[test]
fn a_stop_settle_and_a_result_settle_twice() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi
        500 stop-turn
            p1 <- interrupt engine_stop_1
        600 claude answered engine_stop_1
        3600 claude result m1
            Idle
        3600 wait
        3610 timers
            control-deadline at 10020
        ",
    );
}

/// CO-04: Claude's stop settle and the engine's interrupt deadline: the driver's Done settles, the deadline is disarmed.
#[test]
fn a_stop_settle_and_the_interrupt_deadline_settle_twice() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi
        500 stop-turn
            p1 <- interrupt engine_stop_1
        600 stop
            p1 <- interrupt int_1
        600 claude answered engine_stop_1
          @2600 c interrupt-grace
            p1 SIGTERM
        3600 wait
          @3600 c stop-settle
            Idle
            p1 <- end
        3700 journal
            +1 sessionStarted
            +2 text hi
            +3 assistantMessageCompleted
            +4 done interrupted synthetic stop-settle
        ",
    );
}

/// CO-04: kill grace and interrupt deadline: SIGKILL, then the synthetic Done; the lease is held until the reap.
#[test]
fn the_synthetic_end_comes_before_the_kill_of_the_same_instant() {
    check(
        "
        20 begun m1 one
        20 say text hi
        500 stop
            p1 <- interrupt
            p1 SIGTERM
        3500 wait
          @3500 c kill-grace
            p1 SIGKILL
          @3500 c interrupt-deadline
            Idle
            p1 <- end
        3510 leases
            p1 leased
        3600 exit 137
        3610 leases
        ",
    );
}

/// CO-04: flush and Done: the Done performs the flush, the timer is disarmed.
#[test]
fn a_flush_comes_after_the_done_of_the_same_instant() {
    check(
        "
        0 show commit doc
        10 send m1 one
            commit
            Working
            m1 sent
            document c
            p1 spawned
            p1 <- m1
        200 say text hi
        320 say done completed
            commit
            m1 delivered
            Idle
            document c
        320 timers
        400 send m2 two
            commit
            Working
            m2 sent
            document c
            p1 <- m2
        500 say steered m2
            commit
            m2 delivered
            Working
        510 say text hi
        630 wait
          @630 c flush
            commit
            document c
        ",
    );
}

/// CO-04: Stop and a message: the Stop does not touch the message that came with it.
#[test]
fn a_stop_takes_the_message_that_came_with_it() {
    check(
        "
        20 begun m1 one
        20 say text hi
        500 stop
            p1 <- interrupt
            p1 SIGTERM
        500 send m2 two
            m2 sent
        510 exit 0
            Working
            p2 spawned
            p2 <- m2
        520 say taken m2 ; done completed
            m2 delivered
            Idle
        ",
    );
}

/// CO-04, the other order: a message that came before the Stop is withdrawn by it.
#[test]
fn a_stop_spares_the_message_before_it() {
    check(
        "
        20 begun m1 one
        20 say text hi
        500 send m2 two
            m2 sent
            p1 <- m2
        500 stop
            m2 withdrawn
            p1 <- interrupt
            p1 SIGTERM
        510 exit 0
            Idle
        ",
    );
}

/// CO-04: the end of a turn and a message: evidence before the message, so it runs on the parked run.
#[test]
fn a_message_of_the_instant_of_the_end_is_lost() {
    check(
        "
        500 begun m1 one
        500 say done completed
            Idle
        500 send m2 two
            Working
            m2 sent
            p1 <- m2
        510 say steered m2 ; done completed
            m2 delivered
            Working
            Idle
        ",
    );
}

/// CO-05: a timer that another of the same instant disarmed gives no input (the deadline would settle a second time).
#[test]
fn a_disarmed_timer_of_the_same_instant_fires() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 stop-turn
            p1 <- stop
        12030 stop
            p1 <- interrupt
            p1 SIGTERM
        12031 timers
            kill-grace at 15030
            interrupt-deadline at 15030
            stop-turn-settle at 15030
        15030 wait
          @15030 c kill-grace
            p1 SIGKILL
          @15030 c interrupt-deadline
            Idle
            p1 <- end
        15031 timers
            terminate-wait at 20030
        15040 journal
            +1 text hi
            +2 done interrupted synthetic interrupt-deadline
        ",
    );
}
