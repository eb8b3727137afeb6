//! The host under rehearsal, as the stage sees it: a thing that takes happenings and answers with what it wants done.
//!
//! An adapter for another host fills this trait; `engine` is the reference engine behind it.

pub mod engine;
pub mod fault;

use std::collections::BTreeMap;

use serde_json::Value;

use self::fault::{Ending, Fault, Reached};
use crate::{
    history::UserAction,
    view::{Clock, MessageState, Status, Timer},
};

/// A process, by the host's own number.
pub type HostProc = u64;

/// Pipe that a host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pipe {
    /// Frames.
    Stdout,
    /// Diagnostics.
    Stderr,
}

/// One happening for the host.
#[derive(Clone, Debug)]
pub enum ForHost {
    /// A chat with its configuration.
    Create(ChatSetup),
    /// A command of another device reached the host before the record that creates its chat.
    Claim {
        /// Chat.
        chat: String,
        /// Working directory.
        cwd: String,
    },
    /// The user does something.
    User(UserAction),
    /// A request that is answered with [`FromHost::Answer`].
    Call {
        /// Names it in its answer.
        id: u64,
        /// What is asked.
        call: HostCall,
    },
    /// A process was started with this process id, or there is no such program.
    Spawned {
        /// Which.
        proc: HostProc,
        /// Process id of the world; none: the program is not installed.
        pid: Option<u32>,
    },
    /// A file of the provider that the host asked for; none: there is no such file.
    File {
        /// For whom.
        proc: HostProc,
        /// What it holds.
        content: Option<Vec<u8>>,
    },
    /// Bytes of one read.
    Bytes {
        /// Whose.
        proc: HostProc,
        /// Which pipe.
        pipe: Pipe,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A pipe ended.
    End {
        /// Whose.
        proc: HostProc,
        /// Which pipe.
        pipe: Pipe,
    },
    /// A process was reaped.
    Exit {
        /// Whose.
        proc: HostProc,
        /// Exit code.
        code: Option<i32>,
        /// Signal that ended it.
        signal: Option<String>,
    },
}

/// A request to a host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostCall {
    /// Of its own surface.
    Rpc {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// To the MCP server that a process of the host was given.
    Mcp {
        /// The chat whose process it is.
        chat: String,
        /// What the host put into the server's environment.
        env: BTreeMap<String, String>,
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
}

/// Configuration of a chat, as far as scenarios set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatSetup {
    /// Chat id.
    pub chat: String,
    /// Working directory.
    pub cwd: String,
    /// Model.
    pub model: Option<String>,
    /// Whether every approval is given at once and the sandbox is off.
    pub bypass_permissions: bool,
    /// Session to resume.
    pub resume: Option<String>,
    /// Whether another session than that one is an error.
    pub require_session: bool,
    /// The chat it is a side chat of.
    pub parent: Option<String>,
}

/// What a host wants done, or shows.
#[derive(Clone, Debug, PartialEq)]
pub enum FromHost {
    /// Start a process.
    Spawn {
        /// The host's number for it.
        proc: HostProc,
        /// The chat it serves.
        chat: String,
        /// Command line.
        argv: Vec<String>,
        /// Variables over the world's environment.
        env: BTreeMap<String, String>,
        /// Working directory.
        cwd: String,
    },
    /// Write to stdin.
    Write {
        /// To whom.
        proc: HostProc,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Close stdin behind everything written.
    CloseStdin {
        /// Whose.
        proc: HostProc,
    },
    /// Send a signal.
    Signal {
        /// To whom.
        proc: HostProc,
        /// `SIGTERM`, `SIGKILL`.
        signal: &'static str,
    },
    /// Read a file that the provider keeps, by its path below the provider's own directory.
    ReadFile {
        /// For whom.
        proc: HostProc,
        /// Where.
        path: String,
    },
    /// A change for the viewer.
    Feed(Feed),
    /// The answer to a call, or why it was refused.
    Answer {
        /// Which call.
        id: u64,
        /// What came of it.
        outcome: Result<Value, String>,
    },
    /// Something that the host had its store do, and the outcome, for the trace.
    Disk {
        /// What, in short.
        words: String,
        /// How it ended.
        outcome: &'static str,
        /// The disk calls of it, as bytes for the hash.
        calls: Vec<u8>,
    },
}

/// One change on one of the viewer's two feeds.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// A chat's registry row.
    Chat {
        /// Chat id.
        chat: String,
        /// Parent chat.
        parent: Option<String>,
        /// Provider session.
        session: Option<String>,
        /// Wall clock of the last message, ms.
        last_message_at: Option<u64>,
    },
    /// A chat's session row.
    Session {
        /// Chat id.
        chat: String,
        /// Status.
        status: Status,
        /// Pill.
        pill: u32,
        /// Last completed turn.
        completed_turns: u64,
    },
    /// A message row.
    Message {
        /// Chat id.
        chat: String,
        /// Message id.
        message: String,
        /// Text.
        text: String,
        /// What became of it.
        state: MessageState,
    },
    /// A chat's queue.
    Queue {
        /// Chat id.
        chat: String,
        /// Nothing of it is sent until an explicit send.
        paused: bool,
        /// Ids of its messages, head first.
        messages: Vec<String>,
    },
    /// A question's row.
    Input {
        /// Chat id.
        chat: String,
        /// The host's id.
        request: String,
        /// The provider's id.
        provider_request: String,
        /// Whether the card is shown.
        open: bool,
    },
    /// A journal row.
    Journal {
        /// Chat id.
        chat: String,
        /// Its number.
        seq: u64,
        /// The event.
        event: Value,
    },
    /// Document update bytes.
    Doc {
        /// Document id.
        doc: String,
        /// Chat id.
        chat: String,
        /// Loro update bytes.
        bytes: Vec<u8>,
    },
}

/// A host under rehearsal.
pub trait Host {
    /// Starts it, or starts it again from its store; everything it does before it takes its first happening is done when this
    /// returns.
    ///
    /// # Errors
    /// Why it refused to start, in its own words. It can be started again later.
    fn start(&mut self, _clock: Clock) -> Result<(), String> {
        Ok(())
    }
    /// Ends it from outside, between two happenings. [`Host::ended`] tells of it as of any other end.
    fn kill(&mut self, _ending: Ending) {}
    /// Decides a fault beforehand.
    ///
    /// # Errors
    /// Why this host cannot have it.
    fn arm(&mut self, fault: Fault) -> Result<(), String> {
        Err(format!("this host cannot be given the fault {fault:?}"))
    }
    /// How it ended since this was last asked, if it did.
    ///
    /// # Errors
    /// The harness failed to end it as a kill does.
    fn ended(&mut self) -> Result<Option<Ending>, String> {
        Ok(None)
    }
    /// Whether it runs.
    fn is_running(&self) -> bool {
        true
    }
    /// How far it has come, in the numbers that [`Fault`] takes.
    fn reached(&self) -> Reached {
        Reached::default()
    }
    /// A hash over everything that it keeps on its disk; none for a host whose disk is not the world's.
    fn store_digest(&self) -> Option<String> {
        None
    }
    /// The value of a pure function that a user interface of this host shows something with.
    ///
    /// # Errors
    /// It has no such function, or the arguments are not what the function takes.
    fn shows(&self, of: &str, _given: &Value) -> Result<Value, String> {
        Err(format!("this host has no view function `{of}`"))
    }
    /// Takes one happening; everything that follows from it is done when this returns.
    fn take(&mut self, clock: Clock, happening: ForHost);
    /// What it wants done and shows since the last call, in order.
    fn wants(&mut self) -> Vec<FromHost>;
    /// Deadline of its first timer, ms; none for a host that shows no timers.
    fn deadline(&self) -> Option<u64>;
    /// All its timers, first first; `None` for a host that shows none.
    fn timers(&self) -> Option<Vec<Timer>>;
    /// Whether document changes of a chat wait for their flush.
    fn unflushed(&self, chat: &str) -> bool;
    /// Whether it has made changes that it cannot show yet, since its disk refuses them.
    fn owes_writes(&self) -> bool {
        false
    }
    /// Whether the timer that just fired was the deadline of the host's control requests.
    fn ends_requests(&self, timer: &str) -> bool;
    /// Takes out the first due timer and handles it; its key, or none when none is due.
    fn fire(&mut self, clock: Clock) -> Option<String>;
    /// Processes whose end the host has not seen, by its own numbers.
    fn leases(&self) -> Vec<HostProc>;
}
