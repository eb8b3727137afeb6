//! The scenario that a capture implies: user actions derived from its host lines, each at its recorded place.
//!
//! "Place" means: when the frame that the recording has before the host's line has reached the host, and then the recorded time
//! later. A line that no host would write makes the scene *raw*: the stage writes it itself.

use std::collections::BTreeSet;

use captures::format::{Capture, From, Stream, What};
use scenarios::{
    Plan,
    plan::{Moment, Perturbation, StepName},
};
use serde_json::Value;

use super::director::{Cue, Direct, Director};
use crate::{
    history::UserAction,
    host::{ChatSetup, HostCall},
};

/// Chat that implied scenarios play in.
pub const CHAT: &str = "main";

/// One happening from outside and its place.
#[derive(Clone, Debug)]
struct Place {
    /// Label after which it comes; none: the start of the run.
    after: Option<String>,
    /// How long after, ms.
    delay: u64,
    what: Outside,
}

#[derive(Clone, Debug)]
enum Outside {
    Act(UserAction),
    Signal(String),
    Write(Vec<u8>),
    CloseStdin,
}

/// Plays a capture's host side.
pub struct Implied {
    /// The recording's host had switched the provider's own subagents off.
    switch_off: bool,
    setup: Option<ChatSetup>,
    /// A raw scene needs a host that starts the process: its first message, whose line is not sent on.
    opening: Option<UserAction>,
    places: std::collections::VecDeque<Place>,
    raw: Option<String>,
}

/// Why a capture's host side is one that no host would write, if it is.
pub fn raw_reason(capture: &Capture) -> Option<String> {
    let mut asks = false;
    for entry in capture.entries.iter().filter(|entry| entry.from == From::Host) {
        match &entry.what {
            What::Raw(line) => return Some(format!("its host wrote a line that is no JSON: {line}")),
            What::Frame(frame) => match frame["type"].as_str() {
                Some("user") if !frame["uuid"].is_string() => {
                    return Some("its host wrote a message without a uuid".to_owned());
                }
                Some("user") => asks = true,
                Some("control_response") => {}
                Some("control_request") => {
                    let subtype = frame["request"]["subtype"].as_str().unwrap_or_default();
                    if !matches!(subtype, "initialize" | "interrupt" | "cancel_async_message") {
                        return Some(format!("its host wrote the control request `{subtype}`"));
                    }
                }
                other => return Some(format!("its host wrote a line of type {}", other.unwrap_or("none"))),
            },
            _ => {}
        }
    }
    (!asks).then(|| "its host sent no message".to_owned())
}

/// What the launch of a capture says about the chat.
pub fn setup(capture: &Capture) -> ChatSetup {
    let launch = &capture.header.launch;
    let value = |name: &str| {
        launch.iter().enumerate().find_map(|(at, arg)| match arg.strip_prefix(name) {
            Some("") => launch.get(at + 1).cloned(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        })
    };
    let resume = value("--resume");
    ChatSetup {
        chat: CHAT.to_owned(),
        cwd: "/home/dev/project".to_owned(),
        model: value("--model"),
        bypass_permissions: value("--permission-mode").as_deref() == Some("bypassPermissions"),
        require_session: resume.is_some(),
        resume,
        parent: None,
    }
}

/// Whether the capture's host had switched the provider's own subagents off.
pub fn subagents_off(capture: &Capture) -> bool {
    capture.header.launch.iter().any(|word| word.starts_with("--disallowedTools"))
}

impl Implied {
    /// The host side of `capture`; `id` gives fresh message ids.
    pub fn new(capture: &Capture, mut id: impl FnMut() -> String) -> Self {
        let raw = raw_reason(capture);
        let mut reader = Reader { id: &mut id, running: BTreeSet::new(), messages: Vec::new(), raw: raw.is_some() };
        let labels = capture.labels();
        let mut places = std::collections::VecDeque::new();
        let mut last: (Option<String>, f64) = (None, 0.0);
        // Host lines of one moment keep their recorded distance to the frame before them.
        for (entry, label) in capture.entries.iter().zip(labels) {
            match &entry.from {
                From::Cli => {
                    if let What::Frame(frame) = &entry.what {
                        reader.said(frame);
                    }
                    if label.is_some() {
                        last = (label, entry.at_ms);
                    }
                }
                From::Host | From::World => {
                    if let Some(what) = reader.outside(&entry.what) {
                        let delay = (entry.at_ms - last.1).max(0.0).round() as u64;
                        places.push_back(Place { after: last.0.clone(), delay, what });
                    }
                }
            }
        }
        let opening = raw.is_some().then(|| UserAction::Send { chat: CHAT.to_owned(), message: id(), text: "raw".to_owned() });
        Implied { switch_off: subagents_off(capture), setup: Some(setup(capture)), opening, places, raw }
    }

    /// Moves what the user does as a plan says; steps are numbered from 1 in the order of the recording.
    pub fn moved(mut self, plan: &Plan) -> Self {
        for perturbation in &plan.perturb {
            let Perturbation::User { step: StepName::Number(number), to } = perturbation else { continue };
            let Some(place) = self.places.get_mut((*number as usize).saturating_sub(1)) else { continue };
            match to {
                Moment::After(beat) => {
                    place.after = Some(beat.label.clone());
                    place.delay = 0;
                }
                Moment::Later(by) => place.delay += by.as_millis() as u64,
            }
        }
        self
    }

    /// Why the scene is raw, if it is.
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_deref()
    }
}

