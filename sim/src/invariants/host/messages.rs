//! I3: no accepted user message is lost, and none is run twice.

use std::collections::BTreeSet;

use super::{FLUSH_BOUND_MS, was_restarted};
use crate::{
    evidence::{Evidence, MessageFacts, Shared, StopKind},
    history::{History, What},
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, MessageState, Outcome},
};

const ID: &str = "I3";

/// I3. Received twice only after it was given back unread, after its process died before it did anything for it, or because the
/// user sent it again; at rest each message is shown as what became of it.
pub struct Messages {
    evidence: Shared,
    /// Per message of the evidence: receipts judged.
    receipts: Vec<usize>,
    /// Messages that were shown at some time: those the host had accepted.
    accepted: BTreeSet<String>,
}

impl Messages {
    pub(super) fn new(evidence: &Shared) -> Self {
        Messages { evidence: evidence.clone(), receipts: Vec::new(), accepted: BTreeSet::new() }
    }
}

impl Invariant for Messages {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "no accepted user message is lost or run twice, order is kept, and what is shown of each is what became of it"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        self.receipts.resize(evidence.messages.len(), 0);
        for message in moment.view.chats.iter().flat_map(|chat| &chat.messages) {
            if !self.accepted.contains(&message.id) {
                self.accepted.insert(message.id.clone());
            }
        }
        for (message, judged) in evidence.messages.iter().zip(&mut self.receipts) {
            for number in std::mem::replace(judged, message.receipts.len())..message.receipts.len() {
                let may =
                    number == 0 || may_come_again(&evidence, moment.history, message, number) || moment.history.broken_provider;
                found.judge(ID, moment.at, may, || {
                    format!(
                        "message {}: received again at {} ms, though it had been taken",
                        message.id, message.receipts[number].at
                    )
                });
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        let restarted = was_restarted(moment.history);
        for message in &evidence.messages {
            if restarted && !self.accepted.contains(&message.id) {
                // The host ended before it had accepted it, and never said that it had.
                continue;
            }
            let Some(name) = message.chat.as_deref() else { continue };
            let Some(chat) = moment.view.chat(name) else {
                found.judge(ID, moment.at, false, || {
                    format!("{name}: message {} was sent to a chat that is shown nowhere", message.id)
                });
                continue;
            };
            let shown = chat.messages.iter().find(|shown| shown.id == message.id).map(|shown| shown.state);
            let Some(state) = shown else {
                found.judge(ID, moment.at, false, || format!("{}: message {} is shown nowhere", chat.id, message.id));
                continue;
            };
            if moment.history.broken_provider {
                continue;
            }
            let fault = match state {
                // What a provider took from a host that was gone by then, nobody could tell the next one.
                MessageState::Sent if restarted && !evidence.alive(&chat.id) => Some("no process lives that could take it"),
                _ if restarted => None,
                _ => fault(&evidence, chat, message, state),
            };
            found.judge(ID, moment.at, fault.is_none(), || {
                format!("{}: message {} is shown as {state:?}, but {}", chat.id, message.id, fault.unwrap_or_default())
            });
        }
        order(&evidence, moment, found);
    }
}

/// Whether the receipt of this number may follow the one before it.
fn may_come_again(evidence: &Evidence, history: &History, message: &MessageFacts, number: usize) -> bool {
    let (before, again) = (&message.receipts[number - 1], &message.receipts[number]);
    let ends = history.happenings.iter().filter(|happening| matches!(happening.what, What::HostEnded { .. }));
    let ended = ends.map(|happening| happening.at).find(|at| *at >= before.at && *at <= again.at);
    // A host that ended may have heard that the message was taken, and not have written it down.
    if ended.is_some_and(|ended| before.consumed_at.is_none_or(|taken| taken + FLUSH_BOUND_MS >= ended)) {
        return true;
    }
    if before.returned_at.is_some() || message.sent_at.is_some_and(|sent| sent > before.at) {
        return true;
    }
    let Some(process) = evidence.process(before.pid) else { return true };
    if process.silent_at.is_none_or(|silent| silent > again.at) || before.ended_at.is_some() {
        return false;
    }
    // The process died. What it had taken may run again only if it had shown nothing for it.
    before.consumed_at.is_none_or(|taken| process.visible_at.is_none_or(|visible| visible < taken))
}

/// What contradicts the state shown at rest.
fn fault(evidence: &Evidence, chat: &Chat, message: &MessageFacts, state: MessageState) -> Option<&'static str> {
    let sent = message.sent_at.unwrap_or_default();
    let taken = message.consumed_at();
    let runs = evidence.runs(&chat.id);
    let turn = chat.turns.iter().find(|turn| turn.cause == Cause::Message(message.id.clone()));
    match state {
        MessageState::Delivered => {
            let silent = evidence.processes_of(&chat.id).all(|process| !process.reports);
            let failed = turn.is_some_and(|turn| turn.settles.iter().any(|settle| settle.outcome != Outcome::Completed));
            let known = taken.is_some() || runs || failed || (silent && message.received_at().is_some());
            (!known).then_some("no provider took it")
        }
        MessageState::Sent if evidence.alive(&chat.id) => None,
        MessageState::Sent => Some("no process lives that could take it"),
        MessageState::Queued => {
            let back = message.receipts.last().is_some_and(|receipt| receipt.returned_at.is_some());
            (taken.is_some() && !back).then_some("a provider took it: it would run twice")
        }
        MessageState::NotDelivered => {
            let stop = evidence.stop_between(&chat.id, sent, taken.unwrap_or(u64::MAX));
            (taken.is_some() && stop.is_none()).then_some("a provider took it")
        }
        MessageState::Withdrawn => {
            let stops = evidence.stops.iter().filter(|stop| stop.chat == chat.id && stop.kind != StopKind::Answer);
            let ends = chat.turns.iter().flat_map(|turn| &turn.settles);
            let ends = ends.filter(|settle| settle.outcome == Outcome::Interrupted).map(|settle| settle.at);
            let causes = message.withdrawn_at.into_iter().chain(stops.map(|stop| stop.at)).chain(ends);
            match (causes.filter(|at| *at >= sent).max(), taken) {
                (None, _) => Some("nobody took it back"),
                (Some(last), Some(taken)) if taken < last && taken_before_all(evidence, chat, message, taken) => {
                    Some("a provider had taken it before")
                }
                _ => None,
            }
        }
    }
}

