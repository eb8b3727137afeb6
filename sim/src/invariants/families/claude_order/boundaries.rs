//! C2 to C5: a result with a message waiting is a boundary, not an end.

use std::collections::BTreeMap;

use super::super::{
    frames,
    wire::{Batch, Owner, Wire, Written, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::JournalEntry,
};

/// The message that a Steered event names, as it stood before.
fn steered<'w>(wire: &'w Wire, entry: &JournalEntry) -> Option<&'w Written> {
    if frames::kind(&entry.event) != "steered" {
        return None;
    }
    wire.messages.get(entry.event["messageId"].as_str()?)
}

/// C2.
#[derive(Default)]
pub(in super::super) struct BoundaryIsNoEnd {
    wire: Wire,
    /// Whether an error was journaled since the last Steered or Done.
    told: BTreeMap<String, bool>,
}

impl BoundaryIsNoEnd {
    fn judge(&self, moment: &Moment<'_>, found: &mut Found, batch: &Batch<'_>, message: &Written) {
        let (chat, facts) = (&batch.chat.id, self.wire.facts(&batch.chat.id));
        let Some(taken) = message.taken.filter(|taken| *taken < batch.span.to) else { return };
        let stopped = facts.stopped.is_some_and(|index| index >= message.heard);
        let over = self.wire.procs.get(&message.pid).is_none_or(|proc| proc.over.is_some());
        let results = self.wire.results.iter().rev().take_while(|told| told.index > message.heard);
        let boundary = results.filter(|told| told.pid == message.pid && told.index <= taken).last();
        let Some(boundary) = boundary.filter(|_| !stopped && !over && message.cancelled.is_none()) else { return };
        // A message that the process had read was written before; so a Done behind that was to be held.
        let ended = facts.done.filter(|done| done.span.from > message.heard && !done.interrupted && !done.synthetic);
        found.judge("C2", moment.at, ended.is_none(), || {
            format!("{chat}: {} waited and was taken, yet the result before it settled a turn", message.id)
        });
        let since = facts.boundary.map_or(0, |boundary| boundary.to);
        if boundary.failed && boundary.owner == Owner::Messages && boundary.index >= since {
            let told = self.told.get(chat).copied().unwrap_or(false) || batch.chat.errors().next().is_some();
            found.judge("C2", moment.at, told, || format!("{chat}: the reply before {} failed, and nothing says so", message.id));
        }
    }
}

