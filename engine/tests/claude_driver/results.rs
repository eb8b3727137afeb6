//! Whose result it is, what it means, and what stands around a Done.

use crate::script::check;

/// CL-02, C9: a wake after the Done has a Done of its own on the same stream.
#[test]
fn a_wake_is_never_ended() {
    check(
        r#"
        .turn a
        result ok a
            usage 10/5
            done completed Done.
        completed a
        +5000
        init
        says m2 The task is done.
            text [whole] The task is done.
            context 101
            message #1 closed
        result ok origin
            usage 10/5
            fork point #1 u8
            done completed Done.
        "#,
    );
}

/// CL-44, C9: two tasks end close together: the first follow-up is empty and shows nothing, the second is a turn.
#[test]
fn an_empty_follow_up_is_a_turn() {
    check(
        r#"
        .parked
        .background k1 k2
        updated k1 completed
            background 1
        notified k1 completed
        background k2
            background 1
        init
        result empty origin
            note absorbed-result
        notified k2 completed
            background 0
        background
            background 0
        init
        says m2 Both are done.
            text [whole] Both are done.
            context 101
            message #1 closed
        result ok origin
            usage 10/5
            fork point #1 u16
            done completed Done.
        "#,
    );
}

/// CL-21, C8, K6: orphans of a killed session: their result comes after init and before the message starts; the prompt
/// stays open.
#[test]
fn the_orphans_end_the_prompt() {
    check(
        r#"
        with resume s1
        .start a Go on
        notified o1 stopped
        notified o2 stopped
        queued a
        init
            session s1 #1
        result empty origin
            note absorbed-result
        started a
            taken a
        init
        says m1 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result ok a
            usage 10/5
            fork point #1 u8
            done completed Done.
        "#,
    );
}

/// CL-21: the same with the start before that result.
#[test]
fn the_orphans_end_the_started_prompt() {
    check(
        r#"
        .start a Go on
        queued a
        started a
            taken a
        init
            session s1 #1
        result empty origin
            note absorbed-result
        result ok a
            usage 10/5
            done completed Done.
        "#,
    );
}

/// C8: uuids that are not ours make a result the process's.
#[test]
fn a_foreign_result_ends_the_prompt() {
    check(
        r#"
        .turn a
        result ok zz
            note absorbed-result
        result ok a
            usage 10/5
            done completed Done.
        "#,
    );
}

/// K6: without uuids and origin a result belongs to the turn that is open.
#[test]
fn an_old_cli_never_ends_a_turn() {
    check(
        r#"
        .start a Hello
        .init
        says m1 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result ok
            usage 10/5
            fork point #1 u2
            done completed Done.
        result ok
            note absorbed-result
        "#,
    );
}

/// CL-42: an API failure: Errored with the result's text, shown by the Error and told by the Done, no reply text.
#[test]
fn an_api_failure_completes() {
    check(
        r#"
        .turn a
        api-error API Error: 529
            error API Error: 529
            message #1 closed
        result api-error a
            usage 10/5
            done errored API Error: 529 error: API Error: 529
        cancelled a
        "#,
    );
}

/// CL-43, CL-07: limits have words of their own, a success without one is none.
#[test]
fn a_limit_is_told_in_raw_codes() {
    check(
        r#"
        .turn a
        result max-turns a
            usage 10/5
            done errored error: The turn reached its limit of model calls.
        .parked
        .steer b More
        .started b
        result budget b
            usage 10/5
            done errored error: The turn reached its budget.
        .steer c More
        .started c
        result structured c
            usage 10/5
            done errored error: The model gave no structured output of the required form.
        .steer d More
        .started d
        result unreadable d
            usage 10/5
            done errored error: Claude Code reported an error without words.
        .steer e More
        .started e
        result missing e
            usage 10/5
            done errored error: No conversation found with session ID: s9
        "#,
    );
}

/// CL-43: one failure, then success: Completed.
#[test]
fn a_retry_that_works_is_an_error() {
    check(
        r#"
        .turn a
        retry
            note provider-retry
            beat
        retry
            note provider-retry
            beat
        says m1 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result ok a
            usage 10/5
            fork point #1 u7
            done completed Done.
        "#,
    );
}

/// CL-57 in part: an unknown session: one result, no init, and the exit adds nothing.
#[test]
fn the_text_of_a_missing_session_is_lost() {
    check(
        r#"
        with resume s9
        .start a Hello
        result missing
            usage 10/5
            done errored error: No conversation found with session ID: s9
        gone 1
            reaped
            ended
        "#,
    );
}

/// K3: a result settles the turn; an exit code after it changes nothing.
#[test]
fn an_exit_code_fails_a_settled_turn() {
    check(
        r#"
        .turn a
        result ok a
            usage 10/5
            done completed Done.
        gone 1
            reaped
            ended
        "#,
    );
}

/// K28: an exit inside a turn, code 0 included: Errored with the code and the tail.
#[test]
fn an_exit_inside_a_turn_is_a_success() {
    check(
        r#"
        .turn a
        .stderr first line
        .stderr Authorization: Bearer abc
        gone 0
            reaped
            done errored error: Claude Code exited with code 0: first line\nAuthorization: Bearer [redacted]
            ended
        "#,
    );
}

/// D2, §5.5: the order at the end of a turn: window, usage, fork point, Done.
#[test]
fn usage_comes_after_the_done() {
    check(
        r#"
        .turn a
        says m1 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result window a
            window 1000
            usage 10/5
            fork point #1 u5
            done completed Done.
        "#,
    );
}

/// K5, D1: a repeated result is a late duplicate: nothing of it counts.
#[test]
fn a_repeated_result_settles_twice() {
    check(
        r#"
        .turn a
        result ok a
            usage 10/5
            done completed Done.
        again
            note late-result
        .steer b More
        .started b
        raw {"type":"result","subtype":"success","is_error":false,"user_message_uuid":"a","usage":{"input_tokens":1,"output_tokens":1}}
            note late-result
        result ok b
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-60: stdin closed while background work runs: its follow-ups are shown, then a clean end.
#[test]
fn a_closed_stdin_ends_the_run() {
    check(
        r#"
        .turn a
        .background k1
        .result ok a
        close
            stdin closed
        notified k1 completed
            background 0
        says m2 The task is done.
            text [whole] The task is done.
            context 101
            message #1 closed
        result ok origin
            usage 10/5
            fork point #1 u8
            done completed Done.
        gone 0
            reaped
            ended
        "#,
    );
}

/// CL-53: a result for a first prompt whose start was lost.
#[test]
fn a_prompt_without_a_start_never_ends() {
    check(
        r#"
        .start a Hello
        says m1 Reply
            text [whole] Reply
            context 101
            message #1 closed
        result ok a
            taken a
            usage 10/5
            fork point #1 u1
            done completed Done.
        "#,
    );
}
