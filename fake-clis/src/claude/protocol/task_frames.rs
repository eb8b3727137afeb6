//! The frames about tasks, and the counts of subagents.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    core::Core,
    state::{TaskId, TaskKind},
};
use crate::claude::ids;

/// `result.subagent_stats`, since the process began.
#[derive(Clone, Debug, Default)]
pub(super) struct Stats {
    spawned: u64,
    background: u64,
    foreground: u64,
    unset: u64,
    in_background: u64,
    by_subagents: u64,
    completed: u64,
    failed: u64,
    killed_by_parent: u64,
    killed_by_user: u64,
    by_type: IndexMap<String, u64>,
}

/// Who ended a task before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Killer {
    /// The host: interrupt, `stop_task`, a denial that interrupts.
    User,
    /// A message with priority `now`.
    Steer,
}

impl Stats {
    /// An agent began: what the call asked for, and where it runs.
    pub(super) fn spawn(&mut self, requested: Option<bool>, background: bool, by_subagent: bool, kind: &str) {
        self.spawned += 1;
        *match requested {
            Some(true) => &mut self.background,
            Some(false) => &mut self.foreground,
            None => &mut self.unset,
        } += 1;
        self.in_background += u64::from(background);
        self.by_subagents += u64::from(by_subagent);
        *self.by_type.entry(kind.to_owned()).or_insert(0) += 1;
    }

    /// An agent was killed.
    pub(super) fn kill(&mut self, killer: Killer) {
        match killer {
            Killer::User | Killer::Steer => self.killed_by_user += 1,
        }
    }

    /// An agent ended by itself.
    pub(super) fn end(&mut self, failed: bool) {
        *if failed { &mut self.failed } else { &mut self.completed } += 1;
    }

    /// The object of a result.
    pub(super) fn report(&self) -> Value {
        let depth = u64::from(self.spawned > 0);
        json!({
            "spawned": self.spawned,
            "requested": {"background": self.background, "foreground": self.foreground, "unset": self.unset},
            "started_in_background": self.in_background,
            "max_depth": depth,
            "spawned_by_subagents": self.by_subagents,
            "completed": self.completed,
            "failed": self.failed,
            "killed": {"parent": self.killed_by_parent, "user": self.killed_by_user, "system": 0},
            "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
            "by_type": self.by_type,
        })
    }
}

impl Core {
    /// `task_started`.
    pub(super) fn say_started(&mut self, task: TaskId) {
        self.tasks[task].announced = true;
        let owner = &self.tasks[task];
        let mut frame = json!({"type": "system", "subtype": "task_started", "task_id": owner.id, "run_id": owner.run});
        if let Some(call) = &owner.call {
            frame["tool_use_id"] = json!(call);
        }
        frame["description"] = json!(owner.description);
        let parent = owner.parent.map(|parent| self.tasks[parent].id.clone());
        if owner.kind == TaskKind::Command {
            if parent.is_some() {
                frame["owned_by_subagent"] = json!(true);
            }
            frame["is_backgrounded"] = json!(owner.background);
        } else {
            frame["subagent_type"] = json!(owner.subagent);
            frame["is_backgrounded"] = json!(owner.background);
            frame["spawn_depth"] = json!(1);
        }
        if let Some(parent) = parent {
            frame["parent_task_id"] = json!(parent);
        }
        if owner.kind == TaskKind::Command {
            frame["task_type"] = json!("local_bash");
        } else {
            frame["task_type"] = json!("local_agent");
            frame["prompt"] = json!(owner.prompt);
        }
        put_fork_marks(owner.kind, &mut frame);
        self.say(frame);
    }

