//! The facts themselves. Times are ms of the monotonic clock, an `index` is a place in the history.

use crate::view::Outcome;

/// Where in the run something was said or heard.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// When.
    pub at: u64,
    /// Index of the happening.
    pub index: usize,
    /// Process.
    pub pid: u32,
}

/// One user message, by the id that the provider sees.
#[derive(Clone, Debug, Default)]
pub struct MessageFacts {
    /// Its id.
    pub id: String,
    /// The chat it was sent to; `None` for one that no user sent.
    pub chat: Option<String>,
    /// When the user sent it.
    pub sent_at: Option<u64>,
    /// Whether it was sent with a stop of the turn, to be handed over when that has ended.
    pub send_now: bool,
    /// When the user took it back.
    pub withdrawn_at: Option<u64>,
    /// Each time a provider received it.
    pub receipts: Vec<Receipt>,
}

impl MessageFacts {
    /// When a provider first took it.
    pub fn consumed_at(&self) -> Option<u64> {
        self.receipts.iter().filter_map(|receipt| receipt.consumed_at).min()
    }

    /// When a provider first received it.
    pub fn received_at(&self) -> Option<u64> {
        self.receipts.first().map(|receipt| receipt.at)
    }
}

/// One time that a provider received a message.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// When.
    pub at: u64,
    /// Who received it.
    pub pid: u32,
    /// Happening at which it was received.
    pub index: usize,
    /// When the provider took it into a turn.
    pub consumed_at: Option<u64>,
    /// When the provider gave it back unread.
    pub returned_at: Option<u64>,
    /// When a result named it, or its end was reported.
    pub ended_at: Option<u64>,
}

impl Receipt {
    /// Whether the provider has it and has neither taken it nor given it back.
    pub fn is_waiting(&self) -> bool {
        self.consumed_at.is_none() && self.returned_at.is_none() && self.ended_at.is_none()
    }
}

/// Whose wire a process speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Claude Code's stream-json.
    Claude,
    /// One that this crate does not read yet.
    Other,
}

/// One process.
#[derive(Clone, Debug)]
pub struct ProcessFacts {
    /// Process id of the world.
    pub pid: u32,
    /// The chat it was started for.
    pub chat: Option<String>,
    /// Whose wire it speaks.
    pub wire: Wire,
    /// When it was started.
    pub started_at: u64,
    /// The provider session it writes to, as far as known: asked for, or named by itself.
    pub session: Option<String>,
    /// The session that the host asked for, and the other one that the process named first.
    pub mismatch: Option<(String, String)>,
    /// Whether the provider runs a turn in it.
    pub running: bool,
    /// Whether it ever told what became of a message.
    pub reports: bool,
    /// When the last content came that a user would see.
    pub visible_at: Option<u64>,
    /// When its stdout ended: the host hears nothing of it any more.
    pub silent_at: Option<u64>,
    /// When it ended.
    pub exited_at: Option<u64>,
    pub(super) named_session: bool,
}

impl ProcessFacts {
    pub(super) fn started(pid: u32, chat: Option<String>, argv: &[String], at: u64) -> Self {
        let program = argv.first().map(|path| path.rsplit('/').next().unwrap_or(path));
        let wire = if program == Some("claude") { Wire::Claude } else { Wire::Other };
        // A process told to fork writes to a session of its own, which it names later.
        let forks = argv.iter().any(|word| word == "--fork-session");
        let session = if forks { None } else { resumed(argv) };
        ProcessFacts {
            pid,
            chat,
            wire,
            started_at: at,
            session,
            mismatch: None,
            running: false,
            reports: false,
            visible_at: None,
            silent_at: None,
            exited_at: None,
            named_session: false,
        }
    }

    /// Whether it lives and can be heard.
    pub fn is_alive(&self) -> bool {
        self.silent_at.is_none() && self.exited_at.is_none()
    }
}

fn resumed(argv: &[String]) -> Option<String> {
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        if word == "--resume" || word == "-r" {
            return words.next().cloned();
        }
        if let Some(id) = word.strip_prefix("--resume=") {
            return Some(id.to_string());
        }
    }
    None
}

/// Whose a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Messages of ours that had not ended.
    Messages,
    /// Messages of ours that had all ended: a late duplicate.
    Late,
    /// Background work of the provider, the orphans of a killed session, or messages that are not ours.
    Background,
    /// It names nobody: it belongs to whatever turn is open.
    Nobody,
}

