//! The engine of one device as one pure function: `Core::step(now, input) -> effects`.
//!
//! No async, no I/O, no clock, no random number: time comes with the input, ids from a seeded source. Equal inputs at equal
//! instants give equal effects, bytes included.

mod agents;
mod boot;
mod calls;
mod commands;
pub mod config;
pub mod effect;
pub mod hub;
pub mod ids;
pub mod input;
pub mod timers;

use indexmap::IndexMap;

use crate::{
    core::{
        config::EngineConfig,
        effect::Effect,
        hub::Hub,
        input::{ChatSpec, Control, Input, Now, Parent, ProcId},
        timers::{Class, TimerKey},
    },
    session::Chat,
};

/// One engine.
pub struct Core {
    hub: Hub,
    chats: IndexMap<String, Chat>,
    /// The recovery at start, while it is under way.
    boot: Option<boot::Boot>,
    waits: calls::Waits,
    commands: commands::Ledger,
}

impl Core {
    /// An engine without chats. All ids follow from `seed`.
    pub fn new(config: EngineConfig, seed: u64) -> Self {
        Core {
            hub: Hub::new(config, seed),
            chats: IndexMap::new(),
            boot: None,
            waits: calls::Waits::default(),
            commands: Default::default(),
        }
    }

    /// Handles one input to its end. The effects are to be performed in list order; a store effect is the last, and its outcome
    /// is the next input.
    pub fn step(&mut self, now: Now, input: Input) -> Vec<Effect> {
        self.hub.now = now;
        match input {
            Input::Boot(stored) => return self.begin_boot(*stored),
            Input::Stored(outcome) => {
                let mut effects = self.hub.stored(outcome);
                if outcome.is_ok() && self.boot.is_some() {
                    effects.extend(self.go_on_booting());
                } else if outcome.is_ok() {
                    effects.extend(self.execute_commands());
                }
                return effects;
            }
            Input::Timer(key) if key.class == Class::L => return self.hub.retry_store(),
            input => match &mut self.boot {
                // Nothing is served before the recovery is done.
                Some(boot) => {
                    if boot.take(input) {
                        return self.go_on_booting();
                    }
                }
                None => self.handle(input),
            },
        }
        self.hub.finish()
    }

    fn handle(&mut self, input: Input) {
        match input {
            Input::Control(control) => self.control(control),
            Input::Create(spec) => self.create(spec),
            Input::Claim { chat, cwd } => self.claim(chat, cwd),
            Input::Commands(commands) => self.take_commands(commands),
            Input::Call(call) => self.call(call),
            Input::Queue(message) => self.chat(&message.chat.clone(), |hub, chat| chat.enqueue(hub, message)),
            Input::Message(message) => self.chat(&message.chat.clone(), |hub, chat| chat.send(hub, message)),
            Input::Bytes { proc, pipe, bytes } => self.drive(proc, |driver, cx| driver.bytes(cx, pipe, &bytes)),
            Input::End { proc, pipe } => self.drive(proc, |driver, cx| driver.end(cx, pipe)),
            Input::Exit { proc, status } => {
                self.drive(proc, |driver, cx| driver.exit(cx, status));
                // A run that was given up no longer hears of its process; the lease ends with the reap all the same (D9).
                self.hub.leases.remove(&proc);
                self.forget(proc);
            }
            Input::Spawned { proc, result } => self.drive(proc, |driver, cx| driver.spawned(cx, result)),
            Input::File { proc, content } => self.drive(proc, |driver, cx| driver.file(cx, content.as_deref())),
            Input::Timer(key) => self.timer(key),
            Input::Boot(_) | Input::Stored(_) => {}
        }
        self.look_at_waits();
    }

    /// The timer table, first row first: deadline (ms of the monotonic clock) and key.
    pub fn timers(&self) -> impl Iterator<Item = (u64, &TimerKey)> {
        self.hub.timers.rows()
    }

    /// The first deadline: what the shell sleeps for.
    pub fn deadline(&self) -> Option<u64> {
        self.hub.timers.first()
    }

