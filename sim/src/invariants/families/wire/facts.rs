//! The facts of the wire: places are indexes into the history.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{super::frames, Span};
use crate::view::JournalEntry;

/// One process.
#[derive(Debug, Default)]
pub(in super::super) struct Proc {
    /// The chat that it serves.
    pub chat: Option<String>,
    /// Whether it speaks Claude Code's wire.
    pub claude: bool,
    /// Whether it was told to resume a session: it may know of tasks that this run never saw.
    pub resumed: bool,
    /// Whether it was given its first prompt.
    pub prompted: bool,
    /// Messages in the order in which it read them.
    pub order: Vec<String>,
    /// Where its stdout ended or it did.
    pub gone: Option<usize>,
    /// From where on the host may no longer listen to it: its run was ended by a stop, a failure or a signal, or it is gone.
    pub over: Option<usize>,
    streamed: BTreeSet<String>,
    message: String,
}

impl Proc {
    pub(super) fn new(chat: Option<String>, argv: &[String]) -> Self {
        let program = argv.first().map(|path| path.rsplit('/').next().unwrap_or(path));
        let resumed = argv.iter().any(|word| word == "-r" || word == "--resume" || word.starts_with("--resume="));
        Proc { chat, claude: program == Some("claude"), resumed, ..Proc::default() }
    }

    /// Whether a frame is untagged output that a user would see: text, a tool call, an error, the start of a typed fork.
    pub(super) fn shows(&mut self, frame: &Value) -> bool {
        if frames::tag(frame).is_some() {
            return false;
        }
        match frames::kind(frame) {
            "stream_event" => {
                let event = &frame["event"];
                match frames::kind(event) {
                    "message_start" => {
                        self.message = event["message"]["id"].as_str().unwrap_or_default().to_string();
                        false
                    }
                    "content_block_delta" => {
                        let delta = &event["delta"];
                        if matches!(frames::kind(delta), "text_delta" | "thinking_delta") {
                            self.streamed.insert(self.message.clone());
                        }
                        frames::kind(delta) == "text_delta" && delta["text"].as_str().is_some_and(|text| !text.is_empty())
                    }
                    "message_stop" if !frame["abandoned_blocks"].is_null() => {
                        // Blocks that are taken back may come again whole, under the same message.
                        self.streamed.remove(&self.message);
                        false
                    }
                    _ => false,
                }
            }
            "assistant" if frames::is_api_error(frame) => true,
            "assistant" => {
                let streamed = self.streamed.contains(frame["message"]["id"].as_str().unwrap_or_default());
                let text = |block: &Value| block["text"].as_str().is_some_and(|text| !text.is_empty());
                frames::blocks(frame).any(|block| match frames::kind(block) {
                    "tool_use" => true,
                    "text" => !streamed && text(block),
                    _ => false,
                })
            }
            "rate_limit_event" => frame["rate_limit_info"]["status"].as_str() == Some("rejected"),
            "system" => frames::is_fork_start(frame),
            _ => false,
        }
    }
}

/// One message that a process read.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Written {
    /// Its id.
    pub id: String,
    /// Who read it.
    pub pid: u32,
    /// Where.
    pub heard: usize,
    /// Its number among the messages of the process, from 1.
    pub place: usize,
    /// Whether it was the first prompt of its process: it opens the turn by itself, no Steered confirms it.
    pub first: bool,
    /// Where it was reported as queued.
    pub queued: Option<usize>,
    /// Where a report first said that it was taken: started, echoed, completed, or named by a result.
    pub taken: Option<usize>,
    /// Where it was reported as cancelled or failed before it was taken.
    pub cancelled: Option<usize>,
    /// Where it may have been taken back, by the user or with a stop.
    pub taken_back: Option<usize>,
    /// Where it ended: a result named it, or its turn was settled.
    pub ended: Option<usize>,
    /// How many Steered events name it.
    pub steered: u32,
    /// Where the last of them came from.
    pub steered_at: Option<Span>,
}

