//! Cues: what a host must do for a tape to go on. Only behaviour-bearing fields are compared; words, ids and key order are the
//! host's own.

use std::collections::BTreeSet;

use captures::format::{Entry, From, Header, Stream, What};
use serde_json::Value;

use crate::understudy::Launch;

/// One thing that the recording's host (or the world) did.
#[derive(Debug)]
pub enum Cue {
    /// A user message.
    Prompt {
        uuid: Option<String>,
        /// Compared only while something ran: an idle CLI takes every message at once.
        priority: Option<String>,
    },
    /// A control request, by its subtype.
    Control { id: Option<String>, subtype: String, cancel_queued: Option<bool>, message: Option<String> },
    /// An answer to a request of the CLI.
    Answer { behavior: String, interrupt: bool, lasting: bool },
    /// A line of another kind, or no JSON.
    Other(Value),
    /// stdin was closed.
    CloseStdin,
    /// A signal of the world.
    Signal(String),
}

/// Ids of the recording's host, bound to those of this run.
pub type Binding = Vec<(String, String)>;

/// Reads the cues of a capture in order, and knows what ran at each.
#[derive(Default)]
pub struct Reader {
    running: BTreeSet<String>,
    queued: BTreeSet<String>,
}

impl Reader {
    /// A record that the CLI said.
    pub fn said(&mut self, frame: &Value) {
        if frame["type"] == "result" {
            // From its result on a turn no longer decides how a message is taken; its `completed` follows within 2 ms.
            self.running.clear();
        }
        let (Some(uuid), Some(state)) = (frame["command_uuid"].as_str(), frame["state"].as_str()) else { return };
        self.queued.remove(uuid);
        match state {
            "queued" => {
                self.queued.insert(uuid.to_owned());
            }
            "started" => {
                self.running.insert(uuid.to_owned());
            }
            _ => {
                self.running.remove(uuid);
            }
        }
    }

    /// What a host or world entry is as a cue.
    pub fn cue(&mut self, entry: &Entry) -> Option<Cue> {
        match (&entry.from, &entry.what) {
            (From::World, What::Signal(signal)) => Some(Cue::Signal(signal.clone())),
            (_, What::Close(Stream::Stdin)) => Some(Cue::CloseStdin),
            (_, What::Frame(frame)) => Some(self.line(frame)),
            (_, What::Raw(line)) => Some(Cue::Other(serde_json::json!({ "raw": line }))),
            _ => None,
        }
    }

    fn line(&self, frame: &Value) -> Cue {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match frame["type"].as_str() {
            Some("user") => Cue::Prompt {
                uuid: text(&frame["uuid"]),
                // No priority is `next`, as the CLI has it.
                priority: (!self.running.is_empty()).then(|| text(&frame["priority"]).unwrap_or_else(|| "next".to_owned())),
            },
            Some("control_request") => {
                let request = &frame["request"];
                Cue::Control {
                    id: text(&frame["request_id"]),
                    subtype: text(&request["subtype"]).unwrap_or_default(),
                    cancel_queued: (!self.queued.is_empty()).then(|| request["cancel_queued"].as_bool().unwrap_or(false)),
                    message: text(&request["message_uuid"]),
                }
            }
            Some("control_response") => {
                let (behavior, interrupt, lasting) = answer(frame);
                Cue::Answer { behavior, interrupt, lasting }
            }
            _ => Cue::Other(frame.clone()),
        }
    }
}

fn answer(frame: &Value) -> (String, bool, bool) {
    let response = &frame["response"]["response"];
    (
        response["behavior"].as_str().unwrap_or_default().to_owned(),
        response["interrupt"].as_bool().unwrap_or(false),
        !response["updatedPermissions"].is_null(),
    )
}

impl Cue {
    /// Whether the recording's host closed stdin here.
    pub fn is_stdin_close(&self) -> bool {
        matches!(self, Cue::CloseStdin)
    }

    /// Whether the recording's host asked to initialize here.
    pub fn is_initialize(&self) -> bool {
        matches!(self, Cue::Control { subtype, .. } if subtype == "initialize")
    }

    /// Whether the world sent this signal here.
    pub fn is_signal(&self, name: &str) -> bool {
        matches!(self, Cue::Signal(signal) if signal == name)
    }

