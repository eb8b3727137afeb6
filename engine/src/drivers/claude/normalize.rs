//! What each frame of Claude Code becomes. Parsing is tolerant: what is not known is kept and skipped, and never ends a run.

use serde_json::Value;

use super::{
    driver::{Claude, Turn},
    fork::{TAG, TypedFork},
    result::task_status,
    tools,
};
use crate::{
    drivers::{Cx, Output},
    event::{AgentEvent, DoneStatus},
};

impl Claude {
    /// One frame from stdout.
    pub(super) fn frame(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        match frame["type"].as_str().unwrap_or_default() {
            "system" => self.system(cx, frame),
            "stream_event" => self.stream_event(cx, frame),
            "assistant" => match frame["parent_tool_use_id"].as_str() {
                Some(tag) => self.child_assistant(cx, tag, frame),
                None => self.assistant(cx, frame),
            },
            "user" => match frame["parent_tool_use_id"].as_str() {
                Some(tag) => self.child_user(cx, tag, frame),
                None => self.user(cx, frame),
            },
            "result" => self.result(cx, frame),
            "command_lifecycle" => self.lifecycle_frame(cx, frame),
            "control_request" => self.control_request(cx, frame),
            "control_cancel_request" => {
                if let Some(id) = frame["request_id"].as_str() {
                    self.control_cancelled(cx, id);
                }
            }
            "control_response" => self.control_response(cx, frame),
            "rate_limit_event" => {
                let info = &frame["rate_limit_info"];
                if info["status"].as_str() == Some("rejected") {
                    let kind = info["rateLimitType"].as_str().unwrap_or("rate");
                    self.visible(cx);
                    cx.event(AgentEvent::Error { message: format!("The provider's {kind} limit is reached.") });
                }
            }
            "conversation_reset" => cx.note("conversation-reset", "the conversation was cleared; a new session follows"),
            "tool_progress" => self.shows_life(cx),
            _ => {}
        }
    }

    fn lifecycle_frame(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        if let (Some(uuid), Some(state)) = (frame["command_uuid"].as_str(), frame["state"].as_str()) {
            self.lifecycle(cx, uuid, state);
        }
    }

    /// A heartbeat while a turn is open.
    fn shows_life(&mut self, cx: &mut Cx<'_>) {
        if self.turn_open() {
            cx.event(AgentEvent::ReasoningDelta { text: String::new(), part: None });
        }
    }

    /// Visible untagged output while no turn is open is a background turn's.
    fn visible(&mut self, _cx: &mut Cx<'_>) {
        if self.turn == Turn::None {
            self.turn = Turn::Background;
        }
        self.active_since_stop = true;
    }

    fn system(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        match frame["subtype"].as_str().unwrap_or_default() {
            "init" => self.init(cx, frame),
            "task_started" => self.task_started(cx, frame),
            "task_notification" => self.task_ended(cx, frame, frame["status"].as_str()),
            "task_updated" => self.task_ended(cx, frame, frame["patch"]["status"].as_str()),
            "background_tasks_changed" => self.background_changed(cx, frame),
            "compact_boundary" => {
                if let Some(tokens) = frame["compact_metadata"]["post_tokens"].as_u64() {
                    cx.event(AgentEvent::ContextUsage { tokens: Some(tokens), window: None });
                }
            }
            "command_lifecycle" => self.lifecycle_frame(cx, frame),
            "api_retry" => {
                let error = frame["error"].as_str().unwrap_or("unknown");
                cx.note("provider-retry", format!("attempt {} after {error}", frame["attempt"]));
                self.shows_life(cx);
            }
            "task_progress"
            | "thinking_tokens"
            | "status"
            | "session_title_changed"
            | "session_state_changed"
            | "informational"
            | "model_refusal_no_fallback" => self.shows_life(cx),
            _ => {}
        }
    }

    fn init(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(session) = frame["session_id"].as_str() else { return };
        if self.saw_init {
            if self.session_id.as_deref() != Some(session) {
                cx.note("session-changed", format!("the provider's session is now {session}"));
                self.session_id = Some(session.to_owned());
            }
            return;
        }
        self.saw_init = true;
        self.session_id = Some(session.to_owned());
        self.last_model = frame["model"].as_str().map(str::to_owned);
        let strings =
            |key: &str| frame[key].as_array().into_iter().flatten().filter_map(|tool| tool.as_str().map(str::to_owned)).collect();
        cx.event(AgentEvent::SessionStarted {
            harness: "claude-code".to_owned(),
            model: self.last_model.clone(),
            tools: strings("tools"),
            cwd: frame["cwd"].as_str().map(str::to_owned),
            session_id: session.to_owned(),
            assistant_message_id: self.assistant_id.clone(),
        });
    }

