//! Claude Code's stream-json, read for what it proves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Ask, AskEnd, Block, Evidence, HostRequest, OddKind, Owner, Piece, PieceKind, Place, Receipt, ResultFacts, Task};
use crate::{
    history::{Happening, What},
    view::Outcome,
};

const TYPES: &[&str] = &[
    "assistant",
    "auth_status",
    "command_lifecycle",
    "control_cancel_request",
    "control_request",
    "control_response",
    "conversation_reset",
    "keep_alive",
    "rate_limit_event",
    "result",
    "stream_event",
    "system",
    "tool_progress",
    "user",
];
const SYSTEM_SUBTYPES: &[&str] = &[
    "api_retry",
    "background_tasks_changed",
    "command_lifecycle",
    "compact_boundary",
    "informational",
    "init",
    "model_refusal_no_fallback",
    "session_state_changed",
    "session_title_changed",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
];

/// Why a frame must have no effect, if it must have none.
pub(super) fn oddness(frame: &Value, genuine: bool, pid: u32, earlier: &[Happening]) -> Option<OddKind> {
    if frame.is_null() {
        return Some(OddKind::Malformed);
    }
    let word = frame["type"].as_str().unwrap_or_default();
    let subtype = frame["subtype"].as_str().unwrap_or_default();
    if !TYPES.contains(&word) || (word == "system" && !SYSTEM_SUBTYPES.contains(&subtype)) {
        return Some(OddKind::Unknown);
    }
    if genuine {
        return None;
    }
    let same = |happening: &Happening| match &happening.what {
        What::Said { pid: by, frame: said, genuine, .. } => *by == pid && *genuine && said == frame,
        _ => false,
    };
    Some(if earlier.iter().rev().any(same) { OddKind::Repeated } else { OddKind::Made })
}

/// What has to be remembered of one process between its frames.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Message that is streamed now.
    message: String,
    /// Per message and block number: the block.
    streamed: BTreeMap<String, BTreeMap<u64, usize>>,
    /// Messages taken and not ended.
    started: Vec<usize>,
    /// Whether it works on something that nobody asked for.
    unasked: bool,
    /// Typed fork that no result has closed.
    fork: Option<usize>,
    /// Tool calls said.
    tools: BTreeSet<String>,
}

impl Reader {
    pub(super) fn said(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        self.follow_session(evidence, place, frame);
        match frame["type"].as_str().unwrap_or_default() {
            "system" => self.system(evidence, place, frame),
            "command_lifecycle" => self.lifecycle(evidence, place, frame),
            "stream_event" => self.stream(evidence, place, frame),
            "assistant" => self.assistant(evidence, place, frame),
            "user" => self.user(evidence, place, frame),
            "result" => self.result(evidence, place, frame),
            "control_request" => asked(evidence, place, frame, true),
            "control_cancel_request" => {
                let id = frame["request_id"].as_str().unwrap_or_default();
                for ask in evidence.asks.iter_mut().filter(|ask| ask.pid == place.pid && ask.id == id) {
                    ask.end(place.at, AskEnd::Cancelled);
                }
            }
            "control_response" => {
                let id = frame["response"]["request_id"].as_str().unwrap_or_default();
                for request in evidence.requests.iter_mut().filter(|request| request.pid == place.pid && request.id == id) {
                    request.answered_at.get_or_insert(place.at);
                }
            }
            _ => {}
        }
        let running = self.unasked || !self.started.is_empty();
        if let Some(process) = evidence.process_mut(place.pid) {
            process.running = running && process.is_alive();
        }
    }

    /// A frame of the plan proves nothing; but the host cannot know that, so a question in it may be answered.
    pub(super) fn said_falsely(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        if frame["type"] == "control_request" {
            asked(evidence, place, frame, false);
        }
    }

    fn follow_session(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let Some(named) = frame["session_id"].as_str() else { return };
        let Some(process) = evidence.process_mut(place.pid) else { return };
        if !process.named_session {
            process.named_session = true;
            match &process.session {
                Some(wanted) if wanted != named => process.mismatch = Some((wanted.clone(), named.to_string())),
                _ => {}
            }
        } else if frame["subtype"] != "init" {
            // Only an init changes the session: the frame that resets a conversation still carries the old one.
            return;
        }
        if process.session.as_deref() != Some(named) {
            process.session = Some(named.to_string());
        }
    }