    /// `task_progress`, about a call.
    pub(super) fn say_progress(&mut self, task: TaskId, content: &Value) {
        let owner = &self.tasks[task];
        let Some(thread) = owner.thread.map(|thread| &self.threads[thread]) else { return };
        let name = content["name"].as_str().unwrap_or_default();
        let what = content["input"]["description"].as_str().unwrap_or(name);
        let reply = thread.reply.as_ref();
        let input = reply.and_then(|speaking| speaking.reply.usage["input_tokens"].as_u64()).unwrap_or(0);
        let said = reply.map_or(0, |speaking| speaking.done as u64);
        let frame = json!({
            "type": "system", "subtype": "task_progress", "task_id": owner.id, "run_id": owner.run,
            "tool_use_id": owner.call, "description": format!("Running {what}"), "subagent_type": owner.subagent,
            "usage": {"total_tokens": input + said, "tool_uses": thread.tools.len(),
                "duration_ms": self.now_ms - owner.started_ms},
            "last_tool_name": name,
        });
        self.say(frame);
    }

    /// `task_updated`.
    pub(super) fn say_updated(&mut self, task: TaskId, status: &str, error: Option<&str>) {
        let owner = &self.tasks[task];
        let mut patch = json!({"status": status, "end_time": self.wall_ms});
        if let Some(error) = error {
            patch["error"] = json!(error);
        }
        let frame =
            json!({"type": "system", "subtype": "task_updated", "task_id": owner.id, "run_id": owner.run, "patch": patch});
        self.say(frame);
    }

    /// `task_notification`.
    pub(super) fn say_notification(&mut self, task: TaskId, status: &str, summary: &str) {
        let owner = &self.tasks[task];
        let mut frame = json!({"type": "system", "subtype": "task_notification", "task_id": owner.id, "run_id": owner.run});
        if let Some(call) = &owner.call {
            frame["tool_use_id"] = json!(call);
        }
        frame["status"] = json!(status);
        let foreground_command = owner.kind == TaskKind::Command && !owner.background;
        let file = if foreground_command { String::new() } else { self.output_file(&owner.id) };
        frame["output_file"] = json!(file);
        frame["summary"] = json!(summary);
        put_fork_marks(owner.kind, &mut frame);
        if owner.kind == TaskKind::Agent && status != "stopped" {
            let thread = owner.thread.map(|thread| &self.threads[thread]);
            frame["usage"] = json!({
                "total_tokens": thread.map_or(0, |thread| thread.last.total()),
                "tool_uses": thread.map_or(0, |thread| thread.tools.len()),
                "duration_ms": self.now_ms - owner.started_ms,
            });
        }
        if self.profile.newer {
            if owner.kind == TaskKind::Agent && owner.background && status == "completed" {
                frame["summary_is_report"] = json!(true);
            }
            if owner.kind == TaskKind::Command && owner.parent.is_some() {
                frame["owned_by_subagent"] = json!(true);
            }
        }
        self.say(frame);
    }

    /// `background_tasks_changed`: everything that runs in the background.
    pub(super) fn say_background_tasks(&mut self) {
        let tasks: Vec<Value> = self
            .tasks
            .iter()
            .filter(|task| task.background && task.running)
            .map(|task| {
                let command = task.kind == TaskKind::Command;
                let mut entry = json!({
                    "task_id": task.id, "run_id": task.run, "task_type": if command { "local_bash" } else { "local_agent" },
                });
                if !command {
                    entry["subagent_type"] = json!(task.subagent);
                }
                entry["description"] = json!(task.description);
                if let Some(parent) = task.parent.map(|parent| &self.tasks[parent]).filter(|parent| parent.running) {
                    entry["parent_task_id"] = json!(parent.id);
                }
                entry
            })
            .collect();
        self.say(json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks}));
    }

    /// Where a task's output is written.
    pub(super) fn output_file(&self, task: &str) -> String {
        let slug = ids::slug(&self.launch.cwd);
        format!("/run/user/1000/claude/{slug}/{}/tasks/{task}.output", self.session)
    }

    /// A fresh run id.
    pub(super) fn run_id(&mut self) -> String {
        let wall = self.wall_ms;
        ids::run(wall, &mut || self.random())
    }
}

/// What marks the tasks of forks.
fn put_fork_marks(kind: TaskKind, frame: &mut Value) {
    if matches!(kind, TaskKind::SkillFork | TaskKind::TypedFork) {
        frame["skip_transcript"] = json!(true);
        frame["ambient"] = json!(true);
    }
}
