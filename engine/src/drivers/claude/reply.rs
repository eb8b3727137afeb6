//! Untagged complete frames: the reply of the main thread, its tool calls and their results.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::{control::done, driver::Claude, tools};
use crate::{
    drivers::Cx,
    event::{AgentEvent, DoneStatus},
};

/// Model of the CLI's own words: replies of local commands and API failures.
const SYNTHETIC: &str = "<synthetic>";

impl Claude {
    /// Content of a complete frame that was not taken in before under its uuid; none when the frame only repeats (K23).
    pub(super) fn take_in<'a>(&mut self, frame: &'a Value) -> Option<Vec<&'a Value>> {
        let mut content = content(frame);
        let Some(uuid) = frame["uuid"].as_str() else { return Some(content) };
        let digest = |block: &Value| {
            let mut hasher = DefaultHasher::new();
            block.to_string().hash(&mut hasher);
            hasher.finish()
        };
        let Some(known) = self.seen.get_mut(uuid) else {
            self.seen.insert(uuid.to_owned(), content.iter().map(|block| digest(block)).collect());
            return Some(content);
        };
        content.retain(|block| known.insert(digest(block)));
        (!content.is_empty()).then_some(content)
    }

    pub(super) fn assistant(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(content) = self.take_in(frame) else { return };
        let message = &frame["message"];
        let uuid = frame["uuid"].as_str();
        if let Some(model) = message["model"].as_str().filter(|model| *model != SYNTHETIC) {
            self.last_model = Some(model.to_owned());
        }
        if is_api_error(frame) {
            self.shows_error(cx, error_words(frame));
        } else {
            // Deltas were sent on already; replies of local commands, of forks and of the fallback come whole.
            let message_id = message["id"].as_str().unwrap_or_default();
            let was_streamed = self.streamed.get(message_id).is_some_and(|blocks| !blocks.is_empty());
            for block in content {
                self.block(cx, block, was_streamed, uuid);
            }
            self.context_tokens(cx, &message["usage"]);
        }
        let closed = std::mem::replace(&mut self.assistant_id, cx.ids.uuid());
        // Without a uuid there is no position to fork at.
        self.last_native = uuid.map(|uuid| (closed.clone(), uuid.to_owned()));
        cx.event(AgentEvent::AssistantMessageCompleted { assistant_message_id: closed });
    }

    fn block(&mut self, cx: &mut Cx<'_>, block: &Value, was_streamed: bool, uuid: Option<&str>) {
        let part = uuid.map(str::to_owned);
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" => self.tool_use(cx, block),
            _ if was_streamed => {}
            "thinking" => {
                let text = block["thinking"].as_str().unwrap_or_default().to_owned();
                cx.event(AgentEvent::ReasoningDelta { text, part });
            }
            _ => {
                let text = tools::block_text(block);
                if !text.is_empty() {
                    self.visible();
                    cx.event(AgentEvent::TextDelta { text: text.to_owned(), part });
                }
            }
        }
    }

    /// An error that the reply shows.
    pub(super) fn shows_error(&mut self, cx: &mut Cx<'_>, message: String) {
        self.visible();
        self.shown_errors.insert(message.clone());
        cx.event(AgentEvent::Error { message });
    }

    fn tool_use(&mut self, cx: &mut Cx<'_>, block: &Value) {
        let Some(id) = block["id"].as_str().map(str::to_owned) else { return };
        let name = block["name"].as_str().unwrap_or_default();
        let input = &block["input"];
        self.visible();
        self.open_tools.insert(id.clone());
        cx.event(AgentEvent::ToolCall { id: id.clone(), call: tools::call(name, input) });
        if tools::spawns(name) {
            let opening = input["prompt"].as_str().filter(|prompt| !prompt.trim().is_empty());
            if let (true, Some(prompt)) = (self.chips.insert(id.clone()), opening) {
                self.openings.insert(id.clone(), prompt.to_owned());
                cx.tagged(&id, AgentEvent::UserMessage { text: prompt.to_owned() });
            }
        } else if name == "SendMessage" {
            self.send_message(cx, &id, input);
        }
    }

    /// SendMessage to a known agent: its text goes to the tab of the original spawn.
    fn send_message(&mut self, cx: &mut Cx<'_>, id: &str, input: &Value) {
        let Some(chip) = self.addressed(input) else { return };
        self.tool_spawns.insert(id.to_owned(), chip.clone());
        let text = ["message", "content", "prompt", "text"].iter().find_map(|key| input[*key].as_str());
        if let Some(text) = text {
            cx.tagged(&chip, AgentEvent::UserMessage { text: text.to_owned() });
        }
    }

    /// The spawn of the known agent that a SendMessage names.
    pub(super) fn addressed(&self, input: &Value) -> Option<String> {
        let keys = ["to", "agent_id", "agentId", "recipient", "task_id"];
        let agents = keys.iter().filter_map(|key| input[*key].as_str());
        agents.filter_map(|to| self.agent_tasks.get(to)).find(|chip| self.chips.contains(*chip)).cloned()
    }

    pub(super) fn user(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        // A receipt is looked at before repeats are dropped.
        if frame["isReplay"].as_bool() == Some(true) {
            if let Some(uuid) = frame["uuid"].as_str() {
                self.receipt(cx, uuid);
            }
            return;
        }
        let Some(content) = self.take_in(frame) else { return };
        for block in content {
            if block["type"].as_str() != Some("tool_result") {
                continue;
            }
            let Some(id) = block["tool_use_id"].as_str().map(str::to_owned) else { continue };
            let is_error = block["is_error"].as_bool().unwrap_or(false);
            let refused = is_error && self.chips.contains(&id) && !self.agent_tasks.values().any(|chip| *chip == id);
            if refused {
                // A spawn that was refused has no task and so no terminal of its own: it must not run for ever.
                cx.tagged(&id, done(DoneStatus::Interrupted, None, None, None));
            }
            self.open_tools.remove(&id);
            cx.event(AgentEvent::ToolResult { id, is_error, output: tools::result_text(&block["content"]), diff: None });
        }
    }

    fn context_tokens(&self, cx: &mut Cx<'_>, usage: &Value) {
        let keys = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
        if usage["input_tokens"].is_u64() {
            let counts = keys.iter().filter_map(|key| usage[*key].as_u64());
            let tokens: u64 = counts.fold(0, u64::saturating_add);
            if tokens > 0 {
                cx.event(AgentEvent::ContextUsage { tokens: Some(tokens), window: None });
            }
        }
    }

    /// Size of the window, from the result's per-model usage.
    pub(super) fn context_window(&self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(models) = frame["modelUsage"].as_object() else { return };
        let own = self.last_model.as_deref();
        let usage = models
            .iter()
            .find(|(name, usage)| own == Some(name.as_str()) || (own.is_some() && own == usage["canonicalModel"].as_str()))
            .or_else(|| models.iter().next());
        if let Some(window) = usage.and_then(|(_, usage)| usage["contextWindow"].as_u64()) {
            cx.event(AgentEvent::ContextUsage { tokens: None, window: Some(window) });
        }
    }
}

/// Content of an assistant or user frame: its blocks, or the one text that stands in their place.
fn content(frame: &Value) -> Vec<&Value> {
    match &frame["message"]["content"] {
        Value::Array(blocks) => blocks.iter().collect(),
        text @ Value::String(_) => vec![text],
        _ => Vec::new(),
    }
}

pub(super) fn is_api_error(frame: &Value) -> bool {
    frame["is_api_error_message"].as_bool() == Some(true) || !frame["error"].is_null()
}

/// The text of an API failure; the code where there is none.
pub(super) fn error_words(frame: &Value) -> String {
    let texts: Vec<&str> = content(frame).into_iter().map(tools::block_text).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { frame["error"].as_str().unwrap_or("unknown error").to_owned() } else { texts.join("\n") }
}
