//! What a running CLI remembers: threads, turns, jobs, tasks, messages.

use std::collections::VecDeque;

use serde_json::Value;

use super::{core::Core, ledger::Tokens};
use crate::claude::script::{Answer, Outcome, Reply};

/// Index of a thread in the core's list; the main thread is [`MAIN`].
pub(super) type ThreadId = usize;
/// The main thread.
pub(super) const MAIN: ThreadId = 0;
/// Index of a task in the core's list.
pub(super) type TaskId = usize;

/// Something that happens at a time of the core's own choosing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The process reads its first line.
    Boot,
    /// The next step of a thread, unless its program was changed since.
    Step(ThreadId, u32),
    /// A tool's time is over.
    ToolEnds(String),
    /// A foreground command has run for [`crate::claude::pace::ANNOUNCE`].
    Announce(String),
    /// A tool has run for another [`crate::claude::pace::HEARTBEAT`].
    Heartbeat(String, u64),
    /// A command in the background ends.
    CommandEnds(TaskId),
    /// A child's killed call is reported, after its task's frames.
    Killed(TaskId),
    /// A waiting message or notification may begin its turn.
    Next,
    /// A running command that the host moved the turn past is asked for by the host's answer.
    Answered(String),
    /// The process closes stdout and ends.
    Leave(i32),
}

/// One step of a thread's program.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// A content block begins.
    BlockStart(usize),
    /// A delta of a block.
    Delta(usize, usize),
    /// A block is whole: its assistant frame.
    BlockDone(usize),
    /// A block ends, and the tool in it begins.
    BlockStop(usize),
    /// Anything else.
    Call(fn(&mut Core, ThreadId)),
}

/// The main thread, an agent or a fork: it asks the model, runs tools, asks again.
pub(super) struct Thread {
    /// The task it belongs to; none for the main thread.
    pub(super) task: Option<TaskId>,
    /// What it does next, each after a delay in ms.
    pub(super) program: VecDeque<(u64, Step)>,
    /// Counts changes of the program, so that a step armed before one is not taken after it.
    pub(super) generation: u32,
    /// The message under way or just said.
    pub(super) reply: Option<Speaking>,
    /// Answers that are left of the script.
    pub(super) answers: VecDeque<Answer>,
    /// Calls without a result yet.
    pub(super) open: Vec<String>,
    /// The message has ended and only results are waited for.
    pub(super) waiting: bool,
    /// What a default reply repeats.
    pub(super) prompt: String,
    /// Failed tries of the request under way.
    pub(super) tries: u32,
    /// Messages cut behind whole blocks, in a row.
    pub(super) cuts: u32,
    /// The request under way is the one without streaming.
    pub(super) fallback: bool,
    /// The fallback followed an SSE error and not the end of the retries.
    pub(super) fallback_tries: u32,
    /// Refusals in a row.
    pub(super) refusals: u32,
    /// Tokens of the last message.
    pub(super) last: Tokens,
    /// Tools called, by name and in order.
    pub(super) tools: Vec<String>,
    /// Text of the last message.
    pub(super) text: String,
    /// From a child's launch to its first request, in ms.
    pub(super) lead_ms: u64,
    /// From the last frame of a child to its end, in ms.
    pub(super) tail_ms: u64,
}

/// A message that is being said.
pub(super) struct Speaking {
    pub(super) reply: Reply,
    /// Blocks whose assistant frame was said.
    pub(super) done: usize,
    /// Block that is open.
    pub(super) block: Option<usize>,
    /// What has come of the open block.
    pub(super) part: String,
    /// Characters of text, thinking and tool input so far.
    pub(super) chars: u64,
    /// `message_stop` was said.
    pub(super) stopped: bool,
    /// Estimate of thinking tokens so far.
    pub(super) thought: u64,
    /// The block under way began at this time.
    pub(super) since: u64,
    /// What comes right after `message_delta`.
    pub(super) after_delta: Vec<AfterDelta>,
    /// `message_start` was said.
    pub(super) message_begun: bool,
}

/// What a tool sets off behind its message's `message_delta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AfterDelta {
    /// The prompt's echo of a foreground agent or a fork.
    Echo(TaskId),
    /// The question to the host about this call.
    Ask(String),
    /// The result of a launch in the background.
    Launched(String),
}

/// A message of the host that waits or began a turn.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) uuid: Option<String>,
    pub(super) content: Value,
    pub(super) text: String,
    pub(super) priority: Priority,
}

/// The `priority` of a user message; none is `Next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    Now,
    Next,
    Later,
}

/// What kind of turn runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// The model answers a message.
    Model,
    /// The model answers a background task's notification; `empty` when the next one is answered in the same call.
    FollowUp {
        /// `runId` of the task; none for the orphans of a killed session.
        run: Option<String>,
        empty: bool,
    },
    /// A typed `/skill` with a fork.
    Fork(TaskId),
    /// A command of the CLI's own.
    Local(String),
}

