//! Follow-up turns: what a background task's end sets off.

use super::{
    core::Core,
    state::{Event, Kind, MAIN, TaskId, Turn},
};
use crate::claude::{pace, script::Cue};

impl Core {
    /// A background task ended by itself, or was stopped alone: a turn follows.
    pub(super) fn follow_up(&mut self, task: TaskId) {
        self.tasks[task].ended_ms = self.now_ms;
        self.follow_ups.push_back(task);
        if self.turn.is_none() {
            self.after(pace::FOLLOW_UP, Event::Next);
        }
    }

    /// The next follow-up turn. When the next task's notification came close behind, both go into one model call: this
    /// turn is empty and the next one has the words.
    pub(super) fn begin_follow_up(&mut self) {
        let Some(&task) = self.follow_ups.front() else { return };
        if self.now_ms < self.tasks[task].ended_ms + pace::FOLLOW_UP {
            // A turn's end came upon a task that ended just before it.
            let wait = self.tasks[task].ended_ms + pace::FOLLOW_UP - self.now_ms;
            self.after(wait, Event::Next);
            return;
        }
        self.follow_ups.pop_front();
        let ended = self.tasks[task].ended_ms;
        let empty = self.follow_ups.front().is_some_and(|next| self.tasks[*next].ended_ms < ended + pace::TOGETHER);
        let run = Some(self.tasks[task].run.clone());
        self.turn = Some(Turn::new(Kind::FollowUp { run, empty }, None, self.now_ms));
        self.call(MAIN, 0, Core::begin_model_turn);
        if empty {
            self.drop_follow_up_script();
            self.call(MAIN, 1, Core::finish_empty);
            return;
        }
        let position = self.script.turns.iter().position(|turn| turn.cue == Cue::FollowUp);
        let answers = position.and_then(|position| self.script.turns.remove(position)).map(|turn| turn.answers);
        self.threads[MAIN].answers = answers.unwrap_or_default();
        self.threads[MAIN].prompt = format!("{} has ended", self.tasks[task].description);
        self.call(MAIN, 1, Core::request);
    }

    /// An empty turn of the script stands for itself; its answers, if it has any, belong to the next one.
    fn drop_follow_up_script(&mut self) {
        let position =
            self.script.turns.iter().position(|turn| turn.cue == Cue::FollowUp && turn.answers.is_empty());
        if let Some(position) = position {
            self.script.turns.remove(position);
        }
    }

    fn finish_empty(&mut self, _: usize) {
        self.finish_local("", "completed");
    }

    /// Agents that a killed session left behind: one empty turn before the user's message.
    pub(super) fn begin_orphans(&mut self) {
        self.orphans = false;
        self.turn = Some(Turn::new(Kind::FollowUp { run: None, empty: true }, None, self.now_ms));
        self.drop_follow_up_script();
        self.call(MAIN, pace::INIT, Core::begin_model_turn);
        self.call(MAIN, 1, Core::finish_empty);
    }
}
