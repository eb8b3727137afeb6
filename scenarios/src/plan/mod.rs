//! Plans: what a run does otherwise than the recorded order.
//!
//! A run is a scenario and a plan. The empty plan plays the recorded order. A plan is a short list of perturbations,
//! written as TOML:
//!
//! ```toml
//! plan = 1
//! scenario = "steer/next-during-bash"
//!
//! [[perturb]]
//! delay = { label = "result#1", by = "40ms" }
//! ```
//!
//! Each perturbation is *weather*, which any conforming provider, disk, network or user may show, or *breakage*, which
//! only a broken provider shows and the host must survive ([`Perturbation::class`]). The two are never mixed up in a
//! verdict. That is why changing the place of two beats has two names: `race` is weather and is refused by the stage
//! unless the provider's races say that the two may change places, `swap` is breakage whatever the races say.
//!
//! [`BeatLabel`], [`Insertion`], [`Exit`], [`Pipe`] and [`Signal`] are shared with the edits of a cast entry
//! ([`crate::scenario::Edit`]).

mod label;
pub(crate) mod parse;
mod write;

use std::time::Duration;

use serde_json::Value;

pub use label::{BadLabel, BeatLabel};

use crate::words::words;

/// The version of the format, the value of the key `plan`.
pub const VERSION: u32 = 1;

/// A sparse list of perturbations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Id of the scenario that it was made for.
    pub scenario: Option<String>,
    /// Seed that it was drawn from; at most 63 bits are written.
    pub seed: Option<u64>,
    /// What happens otherwise.
    pub perturb: Vec<Perturbation>,
}

impl Plan {
    /// The strongest class in it: one breakage makes a plan a broken provider's. None for the empty plan.
    pub fn class(&self) -> Option<Class> {
        self.perturb.iter().map(Perturbation::class).max()
    }
}

words! {
    /// What a perturbation stands for.
    pub enum Class {
        /// What any conforming provider, disk, network or user may do.
        Weather = "weather",
        /// What a broken provider does.
        Breakage = "breakage",
    }
}

words! {
    /// The kinds of perturbations, by the words that `[perturb]` of a scenario and `--sweep` use.
    pub enum Kind {
        /// A beat and those after it come later.
        Delay = "delay",
        /// The tape stops after a beat until the storm is over.
        Hold = "hold",
        /// The bytes of a beat come in pieces.
        Split = "split",
        /// Beats that follow each other come in one read.
        Join = "join",
        /// Two beats that may race change places.
        Race = "race",
        /// An action of the user comes at another moment.
        UserTiming = "user-timing",
        /// The user does one thing more.
        Act = "act",
        /// The engine is killed and started again.
        Kill = "kill",
        /// A disk call ends otherwise.
        Disk = "disk",
        /// The power fails.
        PowerLoss = "power-loss",
        /// The machine sleeps.
        Suspend = "suspend",
        /// A link is cut for a while.
        Partition = "partition",
        /// Timers due at one instant fire in another order.
        Ties = "ties",
        /// Two beats that never race change places.
        Swap = "swap",
        /// A beat is not said.
        Drop = "drop",
        /// A beat is said twice.
        Duplicate = "duplicate",
        /// A line that the recording does not hold.
        Insert = "insert",
        /// The process ends.
        Exit = "exit",
        /// A pipe is closed.
        Close = "close",
        /// The process reads no more.
        Deaf = "deaf",
    }
}

impl Kind {
    /// Whether a conforming world may show it.
    pub fn class(self) -> Class {
        match self {
            Kind::Delay
            | Kind::Hold
            | Kind::Split
            | Kind::Join
            | Kind::Race
            | Kind::UserTiming
            | Kind::Act
            | Kind::Kill
            | Kind::Disk
            | Kind::PowerLoss
            | Kind::Suspend
            | Kind::Partition
            | Kind::Ties => Class::Weather,
            Kind::Swap | Kind::Drop | Kind::Duplicate | Kind::Insert | Kind::Exit | Kind::Close | Kind::Deaf => Class::Breakage,
        }
    }

    /// The key that a plan file uses.
    pub fn key(self) -> &'static str {
        match self {
            Kind::UserTiming => "user",
            Kind::PowerLoss => "power_loss",
            other => other.word(),
        }
    }
}