    /// Whether a host line does what the recording's host did; the error says how it differs.
    pub fn matches(&self, line: &Value) -> Result<Binding, String> {
        let kind = line["type"].as_str().unwrap_or("a line that is no JSON");
        match self {
            Cue::Prompt { uuid, priority } if kind == "user" => {
                if let Some(expected) = priority {
                    let given = line["priority"].as_str().unwrap_or("next");
                    if given != expected {
                        return Err(format!(
                            "the recording's host sent this message with priority `{expected}`, this one with `{given}`"
                        ));
                    }
                }
                match (uuid, line["uuid"].as_str()) {
                    (Some(captured), Some(actual)) => Ok(vec![(captured.clone(), actual.to_owned())]),
                    (None, None) => Ok(Vec::new()),
                    (Some(_), None) => Err("the recording's host gave its message a uuid, this one did not".to_owned()),
                    (None, Some(_)) => Err("the recording's host gave its message no uuid, this one did".to_owned()),
                }
            }
            Cue::Control { id, subtype, cancel_queued, message } if kind == "control_request" => {
                let request = &line["request"];
                let given = request["subtype"].as_str().unwrap_or_default();
                if given != subtype {
                    return Err(format!("the recording's host asked for `{subtype}`, this one for `{given}`"));
                }
                let takes_back = request["cancel_queued"].as_bool().unwrap_or(false);
                if cancel_queued.is_some_and(|expected| expected != takes_back) {
                    return Err(format!(
                        "a message is queued: the recording's host interrupted with cancel_queued {}, this one with {takes_back}",
                        !takes_back
                    ));
                }
                let mut binding = Vec::new();
                for (captured, actual) in [(id, &line["request_id"]), (message, &request["message_uuid"])] {
                    if let (Some(captured), Some(actual)) = (captured, actual.as_str()) {
                        binding.push((captured.clone(), actual.to_owned()));
                    }
                }
                Ok(binding)
            }
            Cue::Answer { behavior, interrupt, lasting } if kind == "control_response" => {
                if (behavior.clone(), *interrupt, *lasting) == answer(line) {
                    Ok(Vec::new())
                } else {
                    Err(format!("the recording's host answered `{behavior}`, this one otherwise"))
                }
            }
            Cue::Other(expected) if expected == line || (line["raw"].is_string() && expected["raw"].is_string()) => {
                Ok(Vec::new())
            }
            other => Err(format!("the recording's host went on with {}, this one with {kind}", other.words())),
        }
    }

    fn words(&self) -> String {
        match self {
            Cue::Prompt { .. } => "a user message".to_owned(),
            Cue::Control { subtype, .. } => format!("the control request `{subtype}`"),
            Cue::Answer { behavior, .. } => format!("the answer `{behavior}`"),
            Cue::Other(line) => format!("a line of type {}", line["type"]),
            Cue::CloseStdin => "closing stdin".to_owned(),
            Cue::Signal(signal) => format!("waiting for {signal}"),
        }
    }
}

/// Switches of the command line that change what the CLI says.
const SWITCHES: [&str; 3] = ["--include-partial-messages", "--replay-user-messages", "--fork-session"];
/// The environment variable without which a foreground child's text is not forwarded.
const FORWARD: &str = "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT";

/// Whether a launch is, in what matters, the recorded one; the error says how it differs.
pub fn launch(header: &Header, launch: &Launch) -> Result<(), String> {
    for switch in SWITCHES {
        let (recorded, given) = (flag(&header.launch, switch), flag(&launch.argv, switch));
        if recorded != given {
            return Err(format!("recorded {} `{switch}`, launched {} it", with(recorded), with(given)));
        }
    }
    for option in ["--resume", "--disallowedTools", "--permission-mode"] {
        let (recorded, given) = (value(&header.launch, option), value(&launch.argv, option));
        if recorded != given {
            let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
            return Err(format!("recorded with `{option}` {}, launched with {}", show(&recorded), show(&given)));
        }
    }
    let (recorded, given) = (header.env.contains_key(FORWARD), launch.env.contains_key(FORWARD));
    if recorded != given {
        return Err(format!("recorded {} {FORWARD} in the environment, launched {} it", with(recorded), with(given)));
    }
    Ok(())
}

fn with(is_there: bool) -> &'static str {
    if is_there { "with" } else { "without" }
}

fn flag(argv: &[String], name: &str) -> bool {
    argv.iter().any(|arg| arg == name)
}

fn value(argv: &[String], name: &str) -> Option<String> {
    argv.iter().enumerate().find_map(|(at, arg)| {
        if arg == name { argv.get(at + 1).cloned() } else { arg.strip_prefix(name)?.strip_prefix('=').map(str::to_owned) }
    })
}
