//! C6 to C9: which result ends which turn.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    frames,
    wire::{Batch, Owner, Told, Wire, slot},
};
use crate::{
    history::{UserAction, What},
    invariants::{Found, Invariant, Moment},
};

/// After the Done of a stop, ms: a result without names is its late duplicate. At exactly this it is none.
const DUPLICATE_RESULT_MS: u64 = 3_000;

/// Reads everything up to the journal of this moment; the facts are those before it.
fn happenings<'a>(wire: &mut Wire, moment: &Moment<'a>) -> Vec<Batch<'a>> {
    let look = wire.next(moment);
    for (index, happening) in look.happened() {
        wire.happened(index, happening);
    }
    look.batches
}

fn journal(wire: &mut Wire, batches: &[Batch<'_>]) {
    for batch in batches {
        for entry in batch.entries {
            wire.wrote(batch, entry);
        }
    }
}

/// The result that alone can be the cause of a batch.
fn only_result<'w>(wire: &'w Wire, moment: &Moment<'_>, batch: &Batch<'_>) -> Option<&'w Told> {
    let (index, pid, frame) = batch.span.only_frame(moment.history)?;
    if frames::kind(frame) != "result" || !wire.is_of(pid, &batch.chat.id) {
        return None;
    }
    wire.result_at(index)
}

/// Whether a message of ours has the turn: the first prompt of its process, or one that a Steered confirmed.
fn own_turn(wire: &Wire, told: &Told) -> bool {
    wire.messages.values().any(|message| {
        let open = message.ended.is_none() && message.cancelled.is_none() && message.taken_back.is_none();
        message.pid == told.pid && open && (message.steered > 0 || message.first && message.heard < told.index)
    })
}

fn has_done(batch: &Batch<'_>) -> bool {
    batch.entries.iter().any(|entry| frames::kind(&entry.event) == "done")
}

/// C6.
#[derive(Default)]
pub(in super::super) struct OldDoneStaysOld {
    wire: Wire,
    send_now: BTreeSet<String>,
    /// Where the message was taken that has the turn now, for one that was sent with a stop.
    taken: BTreeMap<String, usize>,
}

impl Invariant for OldDoneStaysOld {
    fn id(&self) -> &'static str {
        "C6"
    }

    fn words(&self) -> &'static str {
        "the Done of a turn that was stopped for a message never settles that message's turn"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
            if let What::User(UserAction::SendNow { message, .. }) = &happening.what {
                self.send_now.insert(message.clone());
            }
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            for entry in batch.entries {
                match frames::kind(&entry.event) {
                    "steered" => {
                        self.taken.remove(chat);
                        let id = entry.event["messageId"].as_str().filter(|id| self.send_now.contains(*id));
                        if let Some(taken) = id.and_then(|id| self.wire.messages.get(id)).and_then(|message| message.taken) {
                            *slot(&mut self.taken, chat) = taken;
                        }
                    }
                    "done" => {
                        if let Some(taken) = self.taken.remove(chat) {
                            let facts = self.wire.facts(chat);
                            let since = |place: Option<usize>| place.is_some_and(|place| place >= taken);
                            let told = self.wire.results.iter().rev().take_while(|told| told.index >= taken);
                            let told = told.into_iter().any(|told| self.wire.chat_of(told.pid) == Some(chat));
                            let synthetic = entry.event["synthetic"].is_string();
                            let holds = told || synthetic || since(facts.stopped) || since(facts.gone);
                            found.judge("C6", moment.at, holds, || {
                                format!(
                                    "journal {} of {chat} settles the turn of a message sent with a stop, but nothing ended it",
                                    entry.seq
                                )
                            });
                        }
                    }
                    _ => {}
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}

/// C7.
#[derive(Default)]
pub(in super::super) struct LateDuplicate {
    wire: Wire,
}

impl LateDuplicate {
    fn judge(&self, moment: &Moment<'_>, found: &mut Found, batch: &Batch<'_>) {
        let (chat, facts) = (&batch.chat.id, self.wire.facts(&batch.chat.id));
        let Some(told) = only_result(&self.wire, moment, batch) else { return };
        let shown = facts.since_done(facts.visible) || facts.since_done(facts.unread);
        let after_stop = facts.done.filter(|done| done.interrupted && told.at.saturating_sub(done.at) < DUPLICATE_RESULT_MS);
        let late = match told.owner {
            // Work that shows something is ended by it, whomever it names.
            Owner::Late => !shown || facts.done.is_none(),
            Owner::Nobody => after_stop.is_some() && facts.stopped.is_some() && !shown && !facts.since_done(facts.asked),
            _ => false,
        };
        if late {
            let effect = batch.entries.iter().map(|entry| frames::kind(&entry.event)).find(|kind| *kind != "note");
            found.judge("C7", moment.at, effect.is_none(), || {
                format!("{chat}: the late duplicate of a result brought a {} into the journal", effect.unwrap_or_default())
            });
        }
        let Some(done) = after_stop.filter(|_| told.owner == Owner::Messages) else { return };
        let fresh = told.mine.iter().filter_map(|id| self.wire.messages.get(id)).any(|message| {
            let since = |span: super::super::wire::Span| span.from >= done.span.to;
            message.steered_at.is_some_and(since) && message.ended == Some(told.index)
        });
        let stopped = facts.stopped.is_some_and(|index| index >= done.span.to);
        let over = self.wire.procs.get(&told.pid).is_none_or(|proc| proc.over.is_some());
        if fresh && !stopped && !over && self.wire.waiting(told.pid).next().is_none() && batch.chat.delivery.rows == 0 {
            found.judge("C7", moment.at, has_done(batch), || {
                format!("{chat}: a quick result of a new message was taken for the duplicate of a stopped one")
            });
        }
    }
}

impl Invariant for LateDuplicate {
    fn id(&self) -> &'static str {
        "C7"
    }

    fn words(&self) -> &'static str {
        "a late duplicate of a result changes nothing; a quick result of a new message counts"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let batches = happenings(&mut self.wire, moment);
        for batch in &batches {
            self.judge(moment, found, batch);
        }
        journal(&mut self.wire, &batches);
    }
}

