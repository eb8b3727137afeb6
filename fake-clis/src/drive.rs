//! Drives an understudy in memory: a virtual clock, files that live as long as the run, seeded randomness.

use std::collections::BTreeMap;

use captures::format::Exit;
use serde_json::Value;

use crate::understudy::{Breach, Files, Input, Output, Stage, Understudy};

/// The wall clock at the start of a run, in ms since 1970.
pub const WALL_MS: u64 = 1_796_066_552_000;

/// Files in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFiles {
    files: BTreeMap<String, Vec<u8>>,
}

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn append(&mut self, path: &str, bytes: &[u8]) {
        self.files.entry(path.to_owned()).or_default().extend_from_slice(bytes);
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let below = |path: &&String| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        self.files.keys().filter(below).cloned().collect()
    }
}

/// A record on stdout.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// When, in ms since the run began.
    pub at_ms: u64,
    /// The record; a line that is no JSON stands as a string.
    pub frame: Value,
}

/// A process in memory.
pub struct Drive<'a, U> {
    understudy: U,
    files: &'a mut MemoryFiles,
    bits: u64,
    timers: BTreeMap<u64, u64>,
    /// The virtual clock, in ms.
    pub now_ms: u64,
    /// Everything on stdout.
    pub said: Vec<Said>,
    /// Everything on stderr.
    pub stderr: String,
    /// How it ended, if it did.
    pub exit: Option<Exit>,
    /// Rules that the host broke.
    pub breaches: Vec<Breach>,
    /// Why the process could not carry on.
    pub off_script: Vec<String>,
}

impl<'a, U: Understudy> Drive<'a, U> {
    /// Starts a process.
    pub fn start(understudy: U, files: &'a mut MemoryFiles, seed: u64) -> Drive<'a, U> {
        let mut drive = Drive {
            understudy,
            files,
            bits: seed,
            timers: BTreeMap::new(),
            now_ms: 0,
            said: Vec::new(),
            stderr: String::new(),
            exit: None,
            breaches: Vec::new(),
            off_script: Vec::new(),
        };
        drive.give(Input::Start);
        drive
    }

    /// The process behind it.
    pub fn understudy(&self) -> &U {
        &self.understudy
    }

    /// Gives one input at the current time; nothing reaches a process that has ended.
    pub fn give(&mut self, input: Input<'_>) {
        if self.exit.is_some() {
            return;
        }
        let bits = &mut self.bits;
        let mut random = || {
            // An LCG of full period: enough for ids, and the same in every run.
            *bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *bits
        };
        let mut stage = Stage { now_ms: self.now_ms, wall_ms: WALL_MS + self.now_ms, files: self.files, random: &mut random };
        for output in self.understudy.on_input(&mut stage, input) {
            match output {
                Output::Say { line, .. } => {
                    let frame = serde_json::from_str(&line).unwrap_or(Value::String(line));
                    self.said.push(Said { at_ms: self.now_ms, frame });
                }
                Output::Stderr(words) => self.stderr.push_str(&words),
                Output::Arm { timer, at_ms } => {
                    self.timers.insert(timer, at_ms);
                }
                Output::Disarm(timer) => {
                    self.timers.remove(&timer);
                }
                Output::Exit(exit) => self.exit = Some(exit),
                Output::Breach(breach) => self.breaches.push(breach),
                Output::OffScript(words) => self.off_script.push(words),
                Output::Close(_) | Output::StopReading => {}
            }
        }
    }

    /// Writes a line to its stdin.
    pub fn line(&mut self, frame: &Value) {
        self.give(Input::Stdin(format!("{frame}\n").as_bytes()));
    }

    /// When the next timer is due.
    pub fn next_due(&self) -> Option<u64> {
        self.timers.values().copied().min()
    }

    /// Fires the next timer; false when there is none.
    pub fn fire(&mut self) -> bool {
        let Some((&timer, &at)) = self.timers.iter().min_by_key(|(_, at)| **at) else { return false };
        self.timers.remove(&timer);
        self.now_ms = self.now_ms.max(at);
        self.give(Input::Timer(timer));
        true
    }

    /// Lets time pass, timers included.
    pub fn run_until(&mut self, at_ms: u64) {
        while self.exit.is_none() && self.next_due().is_some_and(|due| due <= at_ms) {
            self.fire();
        }
        self.now_ms = self.now_ms.max(at_ms);
    }
}
