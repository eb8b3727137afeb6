//! The scenario language and the scenario library.
//!
//! One TOML 1.1 file is one [`Scenario`]: who plays, what the user and the world do, what is to be seen. A run is a
//! scenario and a [`Plan`]: what happens otherwise than recorded. This crate reads and writes the two and plays neither.
//!
//! The language is closed. An unknown key, a second action in a step, a name that does not exist is an error that
//! points at its bytes, says what was expected and what did exist, and what to do ([`problem::Problem`]). Every key stands
//! once, in the `vocabulary`, and from there come the check, the help lines and the JSON Schemas of [`schema`].
//!
//! What may be expected, and where it is looked up, is the table in [`expect`].
//!
//! ```
//! let toml = r#"
//! scenario = 1
//! title    = "A typed fork has a row while it runs"
//! why      = "Its frames are held back to its end, so the row must come from its start."
//! guards   = ["V1"]
//! cast     = [{ as = "claude", capture = "typed-fork", edits = [{ hold = "task_started#1" }] }]
//! steps    = [
//!   { send = "/probe" },
//!   { until = { row."Agent: /probe" = "running" }, within = "10s" },
//!   { release = "task_started#1" },
//!   { until = { status = "idle" } },
//!   { expect = { pill = 0, row."Agent: /probe" = "done" } },
//! ]
//! "#;
//! let scenario = scenarios::Scenario::parse("typed-fork/row", "row.toml", toml)?;
//! assert_eq!(scenario.steps.len(), 5);
//! # Ok::<(), scenarios::problem::Problems>(())
//! ```

mod check;
pub mod duration;
pub mod expect;
pub mod library;
pub mod nearest;
pub mod plan;
pub mod problem;
mod read;
pub mod rows;
pub mod scenario;
pub mod schema;
mod shape;
mod vocabulary;
pub mod words;

pub use expect::Expectation;
pub use library::Library;
pub use plan::Plan;
pub use rows::Rows;
pub use scenario::Scenario;
