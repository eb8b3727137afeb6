//! T4 and T5: when a typed fork settles, and what its start may come before.

use std::collections::BTreeSet;

use super::{
    super::{frames, wire::Owner},
    FORK_TAG, Fork, Forks,
};
use crate::{
    invariants::{Found, Invariant, Moment},
    view::JournalEntry,
};

/// A parked chat drops untagged output for so long, ms; at exactly this the gate is open.
const PARKED_GATE_MS: u64 = 1_000;

/// T4.
#[derive(Default)]
pub(super) struct SettlesBeforeDone {
    forks: Forks,
}

impl SettlesBeforeDone {
    fn judge(&self, moment: &Moment<'_>, found: &mut Found, chat: &str, entry: &JournalEntry) {
        let (event, seq) = (&entry.event, entry.seq);
        let wire = &self.forks.wire;
        match frames::kind(event) {
            "subagent" => {
                let Some((chip, child)) = frames::child(event) else { return };
                let Some(fork) = self.forks.by_chip(chat, chip).filter(|fork| !fork.odd) else { return };
                found.judge("T4", moment.at, fork.settled.is_none(), || {
                    let kind = frames::kind(child);
                    format!("journal {seq} of {chat} is a {kind} of typed fork {chip}, which was settled before")
                });
            }
            "toolResult" => {
                let Some(fork) = event["id"].as_str().and_then(|id| self.forks.by_chip(chat, id)).filter(|fork| !fork.odd) else {
                    return;
                };
                found.judge("T4", moment.at, fork.settled.is_some_and(|settled| settled + 1 == seq), || {
                    format!("journal {seq} of {chat} resolves a typed fork, but the event before does not settle it")
                });
            }
            "steered" => {
                let message = event["messageId"].as_str().and_then(|id| wire.messages.get(id));
                let Some(taken) = message.and_then(|message| message.taken) else { return };
                let running = self.forks.of(chat).iter().filter(|fork| is_running(fork) && !self.forks.is_over(fork));
                for fork in running {
                    let ended = wire.results.iter().rev().take_while(|told| told.index > fork.started);
                    let ended =
                        ended.into_iter().any(|told| told.pid == fork.pid && told.owner == Owner::Messages && told.index < taken);
                    if ended {
                        found.judge("T4", moment.at, false, || {
                            format!("journal {seq} of {chat} is a Steered, yet the fork of the reply before it is not settled")
                        });
                    }
                }
            }
            "done" => self.at_done(moment, found, chat, entry),
            _ => {}
        }
    }

    fn at_done(&self, moment: &Moment<'_>, found: &mut Found, chat: &str, entry: &JournalEntry) {
        // Where the engine gives a run up by itself its children are failed with it, without a word of the driver.
        let given_up = entry.event["synthetic"].as_str().is_some_and(|why| why != "stop-settle");
        let forks = self.forks.of(chat).iter().filter(|fork| !fork.closed && !fork.odd && fork.chip.is_some());
        let mut last = None;
        for fork in forks {
            if !given_up {
                found.judge("T4", moment.at, fork.settled.is_some(), || {
                    format!("journal {} of {chat} is a Done, yet the typed fork of its turn is not settled", entry.seq)
                });
            }
            if fork.settled.is_some_and(|settled| last.is_none_or(|(other, _)| settled > other)) {
                last = fork.settled.map(|settled| (settled, fork));
            }
        }
        if let Some((_, fork)) = last.filter(|(_, fork)| !fork.split && !fork.waited) {
            let direct = fork.resolved.is_some_and(|resolved| resolved + 1 == entry.seq);
            found.judge("T4", moment.at, direct || given_up, || {
                format!("journal {} of {chat}: the two events before the Done are not those that settle its fork", entry.seq)
            });
        }
    }
}

/// Whether a fork that has its chip runs.
fn is_running(fork: &Fork) -> bool {
    fork.chip.is_some() && fork.settled.is_none() && !fork.closed && !fork.odd
}

