//! Delegation: the switch, what each run is started with, when a parked run makes way.

use engine::{
    core::{
        Core,
        config::EngineConfig,
        effect::Effect,
        input::{Input, Now},
    },
    delegation::{Asked, Call},
    feed::{Change, Row},
    store::Stored,
};
use serde_json::{Value, json};

use crate::rig::check;

/// SW-01, SW-21: switched off, the main chat loses its subagents; a side chat and a chat that may be one keep them.
#[test]
fn a_side_chat_or_a_claimed_chat_loses_its_subagents() {
    check(
        r#"
        0 port 41
        0 show launch
        5 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        10 main: chat claude
        20 side: chat claude parent=main
        30 late: claim /w
            late: Idle
        40 main: send m1 one
            main: Working
            main: m1 sent
            p1 spawned without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=main DEVICE_ID=device SIDE_CHATS_ONLY=1
            p1 <- initialize engine_initialize
            p1 <- m1
        50 side: send m2 two
            side: Working
            side: m2 sent
            p2 spawned with IPC_PORT=41 CHAT_ID=side DEVICE_ID=device
            p2 <- initialize engine_initialize
            p2 <- m2
        60 late: send m3 three
            late: Working
            late: m3 sent
            p3 spawned with IPC_PORT=41 CHAT_ID=late DEVICE_ID=device
            p3 <- initialize engine_initialize
            p3 <- m3
        "#,
    );
}

/// SW-03, SW-15: the same setting keeps the warm process; switched, the next turn resumes the session in another one.
#[test]
fn a_parked_run_keeps_the_tools_that_were_switched() {
    check(
        r#"
        0 port 41
        0 show launch
        10 chat claude
        20 send m1 one
            Working
            m1 sent
            p1 spawned with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init engine ; text u1 hi ; result m1
            m1 delivered
            Idle
        2000 send m2 two
            Working
            m2 sent
            p1 <- m2 now
        2010 claude lifecycle m2 started ; text u2 ho ; result m2
            m2 delivered
            Working
            Idle
        3000 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        4000 send m3 three
            Idle
            p1 <- end
            Working
            m3 sent
        4010 exit 0
            p2 spawned resuming s1 without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device SIDE_CHATS_ONLY=1
            p2 <- initialize engine_initialize
            p2 <- m3
        4020 claude lifecycle m3 started ; init engine ; text u3 hm ; result m3
            m3 delivered
            Idle
        5000 rpc SetNativeSubagents {"harness":"claude-code","on":true}
            answer 2: {"off":[],"switchable":["claude-code"]}
        5010 send m4 four
            Idle
            p2 <- end
            Working
            m4 sent
        5020 exit 0
            p3 spawned resuming s1 with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p3 <- initialize engine_initialize
            p3 <- m4
        "#,
    );
}

/// SW-02: a warm side chat is nothing that the switch is about.
#[test]
fn the_switch_replaces_a_parked_side_chat() {
    check(
        r#"
        0 port 41
        0 show launch
        10 chat claude parent=main
        20 send m1 one
            Working
            m1 sent
            p1 spawned with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init engine ; text u1 hi ; result m1
            m1 delivered
            Idle
        2000 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        2010 send m2 two
            Working
            m2 sent
            p1 <- m2 now
        "#,
    );
}

/// SW-16: while a turn runs or background work lives nothing is replaced; when both are over, it is.
#[test]
fn the_switch_kills_a_turn_or_background_work() {
    check(
        r#"
        0 port 41
        0 show launch
        10 chat claude
        20 send m1 one
            Working
            m1 sent
            p1 spawned with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init engine ; tool u1 t1 Agent ; agent-started k1 t1 ; text u2 hi
            m1 delivered
            Working pill 1
        40 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        50 send m2 two
            m2 sent
            p1 <- m2 next
        60 claude lifecycle m2 started ; text u3 ho ; result m1 m2
            m2 delivered
            Working pill 1
            Idle pill 1
        2000 send m3 three
            Working pill 1
            m3 sent
            p1 <- m3 now
        2010 claude lifecycle m3 started ; text u4 hm ; agent-over k1 t1 ; result m3
            m3 delivered
            Working pill 1
            Working
            Idle
        4000 send m4 four
            Idle
            p1 <- end
            Working
            m4 sent
        4010 exit 0
            p2 spawned resuming s1 without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device SIDE_CHATS_ONLY=1
            p2 <- initialize engine_initialize
            p2 <- m4
        "#,
    );
}

