//! I1: every accepted turn settles exactly once.

use super::memory;
use crate::{
    evidence::Shared,
    invariants::{Found, Invariant, Moment},
    view::{Outcome, Turn},
};

const ID: &str = "I1";

/// Number of ends, and the first one.
type Ends = (usize, Option<(u64, Outcome)>);

/// I1. Length always; completeness at rest, unless the provider really runs the turn.
pub struct Turns {
    evidence: Shared,
    /// Per chat and turn: ends seen, and the first of them.
    seen: Vec<Vec<Ends>>,
}

impl Turns {
    pub(super) fn new(evidence: &Shared) -> Self {
        Turns { evidence: evidence.clone(), seen: Vec::new() }
    }
}

fn first(turn: &Turn) -> Option<(u64, Outcome)> {
    turn.settles.first().map(|settle| (settle.at, settle.outcome))
}

impl Invariant for Turns {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "every accepted turn settles exactly once, and what comes later changes nothing of it"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let seen = memory(&mut self.seen, index);
            for (turn, before) in chat.turns.iter().zip(seen.iter_mut()) {
                if before.0 == turn.settles.len() && before.1 == first(turn) {
                    continue;
                }
                let number = turn.number;
                if before.1.is_some() {
                    found.judge(ID, moment.at, before.1 == first(turn), || {
                        format!("{}: turn {number} had ended as {:?} and is now {:?}", chat.id, before.1, first(turn))
                    });
                }
                settled(found, moment.at, &chat.id, turn);
                *before = (turn.settles.len(), first(turn));
            }
            for turn in chat.turns.iter().skip(seen.len()) {
                settled(found, moment.at, &chat.id, turn);
                seen.push((turn.settles.len(), first(turn)));
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for chat in &moment.view.chats {
            let runs = evidence.runs(&chat.id);
            // A provider that swallowed the end of a turn keeps it open as long as its process lives.
            let excused = runs || (moment.history.broken_provider && evidence.alive(&chat.id));
            for turn in &chat.turns {
                let open = turn.settles.is_empty();
                if open && excused {
                    continue;
                }
                found.judge(ID, moment.at, !open, || {
                    format!(
                        "{}: turn {} ({:?}), accepted at {} ms, never ended; the provider runs nothing",
                        chat.id, turn.number, turn.cause, turn.accepted_at
                    )
                });
            }
        }
    }
}

fn settled(found: &mut Found, at: u64, chat: &str, turn: &Turn) {
    if turn.settles.is_empty() {
        return;
    }
    found.judge(ID, at, turn.settles.len() == 1, || {
        let ends: Vec<_> = turn.settles.iter().map(|settle| format!("{:?} at {} ms", settle.outcome, settle.at)).collect();
        format!("{chat}: turn {} ended {} times: {}", turn.number, turn.settles.len(), ends.join(", "))
    });
    found.judge(ID, at, turn.settles[0].at >= turn.accepted_at, || {
        format!(
            "{chat}: turn {} ended at {} ms, before it was accepted at {} ms",
            turn.number, turn.settles[0].at, turn.accepted_at
        )
    });
}
