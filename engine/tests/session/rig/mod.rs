//! Plays a script against a core.

mod parse;
mod say;
mod show;
mod viewer;

pub use viewer::entry;
mod watch;

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    core::{
        Core,
        config::EngineConfig,
        effect::Effect,
        input::{ChatSpec, Harness, Input, Message, Now, Parent, Pipe, ProcId, StoreError},
    },
    delegation::{Asked, Call, Origin},
    drivers::Capabilities,
    feed::{Change, Row},
    store::{Store, Stored},
};
use parse::{Line, Verb};
use serde_json::json;
use viewer::Viewer;
use watch::Watch;

/// Wall clock at virtual time 0, ms: the two clocks must never be taken for each other.
const WALL_AT_START: u64 = 1_700_000_000_000;

/// What a mock can do when the script says nothing about it.
const MOCK: Capabilities = Capabilities { supports_steering: true, stops_turn_in_place: true, deterministic_turn_end: false };

/// When store effects fail.
#[derive(Clone, Copy, Debug)]
pub struct Failing {
    /// The first effect that fails, counted from 1.
    pub from: u64,
    /// How many in a row.
    pub times: u64,
    /// How.
    pub kind: StoreError,
}

/// One engine with its viewer.
pub struct Rig {
    core: Core,
    now: u64,
    store: Store,
    failing: Option<Failing>,
    /// A script may switch the store off and on.
    broken: Option<StoreError>,
    stores: u64,
    pub viewer: Viewer,
    watch: Watch,
    procs: BTreeMap<String, ProcId>,
    created: BTreeSet<String>,
    /// Short names of ids that the engine made.
    names: Vec<(String, String)>,
    calls: u64,
    config: EngineConfig,
    shows: Vec<String>,
    transcript: String,
    /// Every effect performed, in order.
    pub performed: Vec<Effect>,
    /// After how many effects the engine is killed.
    killed_after: Option<u64>,
    lives: u64,
    /// Transcripts of the provider by session.
    transcripts: BTreeMap<String, String>,
    /// Reads that are not answered yet, and whether they wait for the script to say so.
    reads: Vec<(ProcId, String)>,
    slow_disk: bool,
}

impl Rig {
    fn new(failing: Option<Failing>) -> Rig {
        Rig {
            core: Core::new(EngineConfig::default(), 7),
            now: 0,
            store: Store::in_memory().expect("a store in memory"),
            failing,
            broken: None,
            stores: 0,
            viewer: Viewer::default(),
            watch: Watch::default(),
            procs: BTreeMap::new(),
            created: BTreeSet::new(),
            names: Vec::new(),
            calls: 0,
            config: EngineConfig::default(),
            shows: Vec::new(),
            transcript: String::new(),
            performed: Vec::new(),
            killed_after: None,
            lives: 1,
            transcripts: BTreeMap::new(),
            reads: Vec::new(),
            slow_disk: false,
        }
    }

    /// Plays a script to its end.
    pub fn play(script: &str, failing: Option<Failing>) -> Rig {
        let mut rig = Rig::new(failing);
        rig.go_on(script);
        rig
    }

    /// Plays a script until so many effects were performed: there the engine is killed.
    pub fn play_until(script: &str, effects: u64) -> Rig {
        let mut rig = Rig::new(None);
        rig.killed_after = Some(effects);
        rig.go_on(script);
        rig
    }

    /// Plays on.
    pub fn go_on(&mut self, script: &str) {
        for text in parse::lines(script) {
            if !self.is_dead() {
                let line = parse::line(&self.full(text));
                self.line(line, text);
            }
        }
    }

    fn is_dead(&self) -> bool {
        self.killed_after.is_some_and(|after| self.performed.len() as u64 >= after)
    }

    /// What the database holds.
    pub fn stored(&mut self) -> Stored {
        self.store.load().expect("the store is read")
    }

    /// Starts the engine again, for a viewer that has nothing; it may be killed again after so many effects.
    pub fn restart(&mut self, killed_after: Option<u64>) {
        self.killed_after = killed_after.map(|after| self.performed.len() as u64 + after);
        self.lives += 1;
        self.core = Core::new(self.config.clone(), 7 * self.lives);
        self.viewer = Viewer::default();
        self.watch.reconnected();
        self.procs.clear();
        let stored = self.stored();
        self.deliver(Input::Boot(Box::new(stored)));
    }

    /// Starts the engine again on a database that was changed meanwhile.
    pub fn restart_with(&mut self, change: impl FnOnce(&mut Stored)) {
        self.core = Core::new(EngineConfig::default(), 99);
        self.viewer = Viewer::default();
        self.watch = Watch::default();
        self.procs.clear();
        let mut stored = self.stored();
        change(&mut stored);
        self.watch.trust(&stored);
        self.deliver(Input::Boot(Box::new(stored)));
    }

