//! A scenario: who plays, what the user and the world do, what is to be seen.

mod cast;
mod names;
mod parse;
mod step;

use std::collections::BTreeSet;

pub use cast::{Agent, CastEntry, Edit, Event, Frames, Reply, ReplyContent, Role, ToolCall, Trigger};
pub(crate) use parse::version;
pub use step::{
    Action, Answer, AnswerTo, Choice, Decision, Destination, Killing, PowerLoss, Request, Steer, Step, ViewCall, WITHIN,
};

use crate::{
    plan::{BeatLabel, Class, Kind},
    problem::{Problem, Source, Span, Spanned},
    words::words,
};

/// The version of the language, the value of the key `scenario`.
pub const VERSION: u32 = 1;

/// The chat that a step is about when it names none. It exists from the start.
pub const MAIN_CHAT: &str = "main";

/// The device of a scenario that names none.
pub const ONLY_DEVICE: &str = "device";

/// One scenario file.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Path under the library without `.toml`: `steer/next-during-bash`.
    pub id: String,
    /// What is rehearsed, one line.
    pub title: String,
    /// What goes wrong in a host that gets it wrong.
    pub why: String,
    /// Regression rows and invariants that it was written for. All invariants are checked anyway.
    pub guards: Vec<Spanned<String>>,
    /// Link of the report that it was copied from.
    pub from: Option<String>,
    /// What is recorded and what is synthetic; always there beside `from`.
    pub provenance: Option<String>,
    /// How its runs are to be judged.
    pub tags: BTreeSet<Tag>,
    /// The devices, the engine's own first; never empty.
    pub devices: Vec<Spanned<String>>,
    /// Fields of the engine's configuration in the order of the file.
    pub config: Vec<Setting>,
    /// Who plays: provider processes, or the in-process agent.
    pub players: Players,
    /// What happens, in order.
    pub steps: Vec<Step>,
    /// What sweeps and exploration may do.
    pub perturb: Perturb,
    pub(crate) source: Source,
}

impl Scenario {
    /// A scenario that no file holds, such as the one that a capture implies. Its steps have no places to point at.
    pub fn made(id: &str, title: &str, cast: Vec<CastEntry>, steps: Vec<Step>) -> Self {
        Scenario {
            id: id.to_owned(),
            title: title.to_owned(),
            why: String::new(),
            guards: Vec::new(),
            from: None,
            provenance: None,
            tags: BTreeSet::new(),
            devices: vec![Spanned::new(ONLY_DEVICE.to_owned(), Span::default())],
            config: Vec::new(),
            players: Players::Cast(cast),
            steps,
            perturb: Perturb::default(),
            source: crate::problem::source(id, ""),
        }
    }

    /// A problem at a place of this scenario, for whoever plays it: a tab that never existed, a scene that no version has.
    pub fn problem(&self, span: Span, message: impl Into<String>, label: impl Into<String>) -> Problem {
        Problem::new(&self.source, span, message, label)
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        self.source.inner()
    }

    /// The cast; empty for a scenario of the in-process agent.
    pub fn cast(&self) -> &[CastEntry] {
        match &self.players {
            Players::Cast(cast) => cast,
            Players::Agent(_) => &[],
        }
    }

    /// The scripted agent of an in-process scenario.
    pub fn agent(&self) -> Option<&Agent> {
        match &self.players {
            Players::Cast(_) => None,
            Players::Agent(agent) => Some(agent),
        }
    }

    /// The device where a step happens.
    pub fn device_of<'a>(&'a self, step: &'a Step) -> &'a str {
        match (&step.device, self.devices.first()) {
            (Some(device), _) | (None, Some(device)) => &device.value,
            (None, None) => ONLY_DEVICE,
        }
    }
}

/// Who plays.
#[derive(Clone, Debug, PartialEq)]
pub enum Players {
    /// Provider processes, in the order in which they start.
    Cast(Vec<CastEntry>),
    /// The in-process agent loop with a scripted model.
    Agent(Agent),
}

/// One field of the engine's configuration. Which fields there are is the engine's business.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name of the field.
    pub key: Spanned<String>,
    /// Its value.
    pub value: serde_json::Value,
}

/// What sweeps and exploration may do to a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Perturb {
    /// Kinds that any conforming world may show.
    pub weather: Vec<Kind>,
    /// Kinds that only a broken provider shows.
    pub breakage: Vec<Kind>,
    /// Beats that are never perturbed.
    pub protect: Vec<Spanned<BeatLabel>>,
}

impl Perturb {
    /// The kinds of a class.
    pub fn kinds(&self, class: Class) -> &[Kind] {
        match class {
            Class::Weather => &self.weather,
            Class::Breakage => &self.breakage,
        }
    }
}

words! {
    /// How the runs of a scenario are to be judged.
    pub enum Tag {
        /// Depends on what a kernel does (pipe full, signals, stderr flood): the tiers are compared by verdict, not by trace.
        Kernel = "kernel",
        /// Host lines that no host would write: the stage writes them, and only byte-level invariants judge.
        Raw = "raw",
    }
}
