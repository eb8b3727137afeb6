//! Drivers: sub-machines that own one provider process and turn its wire into [`AgentEvent`]s.
//!
//! A driver is called with one input and answers with a list of outputs, which the run handles in order inside the same step.
//! It adds no order of its own, reads no clock and waits for nothing.

pub mod claude;
pub mod mock;
pub mod process;

use serde::{Deserialize, Serialize};

use crate::{
    core::{
        config::EngineConfig,
        effect::Effect,
        ids::IdSource,
        input::{ExitStatus, Message, Now, Pipe, ProcId, ResumePolicy, Sandbox, SpawnError},
        timers::{Class, TimerKey, TimerTable},
    },
    event::{AgentEvent, UserInputQuestion},
};

/// What a driver can do; fixed for its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// A live run takes messages.
    pub supports_steering: bool,
    /// Stop-and-send keeps the process.
    pub stops_turn_in_place: bool,
    /// Every turn, prompted or not, is ended by the provider.
    pub deterministic_turn_end: bool,
}

/// What a run is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// Working directory.
    pub cwd: String,
    /// Model id.
    pub model: Option<String>,
    /// Effort level.
    pub effort: Option<String>,
    /// Sandbox.
    pub sandbox: Sandbox,
    /// Every approval is given at once.
    pub auto_approve: bool,
    /// Provider session to resume.
    pub resume: Option<String>,
    /// What to do when it is gone.
    pub resume_policy: ResumePolicy,
    /// Native subagents are off.
    pub native_subagents_off: bool,
}

/// An MCP server that the provider is told to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Name; the provider lists the server under it.
    pub name: String,
    /// Program.
    pub command: String,
    /// Arguments without the program.
    pub args: Vec<String>,
    /// Variables set for it.
    pub env: Vec<(String, String)>,
}

/// What a driver wants, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A normalized event.
    Event(AgentEvent),
    /// An effect on its process.
    Effect(Effect),
    /// The provider took this message (the first prompt of a process has no Steered of its own).
    Taken(String),
    /// Number of background tasks that the provider runs.
    Background(usize),
    /// A question to the human; the answer comes back through [`Driver::answer`].
    Ask {
        /// The provider's id of the request.
        provider_request: String,
        /// What is asked.
        questions: Vec<UserInputQuestion>,
    },
    /// The provider withdrew a question: the card is closed, nothing is answered.
    AskWithdrawn {
        /// The provider's id of the request.
        provider_request: String,
    },
    /// The stream ended: nothing more comes from this driver but [`Output::Reaped`].
    Ended,
    /// The process is reaped: the execution lease may go (D9).
    Reaped,
}

/// What a call of a driver may use. Borrowed from the core for the time of the call.
pub struct Cx<'a> {
    /// Both clocks.
    pub now: Now,
    /// The engine's configuration.
    pub config: &'a EngineConfig,
    /// Seeded ids.
    pub ids: &'a mut IdSource,
    /// The one timer table.
    pub timers: &'a mut TimerTable,
    /// The chat of the run; owner of the driver's timers.
    pub chat: &'a str,
    /// The run's process; its number tells the timers of two runs of one chat apart.
    pub proc: ProcId,
    /// Outputs so far.
    pub out: &'a mut Vec<Output>,
}

impl Cx<'_> {
    /// Key of one of the driver's timers.
    pub fn key(&self, class: Class, name: &'static str) -> TimerKey {
        TimerKey::numbered(class, self.chat, name, self.proc.0)
    }

    /// Emits an event.
    pub fn event(&mut self, event: AgentEvent) {
        self.out.push(Output::Event(event));
    }

    /// Emits an event of a child.
    pub fn tagged(&mut self, chip: &str, event: AgentEvent) {
        self.event(AgentEvent::Subagent { parent_tool_use_id: chip.to_owned(), event: Box::new(event) });
    }

    /// Writes a diagnostic to the journal.
    pub fn note(&mut self, kind: &str, text: impl Into<String>) {
        self.event(AgentEvent::Note { kind: kind.to_owned(), text: text.into() });
    }
}

/// A driver of one provider process.
pub trait Driver {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;
    /// Starts the process with the first prompt.
    fn start(&mut self, cx: &mut Cx<'_>, first: &Message);
    /// What came of a read of one of the provider's files; none: there is no such file, or it cannot be read.
    fn file(&mut self, cx: &mut Cx<'_>, content: Option<&[u8]>) {
        let _ = (cx, content);
    }
    /// What came of the spawn.
    fn spawned(&mut self, cx: &mut Cx<'_>, result: Result<u32, SpawnError>);
    /// Bytes of a pipe.
    fn bytes(&mut self, cx: &mut Cx<'_>, pipe: Pipe, bytes: &[u8]);
    /// End of a pipe.
    fn end(&mut self, cx: &mut Cx<'_>, pipe: Pipe);
    /// The process was reaped.
    fn exit(&mut self, cx: &mut Cx<'_>, status: ExitStatus);
    /// One of the driver's timers is due.
    fn timer(&mut self, cx: &mut Cx<'_>, key: &TimerKey);
    /// A further message for the live process.
    fn steer(&mut self, cx: &mut Cx<'_>, message: &Message);
    /// Takes a message back that was not taken; false when it is too late or unknown.
    fn withdraw(&mut self, cx: &mut Cx<'_>, message_id: &str) -> bool;
    /// Stops the turn, keeps the process.
    fn stop_turn(&mut self, cx: &mut Cx<'_>);
    /// Kills the run (the interrupt token).
    fn interrupt(&mut self, cx: &mut Cx<'_>);
    /// No more messages come: stdin is closed, what runs may end.
    fn close_mailbox(&mut self, cx: &mut Cx<'_>);
    /// Model and effort that the next message is to run with; what is the same already, or none, is left as it is. A driver that
    /// cannot change them in place does nothing.
    fn configure(&mut self, cx: &mut Cx<'_>, model: Option<&str>, effort: Option<&str>) {
        let _ = (cx, model, effort);
    }
    /// The run is over: stdin is closed, and a process that stays gets the ladder.
    fn shut_down(&mut self, cx: &mut Cx<'_>);
    /// The human's answer, one label or text per question; none means the question was closed without one.
    fn answer(&mut self, cx: &mut Cx<'_>, provider_request: &str, answers: Option<&[String]>);
    /// A question that came while nobody could be asked is turned down.
    fn decline(&mut self, cx: &mut Cx<'_>, provider_request: &str);
    /// Whether a question of the human is open or closed: timers of the turn do not run while one is.
    fn question_open(&mut self, cx: &mut Cx<'_>, open: bool);
}
