//! Reduces a capture to a script.

use captures::format::{Capture, From, What};
use serde_json::Value;

use super::{Script, agents, main_thread::MainThread, tools};

/// One frame of the CLI with the time at which it was said, in whole ms.
pub(super) struct Said<'a> {
    /// Ms since the process started, rounded.
    pub at: u64,
    /// The frame.
    pub frame: &'a Value,
}

/// Reduces a capture of Claude Code to what the model and the tools did in it.
pub fn reduce(capture: &Capture) -> Script {
    let said: Vec<Said<'_>> = capture
        .entries
        .iter()
        .filter(|entry| entry.from == From::Cli)
        .filter_map(|entry| entry.what.frame().map(|frame| Said { at: ms(entry.at_ms), frame }))
        .collect();
    let mut script = Script { boot_ms: boot(capture, &said), ..Script::default() };
    let output = final_output(&said);
    let children = agents::collect(&said);
    let tools = tools::tools(&said, &children);
    (script.outcomes, script.unfinished) = (tools.outcomes, tools.unfinished);
    let mut main = MainThread::new(capture, output);
    for frame in &said {
        main.take(frame);
    }
    (script.turns, script.summaries) = main.finish();
    for child in children {
        child.into_script(output, &mut script);
    }
    script
}

/// From the start to the first line that was read: the first frame's time, less what the protocol itself takes for it.
fn boot(capture: &Capture, said: &[Said<'_>]) -> u64 {
    let first_host = capture.entries.iter().find(|entry| entry.from == From::Host && matches!(entry.what, What::Frame(_)));
    match (said.first(), first_host) {
        (Some(first), Some(host)) if first.at > ms(host.at_ms) => first.at,
        _ => 0,
    }
}

/// What the model's messages cost in output tokens, for messages whose end the capture does not show.
fn final_output(said: &[Said<'_>]) -> u64 {
    let delta = said.iter().find_map(|s| {
        let stopped = s.frame.pointer("/event/delta/stop_reason").is_some_and(Value::is_string);
        stopped.then(|| s.frame.pointer("/event/usage/output_tokens").and_then(Value::as_u64)).flatten()
    });
    let reported = || {
        let last = said.iter().rev().find(|s| text(s.frame, "/type") == Some("result"))?;
        let models = last.frame.get("modelUsage")?.as_object()?;
        let total: u64 = models.values().filter_map(|usage| usage.get("outputTokens")?.as_u64()).sum();
        let mut ids: Vec<&str> = said
            .iter()
            .filter(|s| text(s.frame, "/type") == Some("assistant") && text(s.frame, "/message/model") != Some("<synthetic>"))
            .filter_map(|s| text(s.frame, "/message/id"))
            .collect();
        ids.dedup();
        ids.sort_unstable();
        ids.dedup();
        total.checked_div(ids.len() as u64)
    };
    delta.or_else(reported).unwrap_or(super::DEFAULT_OUTPUT)
}

/// A capture's time in whole ms.
pub(super) fn ms(at_ms: f64) -> u64 {
    at_ms.round().max(0.0) as u64
}

/// The text at a JSON pointer.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The tag of a frame: its `parent_tool_use_id`.
pub(super) fn tag(frame: &Value) -> Option<&str> {
    text(frame, "/parent_tool_use_id")
}
