//! The main thread's answers, turn by turn.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use captures::format::{Capture, From};
use serde_json::{Value, json};

use super::{
    Answer, Block, Cue, End, Failure, Reply, Summary, TurnScript, end_usage,
    reduce::{Said, tag, text},
    text_of,
};
use crate::claude::args::DEFAULT_RETRIES;

/// How long the tail of a message is held that the capture does not show: longer than anybody waits for it, in ms.
const UNSEEN_TAIL_MS: u64 = 60_000;

/// Walks the untagged frames in order.
pub(super) struct MainThread {
    turns: VecDeque<TurnScript>,
    summaries: VecDeque<Summary>,
    messages: BTreeMap<String, String>,
    plain: VecDeque<String>,
    max_retries: u64,
    output: u64,
    /// Time of the last frame of the main thread's own stream.
    last: u64,
    open: Option<Building>,
    /// A message was abandoned, and why is not known yet.
    abandoned: bool,
    /// Tasks in the background, and when those of them ended whose turn has not come.
    background: BTreeSet<String>,
    notified: VecDeque<u64>,
    last_result: u64,
    /// Thinking tokens that were counted before their block is seen, where no deltas are.
    thought: Vec<u64>,
    retries: u64,
    compacting: u64,
    tokens: [u64; 3],
}

/// A message under construction.
struct Building {
    reply: Reply,
    stopped: bool,
    aborted: bool,
    /// `message_stop` was seen.
    ended: bool,
    /// A block was started and its assistant frame has not come.
    pending: bool,
}

impl MainThread {
    pub(super) fn new(capture: &Capture, output: u64) -> MainThread {
        let mut messages = BTreeMap::new();
        let mut plain = VecDeque::new();
        // Where no turn says whose it is, the messages are taken in order: other versions, and frames of other harnesses.
        let named = capture
            .entries
            .iter()
            .filter_map(|entry| entry.what.frame())
            .any(|frame| text(frame, "/subtype") == Some("init") && frame.get("user_message_uuids").is_some());
        for entry in capture.entries.iter().filter(|entry| entry.from == From::Host) {
            let Some(frame) = entry.what.frame() else { continue };
            if text(frame, "/type") != Some("user") {
                continue;
            }
            let words = text_of(&frame["message"]["content"]);
            match text(frame, "/uuid") {
                Some(uuid) if named => {
                    messages.insert(uuid.to_owned(), words);
                }
                _ => plain.push_back(words),
            }
        }
        let max_retries = capture.header.env.get("CLAUDE_CODE_MAX_RETRIES").and_then(|n| n.parse().ok());
        MainThread {
            turns: VecDeque::new(),
            summaries: VecDeque::new(),
            messages,
            plain,
            max_retries: max_retries.unwrap_or(u64::from(DEFAULT_RETRIES)),
            output,
            last: 0,
            open: None,
            abandoned: false,
            background: BTreeSet::new(),
            notified: VecDeque::new(),
            last_result: 0,
            thought: Vec::new(),
            retries: 0,
            compacting: 0,
            tokens: [0; 3],
        }
    }

    /// Takes one frame; tagged ones are not the main thread's.
    pub(super) fn take(&mut self, said: &Said<'_>) {
        let frame = said.frame;
        match (text(frame, "/type"), text(frame, "/subtype")) {
            (Some("system"), Some("init")) => self.begin(said),
            (Some("system"), Some("status")) => self.status(said),
            (Some("system"), Some("api_retry")) => self.retry(said),
            (Some("system"), Some("thinking_tokens")) => {
                self.thought.extend(frame["estimated_tokens_delta"].as_u64());
            }
            (Some("system"), Some("compact_boundary")) => {
                let count = |name: &str| frame.pointer(&format!("/compact_metadata/{name}")).and_then(Value::as_u64);
                self.tokens = ["pre_tokens", "post_tokens", "cumulative_dropped_tokens"].map(|name| count(name).unwrap_or(0));
            }
            (Some("stream_event"), _) => self.stream(said),
            (Some("assistant"), _) if tag(frame).is_none() => self.assistant(said),
            (Some("user"), _) if tag(frame).is_none() => self.user(said),
            (Some("result"), _) => {
                self.close();
                self.last_result = said.at;
            }
            (Some("system"), Some("task_started")) if frame["is_backgrounded"] == true => {
                self.background.extend(text(frame, "/task_id").map(str::to_owned));
            }
            (Some("system"), Some("task_notification"))
                if text(frame, "/task_id").is_some_and(|id| self.background.contains(id)) =>
            {
                self.notified.push_back(said.at);
            }
            _ => {}
        }
    }

