//! I10: unknown, extra, early frames are not fatal.

use super::since;
use crate::{
    evidence::{OddKind, Shared},
    history::{History, What},
    invariants::{Found, Invariant, Moment, Violation},
    view::HostView,
};

const ID: &str = "I10";

/// I10 within one run: when the only thing that happened is a frame of unknown kind, a record that is no JSON, or a frame that
/// was said before word for word, then no turn ends by it and the host kills nothing. That nothing else changes either takes two
/// runs: see `two_runs`.
pub struct Strange {
    evidence: Shared,
    happenings: usize,
    odd: usize,
    settles: usize,
}

impl Strange {
    pub(super) fn new(evidence: &Shared) -> Self {
        Strange { evidence: evidence.clone(), happenings: 0, odd: 0, settles: 0 }
    }
}

impl Invariant for Strange {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a frame of unknown kind, a bad record or a repeated frame ends no turn and no process"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        let settles = std::mem::replace(&mut self.settles, settles(moment.view));
        let new = since(&mut self.happenings, moment.history);
        let odd = &evidence.odd[self.odd..];
        self.odd = evidence.odd.len();
        let fatal = |kind| matches!(kind, OddKind::Unknown | OddKind::Malformed | OddKind::Repeated);
        let said = new.iter().filter(|happening| matches!(happening.what, What::Said { .. })).count();
        let others = new.iter().any(|happening| !matches!(happening.what, What::Said { .. } | What::Signal { .. }));
        let only = said == odd.len() && !others && odd.iter().all(|odd| fatal(odd.kind) && owns_up(moment.history, odd.index));
        if odd.is_empty() || !only {
            return;
        }
        found.judge(ID, moment.at, settles == self.settles, || {
            format!("a turn ended by a frame that says nothing: {:?} of process {}", odd[0].kind, odd[0].pid)
        });
        for happening in new {
            if let What::Signal { pid, signal, by_host: true } = &happening.what {
                let message = format!("{signal} was sent to process {pid} upon a frame that says nothing: {:?}", odd[0].kind);
                found.violations.push(Violation { invariant: ID, at: moment.at, message });
            }
        }
    }
}

fn settles(view: &HostView) -> usize {
    view.chats.iter().flat_map(|chat| &chat.turns).map(|turn| turn.settles.len()).sum()
}

/// Whether a repeat can be told from a second frame with the same words: a result that names nobody cannot.
fn owns_up(history: &History, index: usize) -> bool {
    let frame = crate::evidence::frame_at(history, index);
    frame["type"] != "result" || frame["user_message_uuids"].is_array() || frame["user_message_uuid"].is_string()
}
