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

/// A version that sorts by its numbers: 2.1.99 before 2.1.310. Equal only if the texts are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionKey(String);

impl VersionKey {
    /// The key of a version as the CLI prints it.
    pub fn new(version: &str) -> Self {
        VersionKey(version.to_owned())
    }

    /// The version as the CLI prints it.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        let release = self.0.split(['-', '+']).next().unwrap_or_default();
        release.split('.').map(|part| part.parse().unwrap_or(0))
    }
}

impl Ord for VersionKey {
    /// By the numbers of the release; a pre-release (`1.0.0-rc1`) before its release; what is left by text.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let released = |key: &Self| !key.0.contains('-');
        self.numbers().cmp(other.numbers()).then_with(|| released(self).cmp(&released(other))).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for VersionKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
