//! The process: its clock, its outputs, its threads.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use captures::{
    format::{Exit, From, Stream},
    labels,
    provider::Provider,
};
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    failures::ApiError,
    ledger::Ledger,
    state::{Event, Job, MAIN, Message, Step, Task, TaskId, Thread, ThreadId, Turn},
};
use crate::{
    claude::{
        args::Args,
        ids,
        profile::Profile,
        script::{Script, Summary},
        sessions::Session,
    },
    understudy::{Breach, Files, Launch, Output, Stage},
};

/// The timer that the core arms; it needs one only.
const TIMER: u64 = 1;

/// A running CLI.
pub(in crate::claude) struct Core {
    pub(super) args: Args,
    pub(super) launch: Launch,
    pub(super) profile: Arc<Profile>,
    pub(super) script: Script,
    pub(super) now_ms: u64,
    pub(super) wall_ms: u64,
    pub(super) started_ms: u64,
    pub(super) session: String,
    pub(super) model: String,
    pub(super) mode: String,
    pub(super) booted: bool,
    /// Lines that came before the process read.
    pub(super) early: VecDeque<String>,
    pub(super) queue: VecDeque<Message>,
    pub(super) turn: Option<Turn>,
    pub(super) threads: Vec<Thread>,
    pub(super) tasks: Vec<Task>,
    pub(super) jobs: IndexMap<String, Job>,
    /// Permission questions by request id: the call they are about.
    pub(super) questions: IndexMap<String, String>,
    /// Ended background tasks whose follow-up turn has not begun.
    pub(super) follow_ups: VecDeque<TaskId>,
    pub(super) ledger: Ledger,
    pub(super) results: u64,
    pub(super) last_result_ms: u64,
    /// A turn with a model call has run.
    pub(super) had_turn: bool,
    pub(super) last_error: bool,
    pub(super) stdin_closed: bool,
    pub(super) leaving: bool,
    pub(super) ended: bool,
    pub(super) interrupted_by_signal: bool,
    pub(super) stats: super::task_frames::Stats,
    /// Parent of the next line of the session file.
    pub(super) parent: Option<String>,
    /// Answers of the host that wait for the end of the message that asked.
    pub(super) answers: IndexMap<String, Value>,
    /// Questions that were taken back.
    pub(super) withdrawn: BTreeSet<String>,
    /// Commands in the background whose launch waits for the end of its message.
    pub(super) late_launches: Vec<(ThreadId, String, TaskId)>,
    /// The error that ends the turn.
    pub(super) pending_error: Option<ApiError>,
    /// The compaction under way.
    pub(super) summary: Option<Summary>,
    /// Uuids of the assistant frames so far.
    pub(super) last_kept: Vec<String>,
    /// Arguments of the command that runs.
    pub(super) local_args: String,
    /// The host uses the words of the recording: a message that says something else was never recorded. Known with the first
    /// message.
    pub(super) cued_by_words: Option<bool>,
    /// `perTaskStopAffordance` of initialize: an interrupt spares the agents in the background.
    pub(super) spares_background: bool,
    /// The session to open with the first line; `None` in it when it does not exist.
    pub(super) to_open: Option<Option<Session>>,
    /// The lifecycle state that the turn ends in.
    pub(super) state_after_result: &'static str,
    /// Frames taken from recordings, by stem.
    pub(in crate::claude) taped: BTreeMap<String, u64>,
    /// A resumed session has orphans to report.
    pub(super) orphans: bool,
    events: BTreeMap<(u64, u64), Event>,
    sequence: u64,
    armed: Option<u64>,
    out: Vec<Output>,
    /// Lines for the session file, written when the input is done.
    writes: Vec<(String, String)>,
    /// Random bits drawn ahead for this input.
    seed: u64,
    drawn: u64,
}

