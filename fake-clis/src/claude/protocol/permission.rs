//! Permissions: which calls run, which the host is asked about, which are refused, and what an answer does.

use serde_json::{Value, json};

use super::{
    core::Core,
    state::{Event, JobState},
    tools::Given,
};
use crate::claude::{pace, rules};

/// What is to become of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It runs; the words of `permission_decision`.
    Allowed(Value),
    /// The host is asked.
    Ask,
    /// It is refused in place.
    Refused(Given),
}

/// Commands that only read: they run without a question.
const READING: [&str; 12] = ["echo", "ls", "cat", "pwd", "head", "tail", "wc", "which", "date", "grep", "find", "true"];
/// Commands that write files: `acceptEdits` lets them run.
const WRITING: [&str; 7] = ["touch", "mkdir", "rm", "rmdir", "mv", "cp", "sed"];

impl Core {
    /// The table of permissions: tool and command against the mode.
    pub(super) fn judge(&self, id: &str) -> Verdict {
        let job = &self.jobs[id];
        let command = job.input["command"].as_str().unwrap_or_default();
        let program = command.split_whitespace().next().unwrap_or_default();
        let by_mode = || Verdict::Allowed(json!({"decision": "accept", "source": "config", "reason_type": "mode"}));
        let by_rule = || Verdict::Allowed(json!({"decision": "accept", "source": "config"}));
        match (job.name.as_str(), self.mode.as_str()) {
            ("AskUserQuestion", _) => self.ask_or_refuse(id, program),
            (_, "bypassPermissions") => by_mode(),
            ("Bash", "acceptEdits") if WRITING.contains(&program) => by_mode(),
            ("Edit" | "Write" | "NotebookEdit", "acceptEdits") => by_mode(),
            ("Bash", _) if READING.contains(&program) && !command.contains(['>', ';', '|', '&']) => by_rule(),
            (tool, _) if self.allowed_by_rules(job.thread, tool, command) => by_rule(),
            ("Bash" | "Edit" | "Write" | "NotebookEdit" | "WebFetch" | "WebSearch", _) => self.ask_or_refuse(id, program),
            _ => by_rule(),
        }
    }

    /// The launch's `--allowedTools`, or the `allowed-tools` of the skill that calls.
    fn allowed_by_rules(&self, thread: usize, tool: &str, command: &str) -> bool {
        if self.args.allowed.iter().any(|rule| rules::names(rule, tool, command)) {
            return true;
        }
        let Some(task) = self.threads[thread].task.map(|task| &self.tasks[task]) else { return false };
        let name = task.description.trim_start_matches('/');
        let Some(skill) = self.profile.skills.get(name) else { return false };
        skill.allowed.iter().any(|rule| rules::names(rule, tool, command))
    }

    /// A typed fork never asks; nor does a process whose host does not answer.
    fn ask_or_refuse(&self, id: &str, program: &str) -> Verdict {
        let job = &self.jobs[id];
        let silent = self.threads[job.thread].task.is_some_and(|task| self.holder(task).is_some());
        if self.args.asks_host && !silent {
            return Verdict::Ask;
        }
        let what = self.blocked_path(&job.input).map_or_else(
            || format!("{} needs approval. [scrubbed]", job.name),
            |path| format!("{program} in '{path}' needs approval. [scrubbed]"),
        );
        let mut meta = json!({"permission_decision": {"decision": "reject", "source": "config"}});
        if self.profile.newer {
            meta["non_execution_kind"] = json!("user-rejected");
        }
        Verdict::Refused(Given {
            content: json!(what),
            is_error: Some(true),
            structured: Some(json!(format!("Error: {what}"))),
            meta: Some(meta),
        })
    }

    /// The file that a writing command names, below the working directory.
    fn blocked_path(&self, input: &Value) -> Option<String> {
        let mut words = input["command"].as_str()?.split_whitespace();
        let program = words.next()?;
        let file = words.find(|word| !word.starts_with('-'))?;
        WRITING
            .contains(&program)
            .then(|| if file.starts_with('/') { file.to_owned() } else { format!("{}/{file}", self.launch.cwd) })
    }

    /// `can_use_tool`.
    pub(super) fn ask_host(&mut self, id: &str) {
        let request_id = self.uuid();
        let job = &self.jobs[id];
        let mut request = json!({
            "subtype": "can_use_tool", "tool_name": job.name, "display_name": job.name, "input": job.input,
        });
        if job.name == "AskUserQuestion" {
            request["tool_use_id"] = json!(id);
            request["requires_user_interaction"] = json!(true);
        } else {
            if let Some(description) = job.input.get("description") {
                request["description"] = description.clone();
            }
            let command = job.input["command"].as_str().unwrap_or_default();
            let rule = json!({"type": "addRules", "rules": [{"toolName": job.name, "ruleContent": command}],
                "behavior": "allow", "destination": "localSettings"});
            match self.blocked_path(&job.input) {
                Some(path) => {
                    let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
                    request["permission_suggestions"] = json!([
                        rule,
                        {"type": "addDirectories", "directories": [folder], "destination": "session"},
                        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
                    ]);
                    request["blocked_path"] = json!(path);
                }
                None => {
                    request["permission_suggestions"] = json!([rule]);
                    request["decision_reason"] = json!("This command requires approval");
                    request["decision_reason_type"] = json!("other");
                }
            }
            request["tool_use_id"] = json!(id);
        }
        if let Some(task) = self.threads[job.thread].task {
            request["agent_id"] = json!(self.tasks[task].id);
        }
        self.questions.insert(request_id.clone(), id.to_owned());
        self.session_state("requires_action");
        self.say_bare(&json!({"type": "control_request", "request_id": request_id, "request": request}));
    }

