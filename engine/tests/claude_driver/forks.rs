//! Typed forks: a chip without a tool call, a settle that comes before the transcript.

use crate::script::check;

/// TF-01: the chip and its tab come from the task's start, and nothing else does.
#[test]
fn a_typed_fork_stays_invisible() {
    check(
        r#"
        .turn a
        fork k9 /fanout Body
            call forked-command-fanout-k9 Agent: /fanout
            [forked-command-fanout-k9] user Body
        "#,
    );
}

/// TF-02: the transcript goes to the chip under whatever name the CLI tags it, and the notification settles nothing.
#[test]
fn a_replay_of_another_name_misses_the_chip() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        [forked-command-fanout] thinks Hm
            [forked-command-fanout-k9] think Hm
        [forked-command-plugin-fanout] says One
            [forked-command-fanout-k9] text One\n\n
        notified k9 completed
        [forked-command-plugin-fanout] calls c1 Bash {"command":"ls"}
            [forked-command-fanout-k9] call c1 Exec ls
        [forked-command-fanout] returns c1 ok Files
            [forked-command-fanout-k9] returned c1 ok Files
        "#,
    );
}

/// TF-03: the echo of the prompt is dropped once; the fork's own repeat of it is its own.
#[test]
fn the_prompt_stands_twice_in_the_tab() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        [forked-command-fanout] user Body
        [forked-command-fanout] user Body
            [forked-command-fanout-k9] user Body
        "#,
    );
}

/// TF-03 with arguments, TF-14: the tab opens with the whole prompt, and its echo still matches.
#[test]
fn arguments_are_lost_from_the_tab() {
    check(
        r#"
        .turn a
        fork k9 /fanout Body\n\n\nARGUMENTS: two words
            call forked-command-fanout-k9 Agent: /fanout
            [forked-command-fanout-k9] user Body\n\n\nARGUMENTS: two words
        [forked-command-fanout] user Body\n\n\nARGUMENTS: two words
        [forked-command-fanout] user Body\n\n\nARGUMENTS: two words
            [forked-command-fanout-k9] user Body\n\n\nARGUMENTS: two words
        "#,
    );
}

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