impl Core {
    pub(in crate::claude) fn new(args: Args, launch: Launch, profile: Arc<Profile>, script: Script) -> Core {
        let model = profile.resolve(args.model.as_deref().unwrap_or("default"));
        Core {
            mode: args.mode.clone(),
            args,
            launch,
            profile,
            script,
            now_ms: 0,
            wall_ms: 0,
            started_ms: 0,
            session: String::new(),
            model,
            booted: false,
            early: VecDeque::new(),
            queue: VecDeque::new(),
            turn: None,
            threads: vec![Thread::new(None, String::new(), VecDeque::new())],
            tasks: Vec::new(),
            jobs: IndexMap::new(),
            questions: IndexMap::new(),
            follow_ups: VecDeque::new(),
            ledger: Ledger::default(),
            results: 0,
            last_result_ms: 0,
            had_turn: false,
            last_error: false,
            stdin_closed: false,
            leaving: false,
            ended: false,
            interrupted_by_signal: false,
            stats: super::task_frames::Stats::default(),
            parent: None,
            answers: IndexMap::new(),
            withdrawn: BTreeSet::new(),
            late_launches: Vec::new(),
            pending_error: None,
            summary: None,
            last_kept: Vec::new(),
            local_args: String::new(),
            cued_by_words: None,
            spares_background: false,
            to_open: None,
            state_after_result: "completed",
            taped: BTreeMap::new(),
            orphans: false,
            events: BTreeMap::new(),
            sequence: 0,
            armed: None,
            out: Vec::new(),
            writes: Vec::new(),
            seed: 0,
            drawn: 0,
        }
    }

    /// The process begins.
    pub(in crate::claude) fn start(&mut self, stage: &mut Stage<'_>) {
        self.enter(stage);
        self.started_ms = stage.now_ms;
        let session = self.script.session_id.clone().or_else(|| self.args.session_id.clone());
        self.session = session.unwrap_or_else(|| self.uuid());
        for switch in std::mem::take(&mut self.args.unplayed) {
            self.off_script(format!("`{switch}` changes what the CLI says and was never recorded: it has no effect here"));
        }
        self.after(self.script.boot_ms, Event::Boot);
    }

    /// Takes over the clock and the random source for one input.
    pub(in crate::claude) fn enter(&mut self, stage: &mut Stage<'_>) {
        self.now_ms = stage.now_ms;
        self.wall_ms = stage.wall_ms;
        self.seed = (stage.random)();
        self.drawn = 0;
    }

    /// Does what is due, writes files, hands over what was said.
    pub(in crate::claude) fn leave(&mut self, stage: &mut Stage<'_>) -> Vec<Output> {
        while let Some((&(at, sequence), _)) = self.events.first_key_value() {
            if at > self.now_ms || self.ended {
                break;
            }
            if let Some(event) = self.events.remove(&(at, sequence)) {
                self.happen(event, stage.files);
            }
        }
        for (path, line) in self.writes.drain(..) {
            stage.files.append(&path, line.as_bytes());
        }
        let next = self.events.keys().next().map(|(at, _)| *at).filter(|_| !self.ended);
        if next != self.armed {
            self.armed = next;
            self.out.push(next.map_or(Output::Disarm(TIMER), |at_ms| Output::Arm { timer: TIMER, at_ms }));
        }
        std::mem::take(&mut self.out)
    }

    fn happen(&mut self, event: Event, files: &mut dyn Files) {
        match event {
            Event::Boot => self.boot(files),
            Event::Step(thread, generation) => self.step(thread, generation),
            Event::ToolEnds(id) => self.tool_ends(&id),
            Event::Announce(id) => self.announce_command(&id),
            Event::Heartbeat(id, nth) => self.heartbeat(&id, nth),
            Event::CommandEnds(task) => self.background_command_ends(task),
            Event::Killed(task) => self.report_killed(task),
            Event::Answered(request) => self.answered(&request),
            Event::Next => self.begin_next(),
            Event::Leave(code) => {
                self.record_spent();
                self.exit(code);
            }
        }
    }

    /// Something happens this many ms from now.
    pub(super) fn after(&mut self, delay_ms: u64, event: Event) {
        self.sequence += 1;
        self.events.insert((self.now_ms + delay_ms, self.sequence), event);
    }

    // ---- threads ----

    /// Appends steps to a thread's program and sees to it that they are taken.
    pub(super) fn run(&mut self, thread: ThreadId, steps: impl IntoIterator<Item = (u64, Step)>) {
        let idle = self.threads[thread].program.is_empty();
        self.threads[thread].program.extend(steps);
        if idle {
            self.arm_step(thread);
        }
    }

