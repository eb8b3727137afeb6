//! What can happen to an engine. One input is handled to its end in one step.

use serde::{Deserialize, Serialize};

use crate::{core::timers::TimerKey, delegation::Call, drivers::Capabilities, store::Stored};

/// Both clocks at the moment of an input, ms. The core reads no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// Monotonic: all bounds are measured on it.
    pub mono: u64,
    /// Wall clock: stored for display only.
    pub wall: u64,
}

/// A process, by the core's own number; numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcId(pub u64);

/// A pipe that the engine reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pipe {
    /// Records.
    Stdout,
    /// Diagnostics.
    Stderr,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitStatus {
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// Name of the signal that ended it.
    pub signal: Option<String>,
}

/// Why a process could not be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpawnError {
    /// There is no such program.
    NotInstalled,
    /// Anything else, in the system's words.
    Io(String),
}

/// Why a store effect failed; BUSY and FULL are told apart since only one of them passes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreError {
    /// Somebody else holds the database.
    Busy,
    /// The disk is full.
    Full,
    /// The disk failed.
    Io,
    /// The content is not what the engine wrote.
    Corrupt,
    /// The database was written by another version of the engine; it is left as it is.
    Version {
        /// Its version.
        found: u32,
    },
}

/// One happening.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A control of the user (class 1).
    Control(Control),
    /// Bytes of a pipe (class 2).
    Bytes {
        /// Whose.
        proc: ProcId,
        /// Which pipe.
        pipe: Pipe,
        /// The bytes of one read, cut anywhere.
        bytes: Vec<u8>,
    },
    /// The end of a pipe (class 2); comes after all its bytes.
    End {
        /// Whose.
        proc: ProcId,
        /// Which pipe.
        pipe: Pipe,
    },
    /// A process was reaped (class 2); comes after the ends of both pipes where they end.
    Exit {
        /// Whose.
        proc: ProcId,
        /// How.
        status: ExitStatus,
    },
    /// What came of a spawn (class 2).
    Spawned {
        /// Which.
        proc: ProcId,
        /// The system's process id, or why there is none.
        result: Result<u32, SpawnError>,
    },
    /// What came of reading a file of the provider (class 2).
    File {
        /// For whom.
        proc: ProcId,
        /// The content; none: there is no such file, or it cannot be read.
        content: Option<Vec<u8>>,
    },
    /// A message of the user (class 3).
    Message(Message),
    /// A message of the user for the queue (class 3).
    Queue(Message),
    /// A chat row was created (class 3). For a row that a command has claimed it brings what the claim lacks: parent and
    /// configuration.
    Create(ChatSpec),
    /// A command reached a host with no row of its chat (class 3): a partial row with identity and directory. A message to an
    /// unknown chat does the same.
    Claim {
        /// Chat.
        chat: String,
        /// Working directory.
        cwd: String,
    },
    /// Commands of any device, in the order in which they were issued there (class 3).
    Commands(Vec<Command>),
    /// A request that is answered: of the engine's own surface, or to its MCP server (class 3; a switch of the user is class 1).
    Call(Call),
    /// A due timer (class 4), taken out of the table.
    Timer(TimerKey),
    /// What the database holds: the first input of an engine that is to go on with it.
    Boot(Box<Stored>),
    /// Outcome of the store effect of the last list; belongs to its chain.
    Stored(Result<(), StoreError>),
}

/// A control of the user: acts at once, never waits for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// Terminate: kills the runtime and its background work; what was queued is paused.
    Stop {
        /// Chat.
        chat: String,
    },
    /// Stops the turn; the process lives on where the driver can.
    StopTurn {
        /// Chat.
        chat: String,
    },
    /// Stops the turn, then sends the message when it has ended.
    SendNow {
        /// The message.
        message: Message,
    },
    /// Takes a message back that the provider has not taken.
    Withdraw {
        /// Chat.
        chat: String,
        /// Message id.
        message_id: String,
    },
    /// Answers the open question of a chat (the oldest where several are open).
    Answer {
        /// Chat.
        chat: String,
        /// Our request id, or none for the oldest.
        request_id: Option<String>,
        /// One label or text per question, in order.
        answers: Vec<String>,
    },
    /// Changes model or effort of a chat from its next message on; none leaves it as it is.
    Configure {
        /// Chat.
        chat: String,
        /// Model id.
        model: Option<String>,
        /// Effort level.
        effort: Option<String>,
    },
    /// A CLI was found or replaced: a run that another build serves is replaced before its next turn.
    CliBuild {
        /// The harness.
        harness: String,
        /// What tells the build apart: path, size and time of the file, for example.
        build: String,
    },
    /// Ends the run gently: its mailbox is closed, what runs may end by itself.
    Close {
        /// Chat.
        chat: String,
    },
}

/// A message of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Chat.
    pub chat: String,
    /// Message id; becomes the uuid that the provider sees.
    pub id: String,
    /// Text.
    pub text: String,
}

/// A command that a device issued for a chat of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its id: the same id is the same command, however often it arrives.
    pub id: String,
    /// The chat; its row is claimed where there is none.
    pub chat: String,
    /// Directory of the chat, for a claim.
    pub cwd: String,
    /// Wall clock at which it was issued, ms of the issuing device.
    pub issued_at: u64,
    /// What is to be done.
    pub what: CommandKind,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandKind {
    /// A message of the user, as a turn or into the one that runs.
    Run {
        /// Message id.
        message: String,
        /// Its words.
        text: String,
    },
    /// A message for the turn that runs; without one it is a turn of its own.
    Steer {
        /// Message id.
        message: String,
        /// Its words.
        text: String,
    },
    /// Stops the chat.
    Interrupt,
    /// Answers a question; where it is gone the answer becomes a message.
    RespondInput {
        /// Our id of the request.
        request: String,
        /// One label or text per question, in order.
        answers: Vec<String>,
    },
}

/// Whether a missing session may be replaced by a fresh one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResumePolicy {
    /// Yes.
    #[default]
    AllowFresh,
    /// No: another session than the required one is an error.
    RequireExisting,
}

/// What a process may do to the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Read only.
    ReadOnly,
    /// Write in the working directory.
    #[default]
    WorkspaceWrite,
    /// Everything.
    DangerFullAccess,
}

/// Which driver serves a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harness {
    /// Claude Code.
    #[default]
    ClaudeCode,
    /// The driver for tests, with these capabilities.
    Mock(Capabilities),
}

impl Harness {
    /// Its name on the wire and in preferences.
    pub fn id(&self) -> &'static str {
        match self {
            Harness::ClaudeCode => "claude-code",
            Harness::Mock(_) => "mock",
        }
    }
}

/// Identity and configuration of a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatSpec {
    /// Chat id.
    pub chat: String,
    /// Which driver serves it.
    pub harness: Harness,
    /// Working directory.
    pub cwd: String,
    /// Model id; none lets the provider choose.
    pub model: Option<String>,
    /// Effort level.
    pub effort: Option<String>,
    /// Sandbox.
    pub sandbox: Sandbox,
    /// Every approval is given at once.
    pub auto_approve: bool,
    /// Provider session to resume.
    pub resume: Option<String>,
    /// What to do when that session is gone.
    pub resume_policy: ResumePolicy,
    /// The chat it is a side chat of.
    pub parent: Parent,
}

/// The chat that a chat is a side chat of, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parent {
    /// It has none, and that is known.
    #[default]
    None,
    /// It is a side chat of this one.
    Chat(String),
    /// Its row was claimed by a command, and the record that creates it has not arrived.
    Unknown,
}