/// A turn: from `started` to `result`.
pub(super) struct Turn {
    pub(super) kind: Kind,
    /// The message that began it.
    pub(super) head: Option<Message>,
    /// Uuids of its messages, folded ones included.
    pub(super) uuids: Vec<String>,
    /// Messages folded into it.
    pub(super) folded: Vec<String>,
    /// Replays that wait for the API's first answer.
    pub(super) replays: Vec<Value>,
    /// The first `message_start` was said.
    pub(super) begun: bool,
    /// The first assistant frame was said.
    pub(super) spoken: bool,
    pub(super) num_turns: u64,
    pub(super) tokens: Tokens,
    /// Input and cache read tokens of the first request.
    pub(super) first_request: Option<(u64, u64)>,
    pub(super) begun_ids: Vec<String>,
    pub(super) denials: Vec<Value>,
    pub(super) safety_stops: u64,
    pub(super) text: String,
    pub(super) stop_reason: Option<String>,
    /// A message with priority `now` waits for the tools that run.
    pub(super) overtaken: bool,
    /// The uuid of the last frame that a compaction keeps.
    pub(super) kept: Vec<String>,
    pub(super) started_ms: u64,
    pub(super) output: String,
    /// `started` was said.
    pub(super) started: bool,
    /// `init` was said.
    pub(super) opened: bool,
    /// Nothing but the result is left.
    pub(super) ending: bool,
}

/// A tool call.
pub(super) struct Job {
    pub(super) thread: ThreadId,
    pub(super) name: String,
    pub(super) input: Value,
    pub(super) outcome: Option<Outcome>,
    /// How it was allowed, for `tool_result_meta`.
    pub(super) decision: Value,
    pub(super) state: JobState,
    /// The agent or fork it started, or the task that a long command became.
    pub(super) task: Option<TaskId>,
}

/// Where a tool call stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// The host was asked.
    Asking,
    /// It runs.
    Running,
    /// Its result was said.
    Done,
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskKind {
    /// The Agent tool's.
    Agent,
    /// A fork of the Skill tool.
    SkillFork,
    /// A typed `/skill`.
    TypedFork,
    /// A command.
    Command,
}

/// An agent, a fork or a command that the wire calls a task.
pub(super) struct Task {
    pub(super) id: String,
    pub(super) run: String,
    pub(super) kind: TaskKind,
    pub(super) thread: Option<ThreadId>,
    /// The call that started it.
    pub(super) call: Option<String>,
    /// `parent_tool_use_id` of its frames.
    pub(super) tag: String,
    /// The task whose thread started it.
    pub(super) parent: Option<TaskId>,
    pub(super) background: bool,
    pub(super) description: String,
    /// `task_description` of its frames.
    pub(super) words: String,
    pub(super) subagent: String,
    pub(super) prompt: String,
    pub(super) started_ms: u64,
    pub(super) running: bool,
    /// `task_started` was said.
    pub(super) announced: bool,
    /// Frames held until the fork's end.
    pub(super) held: Vec<Value>,
    /// Its end is to be followed by a turn.
    pub(super) ended_ms: u64,
    /// A message with priority `now` waits for its step to end.
    pub(super) overtaken: bool,
    /// Calls that were killed with it and are reported afterwards.
    pub(super) killed_calls: Vec<String>,
    /// The API error that ended it.
    pub(super) failure: Option<String>,
}

impl Thread {
    pub(super) fn new(task: Option<TaskId>, prompt: String, answers: VecDeque<Answer>) -> Thread {
        Thread {
            task,
            program: VecDeque::new(),
            generation: 0,
            reply: None,
            answers,
            open: Vec::new(),
            waiting: false,
            prompt,
            tries: 0,
            cuts: 0,
            fallback: false,
            fallback_tries: 0,
            refusals: 0,
            last: Tokens::default(),
            tools: Vec::new(),
            text: String::new(),
            lead_ms: 0,
            tail_ms: 0,
        }
    }

    /// Whether a message is under way.
    pub(super) fn streams(&self) -> bool {
        self.reply.as_ref().is_some_and(|speaking| !speaking.stopped)
    }
}

impl Turn {
    pub(super) fn new(kind: Kind, head: Option<Message>, now_ms: u64) -> Turn {
        let uuids = head.iter().filter_map(|message| message.uuid.clone()).collect();
        Turn {
            kind,
            head,
            uuids,
            folded: Vec::new(),
            replays: Vec::new(),
            begun: false,
            spoken: false,
            num_turns: 0,
            tokens: Tokens::default(),
            first_request: None,
            begun_ids: Vec::new(),
            denials: Vec::new(),
            safety_stops: 0,
            text: String::new(),
            stop_reason: None,
            overtaken: false,
            kept: Vec::new(),
            started_ms: now_ms,
            output: String::new(),
            started: false,
            opened: false,
            ending: false,
        }
    }
}