/// SW-17: without a port no server could take the place of the subagents.
#[test]
fn subagents_are_off_and_nothing_takes_their_place() {
    check(
        r#"
        0 show launch
        5 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        10 chat claude
        20 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- initialize engine_initialize
            p1 <- m1
        "#,
    );
}

/// SW-13, CM-03: a claimed row learns its parent from the record that comes later, and keeps what it has.
#[test]
fn a_claimed_chat_stays_unknown() {
    check(
        r#"
        0 port 41
        0 show launch chat
        5 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        10 claim /w
            no message
            Idle
        20 send m1 one
            Working
            m1 sent
            last message: one
            p1 spawned with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init engine ; text u1 hi ; result m1
            m1 delivered
            last message: one
            Idle
        40 chat claude
        2000 send m2 two
            Idle
            p1 <- end
            Working
            m2 sent
            last message: two
        2010 exit 0
            p2 spawned resuming s1 without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device SIDE_CHATS_ONLY=1
            p2 <- initialize engine_initialize
            p2 <- m2
        "#,
    );
}

/// SW-19: a side chat that was promoted is a main chat from its next idle turn on.
#[test]
fn a_promoted_chat_remembers_its_parent() {
    check(
        r#"
        0 port 41
        0 show launch
        5 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        10 chat claude parent=main
        20 send m1 one
            Working
            m1 sent
            p1 spawned with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init engine ; text u1 hi ; result m1
            m1 delivered
            Idle
        40 rpc PromoteChat {"chat":"c"}
            answer 2: {}
        2000 send m2 two
            Idle
            p1 <- end
            Working
            m2 sent
        2010 exit 0
            p2 spawned resuming s1 without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=c DEVICE_ID=device SIDE_CHATS_ONLY=1
            p2 <- initialize engine_initialize
            p2 <- m2
        "#,
    );
}

/// CM-04: two commands reach a host with no row: one row, claimed by the first.
#[test]
fn two_commands_claim_two_rows() {
    check(
        r#"
        0 show chat
        10 claim /w
            no message
            Idle
        20 claim /other
        30 send m1 one
            Working
            m1 sent
            last message: one
            p1 spawned
            p1 <- initialize engine_initialize
            p1 <- m1
        40 send m2 two
            m2 sent
            last message: two
            p1 <- m2 now
        "#,
    );
}

/// A CLI that was replaced in place serves the next turn; a build that is told for the first time replaces nothing.
#[test]
fn an_old_build_serves_on() {
    check(
        r#"
        10 chat claude
        20 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- initialize engine_initialize
            p1 <- m1
        30 claude lifecycle m1 started ; init ; text u1 hi ; result m1
            m1 delivered
            Idle
        40 build claude-code b1
        2000 send m2 two
            Working
            m2 sent
            p1 <- m2 now
        2010 claude lifecycle m2 started ; text u2 ho ; result m2
            m2 delivered
            Working
            Idle
        2020 exit 0
            Idle
        3000 send m3 three
            Working
            m3 sent
            p2 spawned resuming s1
            p2 <- initialize engine_initialize
            p2 <- m3
        3010 claude lifecycle m3 started ; init ; text u3 hm ; result m3
            m3 delivered
            Idle
        3020 build claude-code b1
        5000 send m4 four
            Working
            m4 sent
            p2 <- m4 now
        5010 claude lifecycle m4 started ; text u4 so ; result m4
            m4 delivered
            Working
            Idle
        5020 build claude-code b2
        7000 send m5 five
            Idle
            p2 <- end
            Working
            m5 sent
        7010 exit 0
            p3 spawned resuming s1
            p3 <- initialize engine_initialize
            p3 <- m5
        "#,
    );
}

