//! Understudies: sans-io protocol models of coding-agent CLIs.
//!
//! An understudy takes what a host does (bytes on stdin, a closed pipe, a signal, a due timer) and answers with what the real
//! CLI would do. It reads no clock, opens no file and draws no random number: time, files and ids are handed to it.

pub mod claude;
pub mod drive;
pub mod lines;
pub mod process;
pub mod tape;
pub mod understudy;
pub mod verify;
