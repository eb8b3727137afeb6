//! Children: which task belongs to which chip, and what settles it.

use crate::script::{Stage, check};

/// CL-09, N3: a background agent returns at once; its child settles by its notification, once.
#[test]
fn a_child_settles_at_its_tool_result() {
    check(
        r#"
        .turn a
        calls m1 t1 Agent {"prompt":"Look around"}
            call t1 Agent
            [t1] user Look around
            context 101
            message #1 closed
        background k1
            background 1
        task k1 t1
        returns t1 ok Async agent launched successfully.
            returned t1 ok Async agent launched successfully.
        [t1] says Found it.
            [t1] text Found it.\n\n
        updated k1 completed
            background 0
            [t1] done completed
        notified k1 completed
        background
            background 0
        "#,
    );
}

/// CL-23, CL-29, N5: the opening stands in the tab from the call on, and its echo is dropped once.
#[test]
fn the_opening_is_shown_twice() {
    check(
        r#"
        .turn a
        calls m1 t1 Agent {"prompt":"Look around"}
            call t1 Agent
            [t1] user Look around
            context 101
            message #1 closed
        [t1] user Look around
        [t1] user Look around
            [t1] user Look around
        "#,
    );
}

/// CL-30: text and thinking of a child come in wire order.
#[test]
fn a_childs_words_are_reordered() {
    check(
        r#"
        .turn a
        .calls m1 t1 Task {"prompt":"Look"}
        [t1] thinks Hm
            [t1] think Hm
        [t1] calls c1 Bash {"command":"ls"}
            [t1] call c1 Exec ls
        [t1] returns c1 ok Files
            [t1] returned c1 ok Files
        [t1] says Two files.
            [t1] text Two files.\n\n
        "#,
    );
}

/// CL-24, N2: markers and reminders of the CLI are no steer of the child.
#[test]
fn a_marker_steers_the_child() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        [t1] user [Request interrupted by user]
        [t1] user <system-reminder>Be brief</system-reminder>
        [t1] user
        "#,
    );
}

/// CL-26, M3: other words to a child are a steer of it.
#[test]
fn a_steer_of_a_child_is_ignored() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        .notified k1 completed
        [t1] user Look again
            [t1] user Look again
        "#,
    );
}

/// CL-25, D7: SendMessage to a known agent goes to the tab of its spawn, and the agent's next end settles it again.
#[test]
fn a_message_to_an_agent_opens_a_second_child() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        .task k1 t1
        .notified k1 completed
        calls m1 t2 SendMessage {"to":"k1","message":"Once more"}
            call t2 SendMessage
            [t1] user Once more
            context 101
            message #2 closed
        [t2] says Looking.
            [t1] text Looking.\n\n
        task k1 t2
        notified k1 completed
            [t1] done completed
        calls m1 t3 SendMessage {"to":"k7","message":"Who?"}
            call t3 SendMessage
            context 101
            message #3 closed
        "#,
    );
}

/// CL-27: only terminal words settle a child.
#[test]
fn a_running_child_settles() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        .task k1 t1
        updated k1 running
        updated k1 paused
        notified k1 queued
        updated k1 killed
            [t1] done interrupted
        notified k1 completed
        "#,
    );
}

/// CL-31: a spawn that was refused has no task: it settles with its tool result.
#[test]
fn a_refused_spawn_runs_for_ever() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        returns t1 error No such tool available: Agent
            [t1] done interrupted
            returned t1 error No such tool available: Agent
        .calls m1 t2 Agent {"prompt":"Look"}
        .task k2 t2
        returns t2 error The user doesn't want to proceed
            returned t2 error The user doesn't want to proceed
        updated k2 killed
            [t2] done interrupted
        "#,
    );
}

