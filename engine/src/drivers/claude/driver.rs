//! State of the driver, and the doors through which inputs come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    control::Control,
    fork::TypedFork,
    permission::OpenRequest,
    transcript::Reading,
    wire::{self, Priority},
};
use crate::{
    core::{
        effect::{Effect, Spawn},
        input::{ExitStatus, Message, Pipe, ProcId, SpawnError},
        timers::{Class, TimerKey},
    },
    drivers::{
        Capabilities, Cx, Driver, McpServer, Output, RunRequest,
        process::{Life, Process, Record},
    },
    event::{AgentEvent, DoneStatus},
};

/// Control interrupt to SIGTERM, ms.
pub const INTERRUPT_GRACE_MS: u64 = 2_000;
/// Answer of a stop to its synthetic end, ms.
pub const STOP_SETTLE_MS: u64 = 3_000;
/// A held Done of a CLI that never reported lifecycle, ms.
pub const UNREPORTED_SETTLE_MS: u64 = 5_000;
/// A held Done of a CLI that does report lifecycle and queued nothing, ms.
pub const UNACKNOWLEDGED_SETTLE_MS: u64 = 30_000;
/// Timer of a stop that was answered.
pub(super) const STOP_SETTLE: &str = "stop-settle";
/// Timer of a held Done, no lifecycle ever reported.
pub(super) const UNREPORTED: &str = "unreported-settle";
/// Timer of a held Done, lifecycle reported.
pub(super) const UNACKNOWLEDGED: &str = "unacknowledged-settle";
/// After a stop's Done a result without uuids is dropped for this long, ms; at exactly this age it is not.
pub const DUPLICATE_RESULT_MS: u64 = 3_000;

/// What became of a message that we wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ours {
    /// Written to stdin.
    Written,
    /// The CLI says that it waits.
    Queued,
    /// The CLI takes it.
    Started,
    /// Its turn is over.
    Ended,
    /// Taken back.
    Withdrawn,
}

/// The turn that the CLI runs for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// None that anybody sees.
    None,
    /// One of our messages.
    Own,
    /// Background work that showed something.
    Background,
}

/// A Done that waits because a message does: its result may only be a steer boundary.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub done: AgentEvent,
    pub fork_point: Option<AgentEvent>,
}

/// A stop in place whose end has not come.
#[derive(Clone, Debug)]
pub(super) struct Stopping {
    pub request_id: String,
    /// The Done to use for it, where one was held when the stop came.
    pub end: Option<AgentEvent>,
}

/// One run of Claude Code.
pub struct Claude {
    pub(super) request: RunRequest,
    pub(super) mcp: Option<McpServer>,
    /// The process lacks what it was given: it is retired at the next Done, so that the next message gets a fresh one (K15).
    pub(super) retiring: bool,
    pub(super) process: Process,
    /// The start waits for the transcript of the session.
    pub(super) reading: Option<Reading>,
    /// User records of the session's earlier processes, by uuid.
    pub(super) arrived: BTreeSet<String>,
    pub(super) saw_init: bool,
    pub(super) session_id: Option<String>,
    /// Every message written, by its uuid, oldest first.
    pub(super) ours: IndexMap<String, Ours>,
    /// Messages whose turn is open now.
    pub(super) turn_messages: Vec<String>,
    pub(super) turn: Turn,
    pub(super) pending: VecDeque<String>,
    /// The CLI has ever sent a command_lifecycle.
    pub(super) reported: bool,
    pub(super) open_tools: BTreeSet<String>,
    pub(super) held: Option<Held>,
    /// Name of the hold timer that stands, suspended or not.
    pub(super) hold_timer: Option<&'static str>,
    /// A question of the human is open: timers of the turn do not run.
    pub(super) asking: bool,
    /// Errors that the open reply shows: the error of its result is mostly one of them.
    pub(super) shown_errors: BTreeSet<String>,
    pub(super) stopping: Option<Stopping>,
    pub(super) stop_done_at: Option<u64>,
    pub(super) active_since_stop: bool,
    pub(super) interrupted: bool,
    /// Messages that we asked the CLI to give back.
    pub(super) taking_back: BTreeSet<String>,
    pub(super) controls: u64,
    /// Control requests of ours that are not answered, by id, with their deadline (ms of the monotonic clock).
    pub(super) unanswered: BTreeMap<String, (Control, u64)>,

