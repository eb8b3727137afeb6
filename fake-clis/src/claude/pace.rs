//! How long the CLI itself takes, in ms: medians of the recordings, orders of magnitude and nothing to wait for.

/// From `queued` to `started`.
pub const STARTED: u64 = 3;
/// From `started` to `init` in a process's first turn.
pub const FIRST_INIT: u64 = 60;
/// From `started` to `init` in a later turn.
pub const INIT: u64 = 20;
/// From `init` to `status/requesting`.
pub const REQUEST: u64 = 6;
/// From the last frame of a turn to its `result`.
pub const RESULT: u64 = 9;
/// From `result` to `completed` or `cancelled`.
pub const COMPLETED: u64 = 2;
/// From the end of a turn to the start of the next one that waits.
pub const NEXT: u64 = 2;
/// From a tool's result to the next `status/requesting`.
pub const AFTER_TOOLS: u64 = 5;
/// From `started` to the `task_started` of a typed fork.
pub const FORK: u64 = 45;
/// From a fork's notification to its `init`.
pub const FORK_INIT: u64 = 20;
/// From a block's stop to `task_started`.
pub const LAUNCH: u64 = 12;
/// From `task_started` to the prompt's echo, or to the launch's result.
pub const ECHO: u64 = 20;
/// From an agent's notification to the caller's tool_result.
pub const HAND_BACK: u64 = 8;
/// From a background task's notification to the follow-up turn's `init`.
pub const FOLLOW_UP: u64 = 25;
/// Two notifications closer than this go into one model call, and the first one's turn is empty.
pub const TOGETHER: u64 = 28;
/// Two notifications closer than this always go into one model call.
pub const TOGETHER_LEAST: u64 = 15;
/// Two notifications farther apart than this never do.
pub const TOGETHER_MOST: u64 = 45;
/// From a block's stop to `can_use_tool`.
pub const ASK: u64 = 12;
/// From an answered question to its echo.
pub const ANSWERED: u64 = 8;
/// From an interrupt's answer to the frames that stop the turn.
pub const STOPPING: u64 = 4;
/// A foreground command that runs this long is announced as a task.
pub const ANNOUNCE: u64 = 3_000;
/// Every so long a running tool says that it lives.
pub const HEARTBEAT: u64 = 30_000;
/// A tool whose end no capture shows runs this long.
pub const UNKNOWN_TOOL: u64 = 60_000;
/// A tool that never ran in the capture takes this long.
pub const UNSCRIPTED_TOOL: u64 = 50;
/// From SIGINT to the end of the process.
pub const SIGINT: u64 = 1_400;
/// From the end of stdin, nothing running, to the end of the process.
pub const LEAVE: u64 = 30;
/// First delay before a request is tried again; it doubles each time.
pub const RETRY: u64 = 500;
/// No delay between two tries is longer.
pub const RETRY_MOST: u64 = 36_000;
