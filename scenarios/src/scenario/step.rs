//! Steps: what the user and the world do, one action each.

use std::time::Duration;

use serde_json::Value;

use super::{MAIN_CHAT, Role};
use crate::{
    expect::Expectation,
    plan::{BeatLabel, Cut, DiskFault, Place, When},
    problem::{Span, Spanned},
    words::words,
};

/// How long an `until` may take when it does not say: 60 seconds of virtual time.
pub const WITHIN: Duration = Duration::from_secs(60);

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its number, from 1.
    pub number: u32,
    /// What is done.
    pub action: Action,
    /// The chat it is about; none means [`MAIN_CHAT`].
    pub chat: Option<Spanned<String>>,
    /// The device where it happens; none means the first.
    pub device: Option<Spanned<String>>,
    /// Its name, and that of the message it sends.
    pub label: Option<Spanned<String>>,
    /// Where the key of the action stands.
    pub span: Span,
}

impl Step {
    /// The chat it is about.
    pub fn chat(&self) -> &str {
        self.chat.as_ref().map_or(MAIN_CHAT, |chat| &chat.value)
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        (self.number, &self.action, &self.chat, &self.device, &self.label)
            == (other.number, &other.action, &other.chat, &other.device, &other.label)
    }
}

/// What a step does. Numbers of effects, disk calls and syncs count from the step, the first being 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The user sends a message.
    Send(String),
    /// The user sends the queued message of this label now: the turn is stopped, then it is sent.
    SendNow(Spanned<String>),
    /// The user puts a message into the queue.
    Queue(String),
    /// The user rewrites a queued message.
    Edit {
        /// Its label.
        message: Spanned<String>,
        /// Its new text; an empty one deletes it.
        text: String,
    },
    /// The user takes a queued message back.
    Remove(Spanned<String>),
    /// The user begins to edit a queued message.
    Lease(Spanned<String>),
    /// The user steers the running turn.
    Steer(Steer),
    /// The user stops the chat.
    Stop,
    /// The user answers an approval or a question.
    Answer(Answer),
    /// The user forks the chat.
    Fork {
        /// Label of the message whose reply is the point; none means the last reply.
        point: Option<Spanned<String>>,
        /// What kind of chat it becomes.
        destination: Destination,
        /// The request's id.
        request: Spanned<String>,
        /// The name of the fork in later steps.
        chat: Spanned<String>,
    },
    /// Native subagents on or off.
    Switch {
        /// On.
        on: bool,
        /// Whose; none means those of the first of the cast.
        provider: Option<Role>,
    },
    /// The user closes the chat: its process is told that no more input comes.
    Close,
    /// A chat row is created.
    Create {
        /// The name of the chat in later steps.
        chat: Spanned<String>,
        /// The chat it is a side chat of.
        parent: Option<Spanned<String>>,
    },
    /// A chat row is claimed by the first command that reaches its host.
    Claim {
        /// The name of the chat in later steps.
        chat: Spanned<String>,
        /// The chat it is a side chat of, if the claim knows.
        parent: Option<Spanned<String>>,
    },
    /// The engine is killed.
    Kill(Killing),
    /// The engine starts from its store; if it lives it is killed first.
    Restart(Killing),
    /// Power loss: what was not synced is gone.
    Crash(PowerLoss),
    /// The machine sleeps: the wall clock runs, the monotonic one does not.
    Suspend(Duration),
    /// The network is cut; none means every link.
    Partition(Option<Cut>),
    /// The network carries again; none means every link. Streams that were cut stay dead.
    Heal(Option<Cut>),
    /// A fault of the disk is armed.
    Disk {
        /// The disk call.
        call: u32,
        /// Its outcome.
        with: DiskFault,
    },
    /// A request of the engine's own surface.
    Rpc(Request),
    /// A request to the engine's MCP server.
    Mcp(Request),
    /// A pure view function and its value.
    View(ViewCall),
    /// Time passes.
    Advance(Duration),
    /// Time passes until the view is so.
    Until {
        /// What is to be seen.
        expectation: Expectation,
        /// Virtual time that it may take.
        within: Duration,
    },
    /// The view is so now.
    Expect(Expectation),
    /// A held beat is let go.
    Release(Spanned<BeatLabel>),
    /// Words for the reader of the trace.
    Note(String),
}

