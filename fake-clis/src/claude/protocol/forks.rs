//! Forks: the Skill tool's, which speak live, and typed ones, which are silent until they end.

use serde_json::{Value, json};

use super::{
    agents::used_line,
    core::Core,
    state::{AfterDelta, Event, JobState, Kind, MAIN, Message, TaskId, TaskKind, Turn},
    task_frames::Killer,
    tools::Given,
};
use crate::claude::pace;

impl Core {
    /// What a skill's fork is told.
    fn fork_prompt(&self, name: &str, args: &str) -> String {
        let body = self.profile.skills.get(name).map(|skill| skill.body.clone()).unwrap_or_default();
        let mut prompt = format!("Base directory for this skill: {}/.claude/skills/{name}\n\n{body}", self.launch.cwd);
        if !args.is_empty() {
            prompt.push_str(&format!("\n\nARGUMENTS: {args}"));
        }
        prompt
    }

    /// The Skill tool's call of a skill with `context: fork`.
    pub(super) fn launch_skill(&mut self, id: &str, index: usize) {
        let input = self.jobs[id].input.clone();
        let name = input["skill"].as_str().unwrap_or_default().trim_start_matches('/').to_owned();
        let args = input["args"].as_str().unwrap_or_default();
        let prompt = self.fork_prompt(&name, args);
        let thread = self.jobs[id].thread;
        let script = self.script.children.remove(id);
        let task = self.new_child(TaskKind::SkillFork, Some(id), prompt, script);
        self.jobs[id].task = Some(task);
        self.describe_fork(task, &name);
        self.say_started(task);
        self.at_once_or_after_delta(thread, index, AfterDelta::Echo(task), self.profile.newer);
        if let Some(child) = self.tasks[task].thread {
            let lead = self.threads[child].lead_ms;
            self.call(child, lead, Core::request);
        }
    }

    fn describe_fork(&mut self, task: TaskId, name: &str) {
        self.tasks[task].description = format!("/{name}");
        self.tasks[task].words = self.profile.skills.get(name).map(|skill| skill.description.clone()).unwrap_or_default();
    }

    pub(super) fn skill_fork_ends(&mut self, task: TaskId) {
        self.tasks[task].running = false;
        self.tasks[task].ended_ms = self.now_ms;
        let status = if self.tasks[task].failure.is_some() { "failed" } else { "completed" };
        let words = self.tasks[task].description.clone();
        self.say_notification(task, status, &words);
        if let Some(call) = self.tasks[task].call.clone() {
            self.after(pace::HAND_BACK, Event::ToolEnds(call));
        }
    }

    /// What a Skill fork hands back.
    pub(super) fn skill_hand_back(&self, id: &str, task: TaskId) -> Given {
        let owner = &self.tasks[task];
        let Some(thread) = owner.thread.map(|thread| &self.threads[thread]) else { return Given::default() };
        let name = owner.description.trim_start_matches('/');
        let noted = self.profile.newer && !thread.tools.is_empty();
        let used = used_line(&thread.tools);
        let note = if noted { format!("{used}\n") } else { String::new() };
        let content = format!("{note}Skill \"{name}\" completed (forked execution).\n\nResult:\n{}", thread.text);
        let mut structured = json!({
            "success": true, "commandName": name, "status": "forked", "agentId": owner.id, "result": thread.text,
        });
        if noted {
            structured["toolsUsedLine"] = json!(used);
        }
        Given {
            content: json!(content),
            is_error: None,
            structured: Some(structured),
            meta: Some(json!({"permission_decision": self.jobs[id].decision})),
        }
    }

    // ---- typed forks ----

