//! The cast: provider processes and what their tapes do otherwise, the mock's events, the in-process agent.

use std::{collections::BTreeMap, time::Duration};

use captures::provider::Provider;
use serde_json::Value;

use crate::{
    plan::{BeatLabel, Exit, Insertion, Pipe, Signal},
    problem::{Span, Spanned},
    words::words,
};

words! {
    /// Whose process it is.
    pub enum Role {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// OpenCode.
        Opencode = "opencode",
        /// Pi.
        Pi = "pi",
        /// No CLI: normalized events through the mock driver, for rules that belong to no provider.
        Mock = "mock",
    }
}

impl Role {
    /// The provider; none for the mock.
    pub fn provider(self) -> Option<Provider> {
        match self {
            Role::Claude => Some(Provider::Claude),
            Role::Codex => Some(Provider::Codex),
            Role::Opencode => Some(Provider::Opencode),
            Role::Pi => Some(Provider::Pi),
            Role::Mock => None,
        }
    }
}

/// One provider process. The first entry of a role answers the first process of that provider that a device starts, the
/// second the second, and so on.
#[derive(Clone, Debug)]
pub struct CastEntry {
    /// Whose process.
    pub role: Spanned<Role>,
    /// Its name in labels and reports: as given, else `claude`, `claude#2` ….
    pub name: String,
    /// Device whose engine starts it; none means the first.
    pub device: Option<Spanned<String>>,
    /// What it says.
    pub frames: Frames,
    /// What its tape does otherwise, in the order of the file.
    pub edits: Vec<Spanned<Edit>>,
    /// Where the entry stands.
    pub span: Span,
}

impl PartialEq for CastEntry {
    fn eq(&self, other: &Self) -> bool {
        (&self.role, &self.name, &self.device, &self.frames, &self.edits)
            == (&other.role, &other.name, &other.device, &other.frames, &other.edits)
    }
}

/// Where a process's frames come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// A recorded scene.
    Capture {
        /// Its name.
        scene: Spanned<String>,
        /// Only this version; else the one asked for, else the newest that has the scene.
        version: Option<Spanned<String>>,
    },
    /// Normalized events of the mock.
    Events(Vec<Event>),
}

/// What a tape does otherwise than it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// It stops after this beat until a step releases it.
    Hold(BeatLabel),
    /// This beat is not said.
    Drop(BeatLabel),
    /// This beat is said twice.
    Duplicate(BeatLabel),
    /// These two beats change places.
    Swap(BeatLabel, BeatLabel),
    /// This beat and those after it come later.
    Delay {
        /// Which.
        label: BeatLabel,
        /// How much later.
        by: Duration,
    },
    /// A line that the recording does not hold.
    Insert {
        /// The line.
        line: Insertion,
        /// The beat before it.
        after: BeatLabel,
    },
    /// The process ends.
    Exit {
        /// How.
        exit: Exit,
        /// The beat before it.
        after: BeatLabel,
    },
    /// A pipe is closed.
    Close {
        /// Which.
        pipe: Pipe,
        /// The beat before it.
        after: BeatLabel,
    },
    /// The process reads no more.
    Deaf {
        /// The beat from which on.
        after: BeatLabel,
    },
    /// A signal has no effect on the process.
    Ignore(Signal),
}

/// One event of the mock.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The normalized event: its name, or an object. Which events there are is the engine's business.
    pub event: Spanned<Value>,
    /// Time since the event before it.
    pub at: Duration,
    /// What the host has to do first; the events behind it wait too.
    pub on: Option<Trigger>,
    /// Its label.
    pub label: Option<Spanned<String>>,
}

words! {
    /// What a host does that an event of the mock waits for.
    pub enum Trigger {
        /// It starts a run or a turn with a message.
        Message = "message",
        /// It steers.
        Steer = "steer",
        /// It stops the turn.
        Stop = "stop",
        /// It answers a question or an approval.
        Answer = "answer",
    }
}

/// The in-process agent loop with a scripted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    /// What the model answers, one after another.
    pub replies: Vec<Reply>,
    /// What it answers to each spawned agent, by the agent's title.
    pub children: BTreeMap<String, Vec<Reply>>,
    /// The tools it is offered.
    pub tools: Vec<String>,
    /// How deep agents may spawn agents; none means the engine's default.
    pub depth: Option<u32>,
}

/// One answer of the scripted model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What it thinks first.
    pub thinking: Option<String>,
    /// What it says or does.
    pub content: ReplyContent,
    /// How long it takes.
    pub after: Duration,
}

/// What the scripted model says or does.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyContent {
    /// Words; they end the turn.
    Text(String),
    /// Tool calls, made at once.
    Tools(Vec<ToolCall>),
    /// The request fails with these words.
    Fail(String),
}

/// One tool call of the scripted model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Name of the tool.
    pub tool: Spanned<String>,
    /// Its arguments, an object.
    pub input: Value,
    /// What the tool answers, when the world answers for it.
    pub result: Option<String>,
}