    pub(super) agent_tasks: BTreeMap<String, String>,
    pub(super) chips: BTreeSet<String>,
    /// Openings seeded from the Agent call, until their echo was dropped.
    pub(super) openings: BTreeMap<String, String>,
    /// Later tool calls that address a spawn (SendMessage) → the spawn's chip.
    pub(super) tool_spawns: BTreeMap<String, String>,
    pub(super) task_status: BTreeMap<String, DoneStatus>,
    pub(super) background: BTreeSet<String>,
    /// Content taken in, by the uuid of its complete frame: a resumed session may repeat frames (K23).
    pub(super) seen: BTreeMap<String, BTreeSet<u64>>,
    /// Blocks whose deltas were sent on, by message id.
    pub(super) streamed: BTreeMap<String, BTreeSet<u64>>,
    pub(super) current_message: Option<String>,
    pub(super) assistant_id: String,
    /// Last complete assistant frame: the assistant message id it closed and its uuid.
    pub(super) last_native: Option<(String, String)>,
    pub(super) last_model: Option<String>,
    pub(super) fork: Option<TypedFork>,
    pub(super) requests: BTreeMap<String, OpenRequest>,
    /// Every control request of the CLI that came, open or not: said again it is the same one.
    pub(super) asked: BTreeSet<String>,
    pub(super) bad_records: u64,
}

impl Claude {
    /// A run that is not started yet.
    pub fn new(proc: ProcId, request: RunRequest) -> Self {
        Claude {
            request,
            mcp: None,
            retiring: false,
            process: Process::new(proc),
            reading: None,
            arrived: BTreeSet::new(),
            saw_init: false,
            session_id: None,
            ours: IndexMap::new(),
            turn_messages: Vec::new(),
            turn: Turn::None,
            pending: VecDeque::new(),
            reported: false,
            open_tools: BTreeSet::new(),
            held: None,
            hold_timer: None,
            asking: false,
            shown_errors: BTreeSet::new(),
            stopping: None,
            stop_done_at: None,
            active_since_stop: false,
            interrupted: false,
            taking_back: BTreeSet::new(),
            controls: 0,
            unanswered: BTreeMap::new(),
            agent_tasks: BTreeMap::new(),
            chips: BTreeSet::new(),
            openings: BTreeMap::new(),
            tool_spawns: BTreeMap::new(),
            task_status: BTreeMap::new(),
            background: BTreeSet::new(),
            seen: BTreeMap::new(),
            streamed: BTreeMap::new(),
            current_message: None,
            assistant_id: String::new(),
            last_native: None,
            last_model: None,
            fork: None,
            requests: BTreeMap::new(),
            asked: BTreeSet::new(),
            bad_records: 0,
        }
    }

    /// The same run with an MCP server that the CLI starts.
    pub fn with_mcp(mut self, server: McpServer) -> Self {
        self.mcp = Some(server);
        self
    }

    pub(super) fn turn_open(&self) -> bool {
        self.turn != Turn::None
    }

    fn record(&mut self, cx: &mut Cx<'_>, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(frame @ Value::Object(_)) => self.frame(cx, &frame),
            _ => self.bad_record(cx, "a record of Claude Code is no JSON object; it is skipped"),
        }
    }

    /// Counted, and noted once a run: a bad record never ends it (D11).
    pub(super) fn bad_record(&mut self, cx: &mut Cx<'_>, text: &str) {
        self.bad_records += 1;
        if self.bad_records == 1 {
            cx.note("bad-record", text);
        }
    }

    fn life(&mut self, cx: &mut Cx<'_>, life: Life) {
        if life == Life::Over {
            if let Some(rest) = self.process.records.finish() {
                // The last record may lack its line end: it counts when it parses.
                self.record(cx, &rest);
            }
            self.stream_over(cx);
        }
    }

    /// Starts the process with the first prompt.
    pub(super) fn launch(&mut self, cx: &mut Cx<'_>, first: &Message) {
        cx.out.push(Output::Effect(Effect::Spawn(Spawn {
            proc: self.process.proc,
            chat: cx.chat.to_owned(),
            program: cx.config.claude_program.clone(),
            args: wire::arguments(cx.config, &self.request, self.mcp.as_ref()),
            env: wire::environment(),
            cwd: self.request.cwd.clone(),
        })));
        self.control(cx, wire::INITIALIZE.to_owned(), Control::Initialize, wire::initialize());
        self.write_message(cx, first, true);
        self.turn = Turn::Own;
        self.turn_messages.push(first.id.clone());
    }

    /// The text of the message as a line; `now` exactly when no top-level tool is open.
    pub(super) fn write_message(&mut self, cx: &mut Cx<'_>, message: &Message, first: bool) {
        let priority = match (first, self.open_tools.is_empty()) {
            (true, _) => None,
            (false, true) => Some(Priority::Now),
            (false, false) => Some(Priority::Next),
        };
        self.process.write_line(cx, wire::user(&message.id, &message.text, priority));
        self.ours.insert(message.id.clone(), Ours::Written);
    }
}

