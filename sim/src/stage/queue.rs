//! The one queue of outside events.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::host::ForHost;

/// An outside event.
#[derive(Clone, Debug)]
pub enum Event {
    /// A timer of an understudy.
    Understudy {
        /// Whose.
        pid: u32,
        /// Its number.
        timer: u64,
    },
    /// The understudy reads what the host wrote.
    Stdin {
        /// Whose.
        pid: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The understudy finds its stdin closed.
    StdinClosed {
        /// Whose.
        pid: u32,
    },
    /// A signal reaches a process.
    Signal {
        /// Whom.
        pid: u32,
        /// Its name.
        signal: String,
        /// Who sent it.
        by_host: bool,
    },
    /// The host reads bytes; `said` are the records whose last byte is among them: label, frame, genuine.
    Read {
        /// Whose.
        pid: u32,
        /// What the host gets.
        happening: ForHost,
        /// Records completed by it.
        said: Vec<(String, Value, bool)>,
    },
    /// Anything else for the host.
    Host {
        /// Whose process it is about.
        pid: u32,
        /// What.
        happening: ForHost,
    },
}

/// Events by due time, first come first served within one.
#[derive(Default)]
pub struct Queue {
    events: BTreeMap<(u64, u64), Event>,
    next: u64,
}

impl Queue {
    /// Puts an event in.
    pub fn push(&mut self, due: u64, event: Event) {
        self.events.insert((due, self.next), event);
        self.next += 1;
    }

    /// Due time of the first event, ms.
    pub fn first(&self) -> Option<u64> {
        self.events.keys().next().map(|(due, _)| *due)
    }

    /// Whether the first event is the world's own: a host cannot tell when it happened.
    pub fn first_is_inward(&self) -> bool {
        self.events.values().next().is_some_and(|event| {
            matches!(event, Event::Understudy { .. } | Event::Stdin { .. } | Event::StdinClosed { .. } | Event::Signal { .. })
        })
    }

    /// Takes the first event out.
    pub fn pop(&mut self) -> Option<Event> {
        self.events.pop_first().map(|(_, event)| event)
    }

    /// Takes out what a process that was killed can no longer do: its own timers and reads of its stdin.
    pub fn forget(&mut self, dead: u32) {
        self.events.retain(|_, event| match event {
            Event::Understudy { pid, .. } | Event::Stdin { pid, .. } | Event::StdinClosed { pid } => *pid != dead,
            Event::Signal { pid, .. } => *pid != dead,
            Event::Read { .. } | Event::Host { .. } => true,
        });
    }

    /// Takes out what was on its way to a host that has ended.
    pub fn forget_host(&mut self) {
        self.events.retain(|_, event| !matches!(event, Event::Read { .. } | Event::Host { .. }));
    }

    /// Takes one timer of an understudy out.
    pub fn disarm(&mut self, of: u32, number: u64) {
        self.events.retain(|_, event| !matches!(event, Event::Understudy { pid, timer } if *pid == of && *timer == number));
    }
}
