//! The host view: plain data, one per viewer. An adapter for another host only has to fill this.
//!
//! The *shown* part is built from the row feed and from document update bytes imported into the view's own document; it reads
//! no state inside the host. The *inside* part comes by a second door and may be missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything a viewer of the host knows at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostView {
    /// The world's clock.
    pub clock: Clock,
    /// Chats in order of creation.
    pub chats: Vec<Chat>,
    /// What the host's own record tells; `None` for a host without that door.
    pub inside: Option<Inside>,
}

impl HostView {
    /// The chat of this id.
    pub fn chat(&self, id: &str) -> Option<&Chat> {
        self.chats.iter().find(|chat| chat.id == id)
    }
}

/// Both clocks of the host's machine, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Monotonic, from the start of the run.
    pub mono: u64,
    /// Wall clock, since 1970.
    pub wall: u64,
}

/// Status shown for a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing runs.
    #[default]
    Idle,
    /// A turn runs.
    Working,
    /// A question or approval waits for the human.
    AwaitingInput,
    /// The last turn failed.
    Failed,
}

/// One chat as shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chat {
    /// Chat id.
    pub id: String,
    /// Parent chat of a side chat.
    pub parent: Option<String>,
    /// Status shown.
    pub status: Status,
    /// The number on the pill "● N": subagents running now.
    pub pill: u32,
    /// The host's working indicator (waiting for input counts as busy).
    pub busy: bool,
    /// Provider session id, where the host shows one.
    pub session: Option<String>,
    /// Last turn counted as completed.
    pub completed_turns: u64,
    /// Wall clock of the last user message, ms.
    pub last_message_at: Option<u64>,
    /// Rows of the session card: one per subagent shown, in transcript order.
    pub rows: Vec<SubagentRow>,
    /// Subagent documents, in order of opening.
    pub tabs: Vec<Tab>,
    /// Turns in order of acceptance.
    pub turns: Vec<Turn>,
    /// User messages in order of acceptance.
    pub messages: Vec<Message>,
    /// Questions and approvals in order of opening.
    pub approvals: Vec<Approval>,
    /// Ids of the queued messages, head first.
    #[serde(default)]
    pub queue: Vec<String>,
    /// Whether the queue waits for an explicit send.
    #[serde(default)]
    pub queue_paused: bool,
    /// The transcript: entries of the chat document in order.
    pub transcript: Vec<Entry>,
    /// The host's journal as the row feed brought it.
    pub journal: Vec<JournalEntry>,
    /// What was made and has not reached this viewer.
    pub delivery: Delivery,
}

impl Chat {
    /// Number of rows in state running: what the pill must say in delivered state.
    pub fn running_rows(&self) -> u32 {
        self.rows.iter().filter(|row| row.state == ChildState::Running).count() as u32
    }

    /// The turn that is accepted and not settled, if there is one.
    pub fn open_turn(&self) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.settles.is_empty())
    }

    /// All tool parts of the transcript, in order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.transcript.iter().flat_map(|entry| &entry.parts).filter_map(|part| match part {
            Part::Tool(tool) => Some(tool),
            _ => None,
        })
    }

    /// Texts of the error parts of the transcript: notices shown to the user.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.transcript.iter().flat_map(|entry| &entry.parts).filter_map(|part| match part {
            Part::Error { message } => Some(message.as_str()),
            _ => None,
        })
    }
}

/// State of a subagent row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChildState {
    /// Runs.
    Running,
    /// Settled.
    Done,
    /// Failed, or its run ended under it.
    Failed,
}

/// One row of the session card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentRow {
    /// Child key: the id of the child's document.
    pub child: String,
    /// The tool part (chip) it stands for.
    pub chip: String,
    /// Shown title: `Agent: /probe`, the second of one name `Agent: /probe#2`.
    pub title: String,
    /// Its state.
    pub state: ChildState,
}

/// One subagent document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// Child key: the document's id.
    pub child: String,
    /// Shown title, empty while no chip refers to the document.
    pub title: String,
    /// Its entries.
    pub entries: Vec<Entry>,
}

/// What made the host open a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A user message, by its id.
    Message(String),
    /// Work of the provider that nobody asked for.
    Wake,
    /// Recovery after a restart.
    Recovery,
}

/// Outcome of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The provider finished.
    Completed,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Interrupted,
}

/// One end that the host showed for a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settle {
    /// When, ms of the monotonic clock.
    pub at: u64,
    /// How.
    pub outcome: Outcome,
    /// Cause named for a failure.
    pub error: Option<String>,
    /// Set when the host says that no provider evidence ended it (`restart`, `quiesce`, `interrupt-deadline` …).
    pub synthetic: Option<String>,
}

/// One turn: from acceptance to its settle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Number within the chat, from 1.
    pub number: u64,
    /// What opened it.
    pub cause: Cause,
    /// When, ms of the monotonic clock.
    pub accepted_at: u64,
    /// Its ends; more than one is a fault.
    pub settles: Vec<Settle>,
}

