//! What recorded runs prove. `check` plays a capture of 2.1.310 into a history and compares a summary of the evidence.

use captures::{catalog::Catalog, format, provider::Provider};

use super::*;
use crate::history::Happening;

/// The history of a recorded run: one chat, one process, the user's actions as the host's lines tell them.
pub(crate) fn history_of(version: &str, scene: &str) -> History {
    let capture = Catalog::embedded().get(Provider::Claude, version, scene).expect("an embedded scene");
    let chat = || "chat-1".to_string();
    let mut happenings = Vec::new();
    let mut happens = |what| {
        let at = happenings.len() as u64 + 1;
        happenings.push(Happening { at, what });
    };
    happens(What::Spawned { pid: 1, chat: Some(chat()), argv: capture.header.launch.clone() });
    for entry in &capture.entries {
        match (&entry.what, entry.from) {
            (format::What::Frame(frame), format::From::Cli) => {
                happens(What::Said { pid: 1, frame: frame.clone(), label: String::new(), genuine: true });
            }
            (format::What::Frame(frame), _) => {
                if let Some(uuid) = frame["uuid"].as_str() {
                    let (message, text) = (uuid.to_string(), message_text(frame));
                    happens(What::User(UserAction::Send { chat: chat(), message, text }));
                } else if frame["request"]["subtype"] == "interrupt" {
                    happens(What::User(UserAction::StopTurn { chat: chat() }));
                }
                happens(What::Heard { pid: 1, frame: frame.clone() });
            }
            (format::What::Exit(exit), _) => {
                happens(What::Exited { pid: 1, code: exit.code, signal: exit.signal.clone() });
            }
            _ => {}
        }
    }
    History { happenings, ..History::default() }
}

fn summary(scene: &str) -> String {
    let history = history_of("2.1.310", scene);
    let mut evidence = Evidence::default();
    let mut ran = false;
    // Read frame by frame, as a run does: the outcome may not depend on how much comes at once.
    for length in 0..history.happenings.len() {
        let happenings = history.happenings[..length].to_vec();
        evidence.advance(&History { happenings, ..History::default() });
        ran = evidence.runs("chat-1");
    }
    evidence.advance(&history);
    let mut lines = Vec::new();
    for message in &evidence.messages {
        let text = message_text(frame_at(&history, message.receipts[0].index));
        let state = message.receipts.iter().map(|receipt| match receipt {
            Receipt { returned_at: Some(_), .. } => "given back",
            Receipt { ended_at: Some(_), .. } => "taken, ended",
            Receipt { consumed_at: Some(_), .. } => "taken",
            _ => "waiting",
        });
        lines.push(format!("message {text:.20}: {}", state.collect::<Vec<_>>().join(", ")));
    }
    for result in &evidence.results {
        lines.push(format!("result {:?} {:?} of {}", result.owner, result.meaning, result.names.len()));
    }
    for ask in &evidence.asks {
        lines.push(format!("ask: {} answers, {:?}", ask.answers.len(), ask.ended.map(|(_, end)| end)));
    }
    for task in &evidence.tasks {
        let kind = if task.typed_fork { "typed fork" } else { "task" };
        lines.push(format!("{kind}: {:?}", task.ended.map(|(_, _, outcome)| outcome)));
    }
    for piece in &evidence.pieces {
        let child = if piece.tagged { "  " } else { "" };
        let words = match piece.kind {
            PieceKind::Block(number) if evidence.blocks[number].taken_back.is_some() => "taken back".to_string(),
            PieceKind::Block(number) if evidence.blocks[number].thinking => "thinking".to_string(),
            PieceKind::Thinking(_) => "thinking".to_string(),
            PieceKind::ToolUse(_) => format!("call {}", evidence.tool_block(&history, piece)["name"]),
            PieceKind::ToolResult(_) => "result".to_string(),
            PieceKind::Fork(_) => "fork".to_string(),
            PieceKind::ApiError(_) => format!("error {:.30}", evidence.text(&history, piece)),
            _ => format!("{:?}", evidence.text(&history, piece).chars().take(30).collect::<String>()),
        };
        lines.push(format!("{child}- {words}"));
    }
    if evidence.runs("chat-1") {
        lines.push("runs still".to_string());
    } else if ran {
        lines.push("ran until the process ended".to_string());
    }
    lines.join("\n")
}

