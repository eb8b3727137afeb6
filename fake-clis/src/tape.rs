//! The tape: plays a capture back, beat by beat, gated by the host's own lines.
//!
//! A tape proves nothing about the provider (it says what it is checked against), but it puts real frames in their recorded
//! order in front of a host. What a host line must say for the tape to go on are the behaviour-bearing fields alone; where the
//! host does otherwise the tape is left and says so.

mod cue;

use std::{collections::VecDeque, sync::Arc};

use captures::format::{Capture, Exit, From, Stream, What};
use serde_json::{Value, json};

use crate::{
    lines::Lines,
    understudy::{Input, Launch, Output, Stage, Understudy},
};
use cue::Cue;

/// The one timer of a tape: its next beat is due.
const BEAT: u64 = 1;
/// A process that nothing keeps ends this long after its stdin was closed, ms (40 ms in the recordings).
const CLOSE_MS: u64 = 40;

/// One thing on the tape.
enum Step {
    /// Wait for the host, or for the world.
    Cue(Cue),
    /// Say a record.
    Say { line: String, stem: String },
    /// Close stdout.
    CloseStdout,
    /// End.
    Exit(Exit),
}

/// A capture being played.
pub struct Tape {
    steps: VecDeque<(f64, Step)>,
    launch: Launch,
    capture: Arc<Capture>,
    /// The recorded answer to `initialize`, for hosts that ask and recordings whose host did not.
    initialize: Option<Value>,
    lines: Lines,
    /// Host lines that came before the tape was there.
    early: VecDeque<Value>,
    /// Recorded id of the host → the id it used in this run.
    bound: Vec<(String, String)>,
    last_ms: f64,
    failed: bool,
    stdin_closed: bool,
    over: bool,
    raw: bool,
}

impl Tape {
    /// The same for a raw scene: its lines are the recording's own, so its launch need not be the host's.
    pub fn raw(capture: Arc<Capture>, launch: Launch) -> Self {
        Tape { raw: true, ..Tape::new(capture, launch, None) }
    }

    /// A tape of `capture`, for a process launched as `launch` says.
    pub fn new(capture: Arc<Capture>, launch: Launch, initialize: Option<Value>) -> Self {
        let labels = capture.labels();
        let mut cues = cue::Reader::default();
        let mut steps = VecDeque::new();
        for (entry, label) in capture.entries.iter().zip(labels) {
            let stem = label.map(|label| label.split('#').next().unwrap_or_default().to_owned()).unwrap_or_default();
            let step = match (&entry.from, &entry.what) {
                (From::Host, _) | (From::World, What::Signal(_)) => cues.cue(entry).map(Step::Cue),
                (_, What::Frame(frame)) => {
                    cues.said(frame);
                    Some(Step::Say { line: frame.to_string(), stem })
                }
                (_, What::Raw(line)) => Some(Step::Say { line: line.clone(), stem }),
                (_, What::Close(Stream::Stdout)) => Some(Step::CloseStdout),
                (_, What::Exit(exit)) => Some(Step::Exit(exit.clone())),
                _ => None,
            };
            steps.extend(step.map(|step| (entry.at_ms, step)));
        }
        Tape {
            steps,
            launch,
            capture,
            initialize,
            lines: Lines::default(),
            early: VecDeque::new(),
            bound: Vec::new(),
            last_ms: 0.0,
            failed: false,
            stdin_closed: false,
            over: false,
            raw: false,
        }
    }

    /// Arms the next beat, or matches the next cue with what came early.
    fn go_on(&mut self, stage: &Stage<'_>, out: &mut Vec<Output>) {
        loop {
            match self.steps.front() {
                Some((at, Step::Cue(cue))) => {
                    let at = *at;
                    if cue.is_stdin_close() && self.stdin_closed {
                        self.steps.pop_front();
                        self.last_ms = at;
                        continue;
                    }
                    let Some(line) = self.early.front() else {
                        if self.stdin_closed {
                            self.end(stage, out);
                        }
                        return;
                    };
                    match cue.matches(line) {
                        Ok(binding) => {
                            self.bound.extend(binding);
                            self.early.pop_front();
                            self.steps.pop_front();
                            self.last_ms = at;
                        }
                        Err(why) => return self.leave(why, out),
                    }
                }
                Some((at, _)) => {
                    let wait = (at - self.last_ms).max(0.0).round() as u64;
                    out.push(Output::Arm { timer: BEAT, at_ms: stage.now_ms + wait });
                    return;
                }
                None => return,
            }
        }
    }