    /// `session_state_changed`, for hosts that read it.
    pub(super) fn session_state(&mut self, state: &str) {
        if self.args.env.session_state {
            self.say(json!({"type": "system", "subtype": "session_state_changed", "state": state, "sdk_host_only": true}));
        }
    }

    /// The host answered a question: the answer is taken when the message that asked has ended.
    pub(super) fn take_answer(&mut self, frame: &Value) {
        let request = frame["response"]["request_id"].as_str().unwrap_or_default().to_owned();
        // An answer may cross the withdrawal of its question: that is nobody's fault, and nothing comes of it.
        if self.withdrawn.contains(&request) {
            return;
        }
        if !self.questions.contains_key(&request) {
            self.breach("answer-without-question", format!("control_response to {request}, which nobody asked or is settled"));
            return;
        }
        self.answers.insert(request.clone(), frame.clone());
        self.after(pace::ANSWERED, Event::Answered(request));
    }

    /// Takes answers that waited for the end of a thread's message.
    pub(super) fn take_waiting_answers(&mut self, thread: usize) {
        let waiting: Vec<String> = self.answers.keys().cloned().collect();
        for request in waiting {
            let of_thread = self.questions.get(&request).and_then(|id| self.jobs.get(id)).is_some_and(|j| j.thread == thread);
            if of_thread {
                self.after(pace::ANSWERED, Event::Answered(request));
            }
        }
    }

    /// Acts on an answer: echo, then what it decides.
    pub(super) fn answered(&mut self, request: &str) {
        let Some(id) = self.questions.get(request).cloned() else { return };
        let Some(thread) = self.jobs.get(&id).map(|job| job.thread) else { return };
        if self.threads[thread].streams() {
            return;
        }
        let Some(frame) = self.answers.shift_remove(request) else { return };
        self.questions.shift_remove(request);
        if self.args.replay {
            self.say_bare(&frame);
        }
        self.session_state("running");
        let response = &frame["response"]["response"];
        match (frame["response"]["subtype"].as_str(), response["behavior"].as_str()) {
            (Some("success"), Some("allow")) => self.allow(&id, response),
            (Some("success"), Some("deny")) => self.deny(&id, response),
            (Some("error"), _) => self.deny(&id, &json!({"message": frame["response"]["error"]})),
            _ => {
                let words = "can_use_tool wants behavior allow or deny".to_owned();
                self.breach("answer-without-behavior", words);
                self.deny(&id, &json!({}));
            }
        }
    }

    fn allow(&mut self, id: &str, response: &Value) {
        if let Some(input) = response.get("updatedInput").filter(|input| input.is_object()) {
            self.jobs[id].input = input.clone();
        }
        let modes = response["updatedPermissions"].as_array().into_iter().flatten();
        let mode = modes.filter(|update| update["type"] == "setMode").find_map(|update| update["mode"].as_str());
        if let Some(mode) = mode.map(str::to_owned) {
            self.set_mode(&mode);
        }
        self.jobs[id].decision = json!({"decision": "accept", "source": "user_temporary"});
        self.run_tool(id, 0);
    }

    fn deny(&mut self, id: &str, response: &Value) {
        self.note_denial(id);
        if response["interrupt"] == true {
            self.stop_turn_at_denied(id);
            return;
        }
        let words = response["message"].as_str().unwrap_or("Permission denied").to_owned();
        self.give(
            id,
            Given {
                content: json!(words),
                is_error: Some(true),
                structured: Some(json!(format!("Error: {words}"))),
                meta: Some(json!({
                    "non_execution_kind": "permission-rule",
                    "permission_decision": {"decision": "reject", "source": "user_reject"},
                })),
            },
        );
    }

    /// A call for `result.permission_denials`.
    pub(super) fn note_denial(&mut self, id: &str) {
        let Some(job) = self.jobs.get(id) else { return };
        let denial = json!({"tool_name": job.name, "tool_use_id": id, "tool_input": job.input});
        if let Some(turn) = self.turn.as_mut() {
            turn.denials.push(denial);
        }
    }

    /// The user's answers to AskUserQuestion.
    pub(super) fn questions_answered(&mut self, id: &str) {
        let input = self.jobs[id].input.clone();
        let answers = input["answers"].as_object().cloned().unwrap_or_default();
        let said: Vec<String> = answers.iter().map(|(question, answer)| format!("\"{question}\"={answer}")).collect();
        let decision = self.jobs[id].decision.clone();
        self.give(
            id,
            Given {
                content: json!(format!(
                    "Your questions have been answered: {}. You can now continue with these answers in mind.",
                    said.join(", ")
                )),
                is_error: None,
                structured: Some(json!({"questions": input["questions"], "answers": answers})),
                meta: Some(json!({"permission_decision": decision})),
            },
        );
    }

    /// Takes back the questions of some threads: `control_cancel_request`.
    pub(super) fn withdraw_questions(&mut self, threads: &[usize]) {
        let open: Vec<(String, String)> = self.questions.iter().map(|(r, id)| (r.clone(), id.clone())).collect();
        for (request, id) in open {
            let asking = self.jobs.get(&id).filter(|job| threads.contains(&job.thread));
            if asking.is_some_and(|job| job.state == JobState::Asking) {
                self.questions.shift_remove(&request);
                self.answers.shift_remove(&request);
                self.withdrawn.insert(request.clone());
                self.say_bare(&json!({"type": "control_cancel_request", "request_id": request}));
            }
        }
    }
}
