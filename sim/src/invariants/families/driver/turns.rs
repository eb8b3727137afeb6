//! D1 to D3: how a turn ends in the journal.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    frames,
    wire::{ChatFacts, Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, MessageState},
};

/// Whether something opened a turn since the last Done: content, a message, a process, or what this judge cannot read.
fn in_turn(facts: &ChatFacts) -> bool {
    let provisional = facts.done.is_some_and(|done| done.provisional);
    facts.opened || provisional || facts.since_done(facts.asked) || facts.since_done(facts.unread)
}

/// D1.
#[derive(Default)]
pub(in super::super) struct OneDone {
    wire: Wire,
}

impl Invariant for OneDone {
    fn id(&self) -> &'static str {
        "D1"
    }

    fn words(&self) -> &'static str {
        "each turn has exactly one Done, and there is none without a turn"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            for entry in batch.entries {
                if frames::kind(&entry.event) == "done" {
                    let facts = self.wire.facts(&batch.chat.id);
                    // A restart settles what a dead engine left, whether or not it can still tell a turn from a tail. Output
                    // that the parked gate drops leaves nothing in the journal, yet its turn has an end.
                    let restart = entry.event["synthetic"].as_str() == Some("restart");
                    let holds = restart || in_turn(&facts) || facts.since_done(facts.visible);
                    found.judge("D1", moment.at, holds, || {
                        format!(
                            "journal {} of {} is a Done, but no turn was open: since the Done before it there was neither content \
                             nor a message",
                            entry.seq, batch.chat.id
                        )
                    });
                }
                self.wire.wrote(batch, entry);
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            let mut procs = self.wire.procs_of(&chat.id).peekable();
            if procs.peek().is_none() || procs.any(|(_, proc)| proc.gone.is_none()) {
                continue;
            }
            let open = self.wire.facts(&chat.id).opened;
            found.judge("D1", moment.at, !open, || {
                format!("the provider of {} is gone, yet its journal ends inside a turn: no Done closes it", chat.id)
            });
            let turn = chat.open_turn().filter(|turn| is_handed_over(chat, &turn.cause));
            found.judge("D1", moment.at, turn.is_none(), || {
                let number = turn.map_or(0, |turn| turn.number);
                format!("the provider of {} is gone, yet turn {number} has no Done", chat.id)
            });
        }
    }
}

/// Whether a turn was handed to a provider: one whose message is queued, given back or taken back owes no end.
fn is_handed_over(chat: &Chat, cause: &Cause) -> bool {
    let Cause::Message(id) = cause else { return true };
    let state = chat.messages.iter().find(|message| message.id == *id).map(|message| message.state);
    matches!(state, None | Some(MessageState::Sent | MessageState::Delivered))
}

/// D2.
#[derive(Default)]
pub(in super::super) struct UsageBeforeDone {
    wire: Wire,
    /// Where a frame was said last that tells the size of the context by itself: it may come between turns.
    told: BTreeMap<String, usize>,
}

impl Invariant for UsageBeforeDone {
    fn id(&self) -> &'static str {
        "D2"
    }

    fn words(&self) -> &'static str {
        "usage and context usage of a turn come before its Done"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
            let What::Said { pid, frame, .. } = &happening.what else { continue };
            let tells = frames::kind(frame) == "assistant" || frames::system(frame) == Some("compact_boundary");
            if let (true, Some(chat)) = (tells, self.wire.chat_of(*pid)) {
                *slot(&mut self.told, chat) = index;
            }
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            for entry in batch.entries {
                let kind = frames::kind(&entry.event);
                if kind == "usage" || kind == "contextUsage" {
                    let facts = self.wire.facts(chat);
                    // A background turn whose text the parked gate dropped leaves only this of it.
                    let told = facts.since_done(self.told.get(chat).copied()) || facts.since_done(facts.visible);
                    let by_itself = kind == "contextUsage" && told;
                    found.judge("D2", moment.at, in_turn(&facts) || by_itself, || {
                        format!("journal {} of {chat} is a {kind} after the Done of its turn", entry.seq)
                    });
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}

#[derive(Default)]
struct Reply {
    /// Provider messages of the reply that is open.
    current: BTreeSet<String>,
    /// Provider messages of replies that were closed.
    closed: BTreeSet<String>,
    ready: bool,
}

impl Reply {
    fn close(&mut self) {
        self.closed.append(&mut self.current);
        self.ready = false;
    }
}

/// D3.
#[derive(Default)]
pub(in super::super) struct ForkPointBeforeEnd {
    wire: Wire,
    replies: BTreeMap<String, Reply>,
}

impl Invariant for ForkPointBeforeEnd {
    fn id(&self) -> &'static str {
        "D3"
    }

    fn words(&self) -> &'static str {
        "a fork point comes before the Steered or Done that closes its reply, and only for a reply that finished cleanly"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let reply = slot(&mut self.replies, chat);
            for entry in batch.entries {
                let (facts, event) = (self.wire.facts(chat), &entry.event);
                let message = event["assistantMessageId"].as_str();
                match frames::kind(event) {
                    "assistantMessageCompleted" => reply.current.extend(message.map(str::to_string)),
                    "nativeForkReady" => {
                        reply.ready = true;
                        found.judge("D3", moment.at, in_turn(&facts), || {
                            format!("journal {} of {chat} is a fork point after the Done of its reply", entry.seq)
                        });
                        let stale = message.is_some_and(|id| reply.closed.contains(id) && !reply.current.contains(id));
                        found.judge("D3", moment.at, !stale, || {
                            format!("journal {} of {chat} is a fork point of a reply that was closed before", entry.seq)
                        });
                    }
                    "steered" => reply.close(),
                    "done" => {
                        if reply.ready {
                            let clean = self.wire.results.iter().rev().take_while(|told| {
                                // Only results of this reply count.
                                facts.boundary.is_none_or(|boundary| told.index >= boundary.from)
                            });
                            let clean = clean.into_iter().any(|told| told.clean);
                            let holds = match event["status"].as_str() {
                                Some("completed") => true,
                                // The reply had finished, its Done was held, and then a stop came.
                                Some("interrupted") => clean,
                                _ => false,
                            };
                            found.judge("D3", moment.at, holds, || {
                                format!("{chat}: a fork point was given for a reply that did not finish cleanly")
                            });
                        }
                        reply.close();
                    }
                    _ => {}
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}
