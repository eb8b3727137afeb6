//! What each frame of Claude Code becomes. Parsing is tolerant: what is not known is kept and skipped, and never ends a run.

use serde_json::Value;

use super::{
    control::strings,
    driver::{Claude, Turn},
};
use crate::{drivers::Cx, event::AgentEvent};

impl Claude {
    /// One frame from stdout.
    pub(super) fn frame(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        match frame["type"].as_str().unwrap_or_default() {
            "system" => self.system(cx, frame),
            kind @ ("stream_event" | "assistant" | "user") => {
                let tag = match &frame["parent_tool_use_id"] {
                    Value::Null => None,
                    Value::String(tag) => Some(tag.as_str()),
                    // A child's frame never appears as the parent's (D5), so a tag that cannot be read costs the frame.
                    _ => return self.bad_record(cx, "a frame whose parent_tool_use_id is no text; it is skipped"),
                };
                match (kind, tag) {
                    ("stream_event", tag) => self.stream_event(cx, tag, frame),
                    ("assistant", Some(tag)) => self.child_assistant(cx, tag, frame),
                    ("assistant", None) => self.assistant(cx, frame),
                    (_, Some(tag)) => self.child_user(cx, tag, frame),
                    (_, None) => self.user(cx, frame),
                }
            }
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
                    self.shows_error(cx, format!("The provider's {kind} limit is reached."));
                }
            }
            "conversation_reset" => cx.note("conversation-reset", "the conversation was cleared; a new session follows"),
            // Its parent_tool_use_id is the tool's own id, never a child's.
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
    pub(super) fn visible(&mut self) {
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
                let tokens = frame["compact_metadata"]["post_tokens"].as_u64();
                if tokens.is_some() && !self.is_repeat(frame) {
                    cx.event(AgentEvent::ContextUsage { tokens, window: None });
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

    /// Whether a complete frame without content came before under its uuid (K23).
    fn is_repeat(&mut self, frame: &Value) -> bool {
        match frame["uuid"].as_str() {
            Some(uuid) if self.seen.contains_key(uuid) => true,
            Some(uuid) => {
                self.seen.insert(uuid.to_owned(), Default::default());
                false
            }
            None => false,
        }
    }

    /// The first one names the session; it comes once a turn, and only another id in a later one tells anything new.
    pub(super) fn init(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(session) = frame["session_id"].as_str() else { return };
        if let Some(model) = frame["model"].as_str() {
            self.last_model = Some(model.to_owned());
        }
        if self.saw_init {
            if self.session_id.as_deref() != Some(session) {
                cx.note("session-changed", format!("the provider's session is now {session}"));
                self.session_id = Some(session.to_owned());
            }
            return;
        }
        self.saw_init = true;
        self.session_id = Some(session.to_owned());
        cx.event(AgentEvent::SessionStarted {
            harness: "claude-code".to_owned(),
            model: self.last_model.clone(),
            tools: strings(&frame["tools"]).collect(),
            cwd: frame["cwd"].as_str().map(str::to_owned),
            session_id: session.to_owned(),
            assistant_message_id: self.assistant_id.clone(),
        });
        self.look_for_mcp(cx, &frame["mcp_servers"]);
    }

    /// A server that was passed and is not listed is missed by the model: said once, and mended by a fresh process (K15).
    fn look_for_mcp(&mut self, cx: &mut Cx<'_>, listed: &Value) {
        let (Some(server), Some(listed)) = (&self.mcp, listed.as_array()) else { return };
        if !listed.iter().any(|entry| entry["name"].as_str() == Some(&server.name)) {
            let message = format!("Claude Code started without the MCP server `{}`.", server.name);
            self.retiring = true;
            self.shows_error(cx, message);
        }
    }
}
