//! T1 to T5.

use super::*;

/// The fork's turn ends: the two settle events, then the Done.
fn ends(stub: Stub, task: &str, messages: &[&str]) -> Stub {
    let stub = stub.said(task_ended(task)).said(init("s1")).said(child_user("forked-command-probe", "Probe."));
    let stub = stub.said(result(messages)).journal(usage()).fork_settles(task).journal(done("completed"));
    stub.settle(Outcome::Completed)
}

/// A parked chat to which a typed command was sent.
fn parked() -> Stub {
    begun().reply("msg_1", "Hello.").ends(&["m1"]).later(200).steer("m2").queue("m2")
}

#[test]
fn each_run_of_a_command_has_its_own_chip() {
    let twice = ends(begun().fork("a1"), "a1", &["m1"]).steer("m2").take("m2").fork("a2");
    let sound = ends(twice, "a2", &["m2"]).rest();
    let shared = ends(begun().fork("a1"), "a1", &["m1"]).steer("m2").take("m2").said(fork_started("a2")).ends(&["m2"]);
    check(&["T1"], sound, shared.rest());
    let nameless = begun().said(fork_started("a1")).journal(chip("forked-command-probe", "Agent: /probe"));
    nameless.tool("forked-command-probe", "Agent: /probe").breaks(all(), &["D7", "T1"]);
}

#[test]
fn a_typed_fork_runs_until_its_settle() {
    let sound = ends(begun().fork("a1").later(500), "a1", &["m1"]).rest();
    let early = begun().fork("a1").later(500).row_is(&fork_chip("a1"), ChildState::Done);
    check(&["T2"], sound, early);
    let late = ends(begun().fork("a1"), "a1", &["m1"]).row_is(&fork_chip("a1"), ChildState::Running);
    late.breaks(all(), &["T2"]);
}

#[test]
fn an_agent_of_a_fork_is_not_shown() {
    let mut inner = task_started("a9", "toolu_inner");
    inner["parent_task_id"] = json!("a1");
    let run = || begun().fork("a1").said(inner.clone());
    let shown = run().view(|chat| {
        let (child, title) = ("chat-1--sub--toolu_inner".to_string(), String::new());
        chat.tabs.push(crate::view::Tab { child, title, entries: Vec::new() });
    });
    check(&["T3", "V4"], ends(run(), "a1", &["m1"]).rest(), shown);
}

#[test]
fn a_typed_fork_settles_directly_before_its_done() {
    let run = || begun().fork("a1").said(task_ended("a1")).said(init("s1")).said(result(&["m1"])).journal(usage());
    let end = |stub: Stub| stub.journal(done("completed")).settle(Outcome::Completed);
    let sound = end(run().fork_settles("a1")).rest();
    check(&["T4"], sound, end(run()).row_is(&fork_chip("a1"), ChildState::Failed).rest());
    // Something between the settle and the Done.
    end(run().fork_settles("a1").journal(usage())).breaks(all(), &["T4"]);
    // A late echo wakes nobody.
    let echoed = end(run().fork_settles("a1")).said(child_user("forked-command-probe", "Probe."));
    echoed.journal(child(&fork_chip("a1"), done("completed"))).breaks(all(), &["T4"]);
}

#[test]
fn a_fork_before_a_boundary_settles_before_the_steered() {
    let run = || begun().fork("a1").steer("m2").queue("m2").said(task_ended("a1")).said(result(&["m1"])).journal(usage());
    let end = |stub: Stub| stub.reply("msg_2", "And?").ends(&["m2"]).rest();
    let late = run().take("m2").fork_settles("a1");
    check(&["T4"], end(run().fork_settles("a1").take("m2")), end(late));
}

#[test]
fn the_steered_of_a_command_comes_before_its_chip() {
    let sound = ends(parked().take("m2").fork("a1"), "a1", &["m2"]).rest();
    let turned = parked().said(life("m2", "started")).said(fork_started("a1")).fork_opens("a1").journal(steered("m2"));
    check(&["T5"], sound, turned.deliver("m2"));
}

#[test]
fn a_fork_that_begins_in_a_parked_chat_is_dropped_by_the_gate() {
    let dropped = parked().said(fork_started("a1")).take("m2").said(task_ended("a1")).said(result(&["m2"])).journal(usage());
    let sound = dropped.journal(done("completed")).settle(Outcome::Completed).rest();
    check(&["T5"], sound, parked().said(fork_started("a1")).fork_opens("a1"));
}

#[test]
fn a_message_read_after_the_settle_makes_the_result_a_boundary() {
    let run = begun().fork("a1").said(task_ended("a1")).said(result(&["m1"])).journal(usage()).fork_settles("a1");
    holds("T4", run.steer("m2").queue("m2").take("m2").reply("msg_2", "And?").ends(&["m2"]).rest());
}