    fn system(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        match frame["subtype"].as_str().unwrap_or_default() {
            "init" => self.works(),
            "command_lifecycle" => self.lifecycle(evidence, place, frame),
            "task_started" => self.task_started(evidence, place, frame),
            "task_notification" => task_status(evidence, place, frame, &frame["status"]),
            "task_updated" => task_status(evidence, place, frame, &frame["patch"]["status"]),
            _ => {}
        }
    }

    fn works(&mut self) {
        self.unasked = self.unasked || self.started.is_empty();
    }

    fn lifecycle(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        if let Some(process) = evidence.process_mut(place.pid) {
            process.reports = true;
        }
        let uuid = frame["command_uuid"].as_str().unwrap_or_default();
        let Some((number, receipt)) = receipt(evidence, place.pid, uuid) else { return };
        match frame["state"].as_str().unwrap_or_default() {
            "started" => self.takes(number, receipt, place.at),
            "completed" => {
                receipt.consumed_at.get_or_insert(place.at);
                self.started.retain(|started| *started != number);
            }
            "cancelled" | "canceled" | "failed" => {
                if receipt.consumed_at.is_none() {
                    receipt.returned_at.get_or_insert(place.at);
                }
                self.started.retain(|started| *started != number);
            }
            _ => {}
        }
    }

    fn takes(&mut self, number: usize, receipt: &mut Receipt, at: u64) {
        receipt.consumed_at.get_or_insert(at);
        if receipt.ended_at.is_none() && !self.started.contains(&number) {
            self.started.push(number);
            self.unasked = false;
        }
    }

    fn task_started(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let id = either(frame, "task_id", "taskId");
        if evidence.tasks.iter().any(|task| task.pid == place.pid && task.id == id) {
            return;
        }
        let tool = frame["tool_use_id"].as_str().or_else(|| frame["toolUseId"].as_str()).map(str::to_string);
        let typed_fork = tool.is_none() && frame["description"].as_str().is_some_and(|words| words.starts_with('/'));
        let number = evidence.tasks.len();
        evidence.tasks.push(Task {
            id: id.to_string(),
            pid: place.pid,
            tool,
            typed_fork,
            started: place,
            ended: None,
            closed: None,
        });
        if typed_fork {
            self.close_fork(evidence, place);
            self.fork = Some(number);
            piece(evidence, place, false, PieceKind::Fork(number));
        }
    }

    fn close_fork(&mut self, evidence: &mut Evidence, place: Place) {
        if let Some(number) = self.fork.take() {
            evidence.tasks[number].closed = Some(place.index);
        }
    }

