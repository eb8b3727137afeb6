//! The world of one machine: processes played by understudies.

pub mod process;

pub use process::Process;
