//! The ids in a capture: what each one names, and how to give out fresh ones in their place.
//!
//! A run must not repeat the ids of a recording: two sessions played from one capture would share them, and a host that
//! remembers ids would take the second for the first. [`Roles`] finds every id with what it names; [`Reissue`] maps each to
//! a fresh one of the same shape, the same everywhere, also inside longer strings such as paths.

mod reissue;
mod roles;
mod shape;

pub use reissue::Reissue;
pub use roles::Roles;
pub(crate) use shape::made_up;

use serde::Serialize;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A message of the host: the `uuid` it wrote, returned as `command_uuid` and `user_message_uuid`.
    Host,
    /// A frame of the CLI, or a transcript entry that never was a frame.
    Frame,
    /// A session.
    Session,
    /// A control request, of the host or of the CLI.
    Request,
    /// An agent, a fork or a command that runs as a task.
    Task,
    /// One run of a task.
    Run,
    /// A message of the model, `msg_…`, or one that the CLI made up itself, a UUID.
    Message,
    /// A request to the model's API: `req_…`.
    ApiRequest,
    /// A tool call: `toolu_…`.
    Tool,
}

#[cfg(test)]
mod tests;