/// C8.
#[derive(Default)]
pub(in super::super) struct ForeignResult {
    wire: Wire,
}

impl Invariant for ForeignResult {
    fn id(&self) -> &'static str {
        "C8"
    }

    fn words(&self) -> &'static str {
        "a result that names none of our messages never ends a prompt"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let batches = happenings(&mut self.wire, moment);
        for batch in &batches {
            let Some(told) = only_result(&self.wire, moment, batch) else { continue };
            if told.owner == Owner::Process && own_turn(&self.wire, told) {
                found.judge("C8", moment.at, !has_done(batch), || {
                    format!("{}: a result that names no message of ours settled a prompt", batch.chat.id)
                });
            }
        }
        journal(&mut self.wire, &batches);
    }
}

/// C9.
#[derive(Default)]
pub(in super::super) struct WakeHasItsOwn {
    wire: Wire,
}

impl WakeHasItsOwn {
    fn judge(&self, moment: &Moment<'_>, found: &mut Found, batch: &Batch<'_>) {
        let (chat, facts) = (&batch.chat.id, self.wire.facts(&batch.chat.id));
        let Some(told) = only_result(&self.wire, moment, batch).filter(|told| told.owner == Owner::Process) else { return };
        let proc = self.wire.procs.get(&told.pid).filter(|proc| proc.over.is_none() && !proc.order.is_empty());
        let Some(done) = facts.done.filter(|done| !done.provisional && proc.is_some()) else { return };
        let busy = own_turn(&self.wire, told) || self.wire.waiting(told.pid).next().is_some();
        let stopped = facts.since_done(facts.stopped) && facts.stopped.is_some_and(|index| index >= done.span.to);
        if busy || stopped || facts.since_done(facts.unread) || batch.chat.delivery.rows > 0 {
            return;
        }
        if facts.surely_since_done(facts.visible) {
            found.judge("C9", moment.at, has_done(batch), || {
                format!("{chat}: work that nobody asked for showed something and ended, yet it has no Done")
            });
        } else if !facts.since_done(facts.visible) {
            found.judge("C9", moment.at, !has_done(batch), || {
                format!("{chat}: work that nobody asked for showed nothing, yet it has a Done")
            });
        }
    }
}

impl Invariant for WakeHasItsOwn {
    fn id(&self) -> &'static str {
        "C9"
    }

    fn words(&self) -> &'static str {
        "a background wake gives a Done of its own, one that showed nothing gives none"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let batches = happenings(&mut self.wire, moment);
        for batch in &batches {
            self.judge(moment, found, batch);
        }
        journal(&mut self.wire, &batches);
    }
}
