//! Messages to a live process: what confirms them, and how long a Done waits for them.

use crate::script::check;

/// CL-05, C1: what was streamed stands before the Steered, what comes later behind it.
#[test]
fn old_text_lands_in_the_new_reply() {
    check(
        r#"
        .turn a
        .message m1
        delta 0 Old words
            text [m1/0] Old words
        steer b More
            > user b now: More
        queued b
        result cut a
            usage 10/5
        cancelled a
        started b
            steered b
        .message m2
        delta 0 New words
            text [m2/0] New words
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-12, C3: without lifecycle a receipt for the later steer confirms the earlier one too: two Steered, one Done.
#[test]
fn an_earlier_steer_is_never_confirmed() {
    check(
        r#"
        .start a Hello
        .init
        .replay a
        steer b One
            > user b now: One
        steer c Two
            > user c now: Two
        result ok a
            usage 10/5
        replay c
            steered b
            steered c
        result ok c
            usage 10/5
            done completed Done.
        "#,
    );
}

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

/// CL-52, C3: a typed skill is queued, a plain message after it is folded first: each Steered once, in the order taken.
#[test]
fn a_later_start_confirms_the_queued_skill() {
    check(
        r#"
        .turn a
        .calls m1 t1 Bash {"command":"sleep 9"}
        steer b /skill
            > user b next: /skill
        queued b
        steer c Plain
            > user c next: Plain
        queued c
        .returns t1 ok Slept
        started c
            steered c
        result ok a c
            usage 10/5
        completed c
        completed a
        started b
            steered b
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-53: receipt and start are lost; the result that names the message confirms and settles it.
#[test]
fn a_lost_receipt_holds_the_done() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        result ok a
            usage 10/5
        says m2 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result ok b
            steered b
            usage 10/5
            done completed Done.
        +60000
        "#,
    );
}

/// D4: `completed` of a message whose start was lost confirms it.
#[test]
fn a_lost_start_loses_the_steered() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        .result ok a
        completed b
            steered b
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

/// CL-35, CL-04: `next` while a top-level tool is open, `now` otherwise; the text is written as it is, a command first.
#[test]
fn a_steer_aborts_an_open_tool() {
    check(
        r#"
        with effort high
        start a /probe think hard
            spawn CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1 claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --thinking-display summarized --permission-prompt-tool stdio --effort high --permission-mode default
            > initialize engine_initialize
            > user a: /probe think hard
        .queued a
        .started a
        .calls m1 t1 mcp__engine__spawn {}
        steer b One
            > user b next: One
        .returns t1 ok Output
        steer c Two
            > user c now: Two
        "#,
    );
}

/// CL-35: a tool of a child is none of the parent's.
#[test]
fn a_childs_tool_holds_a_steer_back() {
    check(
        r#"
        .turn a
        [t1] calls c1 Bash {"command":"sleep 9"}
            [t1] call c1 Exec sleep 9
        steer b More
            > user b now: More
        "#,
    );
}

/// §5.6 Done: the end of a turn closes its tools: a result that was lost holds no later message back.
#[test]
fn a_lost_tool_result_holds_steers_back() {
    check(
        r#"
        .turn a
        .calls m1 t1 Bash {"command":"sleep 9"}
        .result ok a
        steer b One
            > user b now: One
        .started b
        .calls m2 t2 Bash {"command":"sleep 9"}
        .steer c Two
        .queued c
        .result ok b
        steer d Three
            > user d now: Three
        "#,
    );
}

/// CL-55: set_model lets the CLI replay a message that nobody sent.
#[test]
fn a_foreign_replay_is_taken_for_a_receipt() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        replay zz
            note foreign-replay
        started zz
            note foreign-lifecycle
        "#,
    );
}

/// D4: every message is confirmed once, however often the CLI says so.
#[test]
fn a_message_is_steered_twice() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        .result ok a
        started b
            steered b
        replay b
        started b
        completed b
        "#,
    );
}

/// I3: a message is taken back: the CLI's cancelled tells, and its answer adds nothing.
#[test]
fn a_withdrawn_message_stays() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        withdraw b
            > cancel_async_message engine_cancel_1 b
        withdraw b
        cancelled b
            returned unread b: withdrawn
        response engine_cancel_1 {"cancelled":true}
        withdraw b
            too late
        "#,
    );
}

/// I3: a CLI without lifecycle tells only by its answer.
#[test]
fn the_answer_to_a_take_back_is_not_believed() {
    check(
        r#"
        .start a Hello
        .replay a
        .steer b More
        .result ok a
        withdraw b
            > cancel_async_message engine_cancel_1 b
        response engine_cancel_1 {"cancelled":true,"message_uuid":"b"}
            returned unread b: withdrawn
            done completed Done.
        "#,
    );
}

/// I3: too late: the message stays, and may be asked back again.
#[test]
fn a_refused_take_back_loses_the_message() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        withdraw b
            > cancel_async_message engine_cancel_1 b
        response engine_cancel_1 {"cancelled":false}
        withdraw b
            > cancel_async_message engine_cancel_2 b
        started b
            steered b
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

/// D3: a message folded into a turn closes a reply that has not finished: no point of it is told.
#[test]
fn a_fork_point_of_the_older_reply_is_told() {
    check(
        r#"
        .turn a
        .steer b More
        .queued b
        says m1 First
            text [whole] First
            context 101
            message #1 closed
        started b
            steered b
        result ok a b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// §5.6: a first prompt whose start the CLI did not tell was taken before the steer that it does tell.
#[test]
fn the_first_prompt_is_never_taken() {
    check(
        r#"
        .start a Hello
        .steer b More
        replay b
            taken a
            steered b
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
