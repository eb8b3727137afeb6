//! I6: approvals end with their turn, and each request gets one answer.

use super::memory;
use crate::{
    evidence::{AskEnd, Evidence, Shared, StopKind},
    invariants::{Found, Invariant, Moment, Violation},
    view::{Approval, Chat, Part},
};

const ID: &str = "I6";

/// I6. Never two answers, always; the rest at rest. A request of a dead process is owed nothing. One of a background agent may
/// outlive the turn.
pub struct Approvals {
    evidence: Shared,
    /// Per request of the evidence: answers judged.
    answers: Vec<usize>,
    unasked: usize,
    /// Per chat: cards judged as opened and closed.
    cards: Vec<Vec<(u32, u32, bool)>>,
}

impl Approvals {
    pub(super) fn new(evidence: &Shared) -> Self {
        Approvals { evidence: evidence.clone(), answers: Vec::new(), unasked: 0, cards: Vec::new() }
    }
}

impl Invariant for Approvals {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a question is open only while its turn is, gets exactly one answer, and its card goes with it, once"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        self.answers.resize(evidence.asks.len(), 0);
        for (ask, judged) in evidence.asks.iter().zip(&mut self.answers) {
            for number in std::mem::replace(judged, ask.answers.len())..ask.answers.len() {
                found.judge(ID, moment.at, number == 0, || format!("request {} was answered {} times", ask.id, number + 1));
                let (heard, grants) = ask.answers[number];
                let late = grants && late_grant(&evidence, ask.pid, ask.ended, heard);
                found.judge(ID, moment.at, !late, || {
                    format!("request {} was granted after it had ended: {:?}", ask.id, ask.ended)
                });
            }
        }
        for (pid, at, id) in &evidence.unasked[self.unasked..] {
            found.judge(ID, moment.at, moment.history.broken_provider, || {
                format!("process {pid} was answered at {at} ms to the request {id:?}, which it never made")
            });
        }
        self.unasked = evidence.unasked.len();
        for (index, chat) in moment.view.chats.iter().enumerate() {
            cards(&evidence, chat, memory(&mut self.cards, index), moment.at, found);
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for ask in evidence.asks.iter().filter(|ask| ask.genuine) {
            let chat = evidence.process(ask.pid).and_then(|process| process.chat.as_deref());
            let Some(chat) = chat.and_then(|chat| moment.view.chat(chat)) else { continue };
            // The same id may be asked again by a later process: a card is that of the request that is open.
            let again = evidence.asks.iter().any(|other| other.id == ask.id && other.pid != ask.pid && other.ended.is_none());
            let shown = chat.approvals.iter().any(|approval| approval.provider_request == ask.id && is_open(approval));
            let holds = match ask.ended {
                None => shown,
                Some(_) => !shown || again,
            };
            found.judge(ID, moment.at, holds, || match ask.ended {
                None => format!("{}: the provider waits for an answer to {}, and no card is shown", chat.id, ask.id),
                Some((at, end)) => {
                    format!("{}: request {} ended at {at} ms ({end:?}), and its card is still shown", chat.id, ask.id)
                }
            });
        }
        for chat in &moment.view.chats {
            for part in chat.transcript.iter().flat_map(|entry| &entry.parts) {
                let Part::Input { request, resolved } = part else { continue };
                let closed = chat.approvals.iter().any(|approval| approval.id == *request && !is_open(approval));
                found.judge(ID, moment.at, *resolved || !closed, || {
                    format!("{}: the question {request} is closed, and shown as open in the transcript", chat.id)
                });
            }
        }
    }
}

fn is_open(approval: &Approval) -> bool {
    approval.openings > approval.closings
}

/// Whether a grant was made after the end of its request: the user's answer that made it came later. A grant that was under way
/// when the request ended cannot be told from outside, and is not held against the host.
fn late_grant(evidence: &Evidence, pid: u32, ended: Option<(u64, AskEnd)>, heard: u64) -> bool {
    let Some((ended, how)) = ended else { return false };
    if how == AskEnd::Answered || ended >= heard {
        return false;
    }
    let chat = evidence.process(pid).and_then(|process| process.chat.as_deref());
    let mut answers = evidence.stops.iter().filter(|stop| stop.kind == StopKind::Answer && Some(stop.chat.as_str()) == chat);
    answers.any(|answer| answer.at > ended && answer.at < heard)
}

fn cards(evidence: &Evidence, chat: &Chat, seen: &mut Vec<(u32, u32, bool)>, at: u64, found: &mut Found) {
    seen.resize(chat.approvals.len(), (0, 0, false));
    for (approval, seen) in chat.approvals.iter().zip(seen) {
        if (approval.openings, approval.closings) != (seen.0, seen.1) {
            (seen.0, seen.1) = (approval.openings, approval.closings);
            found.judge(ID, at, approval.openings <= 1 && approval.closings <= 1, || {
                format!(
                    "{}: card {} was opened {} and closed {} times",
                    chat.id, approval.id, approval.openings, approval.closings
                )
            });
        }
        // Card and turn come on the row feed: while a row change is under way the one may be here and the other not.
        if !is_open(approval) || chat.delivery.rows > 0 || chat.open_turn().is_some() || seen.2 {
            continue;
        }
        let by_child = evidence.asks.iter().any(|ask| ask.by_child && ask.id == approval.provider_request);
        if !by_child {
            seen.2 = true;
            let message = format!("{}: card {} is open, and no turn is", chat.id, approval.id);
            found.violations.push(Violation { invariant: ID, at, message });
        }
    }
}
