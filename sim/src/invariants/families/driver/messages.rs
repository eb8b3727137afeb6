//! D4: one Steered a message.

use std::collections::BTreeMap;

use super::super::{
    frames,
    wire::{Batch, Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment, host::FLUSH_BOUND_MS},
    view::{JournalEntry, MessageState},
};

/// A Done that is held while nobody reports anything is released after this, ms: what waits is then taken as delivered.
pub(in super::super) const UNREPORTED_SETTLE_MS: u64 = 5_000;

/// D4.
#[derive(Default)]
pub(in super::super) struct OneSteered {
    wire: Wire,
    steered: BTreeMap<String, u32>,
}

impl OneSteered {
    /// What is wrong with a Steered of this message, in the words of the fault.
    fn fault(&self, batch: &Batch<'_>, entry: &JournalEntry, id: &str) -> Option<String> {
        let chat = &batch.chat.id;
        if self.steered.get(id).copied().unwrap_or(0) > 1 {
            return Some(format!("message {id} of {chat} is steered a second time"));
        }
        let claude = self.wire.procs_of(chat).all(|(_, proc)| proc.claude);
        if !claude {
            return None;
        }
        // Held for so long, a Done is released together with what waits; nothing needs to say that it was taken.
        let waited =
            self.wire.results.iter().any(|told| {
                self.wire.chat_of(told.pid) == Some(chat) && entry.at.saturating_sub(told.at) >= UNREPORTED_SETTLE_MS
            });
        let Some(message) = self.wire.messages.get(id) else {
            return (!waited).then(|| format!("{chat}: a Steered names {id}, which no provider has read"));
        };
        let others = || self.wire.messages.values().filter(|other| other.pid == message.pid && other.id != *id);
        // The provider itself may overtake (D4): a first prompt that it held in its queue is taken later, as a steer is.
        let overtaken = message.queued.is_some() && others().any(|other| other.steered > 0 && other.taken < message.taken);
        if message.first && message.heard < batch.span.from && message.steered == 0 && !overtaken {
            return Some(format!("{chat}: {id} was the first prompt of its process and is no steer"));
        }
        match message.taken {
            Some(taken) => {
                let before = others().find(|other| {
                    let open = other.steered == 0 && other.taken_back.is_none() && other.cancelled.is_none() && !other.first;
                    open && other.taken.is_some_and(|index| index < taken)
                })?;
                Some(format!("{chat}: {id} is steered before {}, which the provider took first", before.id))
            }
            None if waited => None,
            None => {
                // A later message that was taken tells of earlier ones that were never reported as queued.
                let told = message.queued.is_none() && others().any(|other| other.place > message.place && other.taken.is_some());
                let queued = if message.queued.is_some() { " and said that it is queued" } else { "" };
                (!told).then(|| format!("{chat}: {id} is steered, but the provider has not taken it{queued}"))
            }
        }
    }
}

impl Invariant for OneSteered {
    fn id(&self) -> &'static str {
        "D4"
    }

    fn words(&self) -> &'static str {
        "one Steered for each message that the provider took, in the order in which it took them, and not before"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            for entry in batch.entries {
                if let ("steered", Some(id)) = (frames::kind(&entry.event), entry.event["messageId"].as_str()) {
                    *slot(&mut self.steered, id) += 1;
                    let fault = self.fault(batch, entry, id);
                    found.judge("D4", moment.at, fault.is_none(), || fault.unwrap_or_default());
                }
                self.wire.wrote(batch, entry);
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        if moment.history.broken_provider {
            return;
        }
        for message in self.wire.messages.values().filter(|message| !message.first) {
            let Some(taken) = message.taken else { continue };
            let Some(proc) = self.wire.procs.get(&message.pid) else { continue };
            let taken_at = moment.history.happenings.get(taken).map_or(0, |happening| happening.at);
            // A host that ends may not have written down what it had just heard.
            let lost = moment.history.happenings.iter().any(|happening| {
                matches!(happening.what, What::HostEnded { .. })
                    && happening.at >= taken_at
                    && happening.at <= taken_at + FLUSH_BOUND_MS
            });
            let unheard = lost || proc.over.is_some_and(|over| over <= taken);
            if unheard || message.cancelled.is_some() || message.taken_back.is_some() {
                continue;
            }
            let chat = proc.chat.as_deref().and_then(|chat| moment.view.chat(chat));
            let shown = chat.and_then(|chat| chat.messages.iter().find(|shown| shown.id == message.id));
            // One that a crash of the host swallowed is shown so.
            if shown.is_some_and(|shown| {
                matches!(shown.state, MessageState::Queued | MessageState::NotDelivered | MessageState::Withdrawn)
            }) {
                continue;
            }
            found.judge("D4", moment.at, message.steered > 0, || {
                format!("the provider took {}, but no Steered says so", message.id)
            });
        }
    }
}
