//! Steps that ask the host something and hold its answer against the scenario's.
//!
//! A host makes ids of its own for what an agent creates. A scenario names them: the first chat that the step `helper` makes is
//! the chat `helper`, the next one `helper#2`; a message that no step has sent is `new`.

use std::collections::BTreeMap;

use scenarios::scenario::{MAIN_CHAT, Request, Role, WITHIN};
use serde_json::{Value, json};

use super::director::{Cue, Direct};
use crate::host::HostCall;

/// Keys whose values are ids.
const IDS: [&str; 4] = ["chat", "chat_id", "message", "message_id"];

/// The call of the step that waits, and the names of what the host made.
#[derive(Default)]
pub(super) struct Asking {
    calls: u64,
    /// Number of the call that the step made.
    open: Option<u64>,
    /// Chats of the scenario → ids of the host.
    chats: BTreeMap<String, String>,
}

/// Where a step that asks stands.
pub(super) enum Asked {
    /// It is not over.
    Wait(Direct),
    /// It is over.
    Over,
    /// It is over, and the answer is another one.
    Differs(Direct),
}

impl Asking {
    /// The host's id of a chat.
    pub(super) fn chat(&self, name: &str) -> String {
        self.chats.get(name).map_or(name, String::as_str).to_owned()
    }

    /// Whether the host made this chat by itself.
    pub(super) fn made_by_host(&self, name: &str) -> bool {
        self.chats.contains_key(name)
    }

    /// Makes the call, waits for its answer, holds it against `expected`.
    pub(super) fn ask(
        &mut self,
        cue: &Cue<'_>,
        step: &Asks<'_>,
        make: impl FnOnce(&Asking, u64) -> Result<Direct, String>,
    ) -> Asked {
        let Some(number) = self.open else {
            self.calls += 1;
            self.open = Some(self.calls);
            return Asked::Wait(make(self, self.calls).unwrap_or_else(|wrong| Direct::Wrong(format!("{}: {wrong}", step.place))));
        };
        let Some(outcome) = cue.answers.get(&number) else {
            let due = step.since + WITHIN.as_millis() as u64;
            return Asked::Wait(match cue.now < due {
                true => Direct::Wait(Some(due)),
                false => Direct::TooLate(format!("{}: no answer came in {} ms", step.place, due - step.since)),
            });
        };
        self.open = None;
        let actual = match outcome {
            Ok(value) => self.with_names(value, step),
            Err(words) => json!({"error": words}),
        };
        match step.expected {
            Some(expected) if *expected != actual => {
                Asked::Differs(Direct::Unmet(format!("{}: expected the answer {expected}, but it is {actual}", step.place)))
            }
            None if outcome.is_err() => Asked::Differs(Direct::Unmet(format!("{}: the host refused: {actual}", step.place))),
            _ => Asked::Over,
        }
    }

    fn with_names(&mut self, value: &Value, step: &Asks<'_>) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.with_names(item, step)).collect(),
            Value::Object(fields) => {
                let named = fields.iter().map(|(key, value)| {
                    let value = match value.as_str().filter(|_| IDS.contains(&key.as_str()) || key == "parent") {
                        Some(id) => Value::from(self.name(key, id, step)),
                        None => self.with_names(value, step),
                    };
                    (key.clone(), value)
                });
                Value::Object(named.collect())
            }
            other => other.clone(),
        }
    }

    fn name(&mut self, key: &str, id: &str, step: &Asks<'_>) -> String {
        if key.starts_with("message") {
            return step.messages.iter().find(|(_, known)| *known == id).map_or("new", |(label, _)| label).to_owned();
        }
        if let Some((name, _)) = self.chats.iter().find(|(_, known)| *known == id) {
            return name.clone();
        }
        // Names of the scenario are short; the host's own are not.
        if id.len() < 32 {
            return id.to_owned();
        }
        let label = step.label.unwrap_or("chat");
        let fresh = (1..).map(|n| if n == 1 { label.to_owned() } else { format!("{label}#{n}") });
        let name = fresh.into_iter().find(|name| !self.chats.contains_key(name)).unwrap_or_default();
        self.chats.insert(name.clone(), id.to_owned());
        name
    }

    /// Parameters with the host's ids in place of the scenario's names.
    fn with_ids(&self, value: &Value, messages: &BTreeMap<String, String>) -> Value {
        let id = |key: &str, name: &str| match key.starts_with("message") {
            true => messages.get(name).cloned(),
            false => self.chats.get(name).cloned(),
        };
        match value {
            Value::Array(items) => items.iter().map(|item| self.with_ids(item, messages)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| {
                    let known = value.as_str().filter(|_| IDS.contains(&key.as_str())).and_then(|name| id(key, name));
                    (key.clone(), known.map_or_else(|| self.with_ids(value, messages), Value::from))
                })
                .collect(),
            other => other.clone(),
        }
    }

    /// A request of the host's own surface.
    pub(super) fn rpc(&self, request: &Request, messages: &BTreeMap<String, String>) -> HostCall {
        HostCall::Rpc { method: request.method.value.clone(), params: self.with_ids(&request.params, messages) }
    }

    /// A request to the MCP server of the newest process of a chat.
    pub(super) fn mcp(
        &self,
        cue: &Cue<'_>,
        chat: &str,
        request: &Request,
        messages: &BTreeMap<String, String>,
    ) -> Result<HostCall, String> {
        let newest = cue.processes.values().rev().find(|process| process.chat == self.chat(chat));
        let env = newest.and_then(|process| server_env(&process.launch.argv)).ok_or_else(|| {
            format!("no process of the chat {chat:?} was given an MCP server; `config = {{ ipc_port = 4100 }}` gives it one")
        })?;
        let params = self.with_ids(&request.params, messages);
        Ok(HostCall::Mcp { chat: self.chat(chat), env, method: request.method.value.clone(), params })
    }
}

/// What `ask` is to know of the step.
pub(super) struct Asks<'a> {
    /// The step in words.
    pub(super) place: &'a str,
    /// When it began, ms.
    pub(super) since: u64,
    /// Its name.
    pub(super) label: Option<&'a str>,
    /// The answer that it must get; none: any but a refusal.
    pub(super) expected: Option<&'a Value>,
    /// Labels of messages → their ids.
    pub(super) messages: &'a BTreeMap<String, String>,
}

/// Flips the switch of a provider's subagents.
pub(super) fn switch(on: bool, provider: Option<Role>) -> HostCall {
    let harness = match provider {
        None | Some(Role::Claude) => "claude-code",
        Some(role) => role.word(),
    };
    HostCall::Rpc { method: "SetNativeSubagents".to_owned(), params: json!({"harness": harness, "on": on}) }
}

/// The environment that a launch gives to the first MCP server that it names.
fn server_env(argv: &[String]) -> Option<BTreeMap<String, String>> {
    let config = argv.iter().skip_while(|word| *word != "--mcp-config").nth(1)?;
    let config: Value = serde_json::from_str(config).ok()?;
    let server = config["mcpServers"].as_object()?.values().next()?.clone();
    serde_json::from_value(server["env"].clone()).ok()
}

/// What a chat that is not the first one starts with: a session of its own.
pub(super) fn setup_of(chat: &str, setup: &crate::host::ChatSetup) -> crate::host::ChatSetup {
    let setup = crate::host::ChatSetup { chat: chat.to_owned(), ..setup.clone() };
    if chat == MAIN_CHAT {
        return setup;
    }
    crate::host::ChatSetup { resume: None, require_session: false, ..setup }
}
