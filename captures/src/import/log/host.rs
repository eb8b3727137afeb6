//! The host's lines where a log holds stdout alone: made up from what the CLI says about them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Happening;
use crate::{
    format::{From, What},
    ids::made_up,
};

/// The text of a message that the CLI names and does not repeat.
const UNKNOWN_TEXT: &str = "(a message that the log does not hold)";

/// Puts in the host's lines if there are none; the words to say, if some were made up.
pub(super) fn complete(happenings: Vec<Happening>) -> (Vec<Happening>, Option<String>) {
    if happenings.iter().any(|happening| happening.from == From::Host) {
        return (happenings, None);
    }
    let mut maker = Maker::new(&happenings);
    let mut before: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for (index, happening) in happenings.iter().enumerate() {
        if let Some(frame) = happening.what.frame() {
            for (place, line) in maker.lines(index, frame) {
                before.entry(place).or_default().push(line);
            }
        }
    }
    let mut all = Vec::with_capacity(happenings.len());
    for (index, happening) in happenings.into_iter().enumerate() {
        let lines = before.remove(&index).unwrap_or_default().into_iter();
        all.extend(lines.map(|frame| Happening {
            line: happening.line,
            at: happening.at,
            from: From::Host,
            what: What::Frame(frame),
        }));
        all.push(happening);
    }
    let words = maker.words();
    (all, (!words.is_empty()).then_some(words))
}

struct Maker {
    /// What each message said, by uuid.
    texts: BTreeMap<String, Value>,
    /// The CLI says of each message what becomes of it.
    lifecycle: bool,
    written: BTreeSet<String>,
    asked: BTreeSet<String>,
    /// Requests of the CLI.
    requests: BTreeSet<String>,
    /// Where the turn that runs began; none between turns.
    turn: Option<usize>,
    last_cancelled: Option<String>,
    uuid: Box<dyn FnMut() -> String>,
    replayed: usize,
    unknown: usize,
    control: usize,
}

impl Maker {
    fn new(happenings: &[Happening]) -> Maker {
        let frames = || happenings.iter().filter_map(|happening| happening.what.frame());
        let replays = frames().filter(|frame| frame["type"] == "user" && frame["isReplay"] == true);
        let seed = frames().find_map(|frame| frame["session_id"].as_str()).unwrap_or_default();
        Maker {
            texts: replays
                .filter_map(|frame| Some((frame["uuid"].as_str()?.to_owned(), frame["message"]["content"].clone())))
                .collect(),
            lifecycle: frames().any(|frame| frame["type"] == "command_lifecycle"),
            written: BTreeSet::new(),
            asked: BTreeSet::new(),
            requests: BTreeSet::new(),
            turn: None,
            last_cancelled: None,
            uuid: Box::new(made_up(seed)),
            replayed: 0,
            unknown: 0,
            control: 0,
        }
    }

    /// The host's lines that this frame shows to have been written, each with the index before which it stands.
    fn lines(&mut self, index: usize, frame: &Value) -> Vec<(usize, Value)> {
        let mut lines = Vec::new();
        match (frame["type"].as_str(), frame["subtype"].as_str()) {
            (Some("command_lifecycle"), _) => {
                let uuid = frame["command_uuid"].as_str().unwrap_or_default().to_owned();
                if frame["state"] == "cancelled" {
                    self.last_cancelled = Some(uuid.clone());
                }
                lines.extend(self.message(uuid).map(|line| (index, line)));
            }
            (Some("system"), Some("init")) => {
                self.turn = Some(index);
            }
            (Some("user"), _) if frame["isReplay"] == true && !self.lifecycle => {
                let uuid = frame["uuid"].as_str().map_or_else(&mut self.uuid, str::to_owned);
                let place = self.turn.take().unwrap_or(index);
                lines.extend(self.message(uuid).map(|line| (place, line)));
            }
            // A turn that nothing says the message of; one that a task's end began has an origin.
            (Some("result"), _) => {
                if let Some(place) = self.turn.take().filter(|_| !self.lifecycle && frame.get("origin").is_none()) {
                    let uuid = (self.uuid)();
                    lines.extend(self.message(uuid).map(|line| (place, line)));
                }
            }
            (Some("control_request"), _) => {
                self.requests.extend(frame["request_id"].as_str().map(str::to_owned));
            }
            (Some("control_response"), _) => lines.extend(self.answered(frame).map(|line| (index, line))),
            _ => {}
        }
        lines
    }

    fn message(&mut self, uuid: String) -> Option<Value> {
        if !self.written.insert(uuid.clone()) {
            return None;
        }
        let content = self.texts.get(&uuid).cloned();
        if content.is_some() {
            self.replayed += 1
        } else {
            self.unknown += 1
        }
        let content = content.unwrap_or_else(|| json!([{"type": "text", "text": UNKNOWN_TEXT}]));
        Some(json!({
            "type": "user", "message": {"role": "user", "content": content},
            "parent_tool_use_id": null, "session_id": "", "uuid": uuid,
        }))
    }

    /// The host's own answer, which the CLI echoes, or the request that the CLI answers.
    fn answered(&mut self, frame: &Value) -> Option<Value> {
        let id = frame["response"]["request_id"].as_str()?.to_owned();
        if !self.asked.insert(id.clone()) {
            return None;
        }
        self.control += 1;
        if self.requests.contains(&id) {
            return Some(frame.clone());
        }
        let answer = &frame["response"]["response"];
        let request = if answer.get("still_queued").is_some() {
            let queue = answer.get("cancelled").is_some();
            if queue { json!({"subtype": "interrupt", "cancel_queued": true}) } else { json!({"subtype": "interrupt"}) }
        } else if answer.get("commands").is_some() {
            json!({"subtype": "initialize"})
        } else if answer["cancelled"].is_boolean() {
            json!({"subtype": "cancel_async_message", "message_uuid": self.last_cancelled})
        } else {
            json!({"subtype": "unknown_to_the_log"})
        };
        Some(json!({"type": "control_request", "request_id": id, "request": request}))
    }

    fn words(&self) -> String {
        let counts = [
            (self.replayed, "messages from their replays"),
            (self.unknown, "messages whose text nobody knows"),
            (self.control, "control lines from their answers"),
        ];
        let made: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if made.is_empty() { String::new() } else { format!("none in the log, made up: {}", made.join(", ")) }
    }
}
