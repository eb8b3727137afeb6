//! How a process starts and ends.

use crate::script::check;

/// §5.1: the base arguments, and the environment that forwards the words of foreground children.
#[test]
fn a_launch_lacks_its_base_arguments() {
    check(
        r#"
        start a Hello
            spawn CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1 claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --thinking-display summarized --permission-prompt-tool stdio --permission-mode default
            > initialize engine_initialize
            > user a: Hello
        "#,
    );
}

/// §5.1, CL-40: what each part of the configuration adds; an old CLI is not given an option that it does not know.
#[test]
fn a_configured_launch_differs() {
    check(
        r#"
        with bypass
        with model opus[1m]
        with effort high
        with resume s1
        with subagents-off
        with old-cli
        start a Hello
            reads projects/-work/s1.jsonl
            spawn CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1 claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --permission-prompt-tool stdio --model opus[1m] --effort high --permission-mode bypassPermissions --resume=s1 --disallowedTools=Agent,Task,Workflow
            > initialize engine_initialize
            > user a: Hello
        "#,
    );
}

/// §5.1: auto-approve alone bypasses nothing.
#[test]
fn auto_approve_bypasses_the_sandbox() {
    check(
        r#"
        with auto-approve
        start a Hello
            spawn CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1 claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --thinking-display summarized --permission-prompt-tool stdio --permission-mode default
            > initialize engine_initialize
            > user a: Hello
        "#,
    );
}

/// §5.1, K15: the server that was passed is listed: nothing to say.
#[test]
fn a_listed_server_is_missed() {
    check(
        r#"
        with mcp engine
        start a Hello
            spawn CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1 claude --print --input-format stream-json --output-format stream-json --verbose --include-partial-messages --replay-user-messages --thinking-display summarized --permission-prompt-tool stdio --permission-mode default --mcp-config {"mcpServers":{"engine":{"command":"serve","args":["--stdio"],"env":{"PORT":"1"}}}}
            > initialize engine_initialize
            > user a: Hello
        init s1 engine other
            session s1 #1
        result ok a
            taken a
            usage 10/5
            done completed Done.
        "#,
    );
}

/// K15: a server that was passed and is not listed: the reply says so, and the process is retired at its Done.
#[test]
fn a_missing_server_is_not_told() {
    check(
        r#"
        with mcp engine
        .start a Hello
        .started a
        init s1 other
            session s1 #1
            error Claude Code started without the MCP server `engine`.
        result ok a
            usage 10/5
            done completed Done.
            stdin closed
        +2000
            (2000 interrupt-grace)
            signal Term
        gone SIGTERM
            reaped
            ended
        "#,
    );
}

/// K15: while background work runs a retired process is left to end by itself.
#[test]
fn a_retired_process_kills_background_work() {
    check(
        r#"
        with mcp engine
        .turn a
        .background k1
        result ok a
            usage 10/5
            done completed Done.
            stdin closed
        +60000
        "#,
    );
}

/// K15: no turn waits for an optional answer; a later request keeps its own time.
#[test]
fn one_deadline_ends_every_request() {
    check(
        r#"
        .start a Hello
        .queued a
        .started a
        .init
        .steer b More
        +9000
        withdraw b
            > cancel_async_message engine_cancel_1 b
        +1000
            (1000 control-deadline)
            note control-deadline
        response engine_initialize {"commands":[{"name":"late"}]}
        +8999
        +1
            (1 control-deadline)
            note control-deadline
        "#,
    );
}

/// CL-10: the answer to initialize brings the commands.
#[test]
fn commands_are_never_listed() {
    check(
        r#"
        .turn a
        response engine_initialize {"commands":[{"name":"compact"},{"name":"probe"}]}
        +60000
        "#,
    );
}

/// CL-08: no such program: said so, and nothing is left behind.
#[test]
fn a_missing_program_is_an_io_error() {
    check(
        r#"
        .start a Hello
        spawn missing
            reaped
            done errored error: Claude Code is not installed: there is no program `claude`
            ended
        +60000
        "#,
    );
}

/// CL-08: another failure of the start.
#[test]
fn a_failed_start_hangs() {
    check(
        r#"
        .start a Hello
        spawn io Permission denied
            reaped
            done errored error: Claude Code could not be started: Permission denied
            ended
        +60000
        "#,
    );
}

/// D10: a strict run names the session at a fork's start: another one ends it before its chip.
#[test]
fn a_wrong_session_works_on() {
    check(
        r#"
        with required s9
        .start a /probe
        .queued a
        .started a
        fork k9 /probe Body
            session s1 #1
        init
        "#,
    );
}

/// D10: the required one is not named early.
#[test]
fn the_right_session_is_told_twice() {
    check(
        r#"
        with required s1
        .start a /probe
        .queued a
        .started a
        fork k9 /probe Body
            call forked-command-probe-k9 Agent: /probe
            [forked-command-probe-k9] user Body
        init
            session s1 #1
        "#,
    );
}

/// §2.4, K28: a grandchild may hold a pipe: 200 ms after the exit the end is judged.
#[test]
fn a_held_pipe_hides_the_crash() {
    check(
        r#"
        .turn a
        .stderr boom
        exit 3
            reaped
        +199
        +1
            (1 stderr-close)
            done errored error: Claude Code exited with code 3: boom
            ended
        "#,
    );
}

/// §2.4: a process that closes its stdout and stays is terminated.
#[test]
fn a_silent_process_stays() {
    check(
        r#"
        .turn a
        end stdout
        +200
            (200 stderr-close)
            signal Term
            done errored error: Claude Code closed its output
            ended
        +3000
            (3000 kill-grace)
            signal Kill
        exit SIGKILL
            reaped
        "#,
    );
}

/// §5.6: the run is over: stdin is closed, and a process that stays gets the ladder.
#[test]
fn a_process_outlives_its_run() {
    check(
        r#"
        .parked
        shut-down
            stdin closed
        +2000
            (2000 interrupt-grace)
            signal Term
        +3000
            (3000 kill-grace)
            signal Kill
        "#,
    );
}

/// §5.6: background work is gone with its process.
#[test]
fn background_work_outlives_its_process() {
    check(
        r#"
        .parked
        .background k1
        gone 0
            reaped
            background 0
            ended
        "#,
    );
}
