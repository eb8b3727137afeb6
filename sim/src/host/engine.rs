//! The reference engine behind the host trait. The only place of this crate that names the engine's types, and only those of
//! its outer surface: inputs, effects, feeds.

use std::{cell::Cell, rc::Rc};

use engine::{
    core::{
        Core,
        config::EngineConfig,
        effect::{Effect, Signal, Spawn, Txn},
        input::{
            ChatSpec, Control, ExitStatus, Input, Message, Now, Pipe as EnginePipe, ProcId, ResumePolicy, Sandbox, SpawnError,
            StoreError,
        },
    },
    feed,
    shell::{Platform, Shell},
    store::Store,
};

use super::{ChatSetup, Feed, ForHost, FromHost, Host, HostProc, Pipe};
use crate::{
    history::UserAction,
    view::{Clock, MessageState, Status, Timer},
};

/// The engine's platform in simulation: time is what the stage says, everything else is written down for it.
pub struct SimPlatform {
    clock: Rc<Cell<Clock>>,
    store: Store,
    wants: Vec<FromHost>,
}

impl Platform for SimPlatform {
    fn now(&self) -> Now {
        let clock = self.clock.get();
        Now { mono: clock.mono, wall: clock.wall }
    }

    fn spawn(&mut self, spawn: &Spawn) {
        let argv = std::iter::once(&spawn.program).chain(&spawn.args).cloned().collect();
        self.wants.push(FromHost::Spawn {
            proc: spawn.proc.0,
            chat: spawn.chat.clone(),
            argv,
            env: spawn.env.iter().cloned().collect(),
            cwd: spawn.cwd.clone(),
        });
    }

    fn write(&mut self, proc: ProcId, bytes: &[u8]) {
        self.wants.push(FromHost::Write { proc: proc.0, bytes: bytes.to_vec() });
    }

    fn close_stdin(&mut self, proc: ProcId) {
        self.wants.push(FromHost::CloseStdin { proc: proc.0 });
    }

    fn signal(&mut self, proc: ProcId, signal: Signal) {
        let signal = match signal {
            Signal::Term => "SIGTERM",
            Signal::Kill => "SIGKILL",
        };
        self.wants.push(FromHost::Signal { proc: proc.0, signal });
    }

    fn publish(&mut self, change: &feed::Change) {
        self.wants.extend(translate(change).map(FromHost::Feed));
    }

    fn store(&mut self, txn: &Txn) -> Result<(), StoreError> {
        let outcome = self.store.commit(txn);
        let words = format!(
            "journal {} session {} message {} ledger {} doc {} blob {}",
            txn.journal.len(),
            txn.sessions.len(),
            txn.messages.len(),
            txn.ledger.len(),
            txn.docs.len(),
            txn.blobs.len()
        );
        let ended = match outcome {
            Ok(()) => "ok",
            Err(StoreError::Busy) => "BUSY",
            Err(StoreError::Full) => "FULL",
            Err(StoreError::Io) => "IOERR",
            Err(StoreError::Corrupt) => "CORRUPT",
        };
        self.wants.push(FromHost::Disk { words, outcome: ended });
        outcome
    }

    fn effect(&mut self, _number: u64, _effect: &Effect) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

/// The reference engine under the stage.
pub struct EngineHost {
    shell: Shell<SimPlatform>,
    clock: Rc<Cell<Clock>>,
}

impl EngineHost {
    /// An engine without chats whose ids follow from `seed`.
    ///
    /// # Errors
    /// When its store cannot be opened.
    pub fn new(config: EngineConfig, seed: u64) -> anyhow::Result<Self> {
        let clock = Rc::new(Cell::new(Clock::default()));
        let store = Store::in_memory().map_err(|error| anyhow::anyhow!("failed to open the engine's store: {error:?}"))?;
        let platform = SimPlatform { clock: Rc::clone(&clock), store, wants: Vec::new() };
        Ok(EngineHost { shell: Shell::new(Core::new(config, seed), platform), clock })
    }
}

impl Host for EngineHost {
    fn take(&mut self, clock: Clock, happening: ForHost) {
        self.clock.set(clock);
        let input = match happening {
            ForHost::Create(setup) => Input::Create(spec(setup)),
            ForHost::User(action) => user(action),
            ForHost::Spawned { proc, pid } => Input::Spawned { proc: ProcId(proc), result: pid.ok_or(SpawnError::NotInstalled) },
            ForHost::Bytes { proc, pipe, bytes } => Input::Bytes { proc: ProcId(proc), pipe: engine_pipe(pipe), bytes },
            ForHost::End { proc, pipe } => Input::End { proc: ProcId(proc), pipe: engine_pipe(pipe) },
            ForHost::Exit { proc, code, signal } => Input::Exit { proc: ProcId(proc), status: ExitStatus { code, signal } },
        };
        self.shell.deliver(input);
    }

