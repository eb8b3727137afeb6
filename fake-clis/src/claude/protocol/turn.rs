//! Turns: what begins them, what comes between their requests, what ends them.

use serde_json::{Value, json};

use super::{
    core::Core,
    result::Ending,
    state::{Event, Kind, MAIN, Message, Priority, Turn},
};
use crate::claude::{pace, script::Cue};

impl Core {
    /// Begins the next turn, if none runs and something waits: a message first (`now` before `next` before `later`), then a
    /// background task's notification.
    pub(super) fn begin_next(&mut self) {
        if self.turn.is_some() || !self.booted || self.leaving {
            return;
        }
        if self.orphans {
            self.begin_orphans();
            return;
        }
        let of = |priority: Priority| self.queue.iter().position(|message| message.priority == priority);
        let first = of(Priority::Now).or_else(|| of(Priority::Next)).or_else(|| of(Priority::Later));
        match first.and_then(|position| self.queue.remove(position)) {
            Some(message) => self.begin_message(message),
            None => self.begin_follow_up(),
        }
        if self.turn.is_none() {
            self.leave_if_done();
        }
    }

    /// A message's turn: a typed fork, a command of the CLI's own, or the model's.
    fn begin_message(&mut self, message: Message) {
        let line = json!({"type": "user", "message": {"role": "user", "content": message.content}});
        let uuid = message.uuid.clone().unwrap_or_default();
        self.record(&line, &uuid);
        let text = message.text.clone();
        let (name, args) = command(&text).unwrap_or_default();
        if self.profile.skills.get(name).is_some_and(|skill| skill.fork) {
            self.begin_typed_fork(message, name, args);
            return;
        }
        if self.is_local(name) {
            self.begin_local(message, name, args);
            return;
        }
        self.take_turn_script(&text);
        self.threads[MAIN].prompt.clone_from(&text);
        let replayed = if name.is_empty() {
            message.content.clone()
        } else if self.profile.commands().any(|known| known == name) {
            let mut words = format!("<command-message>{name}</command-message>\n<command-name>/{name}</command-name>");
            if !args.is_empty() {
                words.push_str(&format!("\n<command-args>{args}</command-args>"));
            }
            Value::String(words)
        } else {
            Value::String(text)
        };
        let replay = self.replay(message.uuid.as_deref(), &replayed);
        let mut turn = Turn::new(Kind::Model, Some(message), self.now_ms);
        turn.replays.push(replay);
        self.turn = Some(turn);
        let init = if self.results == 0 { pace::FIRST_INIT } else { pace::INIT };
        self.call(MAIN, pace::STARTED, Core::say_turn_started);
        self.call(MAIN, init, Core::begin_model_turn);
        self.call(MAIN, pace::REQUEST, Core::request);
    }

    /// The answers for this turn: those recorded for the same words, else the next ones in order.
    pub(super) fn take_turn_script(&mut self, text: &str) {
        let says = |cue: &Cue| matches!(cue, Cue::Message(words) if !words.is_empty() && text.contains(words.as_str()));
        let same = self.script.turns.iter().position(|turn| says(&turn.cue));
        // A host that speaks the recording's words and now says something else asks for what was never recorded; one that has
        // words of its own gets the answers in their order.
        // A typed command is the same for every host, so it does not tell which kind this one is.
        let by_words = match self.cued_by_words {
            Some(by_words) => by_words,
            None if text.starts_with('/') => false,
            None => *self.cued_by_words.insert(same.is_some()),
        };
        let next = || self.script.turns.iter().position(|turn| matches!(turn.cue, Cue::Message(_)));
        let position = same.or_else(|| if by_words { None } else { next() });
        let answers = position.and_then(|position| self.script.turns.remove(position)).map(|turn| turn.answers);
        self.threads[MAIN].answers = answers.unwrap_or_default();
    }

    /// `started` of the turn's message.
    pub(super) fn say_turn_started(&mut self, _: usize) {
        let Some(turn) = self.turn.as_mut() else { return };
        if std::mem::replace(&mut turn.started, true) {
            return;
        }
        let uuid = self.turn.as_ref().and_then(|turn| turn.head.as_ref()).and_then(|head| head.uuid.clone());
        self.lifecycle(uuid.as_deref(), "started");
    }

    /// `init` of a turn in which the model is asked.
    pub(super) fn begin_model_turn(&mut self, _: usize) {
        self.say_init();
    }

    /// All tools of the main thread have ended: stop for a `now` message, fold waiting ones, ask again.
    pub(super) fn between_requests(&mut self) {
        if self.turn.as_ref().is_some_and(|turn| turn.overtaken) {
            if let Some(turn) = self.turn.as_mut() {
                turn.text.clear();
            }
            self.end_turn(Ending::AbortedTools { by_host: false });
            return;
        }
        self.call(MAIN, pace::AFTER_TOOLS, Core::fold_and_request);
    }

    fn fold_and_request(&mut self, thread: usize) {
        self.fold();
        self.request(thread);
    }

    /// The model has said its last word in this turn.
    pub(super) fn finish_turn(&mut self, _: usize) {
        self.end_turn(Ending::Completed);
    }

    /// The turn's end in the message's lifecycle, then whatever waits.
    pub(super) fn close_turn(&mut self, state: &str) {
        let head = self.turn.take().and_then(|turn| turn.head).and_then(|head| head.uuid);
        self.halt(MAIN);
        self.lifecycle(head.as_deref(), state);
        self.session_state("idle");
        self.after(pace::NEXT, Event::Next);
    }

    /// With stdin closed the process ends when nothing runs and nothing waits.
    pub(super) fn leave_if_done(&mut self) {
        let busy = self.turn.is_some()
            || !self.queue.is_empty()
            || !self.follow_ups.is_empty()
            || self.tasks.iter().any(|task| task.running);
        if self.stdin_closed && self.booted && !busy && !self.leaving {
            self.leaving = true;
            self.after(pace::LEAVE, Event::Leave(i32::from(self.last_error)));
        }
    }
}

/// A typed command: its name and its arguments.
pub(super) fn command(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim().strip_prefix('/')?;
    let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c));
    is_name.then_some((name, args.trim()))
}
