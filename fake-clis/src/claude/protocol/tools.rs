//! Tool calls: which tool it is, whether it may run, what it gives back.

use serde_json::{Value, json};

use super::{
    core::Core,
    permission::Verdict,
    state::{AfterDelta, Event, Job, JobState, TaskKind, ThreadId},
};
use crate::claude::{pace, script::Outcome};

/// A result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Given {
    /// The `content` of the block.
    pub(super) content: Value,
    /// `is_error`, where the block states it.
    pub(super) is_error: Option<bool>,
    /// `tool_use_result`.
    pub(super) structured: Option<Value>,
    /// The call's entry in `tool_result_meta`, without its id.
    pub(super) meta: Option<Value>,
}

impl Core {
    /// Whether this call is answered before its block has stopped: a tool that does not exist, and a question to the user.
    pub(super) fn begins_before_stop(&self, content: &Value) -> bool {
        let name = content["name"].as_str().unwrap_or_default();
        name == "AskUserQuestion" || !self.knows_tool(name)
    }

    fn knows_tool(&self, name: &str) -> bool {
        self.exists(name, &self.args.disallowed)
    }

    fn exists(&self, name: &str, disallowed: &[String]) -> bool {
        let tools = self.profile.tools(disallowed);
        let listed = |name: &str| tools.iter().any(|tool| tool == name);
        // The model calls the Agent tool by that name, init lists it under its old one.
        if name == "Agent" { listed("Task") } else { listed(name) }
    }

    /// Begins the tool of a block.
    pub(super) fn begin_tool(&mut self, thread: ThreadId, index: usize) {
        let Some(speaking) = self.threads[thread].reply.as_ref() else { return };
        let content = speaking.reply.blocks[index].content.clone();
        let id = content["id"].as_str().unwrap_or_default().to_owned();
        let name = content["name"].as_str().unwrap_or_default().to_owned();
        let outcome = self.script.outcomes.get(&id).cloned();
        let invalid = outcome.as_ref().is_some_and(|outcome| outcome.invalid);
        let known = self.knows_tool(&name);
        let job = Job {
            thread,
            name,
            input: content["input"].clone(),
            outcome,
            decision: Value::Null,
            state: JobState::Running,
            task: None,
        };
        self.threads[thread].open.push(id.clone());
        self.jobs.insert(id.clone(), job);
        if !known {
            self.no_such_tool(&id);
            return;
        }
        if invalid {
            self.run_scripted(&id);
            return;
        }
        match self.judge(&id) {
            Verdict::Allowed(decision) => {
                self.jobs[&id].decision = decision;
                self.run_tool(&id, index);
            }
            Verdict::Ask => {
                self.jobs[&id].state = JobState::Asking;
                let later = self.profile.newer && !self.begins_before_stop(&content);
                self.at_once_or_after_delta(thread, index, AfterDelta::Ask(id), later);
            }
            Verdict::Refused(given) => {
                self.note_denial(&id);
                self.give(&id, given);
            }
        }
    }

    /// A tool that is not there, or that the launch disallowed.
    fn no_such_tool(&mut self, id: &str) {
        let job = &self.jobs[id];
        let mut words = format!("Error: No such tool available: {}", job.name);
        if self.exists(&job.name, &[]) {
            words.push_str(&format!(". {} is disabled for this session, in subagents as well as here.", job.name));
        }
        let content = json!(format!("<tool_use_error>{words}</tool_use_error>"));
        self.give(id, Given { content, is_error: Some(true), structured: Some(json!(words)), meta: None });
    }

    /// Runs a tool that may run.
    pub(super) fn run_tool(&mut self, id: &str, index: usize) {
        self.jobs[id].state = JobState::Running;
        let job = &self.jobs[id];
        let in_background = job.input["run_in_background"] == true;
        match job.name.as_str() {
            "Agent" | "Task" => self.launch_agent(id, index),
            "Skill" => self.launch_skill(id, index),
            "AskUserQuestion" => self.questions_answered(id),
            "Bash" if in_background => self.launch_command(id),
            _ => self.run_scripted(id),
        }
    }

