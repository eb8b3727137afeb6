//! The queue: when its head is sent, and what the user does with what waits.

use crate::rig::check;

/// MQ-01, MQ-02, MQ-16: idle, a row is drained at once; in a turn rows are held, then one is sent per idle edge, in order.
#[test]
fn a_queue_is_drained_in_a_turn_or_out_of_order() {
    check(
        r#"
        0 show queue
        10 rpc QueueMessage {"chat":"c","message":"m1","text":"one"}
            answer 1: refused, There is no chat c.
        15 chat mock steer stop
        20 rpc QueueMessage {"chat":"c","message":"m1","text":"one"}
            m1 queued
            Working
            m1 sent
            p1 spawned
            p1 <- m1
            answer 2: {}
        30 say taken m1
            m1 delivered
        40 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 3: {}
        50 rpc QueueMessage {"chat":"c","message":"m3","text":"three"}
            m3 queued
            queue [m2 m3]
            answer 4: {}
        60 say done completed
            Idle
            Working
            m2 sent
            p1 <- m2
            queue [m3]
        70 say steered m2 ; done completed
            m2 delivered
            Working
            Idle
            Working
            m3 sent
            p1 <- m3
            queue []
        80 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
        "#,
    );
}

/// MQ-10: attachments pending hold the head and what stands behind it.
#[test]
fn a_message_is_sent_without_its_attachments() {
    check(
        r#"
        0 show queue
        5 chat mock steer stop
        10 rpc QueueMessage {"chat":"c","message":"m1","text":"one","attachments":["a","b"]}
            m1 queued
            queue [m1], m1 waits
            answer 1: {}
        20 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m1 m2], m1 waits
            answer 2: {}
        30 rpc SteerQueuedNow {"chat":"c","message":"m1"}
            answer 3: refused, The attachments of this message are not there yet.
        40 rpc AttachmentReady {"chat":"c","message":"m1","attachment":"a"}
            queue [m1 m2], m1 waits
            answer 4: {}
        50 restart
            Idle
            m1 queued
            m2 queued
            queue paused [m1 m2], m1 waits
        60 rpc AttachmentReady {"chat":"c","message":"m1","attachment":"b"}
            queue paused [m1 m2]
            answer 5: {}
        70 send m3 three
            Working
            m3 sent
            p1 spawned
            p1 <- m3
            queue [m1 m2]
        "#,
    );
}

/// MQ-12, MQ-13: an edit changes what is sent, an edit to nothing deletes, a removal is acknowledged; what is gone is never
/// sent and cannot be removed again.
#[test]
fn a_removed_message_is_sent() {
    check(
        r#"
        0 show queue
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 1: {}
        30 rpc QueueMessage {"chat":"c","message":"m3","text":"three"}
            m3 queued
            queue [m2 m3]
            answer 2: {}
        40 rpc QueueMessage {"chat":"c","message":"m4","text":"four"}
            m4 queued
            queue [m2 m3 m4]
            answer 3: {}
        50 rpc EditQueued {"chat":"c","message":"m2","text":"  "}
            m2 withdrawn
            queue [m3 m4]
            answer 4: {"deleted":true}
        60 rpc RemoveQueued {"chat":"c","message":"m3"}
            m3 withdrawn
            queue [m4]
            answer 5: {}
        70 rpc RemoveQueued {"chat":"c","message":"m3"}
            answer 6: refused, This message is not in the queue.
        80 rpc EditQueued {"chat":"c","message":"m4","text":"4"}
            m4 queued
            queue [m4]
            answer 7: {"deleted":false}
        90 say taken m1 ; done completed
            m1 delivered
            Idle
            Working
            m4 sent
            p1 <- m4
            queue []
        100 say steered m4 ; done completed
            m4 delivered
            Working
            Idle
        110 doc
            user complete: one
            user complete: 4
        "#,
    );
}

/// MQ-14: a new order is kept, also over a restart; one that was made for another queue is refused.
#[test]
fn a_new_order_is_lost() {
    check(
        r#"
        0 show queue
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 1: {}
        30 rpc QueueMessage {"chat":"c","message":"m3","text":"three"}
            m3 queued
            queue [m2 m3]
            answer 2: {}
        40 rpc ReorderQueue {"chat":"c","messages":["m3","m2"]}
            queue [m3 m2]
            answer 3: {}
        50 rpc ReorderQueue {"chat":"c","messages":["m3"]}
            answer 4: refused, The queue holds other messages by now.
        60 rpc ReorderQueue {"chat":"c","messages":["m3","m3"]}
            answer 5: refused, The queue holds other messages by now.
        70 say taken m1
            m1 delivered
        80 restart
            Idle
            m1 delivered
            m2 queued
            m3 queued
            queue paused [m3 m2]
        "#,
    );
}

