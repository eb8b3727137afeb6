//! The world's own account of a run: what the user did, what each understudy said and heard, what processes did. The host
//! cannot influence it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One happening, with its place in virtual time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Happening {
    /// When, ms of the monotonic clock. No two happenings of the world share one, but for due timers of the host.
    pub at: u64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The user did something.
    User(UserAction),
    /// The host started a process.
    Spawned {
        /// Process id of the world.
        pid: u32,
        /// The chat it was started for, as far as the world knows.
        chat: Option<String>,
        /// Its command line.
        argv: Vec<String>,
    },
    /// A process said one record, and the host's reader was given its last byte now.
    Said {
        /// Who.
        pid: u32,
        /// The record; `Value::Null` for one that is no JSON.
        frame: Value,
        /// Its label, `task_started#1`.
        label: String,
        /// False when the plan inserted, repeated or mangled it: no provider said it so.
        genuine: bool,
    },
    /// A process read one whole line of the host.
    Heard {
        /// Who.
        pid: u32,
        /// The line; `Value::Null` for one that is no JSON.
        frame: Value,
    },
    /// Bytes on stderr.
    Stderr {
        /// Who.
        pid: u32,
        /// The text.
        text: String,
    },
    /// A signal was sent.
    Signal {
        /// To whom.
        pid: u32,
        /// Its name.
        signal: String,
        /// True when the host sent it, false when the world did.
        by_host: bool,
    },
    /// A pipe of a process ended.
    PipeEnd {
        /// Whose.
        pid: u32,
        /// `stdin`, `stdout` or `stderr`.
        pipe: String,
    },
    /// A process ended.
    Exited {
        /// Who.
        pid: u32,
        /// Exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<String>,
    },
    /// A due timer of the host.
    HostTimer {
        /// Its key.
        key: String,
    },
    /// The host wrote what the real CLI would reject.
    Breach {
        /// To whom.
        pid: u32,
        /// The rule's name.
        rule: String,
        /// What was seen.
        words: String,
    },
    /// The host ended: it was killed, or the machine lost power.
    HostEnded {
        /// True for a power loss: every process of the machine ended with it.
        power_lost: bool,
    },
    /// The host was started again, and has done what it does before it takes anything.
    HostStarted,
    /// The host refused to start.
    HostRefused {
        /// Its words.
        words: String,
    },
    /// The scenario says that nothing is to come any more: judged as quiescence.
    Rest,
}

/// What a user can do to a host. Ids are given by the world, so that it can follow them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UserAction {
    /// Sends a message; the first one opens the chat. While a turn runs it is a steer.
    Send {
        /// Chat.
        chat: String,
        /// Message id.
        message: String,
        /// Text.
        text: String,
    },
    /// Puts a message into the queue: it is sent when the chat is idle.
    Queue {
        /// Chat.
        chat: String,
        /// Message id.
        message: String,
        /// Text.
        text: String,
    },
    /// Stops the chat: kills the runtime and its background work.
    Stop {
        /// Chat.
        chat: String,
    },
    /// Stops the turn in place; the process lives on.
    StopTurn {
        /// Chat.
        chat: String,
    },
    /// Stops the turn in place and sends a message when it has ended.
    SendNow {
        /// Chat.
        chat: String,
        /// Message id.
        message: String,
        /// Text.
        text: String,
    },
    /// Takes back a message that was not taken yet.
    Withdraw {
        /// Chat.
        chat: String,
        /// Message id.
        message: String,
    },
    /// Rewrites a queued message; without any words left it is taken back.
    Edit {
        /// Chat.
        chat: String,
        /// Message id.
        message: String,
        /// Its new text.
        text: String,
    },
    /// Answers the open question or approval.
    Answer {
        /// Chat.
        chat: String,
        /// One label or text per question, in order.
        answers: Vec<String>,
    },
    /// Closes the chat's run gently: stdin is closed, what runs may end.
    Close {
        /// Chat.
        chat: String,
    },
}

impl UserAction {
    /// The chat it is about.
    pub fn chat(&self) -> &str {
        match self {
            UserAction::Send { chat, .. }
            | UserAction::Queue { chat, .. }
            | UserAction::Stop { chat }
            | UserAction::StopTurn { chat }
            | UserAction::SendNow { chat, .. }
            | UserAction::Withdraw { chat, .. }
            | UserAction::Edit { chat, .. }
            | UserAction::Answer { chat, .. }
            | UserAction::Close { chat } => chat,
        }
    }
}

/// All happenings of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The happenings.
    pub happenings: Vec<Happening>,
    /// True when a fault of the plan is a breakage (what a broken provider does), so that rules which only a sound provider
    /// can keep have nothing to judge.
    pub broken_provider: bool,
    /// True for a raw scene: the stage writes the host's lines itself, so they say nothing about the host.
    pub raw: bool,
    /// Calls to the host's disk that are made to fail: so often it may refuse to start.
    pub disk_faults: u32,
    /// When the host's disk refused what it had to write: what it did from the first of the two times on (ms) was shown at the
    /// second.
    pub withheld: Vec<(u64, u64)>,
    /// When the last fault healed, ms; liveness is judged from then on. 0 in a run without faults.
    pub healed_at: u64,
}
