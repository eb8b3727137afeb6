//! Stop in place, interrupt, and results that come too late.

use crate::script::check;

/// CL-16, C6: a stop over a held Done: the old Done becomes the stop's end and never settles what is sent next.
#[test]
fn a_held_done_settles_the_replacement() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        .result ok a
        stop
            > interrupt engine_stop_1 cancel_queued
        response engine_stop_1 {"cancelled":["b"],"still_queued":[]}
        cancelled b
            note withdrawn-lifecycle
        +3000
            (3000 stop-settle)
            done interrupted Done.
        steer c Instead
            > user c now: Instead
        .queued c
        started c
            steered c
        +60000
        result ok c
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-17, C7: a fast result for a new message is no duplicate of the stop's.
#[test]
fn a_fast_genuine_result_is_dropped() {
    check(
        r#"
        .turn a
        .stop
        .response engine_stop_1 {"still_queued":[]}
        result aborted a
            usage 10/5
            done interrupted
        steer b More
            > user b now: More
        replay b
            steered b
        result ok
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-18, C7: a second result without uuids within 3,000 ms of the stop's Done is dropped whole; at 3,000 ms it is not.
#[test]
fn the_second_result_of_a_stop_counts() {
    check(
        r#"
        .turn a
        .stop
        .response engine_stop_1 {"still_queued":[]}
        result aborted a
            usage 10/5
            done interrupted
        +2999
        result aborted
            note late-result
        +1
        result aborted
            note absorbed-result
        "#,
    );
}

/// CL-18: after the window, with output in between, a result without uuids ends that output's turn.
#[test]
fn content_after_a_stop_is_never_ended() {
    check(
        r#"
        .turn a
        .stop
        .result aborted a
        +10
        says m2 Late words
            text [whole] Late words
            context 101
            message #1 closed
        result aborted
            usage 10/5
            done interrupted
        "#,
    );
}

/// CL-54, C7: a real result that comes long after the stop's synthetic end names a message that is settled.
#[test]
fn a_late_result_settles_the_next_turn() {
    check(
        r#"
        .turn a
        .stop
        .response engine_stop_1 {"still_queued":[]}
        +3000
            (3000 stop-settle)
            done interrupted synthetic: stop-settle
        .steer b More
        .started b
        +10000
        result aborted a
            note late-result
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// C7: what a stopped turn says after its synthetic end is a turn of the background, ended by its own late result.
#[test]
fn a_late_turn_is_never_ended() {
    check(
        r#"
        .turn a
        .stop
        .response engine_stop_1 {"still_queued":[]}
        .+3000
        says m2 Late words
            text [whole] Late words
            context 101
            message #1 closed
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// CL-50: the CLI echoes our own answers: only the stop's own answer arms its settle.
#[test]
fn an_echo_is_taken_for_the_stops_answer() {
    check(
        r#"
        .turn a
        .ask r1 Bash {"command":"ls"}
        .answer r1 Allow once
        .stop
        response r1 {"behavior":"allow"}
        response int_1 {}
        +9999
        response engine_stop_1 {"still_queued":[]}
        +3000
            (3000 stop-settle)
            done interrupted synthetic: stop-settle
        "#,
    );
}

/// CL-50, K15: an answer to the stop counts also after its deadline.
#[test]
fn a_late_answer_ends_no_stop() {
    check(
        r#"
        .turn a
        .stop
        +10000
            (10000 control-deadline)
            note control-deadline
        response engine_stop_1 {"still_queued":[]}
        +3000
            (3000 stop-settle)
            done interrupted synthetic: stop-settle
        "#,
    );
}

/// §5.6: a second stop of one turn is ignored.
#[test]
fn a_second_stop_is_written() {
    check(
        r#"
        .turn a
        stop
            > interrupt engine_stop_1 cancel_queued
        stop
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// §5.6: a stop takes back what waits: what the CLI still has queued is asked back, and what it starts all the same is
/// nobody's.
#[test]
fn a_withdrawn_message_is_steered() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        stop
            > interrupt engine_stop_1 cancel_queued
        response engine_stop_1 {"still_queued":["b","zz"]}
            > cancel_async_message engine_cancel_2 b
        result aborted a
            usage 10/5
            done interrupted
        started b
            note withdrawn-lifecycle
        replay b
            note withdrawn-replay
        says m2 Words of b
            text [whole] Words of b
            context 101
            message #1 closed
        result ok b
            usage 10/5
            fork point #1 u10
            done completed Done.
        response engine_cancel_2 {"cancelled":false}
        "#,
    );
}

/// §19.3: a message sent after the stop is not the stop's: it stays, also when the CLI lists it.
#[test]
fn a_stop_takes_the_next_message_back() {
    check(
        r#"
        .turn a
        .stop
        .steer b Instead
        .queued b
        response engine_stop_1 {"still_queued":["b"]}
        result aborted a
            usage 10/5
            done interrupted
        started b
            steered b
        "#,
    );
}

/// §19.3: a result that comes while the stop is on its way ends the turn as interrupted; the stop's answer then ends
/// nothing.
#[test]
fn a_crossing_stop_ends_the_next_turn() {
    check(
        r#"
        .turn a
        says m1 Words
            text [whole] Words
            context 101
            message #1 closed
        stop
            > interrupt engine_stop_1 cancel_queued
        result ok a
            usage 10/5
            done interrupted Done.
        response engine_stop_1 {"still_queued":[]}
        .steer b More
        started b
            steered b
        +5000
        "#,
    );
}

/// CL-22: a stop in place ends no process and no background task.
#[test]
fn a_stop_kills_background_work() {
    check(
        r#"
        .turn a
        background k1
            background 1
        stop
            > interrupt engine_stop_1 cancel_queued
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// C8: while a stop is in flight a result of the process still ends nothing.
#[test]
fn a_follow_up_ends_a_stopped_turn() {
    check(
        r#"
        .turn a
        .stop
        result empty origin
            note absorbed-result
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// §5.6: nothing is open: there is nothing to stop.
#[test]
fn a_stop_between_turns_is_written() {
    check(
        r#"
        .parked
        stop
        "#,
    );
}

/// CL-06, D8: a CLI that ignores the interrupt: SIGTERM at 2,000 ms, SIGKILL 3,000 later, Interrupted.
#[test]
fn an_interrupt_waits_for_ever() {
    check(
        r#"
        .turn a
        interrupt
            > interrupt int_1
        interrupt
        +1999
        +1
            (1 interrupt-grace)
            signal Term
        +2999
        +1
            (1 kill-grace)
            signal Kill
        gone SIGKILL
            reaped
            done interrupted
            ended
        "#,
    );
}

/// D8: an interrupt that works ends the turn by its result; the ladder stands until the process is gone.
#[test]
fn an_interrupted_process_is_left_alone() {
    check(
        r#"
        .turn a
        .interrupt
        result aborted a
            usage 10/5
            done interrupted
        +2000
            (2000 interrupt-grace)
            signal Term
        gone SIGTERM
            reaped
            ended
        +10000
        "#,
    );
}

/// K28: the user's cancel wins over the exit that it caused.
#[test]
fn a_stopped_turn_is_errored_by_the_exit() {
    check(
        r#"
        .turn a
        .stop
        gone 1
            reaped
            done interrupted
            ended
        "#,
    );
}

/// CL-58: what a killed agent says after its end stays under its own tag, and the marker is no steer.
#[test]
fn a_killed_agent_is_steered_by_its_marker() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        .task k1 t1
        .stop
        updated k1 killed
            [t1] done interrupted
        notified k1 stopped
        [t1] returns c1 error Killed
            [t1] returned c1 error Killed
        [t1] user [Request interrupted by user for tool use]
        "#,
    );
}

/// CL-56: somebody else's interrupt: Interrupted, without an error text.
#[test]
fn a_foreign_interrupt_is_an_error() {
    check(
        r#"
        .turn a
        user [Request interrupted by user]
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// A stop of the run while a message waits: it is the user's again, so that the CLI takes it opens no turn.
#[test]
fn a_killed_run_is_reopened_by_what_waited() {
    check(
        r#"
        .turn a
        result ok a
            usage 10/5
            done completed Done.
        steer b More
            > user b now: More
        queued b
        interrupt
            > interrupt int_1
        started b
            note withdrawn-lifecycle
        "#,
    );
}
