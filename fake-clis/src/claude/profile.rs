//! What a version of the CLI says whatever the host does: lists, texts and answers, learned from its captures.

mod builtin;
mod learn;
mod models;

pub use builtin::{builtin, newest};
pub use learn::learn;
pub use models::{Model, display_name, price};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first version with the changes of the newer wire.
const NEWER: (u32, u32, u32) = (2, 1, 332);

/// Template data of one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// `2.1.310`.
    pub version: String,
    /// The rules of 2.1.332 hold.
    pub newer: bool,
    /// An `init` frame; session, directory, model, mode and tools are put in.
    pub init: Value,
    /// Answers to control requests by subtype, where the answer is a constant of the version.
    pub answers: BTreeMap<String, Value>,
    /// Models by the names that `--model` and `set_model` take.
    pub models: Vec<Model>,
    /// Skills of the project.
    pub skills: BTreeMap<String, Skill>,
    /// Output of `/context`: text and `context_usage`.
    pub context: Option<(String, Value)>,
    /// The second line of `/model`.
    pub model_usage: String,
    /// Texts that the CLI puts into conversations, by what they are about.
    pub texts: Texts,
}

/// Provider prose, as far as the captures keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    /// A call that the user stopped or refused.
    pub rejected: String,
    /// The same, of a call that was running when an interrupt came.
    pub rejected_running: String,
    /// After a cut behind whole blocks.
    pub cut_off: String,
    /// After `max_tokens`.
    pub token_limit: String,
    /// After a refusal.
    pub refused: String,
}

/// A skill of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// `context: fork`.
    pub fork: bool,
    /// Its description, which is the `task_description` of its frames.
    pub description: String,
    /// The body below the frontmatter.
    pub body: String,
    /// `allowed-tools`: rules like `Bash(echo:*)`.
    pub allowed: Vec<String>,
}

impl Profile {
    /// The model behind a name; a name that nobody knows is itself.
    pub fn resolve(&self, name: &str) -> String {
        self.models.iter().find(|model| model.value == name).map_or_else(|| name.to_owned(), |model| model.resolved.clone())
    }

    /// The names of the tools in `init` that remain when these are disallowed.
    ///
    /// `Agent` and `Task` are two names of one tool; `ListAgents`, `SendMessage` and `TaskStop` stay whatever is disallowed.
    pub fn tools(&self, disallowed: &[String]) -> Vec<String> {
        const ALWAYS: [&str; 3] = ["ListAgents", "SendMessage", "TaskStop"];
        let gone = |name: &str| {
            let named = disallowed.iter().any(|d| d == name);
            let task = name == "Task" && disallowed.iter().any(|d| d == "Agent");
            (named || task) && !ALWAYS.contains(&name)
        };
        let all = self.init["tools"].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.filter(|name| !gone(name)).map(str::to_owned).collect()
    }

    /// The commands that a typed `/name` may name.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.init["slash_commands"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }
}

/// Whether a version follows the newer rules: `2.1.332` and everything after it.
pub fn is_newer(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next()) >= NEWER
}
