//! Delegation: side chats in place of the provider's own subagents, the switch between the two, and the surface on which an
//! agent creates and drives side chats.
//!
//! `launch` says what a run is started with, `prefs` what the user switched off, `section` what a settings view shows of it,
//! `tools` what the MCP server offers and what its arguments mean, `mcp` its frames. All of it is pure: a call is an input of
//! the core, its answer an effect. The server process between a provider and the engine only carries lines.

pub mod launch;
pub mod mcp;
pub mod prefs;
pub mod section;
pub mod tools;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request that is answered exactly once, notifications apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Names the call in its answer; the caller's own number.
    pub id: u64,
    /// What is asked.
    pub asked: Asked,
}

/// What a call asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A method of the engine's own surface.
    Rpc {
        /// Its name.
        method: String,
        /// Its parameters, an object.
        params: Value,
    },
    /// A JSON-RPC frame that a provider wrote to the engine's MCP server.
    Mcp {
        /// From where.
        origin: Origin,
        /// The frame.
        frame: Value,
    },
}

/// Where an MCP frame comes from: what the server process read from its environment, once, when it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The chat whose run started the server.
    pub chat: String,
    /// The device.
    pub device: String,
    /// Side chats are the only way to delegate.
    pub side_chats_only: bool,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The call's id.
    pub id: u64,
    /// What came of it. The answer to an MCP frame is a JSON-RPC frame, whatever came of it.
    pub outcome: Result<Value, CallError>,
}

/// Why a call was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// Which kind.
    pub kind: ErrorKind,
    /// Words for the user.
    pub message: String,
}

/// Kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// There is no such method.
    UnknownMethod,
    /// The parameters are not what the method takes.
    BadParameters,
    /// The engine does not do this.
    Refused,
}

impl CallError {
    /// There is no such method.
    pub fn unknown_method(method: &str) -> Self {
        CallError { kind: ErrorKind::UnknownMethod, message: format!("There is no method `{method}`.") }
    }

    /// The parameters are not what the method takes.
    pub fn bad_parameters(message: impl Into<String>) -> Self {
        CallError { kind: ErrorKind::BadParameters, message: message.into() }
    }

    /// The engine does not do this.
    pub fn refused(message: impl Into<String>) -> Self {
        CallError { kind: ErrorKind::Refused, message: message.into() }
    }
}
