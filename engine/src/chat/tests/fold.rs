//! Fold rules, each by what goes wrong without it.

use super::check;

#[test]
fn text_split_into_one_piece_per_delta() {
    check(
        "begin a
         text one
         text \" two\"
         think hm
         text three",
        "assistant a streaming
           text one two
           think hm
           text three",
    );
}

#[test]
fn unkeyed_text_merged_across_a_tool() {
    check(
        "begin a
         text before
         exec t ls
         text after",
        "assistant a streaming
           text before
           exec t ls [open]
           text after",
    );
}

#[test]
fn keyed_text_shattered_when_two_parts_stream_at_once() {
    check(
        "begin a
         text/p one
         think/r hm
         text/p \" two\"
         think/r \" hmm\"
         text/q new
         text plain",
        "assistant a streaming
           text/p one two
           think/r hm hmm
           text/q new
           text plain",
    );
}

#[test]
fn heartbeat_shown_as_content() {
    check(
        "begin a
         think \"\"
         text \"\"
         finish",
        "",
    );
}

#[test]
fn broken_stream_shown_beside_its_repetition() {
    check(
        "begin a
         text/m1/0 half a
         exec t ls
         snap/m1/0 \"\"
         text/m2/0 whole answer
         snap/m2/0 whole story
         think/r wrong
         snap/r right",
        "assistant a streaming
           exec t ls [open]
           text/m2/0 whole story
           think/r right",
    );
}

#[test]
fn snapshot_of_a_part_in_an_earlier_segment_written_into_the_open_one() {
    check(
        "begin a
         text/p one
         finish
         user m next
         begin b
         text/q two
         snap/p uno
         text/p three",
        "assistant a complete
           text/p uno
         user m complete
           text next
         assistant b streaming
           text/q two
           text/p three",
    );
}

#[test]
fn text_after_a_part_taken_back_opens_a_part_although_the_one_before_is_its_own() {
    check(
        "begin a
         text one
         text/k gone
         snap/k \"\"
         text \" two\"",
        "assistant a streaming
           text one two",
    );
}

#[test]
fn tool_shown_twice_when_its_call_is_refined() {
    check(
        "begin a
         exec t l
         text x
         exec t ls -l
         result t out=hello diff
         result t bad",
        "assistant a streaming
           exec t ls -l [ok 5 bytes +2 -1]
           text x",
    );
}

#[test]
fn live_plan_of_an_earlier_segment_overwritten() {
    check(
        "begin a
         plan think
         plan do
         finish
         begin b
         plan rest
         result live-plan",
        "assistant a complete
           plan do [open]
         assistant b streaming
           plan rest [ok]",
    );
}

#[test]
fn question_left_open_after_the_turn() {
    check(
        "begin a
         ask q1 Sure?
         ask q1 Sure?
         ask q2 Really?
         answer q1
         finish",
        "assistant a complete
           ask q1 Sure? resolved
           ask q2 Really? resolved",
    );
}

#[test]
fn error_of_the_done_shown_twice() {
    check(
        "begin a
         error overloaded
         text hm
         fail overloaded",
        "assistant a complete
           error overloaded
           text hm",
    );
    check(
        "begin a
         error overloaded
         fail gone",
        "assistant a complete
           error overloaded
           error gone",
    );
}

#[test]
fn error_lost_when_nothing_was_streamed() {
    check(
        "begin a
         fail no such model",
        "assistant a complete
           error no such model",
    );
}

#[test]
fn empty_reply_left_by_a_turn_without_content() {
    check(
        "user m hi
         begin a
         abort
         begin b
         finish",
        "user m complete
           text hi",
    );
}

#[test]
fn image_shown_twice() {
    check(
        "begin a
         image i /tmp/i.png
         image i /tmp/i.png",
        "assistant a streaming
           image i /tmp/i.png",
    );
}

#[test]
fn chip_status_lost_when_its_call_is_refined() {
    check(
        "begin a
         spawn c Agent
         chip c doc=d
         spawn c Agent: /probe
         result c
         finish
         begin b
         chip c done",
        "assistant a complete
           spawn c Agent: /probe [ok doc=d done]",
    );
}