impl Written {
    pub(super) fn new(id: &str) -> Self {
        Written { id: id.to_string(), ..Written::default() }
    }

    pub(super) fn take(&mut self, index: usize) {
        self.taken.get_or_insert(index);
    }

    /// Whether it waits to be taken.
    pub fn waits(&self) -> bool {
        let none = [self.taken, self.cancelled, self.taken_back, self.ended].iter().all(Option::is_none);
        none && !self.first && self.steered == 0
    }

    /// Whether it was reported as queued before this place, and as nothing else.
    pub fn is_queued(&self, before: usize) -> bool {
        self.waits() && self.queued.is_some_and(|index| index < before)
    }
}

/// Whose a result is, as far as the host can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Owner {
    /// Messages of ours that had not ended.
    Messages,
    /// Messages of ours that had all ended: a late duplicate.
    Late,
    /// The process: background work, or the orphans of a killed session.
    Process,
    /// It names nobody.
    Nobody,
    /// A message that was being taken back: nobody can tell.
    Unsure,
}

/// One result.
#[derive(Clone, Debug)]
pub(in super::super) struct Told {
    /// Where it was said.
    pub index: usize,
    /// When.
    pub at: u64,
    /// By whom.
    pub pid: u32,
    /// Messages of ours that it names.
    pub mine: Vec<String>,
    /// Whose it is.
    pub owner: Owner,
    /// Whether it tells a failure that is no interrupt.
    pub failed: bool,
    /// Whether it tells a success.
    pub clean: bool,
}

/// One top-level Done.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Settled {
    /// When it reached the viewer.
    pub at: u64,
    /// What may have caused it.
    pub span: Span,
    /// Whether it is an interrupt.
    pub interrupted: bool,
    /// Whether it is a failure.
    pub errored: bool,
    /// Whether the host says that no provider evidence ended the turn.
    pub synthetic: bool,
    /// Whether it is one that a restart or a quiet window made: the provider may tell the real end later.
    pub provisional: bool,
}

impl Settled {
    pub(super) fn read(entry: &JournalEntry, span: Span) -> Self {
        let event = &entry.event;
        let status = event["status"].as_str();
        Settled {
            at: entry.at,
            span,
            interrupted: status == Some("interrupted"),
            errored: status == Some("errored"),
            synthetic: event["synthetic"].is_string(),
            provisional: matches!(event["synthetic"].as_str(), Some("quiesce" | "restart")),
        }
    }
}

/// One chat.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct ChatFacts {
    /// Its last Done.
    pub done: Option<Settled>,
    /// How many there were.
    pub dones: u64,
    /// Its last Steered or Done.
    pub boundary: Option<Span>,
    /// How many Steered there were since the last Done.
    pub steers: u64,
    /// Whether content was journaled since the last Done.
    pub opened: bool,
    /// Since when a message of ours has the turn by a Steered.
    pub own: Option<usize>,
    /// Where a message was sent or written, or a process started, last.
    pub asked: Option<usize>,
    /// Where the user did something that may end a turn, last.
    pub stopped: Option<usize>,
    /// Where untagged output was said last that a user would see.
    pub visible: Option<usize>,
    /// Where something was said last that this judge cannot read: another wire, or a frame that the plan made.
    pub unread: Option<usize>,
    /// Where a process of it ended last.
    pub gone: Option<usize>,
}

impl ChatFacts {
    /// Whether a place lies behind the last Done, as far as can be known: what may have caused the Done counts as behind it.
    pub fn since_done(&self, place: Option<usize>) -> bool {
        match (place, self.done) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(place), Some(done)) => place >= done.span.from,
        }
    }

    /// Whether a place surely lies behind everything that caused the last Done.
    pub fn surely_since_done(&self, place: Option<usize>) -> bool {
        match (place, self.done) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(place), Some(done)) => place >= done.span.to,
        }
    }
}
