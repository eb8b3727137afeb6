//! The loop of the stage: one event or one due timer at a time.

use std::collections::BTreeMap;

use fake_clis::understudy::{Files as _, Input, Launch, Stage as Lent};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use scenarios::plan::{Perturbation, UserAct};

use super::{
    director::{Cue, Direct, Director},
    lives::Life,
    queue::{Event, Queue},
    run::{End, Setting},
};
use crate::{
    history::{Happening, History, UserAction, What},
    host::{ChatSetup, ForHost, FromHost, Host, fault::Ending},
    trace::Trace,
    view::{Clock, HostView, Viewer},
    world::Process,
};

/// Wall clock at the start of every run, ms since 1970: 2026-12-01 00:00 UTC.
pub const WALL_START_MS: u64 = 1_796_083_200_000;
/// A host timer further away than this is no reason to go on once nothing else is to come, ms.
pub const SETTLE_BOUND_MS: u64 = 600_000;
/// A run with more events than this is a run-away, not a rehearsal.
pub const EVENT_LIMIT: u64 = 5_000_000;

/// Everything of one run.
pub struct Stage<'a> {
    pub(super) host: Box<dyn Host>,
    director: Box<dyn Director>,
    pub(super) setting: &'a Setting,
    pub(super) queue: Queue,
    pub(super) processes: BTreeMap<u32, Process>,
    pub(super) viewer: Viewer,
    pub(super) history: History,
    pub(super) trace: Trace,
    pub(super) files: fake_clis::drive::MemoryFiles,
    pub(super) random: ChaCha8Rng,
    pub(super) unmet: Vec<(u64, String)>,
    pub(super) events: u64,
    pub(super) end: Option<End>,
    pub(super) life: Life,
    /// Whether the end that a scenario's step decided beforehand is one that nobody mends.
    pub(super) stays_down: bool,
    /// What the plan has the user do as soon as the event that caused it is over.
    acts: std::collections::VecDeque<UserAction>,
    /// Answers of the host to calls.
    pub(super) answers: BTreeMap<u64, Result<serde_json::Value, String>>,
    /// Chats that the user made.
    pub(super) setups: Vec<ChatSetup>,
    /// Chats that the host lost before it had shown them: the user, who sees that they are not there, makes them again.
    pub(super) lost: std::collections::VecDeque<ChatSetup>,
    /// What steps of the scenario let the machine sleep, ms.
    pub(super) slept_by_steps: u64,
    now: u64,
    last_event: Option<u64>,
    finished: bool,
}

impl<'a> Stage<'a> {
    pub(super) fn new(host: Box<dyn Host>, director: Box<dyn Director>, setting: &'a Setting) -> Self {
        let broken = setting.plan.class() == Some(scenarios::plan::Class::Breakage)
            || setting.cast.iter().flat_map(|member| &member.edits).any(is_breakage);
        let history = History { broken_provider: broken, raw: setting.raw, ..History::default() };
        Stage {
            host,
            director,
            setting,
            queue: Queue::default(),
            processes: BTreeMap::new(),
            viewer: Viewer::default(),
            history,
            trace: Trace::default(),
            files: setting.files.clone(),
            random: ChaCha8Rng::seed_from_u64(setting.seed ^ 0x5eed_0f0a),
            unmet: Vec::new(),
            events: 0,
            end: None,
            life: Life::NotYet,
            stays_down: false,
            acts: Default::default(),
            answers: BTreeMap::new(),
            setups: Vec::new(),
            lost: Default::default(),
            slept_by_steps: 0,
            now: 0,
            last_event: None,
            finished: false,
        }
    }