/// One result, read by its meaning.
#[derive(Clone, Debug)]
pub struct ResultFacts {
    /// When it was said.
    pub at: u64,
    /// Its happening.
    pub index: usize,
    /// Who said it.
    pub pid: u32,
    /// Messages of ours that it names, as indexes into the messages.
    pub names: Vec<usize>,
    /// Whose it is.
    pub owner: Owner,
    /// What it means, whatever its first word says.
    pub meaning: Outcome,
}

/// How a request of the provider ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskEnd {
    /// The host answered.
    Answered,
    /// The provider took it back.
    Cancelled,
    /// The turn ended with it open.
    TurnOver,
    /// The process ended.
    ProcessGone,
}

/// A request of the provider that expects one answer.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its id on the wire.
    pub id: String,
    /// Who asks.
    pub pid: u32,
    /// When.
    pub at: u64,
    /// Whether a subagent asks: its question may outlive the turn of the chat.
    pub by_child: bool,
    /// False for one that the plan put in.
    pub genuine: bool,
    /// Each answer: when it was heard, and whether it grants.
    pub answers: Vec<(u64, bool)>,
    /// Its first end.
    pub ended: Option<(u64, AskEnd)>,
}

impl Ask {
    pub(super) fn end(&mut self, at: u64, how: AskEnd) {
        self.ended.get_or_insert((at, how));
    }
}

/// A request of the host to the provider.
#[derive(Clone, Debug)]
pub struct HostRequest {
    /// Its id on the wire.
    pub id: String,
    /// Who heard it.
    pub pid: u32,
    /// Its subtype.
    pub subtype: String,
    /// When it was heard.
    pub at: u64,
    /// The message that it is about, for a request to take one back.
    pub message: Option<String>,
    /// When it was answered.
    pub answered_at: Option<u64>,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// Stopped the chat.
    Chat,
    /// Stopped the turn in place.
    Turn,
    /// Stopped the turn to send a message.
    SendNow,
    /// Closed the run gently.
    Close,
    /// Answered a question, which may end the turn (deny and stop).
    Answer,
}

/// Something the user did that may end a turn.
#[derive(Clone, Debug)]
pub struct Stop {
    /// When.
    pub at: u64,
    /// To which chat.
    pub chat: String,
    /// What.
    pub kind: StopKind,
}

impl Stop {
    /// Whether it is a stop: a gentle close lets the turn end by itself, an answer is judged by the result it brings.
    pub fn ends_turn(&self) -> bool {
        matches!(self.kind, StopKind::Chat | StopKind::Turn | StopKind::SendNow)
    }
}

/// Kind of a piece of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A streamed block, by its number in the blocks.
    Block(usize),
    /// Text that came whole, at this place of the frame's content.
    Text(usize),
    /// Thinking that came whole.
    Thinking(usize),
    /// A tool call.
    ToolUse(usize),
    /// A tool's result.
    ToolResult(usize),
    /// Text of a user frame inside a child.
    UserText(usize),
    /// An error told as a synthetic reply.
    ApiError(usize),
    /// A typed command began to run as a fork; the number is that of its task.
    Fork(usize),
}

/// One piece of content, in wire order. Its words stand in the history (see `words`).
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where it was said; for a streamed block where it began.
    pub place: Place,
    /// Whether the frame is tagged with a tool: it belongs to a child.
    pub tagged: bool,
    /// What it is.
    pub kind: PieceKind,
}

/// A block that was streamed.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Id of its message.
    pub message: String,
    /// Its place in the message.
    pub number: u64,
    /// Whether it is thinking.
    pub thinking: bool,
    /// When the provider took it back, ms.
    pub taken_back: Option<u64>,
    /// The happenings of its deltas.
    pub deltas: Vec<usize>,
}

/// A task of the provider: an agent, a fork or a shell.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Who runs it.
    pub pid: u32,
    /// The tool call it stands for; none for a typed fork.
    pub tool: Option<String>,
    /// Whether it is a typed command that runs as a fork.
    pub typed_fork: bool,
    /// Where its start was said.
    pub started: Place,
    /// Its first terminal status: time, happening, meaning.
    pub ended: Option<(u64, usize, Outcome)>,
    /// For a typed fork: the happening of the result that closed it.
    pub closed: Option<usize>,
}

/// Why a frame must have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OddKind {
    /// Its type or subtype is known to nobody.
    Unknown,
    /// It is no JSON.
    Malformed,
    /// It was said before, word for word.
    Repeated,
    /// The plan made it: it may mean anything.
    Made,
}

/// A frame that must have no effect.
#[derive(Clone, Copy, Debug)]
pub struct Odd {
    /// When.
    pub at: u64,
    /// Its happening.
    pub index: usize,
    /// Who said it.
    pub pid: u32,
    /// Why.
    pub kind: OddKind,
}
