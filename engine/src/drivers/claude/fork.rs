//! The typed fork: a `/skill` whose skill runs in a fork.
//!
//! It has no tool call, so its chip is made from its task's start. Its settle comes *before* its transcript, so the status is
//! stored at the notification and the chip settles directly before the turn's Done.

use serde_json::{Value, json};

use crate::{
    drivers::Cx,
    event::{AgentEvent, DoneStatus, ToolCall},
};

/// Tag under which the CLI replays the transcript of a typed fork; the rest of the tag may differ from the typed name.
pub const TAG: &str = "forked-command-";

/// A typed fork that has not settled.
#[derive(Debug)]
pub struct TypedFork {
    /// Our chip: the CLI's tag is the same on every run of a command, so the task id makes it unique (T1).
    pub chip: String,
    /// Task id.
    pub task: String,
    prompt: String,
    echo_used: bool,
    /// What its notification said.
    pub status: Option<DoneStatus>,
}

impl TypedFork {
    /// Opens the chip and its tab. `prompt` may be any JSON, so that an odd shape does not cost the frame; without one the tab
    /// opens with the command, since a tab without an opening is not counted.
    pub fn open(cx: &mut Cx<'_>, task: &str, description: &str, prompt: &Value) -> Self {
        let command = description.split_whitespace().next().unwrap_or("/");
        let chip = format!("{TAG}{}-{task}", command.trim_start_matches('/'));
        let prompt = match prompt {
            Value::String(text) => text.clone(),
            Value::Null => description.to_owned(),
            other => other.to_string(),
        };
        cx.event(AgentEvent::ToolCall {
            id: chip.clone(),
            call: ToolCall::Unknown { name: format!("Agent: {command}"), input: json!({}) },
        });
        cx.tagged(&chip, AgentEvent::UserMessage { text: prompt.clone() });
        TypedFork { chip, task: task.to_owned(), prompt, echo_used: false, status: None }
    }

    /// Whether a tagged user text is the echo of the prompt: dropped once, the fork's own repeat is kept.
    pub fn is_echo(&mut self, text: &str) -> bool {
        if self.echo_used || text.trim() != self.prompt.trim() {
            return false;
        }
        self.echo_used = true;
        true
    }

    /// Settles the chip: its two events come directly before the turn's Done (T4). `turn` is used where no status was stored.
    pub fn settle(self, cx: &mut Cx<'_>, turn: DoneStatus) {
        let status = self.status.unwrap_or(turn);
        cx.tagged(&self.chip, AgentEvent::Done { status, result: None, error: None, session_id: None, synthetic: None });
        cx.event(AgentEvent::ToolResult { id: self.chip, is_error: status == DoneStatus::Errored, output: None, diff: None });
    }
}
