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
            let lead = self.follow_up_lead();
            self.after(lead, Event::Next);
        }
    }

    /// How long the next follow-up turn takes to begin.
    fn follow_up_lead(&self) -> u64 {
        let scripted = self.script.turns.iter().find(|turn| turn.cue == Cue::FollowUp).and_then(|turn| turn.lead_ms);
        scripted.unwrap_or(pace::FOLLOW_UP)
    }

    /// The next follow-up turn. When the next task's notification came close behind, both go into one model call: this
    /// turn is empty and the next one has the words.
    pub(super) fn begin_follow_up(&mut self) {
        let Some(&task) = self.follow_ups.front() else { return };
        let due = self.tasks[task].ended_ms.max(self.last_result_ms) + self.follow_up_lead();
        if self.now_ms < due {
            self.after(due - self.now_ms, Event::Next);
            return;
        }
        let ended = self.tasks[task].ended_ms;
        let scripted = self.script.turns.iter().find(|turn| turn.cue == Cue::FollowUp).map(|turn| turn.answers.is_empty());
        let next = self.follow_ups.get(1).map(|next| self.tasks[*next].ended_ms - ended);
        // Between the two limits it is a race, and the script says how it went.
        let empty = match (scripted, next) {
            (Some(empty), Some(gap)) => empty && gap <= pace::TOGETHER_MOST || gap < pace::TOGETHER_LEAST,
            (None, Some(gap)) => gap < pace::TOGETHER,
            (Some(true), None) if self.now_ms < ended + pace::TOGETHER_MOST && self.runs_in_background() => {
                self.after(1, Event::Next);
                return;
            }
            (_, None) => false,
        };
        self.follow_ups.pop_front();
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
        let position = self.script.turns.iter().position(|turn| turn.cue == Cue::FollowUp && turn.answers.is_empty());
        if let Some(position) = position {
            self.script.turns.remove(position);
        }
    }

    fn runs_in_background(&self) -> bool {
        self.tasks.iter().any(|task| task.running && task.background)
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
