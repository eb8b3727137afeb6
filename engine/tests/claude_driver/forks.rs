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
