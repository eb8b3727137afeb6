//! What the tests of this crate share.

use std::path::PathBuf;

use assert_cmd::Command;

/// The built command.
pub fn rehearsal() -> Command {
    Command::new(PathBuf::from(env!("CARGO_BIN_EXE_rehearsal")))
}
