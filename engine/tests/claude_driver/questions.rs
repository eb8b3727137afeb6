//! Approvals and questions: one card, one answer, none that outlives its turn.

use crate::script::check;

/// §5.5 Permission: an approval shows the tool and its input; a yes goes back with the input.
#[test]
fn an_approval_hides_the_command() {
    check(
        r#"
        .turn a
        ask r1 Bash {"command":"touch x"}
            ask r1: Allow Bash: Make a file?\n{"command":"touch x"} Allow once/Deny/Deny and stop
        again
        answer r1 Allow once
            > allow r1 {"command":"touch x"}
        answer r1 Deny
        again
        "#,
    );
}

/// §5.5 Permission: `always` is offered only with suggestions, and answered with them.
#[test]
fn always_is_offered_without_a_rule() {
    check(
        r#"
        .turn a
        ask-always r1 Bash {"command":"touch x"}
            ask r1: Allow Bash: Make a file?\n{"command":"touch x"} Allow once/Allow always/Deny/Deny and stop
        answer r1 Allow always
            > allow r1 {"command":"touch x"} always [{"type":"setMode"}]
        ask r2 Bash {"command":"touch x"}
            ask r2: Allow Bash: Make a file?\n{"command":"touch x"} Allow once/Deny/Deny and stop
        answer r2 Allow always
            > allow r2 {"command":"touch x"}
        "#,
    );
}

/// §5.5 Permission: a no lets the turn go on, a no with stop ends it; other words are the reason.
#[test]
fn a_no_is_told_as_a_yes() {
    check(
        r#"
        .turn a
        .ask r1 Bash {"command":"touch x"}
        .ask r2 Bash {"command":"touch x"}
        .ask r3 Bash {"command":"touch x"}
        answer r1 Deny
            > deny r1: The user denied this.
        answer r2 Use a temporary file
            > deny r2: Use a temporary file
        answer r3 Deny and stop
            > deny r3 and interrupt: The user denied this.
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// §5.5 Permission: with auto-approve nobody is asked but for a question to the human.
#[test]
fn auto_approve_answers_the_human() {
    check(
        r#"
        with auto-approve
        .turn a
        ask r1 Bash {"command":"touch x"}
            > allow r1 {"command":"touch x"}
        questions r2 Which one?=red/blue & And then?=go/stay
            ask r2: Which one? red/blue & And then? go/stay
        answer r2 red | stay
            > allow r2 {"questions":[{"question":"Which one?","header":"Choice","multiSelect":false,"options":[{"label":"red","description":""},{"label":"blue","description":""}]},{"question":"And then?","header":"Choice","multiSelect":false,"options":[{"label":"go","description":""},{"label":"stay","description":""}]}],"answers":{"Which one?":"red","And then?":"stay"}}
        "#,
    );
}

/// CL-03 in part: an input that is no object still gets its answers.
#[test]
fn an_odd_question_panics() {
    check(
        r#"
        .turn a
        raw {"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":"odd"}}
            ask r1:
        answer r1 red
            > allow r1 {"answers":{}}
        "#,
    );
}

/// K19, CL-34: without a turn nothing is approved, also not by auto-approve and not in the read that ends the turn;
/// background work may ask.
#[test]
fn a_request_after_the_end_is_granted() {
    check(
        r#"
        with auto-approve
        .turn a
        bytes {"type":"result","subtype":"success","is_error":false,"user_message_uuid":"a"}\n{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}\n
            done completed
            > deny r1: No turn is open.
        background k1
            background 1
        ask r2 Bash {"command":"ls"}
            > allow r2 {"command":"ls"}
        "#,
    );
}

/// I6, K19: what is still asked at the turn's end is refused there, and its card closed once.
#[test]
fn a_child_waits_for_ever_for_its_answer() {
    check(
        r#"
        .turn a
        .background k1
        .ask r1 Bash {"command":"ls"}
        result ok a
            usage 10/5
            card closed r1
            > deny r1: The turn is over.
            done completed Done.
        closed r1
        answer r1 Allow once
        "#,
    );
}

/// I6: a stop closes the card; the CLI withdraws its request, and nothing is written.
#[test]
fn a_stopped_request_is_answered() {
    check(
        r#"
        .turn a
        .ask r1 Bash {"command":"ls"}
        stop
            card closed r1
            > interrupt engine_stop_1 cancel_queued
        closed r1
        cancel-request r1
        response engine_stop_1 {"still_queued":[]}
        result aborted a
            usage 10/5
            done interrupted
        "#,
    );
}

/// I6: a request that the CLI does not withdraw after a stop is refused at the end, never granted.
#[test]
fn a_stopped_request_is_forgotten() {
    check(
        r#"
        with auto-approve
        .turn a
        .questions r1 Which one?=red/blue
        stop
            card closed r1
            > interrupt engine_stop_1 cancel_queued
        ask r2 Bash {"command":"ls"}
            > deny r2: The user stopped this turn.
        answer r1 red
        result aborted a
            usage 10/5
            > deny r1: The turn is over.
            done interrupted
        "#,
    );
}

/// CL-51, I6: a request that the CLI withdraws: its card is closed once, a late answer goes nowhere.
#[test]
fn a_withdrawn_request_is_answered() {
    check(
        r#"
        .turn a
        .questions r1 Which one?=red/blue
        cancel-request r1
            card closed r1
        cancel-request r1
        answer r1 red
        "#,
    );
}

/// I6: the exit closes cards; no answer is owed.
#[test]
fn a_card_outlives_its_process() {
    check(
        r#"
        .turn a
        .ask r1 Bash {"command":"ls"}
        gone 1
            reaped
            card closed r1
            done errored error: Claude Code exited with code 1
            ended
        "#,
    );
}

/// §9.7: a request that the engine turns down for a parked run.
#[test]
fn a_declined_request_hangs() {
    check(
        r#"
        .parked
        .background k1
        .ask r1 Bash {"command":"ls"}
        decline r1
            > deny r1: Nobody is there to be asked.
        decline r1
        "#,
    );
}

/// CO-06, I15: timers of the turn do not run while the human is asked, also those that begin meanwhile.
#[test]
fn a_hold_runs_out_while_the_human_thinks() {
    check(
        r#"
        .turn a
        .steer b More
        .result ok a
        +20000
        asking open
        +60000
        queued b
        cancelled b
            returned unread b: cancelled
            done completed Done.
        "#,
    );
}

/// CO-06, I15: the rest of the time runs afterwards.
#[test]
fn a_question_gives_the_hold_new_time() {
    check(
        r#"
        .turn a
        .steer b More
        .result ok a
        +20000
        asking open
        started zz
            note foreign-lifecycle
        +60000
        asking closed
        +9999
        +1
            (1 unacknowledged-settle)
            steered b
            done completed Done.
        "#,
    );
}

/// I15: a hold that begins while the human is asked has its whole time afterwards.
#[test]
fn a_hold_begins_under_a_question() {
    check(
        r#"
        .turn a
        .steer b More
        asking open
        .result ok a
        +60000
        asking closed
        +29999
        +1
            (1 unacknowledged-settle)
            steered b
            done completed Done.
        "#,
    );
}

/// K26: a control request of another kind is refused, so that the CLI goes on.
#[test]
fn an_unknown_request_hangs_the_cli() {
    check(
        r#"
        .turn a
        raw {"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback"}}
            note unknown-request
            > error r1: Unsupported control request: hook_callback
        raw {"type":"control_request","request_id":"r2"}
            note unknown-request
            > error r2: Unsupported control request: without a subtype
        "#,
    );
}