impl Action {
    /// The key that a file uses.
    pub fn key(&self) -> &'static str {
        match self {
            Action::Send(_) => "send",
            Action::SendNow(_) => "send_now",
            Action::Queue(_) => "queue",
            Action::Edit { .. } => "edit",
            Action::Remove(_) => "remove",
            Action::Lease(_) => "lease",
            Action::Steer(_) => "steer",
            Action::Stop => "stop",
            Action::Answer(_) => "answer",
            Action::Fork { .. } => "fork",
            Action::Switch { .. } => "switch",
            Action::Close => "close",
            Action::Create { .. } => "create",
            Action::Claim { .. } => "claim",
            Action::Kill(_) => "kill",
            Action::Restart(_) => "restart",
            Action::Crash(_) => "crash",
            Action::Suspend(_) => "suspend",
            Action::Partition(_) => "partition",
            Action::Heal(_) => "heal",
            Action::Disk { .. } => "disk",
            Action::Rpc(_) => "rpc",
            Action::Mcp(_) => "mcp",
            Action::View(_) => "view",
            Action::Advance(_) => "advance",
            Action::Until { .. } => "until",
            Action::Expect(_) => "expect",
            Action::Release(_) => "release",
            Action::Note(_) => "note",
        }
    }

    /// Whether it is something the user does; the timing of these is what `user-timing` perturbs.
    pub fn is_of_the_user(&self) -> bool {
        matches!(
            self,
            Action::Send(_)
                | Action::SendNow(_)
                | Action::Queue(_)
                | Action::Edit { .. }
                | Action::Remove(_)
                | Action::Lease(_)
                | Action::Steer(_)
                | Action::Stop
                | Action::Answer(_)
                | Action::Fork { .. }
                | Action::Switch { .. }
                | Action::Close
        )
    }

    /// Whether it is about a chat that must be there.
    pub fn needs_its_chat(&self) -> bool {
        !matches!(self, Action::Create { .. } | Action::Claim { .. } | Action::Switch { .. } | Action::Rpc(_) | Action::View(_))
    }

    /// Whether it makes a message of the user that its label then names.
    pub fn makes_a_message(&self) -> bool {
        matches!(self, Action::Send(_) | Action::Queue(_) | Action::Steer(Steer::Text(_)))
    }
}

/// What steers.
#[derive(Clone, Debug, PartialEq)]
pub enum Steer {
    /// A new message.
    Text(String),
    /// The queued message of this label.
    Queued(Spanned<String>),
}

/// An answer to an open card.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which open card, 1 being the oldest.
    pub open: u32,
    /// What the user says.
    pub to: AnswerTo,
}

/// What the user says to a card.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerTo {
    /// A decision about an approval.
    Decision {
        /// Which.
        decision: Decision,
        /// What the user says with it.
        message: Option<String>,
        /// Whether the turn ends with it.
        interrupt: bool,
    },
    /// Labels chosen, for each question.
    Choices(Vec<Choice>),
    /// The user's own words.
    Text(String),
}

/// The labels chosen for one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Text of the question; none means the only one.
    pub question: Option<Spanned<String>>,
    /// The labels.
    pub labels: Vec<Spanned<String>>,
}

words! {
    /// A decision about an approval.
    pub enum Decision {
        /// Once.
        Allow = "allow",
        /// From now on.
        AllowAlways = "allow_always",
        /// No.
        Deny = "deny",
    }
}

words! {
    /// What a fork becomes.
    pub enum Destination {
        /// A chat of its own.
        Main = "main",
        /// A side chat.
        Side = "side",
    }
}

/// When the engine is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killing {
    /// Now, between two events.
    Now,
    /// At a point that comes.
    At(Place, When),
}

/// When the power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerLoss {
    /// Now.
    Now,
    /// At a sync that comes.
    At {
        /// Which.
        sync: u32,
        /// Whether the sector that was being written is torn.
        torn: bool,
    },
}

/// A request and the answer it must get, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Spanned<String>,
    /// Its parameters, an object.
    pub params: Value,
    /// The answer.
    pub answer: Spanned<Value>,
}

/// A pure view function and the value it must have.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewCall {
    /// Name of the function.
    pub of: Spanned<String>,
    /// Its arguments, an object.
    pub given: Value,
    /// The value.
    pub is: Spanned<Value>,
}
