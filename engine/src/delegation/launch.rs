//! How a run is started: with the provider's own subagents, or with side chats as the only way to delegate.

use crate::{
    core::{config::EngineConfig, input::Parent},
    drivers::McpServer,
};

/// Name of the engine's MCP server, as providers list it.
pub const SERVER: &str = "engine";
/// Port of the engine.
pub const IPC_PORT: &str = "ENGINE_IPC_PORT";
/// Chat whose run started the server.
pub const CHAT_ID: &str = "ENGINE_CHAT_ID";
/// Device of the engine.
pub const DEVICE_ID: &str = "ENGINE_DEVICE_ID";
/// `1` where side chats are the only way to delegate.
pub const SIDE_CHATS_ONLY: &str = "ENGINE_SIDE_CHATS_ONLY";

/// How a run delegates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The provider's own subagents.
    Native,
    /// Side chats only: the provider's spawn tools are taken away.
    SideChatsOnly,
}

/// The mode of a run that starts now. Delegation is one level deep, so a side chat keeps the provider's subagents: it could not
/// delegate otherwise. A chat that may turn out to be one keeps them too, and without a port nothing could take their place.
pub fn mode(parent: &Parent, switched_off: bool, port: Option<u16>) -> Mode {
    match parent {
        Parent::None if switched_off && port.is_some() => Mode::SideChatsOnly,
        _ => Mode::Native,
    }
}

/// What tells a run apart from one that would be started now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// How it delegates.
    pub mode: Mode,
    /// The build of the CLI that serves it, where one is known.
    pub build: Option<String>,
}

impl Stamp {
    /// Whether a run with this stamp is another one than `now` would start. A build that nobody told cannot differ.
    pub fn differs(&self, now: &Stamp) -> bool {
        let builds = self.build.as_ref().zip(now.build.as_ref());
        self.mode != now.mode || builds.is_some_and(|(own, new)| own != new)
    }
}

/// The MCP server that a run of `chat` is given; none without a port.
pub fn mcp_server(config: &EngineConfig, chat: &str, mode: Mode) -> Option<McpServer> {
    let mut env = vec![
        (IPC_PORT.to_owned(), config.ipc_port?.to_string()),
        (CHAT_ID.to_owned(), chat.to_owned()),
        (DEVICE_ID.to_owned(), config.device_id.clone()),
    ];
    if mode == Mode::SideChatsOnly {
        env.push((SIDE_CHATS_ONLY.to_owned(), "1".to_owned()));
    }
    Some(McpServer { name: SERVER.to_owned(), command: config.mcp_program.clone(), args: config.mcp_args.clone(), env })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SW-01, SW-17, SW-21: every parent, the switch both ways, with and without a port.
    #[test]
    fn a_chat_that_cannot_delegate_otherwise_loses_its_subagents() {
        for (parent, off, port, expected) in [
            (Parent::None, false, Some(1), Mode::Native),
            (Parent::None, true, Some(1), Mode::SideChatsOnly),
            (Parent::Unknown, true, Some(1), Mode::Native),
            (Parent::Chat("m".to_owned()), true, Some(1), Mode::Native),
            (Parent::None, true, None, Mode::Native),
        ] {
            assert_eq!(mode(&parent, off, port), expected, "{parent:?}, switched off: {off}, port {port:?}");
        }
    }
}