    /// Takes the first timer that is due out of the table; it is to be given back as [`Input::Timer`].
    pub fn take_due(&mut self, now_mono: u64) -> Option<TimerKey> {
        self.hub.timers.take_due(now_mono)
    }

    /// Processes whose lease is held: their end was not seen yet.
    pub fn leases(&self) -> impl Iterator<Item = ProcId> {
        self.hub.leases.keys().copied()
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Stop { chat } => self.known(&chat, |hub, chat| chat.stop(hub)),
            Control::StopTurn { chat } => self.known(&chat, |hub, chat| {
                chat.stop_turn(hub);
            }),
            Control::SendNow { message } => self.chat(&message.chat.clone(), |hub, chat| chat.send_now(hub, message)),
            Control::Withdraw { chat, message_id } => self.known(&chat, |hub, chat| chat.withdraw(hub, &message_id)),
            Control::Answer { chat, request_id, answers } => {
                self.known(&chat, |hub, chat| chat.answer(hub, request_id.as_deref(), &answers));
            }
            Control::Configure { chat, model, effort } => self.known(&chat, |hub, chat| chat.configure(hub, model, effort)),
            Control::CliBuild { harness, build } => {
                self.hub.builds.insert(harness, build);
            }
            Control::Close { chat } => self.known(&chat, |hub, chat| chat.close(hub)),
        }
    }

    fn create(&mut self, spec: ChatSpec) {
        let hub = &mut self.hub;
        match self.chats.get_mut(&spec.chat) {
            Some(chat) => chat.created(hub, spec),
            None => {
                self.chats.insert(spec.chat.clone(), Chat::new(hub, spec));
            }
        }
    }

    /// A partial row with identity and directory; whose it is will be told by the record that creates it. Claimed again it is
    /// the same row (L6).
    fn claim(&mut self, chat: String, cwd: String) {
        if !self.chats.contains_key(&chat) {
            self.create(ChatSpec { chat, cwd, parent: Parent::Unknown, ..ChatSpec::default() });
        }
    }

    /// The chat of this id, claimed where there is none.
    fn chat(&mut self, id: &str, work: impl FnOnce(&mut Hub, &mut Chat)) {
        self.claim(id.to_owned(), String::new());
        self.known(id, work);
    }

    fn known(&mut self, id: &str, work: impl FnOnce(&mut Hub, &mut Chat)) {
        if let Some(chat) = self.chats.get_mut(id) {
            work(&mut self.hub, chat);
            chat.keep_queue(&mut self.hub);
        }
    }

    fn drive(&mut self, proc: ProcId, call: impl FnOnce(&mut dyn crate::drivers::Driver, &mut crate::drivers::Cx<'_>)) {
        let Some(chat) = self.hub.routes.get(&proc) else { return };
        if let Some(chat) = self.chats.get_mut(chat.as_str()) {
            chat.drive(&mut self.hub, proc, call);
            chat.keep_queue(&mut self.hub);
        }
        self.forget(proc);
    }

    /// Forgets the way to a run that is gone.
    fn forget(&mut self, proc: ProcId) {
        let gone = self.hub.routes.get(&proc).and_then(|chat| self.chats.get(chat)).is_none_or(|chat| !chat.listens(proc));
        if gone && !self.hub.leases.contains_key(&proc) {
            self.hub.routes.remove(&proc);
        }
    }

    fn timer(&mut self, key: TimerKey) {
        let Some(chat) = self.chats.get_mut(&key.owner) else { return };
        match key.class {
            Class::R => chat.run_timer_due(&mut self.hub, key.name),
            Class::P | Class::D => {
                let proc = ProcId(key.number);
                chat.drive(&mut self.hub, proc, |driver, cx| driver.timer(cx, &key));
                self.forget(proc);
            }
            Class::L | Class::S => {}
        }
        if let Some(chat) = self.chats.get_mut(&key.owner) {
            chat.keep_queue(&mut self.hub);
        }
    }
}
