//! Claude Code in stream-json mode: the understudy.

pub mod args;
pub mod ids;
pub mod pace;
pub mod profile;
mod protocol;
pub mod rules;
mod scene;
pub mod script;
pub mod sessions;
pub mod skills;

pub use scene::{SCENE, VERSION, from_launch, named};

use std::{collections::BTreeMap, sync::Arc};

use captures::format::Stream;

use crate::understudy::{Input, Launch, Output, Stage, Understudy};
use profile::Profile;
use protocol::Core;
use script::Script;

/// Exit code of a launch that the real CLI takes and this understudy cannot play.
const UNPLAYED: i32 = 2;

/// A Claude Code process of one version.
pub struct Claude {
    state: State,
    /// Bytes of a line that is not complete.
    partial: Vec<u8>,
}

enum State {
    /// Not started.
    Off(Box<(Launch, Arc<Profile>, Script)>),
    /// Running, or ended.
    On(Box<Core>),
    /// It refused its launch, or only printed something.
    Gone,
}

impl Claude {
    /// A process that is about to start: how it is launched, what its version says, what its model will do.
    pub fn new(launch: Launch, profile: Arc<Profile>, script: Script) -> Claude {
        Claude { state: State::Off(Box::new((launch, profile, script))), partial: Vec::new() }
    }

    fn start(&mut self, stage: &mut Stage<'_>) -> Vec<Output> {
        let State::Off(parts) = std::mem::replace(&mut self.state, State::Gone) else { return Vec::new() };
        let (launch, profile, script) = *parts;
        let args = match args::parse(&launch) {
            Ok(args) => args,
            Err(refusal) => {
                return vec![Output::Stderr(refusal.stderr), Output::Close(Stream::Stdout), exit(refusal.code)];
            }
        };
        if args.version {
            let line = format!("{} (Claude Code)", profile.version);
            return vec![Output::Say { line, stem: "text".into() }, Output::Close(Stream::Stdout), exit(0)];
        }
        if args.help {
            return vec![Output::Say { line: args::help(), stem: "text".into() }, Output::Close(Stream::Stdout), exit(0)];
        }
        if !args.streams {
            let words =
                "only `--input-format stream-json --output-format stream-json` was recorded: this launch cannot be played";
            let stderr = Output::Stderr(format!("rehearsal: {words}\n"));
            return vec![stderr, Output::OffScript(words.into()), Output::Close(Stream::Stdout), exit(UNPLAYED)];
        }
        let mut core = Core::new(args, launch, profile, script);
        core.start(stage);
        let outputs = core.leave(stage);
        self.state = State::On(Box::new(core));
        outputs
    }
}

impl Understudy for Claude {
    fn on_input(&mut self, stage: &mut Stage<'_>, input: Input<'_>) -> Vec<Output> {
        if matches!(input, Input::Start) {
            return self.start(stage);
        }
        let State::On(core) = &mut self.state else { return Vec::new() };
        core.enter(stage);
        match input {
            Input::Start | Input::Timer(_) => {}
            Input::Stdin(bytes) => {
                self.partial.extend_from_slice(bytes);
                while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = self.partial.drain(..=end).collect();
                    core.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
                }
            }
            Input::StdinClosed => {
                let rest = std::mem::take(&mut self.partial);
                if !rest.is_empty() {
                    core.line(&String::from_utf8_lossy(&rest));
                }
                core.close_stdin();
            }
            Input::Signal("SIGTERM") => core.exit(143),
            Input::Signal(_) => core.signal(),
        }
        core.leave(stage)
    }

    fn taped(&self) -> BTreeMap<String, u64> {
        match &self.state {
            State::On(core) => core.taped.clone(),
            State::Off(_) | State::Gone => BTreeMap::new(),
        }
    }
}

fn exit(code: i32) -> Output {
    Output::Exit(captures::format::Exit { code: Some(code), signal: None })
}