impl Invariant for BoundaryIsNoEnd {
    fn id(&self) -> &'static str {
        "C2"
    }

    fn words(&self) -> &'static str {
        "a result before a message that waits is a boundary: Steered and no Done, its error stays in the reply that closes"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            for entry in batch.entries {
                if let Some(message) = steered(&self.wire, entry) {
                    self.judge(moment, found, batch, message);
                }
                match frames::kind(&entry.event) {
                    "error" => *slot(&mut self.told, &batch.chat.id) = true,
                    "steered" | "done" => *slot(&mut self.told, &batch.chat.id) = false,
                    _ => {}
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}

/// C3.
#[derive(Default)]
pub(in super::super) struct EarlierOnesToo {
    wire: Wire,
}

impl Invariant for EarlierOnesToo {
    fn id(&self) -> &'static str {
        "C3"
    }

    fn words(&self) -> &'static str {
        "a message that is taken confirms earlier ones that were never reported as queued: n steers, n Steered"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            for entry in batch.entries {
                if let Some(message) = steered(&self.wire, entry) {
                    let earlier = self
                        .wire
                        .messages
                        .values()
                        .filter(|other| other.pid == message.pid && other.place < message.place && !other.first);
                    for other in earlier {
                        let left = other.waits() && other.queued.is_none();
                        found.judge("C3", moment.at, !left, || {
                            format!("{}: {} is steered, {} before it is left behind", batch.chat.id, message.id, other.id)
                        });
                    }
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}

/// C4.
#[derive(Default)]
pub(in super::super) struct QueuedHolds {
    wire: Wire,
}

impl Invariant for QueuedHolds {
    fn id(&self) -> &'static str {
        "C4"
    }

    fn words(&self) -> &'static str {
        "a message that the CLI says is queued keeps the Done held, without a time-out"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            for entry in batch.entries {
                let facts = self.wire.facts(chat);
                // A stop takes back what waits, and what is sent while it is under way does not hold its Done.
                let stopped = facts.stopped.is_some_and(|index| facts.boundary.is_none_or(|last| index >= last.from));
                let real = frames::kind(&entry.event) == "done" && !entry.event["synthetic"].is_string() && !stopped;
                if real {
                    let alive = |pid: u32| self.wire.is_of(pid, chat) && self.wire.procs[&pid].over.is_none();
                    let reported = self.wire.messages.values().filter(|message| {
                        let now = message.is_queued(batch.span.from) || facts.since_done(message.queued);
                        !message.first && message.queued.is_some() && now && alive(message.pid)
                    });
                    for message in reported {
                        found.judge("C4", moment.at, !message.is_queued(batch.span.from), || {
                            format!("journal {} of {chat} is a Done, yet {} is queued with the CLI", entry.seq, message.id)
                        });
                    }
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}

/// C5.
#[derive(Default)]
pub(in super::super) struct CancelledReleases {
    wire: Wire,
    /// Cancelled messages for which a Done may be owed: place of the cancel, message.
    fresh: Vec<(usize, String)>,
    cancelled: Vec<String>,
}

impl CancelledReleases {
    /// Whether the Done that the message held is out; `None` where none was held, or something else holds it too.
    fn is_released(&self, index: usize, message: &Written, chat: &str) -> Option<bool> {
        let facts = self.wire.facts(chat);
        let mut told = self.wire.results.iter().rev().filter(|told| told.pid == message.pid && told.index < index);
        let result = told.next().filter(|told| told.owner == Owner::Messages && told.index > message.heard)?;
        // A Steered behind it has superseded the Done; a stop or the end of the process took it over.
        let superseded = facts.steers > 0 && facts.boundary.is_some_and(|boundary| boundary.to > result.index);
        let stopped = facts.stopped.is_some_and(|index| index > message.heard);
        let over = self.wire.procs.get(&message.pid).is_none_or(|proc| proc.over.is_some());
        let holds = self.wire.messages.values().any(|other| {
            let decided = [other.taken, other.cancelled, other.ended].iter().any(Option::is_some);
            other.pid == message.pid && !other.first && other.steered == 0 && !decided
        });
        if superseded || stopped || over || holds {
            return None;
        }
        Some(facts.done.is_some_and(|done| done.span.to > result.index))
    }
}

impl Invariant for CancelledReleases {
    fn id(&self) -> &'static str {
        "C5"
    }

    fn words(&self) -> &'static str {
        "a queued message that is cancelled releases the Done at once and gets no Steered"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (index, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            let Some((id, "cancelled" | "canceled" | "failed")) = frames::lifecycle(frame) else { continue };
            let message = self.wire.messages.get(id).filter(|message| !message.first && message.cancelled == Some(index));
            if message.is_some_and(|message| message.steered == 0 && message.taken.is_none()) {
                self.fresh.push((index, id.to_string()));
                self.cancelled.push(id.to_string());
            }
        }
        if self.fresh.is_empty() {
            return;
        }
        let mut waiting = Vec::new();
        for (index, id) in std::mem::take(&mut self.fresh) {
            let Some(message) = self.wire.messages.get(&id) else { continue };
            let Some(chat) = self.wire.chat_of(message.pid).and_then(|chat| moment.view.chat(chat)) else { continue };
            if chat.delivery.rows > 0 {
                waiting.push((index, id));
                continue;
            }
            if let Some(released) = self.is_released(index, message, &chat.id) {
                found.judge("C5", moment.at, released, || {
                    format!("{}: {id} was cancelled and nothing else waits, yet the Done is still held", chat.id)
                });
            }
        }
        self.fresh = waiting;
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for id in &self.cancelled {
            let message = self.wire.messages.get(id);
            // Sent again it is another matter.
            let Some(message) = message.filter(|message| message.cancelled.is_some()) else { continue };
            found.judge("C5", moment.at, message.steered == 0, || {
                format!("{id} was cancelled by the CLI and is steered all the same")
            });
        }
    }
}