    fn wants(&mut self) -> Vec<FromHost> {
        std::mem::take(&mut self.shell.platform().wants)
    }

    fn deadline(&self) -> Option<u64> {
        self.shell.core().deadline()
    }

    fn timers(&self) -> Option<Vec<Timer>> {
        let rows = self.shell.core().timers();
        Some(rows.map(|(deadline, key)| Timer { deadline, class: format!("{:?}", key.class), key: key.to_string() }).collect())
    }

    fn unflushed(&self, chat: &str) -> bool {
        self.shell.core().timers().any(|(_, key)| key.name == "flush" && key.owner == chat)
    }

    fn ends_requests(&self, timer: &str) -> bool {
        timer.contains("/control-deadline/")
    }

    fn fire(&mut self, clock: Clock) -> Option<String> {
        self.clock.set(clock);
        self.shell.fire_due().map(|key| key.to_string())
    }

    fn leases(&self) -> Vec<HostProc> {
        self.shell.core().leases().map(|proc| proc.0).collect()
    }
}

fn engine_pipe(pipe: Pipe) -> EnginePipe {
    match pipe {
        Pipe::Stdout => EnginePipe::Stdout,
        Pipe::Stderr => EnginePipe::Stderr,
    }
}

fn spec(setup: ChatSetup) -> ChatSpec {
    ChatSpec {
        chat: setup.chat,
        cwd: setup.cwd,
        model: setup.model,
        effort: None,
        sandbox: if setup.bypass_permissions { Sandbox::DangerFullAccess } else { Sandbox::WorkspaceWrite },
        auto_approve: setup.bypass_permissions,
        resume: setup.resume,
        resume_policy: if setup.require_session { ResumePolicy::RequireExisting } else { ResumePolicy::AllowFresh },
        native_subagents_off: setup.native_subagents_off,
        ..ChatSpec::default()
    }
}

fn user(action: UserAction) -> Input {
    match action {
        UserAction::Send { chat, message, text } => Input::Message(Message { chat, id: message, text }),
        UserAction::Queue { chat, message, text } => Input::Queue(Message { chat, id: message, text }),
        UserAction::Stop { chat } => Input::Control(Control::Stop { chat }),
        UserAction::StopTurn { chat } => Input::Control(Control::StopTurn { chat }),
        UserAction::SendNow { chat, message, text } => {
            Input::Control(Control::SendNow { message: Message { chat, id: message, text } })
        }
        UserAction::Withdraw { chat, message } => Input::Control(Control::Withdraw { chat, message_id: message }),
        UserAction::Answer { chat, answers } => Input::Control(Control::Answer { chat, request_id: None, answers }),
        UserAction::Close { chat } => Input::Control(Control::Close { chat }),
    }
}

fn translate(change: &feed::Change) -> Option<Feed> {
    let row = match change {
        feed::Change::Doc(update) => {
            return Some(Feed::Doc { doc: update.doc_id.clone(), chat: update.chat_id.clone(), bytes: update.bytes.clone() });
        }
        feed::Change::Row(row) => row,
    };
    Some(match row {
        feed::Row::Chat(row) => Feed::Chat {
            chat: row.chat_id.clone(),
            parent: None,
            session: row.harness_session_id.clone(),
            last_message_at: row.last_message_at,
        },
        feed::Row::Session(row) => Feed::Session {
            chat: row.chat_id.clone(),
            status: match row.status {
                feed::Status::Idle => Status::Idle,
                feed::Status::Working => Status::Working,
                feed::Status::AwaitingInput => Status::AwaitingInput,
                feed::Status::Errored => Status::Failed,
            },
            pill: row.running_subagents,
            completed_turns: row.last_completed_turn,
        },
        feed::Row::Message(row) => Feed::Message {
            chat: row.chat_id.clone(),
            message: row.message_id.clone(),
            text: row.text.clone(),
            state: match row.state {
                feed::MessageState::Queued => MessageState::Queued,
                feed::MessageState::Sent => MessageState::Sent,
                feed::MessageState::Delivered => MessageState::Delivered,
                feed::MessageState::NotDelivered => MessageState::NotDelivered,
                feed::MessageState::Withdrawn => MessageState::Withdrawn,
            },
        },
        feed::Row::Input(row) => Feed::Input {
            chat: row.chat_id.clone(),
            request: row.request_id.clone(),
            provider_request: row.provider_request_id.clone(),
            open: row.open,
        },
        feed::Row::Journal(row) => {
            Feed::Journal { chat: row.chat_id.clone(), seq: row.seq, event: serde_json::to_value(&row.event).ok()? }
        }
    })
}