    /// The answer to initialize: commands for the composer.
    pub(super) fn initialized(&mut self, cx: &mut Cx<'_>, response: &Value) {
        let commands = response["commands"].as_array().into_iter().flatten();
        let commands: Vec<String> = commands.filter_map(|command| command["name"].as_str().map(str::to_owned)).collect();
        if !commands.is_empty() {
            cx.event(AgentEvent::AvailableCommands { commands });
        }
    }

    fn task_started(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(task) = id_of(frame, "task_id", "taskId") else { return };
        match id_of(frame, "tool_use_id", "toolUseId") {
            Some(tool) if frame["subagent_type"].is_string() => {
                // A later call that addresses the spawn (SendMessage) starts a new task of the same child.
                let chip = self.tool_spawns.get(tool).cloned().unwrap_or_else(|| tool.to_owned());
                self.agent_tasks.entry(task.to_owned()).or_insert(chip);
            }
            Some(_) => {}
            None => {
                let description = frame["description"].as_str().unwrap_or_default();
                if !description.starts_with('/') {
                    return;
                }
                self.settle_fork(cx, DoneStatus::Interrupted);
                self.visible(cx);
                let fork = TypedFork::open(cx, task, description, &frame["prompt"]);
                // An open typed fork counts as an open tool: a steer must wait for it, not cut it.
                self.open_tools.insert(fork.chip.clone());
                self.fork = Some(fork);
            }
        }
    }

    /// `task_updated` and `task_notification` are equal; the first terminal status of a task wins (K5).
    fn task_ended(&mut self, cx: &mut Cx<'_>, frame: &Value, word: Option<&str>) {
        let Some(task) = id_of(frame, "task_id", "taskId") else { return };
        let Some(status) = word.and_then(task_status) else { return };
        if let Some(fork) = self.fork.as_mut().filter(|fork| fork.task == task) {
            fork.status.get_or_insert(status);
            return;
        }
        if self.task_status.contains_key(task) {
            return;
        }
        self.task_status.insert(task.to_owned(), status);
        if self.background.remove(task) {
            cx.out.push(Output::Background(self.background.len()));
        }
        if let Some(chip) = self.agent_tasks.get(task).filter(|chip| self.chips.contains(*chip)).cloned() {
            cx.tagged(&chip, AgentEvent::Done { status, result: None, error: None, session_id: None, synthetic: None });
        }
    }

    fn background_changed(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let tasks = frame["tasks"].as_array().into_iter().flatten();
        self.background = tasks
            .filter_map(|task| id_of(task, "task_id", "taskId"))
            .filter(|task| !self.task_status.contains_key(*task))
            .map(str::to_owned)
            .collect();
        cx.out.push(Output::Background(self.background.len()));
    }

