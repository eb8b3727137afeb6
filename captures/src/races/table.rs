//! The file, typed and checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::pattern::{covers, is_pattern};
use crate::provider::Provider;

/// The version of the table that is read, the value of its `races` key.
const VERSION: u32 = 1;

/// A table that is not as it has to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read races {file}: {problem}")]
pub struct RaceError {
    /// The file as the caller named it.
    pub file: String,
    /// What was found, where, and what was expected.
    pub problem: String,
}

/// Between which two frames of two classes a race is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// About two different agents or forks.
    DifferentTasks,
    /// One is about an agent, one is not.
    TaskAndMain,
    /// What a tool call sets off, against the rest of the message that holds the call.
    SameMessage,
    /// What the host writes against what the CLI writes.
    StdinAndStdout,
    /// The answer to a request that does not touch the turn, against the turn's frames.
    RequestAndTurn,
    /// A frame about one user message against the turn of another one.
    OtherMessage,
    /// A frame that a timer of the CLI sends, against everything.
    Timer,
}

/// How it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Seen in both orders between repeats of one script.
    Observed,
    /// Seen in both orders between different scripts or versions.
    AcrossScenes,
    /// Independent by construction.
    ByProtocol,
}

/// Two classes of frames that may change places.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Race {
    /// One class or pattern.
    pub a: String,
    /// The other one.
    pub b: String,
    /// Between which frames of the two.
    pub relation: Relation,
    /// How it is known.
    pub basis: Basis,
    /// Recordings × pairs of frames with `a` first.
    pub a_first: Option<u64>,
    /// Recordings × pairs of frames with `b` first.
    pub b_first: Option<u64>,
    /// The two counts per version.
    #[serde(default)]
    pub by_version: BTreeMap<String, [u64; 2]>,
    /// The two counts per kind of tool call.
    #[serde(default)]
    pub by_tool: BTreeMap<String, [u64; 2]>,
    /// Where it was seen.
    #[serde(default)]
    pub situations: Vec<String>,
    /// Why it is so, for what is independent by construction.
    pub why: Option<String>,
}

/// A rule that no recording ever broke, in words: a plan that breaks it plays a broken CLI.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ordered {
    /// The rule, `CLASS < CLASS`.
    pub rule: String,
    /// How often it held.
    pub held: u64,
}

/// Frames that may be there or not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// When it was seen.
    pub situation: String,
    /// With which version.
    pub version: String,
    /// Which frames came.
    pub frames: String,
    /// In how many recordings.
    pub recordings: u64,
    /// Milliseconds between the two causes, least and most.
    pub gap_ms: [u64; 2],
}

/// The table of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Races {
    #[serde(rename = "races")]
    format: u32,
    /// Whose frames these are.
    pub provider: Provider,
    /// The versions that were recorded.
    pub versions: Vec<String>,
    /// Recordings compared, per situation and version.
    #[serde(default)]
    pub evidence: BTreeMap<String, u64>,
    /// What may change places, strongest basis first.
    #[serde(default, rename = "race")]
    pub races: Vec<Race>,
    /// What never did.
    #[serde(default)]
    pub ordered: Vec<Ordered>,
    /// What may be there or not.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
}

impl Races {
    /// Reads a table. `file` is only used in errors.
    ///
    /// # Errors
    ///
    /// Unknown keys, classes of unknown streams, and counts that do not add up.
    pub fn parse(file: &str, text: &str) -> Result<Races, RaceError> {
        let fail = |problem: String| RaceError { file: file.to_owned(), problem };
        let races: Races = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
        if races.format != VERSION {
            return Err(fail(format!("races format {}: expected {VERSION}", races.format)));
        }
        for race in &races.races {
            races.check(race).map_err(|problem| fail(format!("race of `{}` and `{}`: {problem}", race.a, race.b)))?;
        }
        for variant in &races.variants {
            if !races.versions.contains(&variant.version) {
                return Err(fail(format!("variant of version {}: expected one of `versions`", variant.version)));
            }
        }
        Ok(races)
    }

    fn check(&self, race: &Race) -> Result<(), String> {
        for class in [&race.a, &race.b] {
            if !is_pattern(class) {
                return Err(format!("`{class}` is no class: expected STREAM/KIND or `*`"));
            }
        }
        if race.basis == Basis::ByProtocol {
            let known = race.why.as_deref().is_some_and(|why| !why.is_empty());
            return if known { Ok(()) } else { Err("by protocol without a reason: expected `why`".to_owned()) };
        }
        let (Some(a_first), Some(b_first)) = (race.a_first, race.b_first) else {
            return Err("seen, but not counted: expected `a_first` and `b_first`".to_owned());
        };
        if a_first == 0 || b_first == 0 {
            return Err(format!("seen in one order only ({a_first}, {b_first}): expected an entry of [[ordered]]"));
        }
        if let Some(version) = race.by_version.keys().find(|version| !self.versions.contains(version)) {
            return Err(format!("by_version names {version}: expected one of `versions`"));
        }
        for (name, counts) in [("by_version", &race.by_version), ("by_tool", &race.by_tool)] {
            let sum = counts.values().fold([0, 0], |sum, pair| [sum[0] + pair[0], sum[1] + pair[1]]);
            if !counts.is_empty() && sum != [a_first, b_first] {
                return Err(format!("{name} adds up to {sum:?}: expected [{a_first}, {b_first}]"));
            }
        }
        Ok(())
    }

    /// The race that lets a frame of `a_class` and one of `b_class` change places, in either role; the strongest basis wins.
    ///
    /// Whether the two frames stand in that relation (two different tasks, one message …) is the caller's to know.
    pub fn may_swap(&self, a_class: &str, b_class: &str, relation: Relation) -> Option<&Race> {
        let covered = |race: &&Race| {
            race.relation == relation
                && ((covers(&race.a, a_class) && covers(&race.b, b_class))
                    || (covers(&race.a, b_class) && covers(&race.b, a_class)))
        };
        // `min_by_key` keeps the first of equals: within a basis the file's order decides.
        self.races.iter().filter(covered).min_by_key(|race| race.basis)
    }
}
