//! Fold rules: what each event does to the open segment.

use serde_json::Value;

use super::chips::ToolPart;
use super::doc::ChatDoc;
use super::layout::{meta, part};
use super::text::RunKind;
use super::value::{counts, diff_stats, get_value, number, sure, to_loro};
use crate::event::{AgentEvent, LIVE_PLAN, ToolCall, UserInputQuestion};

impl ChatDoc {
    /// Folds one event into the document. Returns whether the document changed.
    ///
    /// Content goes to the open segment; without one it is not folded. What concerns something that is already shown (a
    /// snapshot of a known part, a result of a known tool, a question's end) goes where it stands, in earlier segments too.
    /// The caller filters stale echoes before ([`ChatDoc::tool_in_earlier_segment`]), routes `Subagent` events, and turns
    /// `Steered` and `Done` into the end of a segment; these and what is never content are ignored here.
    pub fn fold(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::TextDelta { text, part } => self.fold_text(RunKind::Text, part.as_deref(), text),
            AgentEvent::ReasoningDelta { text, part } => self.fold_text(RunKind::Reasoning, part.as_deref(), text),
            AgentEvent::TextSnapshot { part, text } => self.fold_snapshot(part, text),
            AgentEvent::ToolCall { id, call } => self.fold_call(id, call),
            AgentEvent::ToolResult { id, is_error, output, diff } => {
                self.fold_result(id, *is_error, output.as_deref(), diff.as_deref())
            }
            AgentEvent::GeneratedImage { id, path, name, mime_type } => self.fold_image(id, path, name, mime_type),
            AgentEvent::Error { message } => {
                let Some(index) = self.open_entry() else { return false };
                self.push_error(index, message, false)
            }
            AgentEvent::InputRequested { request_id, questions } => self.fold_question(request_id, questions),
            AgentEvent::InputResolved { request_id } => self.fold_answered(request_id),
            AgentEvent::ContextUsage { tokens, window } => self.fold_context(*tokens, *window),
            AgentEvent::Usage { input_tokens, output_tokens } => {
                let usage = counts(&[(meta::INPUT_TOKENS, *input_tokens), (meta::OUTPUT_TOKENS, *output_tokens)]);
                self.set_meta(meta::TOKEN_USAGE, usage)
            }
            AgentEvent::SessionStarted { .. }
            | AgentEvent::AssistantMessageCompleted { .. }
            | AgentEvent::NativeForkReady { .. }
            | AgentEvent::AvailableCommands { .. }
            | AgentEvent::AgentChanged { .. }
            | AgentEvent::Steered { .. }
            | AgentEvent::SteerReturned { .. }
            | AgentEvent::Done { .. }
            | AgentEvent::UserMessage { .. }
            | AgentEvent::Subagent { .. }
            | AgentEvent::Note { .. } => false,
        }
    }

    fn fold_text(&mut self, kind: RunKind, key: Option<&str>, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let Some(index) = self.open_entry() else { return false };
        self.merge_text(index, kind, key, text);
        true
    }

    fn fold_snapshot(&mut self, key: &str, text: &str) -> bool {
        match self.keys.get(key).and_then(|runs| runs.last()) {
            Some(&(index, run)) => self.replace_text(index, run, text),
            None => self.fold_text(RunKind::Text, Some(key), text),
        }
    }

    /// A call with a known id refreshes its part in place; the live plan is shown anew in each segment.
    fn fold_call(&mut self, id: &str, call: &ToolCall) -> bool {
        let call = call.clone().sanitized();
        let spawn = call.is_spawn().then(|| call.name().to_owned());
        let json = serde_json::to_value(&call).unwrap_or(Value::Null);
        let value = to_loro(&json);
        let current = self.current();
        let refreshed = self
            .tools
            .get_mut(id)
            .and_then(|parts| parts.iter_mut().rev().find(|tool| id != LIVE_PLAN || Some(tool.entry) == current));
        if let Some(tool) = refreshed {
            if get_value(&tool.map, part::CALL).as_ref() == Some(&value) {
                return false;
            }
            sure(tool.map.insert(part::CALL, value));
            let key = (tool.entry, tool.slot, id.to_owned());
            if spawn.is_some() {
                self.chip_order.insert(key);
            } else {
                self.chip_order.remove(&key);
            }
            tool.spawn = spawn;
            self.dirty = true;
            return true;
        }
        let Some(index) = self.open_entry() else { return false };
        let placed = self.push_shown(index, part::KIND_TOOL, json.to_string().len());
        sure(placed.map.insert(part::ID, id));
        sure(placed.map.insert(part::CALL, value));
        sure(placed.map.insert(part::RESOLVED, false));
        sure(placed.map.insert(part::IS_ERROR, false));
        self.replies[index].open_tools.insert(placed.slot, id.to_owned());
        self.know_tool(
            id,
            ToolPart {
                map: placed.map,
                entry: index,
                slot: placed.slot,
                spawn,
                resolved: false,
                subagent_ref: None,
                status: None,
            },
        );
        true
    }

    pub(super) fn know_tool(&mut self, id: &str, tool: ToolPart) {
        if tool.spawn.is_some() {
            self.chip_order.insert((tool.entry, tool.slot, id.to_owned()));
        }
        // Entries of a loaded document can be continued in any order; the order of parts is that of the transcript.
        let parts = self.tools.entry(id.to_owned()).or_default();
        let place = parts.partition_point(|other| (other.entry, other.slot) < (tool.entry, tool.slot));
        parts.insert(place, tool);
    }

    /// The first result resolves the tool and what it says stays; a repeated one changes nothing. Of output and diff only the
    /// statistics are kept.
    fn fold_result(&mut self, id: &str, is_error: bool, output: Option<&str>, diff: Option<&str>) -> bool {
        let Some(tool) = self.tools.get_mut(id).and_then(|parts| parts.last_mut()) else { return false };
        if tool.resolved {
            return false;
        }
        tool.resolved = true;
        sure(tool.map.insert(part::RESOLVED, true));
        sure(tool.map.insert(part::IS_ERROR, is_error));
        if let Some(output) = output {
            sure(tool.map.insert(part::OUTPUT_BYTES, number(output.len() as u64)));
        }
        if let Some(diff) = diff {
            let (added, removed) = diff_stats(diff);
            sure(tool.map.insert(part::DIFF_STATS, counts(&[(part::ADDED, added), (part::REMOVED, removed)])));
        }
        self.replies[tool.entry].open_tools.remove(&tool.slot);
        self.dirty = true;
        true
    }

    fn fold_image(&mut self, id: &str, path: &str, name: &str, mime_type: &str) -> bool {
        let Some(index) = self.open_entry() else { return false };
        if !self.replies[index].images.insert(id.to_owned()) {
            return false;
        }
        let placed = self.push_shown(index, part::KIND_IMAGE, path.len());
        for (key, value) in [(part::ID, id), (part::PATH, path), (part::NAME, name), (part::MIME_TYPE, mime_type)] {
            sure(placed.map.insert(key, value));
        }
        true
    }

    fn fold_question(&mut self, request_id: &str, questions: &[UserInputQuestion]) -> bool {
        if self.inputs.contains_key(request_id) {
            return false;
        }
        let Some(index) = self.open_entry() else { return false };
        let json = serde_json::to_value(questions).unwrap_or(Value::Null);
        let placed = self.push_shown(index, part::KIND_INPUT, json.to_string().len());
        sure(placed.map.insert(part::REQUEST_ID, request_id));
        sure(placed.map.insert(part::QUESTIONS, to_loro(&json)));
        sure(placed.map.insert(part::RESOLVED, false));
        self.replies[index].open_inputs.insert(request_id.to_owned(), placed.map);
        self.inputs.insert(request_id.to_owned(), index);
        true
    }

    fn fold_answered(&mut self, request_id: &str) -> bool {
        let Some(index) = self.inputs.get(request_id) else { return false };
        let Some(map) = self.replies[*index].open_inputs.remove(request_id) else { return false };
        sure(map.insert(part::RESOLVED, true));
        self.dirty = true;
        true
    }

    /// What an event does not tell stays as it was last told.
    fn fold_context(&mut self, tokens: Option<u64>, window: Option<u64>) -> bool {
        self.context = (tokens.or(self.context.0), window.or(self.context.1));
        let known = [(meta::TOKENS, self.context.0), (meta::WINDOW, self.context.1)];
        let known: Vec<_> = known.into_iter().filter_map(|(key, n)| Some((key, n?))).collect();
        !known.is_empty() && self.set_meta(meta::CONTEXT_USAGE, counts(&known))
    }

    fn set_meta(&mut self, key: &str, value: loro::LoroValue) -> bool {
        if get_value(&self.meta, key).as_ref() == Some(&value) {
            return false;
        }
        sure(self.meta.insert(key, value));
        self.dirty = true;
        true
    }
}