/// One thing that happens otherwise. Numbers of effects, disk calls, syncs, beats and steps start at 1 and count the
/// whole run.
#[derive(Clone, Debug, PartialEq)]
pub enum Perturbation {
    /// A beat and those after it on the same tape come later.
    Delay {
        /// Which.
        beat: Beat,
        /// How much later.
        by: Duration,
    },
    /// The tape stops after a beat until the storm is over.
    Hold(BeatLabel),
    /// The bytes of a beat come in pieces.
    Split {
        /// Which.
        label: BeatLabel,
        /// The bytes before which it is cut, rising, from 1.
        at: Vec<u32>,
    },
    /// Beats that follow each other come in one read.
    Join(Vec<BeatLabel>),
    /// Two beats change places, as the provider's races allow.
    Race(BeatLabel, BeatLabel),
    /// An action of the user comes at another moment.
    User {
        /// Which.
        step: StepName,
        /// When.
        to: Moment,
    },
    /// The user does one thing more, right after a beat.
    Act {
        /// The beat before it.
        after: BeatLabel,
        /// What.
        what: UserAct,
    },
    /// The engine is killed and started again.
    Kill {
        /// At which effect or disk call.
        at: Place,
        /// Before it or after it.
        when: When,
    },
    /// A disk call ends otherwise.
    Disk {
        /// Which.
        call: u32,
        /// Its outcome.
        with: DiskFault,
    },
    /// The power fails at a sync.
    PowerLoss {
        /// Which.
        sync: u32,
        /// Whether the sector that was being written is torn.
        torn: bool,
    },
    /// The machine sleeps: the wall clock runs, the monotonic one does not.
    Suspend {
        /// Virtual time of the run.
        at: Duration,
        /// How long.
        length: Duration,
    },
    /// A link is cut, then heals.
    Partition {
        /// Which link, and in which direction.
        cut: Cut,
        /// Virtual time of the run.
        at: Duration,
        /// How long.
        length: Duration,
    },
    /// Timers due at one instant fire in this order.
    Ties {
        /// Virtual time of the run.
        at: Duration,
        /// The timers' keys.
        order: Vec<String>,
    },
    /// Two beats change places though no provider does so.
    Swap(BeatLabel, BeatLabel),
    /// A beat is not said.
    Drop(BeatLabel),
    /// A beat is said twice.
    Duplicate(BeatLabel),
    /// A line that the recording does not hold.
    Insert {
        /// The beat before it.
        after: BeatLabel,
        /// The line.
        line: Insertion,
    },
    /// The process ends.
    Exit {
        /// The beat before it.
        after: BeatLabel,
        /// How.
        exit: Exit,
    },
    /// A pipe is closed.
    Close {
        /// The beat before it.
        after: BeatLabel,
        /// Which.
        pipe: Pipe,
    },
    /// The process reads no more.
    Deaf(BeatLabel),
}

impl Perturbation {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Perturbation::Delay { .. } => Kind::Delay,
            Perturbation::Hold(_) => Kind::Hold,
            Perturbation::Split { .. } => Kind::Split,
            Perturbation::Join(_) => Kind::Join,
            Perturbation::Race(..) => Kind::Race,
            Perturbation::User { .. } => Kind::UserTiming,
            Perturbation::Act { .. } => Kind::Act,
            Perturbation::Kill { .. } => Kind::Kill,
            Perturbation::Disk { .. } => Kind::Disk,
            Perturbation::PowerLoss { .. } => Kind::PowerLoss,
            Perturbation::Suspend { .. } => Kind::Suspend,
            Perturbation::Partition { .. } => Kind::Partition,
            Perturbation::Ties { .. } => Kind::Ties,
            Perturbation::Swap(..) => Kind::Swap,
            Perturbation::Drop(_) => Kind::Drop,
            Perturbation::Duplicate(_) => Kind::Duplicate,
            Perturbation::Insert { .. } => Kind::Insert,
            Perturbation::Exit { .. } => Kind::Exit,
            Perturbation::Close { .. } => Kind::Close,
            Perturbation::Deaf(_) => Kind::Deaf,
        }
    }

    /// Weather or breakage.
    pub fn class(&self) -> Class {
        self.kind().class()
    }
}

/// A beat, by its label or by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beat {
    /// By its label.
    Label(BeatLabel),
    /// By its number on a tape.
    Number {
        /// The process; none means the first of the cast.
        process: Option<String>,
        /// From 1.
        number: u32,
    },
}

/// A step of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepName {
    /// By its number, from 1.
    Number(u32),
    /// By its label.
    Label(String),
}

/// When a user action happens instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Right after this beat.
    After(BeatLabel),
    /// This much later than it was.
    Later(Duration),
}

words! {
    /// What a user can do at any moment.
    pub enum UserAct {
        /// Sends a message: while a turn runs it is a steer.
        Steer = "steer",
        /// Stops the chat: its process and background work are killed.
        Stop = "stop",
        /// Stops the turn in place; the process lives on.
        StopTurn = "stop_turn",
        /// Closes the chat gently.
        Close = "close",
    }
}

/// A place where an engine can be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One of its numbered effects.
    Effect(u32),
    /// One of its disk calls.
    Disk(u32),
}

words! {
    /// The side of a [`Place`].
    pub enum When {
        /// Before it is performed.
        Before = "before",
        /// After it was performed, before its result is known.
        After = "after",
    }
}

words! {
    /// How a disk call ends.
    pub enum DiskFault {
        /// The disk is full.
        Full = "FULL",
        /// The file is locked by somebody else.
        Busy = "BUSY",
        /// The device fails.
        IoErr = "IOERR",
        /// Half of it is written, then the device fails.
        ShortWrite = "SHORT_WRITE",
    }
}

/// Which link is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both directions between two devices.
    Between(String, String),
    /// What the first says does not reach the second.
    OneWay {
        /// Whose words are lost.
        from: String,
        /// Whom they do not reach.
        to: String,
    },
}

/// A line that the recording does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Insertion {
    /// A frame.
    Frame(Value),
    /// A line that is no frame, without its line end.
    Raw(String),
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(Signal),
}

words! {
    /// A pipe of a process, by the process's name for it.
    pub enum Pipe {
        /// Host to CLI.
        Stdin = "stdin",
        /// CLI to host: frames.
        Stdout = "stdout",
        /// CLI to host: diagnostics.
        Stderr = "stderr",
    }
}

words! {
    /// A signal that ends or fails to end a process.
    pub enum Signal {
        /// Interrupt from the keyboard.
        Int = "SIGINT",
        /// Polite end.
        Term = "SIGTERM",
        /// The kernel's end; no process can ignore it.
        Kill = "SIGKILL",
        /// Hang-up.
        Hup = "SIGHUP",
        /// Broken pipe.
        Pipe = "SIGPIPE",
        /// Memory fault.
        Segv = "SIGSEGV",
        /// Abort.
        Abrt = "SIGABRT",
    }
}
