//! Which agent a record belongs to: an agent's first record repeats the prompt of the call that started it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::record::Record;

/// An agent and the call that started it.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// The id of the call.
    pub(super) call: String,
    /// The task's id: `a` and 16 hex digits.
    pub(super) task: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) prompt: String,
    /// It has a record of its own: one without is shown as its call and the call's outcome.
    seen: bool,
}

/// Names of the tool that starts agents, newest first.
const STARTERS: [&str; 2] = ["Agent", "Task"];

pub(super) struct Agents<'a> {
    agents: Vec<Agent>,
    /// Record uuid → its agent.
    owners: BTreeMap<&'a str, usize>,
}

impl<'a> Agents<'a> {
    /// All agents of a transcript.
    pub(super) fn of(records: impl Iterator<Item = &'a Record> + Clone) -> Agents<'a> {
        let mut agents: Vec<Agent> = Vec::new();
        let calls = records.clone().flat_map(Record::blocks).filter(|block| is_start(block));
        for block in calls {
            let input = |key: &str| block["input"][key].as_str().unwrap_or_default().to_owned();
            let (call, kind) = (block["id"].as_str().unwrap_or_default().to_owned(), input("subagent_type"));
            agents.push(Agent {
                call,
                task: format!("a{:016x}", agents.len() + 1),
                kind: if kind.is_empty() { "general-purpose".to_owned() } else { kind },
                description: input("description"),
                prompt: input("prompt"),
                seen: false,
            });
        }
        let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
        for record in records.filter(|record| record.sidechain()) {
            let parent = record.text("parentUuid").and_then(|parent| owners.get(parent)).copied();
            let prompt = record.content_text();
            let first = || agents.iter().position(|agent| !agent.seen && agent.prompt == prompt);
            let Some(owner) = parent.or_else(first) else { continue };
            agents[owner].seen = true;
            // The id that the CLI gave, where the transcript states it.
            if let Some(id) = record.text("agentId").filter(|id| id.len() == 16) {
                agents[owner].task = format!("a{id}");
            }
            owners.extend(record.text("uuid").map(|uuid| (uuid, owner)));
        }
        Agents { agents, owners }
    }

    /// The agent that said this, or was told it.
    pub(super) fn owner(&self, record: &Record) -> Option<Agent> {
        self.agents.get(*self.owners.get(record.text("uuid")?)?).cloned()
    }

    /// The agent that this call starts.
    pub(super) fn started(&self, block: &Value) -> Option<Agent> {
        if is_start(block) { self.by_call(block["id"].as_str()?) } else { None }
    }

    /// The agent whose outcome this is.
    pub(super) fn ended(&self, block: &Value) -> Option<Agent> {
        self.by_call(block["tool_use_id"].as_str()?)
    }

    fn by_call(&self, call: &str) -> Option<Agent> {
        self.agents.iter().find(|agent| agent.call == call && agent.seen).cloned()
    }
}

fn is_start(block: &Value) -> bool {
    block["type"] == "tool_use" && block["name"].as_str().is_some_and(|name| STARTERS.contains(&name))
}
