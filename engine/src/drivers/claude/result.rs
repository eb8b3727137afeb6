//! Reading a `result` frame: whose it is, and what it means.
//!
//! A result is matched to its owner, never counted: background work and the orphans of a killed session send results too. Its
//! meaning is not its first word: API failures and interrupted forks are `success` as well.

use serde_json::Value;

use crate::event::DoneStatus;

/// Whose result it is, by the uuids and the origin it names.
#[derive(Debug, PartialEq, Eq)]
pub enum Owner {
    /// These messages of ours, at least one of them not settled.
    Messages(Vec<String>),
    /// Messages of ours that were all settled before: a late duplicate.
    Settled,
    /// The process itself: background work, or orphans of a killed session.
    Process,
    /// Nobody is named (an older CLI, an unknown `--resume` id): the turn that is open.
    Unnamed,
}

/// All user message uuids that a result names, each once, in order.
pub fn named(frame: &Value) -> Vec<String> {
    let mut uuids: Vec<String> = Vec::new();
    let list = frame["user_message_uuids"].as_array().into_iter().flatten();
    for uuid in list.chain([&frame["user_message_uuid"]]).filter_map(Value::as_str) {
        if !uuids.iter().any(|known| known == uuid) {
            uuids.push(uuid.to_owned());
        }
    }
    uuids
}

/// Status of a result by its own words; `stopping` says that a stop or interrupt of ours is in flight, `fork_stopped` that the
/// pending typed fork's notification said so.
pub fn status(frame: &Value, stopping: bool, fork_stopped: bool) -> (DoneStatus, Option<String>) {
    if stopping {
        return (DoneStatus::Interrupted, None);
    }
    if frame["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted_")) {
        return (DoneStatus::Interrupted, None);
    }
    let succeeded = frame["subtype"].as_str() == Some("success") && frame["is_error"].as_bool() == Some(false);
    if !succeeded {
        return (DoneStatus::Errored, Some(error_text(frame)));
    }
    if fork_stopped {
        return (DoneStatus::Interrupted, None);
    }
    (DoneStatus::Completed, None)
}

/// Words for a failed result: fixed ones for the limits, else `result`, else `errors` without diagnostics.
fn error_text(frame: &Value) -> String {
    match frame["subtype"].as_str() {
        Some("error_max_turns") => return "The turn reached its limit of model calls.".to_owned(),
        Some("error_max_budget_usd") => return "The turn reached its budget.".to_owned(),
        Some("error_max_structured_output_retries") => {
            return "The model gave no structured output of the required form.".to_owned();
        }
        _ => {}
    }
    if let Some(text) = frame["result"].as_str().filter(|text| !text.trim().is_empty()) {
        return text.to_owned();
    }
    let errors: Vec<&str> = frame["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|text| !text.starts_with("[ede_diagnostic]"))
        .collect();
    if errors.is_empty() { "Claude Code reported an error without words.".to_owned() } else { errors.join("\n") }
}

/// Terminal status of a task by the provider's word; any other word is not terminal.
pub fn task_status(word: &str) -> Option<DoneStatus> {
    match word {
        "completed" | "complete" | "succeeded" | "success" => Some(DoneStatus::Completed),
        "failed" | "errored" | "error" => Some(DoneStatus::Errored),
        "killed" | "cancelled" | "canceled" | "stopped" | "interrupted" => Some(DoneStatus::Interrupted),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(frame: Value, stopping: bool, fork_stopped: bool, expected: (DoneStatus, Option<&str>)) {
        let (got, text) = status(&frame, stopping, fork_stopped);
        assert_eq!((got, text.as_deref()), expected, "{frame}");
    }

    #[test]
    fn success_is_not_read_by_its_first_word() {
        use DoneStatus::*;
        let ok = json!({"subtype": "success", "is_error": false, "terminal_reason": "completed", "result": "hi"});
        check(ok.clone(), false, false, (Completed, None));
        check(ok.clone(), true, false, (Interrupted, None));
        check(ok, false, true, (Interrupted, None));
        let api = json!({"subtype": "success", "is_error": true, "terminal_reason": "api_error", "result": "API Error: 529"});
        check(api, false, false, (Errored, Some("API Error: 529")));
        let cut = json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools"});
        check(cut, false, false, (Interrupted, None));
        let gone = json!({"subtype": "error_during_execution", "is_error": true,
            "errors": ["[ede_diagnostic] x", "No conversation found"]});
        check(gone, false, false, (Errored, Some("No conversation found")));
        let limit = json!({"subtype": "error_max_turns", "is_error": false});
        check(limit, false, false, (Errored, Some("The turn reached its limit of model calls.")));
        check(json!({"subtype": 7}), false, false, (Errored, Some("Claude Code reported an error without words.")));
    }

    #[test]
    fn uuids_are_named_once_in_order() {
        let frame = json!({"user_message_uuids": ["b", "a"], "user_message_uuid": "a"});
        assert_eq!(named(&frame), ["b", "a"]);
        assert_eq!(named(&json!({"origin": {"kind": "task-notification"}})), Vec::<String>::new());
    }

    #[test]
    fn only_terminal_words_settle_a_task() {
        for word in ["running", "queued", "", "Completed"] {
            assert_eq!(task_status(word), None, "{word}");
        }
        assert_eq!(task_status("killed"), Some(DoneStatus::Interrupted));
    }
}
