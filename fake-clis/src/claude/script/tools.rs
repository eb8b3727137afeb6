//! What the tools gave back, by call.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Outcome,
    agents::Child,
    reduce::{Said, tag, text},
};

/// Tools whose results are the protocol's own work.
const MADE_BY_PROTOCOL: [&str; 3] = ["Agent", "Skill", "AskUserQuestion"];

/// What is known of the tools of a capture.
pub(super) struct Tools {
    /// What the tools gave back that ran to their end.
    pub(super) outcomes: BTreeMap<String, Outcome>,
    /// Calls that ran until they were stopped, or to the end of the capture.
    pub(super) unfinished: BTreeSet<String>,
}

/// Finds the outcomes of all tools.
pub(super) fn tools(said: &[Said<'_>], children: &[Child<'_>]) -> Tools {
    let mut begun: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    let mut allowed: BTreeSet<String> = BTreeSet::new();
    let mut found = BTreeMap::new();
    let mut background: BTreeMap<String, String> = BTreeMap::new();
    let mut in_time: Vec<(u64, &Value)> = said.iter().filter(|s| tag(s.frame).is_none()).map(|s| (s.at, s.frame)).collect();
    in_time.extend(children.iter().flat_map(|child| child.frames.iter().copied()));
    in_time.sort_by_key(|(at, _)| *at);
    let mut open: Option<String> = None;
    for (at, frame) in in_time {
        match text(frame, "/type") {
            Some("assistant") => {
                let block = &frame["message"]["content"][0];
                if let (Some(id), Some(name)) = (text(block, "/id"), text(block, "/name")) {
                    begun.insert(id.to_owned(), (at, name.to_owned()));
                    // Only the main thread's blocks are seen to stop.
                    open = tag(frame).is_none().then(|| id.to_owned()).or(open);
                }
            }
            Some("stream_event") if text(frame, "/event/type") == Some("content_block_stop") => {
                if let Some((since, _)) = open.take().and_then(|id| begun.get_mut(&id)) {
                    *since = at;
                }
            }
            Some("control_request") => {
                if let (Some(request), Some(id)) = (text(frame, "/request_id"), text(frame, "/request/tool_use_id")) {
                    asked.insert(request.to_owned(), id.to_owned());
                }
            }
            Some("control_response") => {
                let id = text(frame, "/response/request_id").and_then(|request| asked.get(request));
                if text(frame, "/response/response/behavior") == Some("allow") {
                    allowed.extend(id.cloned());
                }
                if let Some((since, _)) = id.and_then(|id| begun.get_mut(id)) {
                    *since = at;
                }
            }
            Some("system") => background_bash(frame, at, &begun, &mut background, &mut found),
            Some("user") => {
                let block = &frame["message"]["content"][0];
                let Some(id) = text(block, "/tool_use_id") else { continue };
                let Some((since, name)) = begun.get(id) else { continue };
                if MADE_BY_PROTOCOL.contains(&name.as_str())
                    || stopped(frame)
                    || frame.pointer("/tool_use_result/backgroundTaskId").is_some()
                {
                    continue;
                }
                found.insert(
                    id.to_owned(),
                    Outcome {
                        ms: at.saturating_sub(*since),
                        content: block["content"].clone(),
                        is_error: block.get("is_error").and_then(Value::as_bool),
                        structured: frame.get("tool_use_result").cloned(),
                        invalid: frame.get("tool_result_meta").is_none() && block["is_error"] == true,
                    },
                );
            }
            _ => {}
        }
    }
    let ran = |id: &String| allowed.contains(id) || !asked.values().any(|asked| asked == id);
    let unfinished = begun.into_keys().filter(|id| !found.contains_key(id) && ran(id)).collect();
    Tools { outcomes: found, unfinished }
}

/// A command in the background has its outcome in its notification.
fn background_bash(
    frame: &Value,
    at: u64,
    begun: &BTreeMap<String, (u64, String)>,
    background: &mut BTreeMap<String, String>,
    found: &mut BTreeMap<String, Outcome>,
) {
    let Some(task) = text(frame, "/task_id") else { return };
    if text(frame, "/task_type") == Some("local_bash") && frame["is_backgrounded"] == true {
        if let Some(call) = text(frame, "/tool_use_id") {
            background.insert(task.to_owned(), call.to_owned());
        }
        return;
    }
    let ended = matches!(text(frame, "/patch/status"), Some("completed" | "failed"));
    if let (true, Some(call)) = (ended, background.get(task)) {
        let ms = begun.get(call).map_or(0, |(since, _)| at.saturating_sub(*since));
        found.insert(
            call.clone(),
            Outcome { ms, content: Value::String(String::new()), is_error: Some(false), structured: None, invalid: false },
        );
    }
}

/// Whether the call was stopped or refused: that says nothing about the tool.
fn stopped(frame: &Value) -> bool {
    let block = &frame["message"]["content"][0];
    let words = block["content"].as_str().unwrap_or_default();
    let by_words = ["The user doesn't want to proceed", "[Request interrupted"].iter().any(|start| words.starts_with(start));
    let meta = &frame["tool_result_meta"][0];
    let by_meta = meta.get("non_execution_kind").is_some() || meta["permission_decision"]["decision"] == "reject";
    block["is_error"] == true && (by_words || by_meta)
}