/// TF-05: every run of a command has a chip of its own.
#[test]
fn the_second_run_of_a_command_takes_the_first_chip() {
    check(
        r#"
        .turn a
        fork k8 /probe Body
            call forked-command-probe-k8 Agent: /probe
            [forked-command-probe-k8] user Body
        .notified k8 completed
        result fork a
            usage 10/5
            [forked-command-probe-k8] done completed
            returned forked-command-probe-k8 ok
            done completed Done.
        completed a
        steer b /probe
            > user b now: /probe
        queued b
        started b
            steered b
        fork k9 /probe Body
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user Body
        .notified k9 completed
        result fork b
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}

/// TF-06, TF-21: with no fork pending a tagged frame stays under the CLI's own tag: it reaches no chip.
#[test]
fn a_late_echo_reopens_a_settled_chip() {
    check(
        r#"
        .turn a
        .fork k9 /fanout Body
        .notified k9 completed
        result fork a
            usage 10/5
            [forked-command-fanout-k9] done completed
            returned forked-command-fanout-k9 ok
            done completed Done.
        [forked-command-fanout] user Body
            [forked-command-fanout] user Body
        [forked-command-x] says Words
            [forked-command-x] text Words\n\n
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

/// TF-10, TF-24, LR-01, LR-02: a whole fork in the order of the wire: one spawn before init, the transcript in the tab,
/// the reply in the chat, its settle directly before the Done.
#[test]
fn the_transcript_of_a_fork_is_lost() {
    check(
        r#"
        .start a /fanout
        .queued a
        started a
            taken a
        fork k9 /fanout Body
            call forked-command-fanout-k9 Agent: /fanout
            [forked-command-fanout-k9] user Body
        task k1 i1
        task k2 i2
        updated k1 completed
        notified k1 completed
        updated k2 completed
        notified k2 completed
        notified k9 completed
        init
            session s1 #1
        [forked-command-fanout] user Body
        [forked-command-fanout] thinks Two agents.
            [forked-command-fanout-k9] think Two agents.
        [forked-command-fanout] calls i1 Agent {"prompt":"One"}
            [forked-command-fanout-k9] call i1 Agent
        [forked-command-fanout] calls i2 Agent {"prompt":"Two"}
            [forked-command-fanout-k9] call i2 Agent
        [forked-command-fanout] returns i1 ok First
            [forked-command-fanout-k9] returned i1 ok First
        [forked-command-fanout] returns i2 ok Second
            [forked-command-fanout-k9] returned i2 ok Second
        [forked-command-fanout] says Both are done.
            [forked-command-fanout-k9] text Both are done.\n\n
        synthetic Both are done.
            text [whole] Both are done.
            message #1 closed
        replay a
        result fork a
            usage 10/5
            fork point #1 u19
            [forked-command-fanout-k9] done completed
            returned forked-command-fanout-k9 ok
            done completed Done.
        completed a
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

/// T1, K23: the start of a fork that is pending already is a repeat, not a second fork.
#[test]
fn a_repeated_start_settles_the_running_fork() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        again
        .notified k9 completed
        result fork a
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}

/// TF-12, LR-09: in a parked session the CLI takes the message first: Steered, then the chip.
#[test]
fn a_fork_of_a_parked_session_is_dropped() {
    check(
        r#"
        .parked
        steer b /probe
            > user b now: /probe
        queued b
        started b
            steered b
        fork k9 /probe Body
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user Body
        "#,
    );
}

/// TF-15: the other order is legal too: the chip opens a turn of its own, and there is one Done.
#[test]
fn a_chip_before_its_steered_is_lost() {
    check(
        r#"
        .parked
        .steer b /probe
        .queued b
        fork k9 /probe Body
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user Body
        started b
            steered b
        .notified k9 completed
        result fork b
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        completed b
        "#,
    );
}

/// TF-16: the CLI refuses a tool of a typed fork by itself; nobody is asked, the fork goes on and settles.
#[test]
fn a_refused_tool_holds_the_fork_up() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        .notified k9 completed
        [forked-command-probe] calls c1 Bash {"command":"touch x"}
            [forked-command-probe-k9] call c1 Exec touch x
        [forked-command-probe] returns c1 error touch x needs approval
            [forked-command-probe-k9] returned c1 error touch x needs approval
        [forked-command-probe] says It was refused.
            [forked-command-probe-k9] text It was refused.\n\n
        result fork a
            usage 10/5
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}

/// TF-17, LR-07: the reply of a typed command has no deltas: its text is taken from the whole frame, once.
#[test]
fn the_reply_of_a_fork_is_missing() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        .notified k9 completed
        synthetic The reply.
            text [whole] The reply.
            message #1 closed
        again
        result fork a
            usage 10/5
            fork point #1 u7
            [forked-command-probe-k9] done completed
            returned forked-command-probe-k9 ok
            done completed Done.
        "#,
    );
}

/// TF-18, LR-05: an open fork is an open tool: a steer waits for it with `next`.
#[test]
fn a_steer_cuts_a_running_fork() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        steer b More
            > user b next: More
        "#,
    );
}

/// TF-19: a prompt that is no text makes the chip all the same.
#[test]
fn an_odd_prompt_costs_the_chip() {
    check(
        r#"
        .turn a
        raw {"type":"system","subtype":"task_started","task_id":"k8","description":"/probe","prompt":{"text":"Body"}}
            call forked-command-probe-k8 Agent: /probe
            [forked-command-probe-k8] user {"text":"Body"}
        raw {"type":"system","subtype":"task_started","task_id":"k9","description":"/probe two"}
            [forked-command-probe-k8] done interrupted
            returned forked-command-probe-k8 ok
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user /probe two
        "#,
    );
}

/// TF-20, TF-02: the notification has a summary; it is no content, and the settle waits for the transcript.
#[test]
fn the_summary_of_a_notification_is_told_early() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        raw {"type":"system","subtype":"task_notification","task_id":"k9","status":"completed","summary":"/probe","usage":{"total_tokens":9}}
        "#,
    );
}

/// TF-22: agents inside a fork are none of this chat's: their task frames bring no event.
#[test]
fn agents_of_a_fork_become_chips() {
    check(
        r#"
        .turn a
        .fork k9 /probe Body
        task k1 i1
        background k1
            background 1
        updated k1 completed
            background 0
        notified k1 completed
        [i1] says Inner words
            [i1] text Inner words\n\n
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
