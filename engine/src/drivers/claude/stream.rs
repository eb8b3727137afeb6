//! `stream_event` frames: deltas, and what the provider takes back of them.

use serde_json::Value;

use super::driver::Claude;
use crate::{drivers::Cx, event::AgentEvent};

impl Claude {
    pub(super) fn stream_event(&mut self, cx: &mut Cx<'_>, tag: Option<&str>, frame: &Value) {
        let event = &frame["event"];
        match event["type"].as_str().unwrap_or_default() {
            "message_start" if tag.is_none() => {
                let id = event["message"]["id"].as_str().or_else(|| frame["api_message_id"].as_str());
                self.current_message = id.map(str::to_owned);
            }
            "content_block_delta" => match tag {
                Some(tag) => self.child_delta(cx, tag, &event["delta"]),
                None => self.delta(cx, event),
            },
            "message_stop" if tag.is_none() => self.abandoned(cx, &frame["abandoned_blocks"]),
            _ => {}
        }
    }

    fn delta(&mut self, cx: &mut Cx<'_>, event: &Value) {
        let index = event["index"].as_u64().unwrap_or(0);
        let delta = &event["delta"];
        let text = match delta["type"].as_str().unwrap_or_default() {
            kind @ ("text_delta" | "thinking_delta") => {
                let key = if kind == "text_delta" { "text" } else { "thinking" };
                delta[key].as_str().unwrap_or_default().to_owned()
            }
            // A tool's input is streamed: it shows life, and the call comes whole.
            "input_json_delta" => {
                cx.event(AgentEvent::ReasoningDelta { text: String::new(), part: None });
                return;
            }
            _ => return,
        };
        let message = self.current_message.clone().unwrap_or_default();
        let part = Some(format!("{message}/{index}"));
        self.streamed.entry(message).or_default().insert(index);
        if delta["type"].as_str() == Some("thinking_delta") {
            cx.event(AgentEvent::ReasoningDelta { text, part });
        } else if !text.is_empty() {
            self.visible();
            cx.event(AgentEvent::TextDelta { text, part });
        }
    }

    fn child_delta(&mut self, cx: &mut Cx<'_>, tag: &str, delta: &Value) {
        let chip = self.retag(tag);
        let text = |key: &str| delta[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        match delta["type"].as_str() {
            Some("text_delta") => {
                if let Some(text) = text("text") {
                    cx.tagged(&chip, AgentEvent::TextDelta { text, part: None });
                }
            }
            Some("thinking_delta") => {
                if let Some(text) = text("thinking") {
                    cx.tagged(&chip, AgentEvent::ReasoningDelta { text, part: None });
                }
            }
            _ => {}
        }
    }

    /// What the provider took back is not shown: it says it again under a new message id.
    fn abandoned(&mut self, cx: &mut Cx<'_>, blocks: &Value) {
        let Some(from) = blocks["from_block_index"].as_u64() else { return };
        let message = blocks["api_message_id"].as_str().map(str::to_owned).or_else(|| self.current_message.clone());
        let Some(message) = message else { return };
        let Some(streamed) = self.streamed.get_mut(&message) else { return };
        for index in streamed.split_off(&from) {
            cx.event(AgentEvent::TextSnapshot { part: format!("{message}/{index}"), text: String::new() });
        }
    }
}