impl Invariant for SettlesBeforeDone {
    fn id(&self) -> &'static str {
        "T4"
    }

    fn words(&self) -> &'static str {
        "a typed fork settles exactly once, with the two events directly before its turn's Done"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.forks.next(moment);
        for batch in &look.batches {
            for entry in batch.entries {
                self.judge(moment, found, &batch.chat.id, entry);
                self.forks.wrote(batch, entry);
            }
        }
    }
}

/// T5.
#[derive(Default)]
pub(super) struct EitherOrder {
    forks: Forks,
    /// Forks that began in a parked chat before their message was taken.
    early: BTreeSet<(String, String)>,
    /// Chats in which a child settled since the last Done: the gate is open at once.
    bypass: BTreeSet<String>,
}

impl Invariant for EitherOrder {
    fn id(&self) -> &'static str {
        "T5"
    }

    fn words(&self) -> &'static str {
        "in a parked chat the Steered comes before the fork's chip; a fork that began first still keeps pill and rows equal"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.forks.next(moment);
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let facts = self.forks.wire.facts(chat);
            let alone = batch.span.only_frame(moment.history).filter(|(_, _, frame)| frames::is_fork_start(frame));
            let done = facts.done.filter(|_| !facts.opened);
            if let (Some((index, pid, frame)), Some(done)) = (alone.filter(|(_, pid, _)| self.forks.wire.is_of(*pid, chat)), done)
            {
                let happenings = &moment.history.happenings;
                let parked_at = happenings.get(done.span.from).map_or(0, |happening| happening.at);
                let task = frames::task(frame).unwrap_or_default();
                if !self.forks.own_turn(pid, index) {
                    self.early.insert((chat.clone(), task.to_string()));
                    let gated = happenings[index].at.saturating_sub(parked_at) < PARKED_GATE_MS && !self.bypass.contains(chat);
                    if gated {
                        let chip = batch.entries.iter().any(|entry| frames::chip_name(&entry.event).is_some());
                        found.judge("T5", moment.at, !chip, || {
                            format!("{chat}: a fork that began in a parked chat got past the gate before its message was taken")
                        });
                    }
                }
            }
            for entry in batch.entries {
                let id = entry.event["id"].as_str().filter(|id| id.starts_with(FORK_TAG));
                if let Some(id) = id.filter(|_| frames::chip_name(&entry.event).is_some()) {
                    let fork = self.forks.of(chat).iter().find(|fork| id.contains(&fork.task) && !fork.odd);
                    let facts = self.forks.wire.facts(chat);
                    if let (Some(fork), Some(done)) = (fork, facts.done) {
                        let mut taken = self.forks.wire.messages.values().filter(|message| {
                            let before = message.taken.is_some_and(|taken| taken >= done.span.to && taken < fork.started);
                            message.pid == fork.pid && !message.first && before && message.taken_back.is_none()
                        });
                        let late = taken.find(|message| message.steered == 0);
                        found.judge("T5", moment.at, late.is_none(), || {
                            format!(
                                "journal {} of {chat}: the chip of a fork stands before the Steered of its message",
                                entry.seq
                            )
                        });
                    }
                }
                match frames::kind(&entry.event) {
                    "subagent" if frames::child(&entry.event).is_some_and(|(_, child)| frames::kind(child) == "done") => {
                        self.bypass.insert(chat.clone());
                    }
                    "done" => {
                        self.bypass.remove(chat);
                        self.early.retain(|(of, _)| of != chat);
                    }
                    _ => {}
                }
                self.forks.wrote(batch, entry);
            }
            if batch.chat.delivery.is_delivered() && self.early.iter().any(|(of, _)| of == chat) {
                let (pill, rows) = (batch.chat.pill, batch.chat.running_rows());
                found.judge("T5", moment.at, pill == rows, || {
                    format!("{chat}: a fork began before its message was taken; the pill says {pill}, {rows} row(s) run")
                });
            }
        }
    }
}
