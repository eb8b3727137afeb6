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

/// D4: the CLI still holds the first prompt in its queue and takes a later message first: the prompt waits as a steer does, the
/// result of the other is a boundary, and the prompt has a reply of its own.
#[test]
fn a_first_prompt_that_was_overtaken_loses_its_turn() {
    check(
        r#"
        .start a Hello
        .init
        queued a
        steer b More
            > user b now: More
        queued b
        started b
            steered b
        result ok b
            usage 10/5
        started a
            steered a
        result ok a
            usage 10/5
            done completed Done.
        "#,
    );
}
