//! The vocabulary of the two languages as constant tables: every key, what it means and what may stand behind it.

pub mod cast;
pub mod expect;
pub mod plan;
pub mod rows;
pub mod scenario;
pub mod step;
