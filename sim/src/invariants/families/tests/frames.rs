//! N1 to N5.

use super::*;

fn shell() -> Value {
    json!({"type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "toolu_b", "task_type": "local_bash"})
}

#[test]
fn a_shell_that_ends_is_no_child_that_ends() {
    let run = || begun().reply("msg_1", "Hello.").said(shell()).said(task_ended("b1"));
    check(&["N1", "N3"], run().ends(&["m1"]).rest(), run().journal(child("toolu_b", done("completed"))).ends(&["m1"]).rest());
}

#[test]
fn progress_of_a_tool_opens_no_child() {
    let progress =
        json!({"type": "tool_progress", "tool_name": "Bash", "tool_use_id": "toolu_b-0", "parent_tool_use_id": "toolu_b"});
    let run = || begun().reply("msg_1", "Hello.").said(progress.clone());
    check(&["N1"], run().ends(&["m1"]).rest(), run().journal(child_text("toolu_b", "")).ends(&["m1"]).rest());
}

#[test]
fn an_interruption_marker_is_no_message_to_the_child() {
    let marker = "[Request interrupted by user]";
    let cut = || begun().agent("toolu_1").said(child_user("toolu_1", marker));
    let end = |stub: Stub| stub.agent_ends("toolu_1").ends(&["m1"]).rest();
    let shown = cut().journal(child_message("toolu_1", marker)).tab_text("toolu_1", "user", marker);
    check(&["N2"], end(cut()), end(shown));
}

#[test]
fn the_end_of_somebody_elses_task_has_no_effect() {
    let told = || begun().reply("msg_1", "Hello.").said(task_ended("a-stranger"));
    check(&["N3"], told().ends(&["m1"]).rest(), told().journal(child("toolu_x", done("completed"))).ends(&["m1"]).rest());
}

#[test]
fn a_second_init_has_no_effect() {
    let again = || begun().reply("msg_1", "Hello.").said(init("s1"));
    check(&["N4"], again().ends(&["m1"]).rest(), again().journal(session_started()).ends(&["m1"]).rest());
}

#[test]
fn the_opening_of_a_child_is_told_once() {
    let echoed = || begun().agent("toolu_1").said(child_user("toolu_1", "Look around."));
    let end = |stub: Stub| stub.agent_ends("toolu_1").ends(&["m1"]).rest();
    let twice = |stub: Stub| stub.journal(child_message("toolu_1", "Look around.")).tab_text("toolu_1", "user", "Look around.");
    check(&["N5"], end(echoed()), end(twice(echoed())));
    // Said again by the child's owner it is a message like any other.
    holds("N5", end(twice(echoed().said(child_user("toolu_1", "Look around.")))));
}
