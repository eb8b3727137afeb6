//! Normalized events: what every driver turns its provider's wire into.
//!
//! One vocabulary for four providers. A driver emits these in wire order; the run loop folds them into documents and rows and
//! never looks at a provider's frame.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One normalized event, journaled as `{"type": "textDelta", …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// The provider named its session; once a run, later "init" frames are swallowed by the driver.
    SessionStarted {
        /// Driver id, `claude-code` for example.
        harness: String,
        /// Model as the provider names it.
        model: Option<String>,
        /// Tools as the provider lists them.
        tools: Vec<String>,
        /// Working directory.
        cwd: Option<String>,
        /// The provider's session id.
        session_id: String,
        /// Id of the assistant message that will come first.
        assistant_message_id: String,
    },
    /// Streamed or whole text; merges with trailing text of the same part key.
    TextDelta {
        /// The text.
        text: String,
        /// Provider part key; a new key starts a new piece.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
    },
    /// Replaces the text of a part; empty text takes the part back (what a provider abandoned is not shown).
    TextSnapshot {
        /// Part key.
        part: String,
        /// The new text.
        text: String,
    },
    /// Thinking; empty text is a heartbeat, never content.
    ReasoningDelta {
        /// The text, may be empty.
        text: String,
        /// Provider part key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
    },
    /// An image that the provider made.
    GeneratedImage {
        /// Part id.
        id: String,
        /// Where the file lies.
        path: String,
        /// File name shown.
        name: String,
        /// MIME type.
        mime_type: String,
    },
    /// One provider message closed; the assistant message id rotates.
    AssistantMessageCompleted {
        /// Id of the closed message.
        assistant_message_id: String,
    },
    /// A native position after which this reply can be forked; precedes the Steered or Done that closes the reply (D3).
    NativeForkReady {
        /// The assistant message it belongs to.
        assistant_message_id: String,
        /// Provider-specific position.
        point: Value,
    },
    /// A tool call; the same id again refreshes the part in place.
    ToolCall {
        /// Tool-use id.
        id: String,
        /// What is called.
        call: ToolCall,
    },
    /// A tool's end.
    ToolResult {
        /// Tool-use id.
        id: String,
        /// True when the provider marks it as an error.
        is_error: bool,
        /// Output text; statistics of it are kept, never the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// Unified diff, where the tool gives one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    },
    /// Tokens in the context and the size of the window; never reopens a turn.
    ContextUsage {
        /// Tokens used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Tokens the window holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
    },
    /// Tokens of the turn; comes before its Done (D2).
    Usage {
        /// Input tokens of the turn.
        input_tokens: u64,
        /// Output tokens of the turn.
        output_tokens: u64,
    },
    /// Slash commands the provider offers.
    AvailableCommands {
        /// Names without the slash.
        commands: Vec<String>,
    },
    /// The provider changed its agent or mode; informational.
    AgentChanged {
        /// Its name.
        agent: String,
    },
    /// An error that is content of the reply, not a terminal.
    Error {
        /// Words for the user.
        message: String,
    },
    /// A question or approval is open; always a pair with InputResolved.
    InputRequested {
        /// Our id of the request.
        request_id: String,
        /// What is asked.
        questions: Vec<UserInputQuestion>,
    },
    /// The question is closed, answered or not.
    InputResolved {
        /// Our id of the request.
        request_id: String,
    },
    /// The provider took a message: the old reply closes, a new one opens (D4: one per confirmed message, in order taken).
    Steered {
        /// The message taken; absent means the oldest in the ledger.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// The assistant message that closes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assistant_message_id: Option<String>,
        /// The assistant message that opens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_assistant_message_id: Option<String>,
    },
    /// The provider gave a message back unread; it is queued again.
    SteerReturned {
        /// The message.
        message_id: String,
        /// Why.
        reason: String,
    },
    /// Terminal of a turn; the stream may go on (D1: exactly one a turn).
    Done {
        /// How the turn ended.
        status: DoneStatus,
        /// Result text, where the provider gives one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// Cause of an errored turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The provider's session, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Set when no provider evidence ended the turn (`restart`, `quiesce`, `interrupt-deadline`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        synthetic: Option<String>,
    },
    /// A user message of a child; only inside Subagent.
    UserMessage {
        /// Its text.
        text: String,
    },
    /// Child traffic: the only way it appears (D5).
    Subagent {
        /// Chip id.
        parent_tool_use_id: String,
        /// The child's event.
        event: Box<AgentEvent>,
    },
    /// Journal-only diagnostics; never folded, never reopens.
    Note {
        /// Stable word: `bad-record`, `absorbed-result`, `late-terminal`, `provider-retry` …
        kind: String,
        /// Words for the developer.
        text: String,
    },
}

