//! A driver for tests: its capabilities are chosen by the chat, and its process speaks normalized events.
//!
//! Its wire is one JSON record a line in both directions, [`Said`] from the process and [`Heard`] to it. So whatever a provider
//! could make of a run is written down without any provider's frames, and comes through the same door: bytes of a pipe.

use serde::{Deserialize, Serialize};

use super::{
    Capabilities, Cx, Driver, Output,
    process::{Life, Process, Record},
};
use crate::{
    core::{
        effect::{Effect, Spawn},
        input::{ExitStatus, Message, Pipe, ProcId, SpawnError},
        timers::{Class, TimerKey},
    },
    event::{AgentEvent, DoneStatus, UserInputQuestion},
};

/// Program name of the mock; nothing is installed under it.
pub const PROGRAM: &str = "mock";

/// A record that the process says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Said {
    /// A normalized event.
    Event(AgentEvent),
    /// It took its first prompt, which has no Steered of its own.
    Taken(String),
    /// Number of background tasks that it runs.
    Background(usize),
    /// A question to the human.
    Ask {
        /// Its id of the request.
        request: String,
        /// What is asked.
        questions: Vec<UserInputQuestion>,
    },
    /// It withdrew a question.
    AskWithdrawn(String),
}

/// A record that the process hears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Heard {
    /// A message.
    Message {
        /// Its id.
        id: String,
        /// Its text.
        text: String,
    },
    /// Give this message back.
    Withdraw(String),
    /// Stop the turn.
    Stop,
    /// End at once; SIGTERM comes with it.
    Interrupt,
    /// The human's answer; none means the question was closed without one.
    Answer {
        /// The request.
        request: String,
        /// One label or text per question.
        answers: Option<Vec<String>>,
    },
    /// The question is turned down.
    Decline(String),
}

/// One run of the mock.
pub struct Mock {
    caps: Capabilities,
    cwd: String,
    process: Process,
    interrupted: bool,
}

impl Mock {
    /// A run that is not started yet.
    pub fn new(proc: ProcId, caps: Capabilities, cwd: String) -> Self {
        Mock { caps, cwd, process: Process::new(proc), interrupted: false }
    }

    fn hear(&mut self, cx: &mut Cx<'_>, heard: &Heard) {
        match serde_json::to_string(heard) {
            Ok(line) => self.process.write_line(cx, line),
            Err(error) => cx.note("bad-record", format!("a record for the mock cannot be written: {error}")),
        }
    }

    fn record(&mut self, cx: &mut Cx<'_>, line: &[u8]) {
        let output = match serde_json::from_slice::<Said>(line) {
            Ok(Said::Event(event)) => Output::Event(event),
            Ok(Said::Taken(message)) => Output::Taken(message),
            Ok(Said::Background(count)) => Output::Background(count),
            Ok(Said::Ask { request, questions }) => Output::Ask { provider_request: request, questions },
            Ok(Said::AskWithdrawn(request)) => Output::AskWithdrawn { provider_request: request },
            Err(error) => return cx.note("bad-record", format!("a record of the mock does not parse: {error}")),
        };
        cx.out.push(output);
    }

    fn life(&mut self, cx: &mut Cx<'_>, life: Life) {
        if life == Life::Over {
            if let Some(rest) = self.process.records.finish() {
                self.record(cx, &rest);
            }
            cx.out.push(Output::Ended);
        }
    }
}

impl Driver for Mock {
    fn capabilities(&self) -> Capabilities {
        self.caps
    }

    fn start(&mut self, cx: &mut Cx<'_>, first: &Message) {
        cx.out.push(Output::Effect(Effect::Spawn(Spawn {
            proc: self.process.proc,
            chat: cx.chat.to_owned(),
            program: PROGRAM.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: self.cwd.clone(),
        })));
        self.steer(cx, first);
    }

    fn spawned(&mut self, cx: &mut Cx<'_>, result: Result<u32, SpawnError>) {
        let Err(error) = result else { return };
        self.process.spawn_failed = true;
        cx.out.push(Output::Reaped);
        cx.event(AgentEvent::Done {
            status: DoneStatus::Errored,
            result: None,
            error: Some(format!("the mock could not be started: {error:?}")),
            session_id: None,
            synthetic: None,
        });
        cx.out.push(Output::Ended);
    }

    fn bytes(&mut self, cx: &mut Cx<'_>, pipe: Pipe, bytes: &[u8]) {
        match pipe {
            Pipe::Stderr => self.process.stderr(bytes),
            Pipe::Stdout if self.process.is_over() => {}
            Pipe::Stdout => {
                for record in self.process.records.push(bytes) {
                    match record {
                        Record::Line(line) => self.record(cx, &line),
                        Record::TooLong => cx.note("bad-record", "a record above 128 MiB was skipped"),
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
            _ => {}
        }
    }

    fn steer(&mut self, cx: &mut Cx<'_>, message: &Message) {
        self.hear(cx, &Heard::Message { id: message.id.clone(), text: message.text.clone() });
    }

    fn withdraw(&mut self, cx: &mut Cx<'_>, message_id: &str) -> bool {
        self.hear(cx, &Heard::Withdraw(message_id.to_owned()));
        true
    }

    fn stop_turn(&mut self, cx: &mut Cx<'_>) {
        self.hear(cx, &Heard::Stop);
    }

    /// The ladder starts with SIGTERM at once, so that its SIGKILL falls on the very instant of the run's interrupt deadline.
    fn interrupt(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.interrupted, true) {
            self.hear(cx, &Heard::Interrupt);
            self.process.terminate(cx);
        }
    }

    fn close_mailbox(&mut self, cx: &mut Cx<'_>) {
        self.process.close_stdin(cx);
    }

    fn shut_down(&mut self, cx: &mut Cx<'_>) {
        self.process.close_stdin(cx);
        // One SIGTERM is enough, and the grace after it is not begun anew.
        let key = cx.key(Class::P, "kill-grace");
        if !self.interrupted && !cx.timers.is_armed(&key) {
            self.process.terminate(cx);
        }
    }

    fn answer(&mut self, cx: &mut Cx<'_>, provider_request: &str, answers: Option<&[String]>) {
        self.hear(cx, &Heard::Answer { request: provider_request.to_owned(), answers: answers.map(<[String]>::to_vec) });
    }

    fn decline(&mut self, cx: &mut Cx<'_>, provider_request: &str) {
        self.hear(cx, &Heard::Decline(provider_request.to_owned()));
    }

    fn question_open(&mut self, _cx: &mut Cx<'_>, _open: bool) {}
}
