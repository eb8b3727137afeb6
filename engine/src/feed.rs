//! What a viewer receives, and nothing else: changes of store rows, and update bytes of documents.
//!
//! These types are the engine's outer surface. A viewer has no other way to learn anything: pill and rows reach it by two
//! different feeds and are computed apart.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{core::input::Parent, event::AgentEvent};

/// One change on one of the two feeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// The row feed.
    Row(Row),
    /// The document feed.
    Doc(DocUpdate),
}

/// New state of one store row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Row {
    /// A chat's identity and configuration.
    Chat(ChatRow),
    /// The published state of a chat's run.
    Session(SessionRow),
    /// What became of one user message.
    Message(MessageRow),
    /// A question or approval that is open, or was.
    Input(InputRow),
    /// One journaled event with its number.
    Journal(JournalRow),
    /// A word about the device itself.
    Notice(NoticeRow),
    /// The queue of a chat.
    Queue(QueueRow),
    /// What became of a command.
    Command(CommandRow),
}

/// The queue of a chat as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueRow {
    /// Chat id.
    pub chat_id: String,
    /// Nothing of it is sent until an explicit send.
    pub paused: bool,
    /// Its messages, head first.
    pub messages: Vec<String>,
    /// What is known of some of them besides their words.
    pub notes: BTreeMap<String, QueueNote>,
}

/// What is known of a queued message besides its words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct QueueNote {
    /// Attachments that are not there yet; it is held until they are.
    pub pending_attachments: BTreeSet<String>,
    /// Wall clock of the last edit, ms.
    pub edited_at: Option<u64>,
}

/// A command of the ledger: executed at most once, whatever reaches the host how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRow {
    /// Its id.
    pub command_id: String,
    /// The chat.
    pub chat_id: String,
    /// Where it stands.
    pub status: CommandStatus,
    /// How it was done, where that is not plain.
    pub resolution: Option<String>,
}

/// Where a command stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandStatus {
    /// Marked as processed, and not answered yet.
    Pending,
    /// Done.
    Applied,
    /// Not done, and it will not be.
    Rejected,
}

/// A word about a device that belongs to no chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeRow {
    /// The device.
    pub device_id: String,
    /// Words for the user.
    pub text: String,
}

/// Registry row of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatRow {
    /// Chat id.
    pub chat_id: String,
    /// Device that hosts it.
    pub device_id: String,
    /// Working directory.
    pub cwd: String,
    /// First words of the last message, at most 120 characters.
    pub preview: String,
    /// Wall clock of the last user message, ms.
    pub last_message_at: Option<u64>,
    /// The provider's session id; an empty string is a tombstone (no resume).
    pub harness_session_id: Option<String>,
    /// The chat it is a side chat of.
    #[serde(default)]
    pub parent: Parent,
    /// Its title, where somebody gave it one.
    #[serde(default)]
    pub title: Option<String>,
    /// It was put away.
    #[serde(default)]
    pub archived: bool,
}

/// Status that a viewer shows for a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Nothing runs.
    Idle,
    /// A turn runs.
    Working,
    /// A question or approval waits for the human.
    AwaitingInput,
    /// The last turn failed.
    Errored,
}

/// Session row: the published state of a chat's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Chat id.
    pub chat_id: String,
    /// Device that hosts it.
    pub device_id: String,
    /// What is shown.
    pub status: Status,
    /// Wall clock when Working began, ms; cleared on settle.
    pub started_at: Option<u64>,
    /// Wall clock of the last change, ms.
    pub updated_at: u64,
    /// Number of the last turn that completed (R2).
    pub last_completed_turn: u64,
    /// The pill: number of live sinks.
    pub running_subagents: u32,
}

/// What became of one user message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MessageState {
    /// Waits in the queue, shown so.
    Queued,
    /// Handed to a run; the provider has not taken it yet.
    Sent,
    /// A turn or steer of the provider took it.
    Delivered,
    /// Its run ended before the provider took it; shown with a way to retry.
    NotDelivered,
    /// Taken back by the user.
    Withdrawn,
}

/// Row of one user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRow {
    /// Chat id.
    pub chat_id: String,
    /// Message id, the uuid that the provider sees.
    pub message_id: String,
    /// Its text.
    pub text: String,
    /// What became of it.
    pub state: MessageState,
}

/// Row of one question or approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRow {
    /// Chat id.
    pub chat_id: String,
    /// Our id of the request.
    pub request_id: String,
    /// The provider's own id of the request.
    pub provider_request_id: String,
    /// True while the card is shown.
    pub open: bool,
}

/// One journaled event. Sequence numbers start at 1 per chat and have no gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRow {
    /// Chat id.
    pub chat_id: String,
    /// Grows by one when recovery cut or skipped a record.
    pub era: u64,
    /// Number within the chat.
    pub seq: u64,
    /// The event.
    pub event: AgentEvent,
}

/// Update bytes of one Loro document.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocUpdate {
    /// Document id: the chat id, or `<chat>--sub--<chip>` for a subagent.
    pub doc_id: String,
    /// The chat it belongs to.
    pub chat_id: String,
    /// Loro update bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for DocUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The bytes are a wall of numbers; their length tells what a reader of a trace needs.
        f.debug_struct("DocUpdate").field("doc_id", &self.doc_id).field("bytes", &self.bytes.len()).finish()
    }
}