    /// A call after a delay.
    pub(super) fn call(&mut self, thread: ThreadId, delay_ms: u64, call: fn(&mut Core, ThreadId)) {
        self.run(thread, [(delay_ms, Step::Call(call))]);
    }

    /// Drops what a thread was about to do.
    pub(super) fn halt(&mut self, thread: ThreadId) {
        let thread = &mut self.threads[thread];
        thread.program.clear();
        thread.generation += 1;
    }

    fn arm_step(&mut self, thread: ThreadId) {
        if let Some((delay, _)) = self.threads[thread].program.front() {
            let (delay, generation) = (*delay, self.threads[thread].generation);
            self.after(delay, Event::Step(thread, generation));
        }
    }

    fn step(&mut self, thread: ThreadId, generation: u32) {
        if self.threads[thread].generation != generation {
            return;
        }
        let Some((_, step)) = self.threads[thread].program.pop_front() else { return };
        let more = !self.threads[thread].program.is_empty();
        if more {
            self.arm_step(thread);
        }
        match step {
            Step::BlockStart(index) => self.block_start(thread, index),
            Step::Delta(index, chunk) => self.delta(thread, index, chunk),
            Step::BlockDone(index) => self.block_done(thread, index),
            Step::BlockStop(index) => self.block_stop(thread, index),
            Step::Call(call) => call(self, thread),
        }
    }

    /// Whether a thread is the main one.
    pub(super) fn is_main(&self, thread: ThreadId) -> bool {
        thread == MAIN
    }

    // ---- outputs ----

    /// Says a frame, with `uuid` and `session_id` unless it has them; control frames have neither.
    pub(super) fn say(&mut self, mut frame: Value) -> String {
        let uuid = match frame.get("uuid").and_then(Value::as_str) {
            Some(uuid) => uuid.to_owned(),
            None => self.uuid(),
        };
        if frame.get("session_id").is_none() {
            frame["session_id"] = json!(self.session);
        }
        frame["uuid"] = json!(uuid);
        self.say_bare(&frame);
        uuid
    }

    /// Says a frame as it is.
    pub(super) fn say_bare(&mut self, frame: &Value) {
        let stem = labels::stem(Provider::Claude, &From::Cli, frame);
        self.out.push(Output::Say { line: frame.to_string(), stem });
    }

    /// Counts a frame whose words were not made but taken from a recording of the same version.
    pub(super) fn tape(&mut self, stem: &str) {
        *self.taped.entry(stem.to_owned()).or_insert(0) += 1;
    }

    /// Says something on stderr.
    pub(in crate::claude) fn complain(&mut self, words: &str) {
        self.out.push(Output::Stderr(words.to_owned()));
    }

    /// The host broke a rule.
    pub(super) fn breach(&mut self, rule: &'static str, words: String) {
        self.out.push(Output::Breach(Breach { rule, words }));
    }

    /// The host did what the real CLI takes, and no recording shows what comes of it.
    pub(super) fn off_script(&mut self, words: String) {
        self.out.push(Output::OffScript(words));
    }

    /// Ends the process.
    pub(in crate::claude) fn exit(&mut self, code: i32) {
        if !self.ended {
            self.ended = true;
            self.out.push(Output::Close(Stream::Stdout));
            self.out.push(Output::Exit(Exit { code: Some(code), signal: None }));
        }
    }

    /// Appends a line to a file when this input is done.
    pub(super) fn write(&mut self, path: String, line: String) {
        self.writes.push((path, line));
    }

    // ---- ids ----

    /// 64 random bits of the harness, stretched over one input by a counter.
    pub(super) fn random(&mut self) -> u64 {
        self.drawn += 1;
        // splitmix64: every output of a counter looks random, and one draw of the harness lasts for a whole input.
        let mut bits = self.seed.wrapping_add(self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A fresh UUID.
    pub(super) fn uuid(&mut self) -> String {
        ids::uuid(&mut || self.random())
    }

    /// The current time as frames state it.
    pub(super) fn stamp(&self) -> String {
        ids::timestamp(self.wall_ms)
    }
}
