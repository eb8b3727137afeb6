//! What a run says, and to whom.
//!
//! A plain, versioned data model ([`SuiteReport`]), the exit code it leads to ([`exit_code`]), the list of failures
//! that are known and why ([`baseline`]), and one renderer for each reader: a person at a terminal or in a CI log
//! ([`human`]), a program ([`json`]), a CI server ([`junit`]), a pull request ([`github`]) and a step summary
//! ([`markdown`]). Nothing here knows an engine, a stage or a provider, and nothing here reads a clock: one report
//! always renders to the same bytes.

pub mod baseline;
mod exit;
mod format;
pub mod github;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
mod model;
mod reason;
mod run;
mod sentence;
mod text;
mod verdict;
mod view_diff;

pub use exit::{ExitCode, Flags, exit_code};
pub use format::{Format, UnknownFormat};
pub use model::{InvariantCount, Judgement, SCHEMA_VERSION, Stale, SuiteReport, Summary};
pub use run::{RECORDED_ORDER, RunResult, TraceLine, Violation, ViolationKind};
pub use sentence::closing;
pub use verdict::{Origin, Tier, Verdict};