    fn stream_event(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let event = &frame["event"];
        let tag = frame["parent_tool_use_id"].as_str().map(str::to_owned);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" if tag.is_none() => self.current_message = event["message"]["id"].as_str().map(str::to_owned),
            "content_block_delta" => self.delta(cx, tag.as_deref(), event),
            "message_stop" if tag.is_none() => self.abandoned(cx, &frame["abandoned_blocks"]),
            _ => {}
        }
    }

    fn delta(&mut self, cx: &mut Cx<'_>, tag: Option<&str>, event: &Value) {
        let index = event["index"].as_u64().unwrap_or(0);
        let delta = &event["delta"];
        let (text, thinking) = match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => (delta["text"].as_str().unwrap_or_default(), false),
            "thinking_delta" => (delta["thinking"].as_str().unwrap_or_default(), true),
            "input_json_delta" if tag.is_none() => {
                cx.event(AgentEvent::ReasoningDelta { text: String::new(), part: None });
                return;
            }
            _ => return,
        };
        let Some(tag) = tag else {
            let message = self.current_message.clone().unwrap_or_default();
            self.streamed.entry(message.clone()).or_default().insert(index);
            let part = Some(format!("{message}/{index}"));
            if thinking {
                cx.event(AgentEvent::ReasoningDelta { text: text.to_owned(), part });
            } else if !text.is_empty() {
                self.visible(cx);
                cx.event(AgentEvent::TextDelta { text: text.to_owned(), part });
            }
            return;
        };
        let chip = self.retag(tag);
        if text.is_empty() {
            return;
        }
        let (text, part) = (text.to_owned(), None);
        cx.tagged(&chip, if thinking { AgentEvent::ReasoningDelta { text, part } } else { AgentEvent::TextDelta { text, part } });
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

    /// Tag under which the events of a child go: the chip of a pending typed fork, the spawn that a later call addresses, or
    /// the tag as it is.
    fn retag(&self, tag: &str) -> String {
        match &self.fork {
            Some(fork) if tag.starts_with(TAG) => fork.chip.clone(),
            _ => self.tool_spawns.get(tag).cloned().unwrap_or_else(|| tag.to_owned()),
        }
    }

    fn child_assistant(&mut self, cx: &mut Cx<'_>, tag: &str, frame: &Value) {
        let chip = self.retag(tag);
        if is_api_error(frame) {
            cx.tagged(&chip, AgentEvent::Error { message: error_words(frame) });
            return;
        }
        for block in blocks(frame) {
            match block["type"].as_str().unwrap_or_default() {
                "text" => {
                    let text = block["text"].as_str().unwrap_or_default().trim();
                    if !text.is_empty() {
                        cx.tagged(&chip, AgentEvent::TextDelta { text: format!("{text}\n\n"), part: None });
                    }
                }
                "thinking" => {
                    let text = block["thinking"].as_str().unwrap_or_default();
                    if !text.is_empty() {
                        cx.tagged(&chip, AgentEvent::ReasoningDelta { text: text.to_owned(), part: None });
                    }
                }
                "tool_use" => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    let call = tools::call(block["name"].as_str().unwrap_or_default(), &block["input"]);
                    cx.tagged(&chip, AgentEvent::ToolCall { id, call });
                }
                _ => {}
            }
        }
    }

    fn child_user(&mut self, cx: &mut Cx<'_>, tag: &str, frame: &Value) {
        let chip = self.retag(tag);
        if let Some(text) = frame["message"]["content"].as_str() {
            self.child_text(cx, &chip, text);
        }
        for block in blocks(frame) {
            match block["type"].as_str().unwrap_or_default() {
                "tool_result" => cx.tagged(
                    &chip,
                    AgentEvent::ToolResult {
                        id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
                        is_error: block["is_error"].as_bool().unwrap_or(false),
                        output: tools::result_text(&block["content"]),
                        diff: None,
                    },
                ),
                "text" => self.child_text(cx, &chip, block["text"].as_str().unwrap_or_default()),
                _ => {}
            }
        }
    }

    /// Tagged user text is a steer of the child, unless it is an echo or a marker of the CLI's own.
    fn child_text(&mut self, cx: &mut Cx<'_>, chip: &str, text: &str) {
        let bare = text.trim();
        if bare.is_empty() || bare.starts_with("<system-reminder>") || bare.starts_with("[Request interrupted") {
            return;
        }
        if let Some(fork) = self.fork.as_mut().filter(|fork| fork.chip == chip) {
            if fork.is_echo(text) {
                return;
            }
        }
        // The opening was seeded from the Agent call: its echo is dropped once (N5).
        if self.openings.get(chip).is_some_and(|opening| opening.trim() == bare) {
            self.openings.remove(chip);
            return;
        }
        cx.tagged(chip, AgentEvent::UserMessage { text: text.to_owned() });
    }

    fn assistant(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let message = &frame["message"];
        let message_id = message["id"].as_str().unwrap_or_default();
        let uuid = frame["uuid"].as_str().unwrap_or_default();
        if is_api_error(frame) {
            self.visible(cx);
            cx.event(AgentEvent::Error { message: error_words(frame) });
        } else {
            // Deltas were sent on already; replies of local commands, of forks and of the fallback come whole.
            let was_streamed = self.streamed.get(message_id).is_some_and(|blocks| !blocks.is_empty());
            for block in blocks(frame) {
                match block["type"].as_str().unwrap_or_default() {
                    "text" if !was_streamed => {
                        let text = block["text"].as_str().unwrap_or_default();
                        if !text.is_empty() {
                            self.visible(cx);
                            cx.event(AgentEvent::TextDelta { text: text.to_owned(), part: Some(uuid.to_owned()) });
                        }
                    }
                    "thinking" if !was_streamed => {
                        let text = block["thinking"].as_str().unwrap_or_default().to_owned();
                        cx.event(AgentEvent::ReasoningDelta { text, part: Some(uuid.to_owned()) });
                    }
                    "tool_use" => self.tool_use(cx, block),
                    _ => {}
                }
            }
            self.context_tokens(cx, &message["usage"]);
        }
        let closed = std::mem::replace(&mut self.assistant_id, cx.ids.uuid());
        self.last_native = Some((closed.clone(), uuid.to_owned()));
        cx.event(AgentEvent::AssistantMessageCompleted { assistant_message_id: closed });
    }

    fn tool_use(&mut self, cx: &mut Cx<'_>, block: &Value) {
        let id = block["id"].as_str().unwrap_or_default().to_owned();
        let name = block["name"].as_str().unwrap_or_default();
        let input = &block["input"];
        self.visible(cx);
        self.open_tools.insert(id.clone());
        cx.event(AgentEvent::ToolCall { id: id.clone(), call: tools::call(name, input) });
        if tools::spawns(name) {
            self.chips.insert(id.clone());
            if let Some(prompt) = input["prompt"].as_str().filter(|prompt| !prompt.trim().is_empty()) {
                self.openings.insert(id.clone(), prompt.to_owned());
                cx.tagged(&id, AgentEvent::UserMessage { text: prompt.to_owned() });
            }
        } else if name == "SendMessage" {
            self.send_message(cx, &id, input);
        }
    }

    /// SendMessage to a known agent: its text goes to the tab of the original spawn.
    fn send_message(&mut self, cx: &mut Cx<'_>, id: &str, input: &Value) {
        let keys = ["to", "agent_id", "agentId", "recipient", "task_id"];
        let chip = keys.iter().filter_map(|key| input[*key].as_str()).find_map(|to| self.agent_tasks.get(to).cloned());
        let Some(chip) = chip else { return };
        self.tool_spawns.insert(id.to_owned(), chip.clone());
        let text = ["message", "content", "prompt", "text"].iter().find_map(|key| input[*key].as_str());
        if let Some(text) = text {
            cx.tagged(&chip, AgentEvent::UserMessage { text: text.to_owned() });
        }
    }

    fn user(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        if frame["isReplay"].as_bool() == Some(true) {
            // A receipt: it confirms a message of ours; a uuid that is not ours has no effect.
            if let Some(uuid) = frame["uuid"].as_str().filter(|uuid| self.ours.contains_key(*uuid)).map(str::to_owned) {
                self.confirm(cx, &uuid);
                self.look_at_hold(cx);
            }
            return;
        }
        for block in blocks(frame) {
            if block["type"].as_str() != Some("tool_result") {
                continue;
            }
            let id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
            let is_error = block["is_error"].as_bool().unwrap_or(false);
            let refused = is_error && self.chips.contains(&id) && !self.agent_tasks.values().any(|chip| *chip == id);
            if refused {
                // A spawn that was refused has no task and so no terminal of its own: it must not run for ever.
                let done = AgentEvent::Done {
                    status: DoneStatus::Interrupted,
                    result: None,
                    error: None,
                    session_id: None,
                    synthetic: None,
                };
                cx.tagged(&id, done);
            }
            self.open_tools.remove(&id);
            cx.event(AgentEvent::ToolResult { id, is_error, output: tools::result_text(&block["content"]), diff: None });
        }
    }

    fn context_tokens(&self, cx: &mut Cx<'_>, usage: &Value) {
        let keys = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
        if usage["input_tokens"].is_u64() {
            let tokens: u64 = keys.iter().filter_map(|key| usage[*key].as_u64()).sum();
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
            .find(|(name, usage)| own == Some(name.as_str()) || own == usage["canonicalModel"].as_str())
            .or_else(|| models.iter().next());
        if let Some(window) = usage.and_then(|(_, usage)| usage["contextWindow"].as_u64()) {
            cx.event(AgentEvent::ContextUsage { tokens: None, window: Some(window) });
        }
    }
}

/// Content blocks of an assistant or user frame.
fn blocks(frame: &Value) -> impl Iterator<Item = &Value> {
    frame["message"]["content"].as_array().into_iter().flatten()
}

fn id_of<'a>(frame: &'a Value, key: &str, other: &str) -> Option<&'a str> {
    frame[key].as_str().or_else(|| frame[other].as_str())
}

fn is_api_error(frame: &Value) -> bool {
    frame["is_api_error_message"].as_bool() == Some(true) || !frame["error"].is_null()
}

/// The text of an API failure; the code where there is none.
fn error_words(frame: &Value) -> String {
    let texts: Vec<&str> = blocks(frame).filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { frame["error"].as_str().unwrap_or("unknown error").to_owned() } else { texts.join("\n") }
}
