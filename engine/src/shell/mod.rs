//! The thin shell: performs the effects of the core in list order and feeds back what comes of them. Production and simulation
//! differ in their [`Platform`] and in nothing else.

#[cfg(feature = "production")]
pub mod production;

use std::ops::ControlFlow;

use crate::{
    core::{
        Core,
        effect::{Effect, Signal, Spawn, Txn},
        input::{Input, Now, ProcId, StoreError},
        timers::TimerKey,
    },
    delegation::Answer,
    feed::Change,
};

/// What a shell stands on: processes, a store, viewers, clocks. No call waits; what it brings comes later as an input.
pub trait Platform {
    /// Both clocks.
    fn now(&self) -> Now;
    /// Starts a process; an `Input::Spawned` must follow.
    fn spawn(&mut self, spawn: &Spawn);
    /// Writes to stdin; the bytes are kept until the pipe takes them.
    fn write(&mut self, proc: ProcId, bytes: &[u8]);
    /// Closes stdin behind everything written.
    fn close_stdin(&mut self, proc: ProcId);
    /// Sends a signal.
    fn signal(&mut self, proc: ProcId, signal: Signal);
    /// Reads a file below the provider's own directory; an `Input::File` must follow.
    fn read_file(&mut self, proc: ProcId, path: &str);
    /// Hands a change to the viewers.
    fn publish(&mut self, change: &Change);
    /// Hands an answer to whoever called.
    fn answer(&mut self, answer: &Answer);
    /// Performs one transaction now.
    ///
    /// # Errors
    /// The kind of the failure; nothing was written then.
    fn store(&mut self, txn: &Txn) -> Result<(), StoreError>;
    /// Told before each effect with its number, from 1. `Break` is the end: neither this effect nor anything after it happens.
    /// The place where a kill takes hold.
    fn effect(&mut self, number: u64, effect: &Effect) -> ControlFlow<()> {
        let _ = (number, effect);
        ControlFlow::Continue(())
    }
    /// Told after each effect; `Break` as above.
    fn performed(&mut self, number: u64) -> ControlFlow<()> {
        let _ = number;
        ControlFlow::Continue(())
    }
}

/// A core on a platform.
pub struct Shell<P> {
    core: Core,
    platform: P,
    effects: u64,
    dead: bool,
}

impl<P: Platform> Shell<P> {
    /// Joins the two.
    pub fn new(core: Core, platform: P) -> Self {
        Shell::counting_from(0, core, platform)
    }

    /// The same for an engine that comes after another one: its effects are numbered behind those of the one before.
    pub fn counting_from(effects: u64, core: Core, platform: P) -> Self {
        Shell { core, platform, effects, dead: false }
    }

    /// Handles one input and the chain that follows from it: no other input falls into it. A shell that was ended by its
    /// platform takes nothing more.
    pub fn deliver(&mut self, input: Input) {
        let now = self.platform.now();
        let mut next = Some(input);
        while let Some(input) = next.take().filter(|_| !self.dead) {
            for effect in self.core.step(now, input) {
                self.effects += 1;
                if self.platform.effect(self.effects, &effect).is_break() {
                    self.dead = true;
                    return;
                }
                match &effect {
                    Effect::Spawn(spawn) => self.platform.spawn(spawn),
                    Effect::Write { proc, bytes } => self.platform.write(*proc, bytes),
                    Effect::CloseStdin { proc } => self.platform.close_stdin(*proc),
                    Effect::Signal { proc, signal } => self.platform.signal(*proc, *signal),
                    Effect::Answer(answer) => self.platform.answer(answer),
                    Effect::ReadFile { proc, path } => self.platform.read_file(*proc, path),
                    Effect::Publish(change) => self.platform.publish(change),
                    Effect::Store(txn) => next = Some(Input::Stored(self.platform.store(txn))),
                }
                if self.platform.performed(self.effects).is_break() {
                    self.dead = true;
                    return;
                }
            }
        }
    }

    /// Delivers the first timer that is due; the key tells which. A row that an earlier one disarmed is gone and gives no input.
    pub fn fire_due(&mut self) -> Option<TimerKey> {
        if self.dead {
            return None;
        }
        let key = self.core.take_due(self.platform.now().mono)?;
        self.deliver(Input::Timer(key.clone()));
        Some(key)
    }

    /// The core, to look at.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The platform.
    pub fn platform(&mut self) -> &mut P {
        &mut self.platform
    }

    /// Whether its platform ended it.
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Effects begun so far, those of the engines before it included.
    pub fn effects(&self) -> u64 {
        self.effects
    }
}
