//! What the frames of the main thread become: text once, one session, and nothing that is not the reply.

use crate::script::check;

/// CL-01, N4, D5: init comes once a turn; the session starts once, and a child's words are never the parent's.
#[test]
fn a_second_init_starts_a_second_session() {
    check(
        r#"
        .start a Hello
        init
            session s1 #1
        [t1] says Child words
            [t1] text Child words\n\n
        init
        says m1 Words
            text [whole] Words
            context 101
            message #1 closed
        "#,
    );
}

/// CL-59, D10: after /clear the session has another id, and the next Done names it.
#[test]
fn a_cleared_session_keeps_its_old_id() {
    check(
        r#"
        .turn a
        reset
            note conversation-reset
        init s2
            note session-changed
        result ok a
            usage 10/5
            done completed Done.
        "#,
    );
}

/// CL-41, D6: a child's frame between two of the parent's closes no message of the parent.
#[test]
fn a_childs_frame_rotates_the_parents_message() {
    check(
        r#"
        .start a Hello
        init
            session s1 #1
        [t1] says Child
            [t1] text Child\n\n
        [t1] calls c1 Bash {"command":"ls"}
            [t1] call c1 Exec ls
        [t1] returns c1 ok Files
            [t1] returned c1 ok Files
        says m1 One
            text [whole] One
            context 101
            message #1 closed
        [t1] says More
            [t1] text More\n\n
        result ok a
            taken a
            usage 10/5
            fork point #1 u5
            done completed Done.
        "#,
    );
}

