//! Messages: mailbox, ledger, queue.

use crate::rig::check;

/// DO-03: the same id again is the same message.
#[test]
fn a_message_that_comes_twice_is_written_and_sent_twice() {
    check(
        "
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        11 send m1 one
        20 say taken m1
            m1 delivered
        21 send m1 one
        30 send m2 two
            m2 sent
            p1 <- m2
        31 send m2 two
        32 send-now m2 two
        40 say done completed ; steered m2 ; done completed
            Working
            m2 delivered
            Idle
        50 send m1 one
        60 doc
            user complete: one
            user complete: two
        ",
    );
}

/// §9.5 step 9: the named message is taken off the ledger, without a name the oldest.
#[test]
fn a_confirmation_takes_the_wrong_message() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        30 send m3 three
            m3 sent
            p1 <- m3
        30 send m4 four
            m4 sent
            p1 <- m4
        40 say steered m3 ; text b
            m3 delivered
            Working
        50 say steered ; text c
            m2 delivered
            Working
        60 say steered m9 ; text d
            Working
        70 say steered ; text e ; done completed
            m4 delivered
            Working
            Idle
        80 doc
            user complete: one
            assistant complete: a
            user complete: two
            user complete: three
            user complete: four
            assistant complete: b
            assistant complete: c
            assistant complete: d
            assistant complete: e
        ",
    );
}

/// §9.5 step 9a: what the provider gives back is queued again at the front, in order, and sent at the next idle edge.
#[test]
fn a_message_given_back_is_lost_or_out_of_order() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        30 send m3 three
            m3 sent
            p1 <- m3
        40 say returned m2 ; returned m3 ; returned m9
            m2 queued
            m3 queued
        50 say done completed
            Idle
            Working
            m2 sent
            p1 <- m2
        60 say steered m2 ; text b
            m2 delivered
            Working
        70 say done completed
            Idle
            Working
            m3 sent
            p1 <- m3
        80 say steered m3 ; text c ; done completed
            m3 delivered
            Working
            Idle
        90 doc
            user complete: one
            assistant complete: a
            user complete: two
            user complete: three
            assistant complete: b
            assistant complete: c
        ",
    );
}

/// A message given back while the run is parked for it: the chat is Idle, and that edge sends it again.
#[test]
fn a_message_given_back_to_a_parked_run_leaves_it_working() {
    check(
        "
        20 begun m1 one
        20 say done completed
            Idle
        30 send m2 two
            Working
            m2 sent
            p1 <- m2
        40 say returned m2
            m2 queued
            Idle
            Working
            m2 sent
            p1 <- m2
        50 stop
            m2 withdrawn
            Idle
            p1 <- interrupt
            p1 SIGTERM
        60 exit 0
            Idle
        ",
    );
}

/// What the user takes back: from the queue at once, from the mailbox when the provider gives it back; a message that the
/// provider took first is not withdrawn.
#[test]
fn a_message_taken_back_is_sent_again() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        31 send m3 three
            m3 sent
            p1 <- m3
        40 withdraw m2
            p1 <- withdraw m2
        41 withdraw m3
            p1 <- withdraw m3
        50 say returned m2 ; steered m3 ; text b
            m2 withdrawn
            m3 delivered
            Working
        60 say done completed
            Idle
        70 withdraw m9
        ",
    );
}

/// Send now: the turn is stopped, then the message runs, once, on the same process.
#[test]
fn a_send_now_is_settled_by_the_turn_it_replaces() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        40 send-now m3 three
            m3 queued
            p1 <- stop
        50 say done interrupted
            m2 withdrawn
            Idle
            Working
            m3 sent
            p1 <- m3
        60 say steered m3 ; text b ; done completed
            m3 delivered
            Working
            Idle
        70 send-now m4 four
            Working
            m4 sent
            p1 <- m4
        80 doc
            user complete: one
            assistant aborted: a
            user complete: two
            user complete: three
            assistant complete: b
            user complete: four
        ",
    );
}

/// MQ-04: a user's Stop pauses the queue until an explicit send.
#[test]
fn a_stop_lets_the_queue_run() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        40 say returned m2
            m2 queued
        50 stop
            p1 <- interrupt
            p1 SIGTERM
        60 exit 0
            Idle
        70 wait
        80 send m3 three
            Working
            m3 sent
            p2 spawned
            p2 <- m3
        90 say taken m3 ; done completed
            m3 delivered
            Idle
            Working
            m2 sent
            p2 <- m2
        100 say steered m2 ; done completed
            m2 delivered
            Working
            Idle
        ",
    );
}

/// MQ-06: the mailbox holds 32: what comes after stays queued, and later messages do not overtake it.
#[test]
fn a_burst_loses_messages_or_changes_their_order() {
    let mut script = String::from("10 send m0 first\n    Working\n    m0 sent\n    p1 spawned\n    p1 <- m0\n");
    script += "20 say taken m0\n    m0 delivered\n";
    for n in 1..=34 {
        script += &format!("{} send m{n} text\n", 30 + n);
        script += &if n <= 32 { format!("    m{n} sent\n    p1 <- m{n}\n") } else { format!("    m{n} queued\n") };
    }
    // One is taken: there is room, but m33 and m34 came before m35.
    script += "100 say steered m1\n    m1 delivered\n    Working\n110 send m35 text\n    m35 queued\n";
    for n in 2..=32 {
        script += &format!("{} say steered m{n}\n    m{n} delivered\n    Working\n", 120 + n);
    }
    script += "200 say done completed\n    Idle\n    Working\n    m33 sent\n    p1 <- m33\n";
    script += "210 say steered m33\n    m33 delivered\n    Working\n220 send m36 text\n    m36 queued\n";
    script += "230 say done completed\n    Idle\n    Working\n    m34 sent\n    p1 <- m34\n";
    script += "240 say steered m34 ; done completed\n    m34 delivered\n    Working\n    Idle\n    Working\n    m35 sent\n    p1 <- m35\n";
    check(&script);
}

/// A driver that takes no steer: the message waits for the end of the turn and of the run.
#[test]
fn a_message_for_a_driver_that_cannot_steer_is_lost() {
    check(
        "
        0 chat mock
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 queued
        40 say done completed
            Idle
            p1 <- end
            p1 SIGTERM
            Working
            m2 sent
        50 exit 0
            p2 spawned
            p2 <- m2
        60 say taken m2 ; done completed
            m2 delivered
            Idle
            p2 <- end
            p2 SIGTERM
        70 doc
            user complete: one
            assistant complete: a
            user complete: two
        ",
    );
}

/// A message that was sent after a stop in place is none of the stopped turn: it goes on waiting, and is delivered when taken.
#[test]
fn a_message_after_a_stop_is_withdrawn_with_it() {
    check(
        "
        20 begun m1 one
        20 say text a
        30 send m2 two
            m2 sent
            p1 <- m2
        40 stop-turn
            p1 <- stop
        50 send m3 three
            m3 sent
            p1 <- m3
        60 say done interrupted
            m2 withdrawn
            Working
        70 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
        ",
    );
}