    /// Runs a tool whose outcome the script has, or makes one up.
    fn run_scripted(&mut self, id: &str) {
        let job = &self.jobs[id];
        let unknown = if self.script.unfinished.contains(id) { pace::UNKNOWN_TOOL } else { pace::UNSCRIPTED_TOOL };
        let ms = job.outcome.as_ref().map_or(unknown, |outcome| outcome.ms);
        if job.name == "Bash" {
            self.after(pace::ANNOUNCE, Event::Announce(id.to_owned()));
        }
        self.after(pace::HEARTBEAT, Event::Heartbeat(id.to_owned(), 0));
        self.after(ms, Event::ToolEnds(id.to_owned()));
    }

    /// A tool's time is over.
    pub(super) fn tool_ends(&mut self, id: &str) {
        let Some(job) = self.jobs.get(id).filter(|job| job.state == JobState::Running) else { return };
        let child = job.task.filter(|task| self.tasks[*task].thread.is_some());
        if let Some(task) = child {
            let given = if self.is_agent(task) { self.hand_back(id, task) } else { self.skill_hand_back(id, task) };
            self.give(id, given);
            return;
        }
        let outcome = job.outcome.clone().unwrap_or_else(|| default_outcome(&job.name));
        let meta = (!outcome.invalid).then(|| json!({"permission_decision": job.decision}));
        self.end_command_task(id);
        let given = Given { content: outcome.content, is_error: outcome.is_error, structured: outcome.structured, meta };
        self.give(id, given);
    }

    /// Says a tool's result; the thread goes on when it was the last one.
    pub(super) fn give(&mut self, id: &str, given: Given) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        job.state = JobState::Done;
        let thread = job.thread;
        self.say_result(thread, id, given);
        let state = &mut self.threads[thread];
        state.open.retain(|open| open != id);
        if state.waiting && state.open.is_empty() {
            self.after_tools(thread);
        }
    }

    /// `user[tool_result]`, of the main thread or tagged.
    pub(super) fn say_result(&mut self, thread: ThreadId, id: &str, given: Given) {
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": given.content});
        if let Some(is_error) = given.is_error {
            block["is_error"] = json!(is_error);
        }
        let mut frame = json!({
            "type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": null,
        });
        let main = self.is_main(thread);
        if let Some(structured) = given.structured.filter(|_| main || given.is_error == Some(true)) {
            frame["tool_use_result"] = structured;
        }
        if let Some(mut meta) = given.meta {
            meta["id"] = json!(id);
            frame["tool_result_meta"] = json!([meta]);
        }
        match self.threads[thread].task {
            None => {
                self.say_user(frame);
            }
            Some(task) => self.say_tagged(task, frame),
        }
    }

    /// A call that the host stopped or refused.
    pub(super) fn rejected(&self, id: &str, running: bool) -> Given {
        let texts = &self.profile.texts;
        let words = if running { &texts.rejected_running } else { &texts.rejected };
        let main = self.jobs.get(id).is_none_or(|job| self.is_main(job.thread));
        Given {
            content: json!(words),
            is_error: Some(true),
            structured: Some(json!("User rejected tool use")),
            meta: main.then(|| json!({"non_execution_kind": "user-rejected"})),
        }
    }

    /// Whether a task is a child of the Agent tool.
    pub(super) fn is_agent(&self, task: usize) -> bool {
        self.tasks[task].kind == TaskKind::Agent
    }
}

/// What a tool gives back that nobody scripted.
fn default_outcome(name: &str) -> Outcome {
    let words = format!("({name} completed with no output)");
    let structured = json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": true});
    Outcome { ms: 0, content: json!(words), is_error: Some(false), structured: Some(structured), invalid: false }
}
