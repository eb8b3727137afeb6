//! Questions and approvals.

use crate::rig::check;

/// K20: a message typed while a question is open waits as a steer; the question stays, and stays shown.
#[test]
fn a_message_hides_the_question_that_is_open() {
    check(
        "
        20 begun m1 one
        20 say ask r1
            card r1 open
            AwaitingInput
        30 send m2 two
            m2 sent
            p1 <- m2
        40 say text hm
        50 answer yes
            card r1 closed
            Working
            p1 <- answer r1 yes
        60 say done completed ; steered m2 ; done completed
            Working
            m2 delivered
            Idle
        70 doc
            user complete: one
            assistant complete: question closed | hm
            user complete: two
        ",
    );
}

/// RL-14, K19: every path that ends a turn closes its cards once; the answer is empty.
#[test]
fn a_card_outlives_its_turn() {
    check(
        "
        20 begun m1 one
        20 say ask r1 ; ask r2
            card r1 open
            AwaitingInput
            card r2 open
        30 say done completed
            card r1 closed
            card r2 closed
            Working
            Idle
            p1 <- answer r1 nothing
            p1 <- answer r2 nothing
        40 answer yes
        50 send m2 two
            Working
            m2 sent
            p1 <- m2
        60 say steered m2 ; ask r3
            m2 delivered
            Working
            card r3 open
            AwaitingInput
        70 stop-turn
            card r3 closed
            Working
            p1 <- answer r3 nothing
            p1 <- stop
        80 say ask r4
            p1 <- decline r4
        90 say done interrupted
            Idle
        100 send m3 three
            Working
            m3 sent
            p1 <- m3
        110 say steered m3 ; ask r5
            m3 delivered
            Working
            card r5 open
            AwaitingInput
        120 stop
            card r5 closed
            Working
            p1 <- answer r5 nothing
            p1 <- interrupt
            p1 SIGTERM
        130 say ask r6 ; done interrupted ; ask r7
            Idle
            p1 <- decline r6
            p1 <- end
        140 exit 0
        ",
    );
}

/// A question of a parked run is turned down; one that the provider withdraws is closed and not answered; one that a driver
/// makes up by itself is dropped.
#[test]
fn a_question_nobody_can_answer_stays_open() {
    check(
        "
        20 begun m1 one
        20 say ask r1
            card r1 open
            AwaitingInput
        30 say unask r1 ; unask r9
            card r1 closed
            Working
        40 say asked made-up
        50 say done completed
            Idle
        60 say ask r2
            p1 <- decline r2
        70 journal
            +1 inputRequested
            +2 inputResolved
            +3 done completed
        ",
    );
}