struct Reader<'a> {
    id: &'a mut dyn FnMut() -> String,
    running: BTreeSet<String>,
    /// Recorded uuid of a message → the id it has here.
    messages: Vec<(String, String)>,
    raw: bool,
}

impl Reader<'_> {
    fn said(&mut self, frame: &Value) {
        if let (Some(uuid), Some(state)) = (frame["command_uuid"].as_str(), frame["state"].as_str()) {
            match state {
                "started" => {
                    self.running.insert(uuid.to_owned());
                }
                "queued" => {}
                _ => {
                    self.running.remove(uuid);
                }
            }
        }
    }

    fn outside(&mut self, what: &What) -> Option<Outside> {
        if self.raw {
            return match what {
                What::Frame(frame) => Some(Outside::Write(format!("{frame}\n").into_bytes())),
                What::Raw(line) => Some(Outside::Write(format!("{line}\n").into_bytes())),
                What::Close(Stream::Stdin) => Some(Outside::CloseStdin),
                What::Signal(signal) => Some(Outside::Signal(signal.clone())),
                _ => None,
            };
        }
        let chat = CHAT.to_owned();
        match what {
            What::Signal(signal) => Some(Outside::Signal(signal.clone())),
            What::Close(Stream::Stdin) => Some(Outside::Act(UserAction::Close { chat })),
            What::Frame(frame) => match frame["type"].as_str()? {
                "user" => {
                    let message = (self.id)();
                    if let Some(uuid) = frame["uuid"].as_str() {
                        self.messages.push((uuid.to_owned(), message.clone()));
                    }
                    Some(Outside::Act(UserAction::Send { chat, message, text: text(&frame["message"]["content"]) }))
                }
                "control_request" => match frame["request"]["subtype"].as_str()? {
                    // With nothing running only a Stop interrupts: it kills the run and its background work.
                    "interrupt" if self.running.is_empty() => Some(Outside::Act(UserAction::Stop { chat })),
                    "interrupt" => Some(Outside::Act(UserAction::StopTurn { chat })),
                    "cancel_async_message" => {
                        let uuid = frame["request"]["message_uuid"].as_str()?;
                        let message = self.messages.iter().find(|(captured, _)| captured == uuid)?.1.clone();
                        Some(Outside::Act(UserAction::Withdraw { chat, message }))
                    }
                    _ => None,
                },
                "control_response" => Some(Outside::Act(UserAction::Answer { chat, answers: answers(frame) })),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What the human clicked, from the answer that the recording's host wrote.
fn answers(frame: &Value) -> Vec<String> {
    let response = &frame["response"]["response"];
    if let Some(answers) = response["updatedInput"]["answers"].as_object() {
        return answers.values().filter_map(|answer| answer.as_str().map(str::to_owned)).collect();
    }
    let label = match response["behavior"].as_str() {
        Some("allow") if !response["updatedPermissions"].is_null() => "Allow always",
        Some("allow") => "Allow once",
        _ if response["interrupt"].as_bool() == Some(true) => "Deny and stop",
        // Words of the human's own are a denial with a reason.
        _ => response["message"].as_str().unwrap_or("Deny"),
    };
    vec![label.to_owned()]
}

/// Text of a user message.
pub fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

impl Director for Implied {
    fn next(&mut self, cue: &Cue<'_>) -> Direct {
        if std::mem::take(&mut self.switch_off) {
            let params = serde_json::json!({"harness": "claude-code", "on": false});
            return Direct::Call(0, HostCall::Rpc { method: "SetNativeSubagents".to_owned(), params });
        }
        if let Some(setup) = self.setup.take() {
            return Direct::Create(setup);
        }
        if let Some(opening) = self.opening.take() {
            return Direct::Act(opening);
        }
        let Some(place) = self.places.front() else { return Direct::Finished };
        let process = cue.processes.values().next();
        let since = match &place.after {
            None if self.raw.is_some() && process.is_none() => return Direct::Wait(None),
            None => Some(0),
            Some(label) => process.and_then(|process| process.said.get(label).copied()),
        };
        let Some(since) = since else { return Direct::Wait(None) };
        let due = since + place.delay;
        if due > cue.now {
            return Direct::Wait(Some(due));
        }
        let pid = process.map_or(0, |process| process.pid);
        match self.places.pop_front().map(|place| place.what) {
            Some(Outside::Act(action)) => Direct::Act(action),
            Some(Outside::Signal(signal)) => Direct::Signal { pid, signal },
            Some(Outside::Write(bytes)) => Direct::Write { pid, bytes },
            Some(Outside::CloseStdin) => Direct::CloseStdin { pid },
            None => Direct::Finished,
        }
    }

    /// The host did otherwise than the recording's, so the frame that this place names never comes. What the user did there
    /// is done when all is quiet: the protocol model carries on.
    fn go_on(&mut self) -> bool {
        match self.places.front_mut() {
            Some(place) if place.after.is_some() => {
                place.after = None;
                place.delay = 0;
                true
            }
            _ => false,
        }
    }

    fn waits_for(&self) -> Option<String> {
        let place = self.places.front()?;
        Some(format!("the recording goes on after `{}`, which was never said", place.after.as_deref().unwrap_or("the start")))
    }
}
