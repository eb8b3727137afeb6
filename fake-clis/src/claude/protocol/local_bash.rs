//! Commands: those that run so long that they become a task, and those in the background.

use serde_json::json;

use super::{
    core::Core,
    state::{Event, JobState, Task, TaskId, TaskKind},
    tools::Given,
};
use crate::claude::{ids, pace};

impl Core {
    fn new_command(&mut self, id: &str, background: bool) -> TaskId {
        let (task_id, run) = (ids::command(&mut || self.random()), self.run_id());
        let job = &self.jobs[id];
        let description = job.input["description"].as_str().or(job.input["command"].as_str()).unwrap_or_default().to_owned();
        let task = self.tasks.len();
        self.tasks.push(Task {
            id: task_id,
            run,
            kind: TaskKind::Command,
            thread: None,
            call: Some(id.to_owned()),
            tag: String::new(),
            parent: self.threads[job.thread].task,
            background,
            words: description.clone(),
            description,
            subagent: String::new(),
            prompt: String::new(),
            started_ms: self.now_ms,
            // One in the background begins when its message has ended.
            running: !background,
            announced: false,
            held: Vec::new(),
            ended_ms: 0,
            overtaken: false,
            killed_calls: Vec::new(),
            failure: None,
        });
        self.jobs[id].task = Some(task);
        task
    }

    /// A foreground command still runs: it becomes a task.
    pub(super) fn announce_command(&mut self, id: &str) {
        let runs = self.jobs.get(id).is_some_and(|job| job.state == JobState::Running && job.task.is_none());
        if runs {
            let task = self.new_command(id, false);
            self.say_started(task);
        }
    }

    /// A running tool lives. The parent of the frame is the call itself, not an agent's.
    pub(super) fn heartbeat(&mut self, id: &str, nth: u64) {
        let Some(job) = self.jobs.get(id).filter(|job| job.state == JobState::Running && job.name == "Bash") else { return };
        if self.threads[job.thread].task.is_some() {
            return;
        }
        let frame = json!({
            "type": "tool_progress", "tool_use_id": format!("{id}-heartbeat-{nth}"), "tool_name": job.name,
            "parent_tool_use_id": id, "elapsed_time_seconds": (nth + 1) * pace::HEARTBEAT / 1000, "heartbeat": true,
        });
        self.say(frame);
        self.after(pace::HEARTBEAT, Event::Heartbeat(id.to_owned(), nth + 1));
    }

    /// The task that a foreground command became ends with it.
    pub(super) fn end_command_task(&mut self, id: &str) {
        let Some(task) = self.jobs.get(id).and_then(|job| job.task) else { return };
        if self.tasks[task].kind == TaskKind::Command && self.tasks[task].running {
            self.tasks[task].running = false;
            let failed = self.jobs[id].outcome.as_ref().is_some_and(|outcome| outcome.is_error == Some(true));
            let words = self.tasks[task].description.clone();
            self.say_notification(task, if failed { "failed" } else { "completed" }, &words);
        }
    }

    /// A command in the background: its call gives back an id at once.
    pub(super) fn launch_command(&mut self, id: &str) {
        let task = self.new_command(id, true);
        self.say_background_tasks_after_stop(id, task);
    }

    /// Unlike an agent's launch, a command's frames come when its message has ended.
    fn say_background_tasks_after_stop(&mut self, id: &str, task: TaskId) {
        let thread = self.jobs[id].thread;
        let waiting = self.threads[thread].streams();
        if waiting && self.is_main(thread) {
            self.late_launches.push((thread, id.to_owned(), task));
        } else {
            self.command_launched(id, task);
        }
    }

    /// Says what a launch of a command in the background sets off.
    pub(super) fn command_launched(&mut self, id: &str, task: TaskId) {
        self.tasks[task].running = true;
        self.say_background_tasks();
        self.say_started(task);
        let owner = &self.tasks[task];
        let file = self.output_file(&owner.id);
        let words =
            format!("Command running in background with ID: {}. Output is being written to: {file}. [scrubbed]", owner.id);
        let structured = json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
            "backgroundTaskId": owner.id});
        let ms = self.jobs[id].outcome.as_ref().map_or(pace::UNKNOWN_TOOL, |outcome| outcome.ms);
        let meta = json!({"permission_decision": self.jobs[id].decision});
        self.after(ms, Event::CommandEnds(task));
        let given = Given { content: json!(words), is_error: Some(false), structured: Some(structured), meta: Some(meta) };
        self.give(id, given);
    }

    /// A command in the background ended.
    pub(super) fn background_command_ends(&mut self, task: TaskId) {
        if !self.tasks[task].running {
            return;
        }
        self.tasks[task].running = false;
        self.tasks[task].ended_ms = self.now_ms;
        self.say_updated(task, "completed", None);
        let summary = format!("Background command \"{}\" completed (exit code 0)", self.tasks[task].description);
        self.say_notification(task, "completed", &summary);
        self.say_background_tasks();
        self.follow_up(task);
    }
}
