//! What agents do with chats through the engine's MCP server.

use crate::rig::check;

/// MC-02: a side chat creates none, nor does a chat that may be one; a main chat's side chats are its own, and run.
#[test]
fn a_side_chat_creates_chats() {
    check(
        r#"
        10 send m1 one
            Working
            m1 sent
            p1 spawned
            p1 <- m1
        20 mcp create_chats {"chats":[{"prompt":"go","title":"Part"},{"prompt":"on"}]}
            side1: Idle
            side1: Working
            side1: note1 sent
            p2 spawned
            p2 <- note1
            side2: Idle
            side2: Working
            side2: note2 sent
            p3 spawned
            p3 <- note2
            answer 1: {"chats":[{"chat_id":"side1","message_id":"note1"},{"chat_id":"side2","message_id":"note2"}]}
        30 side1: mcp create_chats {"chats":[{"prompt":"deeper"}]}
            answer 2: refused, A side chat may not create chats.
        40 side1: mcp whoami
            answer 3: {"chat_id":"side1","device_id":"device","side_chat":true,"side_chats_only":false,"cwd":"/w","parent":"c"}
        50 mcp whoami
            answer 4: {"chat_id":"c","device_id":"device","side_chat":false,"side_chats_only":false,"cwd":"/w"}
        60 late: claim /w
            late: Idle
        70 late: mcp create_chats {"chats":[{"prompt":"deeper"}]}
            answer 5: refused, This chat may be a side chat, which may not create chats.
        "#,
    );
}

/// SW-06, SW-12: the rule about delegation is told exactly to the server that was started with the flag.
#[test]
fn an_agent_is_told_the_wrong_way_to_delegate() {
    check(
        r#"
        10 mcp initialize
            answer 1: Tools of the engine that runs this chat: chats can be created, messaged, waited for, read and archived.
        20 mcp-only initialize
            answer 2: Tools of the engine that runs this chat: chats can be created, messaged, waited for, read and archived. Where you would start a subagent, delegate with create_chats instead.
        30 side: chat mock parent=c
        40 side: mcp initialize
            answer 3: Tools of the engine that runs this chat: chats can be created, messaged, waited for, read and archived. This is a side chat: it may not create chats.
        "#,
    );
}

/// MC-03: the wait is answered once, at the end of the turn that the message began: not before it began, and not never when it
/// was over before the wait came.
#[test]
fn a_wait_ends_before_its_turn_or_never() {
    check(
        r#"
        10 mcp create_chats {"chats":[{"prompt":"go"}]}
            side1: Idle
            side1: Working
            side1: note1 sent
            p1 spawned
            p1 <- note1
            answer 1: {"chats":[{"chat_id":"side1","message_id":"note1"}]}
        20 mcp wait_for_turn {"chat_id":"side1"}
        30 side1: say taken note1 ; text done
            side1: note1 delivered
        40 side1: say done completed
            side1: Idle
            answer 2: {"chat_id":"side1","status":"idle"}
        50 mcp send_messages {"messages":[{"chat_id":"side1","text":"again"}]}
            side1: Working
            side1: note2 sent
            p1 <- note2
            answer 3: {"messages":[{"chat_id":"side1","message_id":"note2"}]}
        60 side1: say steered note2 ; text quick ; done completed
            side1: note2 delivered
            side1: Working
            side1: Idle
        70 mcp wait_for_turn {"chat_id":"side1"}
            answer 4: {"chat_id":"side1","status":"idle"}
        80 mcp send_messages {"messages":[{"chat_id":"side1","text":"more"},{"chat_id":"side1","text":"behind it","mode":"queue"}]}
            side1: Working
            side1: note3 sent
            p1 <- note3
            side1: note4 queued
            answer 5: {"messages":[{"chat_id":"side1","message_id":"note3"},{"chat_id":"side1","message_id":"note4"}]}
        90 mcp wait_for_turn {"chat_id":"side1"}
        100 side1: say steered note3 ; done completed
            side1: note3 delivered
            side1: Working
            side1: Idle
            side1: Working
            side1: note4 sent
            p1 <- note4
        110 side1: say steered note4 ; done errored no
            side1: note4 delivered
            side1: Working
            side1: Errored
            p1 <- end
            p1 SIGTERM
            answer 6: {"chat_id":"side1","status":"errored"}
        120 side1: exit 0
        "#,
    );
}

/// A wait for nothing, and a wait for a chat that is not there, are refused rather than kept for ever.
#[test]
fn a_wait_for_nothing_lasts() {
    check(
        r#"
        10 other: chat mock
        20 mcp wait_for_turn {"chat_id":"other"}
            answer 1: refused, No turn of that chat runs, and you sent it nothing.
        30 mcp wait_for_turn {"chat_id":"gone"}
            answer 2: refused, There is no chat gone.
        40 mcp send_messages {"messages":[{"chat_id":"other","text":"go"},{"chat_id":"gone","text":"go"}]}
            answer 3: refused, There is no chat gone.
        50 mcp spawn {}
            answer 4: error, There is no method `spawn`.
        "#,
    );
}

/// Only a side chat of the caller is archived: its run is stopped, and it can be read.
#[test]
fn an_agent_archives_somebody_elses_chat() {
    check(
        r#"
        0 show chat
        10 mcp create_chats {"chats":[{"prompt":"go"}]}
            side1: no message
            side1: Idle
            side1: Working
            side1: note1 sent
            side1: last message: go
            p1 spawned
            p1 <- note1
            answer 1: {"chats":[{"chat_id":"side1","message_id":"note1"}]}
        20 side1: say taken note1 ; text as far as I came
            side1: note1 delivered
        30 other: chat mock
        40 other: mcp archive_chat {"chat_id":"side1"}
            answer 2: refused, Only a side chat of this chat can be archived.
        50 mcp archive_chat {"chat_id":"side1"}
            p1 <- interrupt
            p1 SIGTERM
            side1: last message: go
            answer 3: {"chat_id":"side1","archived":true}
        60 side1: say done interrupted
            side1: Idle
            p1 <- end
        70 side1: exit 0
        80 mcp read_chat {"chat_id":"side1","entries":1}
            answer 4: {"chat_id":"side1","title":null,"status":"idle","entries":[{"role":"assistant","status":"aborted","text":"as far as I came"}]}
        "#,
    );
}
