//! Recorded frames of coding-agent CLIs, and what can be said about them.
//!
//! A capture is one run of one provider process (or of several), written down line by line: what the host wrote, what the
//! CLI wrote, what happened to the process. This crate knows the format and nothing about engines or stages.

pub mod catalog;
pub mod compare;
pub mod diff;
pub mod format;
pub mod ids;
pub mod import;
pub mod labels;
pub mod provider;
pub mod races;
pub mod scrub;
pub mod summary;
pub mod verify;