fn check(scene: &str, expected: &str) {
    let expected: Vec<&str> =
        expected.trim_matches('\n').lines().map(|line| line.strip_prefix("        ").unwrap_or(line)).collect();
    let found = summary(scene);
    assert_eq!(found.trim_end(), expected.join("\n").trim_end(), "{scene}:\n{found}");
}

#[test]
fn a_plain_turn_is_one_message_and_one_result() {
    check(
        "plain-turn",
        r#"
        message Say hello. MOCK:plai: taken, ended
        result Messages Completed of 1
        - thinking
        - "Hello from the mock. This is a"
        "#,
    );
}

#[test]
fn an_api_error_is_a_failure_though_its_result_says_success() {
    check(
        "api-529-until-retries-end",
        r#"
        message Trigger. MOCK:err: taken, ended
        message And now? MOCK:second: taken, ended
        result Messages Failed of 1
        result Messages Completed of 1
        - error API Error: 529 mock overloaded
        - "Second turn reply."
        "#,
    );
}

#[test]
fn text_that_was_taken_back_is_told_apart_from_what_replaced_it() {
    check(
        "api-cut-mid-stream-then-fallback",
        r#"
        message Trigger. MOCK:err: taken, ended
        message And now? MOCK:second: taken, ended
        result Messages Completed of 1
        result Messages Completed of 1
        - taken back
        - taken back
        - taken back
        - "Recovered after the error. It "
        - "Second turn reply."
        "#,
    );
}

#[test]
fn a_typed_fork_that_was_stopped_is_an_interruption_though_its_result_says_success() {
    check(
        "interrupt-during-typed-fork",
        r#"
        message /slow: taken, ended
        message After the interrupt.: taken, ended
        result Messages Interrupted of 1
        result Messages Completed of 1
        typed fork: Some(Interrupted)
        - fork
          - "Base directory for this skill:"
          - "Step one."
          - call "Bash"
          - result
          - "Step two."
          - "[Request interrupted by user]"
        - "Second turn reply."
        "#,
    );
}

#[test]
fn orphans_of_a_killed_session_bring_a_result_that_is_nobodys() {
    check(
        "resume-after-kill-with-background-agents",
        r#"
        message Go on. MOCK:second: taken, ended
        result Background Completed of 0
        result Messages Completed of 1
        - "Second turn reply."
        "#,
    );
}

#[test]
fn a_queued_message_that_was_cancelled_was_given_back_unread() {
    check(
        "interrupt-cancels-queued-message",
        r#"
        message Sleep. MOCK:longtool: taken, ended
        message Queued one. MOCK:sec: given back
        result Messages Interrupted of 1
        - "Sleeping."
        - call "Bash"
        - result
        "#,
    );
}

#[test]
fn a_question_that_the_provider_took_back_is_owed_no_answer() {
    check(
        "interrupt-while-permission-pending",
        r#"
        message Touch. MOCK:perm: taken, ended
        message After. MOCK:second: taken, ended
        result Messages Interrupted of 1
        result Messages Completed of 1
        ask: 0 answers, Some(Cancelled)
        - "Asking."
        - call "Bash"
        - result
        - "Second turn reply."
        "#,
    );
}

#[test]
fn messages_folded_into_a_running_turn_are_named_by_its_one_result() {
    check(
        "steer-next-during-bash",
        r#"
        message Run two tools. MOCK:: taken, ended
        message Change of plan. MOCK: taken, ended
        result Messages Completed of 2
        - "First."
        - call "Bash"
        - result
        - "Steered reply."
        "#,
    );
}

#[test]
fn a_turn_of_a_process_that_was_killed_is_not_owed() {
    check(
        "killed-mid-tool",
        r#"
        message Sleep. MOCK:longtool: taken
        - "Sleeping."
        - call "Bash"
        ran until the process ended
        "#,
    );
}

#[test]
fn follow_up_turns_of_background_agents_are_nobodys() {
    check(
        "background-agents-two",
        r#"
        message Use two background a: taken, ended
        result Messages Completed of 1
        result Background Completed of 0
        result Background Completed of 0
        task: Some(Completed)
        task: Some(Completed)
        - call "Agent"
        - result
        - call "Agent"
        - result
          - "Sub one works."
          - call "Bash"
          - "Sub two works."
          - call "Bash"
        - "Both launched; waiting."
          - result
          - result
          - "bravo"
          - "alpha"
        - "Both launched; waiting."
        - "Both launched; waiting."
        "#,
    );
}