    /// The turns and the compaction answers that were found.
    pub(super) fn finish(mut self) -> (VecDeque<TurnScript>, VecDeque<Summary>) {
        self.close();
        (self.turns, self.summaries)
    }

    fn begin(&mut self, said: &Said<'_>) {
        self.close();
        let uuid = text(said.frame, "/user_message_uuids/0");
        let words = match uuid {
            Some(uuid) => self.messages.get(uuid).cloned(),
            None => self.plain.pop_front(),
        };
        let cue = words.map_or(Cue::FollowUp, Cue::Message);
        let since = if cue == Cue::FollowUp { self.notified.pop_front() } else { None };
        let lead_ms = since.map(|since| said.at.saturating_sub(since.max(self.last_result)));
        self.turns.push_back(TurnScript { cue, lead_ms, answers: VecDeque::new() });
        self.last = said.at;
        self.retries = 0;
    }

    fn status(&mut self, said: &Said<'_>) {
        match text(said.frame, "/status") {
            Some("compacting") => self.compacting = said.at,
            Some("requesting") => {
                self.close();
                self.retries = 0;
            }
            _ => {}
        }
        if said.frame.get("compact_result").is_some() {
            self.summaries.push_back(Summary {
                wait_ms: said.at - self.compacting,
                text: String::new(),
                tokens: [0; 3],
                usage: [super::DEFAULT_INPUT, self.output],
            });
        }
        self.last = said.at;
    }

    fn retry(&mut self, said: &Said<'_>) {
        let delay = said.frame["retry_delay_ms"].as_f64().map_or(0, |ms| ms.round() as u64);
        let max = said.frame["max_retries"].as_u64().unwrap_or(0);
        let of_fallback = max != self.max_retries;
        if self.abandoned {
            self.settle(!of_fallback);
        }
        if of_fallback || !self.cut_last() {
            let status = said.frame["error_status"].as_u64().map(|status| status as u16);
            let wait_ms = said.at.saturating_sub(self.last);
            let message = status.map_or(String::new(), default_message);
            self.push(Answer::Failure(Failure { wait_ms, status, message, request_id: None, retry_ms: Some(delay) }));
        }
        self.retries += 1;
        self.last = said.at + delay;
    }

    /// Whether the last answer is a cut message that this retry belongs to.
    fn cut_last(&self) -> bool {
        let last = self.turns.back().and_then(|turn| turn.answers.back());
        matches!(last, Some(Answer::Reply(reply)) if matches!(reply.end, End::Cut(_)))
    }

    fn stream(&mut self, said: &Said<'_>) {
        let event = &said.frame["event"];
        let gap = said.at.saturating_sub(self.last);
        match text(event, "/type") {
            Some("message_start") => {
                self.close();
                self.open = Some(Building {
                    reply: Reply {
                        id: text(event, "/message/id").unwrap_or_default().to_owned(),
                        request_id: None,
                        wait_ms: gap,
                        usage: event["message"]["usage"].clone(),
                        blocks: Vec::new(),
                        end: End::Cut(0),
                        streamed: true,
                    },
                    stopped: false,
                    aborted: false,
                    ended: false,
                    pending: false,
                });
            }
            Some(kind) => {
                let Some(open) = self.open.as_mut() else { return };
                open.event(kind, event, gap);
                open.ended |= kind == "message_stop";
                if kind == "message_stop" && said.frame.get("abandoned_blocks").is_some() && !open.aborted && !open.stopped {
                    self.abandoned = true;
                }
            }
            None => {}
        }
        self.last = said.at;
    }

    fn assistant(&mut self, said: &Said<'_>) {
        let message = &said.frame["message"];
        let gap = said.at.saturating_sub(self.last);
        if text(message, "/model") == Some("<synthetic>") {
            if said.frame.get("is_api_error_message").is_some() {
                self.error(said, gap);
            }
            return;
        }
        let id = text(message, "/id").unwrap_or_default();
        let request_id = text(said.frame, "/request_id").map(str::to_owned);
        if self.open.as_ref().is_none_or(|open| open.reply.id != id) {
            if self.abandoned {
                self.settle(self.retries >= self.max_retries);
            }
            self.close();
            self.open = Some(Building::whole(message, gap, self.output));
        }
        if let Some(open) = self.open.as_mut() {
            open.reply.request_id = request_id;
            open.block(&message["content"][0], gap, &std::mem::take(&mut self.thought));
            open.aborted |= said.frame.get("aborted").is_some();
        }
        self.last = said.at;
    }

