//! The one word a run ends with, and the two words that say how it came about.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run ended. Exactly one counts: if several apply, the one that stands first here, so the order of the
/// variants *is* the precedence and `Ord` may be used to choose (the smallest counts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The stage, a fake or the reading of a scenario failed: nothing is said about the host.
    HarnessFault,
    /// The host's own code panicked, or its process died by its own fault.
    EnginePanicked,
    /// At least one invariant did not hold.
    Violated,
    /// The host did something the recording does not hold and the protocol model cannot carry on from.
    OffScript,
    /// Nothing was violated, but what had to come did not come within its bound after the faults had healed.
    Liveness,
    /// None of the above.
    Conforms,
}

impl Verdict {
    /// Every verdict, the one that counts before the others first.
    pub const ALL: [Self; 6] =
        [Self::HarnessFault, Self::EnginePanicked, Self::Violated, Self::OffScript, Self::Liveness, Self::Conforms];

    /// The name in files: what JSON and a baseline write.
    pub fn name(self) -> &'static str {
        match self {
            Self::HarnessFault => "harness-fault",
            Self::EnginePanicked => "engine-panicked",
            Self::Violated => "violated",
            Self::OffScript => "off-script",
            Self::Liveness => "liveness",
            Self::Conforms => "conforms",
        }
    }

    /// Whether this is anything but [`Verdict::Conforms`].
    pub fn is_failing(self) -> bool {
        self != Self::Conforms
    }
}

impl fmt::Display for Verdict {
    /// The words for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HarnessFault => "harness fault",
            Self::EnginePanicked => "engine panicked",
            other => other.name(),
        })
    }
}

/// How close to the real thing a run was. Named in every verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Understudies in the process of the stage, simulated time.
    Sim,
    /// The fake binaries as real processes, one exchange at a time, simulated time.
    Lockstep,
    /// Any host, wall clock, order by cues.
    Live,
}

impl Tier {
    /// The name in files and for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Lockstep => "lockstep",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where the frames of a run come from. There is no default: nothing synthetic may pass for recorded by omission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A real provider said them once.
    Recorded,
    /// Somebody wrote them (or changed recorded ones) by hand.
    Synthetic,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Recorded => "recorded",
            Self::Synthetic => "synthetic",
        })
    }
}
