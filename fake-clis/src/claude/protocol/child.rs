//! Killing agents and forks, and what a message with priority `now` does to them.

use serde_json::json;

use super::{
    core::Core,
    state::{Event, JobState, TaskId, TaskKind, ThreadId},
    task_frames::Killer,
    tools::Given,
};

/// From an agent's killed task to the report of its killed call, in ms.
const KILLED_CALL_MS: u64 = 14;

impl Core {
    /// The tasks whose thread was started from this thread and which still run there.
    pub(super) fn children_of(&self, thread: ThreadId) -> Vec<TaskId> {
        let of_thread = |task: &TaskId| {
            let call = self.tasks[*task].call.as_ref().and_then(|call| self.jobs.get(call));
            call.is_some_and(|job| job.thread == thread)
        };
        (0..self.tasks.len())
            .filter(|task| self.tasks[*task].running && self.tasks[*task].kind != TaskKind::Command)
            .filter(of_thread)
            .collect()
    }

    /// Stops a child's thread; its open calls are remembered and never give a result of their own.
    pub(super) fn stop_thread(&mut self, task: TaskId) {
        let Some(thread) = self.tasks[task].thread else { return };
        self.withdraw_questions(&[thread]);
        self.halt(thread);
        let open = std::mem::take(&mut self.threads[thread].open);
        for id in &open {
            let Some(job) = self.jobs.get_mut(id) else { continue };
            job.state = JobState::Done;
            let command = job.task.filter(|task| self.tasks[*task].kind == TaskKind::Command && !self.tasks[*task].background);
            if let Some(command) = command.filter(|command| self.tasks[*command].running) {
                self.tasks[command].running = false;
                let words = self.tasks[command].description.clone();
                self.say_notification(command, "stopped", &words);
            }
        }
        self.threads[thread].waiting = false;
        self.tasks[task].killed_calls = open;
        self.tasks[task].running = false;
        self.tasks[task].ended_ms = self.now_ms;
    }

    /// Kills an agent: `task_updated` killed, `task_notification` stopped.
    pub(super) fn kill_agent(&mut self, task: TaskId, killer: Killer) {
        if let Some(thread) = self.tasks[task].thread {
            for inner in self.children_of(thread) {
                if !self.tasks[inner].background {
                    self.kill_agent(inner, killer);
                }
            }
        }
        self.stop_thread(task);
        if self.is_agent(task) {
            self.stats.kill(killer);
            self.say_updated(task, "killed", None);
        }
        let words = self.tasks[task].description.clone();
        self.say_notification(task, "stopped", &words);
        if self.tasks[task].background {
            self.say_background_tasks();
        }
    }

    /// Kills an agent in the background; its killed call is reported a little later.
    pub(super) fn kill_background(&mut self, task: TaskId) {
        if self.tasks[task].kind == TaskKind::Command {
            self.tasks[task].running = false;
            self.say_updated(task, "killed", None);
            let words = self.tasks[task].description.clone();
            self.say_notification(task, "stopped", &words);
            self.say_background_tasks();
            return;
        }
        self.kill_agent(task, Killer::User);
        self.after(KILLED_CALL_MS, Event::Killed(task));
    }

    /// The killed call of an agent in the background, and the words that end its thread.
    pub(super) fn report_killed(&mut self, task: TaskId) {
        let Some(thread) = self.tasks[task].thread else { return };
        let calls = std::mem::take(&mut self.tasks[task].killed_calls);
        let for_tool = !calls.is_empty();
        for id in calls {
            let mut given = self.rejected(&id, false);
            given.meta = None;
            self.say_result(thread, &id, given);
        }
        self.say_interrupted(thread, for_tool);
    }

    /// Whether a `now` message waits for this child's step to end.
    pub(super) fn overtaken(&self, thread: ThreadId) -> bool {
        self.threads[thread].task.is_some_and(|task| self.tasks[task].overtaken)
    }

    /// The step is over: an overtaken child stops here.
    pub(super) fn stop_overtaken_child(&mut self, thread: ThreadId) {
        let Some(task) = self.threads[thread].task else { return };
        if self.tasks[task].kind == TaskKind::TypedFork {
            self.typed_fork_ends(task, "stopped");
            return;
        }
        self.kill_agent(task, Killer::Steer);
        if let Some(call) = self.tasks[task].call.clone() {
            self.give_interrupted(&call);
        }
    }

    /// The result of a call whose child was stopped and whose caller goes on.
    pub(super) fn give_interrupted(&mut self, call: &str) {
        let words = "[Request interrupted by user for tool use]";
        self.give(
            call,
            Given {
                content: json!(words),
                is_error: Some(true),
                structured: Some(json!(format!("Error: {words}"))),
                meta: Some(json!({"non_execution_kind": "interrupted"})),
            },
        );
    }
}
