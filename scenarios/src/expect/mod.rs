//! Expectations: what a viewer of the host is to see.
//!
//! An [`Expectation`] is an ordered list of [`Check`]s. Each has a [`Path`] into the host view of one chat, a
//! [`Matcher`] and its place in the file. This module knows nothing of a host: whoever plays a scenario looks the path
//! up in its own view and asks the matcher. Reading and matching are the only things that happen here, so the same
//! words mean the same for every host.
//!
//! | written as | path | matcher |
//! |---|---|---|
//! | `status = "idle"` | [`Path::Status`] | [`Matcher::Status`] |
//! | `pill = 1`, `pill = { at_least = 1 }` | [`Path::Pill`] | [`Matcher::Number`] |
//! | `busy = true` | [`Path::Busy`] | [`Matcher::Flag`] |
//! | `turns = 2` | [`Path::Turns`] | [`Matcher::Number`] |
//! | `turns = ["completed", "interrupted"]` | [`Path::Outcomes`] | [`Matcher::Outcomes`] |
//! | `rows.running = 1`, `.done`, `.failed`, `.all` | [`Path::RowCount`] | [`Matcher::Number`] |
//! | `rows = ["Agent: /probe"]` | [`Path::RowTitles`] | [`Matcher::Names`] |
//! | `row."Agent: /probe" = "running"` | [`Path::Row`] | [`Matcher::Row`] |
//! | `tab."Agent: /probe" = ["prompt", "reply"]` (or `.entries`) | [`Path::TabEntries`] | [`Matcher::Kinds`] |
//! | `tab."Agent: /probe".text = …` | [`Path::TabText`] | [`Matcher::Text`] |
//! | `tab."Agent: /probe".last_reply = …` | [`Path::TabLastReply`] | [`Matcher::Text`] |
//! | `tab."Agent: /probe".state = "aborted"` | [`Path::TabState`] | [`Matcher::Entry`] |
//! | `entries = ["prompt", "thinking", "reply"]` | [`Path::Entries`] | [`Matcher::Kinds`] |
//! | `text = "Hello"`, `text = { contains = "Hel" }` | [`Path::Text`] | [`Matcher::Text`] |
//! | `transcript = …` | [`Path::Transcript`] | [`Matcher::Text`] |
//! | `last_reply = …` | [`Path::LastReply`] | [`Matcher::Text`] |
//! | `messages.second = "delivered"` | [`Path::Message`] | [`Matcher::Message`] |
//! | `queue = ["second"]` (or `queue.messages`) | [`Path::Queue`] | [`Matcher::Names`] |
//! | `queue.length = 1` | [`Path::QueueLength`] | [`Matcher::Number`] |
//! | `queue.paused = true` | [`Path::QueuePaused`] | [`Matcher::Flag`] |
//! | `question = true` | [`Path::QuestionOpen`] | [`Matcher::Flag`] |
//! | `approval = true` | [`Path::ApprovalOpen`] | [`Matcher::Flag`] |
//! | `notices = ["…"]` | [`Path::Notices`] | [`Matcher::Texts`] |
//! | `notices = { contains = "…" }` | [`Path::NoticeText`] | [`Matcher::Text`] |

mod matching;
pub(crate) mod parse;

use std::fmt;

pub use matching::{Number, TextMatch};

use crate::{
    problem::{Span, Spanned},
    words::words,
};

/// What is to be seen, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectation {
    /// Each is to hold.
    pub checks: Vec<Check>,
}

/// One thing that is to be seen.
#[derive(Clone, Debug)]
pub struct Check {
    /// Where to look.
    pub path: Path,
    /// What to find there.
    pub matcher: Matcher,
    /// Where the key that says so stands.
    pub span: Span,
}

impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.matcher == other.matcher
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.matcher)
    }
}

