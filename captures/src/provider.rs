//! The four providers, by the names that the field uses.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A coding-agent CLI whose frames can be recorded and rehearsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Claude Code in stream-json mode.
    Claude,
    /// `codex app-server` and `codex exec --json`.
    Codex,
    /// `opencode serve`.
    Opencode,
    /// `pi --mode rpc`.
    Pi,
}

impl Provider {
    /// All providers, in the order in which reports list them.
    pub const ALL: [Provider; 4] = [Provider::Claude, Provider::Codex, Provider::Opencode, Provider::Pi];

    /// The name used in captures, paths and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Claude => "claude",
            Provider::Codex => "codex",
            Provider::Opencode => "opencode",
            Provider::Pi => "pi",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(s: &str) -> Result<Self, UnknownProvider> {
        Provider::ALL.into_iter().find(|p| p.name() == s).ok_or_else(|| UnknownProvider(s.to_owned()))
    }
}

/// A provider name that none of the four has.
#[derive(Debug, thiserror::Error)]
#[error("unknown provider `{0}`: expected one of claude, codex, opencode, pi")]
pub struct UnknownProvider(pub String);