    /// Virtual time, ms.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn view(&self) -> &HostView {
        self.viewer.view()
    }

    pub(super) fn clock(&self) -> Clock {
        Clock { mono: self.now, wall: WALL_START_MS + self.now + self.slept() }
    }

    /// How long the machine has slept so far, ms: the wall clock ran then, the monotonic one did not.
    fn slept(&self) -> u64 {
        let sleeps = self.setting.plan.perturb.iter().filter_map(|perturbation| match perturbation {
            Perturbation::Suspend { at, length } if at.as_millis() as u64 <= self.now => Some(length.as_millis() as u64),
            _ => None,
        });
        sleeps.sum::<u64>() + self.slept_by_steps
    }

    /// Lets one thing happen. False: nothing is to come any more.
    pub(super) fn step(&mut self) -> Result<bool, End> {
        if self.life == Life::NotYet {
            self.begin()?;
        }
        loop {
            if self.events >= EVENT_LIMIT {
                return Err(End::Fault(format!("the run did not end within {EVENT_LIMIT} events")));
            }
            let wake = match self.direct()? {
                Some(wake) => wake,
                None => return self.happened(),
            };
            // Two events never share a millisecond; a due timer of the host comes after an event of its instant.
            let inward = self.queue.first_is_inward();
            let free = if inward { self.now } else { self.last_event.map_or(0, |last| last + 1) };
            let event = self.queue.first().map(|due| due.max(free));
            let timer = self.host.deadline().map(|due| due.max(self.now));
            let timer = timer.filter(|due| !self.finished || event.is_some() || *due <= self.now + SETTLE_BOUND_MS);
            let restart = self.restart_due().map(|due| due.max(free));
            let next = [event, timer, restart, wake].into_iter().flatten().min();
            let Some(next) = next else {
                if let Life::Ended { again: true, .. } = self.life {
                    self.start_over_orphans()?;
                    return self.happened();
                }
                if self.untie() || (!self.finished && self.director.go_on()) {
                    continue;
                }
                return self.nothing_comes();
            };
            if event == Some(next) {
                self.now = next;
                if !inward {
                    self.last_event = Some(next);
                }
                self.deliver();
            } else if timer == Some(next) {
                self.now = next;
                let clock = self.clock();
                if let Some(key) = self.host.fire(clock) {
                    self.trace.line(self.now, "host", format!("timer {key}"), &[]);
                    if self.host.ends_requests(&key) {
                        self.end_requests(|_| true, "deadline");
                    }
                    self.note(What::HostTimer { key });
                }
                self.after_host()?;
            } else if restart == Some(next) {
                self.now = next;
                self.own_instant();
                self.start_host()?;
            } else {
                self.now = next;
                continue;
            }
            return self.happened();
        }
    }

    fn happened(&mut self) -> Result<bool, End> {
        self.events += 1;
        match self.end.take() {
            Some(end) => Err(end),
            None => Ok(true),
        }
    }

    /// Asks the director until it waits (then: until when) or something happened (then: none).
    fn direct(&mut self) -> Result<Option<Option<u64>>, End> {
        // What comes from outside now would have to take the next millisecond: what is due in this one comes first.
        if self.last_event == Some(self.now) && self.host.deadline().is_some_and(|due| due <= self.now) {
            return Ok(Some(None));
        }
        if matches!(self.life, Life::Ended { again: true, .. }) {
            // Nobody can do anything with a host that is down.
            return Ok(Some(None));
        }
        if let Some(setup) = self.lost.pop_front() {
            self.create(setup)?;
            return Ok(None);
        }
        if let Some(action) = self.acts.pop_front() {
            self.user(action)?;
            return Ok(None);
        }
        if self.finished {
            return Ok(Some(None));
        }
        let cue = Cue { now: self.now, view: self.viewer.view(), processes: &self.processes, answers: &self.answers };
        match self.director.next(&cue) {
            Direct::Wait(until) => return Ok(Some(until)),
            Direct::Finished => {
                self.finished = true;
                return Ok(Some(None));
            }
            Direct::Create(_) | Direct::Claim(_) | Direct::Act(_) | Direct::Call(..) if !self.host.is_running() => {
                let words = "the user acts, but the engine is down: a `restart` step starts it again";
                return Err(End::Wrong(words.to_owned()));
            }
            Direct::Create(setup) => {
                self.setups.push(setup.clone());
                self.create(setup)?;
            }
            Direct::Claim(setup) => self.claim(setup)?,
            Direct::Act(action) => self.user(action)?,
            Direct::Call(number, call) => self.call(number, call)?,
            Direct::Show { number, of, given } => {
                let value = self.host.shows(&of, &given);
                self.answers.insert(number, value);
            }
            Direct::Write { pid, bytes } => self.queue.push(self.now, Event::Stdin { pid, bytes }),
            Direct::CloseStdin { pid } => self.queue.push(self.now, Event::StdinClosed { pid }),
            Direct::Signal { pid, signal } => self.queue.push(self.now, Event::Signal { pid, signal, by_host: false }),
            Direct::End(ending) => self.end_host(ending)?,
            Direct::Restart => {
                if self.host.is_running() {
                    self.end_host(Ending::Killed)?;
                }
                self.own_instant();
                self.start_host()?;
            }
            Direct::Arm { fault, again } => {
                self.stays_down |= !again;
                self.arm(fault)?;
            }
            Direct::Suspend(length) => self.sleep(length),
            Direct::Release(label) => {
                self.trace.line(self.now, "world", format!("release {label}"), &[]);
                self.release(&label);
            }
            Direct::Unmet(words) => {
                self.trace.line(self.now, "world", format!("expectation not met: {words}"), &[]);
                self.unmet.push((self.now, words));
            }
            Direct::TooLate(words) => return Err(End::TooLate(words)),
            Direct::Wrong(words) => return Err(End::Wrong(words)),
        }
        Ok(None)
    }

    fn create(&mut self, setup: ChatSetup) -> Result<(), End> {
        self.own_instant();
        let words = format!("create {} {}", setup.chat, setup.cwd);
        self.trace.line(self.now, "world", words, &[]);
        self.host.take(self.clock(), ForHost::Create(setup));
        self.after_host()
    }

    fn user(&mut self, action: UserAction) -> Result<(), End> {
        self.own_instant();
        self.trace.line(self.now, "user", words(&action), &[]);
        self.note(What::User(action.clone()));
        self.host.take(self.clock(), ForHost::User(action));
        self.after_host()
    }

    /// What the plan has the user do after a beat.
    fn plan_acts(&mut self, pid: u32, label: &str) {
        let Some(process) = self.processes.get(&pid) else { return };
        let (name, chat) = (process.name.clone(), process.chat.clone());
        let is_first = self.processes.keys().next() == Some(&pid);
        for perturbation in &self.setting.plan.perturb {
            let Perturbation::Act { after, what } = perturbation else { continue };
            if after.label != label || !after.process.as_ref().map_or(is_first, |wanted| *wanted == name) {
                continue;
            }
            let chat = chat.clone();
            self.acts.push_back(match what {
                UserAct::Stop => UserAction::Stop { chat },
                UserAct::StopTurn => UserAction::StopTurn { chat },
                UserAct::Close => UserAction::Close { chat },
                UserAct::Steer => {
                    let message = format!("00000000-0000-4000-9000-{:012x}", self.random.next_u64() >> 16);
                    UserAction::Send { chat, message, text: "One thing more.".to_owned() }
                }
            });
        }
    }

    /// Gives what comes from outside a millisecond of its own.
    pub(super) fn own_instant(&mut self) {
        if self.last_event == Some(self.now) {
            self.now += 1;
        }
        self.last_event = Some(self.now);
    }

    fn nothing_comes(&mut self) -> Result<bool, End> {
        if self.finished {
            return if self.host.is_running() {
                Ok(false)
            } else {
                Err(End::Wrong("the scenario ends with the engine down: a `restart` step starts it again".to_owned()))
            };
        }
        // A hung host is a fault of the host; a host that does otherwise than the recording's has left the tape.
        let words = self.director.waits_for().unwrap_or_else(|| "the scenario waits and nothing comes".to_owned());
        let hung = self.view().chats.iter().any(|chat| chat.busy) && !self.waits_for_host();
        Err(if hung { End::TooLate(words) } else { End::OffScript(words) })
    }

    /// Whether a live process waits for something that the recording's host did.
    fn waits_for_host(&self) -> bool {
        self.processes.values().any(|process| process.is_alive() && process.held_at.is_none())
    }

    fn deliver(&mut self) {
        let Some(event) = self.queue.pop() else { return };
        match event {
            Event::Understudy { pid, timer } => {
                if let Some(process) = self.processes.get_mut(&pid) {
                    process.timers.remove(&timer);
                }
                self.understudy(pid, Input::Timer(timer));
            }
            Event::Stdin { pid, bytes } => self.heard(pid, &bytes),
            Event::StdinClosed { pid } => {
                if let Some(process) = self.processes.get_mut(&pid).filter(|process| process.is_alive()) {
                    process.stdin_closed = true;
                    self.trace.line(self.now, &self.processes[&pid].name.clone(), "stdin closed".to_owned(), &[]);
                    self.note(What::PipeEnd { pid, pipe: "stdin".to_owned() });
                    self.understudy(pid, Input::StdinClosed);
                }
            }
            Event::Signal { pid, signal, by_host } => self.signalled(pid, &signal, by_host),
            Event::Read { pid, happening, said } => {
                let name = self.processes.get(&pid).map(|process| process.name.clone()).unwrap_or_default();
                let ForHost::Bytes { bytes, .. } = &happening else { return };
                self.trace.line(self.now, &name, read_words(&said, bytes.len()), bytes);
                for (label, frame, genuine) in said {
                    if let Some(process) = self.processes.get_mut(&pid) {
                        process.said.entry(label.clone()).or_insert(self.now);
                    }
                    self.answered(pid, &frame);
                    self.plan_acts(pid, &label);
                    self.note(What::Said { pid, frame, label, genuine });
                }
                self.host.take(self.clock(), happening);
            }
            Event::Host { pid, happening } => {
                self.trace.line(self.now, "world", happening_words(pid, &happening), &[]);
                match &happening {
                    ForHost::Exit { code, signal, .. } => {
                        self.note(What::Exited { pid, code: *code, signal: signal.clone() });
                        self.end_requests(|request| request.pid == pid, "process-gone");
                    }
                    ForHost::End { pipe, .. } => {
                        let pipe = if *pipe == crate::host::Pipe::Stdout { "stdout" } else { "stderr" };
                        self.note(What::PipeEnd { pid, pipe: pipe.to_owned() });
                    }
                    ForHost::Bytes { bytes, .. } => {
                        self.note(What::Stderr { pid, text: String::from_utf8_lossy(bytes).into_owned() });
                    }
                    _ => {}
                }
                self.host.take(self.clock(), happening);
            }
        }
        if let Err(end) = self.after_host() {
            self.end.get_or_insert(end);
        }
    }

    /// Gives an input to an understudy and takes what it says.
    pub(super) fn understudy(&mut self, pid: u32, input: Input<'_>) {
        let Some(process) = self.processes.get_mut(&pid).filter(|process| process.is_alive()) else { return };
        let random = &mut self.random;
        let mut draw = || random.next_u64();
        let mut lent = Lent { now_ms: self.now, wall_ms: WALL_START_MS + self.now, files: &mut self.files, random: &mut draw };
        let outputs = process.understudy.on_input(&mut lent, input);
        for output in outputs {
            self.output(pid, output);
        }
    }

    pub(super) fn note(&mut self, what: What) {
        self.history.happenings.push(Happening { at: self.now, what });
    }

    /// Does what the host wants, then shows the viewer what came.
    pub(super) fn after_host(&mut self) -> Result<(), End> {
        let mut reads = Vec::new();
        for want in self.host.wants() {
            match want {
                FromHost::Spawn { proc, chat, argv, env, cwd } => {
                    let launch = Launch { argv, env, cwd, pid: 4_000 + self.processes.len() as u32, root: true };
                    self.spawn(proc, chat, launch)?;
                }
                FromHost::Write { proc, bytes } => self.host_writes(proc, bytes),
                FromHost::CloseStdin { proc } => {
                    if let Some(pid) = self.pid_of(proc).filter(|_| !self.setting.raw) {
                        self.queue.push(self.now, Event::StdinClosed { pid });
                    }
                }
                FromHost::Signal { proc, signal } => {
                    if let Some(pid) = self.pid_of(proc) {
                        self.queue.push(self.now, Event::Signal { pid, signal: signal.to_owned(), by_host: true });
                    }
                }
                FromHost::ReadFile { proc, path } => reads.push((proc, path)),
                FromHost::Feed(feed) => {
                    let clock = self.clock();
                    self.trace_feed(&feed);
                    self.viewer.take(clock, feed).map_err(End::Fault)?;
                }
                FromHost::Answer { id, outcome } => {
                    self.trace.line(self.now, "host", super::calls::answered(id, &outcome), &[]);
                    self.answers.insert(id, outcome);
                }
                FromHost::Disk { words, outcome, calls } => {
                    self.trace.line(self.now, "disk", format!("{words}: {outcome}"), &calls);
                }
            }
        }
        if !reads.is_empty() && self.host.is_running() {
            for (proc, path) in reads {
                let content = self.provider_file(&path);
                let found = content.as_ref().map_or_else(|| "no such file".to_owned(), |bytes| format!("{} bytes", bytes.len()));
                self.trace.line(self.now, "world", format!("reads {path}: {found}"), content.as_deref().unwrap_or_default());
                self.host.take(self.clock(), ForHost::File { proc, content });
            }
            return self.after_host();
        }
        let ended = self.host.ended().map_err(End::Fault)?;
        if ended.is_some() || !self.host.is_running() {
            self.viewer.cut_off(self.clock());
        } else {
            self.viewer.settle(self.clock());
        }
        self.inside();
        if let Some(ending) = ended {
            self.host_ended(ending);
        }
        Ok(())
    }

    /// A file below the provider's own directory.
    fn provider_file(&self, path: &str) -> Option<Vec<u8>> {
        let member = self.setting.cast.get(self.processes.len()).or(self.setting.cast.first())?;
        let env = &member.capture.header.env;
        let home = || format!("{}/.claude", env.get("HOME").map_or("/home/dev", String::as_str));
        let root = env.get("CLAUDE_CONFIG_DIR").cloned().unwrap_or_else(home);
        self.files.read(&format!("{root}/{path}"))
    }

    pub(super) fn pid_of(&self, proc: u64) -> Option<u32> {
        self.processes.values().find(|process| process.proc == proc && !process.orphan).map(|process| process.pid)
    }

    /// Labels of the first process's capture that were never said.
    pub(super) fn unreached(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (member, process) in self.setting.cast.iter().zip(self.processes.values()) {
            let labels = member.capture.labels();
            for (entry, label) in member.capture.entries.iter().zip(labels) {
                if entry.from == captures::format::From::Cli
                    && let Some(label) = label.filter(|label| !process.said.contains_key(label))
                {
                    missing.push(format!("{label}@{}", process.name));
                }
            }
        }
        missing
    }
}

