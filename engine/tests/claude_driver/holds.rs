//! A Done that waits for a message: how long, and what supersedes or releases it.

use crate::script::check;

/// CL-13: a CLI without lifecycle that never acknowledges: one Steered and the held Done exactly 5,000 ms after the
/// result.
#[test]
fn a_silent_cli_holds_the_done_for_ever() {
    check(
        r#"
        .start a Hello
        .init
        .replay a
        .steer b More
        result ok a
            usage 10/5
        +4999
        +1
            (1 unreported-settle)
            steered b
            done completed Done.
        "#,
    );
}

/// CL-14, C4: a steer that was taken holds nothing back: a long tool runs on after it.
#[test]
fn a_long_tool_ends_the_turn_early() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        started b
            steered b
        .calls m1 t1 Bash {"command":"sleep 60"}
        +60000
        returns t1 ok Slept
            returned t1 ok Slept
        result ok a b
            usage 10/5
            fork point #2 u7
            done completed Done.
        "#,
    );
}

/// CL-15, C2, C4: a message queued before the result and started after it: the result is a boundary, held without a time-
/// out.
#[test]
fn the_boundary_ends_the_turn() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        says m1 First
            text [whole] First
            context 101
            message #1 closed
        result ok a
            usage 10/5
        completed a
        +600000
        started b
            fork point #1 u6
            steered b
        says m2 Second
            text [whole] Second
            context 101
            message #2 closed
        result ok b
            usage 10/5
            fork point #2 u10
            done completed Done.
        completed b
        "#,
    );
}

/// CL-19, C5: a queued message that the CLI cancels before it started: the Done at once, no Steered, the message given
/// back.
#[test]
fn a_cancelled_message_holds_the_done() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        .result ok a
        +1000
        cancelled b
            returned unread b: cancelled
            done completed Done.
        +60000
        "#,
    );
}

/// CL-38: a CLI that reports lifecycle but never queues the message: 30,000 ms, then Steered and Done. The fork point
/// belongs to the reply that closes.
#[test]
fn an_unacknowledged_message_holds_the_done_for_ever() {
    check(
        r#"
        .turn a
        says m1 Words
            text [whole] Words
            context 101
            message #1 closed
        .steer b More
        result ok a
            usage 10/5
        +29999
        +1
            (1 unacknowledged-settle)
            fork point #1 u5
            steered b
            done completed Done.
        "#,
    );
}

/// C-hold: lifecycle that is reported only after the result: the longer time holds from then on, also when the frame is
/// about a message of somebody else.
#[test]
fn the_short_hold_ends_a_reporting_cli() {
    check(
        r#"
        .start a Hello
        .replay a
        .steer b More
        .result ok a
        +4000
        queued zz
            note foreign-lifecycle
        +29999
            (6000 control-deadline)
            note control-deadline
        +1
            (1 unacknowledged-settle)
            steered b
            done completed Done.
        "#,
    );
}

/// C-hold: a timer does not run while a message is queued, and runs again when only unacknowledged ones are left.
#[test]
fn the_hold_runs_while_a_message_is_queued() {
    check(
        r#"
        .turn a
        .steer b One
        .steer c Two
        .result ok a
        +20000
        queued b
        +60000
        cancelled b
            returned unread b: cancelled
        +29999
        +1
            (1 unacknowledged-settle)
            steered c
            done completed Done.
        "#,
    );
}

/// CL-45: a follow-up of background work speaks while a message is queued: its Done is held and superseded, the message
/// settles with its own result.
#[test]
fn a_follow_up_settles_the_queued_message() {
    check(
        r#"
        .parked
        .background k1
        says m5 Background words
            text [whole] Background words
            context 101
            message #1 closed
        .steer b More
        .queued b
        result ok origin
            usage 10/5
        started b
            fork point #1 u8
            steered b
        says m6 Reply
            text [whole] Reply
            context 101
            message #2 closed
        result ok b
            usage 10/5
            fork point #2 u12
            done completed Done.
        "#,
    );
}

/// C2: a boundary that failed leaves its error in the reply that closes, once.
#[test]
fn the_error_of_a_boundary_is_lost() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        result max-turns a
            usage 10/5
        started b
            error The turn reached its limit of model calls.
            steered b
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// C2, CL-42: an error that the reply shows already is not shown again.
#[test]
fn the_error_of_a_boundary_is_doubled() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        api-error API Error: 529
            error API Error: 529
            message #1 closed
        result api-error a
            usage 10/5
        started b
            steered b
        "#,
    );
}

/// D3: the fork point of a boundary goes before the Steered; one of an older reply is never told later.
#[test]
fn a_fork_point_lands_on_the_next_reply() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        says m1 First
            text [whole] First
            context 101
            message #1 closed
        result ok a
            usage 10/5
        started b
            fork point #1 u6
            steered b
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// §5.6 EOF: a held Done is released when the stream ends.
#[test]
fn the_end_of_the_stream_swallows_a_held_done() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        .result ok a
        gone 0
            reaped
            done completed Done.
            ended
        "#,
    );
}

/// C-hold, D4: what the CLI says of a message after its hold ran out opens no second reply, and its result still ends what
/// it showed.
#[test]
fn a_message_given_up_is_steered_twice() {
    check(
        r#"
        .turn a
        .steer b More
        .result ok a
        +30000
            (30000 unacknowledged-settle)
            steered b
            done completed Done.
        queued b
        started b
        replay b
        says m2 Late reply
            text [whole] Late reply
            context 101
            message #2 closed
        result ok b
            usage 10/5
            fork point #2 u9
            done completed Done.
        completed b
        "#,
    );
}
