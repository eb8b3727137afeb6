//! The world of one machine: processes played by understudies, their pipes, the files they see.

pub mod files;
pub mod process;

pub use files::MemoryFiles;
pub use process::Process;