/// SW-07: only what is switchable is switched; what is refused changes nothing.
#[test]
fn a_switch_that_is_refused_switches() {
    check(
        r#"
        0 rpc GetNativeSubagents
            answer 1: {"off":[],"switchable":["claude-code"]}
        10 rpc SetNativeSubagents {"harness":"codex","on":false}
            answer 2: refused, The subagents of codex cannot be switched.
        20 rpc SetNativeSubagents {"harness":"claude-code"}
            answer 3: refused, `on` is true or false.
        30 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 4: {"off":["claude-code"],"switchable":["claude-code"]}
        40 rpc GetNativeSubagents
            answer 5: {"off":["claude-code"],"switchable":["claude-code"]}
        50 rpc GetNativeSubagent
            answer 6: refused, There is no method `GetNativeSubagent`.
        "#,
    );
}

/// SW-07: the choice is there after a restart, and so is what is known of each chat's parent.
#[test]
fn a_choice_or_a_parent_is_lost_in_a_restart() {
    check(
        r#"
        0 port 41
        0 show launch
        5 rpc SetNativeSubagents {"harness":"claude-code","on":false}
            answer 1: {"off":["claude-code"],"switchable":["claude-code"]}
        10 main: chat claude
        20 side: chat claude parent=main
        30 late: claim /w
            late: Idle
        40 restart
            late: Idle
            main: Idle
            side: Idle
        50 main: send m1 one
            main: Working
            main: m1 sent
            p1 spawned without Agent,Task,Workflow with IPC_PORT=41 CHAT_ID=main DEVICE_ID=device SIDE_CHATS_ONLY=1
            p1 <- initialize engine_initialize
            p1 <- m1
        60 side: send m2 two
            side: Working
            side: m2 sent
            p2 spawned with IPC_PORT=41 CHAT_ID=side DEVICE_ID=device
            p2 <- initialize engine_initialize
            p2 <- m2
        70 late: send m3 three
            late: Working
            late: m3 sent
            p3 spawned with IPC_PORT=41 CHAT_ID=late DEVICE_ID=device
            p3 <- initialize engine_initialize
            p3 <- m3
        80 rpc GetNativeSubagents
            answer 2: {"off":["claude-code"],"switchable":["claude-code"]}
        "#,
    );
}

/// A preference that cannot be read is told, and the engine starts with its default.
#[test]
fn a_corrupt_preference_stops_the_engine() {
    let prefs = vec![("native_subagents_off".to_owned(), "[".to_owned()), ("titles".to_owned(), "false".to_owned())];
    let mut core = Core::new(EngineConfig::default(), 1);
    let mut notices = Vec::new();
    let mut answers = Vec::<Value>::new();
    let asked = Asked::Rpc { method: "GetNativeSubagents".to_owned(), params: json!({}) };
    for input in [Input::Boot(Box::new(Stored { prefs, ..Stored::default() })), Input::Call(Call { id: 1, asked })] {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            for effect in core.step(Now::default(), input) {
                match effect {
                    Effect::Store(_) => next = Some(Input::Stored(Ok(()))),
                    Effect::Publish(Change::Row(Row::Notice(row))) => notices.push(row.text),
                    Effect::Answer(answer) => answers.extend(answer.outcome),
                    _ => {}
                }
            }
        }
    }
    assert_eq!(notices, ["the preference `native_subagents_off` cannot be read and has its default: ["]);
    assert_eq!(answers, [json!({"off": [], "switchable": ["claude-code"]})]);
}