    fn stream(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let event = &frame["event"];
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.works();
                self.message = event["message"]["id"].as_str().unwrap_or_default().to_string();
            }
            "content_block_delta" => {
                let thinking = match event["delta"]["type"].as_str() {
                    Some("text_delta") => false,
                    Some("thinking_delta") => true,
                    _ => return,
                };
                self.delta(evidence, place, event["index"].as_u64().unwrap_or_default(), thinking);
            }
            "message_stop" => {
                let abandoned = &frame["abandoned_blocks"];
                let message = abandoned["api_message_id"].as_str().unwrap_or(&self.message);
                let Some(from) = abandoned["from_block_index"].as_u64() else { return };
                let Some(blocks) = self.streamed.get_mut(message) else { return };
                for block in blocks.split_off(&from).values() {
                    evidence.blocks[*block].taken_back = Some(place.at);
                }
            }
            _ => {}
        }
    }

    fn delta(&mut self, evidence: &mut Evidence, place: Place, number: u64, thinking: bool) {
        let message = self.streamed.entry(self.message.clone()).or_default();
        let block = *message.entry(number).or_insert_with(|| {
            let taken_back = None;
            evidence.blocks.push(Block { message: self.message.clone(), number, thinking, taken_back, deltas: Vec::new() });
            evidence.blocks.len() - 1
        });
        if evidence.blocks[block].deltas.is_empty() {
            piece(evidence, place, false, PieceKind::Block(block));
        }
        evidence.blocks[block].deltas.push(place.index);
        if !thinking {
            visible(evidence, place);
        }
    }

    fn assistant(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let tagged = frame["parent_tool_use_id"].is_string();
        if !tagged {
            self.works();
        }
        let failed = frame["is_api_error_message"] == true || frame["error"].is_string();
        let message = frame["message"]["id"].as_str().unwrap_or_default();
        let content = &frame["message"]["content"];
        for number in 0..count(content) {
            let block = if content.is_string() { content } else { &content[number] };
            let kind = match block["type"].as_str() {
                Some("tool_use") if self.tools.insert(block["id"].as_str().unwrap_or_default().to_string()) => {
                    PieceKind::ToolUse(number)
                }
                Some("thinking") if tagged || !self.was_streamed(evidence, message, true) => PieceKind::Thinking(number),
                Some("text") if failed => PieceKind::ApiError(number),
                Some("text") if tagged || !self.was_streamed(evidence, message, false) => PieceKind::Text(number),
                None if block.is_string() => PieceKind::Text(number),
                _ => continue,
            };
            piece(evidence, place, tagged, kind);
            if !tagged && !matches!(kind, PieceKind::Thinking(_)) {
                visible(evidence, place);
            }
        }
    }

    /// Whether text (or thinking) of the message came as deltas: the frame that holds it whole then adds nothing.
    fn was_streamed(&self, evidence: &Evidence, message: &str, thinking: bool) -> bool {
        let blocks = self.streamed.get(message);
        blocks.is_some_and(|blocks| blocks.values().any(|block| evidence.blocks[*block].thinking == thinking))
    }

    fn user(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let tagged = frame["parent_tool_use_id"].is_string();
        if frame["isReplay"] == true {
            let uuid = frame["uuid"].as_str().unwrap_or_default();
            if let Some((number, receipt)) = receipt(evidence, place.pid, uuid) {
                self.takes(number, receipt, place.at);
            }
            return;
        }
        let content = &frame["message"]["content"];
        for number in 0..count(content) {
            let block = if content.is_string() { content } else { &content[number] };
            match block["type"].as_str() {
                Some("tool_result") => piece(evidence, place, tagged, PieceKind::ToolResult(number)),
                Some("text") | None if tagged => piece(evidence, place, true, PieceKind::UserText(number)),
                _ => {}
            }
        }
    }

    fn result(&mut self, evidence: &mut Evidence, place: Place, frame: &Value) {
        let mut names = Vec::new();
        let mut foreign = false;
        let mut late = true;
        let listed = frame["user_message_uuids"].as_array().into_iter().flatten();
        for uuid in listed.chain([&frame["user_message_uuid"]]).filter_map(Value::as_str) {
            let Some((number, receipt)) = receipt(evidence, place.pid, uuid) else {
                foreign = true;
                continue;
            };
            if names.contains(&number) {
                continue;
            }
            late &= receipt.ended_at.is_some();
            receipt.consumed_at.get_or_insert(place.at);
            receipt.ended_at.get_or_insert(place.at);
            names.push(number);
        }
        let owner = match (names.is_empty(), late) {
            (false, false) => Owner::Messages,
            (false, true) => Owner::Late,
            (true, _) if foreign || frame["origin"].is_object() => Owner::Background,
            (true, _) => Owner::Nobody,
        };
        let meaning = self.meaning(evidence, frame);
        if owner == Owner::Nobody {
            self.started.clear();
        }
        self.started.retain(|started| !names.contains(started));
        self.unasked = false;
        if matches!(owner, Owner::Messages | Owner::Nobody) {
            self.close_fork(evidence, place);
        }
        for ask in evidence.asks.iter_mut().filter(|ask| ask.pid == place.pid && !ask.by_child) {
            ask.end(place.at, AskEnd::TurnOver);
        }
        let Place { at, index, pid } = place;
        evidence.results.push(ResultFacts { at, index, pid, names, owner, meaning });
    }

    /// A result by its meaning, not by its first word: a success may be an error, and only the task's own status tells that a
    /// typed fork was stopped.
    fn meaning(&self, evidence: &Evidence, frame: &Value) -> Outcome {
        let aborted = frame["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted_"));
        let fork = self.fork.and_then(|number| evidence.tasks[number].ended);
        if aborted {
            Outcome::Interrupted
        } else if frame["is_error"] == true || frame["subtype"] != "success" {
            Outcome::Failed
        } else if fork.is_some_and(|(_, _, outcome)| outcome == Outcome::Interrupted) {
            Outcome::Interrupted
        } else {
            Outcome::Completed
        }
    }
}

