//! T1 to T5: a typed `/skill` that runs in a fork.

mod chips;
mod settle;

use std::collections::BTreeMap;

use super::{
    frames,
    wire::{Batch, Look, Span, Wire, slot},
};
use crate::{
    history::What,
    invariants::{Invariant, Moment},
    view::JournalEntry,
};

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(chips::OwnChip::default()),
        Box::new(chips::RunsUntilSettled::default()),
        Box::new(chips::InnerAgents::default()),
        Box::new(settle::SettlesBeforeDone::default()),
        Box::new(settle::EitherOrder::default()),
    ]
}

/// Beginning of a typed fork's chip id, and of the tag under which its transcript comes.
const FORK_TAG: &str = "forked-command-";

/// One typed fork.
#[derive(Clone, Debug, Default)]
struct Fork {
    task: String,
    pid: u32,
    /// Where its start was said.
    started: usize,
    /// Set when its start was said twice: then nothing is judged by it.
    odd: bool,
    /// Its chip, once the journal has it.
    chip: Option<String>,
    /// Whether its prompt was told: its tab is open from there on.
    opened: bool,
    /// Number of the event that settled it.
    settled: Option<u64>,
    /// Number of the event that resolved its chip.
    resolved: Option<u64>,
    /// Whether a Steered came between its chip and its settle.
    split: bool,
    /// Whether a message may have waited when it settled.
    waited: bool,
    /// Set when its turn ended under it, or its run did: nothing more is owed.
    closed: bool,
}

/// The typed forks of a run, chat by chat.
#[derive(Default)]
struct Forks {
    wire: Wire,
    chats: BTreeMap<String, Vec<Fork>>,
}

impl Forks {
    /// Reads the happenings of this moment; the journal is to be given event by event.
    fn next<'a>(&mut self, moment: &Moment<'a>) -> Look<'a> {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
            if matches!(happening.what, What::HostEnded { .. }) {
                // Whoever comes next settles what ran with the chips, without a word of a driver.
                self.chats.values_mut().flatten().for_each(|fork| fork.closed = true);
            }
            let What::Said { pid, frame, .. } = &happening.what else { continue };
            if !frames::is_fork_start(frame) {
                continue;
            }
            let (Some(chat), Some(task)) = (self.wire.chat_of(*pid), frames::task(frame)) else { continue };
            let forks = slot(&mut self.chats, chat);
            match forks.iter_mut().find(|fork| fork.task == task) {
                Some(fork) => fork.odd = true,
                None => forks.push(Fork { task: task.to_string(), pid: *pid, started: index, ..Fork::default() }),
            }
        }
        look
    }

    fn of(&self, chat: &str) -> &[Fork] {
        self.chats.get(chat).map(Vec::as_slice).unwrap_or_default()
    }

    fn by_chip(&self, chat: &str, chip: &str) -> Option<&Fork> {
        self.of(chat).iter().find(|fork| fork.chip.as_deref() == Some(chip))
    }

    /// Takes in one event of the journal.
    fn wrote(&mut self, batch: &Batch<'_>, entry: &JournalEntry) {
        let (chat, event) = (batch.chat.id.as_str(), &entry.event);
        let wire = &self.wire;
        if let Some(forks) = self.chats.get_mut(chat) {
            match frames::kind(event) {
                "toolCall" if frames::chip_name(event).is_some() => {
                    let id = event["id"].as_str().unwrap_or_default();
                    let fork = forks.iter_mut().find(|fork| id.starts_with(FORK_TAG) && id.contains(&fork.task));
                    if let Some(fork) = fork {
                        fork.odd |= fork.chip.is_some();
                        fork.chip = Some(id.to_string());
                    }
                }
                "subagent" => {
                    let Some((chip, child)) = frames::child(event) else { return };
                    let Some(fork) = forks.iter_mut().find(|fork| fork.chip.as_deref() == Some(chip)) else { return };
                    match frames::kind(child) {
                        "done" if fork.settled.is_none() => {
                            fork.settled = Some(entry.seq);
                            fork.waited = may_wait(wire, fork.pid, batch.span);
                        }
                        "userMessage" => fork.opened = true,
                        _ => {}
                    }
                }
                "toolResult" => {
                    let id = event["id"].as_str();
                    for fork in forks.iter_mut().filter(|fork| fork.chip.as_deref() == id) {
                        fork.resolved = Some(entry.seq);
                    }
                }
                // "Result is only a steer boundary: the same two events, before Steered and before any held Done": whether or
                // not the message had been read when the fork settled, the Done that follows is another turn's or was held.
                "steered" | "steerReturned" => {
                    let steered = frames::kind(event) == "steered";
                    for fork in forks.iter_mut().filter(|fork| !fork.closed) {
                        match fork.settled {
                            None => fork.split |= steered,
                            Some(_) => fork.waited = true,
                        }
                    }
                }
                "done" => forks.iter_mut().for_each(|fork| fork.closed = true),
                _ => {}
            }
        }
        self.wire.wrote(batch, entry);
    }

    /// Whether the host may no longer listen to the fork's process.
    fn is_over(&self, fork: &Fork) -> bool {
        self.wire.procs.get(&fork.pid).is_none_or(|proc| proc.over.is_some())
    }

    /// Whether a message of ours had the turn of a process when something was said.
    fn own_turn(&self, pid: u32, index: usize) -> bool {
        self.wire.messages.values().any(|message| {
            let open = message.ended.is_none() && message.cancelled.is_none() && message.taken_back.is_none();
            message.pid == pid && open && (message.steered > 0 || message.first && message.heard < index)
        })
    }
}

/// Whether a message was written that had not been confirmed: then a Done may be held.
fn may_wait(wire: &Wire, pid: u32, span: Span) -> bool {
    wire.messages.values().any(|message| {
        message.pid == pid && !message.first && message.steered == 0 && message.heard < span.to && message.cancelled.is_none()
    })
}
