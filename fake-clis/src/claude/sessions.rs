//! Session files: what a resumed process reads from them.

use serde_json::{Value, json};

/// What a session file says to the process that resumes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// It holds at least one message.
    pub has_messages: bool,
    /// The uuid of its last message.
    pub last: Option<String>,
    /// A title that the user or a fork gave it.
    pub title: Option<String>,
    /// What it has cost so far: token counts and dollars by model.
    pub spent: Vec<(String, Value)>,
    /// Agents in the background that were launched and never ended: id and description.
    pub orphans: Vec<(String, String)>,
}

/// Reads a session file; lines that are no JSON are passed over, as the CLI does after a crash in mid-write.
pub fn read(bytes: &[u8]) -> Session {
    let mut session = Session::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        match line["type"].as_str() {
            Some("user" | "assistant") => {
                session.has_messages = true;
                session.last = line["uuid"].as_str().map(str::to_owned);
                let result = &line["toolUseResult"];
                if result["status"] == "async_launched"
                    && let (Some(id), Some(words)) = (result["agentId"].as_str(), result["description"].as_str())
                {
                    session.orphans.push((id.to_owned(), words.to_owned()));
                }
            }
            Some("custom-title") => session.title = line["customTitle"].as_str().map(str::to_owned),
            Some("session-spent") => {
                let models = line["models"].as_object().into_iter().flatten();
                session.spent = models.map(|(model, spent)| (model.clone(), spent.clone())).collect();
            }
            Some("task-ended") => session.orphans.retain(|(id, _)| line["taskId"] != json!(id)),
            _ => {}
        }
    }
    session
}

/// The line that says that a background task has ended.
pub fn ended(task: &str) -> Value {
    json!({"type": "task-ended", "taskId": task})
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str =
        r#"{"type":"user","uuid":"u1","toolUseResult":{"status":"async_launched","agentId":"a1","description":"D"}}"#;

    #[test]
    fn an_agent_that_never_ended_is_an_orphan() {
        let session = read(format!("{LAUNCH}\n").as_bytes());
        assert_eq!(session.orphans, [("a1".to_owned(), "D".to_owned())]);
        let session = read(format!("{LAUNCH}\n{}\n", ended("a1")).as_bytes());
        assert_eq!(session.orphans, []);
    }

    #[test]
    fn a_torn_last_line_loses_nothing_else() {
        let session = read(format!("{LAUNCH}\n{{\"type\":\"us").as_bytes());
        assert_eq!(session.last.as_deref(), Some("u1"));
    }
}