/// A line that the process read.
pub(super) fn heard(evidence: &mut Evidence, place: Place, frame: &Value) {
    let Place { at, index, pid } = place;
    match frame["type"].as_str().unwrap_or_default() {
        "user" => {
            let Some(uuid) = frame["uuid"].as_str() else { return };
            let number = evidence.message_index(uuid);
            let (consumed_at, returned_at, ended_at) = (None, None, None);
            evidence.messages[number].receipts.push(Receipt { at, pid, index, consumed_at, returned_at, ended_at });
        }
        "control_request" => {
            let request = &frame["request"];
            evidence.requests.push(HostRequest {
                id: frame["request_id"].as_str().unwrap_or_default().to_string(),
                pid,
                subtype: request["subtype"].as_str().unwrap_or_default().to_string(),
                at,
                message: request["message_uuid"].as_str().map(str::to_string),
                answered_at: None,
            });
        }
        "control_response" => {
            let id = frame["response"]["request_id"].as_str().unwrap_or_default();
            let grants = frame["response"]["response"]["behavior"] == "allow";
            match evidence.asks.iter_mut().find(|ask| ask.pid == pid && ask.id == id) {
                Some(ask) => {
                    ask.answers.push((at, grants));
                    ask.end(at, AskEnd::Answered);
                }
                None => evidence.unasked.push((pid, at, id.to_string())),
            }
        }
        _ => {}
    }
}

fn asked(evidence: &mut Evidence, place: Place, frame: &Value, genuine: bool) {
    let id = frame["request_id"].as_str().unwrap_or_default();
    // The same request said again is still one request.
    if evidence.asks.iter().any(|ask| ask.pid == place.pid && ask.id == id) {
        return;
    }
    evidence.asks.push(Ask {
        id: id.to_string(),
        pid: place.pid,
        at: place.at,
        by_child: frame["request"]["agent_id"].is_string(),
        genuine,
        answers: Vec::new(),
        ended: None,
    });
}

fn task_status(evidence: &mut Evidence, place: Place, frame: &Value, status: &Value) {
    let id = either(frame, "task_id", "taskId");
    let outcome = match status.as_str().unwrap_or_default() {
        "completed" | "complete" | "succeeded" | "success" => Outcome::Completed,
        "failed" | "errored" | "error" => Outcome::Failed,
        "killed" | "cancelled" | "canceled" | "stopped" | "interrupted" => Outcome::Interrupted,
        _ => return,
    };
    if let Some(task) = evidence.tasks.iter_mut().find(|task| task.pid == place.pid && task.id == id) {
        task.ended.get_or_insert((place.at, place.index, outcome));
    }
}

/// The receipt of a message by this process; of one that was received by an earlier process of the session, its last.
fn receipt<'a>(evidence: &'a mut Evidence, pid: u32, uuid: &str) -> Option<(usize, &'a mut Receipt)> {
    let number = *evidence.by_id.get(uuid)?;
    let receipts = &mut evidence.messages[number].receipts;
    let position = receipts.iter().rposition(|receipt| receipt.pid == pid).or(receipts.len().checked_sub(1))?;
    Some((number, &mut receipts[position]))
}

fn either<'a>(frame: &'a Value, one: &str, other: &str) -> &'a str {
    frame[one].as_str().or_else(|| frame[other].as_str()).unwrap_or_default()
}

fn count(content: &Value) -> usize {
    if content.is_string() { 1 } else { content.as_array().map_or(0, Vec::len) }
}

fn piece(evidence: &mut Evidence, place: Place, tagged: bool, kind: PieceKind) {
    evidence.pieces.push(Piece { place, tagged, kind });
}

fn visible(evidence: &mut Evidence, place: Place) {
    if let Some(process) = evidence.process_mut(place.pid) {
        process.visible_at = Some(place.at);
    }
}
