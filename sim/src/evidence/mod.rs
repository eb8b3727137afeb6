//! What the world knows of the provider: read from what the understudies said and heard, without engine code.
//!
//! Facts are read once, in order, and point into the history by index instead of holding copies of frames. Frames that no
//! provider said so (inserted, repeated or mangled by the plan) make no facts; they are kept apart as [`Odd`].

mod claude;
mod facts;
mod shared;
mod text;

use std::collections::BTreeMap;

pub use facts::*;
pub use shared::Shared;
pub use text::{frame_at, message_text};

use crate::{
    history::{History, UserAction, What},
    view::Outcome,
};

/// The evidence of a run, up to the happening read last.
#[derive(Debug, Default)]
pub struct Evidence {
    /// User messages in the order in which the user sent them.
    pub messages: Vec<MessageFacts>,
    /// Processes in order of start.
    pub processes: Vec<ProcessFacts>,
    /// Results in the order said.
    pub results: Vec<ResultFacts>,
    /// Requests of the provider that expect an answer.
    pub asks: Vec<Ask>,
    /// Answers of the host to requests that nobody made: process, time, id.
    pub unasked: Vec<(u32, u64, String)>,
    /// Requests of the host to the provider.
    pub requests: Vec<HostRequest>,
    /// What the user did to end something.
    pub stops: Vec<Stop>,
    /// Content said, in wire order.
    pub pieces: Vec<Piece>,
    /// Streamed blocks, which pieces name by index.
    pub blocks: Vec<Block>,
    /// Tasks: agents, forks, shells.
    pub tasks: Vec<Task>,
    /// Frames that must have no effect: of unknown kind, no JSON, or repeated.
    pub odd: Vec<Odd>,
    /// Times between which the host could show nothing, since its disk refused its writes.
    pub withheld: Vec<(u64, u64)>,
    /// When the host ended, each time.
    pub host_ends: Vec<u64>,
    seen: usize,
    by_id: BTreeMap<String, usize>,
    readers: BTreeMap<u32, claude::Reader>,
}

impl Evidence {
    /// Reads what happened since the last call.
    pub fn advance(&mut self, history: &History) {
        for index in self.seen..history.happenings.len() {
            self.read(index, history);
        }
        self.seen = history.happenings.len();
        if self.withheld != history.withheld {
            self.withheld.clone_from(&history.withheld);
        }
    }

    /// Number of happenings read.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// The message of this id, if the user or the host named it.
    pub fn message(&self, id: &str) -> Option<&MessageFacts> {
        self.by_id.get(id).map(|index| &self.messages[*index])
    }

    /// The process of this id.
    pub fn process(&self, pid: u32) -> Option<&ProcessFacts> {
        self.processes.iter().rev().find(|process| process.pid == pid)
    }

    /// Processes that were started for a chat, in order.
    pub fn processes_of<'a>(&'a self, chat: &'a str) -> impl Iterator<Item = &'a ProcessFacts> {
        self.processes.iter().filter(move |process| process.chat.as_deref() == Some(chat))
    }

    /// Whether some process of the chat lives, and the host can still hear it.
    pub fn alive(&self, chat: &str) -> bool {
        self.processes_of(chat).any(ProcessFacts::is_alive)
    }

    /// Whether a provider runs a turn of the chat, or owes one: it has taken a message and not ended it, works unasked, or was
    /// handed a message that it neither took nor gave back.
    pub fn runs(&self, chat: &str) -> bool {
        self.processes_of(chat).any(|process| process.is_alive() && (process.running || self.owes(process.pid)))
    }

    fn owes(&self, pid: u32) -> bool {
        let receipts = self.messages.iter().flat_map(|message| &message.receipts);
        receipts.filter(|receipt| receipt.pid == pid).any(Receipt::is_waiting)
    }

    /// The first thing the user did within the times (both ends included) that ends a turn of the chat.
    pub fn stop_between(&self, chat: &str, from: u64, to: u64) -> Option<&Stop> {
        self.stops.iter().find(|stop| stop.chat == chat && stop.ends_turn() && stop.at >= from && stop.at <= to)
    }

