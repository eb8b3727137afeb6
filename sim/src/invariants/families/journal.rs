//! J1, J2: the journal and the restart.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::Chat,
};

/// Fresh judges of this family.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![Box::new(Whole::default()), Box::new(OneTerminal::default())]
}

/// Walks the restarts of a run.
#[derive(Default)]
struct Restarts {
    seen: usize,
}

impl Restarts {
    /// What the host did since the last look: ended, started.
    fn look(&mut self, moment: &Moment<'_>) -> (bool, bool) {
        let new = &moment.history.happenings[self.seen.min(moment.history.happenings.len())..];
        self.seen = moment.history.happenings.len();
        let ended = new.iter().any(|happening| matches!(happening.what, What::HostEnded { .. }));
        (ended, new.iter().any(|happening| matches!(happening.what, What::HostStarted)))
    }
}

/// J1.
#[derive(Default)]
struct Whole {
    restarts: Restarts,
}

impl Invariant for Whole {
    fn id(&self) -> &'static str {
        "J1"
    }

    fn words(&self) -> &'static str {
        "after a crash the journal is read up to its last whole record, without a gap"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        if !self.restarts.look(moment).1 {
            return;
        }
        for chat in &moment.view.chats {
            let gap = chat.journal.iter().zip(1..).find(|(entry, number)| entry.seq != *number);
            found.judge("J1", moment.at, gap.is_none(), || {
                let (seq, number) = gap.map(|(entry, number)| (entry.seq, number)).unwrap_or_default();
                format!("{}: after the restart record {number} of the journal has the number {seq}", chat.id)
            });
        }
    }
}

/// J2.
#[derive(Default)]
struct OneTerminal {
    restarts: Restarts,
    /// What each chat showed when the host ended.
    known: BTreeMap<String, Known>,
}

/// What a chat showed.
struct Known {
    /// Ends by a restart in its journal.
    ends: usize,
    /// Messages.
    messages: usize,
    /// Whether a turn ran.
    ran: bool,
}

impl Invariant for OneTerminal {
    fn id(&self) -> &'static str {
        "J2"
    }

    fn words(&self) -> &'static str {
        "a boot ends each turn that was running exactly once, and nothing else"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let (ended, started) = self.restarts.look(moment);
        if ended {
            let known = |chat: &Chat| Known {
                ends: ends(chat),
                messages: chat.messages.len(),
                ran: chat.busy || chat.open_turn().is_some(),
            };
            self.known = moment.view.chats.iter().map(|chat| (chat.id.clone(), known(chat))).collect();
        }
        if !started {
            return;
        }
        for chat in &moment.view.chats {
            let known = self.known.get(&chat.id);
            let new = ends(chat).saturating_sub(known.map_or(0, |known| known.ends));
            let mut turn = chat.journal.iter().rev().filter(|entry| !is_aside(&entry.event));
            let last = turn.next().map(|entry| &entry.event);
            let ended = last.is_none_or(|event| event["type"] == "done");
            found.judge("J2", moment.at, ended, || format!("{}: the last event of the journal is no end of a turn", chat.id));
            // Before the end that the boot wrote stands what it found.
            // A turn whose beginning was written down and not shown is no fault.
            let rested = known.is_some_and(|known| !known.ran && known.messages == chat.messages.len());
            let needless = new == 1 && rested && turn.next().is_none_or(|entry| entry.event["type"] == "done");
            found.judge("J2", moment.at, new <= 1 && !needless, || {
                format!("{}: the boot wrote {new} end(s){}", chat.id, if needless { ", and no turn was running" } else { "" })
            });
        }
    }
}

fn ends(chat: &Chat) -> usize {
    let restart = |event: &Value| event["type"] == "done" && event["synthetic"] == "restart";
    chat.journal.iter().filter(|entry| restart(&entry.event)).count()
}

/// What is journaled between two turns, too: words aside, and what children do that outlive their turn.
fn is_aside(event: &Value) -> bool {
    let kind = event["type"].as_str();
    matches!(kind, Some("note" | "contextUsage" | "availableCommands" | "sessionStarted" | "agentChanged" | "subagent"))
}
