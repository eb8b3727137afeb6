//! The engine's platform in simulation: time is what the stage says, the disk is the world's, everything else is written down.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    ops::ControlFlow,
    rc::Rc,
};

use engine::{
    core::{
        effect::{Effect, Signal, Spawn, Txn},
        input::{Now, ProcId, StoreError},
    },
    delegation::Answer,
    feed,
    shell::Platform,
    store::Store,
};

use super::translate;
use crate::{
    host::FromHost,
    view::Clock,
    world::disk::{Call, Disk},
};

/// Effects before or after which the engine is killed.
#[derive(Default)]
pub(super) struct Kills {
    pub(super) before: BTreeSet<u64>,
    pub(super) after: BTreeSet<u64>,
}

/// What one life of the engine stands on.
pub struct SimPlatform {
    pub(super) clock: Rc<Cell<Clock>>,
    pub(super) store: Store,
    pub(super) disk: Disk,
    pub(super) kills: Rc<RefCell<Kills>>,
    pub(super) wants: Vec<FromHost>,
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

    fn read_file(&mut self, proc: ProcId, path: &str) {
        self.wants.push(FromHost::ReadFile { proc: proc.0, path: path.to_owned() });
    }

    fn publish(&mut self, change: &feed::Change) {
        self.wants.extend(translate::change(change).map(FromHost::Feed));
    }

    fn answer(&mut self, answer: &Answer) {
        let outcome = translate::outcome(answer);
        self.wants.push(FromHost::Answer { id: answer.id, outcome });
    }

    fn store(&mut self, txn: &Txn) -> Result<(), StoreError> {
        self.disk.set_wall_ms(self.clock.get().wall);
        let outcome = self.store.commit(txn);
        let words = format!(
            "journal {} session {} message {} ledger {} doc {} blob {}",
            txn.journal.len(),
            txn.sessions.len(),
            txn.messages.len(),
            txn.ledger.len(),
            txn.docs.len(),
            txn.blobs()
        );
        let ended = outcome.map_or_else(word, |()| "ok");
        self.wants.push(FromHost::Disk { words: format!("commit {words}"), outcome: ended, calls: calls(&self.disk.take_log()) });
        outcome
    }

    fn effect(&mut self, number: u64, _effect: &Effect) -> ControlFlow<()> {
        ends(self.kills.borrow().before.contains(&number))
    }

    fn performed(&mut self, number: u64) -> ControlFlow<()> {
        ends(self.disk.is_fenced() || self.kills.borrow().after.contains(&number))
    }
}

fn ends(end: bool) -> ControlFlow<()> {
    if end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// An error of the store, for the trace.
pub(super) fn word(error: StoreError) -> &'static str {
    match error {
        StoreError::Busy => "BUSY",
        StoreError::Full => "FULL",
        StoreError::Io => "IOERR",
        StoreError::Corrupt => "CORRUPT",
        StoreError::Version { .. } => "VERSION",
    }
}

/// Disk calls as bytes for the trace's hash.
pub(super) fn calls(log: &[Call]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(log.len() * 40);
    for call in log {
        bytes.extend(call.number.to_le_bytes());
        bytes.extend([call.kind as u8, call.outcome as u8]);
        bytes.extend(call.offset.to_le_bytes());
        bytes.extend(call.length.to_le_bytes());
        bytes.extend(call.file.as_bytes());
    }
    bytes
}