/// MQ-07, MQ-08, MQ-09: a held row waits for the turn's end; steered now, the named one goes into the turn; idle, it is sent as
/// a turn, from wherever it stands.
#[test]
fn a_row_that_is_steered_now_waits_or_another_is_sent() {
    check(
        r#"
        0 show queue
        20 begun m1 one
        30 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 1: {}
        40 rpc QueueMessage {"chat":"c","message":"m3","text":"three"}
            m3 queued
            queue [m2 m3]
            answer 2: {}
        50 rpc SteerQueuedNow {"chat":"c","message":"m3"}
            m3 sent
            p1 <- m3
            queue [m2]
            answer 3: {}
        60 stop
            m3 withdrawn
            p1 <- interrupt
            p1 SIGTERM
            queue paused [m2]
        70 say done interrupted
            Idle
            p1 <- end
        80 exit 0
        90 rpc QueueMessage {"chat":"c","message":"m4","text":"four"}
            m4 queued
            queue paused [m2 m4]
            answer 4: {}
        100 rpc SteerQueuedNow {"chat":"c","message":"m4"}
            Working
            m4 sent
            p2 spawned
            p2 <- m4
            queue [m2]
            answer 5: {}
        "#,
    );
}

/// MQ-11: sent now in a turn, the turn is stopped first.
#[test]
fn a_row_that_is_sent_now_runs_beside_the_turn() {
    check(
        r#"
        0 show queue
        20 begun m1 one
        30 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 1: {}
        40 rpc QueueMessage {"chat":"c","message":"m3","text":"three"}
            m3 queued
            queue [m2 m3]
            answer 2: {}
        50 rpc SendQueuedNow {"chat":"c","message":"m3"}
            p1 <- stop
            queue [m3 m2]
            answer 3: {}
        60 say done interrupted
            Idle
            Working
            m3 sent
            p1 <- m3
            queue [m2]
        70 say steered m3 ; done completed
            m3 delivered
            Working
            Idle
            Working
            m2 sent
            p1 <- m2
            queue []
        "#,
    );
}

/// MQ-17: while a question is open nothing is sent.
#[test]
fn a_queue_is_drained_under_a_question() {
    check(
        r#"
        0 show queue
        20 begun m1 one
        20 say ask r1
            card r1 open
            AwaitingInput
        30 rpc QueueMessage {"chat":"c","message":"m2","text":"two"}
            m2 queued
            queue [m2]
            answer 1: {}
        5000 answer yes
            card r1 closed
            Working
            p1 <- answer r1 yes
        5010 say done completed
            Idle
            Working
            m2 sent
            p1 <- m2
            queue []
        "#,
    );
}

/// RL-17, MQ-05: a driver that takes nothing inside a turn: a steer is held for the turn's end, steered now it goes to the front.
#[test]
fn a_steer_is_sent_into_a_turn_that_takes_none() {
    check(
        r#"
        0 show queue
        5 chat mock
        20 begun m1 one
        30 send m2 two
            m2 queued
            queue [m2]
        40 send m3 three
            m3 queued
            queue [m2 m3]
        50 rpc SteerQueuedNow {"chat":"c","message":"m3"}
            queue [m3 m2]
            answer 1: {}
        60 say done completed
            Idle
            p1 <- end
            p1 SIGTERM
            Working
            m3 sent
            queue [m2]
        70 exit 0
            p2 spawned
            p2 <- m3
        "#,
    );
}

/// RL-12: a message that was accepted, and waits for the old process to go, is not dispatched after a Stop.
#[test]
fn a_message_runs_after_the_stop_that_cancelled_it() {
    check(
        r#"
        20 begun m1 one
        30 stop
            p1 <- interrupt
            p1 SIGTERM
        40 send m2 two
            m2 sent
        50 stop
            m2 withdrawn
        60 say done interrupted
            Idle
            p1 <- end
        70 exit 0
        5000 wait
        "#,
    );
}