fn is_breakage(edit: &scenarios::scenario::Edit) -> bool {
    use scenarios::scenario::Edit;
    !matches!(edit, Edit::Hold(_) | Edit::Delay { .. } | Edit::Ignore(_))
}

/// What the user did, for the trace.
fn words(action: &UserAction) -> String {
    match action {
        UserAction::Send { text, .. } => format!("send {text:?}"),
        UserAction::Queue { text, .. } => format!("queue {text:?}"),
        UserAction::Stop { .. } => "stop".to_owned(),
        UserAction::StopTurn { .. } => "stop the turn".to_owned(),
        UserAction::SendNow { text, .. } => format!("send now {text:?}"),
        UserAction::Withdraw { .. } => "withdraw the message".to_owned(),
        UserAction::Edit { text, .. } => format!("edit the message to {text:?}"),
        UserAction::Answer { answers, .. } => format!("answer {answers:?}"),
        UserAction::Close { .. } => "close".to_owned(),
    }
}

fn read_words(said: &[(String, serde_json::Value, bool)], bytes: usize) -> String {
    match said {
        [] => format!("{bytes} bytes of a record"),
        [(label, frame, _)] => format!("{label} {}", crate::stage::brief::frame(frame)),
        many => many.iter().map(|(label, ..)| label.as_str()).collect::<Vec<_>>().join(" + "),
    }
}

fn happening_words(pid: u32, happening: &ForHost) -> String {
    match happening {
        ForHost::Spawned { pid: Some(_), .. } => format!("process {pid} started"),
        ForHost::Spawned { pid: None, .. } => "no such program".to_owned(),
        ForHost::End { pipe, .. } => format!("process {pid} {pipe:?} ended"),
        ForHost::Exit { code: Some(code), .. } => format!("process {pid} exited with code {code}"),
        ForHost::Exit { signal, .. } => format!("process {pid} ended by {}", signal.as_deref().unwrap_or("a signal")),
        ForHost::Bytes { bytes, .. } => format!("process {pid} wrote {} bytes on stderr", bytes.len()),
        ForHost::Create(_) | ForHost::Claim { .. } | ForHost::User(_) | ForHost::Call { .. } | ForHost::File { .. } => {
            String::new()
        }
    }
}
