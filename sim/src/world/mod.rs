//! The world of one machine: processes played by understudies, and its disk.

pub mod disk;
pub mod process;

pub use process::Process;
