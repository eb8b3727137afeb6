//! Control requests of the host and their answers.

mod unplayed;

use serde_json::{Value, json};

use super::{core::Core, state::TaskKind, task_frames::Killer};
use crate::claude::args::MODES;

impl Core {
    /// Answers a control request.
    pub(super) fn control(&mut self, request_id: &str, request: &Value) {
        let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        match request["subtype"].as_str().unwrap_or_default() {
            "initialize" => {
                self.spares_background = request["perTaskStopAffordance"] == true;
                self.args.env.forward_text |= request["forwardSubagentText"] == true;
                let answer = self.constant_answer("initialize");
                self.say_bare(&json!({"type": "control_response", "response": {
                    "subtype": "success", "request_id": request_id, "response": answer,
                    "pending_permission_requests": [], "pending_user_dialog_requests": [],
                }}));
            }
            "get_status" | "get_settings" | "get_context_usage" | "list_models" | "mcp_status" => {
                if request["subtype"] == "get_context_usage" {
                    self.tape("control_response");
                }
                let answer = self.constant_answer(request["subtype"].as_str().unwrap_or_default());
                self.answer(request_id, Some(answer));
            }
            "interrupt" => self.interrupt(request_id, request),
            "set_model" => self.set_model(request_id, &text("model")),
            "set_permission_mode" => self.set_permission_mode(request_id, &text("mode")),
            "set_max_thinking_tokens" => self.answer(request_id, None),
            "get_session_cost" => {
                let cost = self.cost_text();
                self.answer(request_id, Some(json!({"text": cost})));
            }
            "rename_session" => {
                self.say(json!({"type": "system", "subtype": "session_title_changed", "title": text("title")}));
                self.record_title(&text("title"));
                self.answer(request_id, None);
            }
            "cancel_async_message" => self.cancel_message(request_id, &text("message_uuid")),
            "stop_task" => self.stop_task(request_id, &text("task_id")),
            other if unplayed::REQUESTS.contains(&other) => {
                let words = format!("control request {other} was never recorded: this understudy cannot answer it");
                self.off_script(words.clone());
                self.refuse(request_id, &format!("rehearsal: {words}"), None);
            }
            other => {
                let words = format!("Unsupported control request subtype: {other}");
                self.breach("unknown-control-subtype", words.clone());
                self.refuse(request_id, &words, self.profile.newer.then_some("unsupported_request"));
            }
        }
    }

    /// `control_response/success`.
    pub(super) fn answer(&mut self, request_id: &str, response: Option<Value>) {
        let mut body = json!({"subtype": "success", "request_id": request_id});
        if let Some(response) = response {
            body["response"] = response;
        }
        self.say_bare(&json!({"type": "control_response", "response": body}));
    }

    /// `control_response/error`.
    fn refuse(&mut self, request_id: &str, words: &str, code: Option<&str>) {
        let mut body = json!({"subtype": "error", "request_id": request_id, "error": words});
        if let Some(code) = code {
            body["error_code"] = json!(code);
        }
        self.say_bare(&json!({"type": "control_response", "response": body}));
    }

    /// An answer that is a constant of the version, with what this process is put in.
    fn constant_answer(&self, subtype: &str) -> Value {
        let mut answer = self.profile.answers.get(subtype).cloned().unwrap_or_else(|| json!({}));
        match subtype {
            "initialize" => {
                answer["pid"] = json!(self.launch.pid);
                answer["current_permission_mode"] = json!(self.mode);
            }
            "get_settings" => answer["applied"]["model"] = json!(self.model),
            "get_context_usage" => answer["model"] = json!(self.model),
            "get_status" => {
                for section in answer["sections"].as_array_mut().into_iter().flatten() {
                    for row in section["rows"].as_array_mut().into_iter().flatten() {
                        let value = match row["label"].as_str() {
                            Some("Session ID") => self.session.clone(),
                            Some("cwd") => self.launch.cwd.clone(),
                            Some("Model") => self.model.clone(),
                            Some("Anthropic base URL") => self.args.env.base_url.clone(),
                            _ => continue,
                        };
                        row["value"] = json!(value);
                    }
                }
            }
            _ => {}
        }
        answer
    }

    /// Any name that the API takes is accepted. Once a turn has run, a replay that nobody sent comes before the answer.
    fn set_model(&mut self, request_id: &str, name: &str) {
        let resolved = self.profile.resolve(if name.is_empty() { "default" } else { name });
        if self.had_turn {
            let shown = if name != "default" && resolved != name { format!("{name} ({resolved})") } else { resolved.clone() };
            let words = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
            let uuid = self.uuid();
            let frame = self.replay(Some(&uuid), &json!(words));
            self.say_replay(frame);
        }
        self.model.clone_from(&resolved);
        self.answer(request_id, Some(json!({"model": resolved})));
    }

    fn set_permission_mode(&mut self, request_id: &str, mode: &str) {
        if !MODES.contains(&mode) {
            let mut modes = MODES;
            modes.sort_unstable();
            let words = format!("Cannot set permission mode: must be one of {}", modes.join(", "));
            self.breach("unknown-permission-mode", words.clone());
            self.refuse(request_id, &words, Some("invalid_mode"));
            return;
        }
        self.answer(request_id, Some(json!({"mode": mode})));
        self.set_mode(mode);
    }

    /// The mode changes: a status frame says so.
    pub(super) fn set_mode(&mut self, mode: &str) {
        mode.clone_into(&mut self.mode);
        self.say(json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode}));
    }

    /// `cancel_async_message`: only a message that still waits can be taken back.
    fn cancel_message(&mut self, request_id: &str, uuid: &str) {
        let position = self.queue.iter().position(|message| message.uuid.as_deref() == Some(uuid));
        let cancelled = position.and_then(|position| self.queue.remove(position)).is_some();
        if cancelled {
            self.lifecycle(Some(uuid), "cancelled");
        }
        let mut response = json!({"cancelled": cancelled});
        if self.profile.newer {
            response["message_uuid"] = json!(uuid);
        }
        self.answer(request_id, Some(response));
    }

    /// `stop_task`: the task's last frames, the answer, then its killed call and a follow-up turn.
    fn stop_task(&mut self, request_id: &str, id: &str) {
        let Some(task) = self.tasks.iter().position(|task| task.id == id && task.running) else {
            let words = format!("No task found with ID: {id}");
            // A task may end while the request is under way; only one that never was is a mistake.
            if !self.tasks.iter().any(|task| task.id == id) {
                self.breach("unknown-task", words.clone());
            }
            self.refuse(request_id, &words, None);
            return;
        };
        let call = self.tasks[task].call.clone();
        match (self.tasks[task].background, self.tasks[task].kind) {
            (true, _) => {
                self.kill_background(task);
                self.answer(request_id, Some(json!({})));
                self.follow_up(task);
            }
            (false, TaskKind::TypedFork) => {
                self.interrupt_typed_fork(task);
                self.answer(request_id, Some(json!({})));
            }
            (false, kind) => {
                // What the caller of a stopped foreground task is told is not recorded: the words of a stopped child.
                if kind == TaskKind::Command {
                    self.tasks[task].running = false;
                    let words = self.tasks[task].description.clone();
                    self.say_notification(task, "stopped", &words);
                } else {
                    self.kill_agent(task, Killer::User);
                }
                self.answer(request_id, Some(json!({})));
                if let Some(call) = call {
                    self.give_interrupted(&call);
                }
            }
        }
    }
}