    /// A typed `/skill` with a fork: silence until it ends.
    pub(super) fn begin_typed_fork(&mut self, message: Message, name: &str, args: &str) {
        let prompt = self.fork_prompt(name, args);
        let script = self
            .script
            .forks
            .iter()
            .position(|fork| fork.command == name)
            .or(if self.script.forks.is_empty() { None } else { Some(0) })
            .and_then(|position| self.script.forks.remove(position));
        // The turn of the script that belongs to it has no answers of the main thread.
        self.take_turn_script(&message.text);
        let task = self.new_child(TaskKind::TypedFork, None, prompt, script);
        self.tasks[task].tag = format!("forked-command-{name}");
        self.describe_fork(task, name);
        self.turn = Some(Turn::new(Kind::Fork(task), Some(message), self.now_ms));
        self.call(MAIN, pace::STARTED, Core::say_turn_started);
        self.call(MAIN, pace::FORK, Core::start_typed_fork);
    }

    fn start_typed_fork(&mut self, _: usize) {
        let Some(Kind::Fork(task)) = self.turn.as_ref().map(|turn| turn.kind.clone()) else { return };
        self.announce_fork(task);
        if let Some(thread) = self.tasks[task].thread {
            self.call(thread, 0, Core::request);
        }
    }

    /// `task_started` of a typed fork. One that is stopped before it began begins first.
    pub(super) fn announce_fork(&mut self, task: TaskId) {
        if self.tasks[task].announced {
            return;
        }
        self.say_turn_started(MAIN);
        self.tasks[task].started_ms = self.now_ms;
        self.say_started(task);
        self.echo_prompt(task);
    }

    /// The fork is over: its agents lose their parent, its notification comes, then everything it held.
    pub(super) fn typed_fork_ends(&mut self, task: TaskId, status: &str) {
        let status = if self.tasks[task].failure.is_some() { "failed" } else { status };
        let has_background = self.tasks.iter().any(|other| other.running && other.background && other.parent == Some(task));
        self.tasks[task].running = false;
        self.tasks[task].ended_ms = self.now_ms;
        if has_background {
            self.say_background_tasks();
        }
        let words = self.tasks[task].description.clone();
        self.say_notification(task, status, &words);
        self.tasks[task].overtaken = status == "stopped";
        if let Some(turn) = self.turn.as_mut() {
            turn.ending = true;
        }
        self.halt(MAIN);
        self.call(MAIN, pace::FORK_INIT, Core::replay_fork);
    }

    /// `init`, the transcript in one burst, the reply, the replay, the result.
    fn replay_fork(&mut self, _: usize) {
        let Some(Kind::Fork(task)) = self.turn.as_ref().map(|turn| turn.kind.clone()) else { return };
        self.say_init();
        for frame in std::mem::take(&mut self.tasks[task].held) {
            self.say(frame);
        }
        let stopped = self.tasks[task].overtaken;
        if !stopped {
            let failure = self.tasks[task].failure.clone();
            let text = self.tasks[task].thread.map(|thread| self.threads[thread].text.clone()).unwrap_or_default();
            let text = failure.unwrap_or(text);
            self.say_local_output(&text, &[]);
        }
        let content = self.turn.as_ref().and_then(|turn| turn.head.clone());
        if let Some(head) = content {
            let frame = self.replay(head.uuid.as_deref(), &Value::String(head.text));
            self.say_replay(frame);
        }
        self.finish_local("custom", if stopped { "cancelled" } else { "completed" });
    }

    /// An interrupt stops a typed fork at once: its agents first.
    pub(super) fn interrupt_typed_fork(&mut self, task: TaskId) {
        let Some(thread) = self.tasks[task].thread else { return };
        self.announce_fork(task);
        let agents = self.children_of(thread);
        for agent in agents {
            self.kill_agent(agent, Killer::User);
        }
        self.book_cut(thread);
        self.stop_thread(task);
        let calls = std::mem::take(&mut self.tasks[task].killed_calls);
        let for_tool = !calls.is_empty();
        for id in calls {
            let mut given = self.rejected(&id, true);
            given.meta = None;
            self.jobs[&id].state = JobState::Done;
            self.say_result(thread, &id, given);
        }
        self.say_interrupted(thread, for_tool);
        self.typed_fork_ends(task, "stopped");
    }
}
