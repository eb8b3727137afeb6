//! Steering: what a message does that comes while something runs.
//!
//! The table of the wire, as a table.

use serde_json::json;

use super::{
    core::Core,
    interrupt::During,
    state::{Kind, MAIN, Message, Priority, TaskKind},
};

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steer {
    /// It begins its own turn at once.
    Begin,
    /// It waits for the running tools and is folded into the turn; if the turn ends first, it gets its own.
    Fold,
    /// It waits for the turn's end and gets its own.
    Wait,
    /// The streamed text is cut; its own turn.
    Cut,
    /// The running tools end by themselves, then the turn ends; its own turn.
    AfterTools,
    /// The running step of the child ends, then child and turn end; its own turn.
    AfterStep,
}

/// Rows: what runs. Columns: sent with `next` or without priority, with `later`, with `now`.
#[rustfmt::skip]
const TABLE: &[(During, Steer, Steer, Steer)] = &[
    // during                 next          later         now
    (During::Idle,            Steer::Begin, Steer::Begin, Steer::Begin),
    (During::BackgroundAgents, Steer::Begin, Steer::Begin, Steer::Begin),
    (During::Request,         Steer::Fold,  Steer::Wait,  Steer::Cut),
    (During::Text,            Steer::Fold,  Steer::Wait,  Steer::Cut),
    (During::Tools,           Steer::Fold,  Steer::Wait,  Steer::AfterTools),
    (During::Question,        Steer::Fold,  Steer::Wait,  Steer::AfterTools),
    (During::ForegroundAgent, Steer::Fold,  Steer::Wait,  Steer::AfterStep),
    (During::TypedFork,       Steer::Wait,  Steer::Wait,  Steer::AfterStep),
    (During::LocalCommand,    Steer::Wait,  Steer::Wait,  Steer::Wait),
    (During::Ending,          Steer::Wait,  Steer::Wait,  Steer::Wait),
];

/// Looks the table up.
pub(super) fn rule(during: During, priority: Priority) -> Steer {
    let row = TABLE.iter().find(|row| row.0 == during);
    row.map_or(Steer::Wait, |(_, next, later, now)| match priority {
        Priority::Next => *next,
        Priority::Later => *later,
        Priority::Now => *now,
    })
}

impl Core {
    /// A message arrived: `queued`, then what the table says.
    pub(super) fn take_message(&mut self, message: Message) {
        let uuid = message.uuid.clone();
        self.lifecycle(uuid.as_deref(), "queued");
        let steer = rule(self.during(), message.priority);
        self.queue.push_back(message);
        match steer {
            Steer::Begin => self.begin_next(),
            // Folding is decided when the tools have ended: see `fold`.
            Steer::Fold | Steer::Wait => {}
            Steer::Cut => self.cut_text(),
            Steer::AfterTools => {
                if let Some(turn) = self.turn.as_mut() {
                    turn.overtaken = true;
                }
            }
            Steer::AfterStep => self.overtake_children(),
        }
    }

    /// Folds waiting messages into the turn whose tools have just ended. A typed command is never folded, nor is one that
    /// was sent with `later`.
    pub(super) fn fold(&mut self) {
        let mut folded = Vec::new();
        let mut rest = std::collections::VecDeque::new();
        for message in std::mem::take(&mut self.queue) {
            let plain = !message.text.trim_start().starts_with('/');
            if message.priority == Priority::Next && plain { folded.push(message) } else { rest.push_back(message) }
        }
        self.queue = rest;
        for message in &folded {
            let frame = self.replay(message.uuid.as_deref(), &message.content);
            self.say_replay(frame);
        }
        for message in folded {
            self.lifecycle(message.uuid.as_deref(), "started");
            let line = json!({"type": "user", "message": {"role": "user", "content": message.content}});
            let uuid = message.uuid.clone().unwrap_or_default();
            self.record(&line, &uuid);
            self.threads[MAIN].prompt.clone_from(&message.text);
            if let (Some(turn), Some(uuid)) = (self.turn.as_mut(), message.uuid) {
                turn.uuids.push(uuid.clone());
                turn.folded.push(uuid);
            }
        }
    }

    /// `now` at streamed text: cut within ms.
    fn cut_text(&mut self) {
        self.halt(MAIN);
        self.call(MAIN, super::interrupt::CUT_MS, Core::cut_by_steer);
    }

    /// `now` at an agent or a typed fork: its running step ends by itself, a streaming message is cut.
    fn overtake_children(&mut self) {
        if let Some(turn) = self.turn.as_mut() {
            turn.overtaken = true;
        }
        let fork = match self.turn.as_ref().map(|turn| &turn.kind) {
            Some(Kind::Fork(task)) => Some(*task),
            _ => None,
        };
        let mut children = self.children_of(MAIN);
        children.retain(|task| !self.tasks[*task].background);
        if let Some(fork) = fork {
            self.announce_fork(fork);
            children.push(fork);
        }
        for task in children {
            self.tasks[task].overtaken = true;
            let Some(thread) = self.tasks[task].thread else { continue };
            if self.threads[thread].open.is_empty() {
                self.halt(thread);
                self.book_cut(thread);
                self.stop_overtaken_child(thread);
                continue;
            }
            // Its own agents are overtaken too: their running tools end the step.
            for inner in self.children_of(thread) {
                if self.tasks[inner].kind == TaskKind::Agent && !self.tasks[inner].background {
                    self.tasks[inner].overtaken = true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_situation_has_a_row() {
        for during in During::ALL {
            assert!(TABLE.iter().any(|row| row.0 == during), "{during:?} has no row");
        }
    }

    #[test]
    fn a_running_command_is_not_killed_by_now() {
        assert_eq!(rule(During::Tools, Priority::Now), Steer::AfterTools);
        assert_eq!(rule(During::Text, Priority::Now), Steer::Cut);
    }
}
