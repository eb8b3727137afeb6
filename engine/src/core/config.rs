//! Every configurable value of one engine. The environment is read once, by the production `main`; core and drivers never read it.

use serde::{Deserialize, Serialize};

/// Document changes are committed and published at most this long after they were made, ms.
pub const FLUSH_MS: u64 = 120;
/// Messages handed to a live run and not yet confirmed, at most; a further one stays queued.
pub const MAILBOX: usize = 32;
/// A parked run drops untagged content for this long, ms; at exactly this age the gate is open.
pub const PARKED_GATE_MS: u64 = 1_000;
/// A killed run that says nothing is settled after this long, ms.
pub const INTERRUPT_DEADLINE_MS: u64 = 3_000;
/// A terminated run is given up when its process is not reaped after this long, ms.
pub const TERMINATE_WAIT_MS: u64 = 5_000;
/// A stop in place that settles nothing becomes a terminate after this long, ms.
pub const STOP_TURN_SETTLE_MS: u64 = 15_000;
/// Longest preview kept of a message, characters.
pub const PREVIEW_CHARS: usize = 120;

/// Values of one engine; several engines with different values may run in one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct EngineConfig {
    /// Id of this device.
    pub device_id: String,
    /// Program started for Claude Code.
    pub claude_program: String,
    /// Whether the CLI's help lists `--thinking-display`; it refuses to start with an option it does not know.
    pub claude_thinking_display: bool,
    /// Port on which the engine's MCP server reaches this engine; without one providers are given no server.
    pub ipc_port: Option<u16>,
    /// Program started as the engine's MCP server.
    pub mcp_program: String,
    /// Its arguments.
    pub mcp_args: Vec<String>,
    /// A parked run is ended after this long without activity, ms; 0 is off.
    pub session_idle_ms: u64,
    /// Quiet window of a prompted turn whose driver states no end, ms; 0 is off.
    pub turn_quiesce_ms: u64,
    /// Quiet window of a self-continued turn, ms; 0 is off.
    pub self_turn_quiesce_ms: u64,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            device_id: "device".to_owned(),
            claude_program: "claude".to_owned(),
            claude_thinking_display: true,
            ipc_port: None,
            mcp_program: "engine".to_owned(),
            mcp_args: vec!["mcp".to_owned()],
            session_idle_ms: 1_800_000,
            turn_quiesce_ms: 120_000,
            self_turn_quiesce_ms: 20_000,
        }
    }
}