    /// A synthetic message that ends the turn: what the API said last.
    fn error(&mut self, said: &Said<'_>, wait_ms: u64) {
        let words = text_of(&said.frame["message"]["content"]);
        if self.abandoned {
            self.settle(true);
        }
        if words.contains("Connection to the API was lost") {
            if let Some(open) = self.open.as_mut() {
                open.reply.end = End::Cut(wait_ms);
                open.stopped = true;
                open.reply.request_id = text(said.frame, "/request_id").map(str::to_owned);
            }
            self.close();
        } else if let Some((status, message)) = failure(&words) {
            let request_id = text(said.frame, "/request_id").map(str::to_owned);
            self.close();
            self.push(Answer::Failure(Failure { wait_ms, status, message, request_id, retry_ms: None }));
        }
    }

    fn user(&mut self, said: &Said<'_>) {
        let frame = said.frame;
        let content = &frame["message"]["content"];
        if frame.get("isReplay") == Some(&json!(true)) {
            return;
        }
        let words = text_of(content);
        if words.starts_with("This session is being continued")
            && let Some(summary) = self.summaries.back_mut()
        {
            let body = words.split_once("Summary:\n").map_or(words.as_str(), |(_, rest)| rest);
            body.split("\n\n").next().unwrap_or_default().clone_into(&mut summary.text);
            summary.tokens = self.tokens;
        }
        if self.abandoned {
            self.settle(true);
        }
        // A result that comes before its message has ended takes no time from the message.
        let streaming = self.open.as_ref().is_some_and(|open| !open.ended);
        if (text(content, "/0/type") == Some("tool_result") && !streaming) || frame.get("isSynthetic").is_some() {
            self.last = said.at;
        }
    }

    /// The abandoned message was cut (or ended by an SSE error).
    fn settle(&mut self, cut: bool) {
        self.abandoned = false;
        if let Some(open) = self.open.as_mut() {
            if let (End::Cut(ms), false) = (&open.reply.end, cut) {
                open.reply.end = End::SseError(*ms);
            }
            open.stopped = true;
        }
        self.close();
    }

    fn close(&mut self) {
        self.abandoned = false;
        if let Some(open) = self.open.take() {
            let reply = open.finish(self.output);
            self.push(Answer::Reply(reply));
        }
    }

    fn push(&mut self, answer: Answer) {
        if self.turns.is_empty() {
            self.turns.push_back(TurnScript::default());
        }
        if let Some(turn) = self.turns.back_mut() {
            turn.answers.push_back(answer);
        }
    }
}

impl Building {
    /// A message of which only its assistant frames are seen.
    fn whole(message: &Value, wait_ms: u64, output: u64) -> Building {
        let input = message.pointer("/usage/input_tokens").and_then(Value::as_u64).unwrap_or(0);
        let stopped = text(message, "/stop_reason");
        let reason = stopped.unwrap_or("end_turn").to_owned();
        let usage = if stopped.is_some() { message["usage"].clone() } else { end_usage(input, output) };
        let reply = Reply {
            id: text(message, "/id").unwrap_or_default().to_owned(),
            request_id: None,
            wait_ms,
            usage: if stopped.is_some() { super::start_usage(input) } else { message["usage"].clone() },
            blocks: Vec::new(),
            end: End::Stop { reason, usage, delta_ms: 1, stop_ms: 1 },
            streamed: stopped.is_none(),
        };
        Building { reply, stopped: true, aborted: false, ended: true, pending: false }
    }

    fn event(&mut self, kind: &str, event: &Value, gap: u64) {
        match (kind, self.reply.blocks.last_mut()) {
            ("content_block_start", _) => {
                self.pending = true;
                self.reply.blocks.push(Block {
                    content: event["content_block"].clone(),
                    start_ms: gap,
                    chunks: Vec::new(),
                    done_ms: 1,
                    stop_ms: 1,
                });
            }
            ("content_block_delta", Some(block)) => block.chunks.push((gap, event["delta"].clone())),
            ("content_block_stop", Some(block)) => block.stop_ms = gap,
            ("message_delta", _) => {
                if let Some(reason) = text(event, "/delta/stop_reason") {
                    let (reason, usage) = (reason.to_owned(), event["usage"].clone());
                    self.reply.end = End::Stop { reason, usage, delta_ms: gap, stop_ms: 1 };
                    self.stopped = true;
                }
            }
            ("message_stop", _) => match &mut self.reply.end {
                End::Stop { stop_ms, .. } => *stop_ms = gap,
                End::Cut(ms) | End::SseError(ms) => *ms = gap,
            },
            _ => {}
        }
    }