/// A place in the host view of one chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// Status of the chat.
    Status,
    /// Number of running children shown.
    Pill,
    /// The working indicator.
    Busy,
    /// Number of turns accepted.
    Turns,
    /// Outcome of each turn in order.
    Outcomes,
    /// Number of rows, of one state or of all.
    RowCount(Option<RowState>),
    /// Shown titles of all rows in order.
    RowTitles,
    /// State of the row of this title.
    Row(String),
    /// Kinds of the entries of the tab of this title.
    TabEntries(String),
    /// Prompts, replies, errors and notices of the tab in order, joined by an empty line.
    TabText(String),
    /// The last reply in the tab.
    TabLastReply(String),
    /// State of the last entry of the tab.
    TabState(String),
    /// Kinds of the chat's entries.
    Entries,
    /// All replies of the chat, joined by an empty line.
    Text,
    /// Prompts, replies, errors and notices of the chat in order, joined by an empty line. No thinking, nothing of tools.
    Transcript,
    /// The last reply of the chat.
    LastReply,
    /// State of the message that the step of this label sent.
    Message(String),
    /// Labels of the queued messages in order.
    Queue,
    /// Number of queued messages.
    QueueLength,
    /// Whether the queue waits for an explicit send.
    QueuePaused,
    /// Whether a question is open.
    QuestionOpen,
    /// Whether an approval is open.
    ApprovalOpen,
    /// The notices shown, in order.
    Notices,
    /// The notices shown, joined by an empty line.
    NoticeText,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Status => f.write_str("status"),
            Path::Pill => f.write_str("pill"),
            Path::Busy => f.write_str("busy"),
            Path::Turns | Path::Outcomes => f.write_str("turns"),
            Path::RowCount(Some(state)) => write!(f, "rows.{state}"),
            Path::RowCount(None) => f.write_str("rows.all"),
            Path::RowTitles => f.write_str("rows"),
            Path::Row(title) => write!(f, "row.{title:?}"),
            Path::TabEntries(title) => write!(f, "tab.{title:?}"),
            Path::TabText(title) => write!(f, "tab.{title:?}.text"),
            Path::TabLastReply(title) => write!(f, "tab.{title:?}.last_reply"),
            Path::TabState(title) => write!(f, "tab.{title:?}.state"),
            Path::Entries => f.write_str("entries"),
            Path::Text => f.write_str("text"),
            Path::Transcript => f.write_str("transcript"),
            Path::LastReply => f.write_str("last_reply"),
            Path::Message(label) => write!(f, "messages.{label}"),
            Path::Queue => f.write_str("queue"),
            Path::QueueLength => f.write_str("queue.length"),
            Path::QueuePaused => f.write_str("queue.paused"),
            Path::QuestionOpen => f.write_str("question"),
            Path::ApprovalOpen => f.write_str("approval"),
            Path::Notices | Path::NoticeText => f.write_str("notices"),
        }
    }
}

/// What is to be found at a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub enum Matcher {
    /// This status.
    Status(ChatStatus),
    /// A number within bounds.
    Number(Number),
    /// Yes or no.
    Flag(bool),
    /// These outcomes in this order, no more.
    Outcomes(Vec<TurnOutcome>),
    /// This state of a row.
    Row(RowState),
    /// These kinds in this order, no more.
    Kinds(Vec<Kind>),
    /// A text, whole or by its parts.
    Text(TextMatch),
    /// These texts in this order, no more.
    Texts(Vec<String>),
    /// This state of an entry.
    Entry(EntryState),
    /// This state of a message.
    Message(MessageState),
    /// These titles or labels in this order, no more.
    Names(Vec<Spanned<String>>),
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = String>) -> fmt::Result {
            write!(f, "is [{}]", items.map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", "))
        }
        match self {
            Matcher::Status(word) => write!(f, "is {:?}", word.word()),
            Matcher::Row(word) => write!(f, "is {:?}", word.word()),
            Matcher::Entry(word) => write!(f, "is {:?}", word.word()),
            Matcher::Message(word) => write!(f, "is {:?}", word.word()),
            Matcher::Number(number) => number.fmt(f),
            Matcher::Flag(flag) => write!(f, "is {flag}"),
            Matcher::Outcomes(words) => list(f, words.iter().map(ToString::to_string)),
            Matcher::Kinds(kinds) => list(f, kinds.iter().map(ToString::to_string)),
            Matcher::Texts(texts) => list(f, texts.iter().cloned()),
            Matcher::Names(names) => list(f, names.iter().map(ToString::to_string)),
            Matcher::Text(text) => text.fmt(f),
        }
    }
}