    fn read(&mut self, index: usize, history: &History) {
        let happening = &history.happenings[index];
        let at = happening.at;
        match &happening.what {
            What::User(action) => self.user(at, action),
            What::HostEnded { .. } => {
                self.host_ends.push(at);
                // From here on nobody hears its processes, and none of them serves a chat.
                let left = self.processes.iter().filter(|process| process.exited_at.is_none());
                let left: Vec<u32> = left.map(|process| process.pid).collect();
                left.into_iter().for_each(|pid| self.gone(pid, at, false));
            }
            What::Spawned { pid, chat, argv } => {
                self.processes.push(ProcessFacts::started(*pid, chat.clone(), argv, at));
                self.readers.remove(pid);
            }
            What::Said { pid, frame, genuine, .. } if self.speaks_claude(*pid) => {
                let place = Place { at, index, pid: *pid };
                if let Some(kind) = claude::oddness(frame, *genuine, *pid, &history.happenings[..index]) {
                    self.odd.push(Odd { at, index, pid: *pid, kind });
                }
                let mut reader = self.readers.remove(pid).unwrap_or_default();
                if *genuine {
                    reader.said(self, place, frame);
                } else {
                    reader.said_falsely(self, place, frame);
                }
                self.readers.insert(*pid, reader);
            }
            What::Heard { pid, frame } if self.speaks_claude(*pid) => claude::heard(self, Place { at, index, pid: *pid }, frame),
            What::PipeEnd { pid, pipe } if pipe == "stdout" => self.gone(*pid, at, false),
            What::Exited { pid, .. } => self.gone(*pid, at, true),
            _ => {}
        }
    }

    fn speaks_claude(&self, pid: u32) -> bool {
        self.process(pid).is_some_and(|process| process.wire == Wire::Claude)
    }

    fn user(&mut self, at: u64, action: &UserAction) {
        let chat = action.chat().to_string();
        let end = match action {
            UserAction::Send { message, .. } => return self.sent(at, chat, message, false),
            // A queued message goes out when the chat is idle, so others may be taken before it.
            UserAction::Queue { message, .. } => return self.sent(at, chat, message, true),
            UserAction::Withdraw { message, .. } => {
                let number = self.message_index(message);
                self.messages[number].withdrawn_at.get_or_insert(at);
                return;
            }
            UserAction::Edit { message, text, .. } => {
                if text.trim().is_empty() {
                    let number = self.message_index(message);
                    self.messages[number].withdrawn_at.get_or_insert(at);
                }
                return;
            }
            UserAction::Answer { .. } => StopKind::Answer,
            UserAction::SendNow { message, .. } => {
                self.sent(at, chat.clone(), message, true);
                StopKind::SendNow
            }
            UserAction::Stop { .. } => StopKind::Chat,
            UserAction::StopTurn { .. } => StopKind::Turn,
            UserAction::Close { .. } => StopKind::Close,
        };
        self.stops.push(Stop { at, chat, kind: end });
    }

    fn sent(&mut self, at: u64, chat: String, message: &str, send_now: bool) {
        let number = self.message_index(message);
        let facts = &mut self.messages[number];
        (facts.chat, facts.sent_at, facts.send_now) = (Some(chat), Some(at), send_now);
    }

    fn message_index(&mut self, id: &str) -> usize {
        if let Some(index) = self.by_id.get(id) {
            return *index;
        }
        self.by_id.insert(id.to_string(), self.messages.len());
        self.messages.push(MessageFacts { id: id.to_string(), ..MessageFacts::default() });
        self.messages.len() - 1
    }

    fn process_mut(&mut self, pid: u32) -> Option<&mut ProcessFacts> {
        self.processes.iter_mut().rev().find(|process| process.pid == pid)
    }

    /// Whether the host ended after the user had sent the message and before a provider received it: then it waits until the user
    /// sends something, and comes behind that.
    pub fn waited_over_an_end(&self, message: &MessageFacts) -> bool {
        let (sent, received) = (message.sent_at.unwrap_or_default(), message.received_at().unwrap_or(u64::MAX));
        self.host_ends.iter().any(|end| *end >= sent && *end < received)
    }

    fn gone(&mut self, pid: u32, at: u64, exited: bool) {
        if let Some(process) = self.process_mut(pid) {
            process.running = false;
            process.silent_at.get_or_insert(at);
            if exited {
                process.exited_at.get_or_insert(at);
            }
        }
        for ask in self.asks.iter_mut().filter(|ask| ask.pid == pid) {
            ask.end(at, AskEnd::ProcessGone);
        }
    }

    /// How the tasks of a chip ended, as the provider first said: `None` while it runs.
    pub fn child_end(&self, tool: &str) -> Option<(usize, Outcome)> {
        let task = self.tasks.iter().find(|task| task.tool.as_deref() == Some(tool))?;
        task.ended.map(|(_, index, outcome)| (index, outcome))
    }
}

#[cfg(test)]
mod tests;