    /// The assistant frame of a block.
    fn block(&mut self, content: &Value, gap: u64, thought: &[u64]) {
        match self.reply.blocks.last_mut() {
            Some(block) if std::mem::take(&mut self.pending) => {
                block.content = content.clone();
                block.done_ms = gap;
            }
            _ => self.reply.blocks.push(Block {
                content: content.clone(),
                start_ms: 0,
                chunks: if thought.is_empty() { whole_chunks(content) } else { thinking_chunks(content, thought) },
                done_ms: gap,
                stop_ms: 0,
            }),
        }
        if text(content, "/type") == Some("tool_use")
            && let End::Stop { reason, .. } = &mut self.reply.end
            && reason == "end_turn"
        {
            "tool_use".clone_into(reason);
        }
    }

    fn finish(mut self, output: u64) -> Reply {
        if !self.stopped {
            // The host stopped it, or the process was killed: what would have come is not known.
            let uses_tool = self.reply.blocks.iter().any(|block| text(&block.content, "/type") == Some("tool_use"));
            let reason = if uses_tool { "tool_use" } else { "end_turn" }.to_owned();
            let input = self.reply.usage["input_tokens"].as_u64().unwrap_or(0);
            if let Some(block) = self.reply.blocks.last_mut() {
                block.done_ms = UNSEEN_TAIL_MS;
            }
            self.reply.end = End::Stop { reason, usage: end_usage(input, output), delta_ms: 1, stop_ms: 1 };
        }
        for block in &mut self.reply.blocks {
            if text(&block.content, "/type") == Some("text") && text(&block.content, "/text") == Some("") {
                let said: String = block.chunks.iter().filter_map(|(_, delta)| text(delta, "/text")).collect();
                block.content = json!({"type": "text", "text": said});
            }
        }
        self.reply
    }
}

/// The deltas of a block that arrived in one piece.
pub(super) fn whole_chunks(content: &Value) -> Vec<(u64, Value)> {
    match text(content, "/type") {
        Some("text") => vec![(0, json!({"type": "text_delta", "text": content["text"]}))],
        Some("thinking") => vec![
            (0, json!({"type": "thinking_delta", "thinking": content["thinking"]})),
            (0, json!({"type": "signature_delta", "signature": content["signature"]})),
        ],
        Some("tool_use") => vec![(0, json!({"type": "input_json_delta", "partial_json": content["input"].to_string()}))],
        _ => Vec::new(),
    }
}

/// The deltas of thinking that is seen only whole, by the tokens that were counted for each: four characters a token.
fn thinking_chunks(content: &Value, thought: &[u64]) -> Vec<(u64, Value)> {
    let mut rest: Vec<char> = text(content, "/thinking").unwrap_or_default().chars().collect();
    let mut chunks = Vec::new();
    for tokens in thought {
        let part: String = rest.drain(..rest.len().min(*tokens as usize * 4)).collect();
        chunks.push((0, json!({"type": "thinking_delta", "thinking": part})));
    }
    chunks.push((0, json!({"type": "signature_delta", "signature": content["signature"]})));
    chunks
}

/// The API's words when a retried request failed with this status and the capture does not show them.
fn default_message(status: u16) -> String {
    let words = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    words.to_owned()
}

/// Status and words of the failure behind the text of an error that ended a turn; `None` where it was a cut or a refusal.
pub(super) fn failure(words: &str) -> Option<(Option<u16>, String)> {
    if let Some(message) = words.strip_prefix("API Error: Request rejected (429) · ") {
        return Some((Some(429), message.to_owned()));
    }
    if words.starts_with("Invalid API key") {
        return Some((Some(401), default_message(401)));
    }
    if words.starts_with("API Error: Connection dropped") {
        return Some((None, String::new()));
    }
    let rest = words.strip_prefix("API Error: ")?;
    let (status, message) = rest.split_once(' ')?;
    let status: u16 = status.parse().ok()?;
    let message = message.split_once(". This is a server-side issue").map_or(message, |(message, _)| message);
    Some((Some(status), message.to_owned()))
}