/// What is shown of a user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MessageState {
    /// Waits in the queue.
    Queued,
    /// Handed to the provider, not taken yet.
    Sent,
    /// Taken by a turn or steer.
    Delivered,
    /// Shown as not delivered, with a way to retry.
    NotDelivered,
    /// Taken back by the user.
    Withdrawn,
}

/// One user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its id, the uuid that the provider sees.
    pub id: String,
    /// Its text.
    pub text: String,
    /// When it was accepted, ms of the monotonic clock.
    pub accepted_at: u64,
    /// What is shown of it.
    pub state: MessageState,
}

/// One question or approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// The host's id of it.
    pub id: String,
    /// The provider's id of the request.
    pub provider_request: String,
    /// When the card appeared, ms of the monotonic clock.
    pub opened_at: u64,
    /// When it disappeared.
    pub closed_at: Option<u64>,
    /// How often it was opened and closed; more than one each is a fault.
    pub openings: u32,
    /// How often it was closed.
    pub closings: u32,
}

/// State of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryState {
    /// Being written.
    Streaming,
    /// Finished.
    Complete,
    /// Cut.
    Aborted,
}

/// One message of a transcript or tab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Entry id; for user entries the message id.
    pub id: String,
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// Its state.
    pub state: EntryState,
    /// Its parts in order.
    pub parts: Vec<Part>,
}

/// One part of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Text of the reply, or of the user.
    Text {
        /// The provider's part key, where the host keeps one.
        key: Option<String>,
        /// The text.
        text: String,
    },
    /// Thinking.
    Reasoning {
        /// The provider's part key.
        key: Option<String>,
        /// The text.
        text: String,
    },
    /// A tool call.
    Tool(Tool),
    /// A question card.
    Input {
        /// The host's id of the request.
        request: String,
        /// True once it is closed.
        resolved: bool,
    },
    /// An error shown to the user.
    Error {
        /// Its words.
        message: String,
    },
    /// Anything else, by its kind.
    Other {
        /// The kind's name.
        kind: String,
    },
}

/// A tool part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The provider's tool id.
    pub id: String,
    /// Name of the tool, or of the chip (`Agent: /probe`).
    pub name: String,
    /// True once a result came.
    pub resolved: bool,
    /// True when the result was an error.
    pub is_error: bool,
    /// The child's document, for a chip that has one.
    pub child: Option<String>,
    /// The child's state, for a chip.
    pub child_state: Option<ChildState>,
}

/// One journaled event of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalEntry {
    /// When it reached the viewer, ms of the monotonic clock.
    pub at: u64,
    /// Its number; from 1, no gaps.
    pub seq: u64,
    /// The event, `{"type": "textDelta", …}`.
    pub event: Value,
}

/// What was made for this viewer and has not reached it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Row changes under way.
    pub rows: u32,
    /// Document updates under way.
    pub docs: u32,
    /// True while document changes wait for their flush.
    pub unflushed: bool,
}

impl Delivery {
    /// Whether this viewer has everything made so far.
    pub fn is_delivered(&self) -> bool {
        self.rows == 0 && self.docs == 0 && !self.unflushed
    }
}

/// The host's own record of what its shell did and sleeps for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inside {
    /// Every timer that the host has armed, first deadline first.
    pub timers: Vec<Timer>,
    /// Processes that the host started, in order.
    pub processes: Vec<Process>,
    /// Requests of the host to a provider, in order.
    pub requests: Vec<Request>,
}

/// An armed timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timer {
    /// Deadline, ms of the monotonic clock.
    pub deadline: u64,
    /// Class letter: P, D, R, L or S.
    pub class: String,
    /// Its key: chat, name, number.
    pub key: String,
}

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessState {
    /// Runs.
    Alive,
    /// Ended; the host has not taken note yet.
    Exited,
    /// Ended and reaped by the host.
    Reaped,
    /// Its host ended, and it has not.
    Orphan,
}

/// A process that the host started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Process id of the world.
    pub pid: u32,
    /// The chat it serves.
    pub chat: Option<String>,
    /// Its command line.
    pub argv: Vec<String>,
    /// When it was started, ms of the monotonic clock.
    pub started_at: u64,
    /// Its state.
    pub state: ProcessState,
    /// Whether the host still holds a lease for it.
    pub leased: bool,
    /// Signals that the host sent to it, in order, with their times.
    pub signals: Vec<(u64, String)>,
}

/// A request of the host to a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// Its id on the wire.
    pub id: String,
    /// Process it went to.
    pub pid: u32,
    /// Its method or subtype.
    pub method: String,
    /// When it was sent, ms of the monotonic clock.
    pub sent_at: u64,
    /// When it ended: answered, given up at a deadline, or its process gone.
    pub ended_at: Option<u64>,
    /// How it ended: `answer`, `error`, `deadline`, `process-gone`.
    pub end: Option<String>,
}