    /// Whether no timer stands and no lease is held.
    pub fn nothing_is_due(&self) -> bool {
        self.core.deadline().is_none() && self.core.leases().next().is_none()
    }

    fn line(&mut self, line: Line, text: &str) {
        if line.at > self.now {
            // What is due at the instant of an input comes after it: timers are the last class.
            self.fire_until(line.at - 1);
            self.now = line.at;
        }
        self.transcript.push_str(text);
        self.transcript.push('\n');
        let named = self.names.iter().any(|(id, _)| *id == line.chat);
        if !named && !self.created.contains(&line.chat) && !line.verb.makes_its_chat() {
            self.create(&line.chat, Harness::Mock(MOCK), None);
        }
        match line.verb {
            Verb::Show(what) => self.shows.extend(what),
            Verb::Store(kind) => self.broken = kind,
            Verb::Chat(chat) => self.create_with(&line.chat, chat.harness(MOCK), chat.resume, chat.parent),
            Verb::Claim(cwd) => {
                self.created.insert(line.chat.clone());
                self.deliver(Input::Claim { chat: line.chat, cwd });
            }
            Verb::Port(port) => {
                self.config.ipc_port = Some(port);
                self.core = Core::new(self.config.clone(), 7);
            }
            Verb::Rpc(method, params) => self.call(Asked::Rpc { method, params }),
            Verb::Mcp { side_chats_only, method, params } => {
                let origin = Origin { chat: line.chat, device: "device".to_owned(), side_chats_only };
                let frame = match method.as_str() {
                    "initialize" | "ping" | "tools/list" => json!({"id": "f", "method": method, "params": params}),
                    tool => json!({"id": "f", "method": "tools/call", "params": {"name": tool, "arguments": params}}),
                };
                self.call(Asked::Mcp { origin, frame });
            }
            Verb::Wait => self.fire_until(line.at),
            Verb::Begun(message) => self.begin(message),
            Verb::Input(input) => self.deliver(input),
            Verb::Said(bytes) => {
                let proc = self.proc(line.proc, &line.chat);
                self.deliver(Input::Bytes { proc, pipe: Pipe::Stdout, bytes });
            }
            Verb::Ends(ends) => {
                let proc = self.proc(line.proc, &line.chat);
                for input in ends.inputs(proc) {
                    self.deliver(input);
                }
            }
            Verb::Record { session, record } => self.transcripts.entry(session).or_default().push_str(&record),
            Verb::SlowDisk => self.slow_disk = true,
            Verb::Answered => self.answer_reads(),
            Verb::Restart => self.restart(None),
            Verb::AllExit => {
                for proc in self.core.leases().collect::<Vec<_>>() {
                    for input in parse::Ends::Exit(0).inputs(proc) {
                        self.deliver(input);
                    }
                }
            }
            Verb::Look(what) => {
                let seen = show::look(&what, &line.chat, &self.core, &self.viewer);
                self.print(seen);
            }
        }
    }

    fn begin(&mut self, message: Message) {
        let mark = self.transcript.len();
        let (chat, id) = (message.chat.clone(), message.id.clone());
        self.deliver(Input::Message(message));
        let spawned = self.performed.iter().rev().find_map(|effect| match effect {
            Effect::Spawn(spawn) => Some(spawn.program.as_str()),
            _ => None,
        });
        let bytes = match spawned {
            Some("claude") => say::claude(&format!("init ; lifecycle {id} started")),
            _ => say::mock(&format!("taken {id}")),
        };
        if !self.is_dead() {
            let proc = self.proc(None, &chat);
            self.deliver(Input::Bytes { proc, pipe: Pipe::Stdout, bytes });
        }
        self.transcript.truncate(mark);
    }

    fn call(&mut self, asked: Asked) {
        self.calls += 1;
        self.deliver(Input::Call(Call { id: self.calls, asked }));
    }

    /// Short names replaced by the ids that they stand for.
    fn full(&self, text: &str) -> String {
        let word = |word: &str| {
            let colon = if word.ends_with(':') { ":" } else { "" };
            let known = self.names.iter().find(|(_, name)| *name == word.trim_end_matches(':'));
            known.map_or_else(|| word.to_owned(), |(id, _)| format!("{id}{colon}"))
        };
        let text = text.split(' ').map(word).collect::<Vec<_>>().join(" ");
        self.names.iter().fold(text, |text, (id, name)| text.replace(&format!("\"{name}\""), &format!("\"{id}\"")))
    }

    /// Names what the engine gave an id of its own.
    fn name(&mut self, change: &Change) {
        let (id, stem) = match change {
            Change::Row(Row::Chat(row)) => (&row.chat_id, "side"),
            Change::Row(Row::Message(row)) => (&row.message_id, "note"),
            _ => return,
        };
        if id.len() == 36 && !self.names.iter().any(|(known, _)| known == id) {
            let number = self.names.iter().filter(|(_, name)| name.starts_with(stem)).count() + 1;
            self.names.push((id.clone(), format!("{stem}{number}")));
        }
    }

