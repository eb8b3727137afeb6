//! The Agent tool: launches, the prompt's echo, the hand-back.

use serde_json::{Value, json};

use super::{
    core::Core,
    state::{AfterDelta, Event, Task, TaskId, TaskKind, Thread},
    tools::Given,
};
use crate::claude::{pace, script::ChildScript};

impl Core {
    /// A task with a thread of its own.
    pub(super) fn new_child(
        &mut self,
        kind: TaskKind,
        call: Option<&str>,
        prompt: String,
        script: Option<ChildScript>,
    ) -> TaskId {
        let (id, run) = (self.agent_id(), self.run_id());
        let script = script.unwrap_or_default();
        let task = self.tasks.len();
        let mut thread = Thread::new(Some(task), prompt.clone(), script.answers);
        (thread.lead_ms, thread.tail_ms) = (script.lead_ms, script.tail_ms);
        self.threads.push(thread);
        let parent = call.and_then(|call| self.threads[self.jobs[call].thread].task);
        self.tasks.push(Task {
            id,
            run,
            kind,
            thread: Some(self.threads.len() - 1),
            call: call.map(str::to_owned),
            tag: call.unwrap_or_default().to_owned(),
            parent,
            background: false,
            description: String::new(),
            words: String::new(),
            subagent: "general-purpose".into(),
            prompt,
            started_ms: self.now_ms,
            running: true,
            announced: false,
            held: Vec::new(),
            ended_ms: 0,
            overtaken: false,
            killed_calls: Vec::new(),
            failure: None,
        });
        task
    }