/// CL-32, V4: frames of a Skill call and of a child's own agent keep their own tag.
#[test]
fn a_skill_becomes_a_child() {
    check(
        r#"
        .turn a
        calls m1 t1 Skill {"skill":"probe"}
            call t1 Skill
            context 101
            message #1 closed
        raw {"type":"system","subtype":"task_started","task_id":"k1","tool_use_id":"t1","subagent_type":"general-purpose","description":"/probe"}
        [t1] says Words
            [t1] text Words\n\n
        notified k1 completed
        returns t1 ok Done
            returned t1 ok Done
        "#,
    );
}

/// CL-33, N1: the task of a shell command makes no child of its chip.
#[test]
fn a_shell_task_becomes_a_spawn() {
    check(
        r#"
        .turn a
        .calls m1 t1 Bash {"command":"sleep 9"}
        shell k1 t1
        raw {"type":"system","subtype":"task_notification","task_id":"k1","tool_use_id":"t1","status":"completed"}
        "#,
    );
}

/// CL-36, K5: both frames in every order and number: one settle each, and nothing is left running.
#[test]
fn the_background_set_never_empties() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"One"}
        .calls m1 t2 Agent {"prompt":"Two"}
        background k1 k2 b3
            background 3
        .task k1 t1
        .task k2 t2
        notified k1 completed
            background 2
            [t1] done completed
        updated k1 completed
        notified k1 failed
        updated k2 killed
            background 1
            [t2] done interrupted
        background k2 b3
            background 1
        notified k2 stopped
        updated b3 completed
            background 0
        notified b3 completed
        notified zz completed
        "#,
    );
}

/// D7: the first tool of a task is its chip.
#[test]
fn a_second_start_moves_the_child() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"One"}
        .calls m1 t2 Agent {"prompt":"Two"}
        .task k1 t1
        .task k1 t2
        notified k1 completed
            [t1] done completed
        "#,
    );
}

/// §5.5: an API failure of a child is its error, not its text.
#[test]
fn a_childs_failure_is_its_reply() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        [t1] api-error API Error: 400
            [t1] error API Error: 400
        "#,
    );
}

/// K26: ids may come in the other spelling.
#[test]
fn the_other_spelling_of_an_id_is_unknown() {
    check(
        r#"
        .turn a
        .calls m1 t1 Agent {"prompt":"Look"}
        raw {"type":"system","subtype":"task_started","taskId":"k1","toolUseId":"t1","subagent_type":"x"}
        raw {"type":"system","subtype":"task_notification","taskId":"k1","status":"completed"}
            [t1] done completed
        "#,
    );
}

/// All orders of some lines.
fn orders(lines: &[&str]) -> Vec<Vec<String>> {
    if lines.is_empty() {
        return vec![Vec::new()];
    }
    let firsts = 0..lines.len();
    firsts
        .flat_map(|first| {
            let rest = [&lines[..first], &lines[first + 1..]].concat();
            orders(&rest).into_iter().map(move |mut order| {
                order.insert(0, lines[first].to_owned());
                order
            })
        })
        .collect()
}

/// CL-36, K5: the same over every order of the frames about an agent and a background command that end.
#[test]
fn an_order_of_ends_settles_a_child_twice_or_never() {
    let ends = [
        "updated k1 killed",
        "notified k1 stopped",
        "background b3",
        "notified b3 completed",
        "background",
        "notified k1 failed",
    ];
    for order in orders(&ends) {
        let mut stage = Stage::new();
        for line in ["turn a", "calls m1 t1 Agent {\"prompt\":\"One\"}", "background k1 b3", "task k1 t1"] {
            stage.line(line);
        }
        let outputs: Vec<String> = order.iter().flat_map(|line| stage.line(line)).collect();
        let settles: Vec<&String> = outputs.iter().filter(|line| line.starts_with("[t1] done")).collect();
        assert_eq!(settles.len(), 1, "{order:?} gave {settles:?}");
        let left = outputs.iter().rfind(|line| line.starts_with("background"));
        assert_eq!(left.map(String::as_str), Some("background 0"), "{order:?}");
    }
}
