//! How a typed fork ends: once, directly before the Done, with what its notification said.

use crate::script::check;

/// TF-04, TF-25: a fork that failed: its chip fails, the turn completes, the two settle events stand directly before the
/// Done, once.
#[test]
fn a_failed_fork_settles_as_the_turn_does() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        notified k9 failed
        synthetic API Error: 400
            text [whole] API Error: 400
            message #1 closed
        replay a
        result fork a
            usage 10/5
            fork point #1 u7
            [forked-command-fanout-k9] done errored
            returned forked-command-fanout-k9 error
            done completed Done.
        completed a
        notified k9 failed
        updated k9 failed
        "#,
    );
}

/// TF-07: a fork is settled before the Done of an interrupted turn, and before that of a result that cannot be read.
#[test]
fn an_interrupted_turn_leaves_its_fork_running() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        result aborted a
            usage 10/5
            [forked-command-fanout-k9] done interrupted
            returned forked-command-fanout-k9 ok
            done interrupted
        "#,
    );
}

/// TF-07: the same for a result whose fields cannot be read.
#[test]
fn an_unreadable_result_leaves_its_fork_running() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        result unreadable a
            usage 10/5
            [forked-command-fanout-k9] done errored
            returned forked-command-fanout-k9 error
            done errored error: Claude Code reported an error without words.
        "#,
    );
}

/// TF-08: a stop that brings no result settles the fork after its time, and no tool is left open: the next message goes
/// `now`.
#[test]
fn a_stopped_fork_runs_for_ever() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        .calls m1 t1 Bash {"command":"sleep 9"}
        stop
            > interrupt engine_stop_1 cancel_queued
        +2000
        response engine_stop_1 {"still_queued":[]}
        +2999
        +1
            (1 stop-settle)
            [forked-command-fanout-k9] done interrupted
            returned forked-command-fanout-k9 ok
            done interrupted synthetic: stop-settle
        steer b More
            > user b now: More
        "#,
    );
}

/// TF-08: what the notification said counts also there.
#[test]
fn a_stopped_fork_forgets_its_status() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        .stop
        .notified k9 failed
        .response engine_stop_1 {"still_queued":[]}
        +3000
            (3000 stop-settle)
            [forked-command-fanout-k9] done errored
            returned forked-command-fanout-k9 error
            done interrupted synthetic: stop-settle
        "#,
    );
}

/// TF-09: a fork's result is only a boundary for the message that waits: the fork settles before the Steered, and the one
/// Done is the message's own.
#[test]
fn the_fork_settles_in_the_reply_of_the_next_message() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        steer b More
            > user b next: More
        queued b
        notified k9 completed
        result fork a
            usage 10/5
            [forked-command-fanout-k9] done completed
            returned forked-command-fanout-k9 ok
        completed a
        started b
            steered b
        says m2 Reply
            text [whole] Reply
            context 101
            message #2 closed
        result ok b
            usage 10/5
            fork point #2 u11
            done completed Done.
        "#,
    );
}

/// TF-13: a second fork settles the first with its stored status, else as interrupted.
#[test]
fn a_second_fork_overwrites_the_first() {
    check(
        r#"
        .turn a
        .fork k7 /probe One
        .notified k7 failed
        fork k8 /probe Two
            [forked-command-probe-k7] done errored
            returned forked-command-probe-k7 error
            call forked-command-probe-k8 Agent: /probe
            [forked-command-probe-k8] user Two
        fork k9 /probe Three
            [forked-command-probe-k8] done interrupted
            returned forked-command-probe-k8 ok
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user Three
        .notified k9 completed
        result fork a
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}

/// TF-23: the end of the stream settles the fork with what its notification said.
#[test]
fn a_fork_outlives_its_stream() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        .notified k9 completed
        .stderr boom
        gone 1
            reaped
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done errored error: Claude Code exited with code 1: boom
            ended
        "#,
    );
}

/// TF-23: and as interrupted when it said nothing, whatever the turn became.
#[test]
fn a_crash_makes_the_fork_a_failure() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        gone SIGKILL
            reaped
            [forked-command-probe-k9] done interrupted
            returned forked-command-probe-k9 ok
            done errored error: Claude Code was ended by SIGKILL
            ended
        "#,
    );
}

/// TF-26, LR-03: a fork that somebody else stopped: the turn is Interrupted, though the result is a success.
#[test]
fn a_stopped_fork_completes_its_turn() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        notified k9 stopped
        result fork a
            usage 10/5
            [forked-command-probe-k9] done interrupted
            returned forked-command-probe-k9 ok
            done interrupted Done.
        cancelled a
        "#,
    );
}

/// TF-26: a stop of ours while the fork runs.
#[test]
fn a_fork_stopped_by_us_is_completed() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        stop
            > interrupt engine_stop_1 cancel_queued
        .notified k9 stopped
        response engine_stop_1 {"still_queued":[]}
        result fork a
            usage 10/5
            [forked-command-probe-k9] done interrupted
            returned forked-command-probe-k9 ok
            done interrupted Done.
        cancelled a
        +5000
        "#,
    );
}

/// TF-27: the orphans' result of a resumed session is not the fork's.
#[test]
fn the_orphans_settle_a_running_fork() {
    check(
        r#"
        .start a /probe
        .notified o1 stopped
        .queued a
        .started a
        .fork k9 /probe Body
        result empty origin
            note absorbed-result
        .notified k9 completed
        result fork a
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}