    /// The recording ends here and the host closed stdin: the process ends as the CLI does, by what its last result said.
    fn end(&mut self, stage: &Stage<'_>, out: &mut Vec<Output>) {
        self.steps.clear();
        self.steps.push_back((self.last_ms + CLOSE_MS as f64, Step::CloseStdout));
        let code = i32::from(self.failed);
        self.steps.push_back((self.last_ms + CLOSE_MS as f64, Step::Exit(Exit { code: Some(code), signal: None })));
        out.push(Output::Arm { timer: BEAT, at_ms: stage.now_ms + CLOSE_MS });
    }

    fn leave(&mut self, why: String, out: &mut Vec<Output>) {
        self.over = true;
        self.steps.clear();
        out.push(Output::OffScript(why));
    }

    /// The due beat, and the ones of the same recorded moment are left to their own timers: one beat, one event.
    fn beat(&mut self, stage: &Stage<'_>, out: &mut Vec<Output>) {
        let Some((at, step)) = self.steps.pop_front() else { return };
        self.last_ms = at;
        match step {
            Step::Say { line, stem } => {
                if stem == "result" {
                    self.failed = line.contains("\"is_error\":true");
                }
                out.push(Output::Say { line: self.rename(line), stem });
            }
            Step::CloseStdout => out.push(Output::Close(Stream::Stdout)),
            Step::Exit(exit) => {
                self.over = true;
                out.push(Output::Exit(exit));
                return;
            }
            Step::Cue(cue) => {
                self.steps.push_front((at, Step::Cue(cue)));
            }
        }
        self.go_on(stage, out);
    }

    fn rename(&self, mut line: String) -> String {
        for (captured, actual) in &self.bound {
            if line.contains(captured.as_str()) {
                line = line.replace(captured.as_str(), actual);
            }
        }
        line
    }

    fn heard(&mut self, stage: &Stage<'_>, line: &[u8], out: &mut Vec<Output>) {
        let Ok(frame) = serde_json::from_slice::<Value>(line) else {
            // The stage plays raw scenes; a host that writes no JSON kills the CLI.
            self.early.push_back(json!({"raw": String::from_utf8_lossy(line)}));
            return self.go_on(stage, out);
        };
        let asks_initialize = frame["request"]["subtype"].as_str() == Some("initialize");
        let expected = matches!(self.steps.front(), Some((_, Step::Cue(cue))) if cue.is_initialize());
        if asks_initialize && !expected {
            if let Some(response) = &self.initialize {
                let answer = json!({"type": "control_response",
                    "response": {"subtype": "success", "request_id": frame["request_id"], "response": response}});
                out.push(Output::Say { line: answer.to_string(), stem: "control_response".to_owned() });
            }
            return;
        }
        let waiting = matches!(self.steps.front(), Some((_, Step::Cue(_))));
        self.early.push_back(frame);
        if waiting {
            self.go_on(stage, out);
        }
    }
}

impl Understudy for Tape {
    fn on_input(&mut self, stage: &mut Stage<'_>, input: Input<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        if self.over {
            return out;
        }
        match input {
            Input::Start if self.raw => self.go_on(stage, &mut out),
            Input::Start => match cue::launch(&self.capture.header, &self.launch) {
                Ok(()) => self.go_on(stage, &mut out),
                Err(why) => self.leave(why, &mut out),
            },
            Input::Stdin(bytes) => {
                for line in self.lines.push(bytes) {
                    if !self.over {
                        self.heard(stage, &line, &mut out);
                    }
                }
            }
            Input::StdinClosed => {
                self.stdin_closed = true;
                self.go_on(stage, &mut out);
            }
            Input::Signal(signal) => {
                let expected = matches!(self.steps.front(), Some((_, Step::Cue(cue))) if cue.is_signal(signal));
                if expected {
                    if let Some((at, _)) = self.steps.pop_front() {
                        self.last_ms = at;
                    }
                    self.go_on(stage, &mut out);
                } else {
                    self.over = true;
                    out.push(Output::Close(Stream::Stdout));
                    out.push(Output::Exit(Exit { code: None, signal: Some(signal.to_owned()) }));
                }
            }
            Input::Timer(BEAT) => self.beat(stage, &mut out),
            Input::Timer(_) => {}
        }
        out
    }
}