    fn create(&mut self, chat: &str, harness: Harness, resume: Option<String>) {
        self.create_with(chat, harness, resume, None);
    }

    fn create_with(&mut self, chat: &str, harness: Harness, resume: Option<String>, parent: Option<String>) {
        self.created.insert(chat.to_owned());
        let strict = resume.is_some();
        let resume_policy = if strict { engine::core::input::ResumePolicy::RequireExisting } else { Default::default() };
        let spec = ChatSpec {
            chat: chat.to_owned(),
            harness,
            cwd: "/w".to_owned(),
            resume,
            resume_policy,
            parent: parent.map_or(Parent::None, Parent::Chat),
            ..ChatSpec::default()
        };
        // Every chat begins with the same two rows: no script repeats them.
        let mark = self.transcript.len();
        self.deliver(Input::Create(spec));
        self.transcript.truncate(mark);
    }

    fn proc(&self, proc: Option<u64>, chat: &str) -> ProcId {
        proc.map(ProcId).or_else(|| self.procs.get(chat).copied()).expect("no process was started for this chat")
    }

    /// Lets time pass, timers included, up to and with `until`.
    fn fire_until(&mut self, until: u64) {
        while let Some(due) = self.core.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            let Some(key) = self.core.take_due(self.now) else { return };
            let mark = self.transcript.len();
            self.transcript.push_str(&format!("  @{} {} {}\n", self.now, key.owner, key.name));
            let heading = self.transcript.len();
            self.deliver(Input::Timer(key.clone()));
            if self.transcript.len() == heading && matches!(key.name, "flush" | "stderr-close") {
                self.transcript.truncate(mark);
            }
        }
        self.now = self.now.max(until);
    }

    /// One input and the chain that follows from it.
    fn deliver(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let now = Now { mono: self.now, wall: WALL_AT_START + self.now };
            let effects = self.core.step(now, input);
            self.watch.list(&effects);
            for effect in effects {
                if self.is_dead() {
                    return;
                }
                if let Effect::Store(txn) = &effect {
                    let outcome = self.commit(txn);
                    self.watch.stored(txn, outcome);
                    next = Some(Input::Stored(outcome));
                }
                self.perform(&effect);
                self.performed.push(effect);
            }
        }
        if !self.slow_disk && !self.reads.is_empty() {
            self.answer_reads();
            return;
        }
        let delivered = !self.core.timers().any(|(_, key)| key.name == "flush") && !self.watch.owes();
        self.watch.pill_and_rows(self.now, delivered, &self.viewer);
    }

    fn answer_reads(&mut self) {
        for (proc, path) in std::mem::take(&mut self.reads) {
            let session = path.rsplit('/').next().and_then(|name| name.strip_suffix(".jsonl")).unwrap_or_default();
            let content = self.transcripts.get(session).map(|text| text.clone().into_bytes());
            self.deliver(Input::File { proc, content });
        }
    }

    fn commit(&mut self, txn: &engine::core::effect::Txn) -> Result<(), StoreError> {
        self.stores += 1;
        let planned = self.failing.filter(|f| (f.from..f.from + f.times).contains(&self.stores)).map(|f| f.kind);
        match self.broken.or(planned) {
            Some(kind) => Err(kind),
            None => self.store.commit(txn),
        }
    }

    fn perform(&mut self, effect: &Effect) {
        if let Effect::Spawn(spawn) = effect {
            self.procs.insert(spawn.chat.clone(), spawn.proc);
        }
        if let Effect::ReadFile { proc, path } = effect {
            self.reads.push((*proc, path.clone()));
        }
        if let Effect::Publish(change) = effect {
            self.name(change);
            self.watch.published(change, &self.viewer);
            self.viewer.take(change);
        }
        let shown = show::effect(effect, &self.shows);
        self.print(shown.into_iter().collect());
    }

    fn print(&mut self, lines: Vec<String>) {
        for line in lines {
            let line = self.names.iter().fold(line, |line, (id, name)| line.replace(id, name));
            self.transcript.push_str(&format!("    {line}\n"));
        }
    }
}

/// Plays a script twice and compares what the engine did with what the script says it does.
#[track_caller]
pub fn check(script: &str) {
    let first = Rig::play(script, None);
    let second = Rig::play(script, None);
    assert!(first.performed == second.performed, "the same inputs gave two different effect lists");
    let wanted: String = parse::tidy(script);
    assert!(
        first.transcript == wanted,
        "the engine did otherwise; this is what it did:\n{}\nfirst difference: {}",
        first.transcript,
        parse::first_difference(&first.transcript, &wanted)
    );
}