    /// Launches an agent: in the background unless the call or the environment says otherwise.
    pub(super) fn launch_agent(&mut self, id: &str, index: usize) {
        let job = &self.jobs[id];
        let (thread, input) = (job.thread, job.input.clone());
        let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        let requested = input["run_in_background"].as_bool();
        let background = requested.unwrap_or(true) && !self.args.env.no_background;
        let script = self.script.children.remove(id);
        let task = self.new_child(TaskKind::Agent, Some(id), text("prompt"), script);
        self.jobs[id].task = Some(task);
        let subagent = Some(text("subagent_type")).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "general-purpose".into());
        let by_subagent = self.tasks[task].parent.is_some_and(|parent| self.is_agent(parent));
        self.stats.spawn(requested, background, by_subagent, &subagent);
        let owner = &mut self.tasks[task];
        owner.subagent = subagent;
        owner.description = text("description");
        owner.words = text("description");
        owner.background = background;
        if background {
            self.say_background_tasks();
        }
        self.say_started(task);
        if background {
            self.at_once_or_after_delta(thread, index, AfterDelta::Launched(id.to_owned()), true);
        } else {
            self.at_once_or_after_delta(thread, index, AfterDelta::Echo(task), self.profile.newer);
        }
        if let Some(child) = self.tasks[task].thread {
            let lead = self.threads[child].lead_ms;
            self.call(child, lead, Core::request);
        }
    }

    /// The prompt of a foreground agent or a fork, as its first tagged frame.
    pub(super) fn echo_prompt(&mut self, task: TaskId) {
        let prompt = self.tasks[task].prompt.clone();
        let frame = json!({
            "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": prompt}]},
            "parent_tool_use_id": null,
        });
        self.say_tagged(task, frame);
    }

    /// The result of a launch in the background.
    pub(super) fn launched(&mut self, id: &str) {
        let Some(task) = self.jobs.get(id).and_then(|job| job.task) else { return };
        let owner = &self.tasks[task];
        let file = self.output_file(&owner.id);
        let words = format!(
            "Async agent launched successfully. [scrubbed]\nagentId: {} ([scrubbed])\n[scrubbed]\noutput_file: {file}\n[scrubbed]",
            owner.id
        );
        let structured = json!({
            "isAsync": true, "status": "async_launched", "agentId": owner.id, "description": owner.description,
            "resolvedModel": self.model, "prompt": owner.prompt, "outputFile": file, "canReadOutputFile": true,
            "canContinueAgent": true,
        });
        let meta = json!({"permission_decision": self.jobs[id].decision});
        self.give(
            id,
            Given {
                content: json!([{"type": "text", "text": words}]),
                is_error: None,
                structured: Some(structured),
                meta: Some(meta),
            },
        );
    }

    /// An agent or a Skill fork has said its last word.
    pub(super) fn child_ends(&mut self, thread: usize) {
        let Some(task) = self.threads[thread].task else { return };
        match self.tasks[task].kind {
            TaskKind::Agent => self.agent_ends(task),
            TaskKind::SkillFork => self.skill_fork_ends(task),
            TaskKind::TypedFork => self.typed_fork_ends(task, "completed"),
            TaskKind::Command => {}
        }
    }

    fn agent_ends(&mut self, task: TaskId) {
        let failure = self.tasks[task].failure.clone();
        let status = if failure.is_some() { "failed" } else { "completed" };
        self.stats.end(failure.is_some());
        self.tasks[task].running = false;
        self.tasks[task].ended_ms = self.now_ms;
        self.say_updated(task, status, failure.as_deref());
        let report = self.tasks[task].thread.map(|thread| self.threads[thread].text.clone()).unwrap_or_default();
        let summary = failure.clone().unwrap_or(report);
        self.say_notification(task, status, &summary);
        if self.tasks[task].background {
            self.say_background_tasks();
            self.follow_up(task);
        } else if let Some(call) = self.tasks[task].call.clone() {
            self.after(pace::HAND_BACK, Event::ToolEnds(call));
        }
    }

    /// What a foreground agent hands back.
    pub(super) fn hand_back(&mut self, id: &str, task: TaskId) -> Given {
        let owner = &self.tasks[task];
        let Some(thread) = owner.thread.map(|thread| &self.threads[thread]) else { return Given::default() };
        let meta = Some(json!({"permission_decision": self.jobs[id].decision}));
        if let Some(failure) = &owner.failure {
            let words = format!("Agent terminated early due to an API error: {failure}");
            return Given {
                content: json!(words),
                is_error: Some(true),
                structured: Some(json!(format!("Error: {words}"))),
                meta,
            };
        }
        let duration = owner.ended_ms - owner.started_ms;
        let (tokens, uses) = (thread.last.total(), thread.tools.len());
        let used = used_line(&thread.tools);
        let noted = self.profile.newer && !thread.tools.is_empty();
        let mut text = String::new();
        let mut content: Vec<Value> = Vec::new();
        if noted {
            text = format!("  {used}\n  \n");
            content.push(json!({"type": "text", "text": format!("{used}\n")}));
        }
        content.push(json!({"type": "text", "text": thread.text}));
        let report = thread.text.replace('\n', "\n  ");
        text.push_str(&format!(
            "[Subagent hand-back] [scrubbed]\n  {report}\nagentId: {} ([scrubbed])\n<usage>subagent_tokens: {tokens}\ntool_uses: \
             {uses}\nduration_ms: {duration}</usage>",
            owner.id
        ));
        let bash = thread.tools.iter().filter(|tool| *tool == "Bash").count();
        let mut structured = json!({
            "status": "completed", "prompt": owner.prompt, "agentId": owner.id, "agentType": owner.subagent,
            "harnessNoteCount": u64::from(noted), "harnessTailCount": 0, "harnessSectionHash": "0000000000000000",
            "content": content, "resolvedModel": self.model, "totalDurationMs": duration, "totalTokens": tokens,
            "totalToolUseCount": uses, "usage": thread.last.usage(),
            "toolStats": {"readCount": 0, "searchCount": 0, "bashCount": bash, "editFileCount": 0, "linesAdded": 0,
                "linesRemoved": 0, "otherToolCount": uses - bash},
            "canContinueAgent": true,
        });
        if noted {
            structured["toolsUsed"] = json!(distinct(&thread.tools));
        }
        Given { content: json!([{"type": "text", "text": text}]), is_error: None, structured: Some(structured), meta }
    }
}

/// The line of the tools that a child used.
pub(super) fn used_line(tools: &[String]) -> String {
    format!("<tools-used-before-summary>{}</tools-used-before-summary>", distinct(tools).join(", "))
}

/// Tool names, each once.
fn distinct(tools: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for tool in tools {
        if !names.contains(tool) {
            names.push(tool.clone());
        }
    }
    names
}