/// Whether the provider had taken the message before anybody did anything that withdraws it.
fn taken_before_all(evidence: &Evidence, chat: &Chat, message: &MessageFacts, taken: u64) -> bool {
    let sent = message.sent_at.unwrap_or_default();
    evidence.stop_between(&chat.id, sent, taken).is_none() && message.withdrawn_at.is_none_or(|at| at > taken)
}

/// Messages arrive in the order in which they were sent. Not judged: those that wait for a turn to be stopped first, that came
/// back, or that were taken back.
fn order(evidence: &Evidence, moment: &Moment<'_>, found: &mut Found) {
    for chat in &moment.view.chats {
        let mut plain: Vec<&MessageFacts> = evidence
            .messages
            .iter()
            .filter(|message| message.chat.as_deref() == Some(&chat.id) && !message.send_now && message.withdrawn_at.is_none())
            .filter(|message| !evidence.waited_over_an_end(message))
            .filter(|message| message.receipts.len() == 1 && message.receipts[0].returned_at.is_none())
            .collect();
        plain.sort_by_key(|message| message.sent_at);
        for pair in plain.windows(2) {
            found.judge(ID, moment.at, pair[0].receipts[0].index < pair[1].receipts[0].index, || {
                format!("{}: message {} was sent before {}, and arrived after it", chat.id, pair[0].id, pair[1].id)
            });
        }
    }
}
