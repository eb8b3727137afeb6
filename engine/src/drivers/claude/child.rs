//! Tagged frames: what a child says and does. They never touch the parent's message (D5, D6).

use serde_json::Value;

use super::{
    driver::Claude,
    fork::TAG,
    reply::{error_words, is_api_error},
    tools,
};
use crate::{drivers::Cx, event::AgentEvent};

impl Claude {
    /// Tag under which the events of a child go: the chip of a pending typed fork, the spawn that a later call addresses, or
    /// the tag as it is.
    pub(super) fn retag(&self, tag: &str) -> String {
        match &self.fork {
            Some(fork) if tag.starts_with(TAG) => fork.chip.clone(),
            _ => self.tool_spawns.get(tag).cloned().unwrap_or_else(|| tag.to_owned()),
        }
    }

    pub(super) fn child_assistant(&mut self, cx: &mut Cx<'_>, tag: &str, frame: &Value) {
        let Some(content) = self.take_in(frame) else { return };
        let chip = self.retag(tag);
        if is_api_error(frame) {
            cx.tagged(&chip, AgentEvent::Error { message: error_words(frame) });
            return;
        }
        for block in content {
            match block["type"].as_str().unwrap_or_default() {
                "thinking" => {
                    let text = block["thinking"].as_str().unwrap_or_default();
                    if !text.is_empty() {
                        cx.tagged(&chip, AgentEvent::ReasoningDelta { text: text.to_owned(), part: None });
                    }
                }
                "tool_use" => {
                    if let Some(id) = block["id"].as_str() {
                        let call = tools::call(block["name"].as_str().unwrap_or_default(), &block["input"]);
                        cx.tagged(&chip, AgentEvent::ToolCall { id: id.to_owned(), call });
                    }
                }
                _ => {
                    let text = tools::block_text(block).trim();
                    if !text.is_empty() {
                        cx.tagged(&chip, AgentEvent::TextDelta { text: format!("{text}\n\n"), part: None });
                    }
                }
            }
        }
    }

    pub(super) fn child_user(&mut self, cx: &mut Cx<'_>, tag: &str, frame: &Value) {
        let Some(content) = self.take_in(frame) else { return };
        let chip = self.retag(tag);
        for block in content {
            if block["type"].as_str() == Some("tool_result") {
                let Some(id) = block["tool_use_id"].as_str() else { continue };
                let is_error = block["is_error"].as_bool().unwrap_or(false);
                let output = tools::result_text(&block["content"]);
                cx.tagged(&chip, AgentEvent::ToolResult { id: id.to_owned(), is_error, output, diff: None });
            } else {
                self.child_text(cx, &chip, tools::block_text(block));
            }
        }
    }

    /// Tagged user text is a steer of the child, unless it is an echo or a marker of the CLI's own.
    fn child_text(&mut self, cx: &mut Cx<'_>, chip: &str, text: &str) {
        let bare = text.trim();
        if bare.is_empty() || bare.starts_with("<system-reminder>") || bare.starts_with("[Request interrupted") {
            return;
        }
        if let Some(fork) = self.fork.as_mut().filter(|fork| fork.chip == chip)
            && fork.is_echo(text)
        {
            return;
        }
        // The opening was seeded from the Agent call: its echo is dropped once (N5).
        if self.openings.get(chip).is_some_and(|opening| opening.trim() == bare) {
            self.openings.remove(chip);
            return;
        }
        cx.tagged(chip, AgentEvent::UserMessage { text: text.to_owned() });
    }
}