/// Outcome of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DoneStatus {
    /// The provider finished.
    Completed,
    /// Somebody stopped it.
    Interrupted,
    /// It failed.
    Errored,
}

/// A tool call by kind; inputs are kept only as far as they may be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolCall {
    /// A shell command.
    Exec {
        /// The command line.
        command: String,
    },
    /// Reading a file.
    ReadFile {
        /// Its path.
        path: String,
    },
    /// Writing a whole file.
    WriteFile {
        /// Its path.
        path: String,
    },
    /// Editing a file.
    EditFile {
        /// Its path.
        path: String,
    },
    /// A patch over several files.
    ApplyPatch {
        /// The paths.
        paths: Vec<String>,
    },
    /// Searching contents.
    Search {
        /// The pattern.
        pattern: String,
    },
    /// Searching names.
    Glob {
        /// The pattern.
        pattern: String,
    },
    /// Fetching a page.
    WebFetch {
        /// Its address.
        url: String,
    },
    /// Searching the web.
    WebSearch {
        /// The query.
        query: String,
    },
    /// A plan.
    Todo {
        /// Its items.
        items: Vec<String>,
    },
    /// A call of an MCP tool.
    Mcp {
        /// Server name.
        server: String,
        /// Tool name.
        tool: String,
        /// Its input.
        input: Value,
    },
    /// Any other tool, spawns (`Agent`, `Agent: …`) included.
    Unknown {
        /// Tool name.
        name: String,
        /// Its input.
        input: Value,
    },
}

impl ToolCall {
    /// Whether this call is a subagent chip: `Unknown.name` or `Mcp.tool` is `Agent` or begins with `Agent: `.
    pub fn is_spawn(&self) -> bool {
        match self {
            ToolCall::Unknown { name, .. } => is_spawn_name(name),
            ToolCall::Mcp { tool, .. } => is_spawn_name(tool),
            _ => false,
        }
    }

    /// The name a view shows for the call.
    pub fn name(&self) -> &str {
        match self {
            ToolCall::Exec { .. } => "Exec",
            ToolCall::ReadFile { .. } => "ReadFile",
            ToolCall::WriteFile { .. } => "WriteFile",
            ToolCall::EditFile { .. } => "EditFile",
            ToolCall::ApplyPatch { .. } => "ApplyPatch",
            ToolCall::Search { .. } => "Search",
            ToolCall::Glob { .. } => "Glob",
            ToolCall::WebFetch { .. } => "WebFetch",
            ToolCall::WebSearch { .. } => "WebSearch",
            ToolCall::Todo { .. } => "Todo",
            ToolCall::Mcp { tool, .. } => tool,
            ToolCall::Unknown { name, .. } => name,
        }
    }

    /// The call as it may be stored: of a spawn's input only the badge keys survive (prompts are never stored in a chip).
    pub fn sanitized(mut self) -> ToolCall {
        if self.is_spawn()
            && let ToolCall::Unknown { input, .. } | ToolCall::Mcp { input, .. } = &mut self
        {
            if let Value::Object(fields) = input {
                fields.retain(|key, _| SPAWN_BADGE_KEYS.contains(&key.as_str()));
            } else {
                *input = Value::Null;
            }
        }
        self
    }
}

/// Input keys of a spawn that are kept: the child's model and its type.
pub const SPAWN_BADGE_KEYS: [&str; 5] = ["model", "modelId", "model_id", "subagent_model", "subagent_type"];

/// Tool id of the singleton plan; exempt from stale-echo filtering and from the open-tool test.
pub const LIVE_PLAN: &str = "live-plan";

fn is_spawn_name(name: &str) -> bool {
    name == "Agent" || name.starts_with("Agent: ")
}

/// One question to the human.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInputQuestion {
    /// Id within the request.
    pub id: String,
    /// Short heading.
    pub header: String,
    /// The question.
    pub question: String,
    /// Labels to choose from.
    pub options: Vec<String>,
    /// Whether several may be chosen.
    pub multi_select: bool,
    /// Text to start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill: Option<String>,
    /// Whether the answer may have several lines.
    #[serde(default)]
    pub multiline: bool,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInputAnswer {
    /// Which question.
    pub question_id: String,
    /// The chosen labels, or the typed text.
    pub labels: Vec<String>,
}
