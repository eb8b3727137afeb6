//! Task frames: which task belongs to which spawn, typed forks, and the terminal statuses.

use serde_json::Value;

use super::{control::done, driver::Claude, fork::TypedFork, result::task_status};
use crate::{
    core::input::ResumePolicy,
    drivers::{Cx, Output},
    event::DoneStatus,
};

impl Claude {
    pub(super) fn task_started(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(task) = id_of(frame, "task_id", "taskId") else { return };
        match id_of(frame, "tool_use_id", "toolUseId") {
            Some(tool) if frame["subagent_type"].is_string() => {
                // A later call that addresses the spawn (SendMessage) starts a new task of the same child.
                let chip = self.tool_spawns.get(tool).cloned().unwrap_or_else(|| tool.to_owned());
                self.agent_tasks.entry(task.to_owned()).or_insert(chip);
                // The agent's id is the task's id: a start after the end is a new run of it, which ends once more.
                self.task_status.remove(task);
            }
            Some(_) => {}
            None => self.fork_started(cx, task, frame),
        }
    }

    /// A task without a tool call whose description is a command: a typed fork.
    fn fork_started(&mut self, cx: &mut Cx<'_>, task: &str, frame: &Value) {
        let description = frame["description"].as_str().unwrap_or_default();
        if !description.starts_with('/') || self.fork.as_ref().is_some_and(|fork| fork.task == task) {
            return;
        }
        if self.names_another_session(cx, frame) {
            return;
        }
        self.settle_fork(cx, DoneStatus::Interrupted);
        self.visible();
        let fork = TypedFork::open(cx, task, description, &frame["prompt"]);
        // An open typed fork counts as an open tool: a steer must wait for it, not cut it.
        self.open_tools.insert(fork.chip.clone());
        self.fork = Some(fork);
    }

    /// The first session that the CLI names must be the required one. A typed fork names it long before init does, so its task's
    /// start is looked at as well: naming it early lets the run's own check end the run before the fork has worked (D10).
    pub(super) fn names_another_session(&mut self, cx: &mut Cx<'_>, frame: &Value) -> bool {
        let strict = self.request.resume_policy == ResumePolicy::RequireExisting;
        if self.saw_init || !strict {
            return false;
        }
        let (Some(named), Some(required)) = (frame["session_id"].as_str(), self.request.resume.as_deref()) else { return false };
        if named == required {
            return false;
        }
        self.init(cx, frame);
        true
    }

    /// `task_updated` and `task_notification` are equal; the first terminal status of a task wins (K5).
    pub(super) fn task_ended(&mut self, cx: &mut Cx<'_>, frame: &Value, word: Option<&str>) {
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
            cx.tagged(&chip, done(status, None, None, None));
        }
    }

    pub(super) fn background_changed(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let Some(tasks) = frame["tasks"].as_array() else { return };
        self.background = tasks
            .iter()
            .filter_map(|task| id_of(task, "task_id", "taskId"))
            .filter(|task| !self.task_status.contains_key(*task))
            .map(str::to_owned)
            .collect();
        cx.out.push(Output::Background(self.background.len()));
    }
}

/// An id under either of its spellings.
fn id_of<'a>(frame: &'a Value, key: &str, other: &str) -> Option<&'a str> {
    frame[key].as_str().or_else(|| frame[other].as_str())
}