/// §5.5: deltas are the text; the whole frame of a streamed message adds none.
#[test]
fn streamed_text_is_doubled() {
    check(
        r#"
        .turn a
        message m1
        think 0 Hm
            think [m1/0] Hm
        think 0
            think [m1/0]
        delta 1 Words
            text [m1/1] Words
        input 2 {"a"
            beat
        thinks m1 Hm
            context 101
            message #1 closed
        says m1 Words
            context 101
            message #2 closed
        calls m1 t1 Bash {"command":"ls"}
            call t1 Exec ls
            context 101
            message #3 closed
        end-message
        raw {"type":"assistant","aborted":true,"message":{"id":"m1","content":[{"type":"text","text":"Words"}]}}
            message #4 closed
        "#,
    );
}

/// CL-46: text that the provider takes back and says again under a new id stands once.
#[test]
fn an_abandoned_text_is_doubled() {
    check(
        r#"
        .turn a
        .message m1
        think 0 Hm
            think [m1/0] Hm
        delta 1 Some wor
            text [m1/1] Some wor
        abandon m1 0
            takes back [m1/0]
            takes back [m1/1]
        retry
            note provider-retry
            beat
        .message m2
        delta 0 Some words
            text [m2/0] Some words
        .says m2 Some words
        end-message
        "#,
    );
}

/// CL-47: after the fallback one whole frame brings the text.
#[test]
fn the_text_of_the_fallback_is_missing() {
    check(
        r#"
        .turn a
        .message m1
        .delta 0 Some wor
        abandon m1 0
            takes back [m1/0]
        says m1 Some words
            text [whole] Some words
            context 101
            message #1 closed
        says m2 More words
            text [whole] More words
            context 101
            message #2 closed
        "#,
    );
}

/// CL-48: blocks before the first lost one stay.
#[test]
fn whole_blocks_are_taken_back() {
    check(
        r#"
        .turn a
        .message m1
        .delta 0 One
        .says m1 One
        .delta 1 Two
        .says m1 Two
        .delta 2 Thr
        abandon m1 2
            takes back [m1/2]
        user Your response above was cut off mid-stream.
        .message m2
        delta 0 Three
            text [m2/0] Three
        says m2 Three
            context 101
            message #3 closed
        "#,
    );
}

/// K14: only the message that lost blocks is taken back, whichever is current.
#[test]
fn another_messages_text_is_taken_back() {
    check(
        r#"
        .turn a
        .message m1
        .delta 0 One
        .message m2
        .delta 0 Two
        abandon m9 0
        abandon m1 0
            takes back [m1/0]
        "#,
    );
}

/// K23: a repeated complete frame doubles nothing, a block that is new under its uuid is taken.
#[test]
fn a_repeated_frame_doubles_the_text() {
    check(
        r#"
        .turn a
        says m1 Words
            text [whole] Words
            context 101
            message #1 closed
        again
        raw {"type":"assistant","uuid":"u7","message":{"id":"m7","content":[{"type":"text","text":"One"}]}}
            text [whole] One
            message #2 closed
        raw {"type":"assistant","uuid":"u7","message":{"id":"m7","content":[{"type":"text","text":"One"},{"type":"text","text":"Two"}]}}
            text [whole] Two
            message #3 closed
        calls m1 t1 Bash {"command":"ls"}
            call t1 Exec ls
            context 101
            message #4 closed
        again
        returns t1 ok Files
            returned t1 ok Files
        again
        [t1] says Child
            [t1] text Child\n\n
        again
        compact 1234
            context 1234
        again
        api-error Failed
            error Failed
            message #5 closed
        again
        "#,
    );
}

/// CL-37: a limit that is reached is an error in the reply, and the turn goes on.
#[test]
fn a_rate_limit_ends_the_turn() {
    check(
        r#"
        .turn a
        rate-limited
            error The provider's five_hour limit is reached.
        says m1 Words
            text [whole] Words
            context 101
            message #1 closed
        result ok a
            usage 10/5
            fork point #1 u6
            done completed Done.
        "#,
    );
}

/// CL-49, N1: the heartbeat of a tool has the tool's own id as its parent: activity, no child.
#[test]
fn a_heartbeat_opens_a_child() {
    check(
        r#"
        .turn a
        .calls m1 t1 Bash {"command":"sleep 35"}
        progress t1
            beat
        "#,
    );
}

/// §5.5 shows life: frames that only show life are heartbeats while a turn is open, and nothing afterwards.
#[test]
fn signs_of_life_wake_a_parked_run() {
    check(
        r#"
        .turn a
        status
            beat
        retry
            note provider-retry
            beat
        .result ok a
        status
        retry
            note provider-retry
        progress t1
        "#,
    );
}

/// D11, K26: unknown frames and fields are skipped, also records that are no JSON; the first of those is noted.
#[test]
fn an_unknown_frame_ends_the_run() {
    check(
        r#"
        .turn a
        raw {"type":"brand_new","content":[1]}
        raw {"type":"system","subtype":"brand_new"}
        raw {"no":"type"}
        bytes no json\n
            note bad-record
        bytes [1]\n
        raw {"type":"assistant","parent_tool_use_id":7,"message":{"id":"m1","content":[{"type":"server_tool_use"},{"type":"text","text":"Words"}]}}
        raw {"type":"system","subtype":"command_lifecycle","command_uuid":"a","state":"completed"}
        raw {"type":"assistant","message":{"id":"m9","content":"Plain words"}}
            text [whole] Plain words
            message #1 closed
        result ok a
            usage 10/5
            fork point #1 u10
            done completed Done.
        "#,
    );
}

/// K24: a record ends at its line end only, wherever a read is cut; an empty one is none.
#[test]
fn a_cut_read_loses_a_frame() {
    check(
        r#"
        .turn a
        bytes {"type":"rate_limit_event","rate_lim
        bytes it_info":{"status":"rejected","rateLimitType":"x\u2028y"}}
        bytes \n\n
            error The provider's x\u2028y limit is reached.
        "#,
    );
}

/// §2.4: the last record may lack its line end.
#[test]
fn the_last_record_is_lost() {
    check(
        r#"
        .turn a
        bytes {"type":"result","subtype":"success","is_error":false,"result":"Done.","user_message_uuid":"a"}
        gone 0
            reaped
            done completed Done.
            ended
        "#,
    );
}

/// §5.5: an untagged text of the user is none of the reply's.
#[test]
fn a_synthetic_user_message_is_shown() {
    check(
        r#"
        .turn a
        user Output token limit hit.
        returns t9 error No such tool
            returned t9 error No such tool
        "#,
    );
}

/// §5.5: the window is that of the model that speaks.
#[test]
fn the_window_of_another_model_is_told() {
    check(
        r#"
        .turn a
        raw {"type":"result","subtype":"success","is_error":false,"user_message_uuid":"a","modelUsage":{"haiku":{"contextWindow":1},"opus[1m]":{"contextWindow":2}}}
            window 2
            done completed
        "#,
    );
}
