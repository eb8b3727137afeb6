//! Who says what happens next from outside: a scenario's steps, or what a capture implies.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    history::UserAction,
    host::{
        ChatSetup, HostCall,
        fault::{Ending, Fault},
    },
    view::HostView,
    world::Process,
};

/// What a director may look at.
pub struct Cue<'a> {
    /// Virtual time, ms.
    pub now: u64,
    /// What the viewer sees.
    pub view: &'a HostView,
    /// Processes in start order.
    pub processes: &'a BTreeMap<u32, Process>,
    /// Answers of the host to calls, by the numbers of the calls.
    pub answers: &'a BTreeMap<u64, Result<Value, String>>,
}

/// What a director wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Direct {
    /// Nothing before something happens, or before this time.
    Wait(Option<u64>),
    /// A chat is created.
    Create(ChatSetup),
    /// A command reaches the host before the record that creates its chat.
    Claim(ChatSetup),
    /// The user does something.
    Act(UserAction),
    /// A request to the host; the answer stands in [`Cue::answers`] under this number.
    Call(u64, HostCall),
    /// The value of a view function is looked up; it stands in [`Cue::answers`] under this number.
    Show {
        /// The number.
        number: u64,
        /// The function.
        of: String,
        /// Its arguments.
        given: Value,
    },
    /// The stage itself writes to the stdin of a process (raw scenes).
    Write {
        /// To whom.
        pid: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The stage itself closes the stdin of a process (raw scenes).
    CloseStdin {
        /// Whose.
        pid: u32,
    },
    /// The world sends a signal.
    Signal {
        /// To whom.
        pid: u32,
        /// Its name.
        signal: String,
    },
    /// The host ends, by a kill or with the whole machine.
    End(Ending),
    /// The host is started again; one that runs is killed first.
    Restart,
    /// A fault is decided beforehand, counted from now.
    Arm {
        /// Which.
        fault: Fault,
        /// Whether somebody starts the host again after it.
        again: bool,
    },
    /// The machine sleeps so long, ms.
    Suspend(u64),
    /// A held beat is released.
    Release(String),
    /// An expectation of the scenario does not hold.
    Unmet(String),
    /// What had to come did not come in its time.
    TooLate(String),
    /// The scenario itself is wrong.
    Wrong(String),
    /// Nothing more comes from outside.
    Finished,
}

/// A source of outside happenings.
pub trait Director {
    /// Called whenever something may have changed.
    fn next(&mut self, cue: &Cue<'_>) -> Direct;
    /// Nothing comes any more: goes on without the place it waits for, where it can. False: it cannot.
    fn go_on(&mut self) -> bool {
        false
    }
    /// What it waits for, in words, when nothing happens any more.
    fn waits_for(&self) -> Option<String>;
}