impl Driver for Claude {
    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_steering: true, stops_turn_in_place: true, deterministic_turn_end: false }
    }

    fn start(&mut self, cx: &mut Cx<'_>, first: &Message) {
        self.assistant_id = cx.ids.uuid();
        self.begin(cx, first);
    }

    fn file(&mut self, cx: &mut Cx<'_>, content: Option<&[u8]>) {
        self.transcript(cx, content);
    }

    fn spawned(&mut self, cx: &mut Cx<'_>, result: Result<u32, SpawnError>) {
        let Err(error) = result else { return };
        self.process.spawn_failed = true;
        let text = match error {
            SpawnError::NotInstalled => {
                format!("Claude Code is not installed: there is no program `{}`", cx.config.claude_program)
            }
            SpawnError::Io(words) => format!("Claude Code could not be started: {words}"),
        };
        cx.out.push(Output::Reaped);
        self.ended(cx, DoneStatus::Errored, Some(text));
    }

    fn bytes(&mut self, cx: &mut Cx<'_>, pipe: Pipe, bytes: &[u8]) {
        match pipe {
            Pipe::Stderr => self.process.stderr(bytes),
            Pipe::Stdout if self.process.is_over() => {}
            Pipe::Stdout => {
                for record in self.process.records.push(bytes) {
                    match record {
                        Record::Line(line) => self.record(cx, &line),
                        Record::TooLong => self.bad_record(cx, "a record above 128 MiB was skipped"),
                    }
                }
            }
        }
    }

    fn end(&mut self, cx: &mut Cx<'_>, pipe: Pipe) {
        let life = self.process.pipe_ended(cx, pipe);
        self.life(cx, life);
    }

    fn exit(&mut self, cx: &mut Cx<'_>, status: ExitStatus) {
        let life = self.process.exited(cx, status);
        self.life(cx, life);
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: &TimerKey) {
        match key.name {
            "stderr-close" => {
                let life = self.process.close_wait_over(cx);
                self.life(cx, life);
            }
            "interrupt-grace" => self.process.terminate(cx),
            "kill-grace" => self.process.kill(cx),
            STOP_SETTLE => self.stop_settle(cx),
            UNREPORTED | UNACKNOWLEDGED => self.hold_expired(cx),
            "control-deadline" => self.control_deadline(cx),
            _ => {}
        }
    }

    fn steer(&mut self, cx: &mut Cx<'_>, message: &Message) {
        if !self.waits_for_start(message) {
            self.take_message(cx, message);
        }
    }

    fn configure(&mut self, cx: &mut Cx<'_>, model: Option<&str>, effort: Option<&str>) {
        if self.reading.is_some() {
            self.request.model = model.map(str::to_owned).or_else(|| self.request.model.take());
            self.request.effort = effort.map(str::to_owned).or_else(|| self.request.effort.take());
            return;
        }
        self.change(cx, model, effort);
    }

    fn withdraw(&mut self, cx: &mut Cx<'_>, message_id: &str) -> bool {
        if self.unwait(cx, message_id) {
            return true;
        }
        if !self.pending.iter().any(|id| id == message_id) {
            return false;
        }
        self.take_back(cx, message_id);
        true
    }

    fn stop_turn(&mut self, cx: &mut Cx<'_>) {
        if !self.end_before_start(cx) {
            self.stop(cx);
        }
    }

    fn interrupt(&mut self, cx: &mut Cx<'_>) {
        if self.interrupted {
            return;
        }
        self.interrupted = true;
        if self.end_before_start(cx) {
            return;
        }
        self.close_questions(cx);
        // The engine shows what waits as withdrawn: that the CLI still takes it opens no turn of a run that is being killed.
        self.withdraw_pending();
        self.control(cx, wire::KILL_INTERRUPT.to_owned(), Control::Kill, wire::kill_interrupt());
        self.process.terminate_after(cx, INTERRUPT_GRACE_MS);
    }

    fn close_mailbox(&mut self, cx: &mut Cx<'_>) {
        if !self.close_before_start() {
            self.process.close_stdin(cx);
        }
    }

    fn shut_down(&mut self, cx: &mut Cx<'_>) {
        if self.end_before_start(cx) {
            return;
        }
        self.process.close_stdin(cx);
        if !self.interrupted {
            self.process.terminate_after(cx, INTERRUPT_GRACE_MS);
        }
    }

    fn answer(&mut self, cx: &mut Cx<'_>, provider_request: &str, answers: Option<&[String]>) {
        self.answer_request(cx, provider_request, answers);
    }

    fn decline(&mut self, cx: &mut Cx<'_>, provider_request: &str) {
        self.decline_request(cx, provider_request, "Nobody is there to be asked.");
    }

    fn question_open(&mut self, cx: &mut Cx<'_>, open: bool) {
        self.asking = open;
        for name in [UNREPORTED, UNACKNOWLEDGED, STOP_SETTLE] {
            let key = cx.key(Class::D, name);
            if open { cx.timers.suspend(&key, cx.now.mono) } else { cx.timers.resume(&key, cx.now.mono) }
        }
    }
}
