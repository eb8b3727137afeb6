//! What the model and the tools did: the part of a capture that no protocol model could make up.
//!
//! A script is a queue of answers per asker (each turn of the main thread, each agent, each fork) and the outcomes of the
//! tools by call. Everything else on the wire is made by the protocol from the host's own lines.

mod agents;
mod main_thread;
mod reduce;
mod tools;

pub use reduce::reduce;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

/// Everything that the model, the tools and the machine did in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// From the start of the process to the first line it reads, in ms.
    pub boot_ms: u64,
    /// The session id to take, when a later process must find the session under a known one; a fresh one otherwise.
    pub session_id: Option<String>,
    /// The main thread, turn by turn in the order in which the turns began.
    pub turns: VecDeque<TurnScript>,
    /// Typed forks, in order.
    pub forks: VecDeque<ChildScript>,
    /// Agents and forks of the Skill tool, by the id of the call that started them.
    pub children: BTreeMap<String, ChildScript>,
    /// What tools gave back, by the id of the call.
    pub outcomes: BTreeMap<String, Outcome>,
    /// Calls that ran until somebody stopped them: how they would have ended is not known.
    pub unfinished: BTreeSet<String>,
    /// Answers to compaction requests, in order.
    pub summaries: VecDeque<Summary>,
}

/// What the model answered in one turn of the main thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnScript {
    /// What began the turn.
    pub cue: Cue,
    /// From the notification, or from the result before it, to the `init` of a follow-up turn, in ms.
    pub lead_ms: Option<u64>,
    /// The answers to its requests, in order.
    pub answers: VecDeque<Answer>,
}

/// What begins a turn of the main thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cue {
    /// A message of the host with this text.
    Message(String),
    /// A background task's notification.
    #[default]
    FollowUp,
}

/// What the model answered to one agent or fork.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChildScript {
    /// The command of a typed fork, without its slash; empty for agents.
    pub command: String,
    /// The answers to its requests, in order.
    pub answers: VecDeque<Answer>,
    /// From the stop of the call's block to the child's start, in ms.
    pub lead_ms: u64,
    /// From its last frame to the frame that says it ended, in ms.
    pub tail_ms: u64,
}

/// The answer to one request of the API.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A message, whole or cut.
    Reply(Reply),
    /// No message.
    Failure(Failure),
}

/// A message of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// `msg_…`.
    pub id: String,
    /// `req_…`; absent where the API gave none.
    pub request_id: Option<String>,
    /// From the request to the first byte, in ms.
    pub wait_ms: u64,
    /// Usage that `message_start` states.
    pub usage: Value,
    /// Content blocks in order.
    pub blocks: Vec<Block>,
    /// How it ends.
    pub end: End,
    /// False for an answer to the request without streaming.
    pub streamed: bool,
}

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The whole block, as it stands in the assistant frame; what had come of it when the stream was cut.
    pub content: Value,
    /// From the last frame to its start, in ms.
    pub start_ms: u64,
    /// Its deltas: ms since the last frame, and the delta.
    pub chunks: Vec<(u64, Value)>,
    /// From the last delta to the assistant frame, in ms.
    pub done_ms: u64,
    /// From the assistant frame to its stop, in ms.
    pub stop_ms: u64,
}

/// How a message ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// With a stop reason.
    Stop {
        /// `end_turn`, `tool_use`, `max_tokens`, `refusal` …
        reason: String,
        /// Usage that `message_delta` states.
        usage: Value,
        /// From the last frame to `message_delta`, in ms.
        delta_ms: u64,
        /// From there to `message_stop`, in ms.
        stop_ms: u64,
    },
    /// The connection is lost this many ms after the last byte.
    Cut(u64),
    /// An SSE `error` event this many ms after the last byte.
    SseError(u64),
}

/// A request that got no message.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// From the request to the failure, in ms.
    pub wait_ms: u64,
    /// HTTP status; `None` when the connection was closed before the first byte.
    pub status: Option<u16>,
    /// The API's own words.
    pub message: String,
    /// `req_…`.
    pub request_id: Option<String>,
    /// How long the CLI waited before it tried again, in ms: `retry-after`, or its own jitter.
    pub retry_ms: Option<u64>,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How long it ran, in ms.
    pub ms: u64,
    /// The `content` of the tool_result.
    pub content: Value,
    /// `is_error`, where the frame states it.
    pub is_error: Option<bool>,
    /// `tool_use_result`, where the frame has one.
    pub structured: Option<Value>,
    /// The call was refused before any permission was asked: bad input.
    pub invalid: bool,
}

/// The model's answer to a compaction request, and what the tokenizer counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// From the request to the answer, in ms.
    pub wait_ms: u64,
    /// The summary, without its tags.
    pub text: String,
    /// `pre_tokens`, `post_tokens`, `cumulative_dropped_tokens`.
    pub tokens: [u64; 3],
    /// Input and output tokens of the request.
    pub usage: [u64; 2],
}

/// Input tokens of a reply that nobody scripted.
const DEFAULT_INPUT: u64 = 1000;
/// Output tokens of a reply that nobody scripted.
const DEFAULT_OUTPUT: u64 = 20;
/// From a request to the first byte of a reply that nobody scripted, in ms.
const DEFAULT_WAIT_MS: u64 = 20;
/// Words of the prompt that a default reply repeats.
const DEFAULT_WORDS: usize = 8;

impl Reply {
    /// The answer to an asker whose queue is empty: one text block with the prompt's first words.
    pub fn default_for(prompt: &str, id: String, request_id: String) -> Reply {
        let words: Vec<&str> = prompt.split_whitespace().take(DEFAULT_WORDS).collect();
        let text = if words.is_empty() { "…".to_owned() } else { words.join(" ") };
        Reply {
            id,
            request_id: Some(request_id),
            wait_ms: DEFAULT_WAIT_MS,
            usage: start_usage(DEFAULT_INPUT),
            blocks: vec![Block {
                content: json!({"type": "text", "text": text}),
                start_ms: 0,
                chunks: vec![(1, json!({"type": "text_delta", "text": text}))],
                done_ms: 5,
                stop_ms: 1,
            }],
            end: End::Stop {
                reason: "end_turn".into(),
                usage: end_usage(DEFAULT_INPUT, DEFAULT_OUTPUT),
                delta_ms: 2,
                stop_ms: 1,
            },
            streamed: true,
        }
    }

    /// Whether the block at this index was still open when the message was cut.
    pub fn is_open(&self, index: usize) -> bool {
        matches!(self.end, End::Cut(_) | End::SseError(_)) && index + 1 == self.blocks.len()
    }
}

/// The usage of a `message_start` with these input tokens.
pub(crate) fn start_usage(input: u64) -> Value {
    json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1, "service_tier": "standard"})
}

/// The usage of a `message_delta`.
pub(crate) fn end_usage(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output})
}

/// The texts of a message's content, joined; a plain string is itself.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