words! {
    /// Status of a chat, as its row shows it.
    pub enum ChatStatus {
        /// Nothing runs.
        Idle = "idle",
        /// A turn runs.
        Working = "working",
        /// A turn waits for the user.
        Waiting = "waiting",
        /// The last turn failed.
        Failed = "failed",
    }
}

words! {
    /// State of a row.
    pub enum RowState {
        /// The child runs.
        Running = "running",
        /// It ended well.
        Done = "done",
        /// It ended badly.
        Failed = "failed",
    }
}

words! {
    /// What became of a turn.
    pub enum TurnOutcome {
        /// Not settled yet.
        Running = "running",
        /// The provider says it is complete.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cut.
        Interrupted = "interrupted",
    }
}

words! {
    /// State of a message of the user.
    pub enum MessageState {
        /// In the queue.
        Queued = "queued",
        /// Accepted and not yet written to the provider.
        Held = "held",
        /// Written to the provider.
        Sent = "sent",
        /// A turn or a steer consumed it.
        Delivered = "delivered",
        /// Shown as not delivered, with a way to retry.
        NotDelivered = "not_delivered",
        /// Taken back by the user.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// State of a transcript entry.
    pub enum EntryState {
        /// Still growing.
        Streaming = "streaming",
        /// Whole.
        Complete = "complete",
        /// Cut.
        Aborted = "aborted",
    }
}

/// The kind of one shown part of a transcript. A reply that is shown in one piece is one kind, however many deltas it took.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Words that were put in: the user's message, or a child's task.
    Prompt,
    /// Thinking.
    Thinking,
    /// Words of the model.
    Reply,
    /// A call of the tool of this name. What every provider has goes by one name (`exec`, `read_file`, `write_file`,
    /// `edit_file`, `apply_patch`, `search`, `glob`, `web_fetch`, `web_search`, `todo`), a tool of an MCP server by
    /// `SERVER/TOOL`, anything else by its own, a spawned agent among them: `Agent`, `Agent: /probe`.
    Tool(String),
    /// A question or approval card.
    Question,
    /// A plan.
    Plan,
    /// An error.
    Error,
    /// A notice of the host.
    Notice,
    /// A marker: compaction, a fork.
    Marker,
}

impl Kind {
    /// The fixed kinds; a tool is `tool:` and its name, `tool:exec`.
    pub const WORDS: [&'static str; 8] = ["prompt", "thinking", "reply", "question", "plan", "error", "notice", "marker"];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Prompt => "prompt",
            Kind::Thinking => "thinking",
            Kind::Reply => "reply",
            Kind::Question => "question",
            Kind::Plan => "plan",
            Kind::Error => "error",
            Kind::Notice => "notice",
            Kind::Marker => "marker",
            Kind::Tool(name) => return write!(f, "tool:{name}"),
        })
    }
}

impl std::str::FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Ok(match text {
            "prompt" => Kind::Prompt,
            "thinking" => Kind::Thinking,
            "reply" => Kind::Reply,
            "question" => Kind::Question,
            "plan" => Kind::Plan,
            "error" => Kind::Error,
            "notice" => Kind::Notice,
            "marker" => Kind::Marker,
            _ => match text.strip_prefix("tool:") {
                Some(name) if !name.is_empty() => Kind::Tool(name.to_owned()),
                _ => return Err(UnknownKind(text.to_owned())),
            },
        })
    }
}

/// A kind that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind `{0}`: expected one of prompt, thinking, reply, question, plan, error, notice, marker, tool:NAME")]
pub struct UnknownKind(pub String);
