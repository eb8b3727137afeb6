//! How a run ends: children, orphans, the process on its way out.

use crate::rig::check;

/// RL-09: the run ends with live children and messages that nobody took.
#[test]
fn a_run_that_ends_leaves_running_children_and_loses_messages() {
    check(
        "
        20 begun m1 one
        20 say call t1 Agent ; child t1 text looking ; text hi
            Working pill 1
        30 send m2 two
            m2 sent
            p1 <- m2
        40 send m3 three
            m3 sent
            p1 <- m3
        50 exit 1
            Working
            p2 spawned
            p2 <- m2
            p2 <- m3
        60 doc
            user complete: one
            assistant complete: [Agent failed] | hi | error The provider's stream ended inside the turn.
            user complete: two
            user complete: three
        60 tab t1
            assistant aborted: looking
        70 say taken m2 ; steered m3 ; done completed
            m2 delivered
            m3 delivered
            Working
            Idle
        80 doc
            user complete: one
            assistant complete: [Agent failed] | hi | error The provider's stream ended inside the turn.
            user complete: two
            user complete: three
        ",
    );
}

/// RL-09: a message is dispatched again once, never for ever.
#[test]
fn a_message_is_dispatched_again_for_ever() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 send m2 two
            m2 sent
            p1 <- m2
        30 send m3 three
            m3 sent
            p1 <- m3
        40 exit 1
            Working
            p2 spawned
            p2 <- m2
            p2 <- m3
        50 exit 1
            m2 not delivered
            m3 not delivered
            Errored
        60 leases
        70 send m2 two
            Working
            m2 sent
            p3 spawned
            p3 <- m2
        80 say taken m2 ; done completed
            m2 delivered
            Idle
        90 doc
            user complete: one
            assistant complete: hi | error The provider's stream ended inside the turn.
            user complete: two
            user complete: three
            assistant complete: error The provider's stream ended inside the turn.
        ",
    );
}

/// RL-09: not after a user's Stop, which withdraws what waits and says so; not what the user took back either.
#[test]
fn a_stop_or_a_withdrawal_is_undone_by_the_exit() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 send m2 two
            m2 sent
            p1 <- m2
        40 stop
            m2 withdrawn
            p1 <- interrupt
            p1 SIGTERM
        50 exit 1
            Idle
        60 send m3 three
            Working
            m3 sent
            p2 spawned
            p2 <- m3
        70 say taken m3 ; text hi
            m3 delivered
        80 send m4 four
            m4 sent
            p2 <- m4
        80 send m5 five
            m5 sent
            p2 <- m5
        90 withdraw m4
            p2 <- withdraw m4
        100 exit 1
            m4 withdrawn
            Working
            p3 spawned
            p3 <- m5
        ",
    );
}

/// RL-10: steer first, end second.
#[test]
fn a_steer_just_before_the_end_is_lost_or_doubled() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        30 exit 0
            Working
            p2 spawned
            p2 <- m2
        40 say taken m2 ; done completed
            m2 delivered
            Idle
        50 doc
            user complete: one
            user complete: two
        ",
    );
}

/// RL-10: end first, steer second.
#[test]
fn a_steer_just_after_the_end_is_lost_or_doubled() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 exit 0
            Idle
        30 send m2 two
            Working
            m2 sent
            p2 spawned
            p2 <- m2
        40 say taken m2 ; done completed
            m2 delivered
            Idle
        50 doc
            user complete: one
            user complete: two
        ",
    );
}

/// RL-10: the end of the stream without the exit: never two writers of one session, so the message waits for the reap.
#[test]
fn a_message_starts_a_second_writer_beside_a_dying_process() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 eof
          @230 c stderr-close
            p1 SIGTERM
            Errored
            p1 <- end
        240 send m2 two
            Working
            m2 sent
        240 send m3 three
            m3 sent
        240 leases
            p1 leased
        250 exit 0
            p2 spawned
            p2 <- m2
            p2 <- m3
        260 say taken m2 ; steered m3 ; done completed
            m2 delivered
            m3 delivered
            Working
            Idle
        ",
    );
}

/// D9: a process that is never reaped: the run is given up after the terminate wait, its lease stays.
#[test]
fn a_process_that_is_never_reaped_holds_the_chat_or_loses_its_lease() {
    check(
        "
        20 begun m1 one
        20 say done errored broken
            Errored
            p1 <- end
            p1 SIGTERM
        30 send m2 two
            Working
            m2 sent
          @3020 c kill-grace
            p1 SIGKILL
        5020 wait
          @5020 c terminate-wait
            p2 spawned
            p2 <- m2
        5030 leases
            p1 leased
            p2 leased
        5040 p1 exit 0
        5050 leases
            p2 leased
        5060 p2 say taken m2 ; done completed
            m2 delivered
            Idle
        ",
    );
}

/// The old process is on its way out and the message that waited for it is taken back: nothing works any more.
#[test]
fn a_chat_works_for_a_message_that_was_taken_back() {
    check(
        "
        20 begun m1 one
        20 say done errored broken
            Errored
            p1 <- end
            p1 SIGTERM
        30 send m2 two
            Working
            m2 sent
        40 withdraw m2
            m2 withdrawn
            Idle
        50 send m3 three
            Working
            m3 sent
        60 stop
            m3 withdrawn
            Idle
        70 exit 0
        80 leases
        ",
    );
}

/// A pipe that a grandchild holds brings its last bytes after the reap.
#[test]
fn what_a_process_said_is_lost_when_its_exit_is_seen_first() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 reaped
        40 say text there ; done completed
            Idle
        40 leases
          @230 c stderr-close
            Idle
        500 doc
            user complete: one
            assistant complete: hithere
        ",
    );
}

/// A closed mailbox takes no message; what the run does may end by itself, and then the message runs on a fresh one.
#[test]
fn a_message_goes_into_a_closed_mailbox() {
    check(
        "
        20 begun m1 one
        20 say text hi
        30 close
            p1 <- end
        40 send m2 two
            m2 sent
        50 say text there ; done completed
            Working
        60 exit 0
            Working
            p2 spawned
            p2 <- m2
        70 say taken m2 ; done completed
            m2 delivered
            Idle
        80 doc
            user complete: one
            assistant complete: hithere
            user complete: two
        ",
    );
}

/// A parked run is on its way out, and the message that waits for its end is stopped too: nothing works any more.
#[test]
fn a_chat_works_for_a_message_that_a_second_stop_withdrew() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        40 send m2 two
            Working
            m2 sent
        50 stop
            m2 withdrawn
            Idle
        60 exit 0
            Idle
        70 leases
        ",
    );
}

/// A wake of a run that takes no more messages ends while a message waits for its exit: the chat goes on working.
#[test]
fn a_chat_is_idle_while_a_message_waits_for_an_exit() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 close
            p1 <- end
        2000 send m2 two
            Working
            m2 sent
        2010 say text woken ; done completed
            Working
            Working
        2020 exit 0
            Working
            p2 spawned
            p2 <- m2
        2030 leases
            p2 leased
        ",
    );
}
