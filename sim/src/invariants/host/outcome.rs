//! I11: the outcome shown is what the evidence says.

use super::memory;
use crate::{
    evidence::{Evidence, Owner, ResultFacts, Shared},
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, Outcome, Settle, Turn},
};

const ID: &str = "I11";

/// I11. Evidence is the last result that belongs to the turn, read by its meaning; a stop by the user; the end of a process. An
/// end that the host marks as synthetic needs what its mark claims.
pub struct Outcomes {
    evidence: Shared,
    /// Per chat and turn: ends judged.
    judged: Vec<Vec<usize>>,
    /// Per chat: since when row changes have been under way. A turn that is shown now may have begun then.
    under_way: Vec<Option<u64>>,
}

impl Outcomes {
    pub(super) fn new(evidence: &Shared) -> Self {
        Outcomes { evidence: evidence.clone(), judged: Vec::new(), under_way: Vec::new() }
    }
}

impl Invariant for Outcomes {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "the outcome of a turn follows from the provider's frames and process events for that turn alone"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let under_way = memory(&mut self.under_way, index);
            let since = *under_way;
            *under_way = (chat.delivery.rows > 0).then(|| since.unwrap_or(moment.at));
            let judged = memory(&mut self.judged, index);
            judged.resize(chat.turns.len(), 0);
            for (turn, judged) in chat.turns.iter().zip(judged) {
                if *judged > 0 || turn.settles.is_empty() {
                    continue;
                }
                *judged = turn.settles.len();
                // What a broken provider says of a turn binds nobody.
                if !moment.history.broken_provider {
                    let began = since.unwrap_or(u64::MAX).min(turn.accepted_at);
                    let turn = Turn { accepted_at: began, ..turn.clone() };
                    judge(&self.evidence.read(moment.history), chat, &turn, &turn.settles[0], moment.at, found);
                }
            }
        }
    }
}

fn judge(evidence: &Evidence, chat: &Chat, turn: &Turn, settle: &Settle, at: u64, found: &mut Found) {
    let fault = match &settle.synthetic {
        Some(mark) => synthetic(evidence, chat, turn, settle, mark),
        None => told(evidence, chat, turn, settle),
    };
    found.judge(ID, at, fault.is_none(), || {
        format!("{}: turn {} is shown as {:?}, but {}", chat.id, turn.number, settle.outcome, fault.unwrap_or_default())
    });
    if settle.outcome == Outcome::Failed {
        let named = settle.error.as_ref().is_some_and(|error| !error.trim().is_empty()) || chat.errors().next().is_some();
        found.judge(ID, at, named, || format!("{}: turn {} failed, and nothing says why", chat.id, turn.number));
    }
}

fn synthetic(evidence: &Evidence, chat: &Chat, turn: &Turn, settle: &Settle, mark: &str) -> Option<String> {
    let stopped = evidence.stop_between(&chat.id, turn.accepted_at, settle.at).is_some();
    let holds = match mark {
        "restart" => settle.outcome == Outcome::Interrupted,
        // A prompt of this provider has an end of its own; only work that nobody asked for may be parked in silence.
        "quiesce" => turn.cause == Cause::Wake,
        _ => stopped || dead(evidence, chat, turn, settle),
    };
    (!holds).then(|| format!("it is marked {mark:?}, and nothing bears that out"))
}

fn told(evidence: &Evidence, chat: &Chat, turn: &Turn, settle: &Settle) -> Option<String> {
    let stop = evidence.stop_between(&chat.id, turn.accepted_at, settle.at);
    let result = deciding(evidence, chat, turn, settle);
    let holds = match (settle.outcome, result.map(|result| result.meaning)) {
        (outcome, Some(meaning)) if outcome == meaning => true,
        (Outcome::Interrupted, _) => stop.is_some(),
        (Outcome::Failed, _) => dead(evidence, chat, turn, settle),
        (Outcome::Completed, _) => false,
    };
    (!holds).then(|| match result {
        Some(result) => format!("the provider said at {} ms that it {}", result.at, verb(result.meaning)),
        None => format!("no result for it was said between {} and {} ms, and nobody stopped it", turn.accepted_at, settle.at),
    })
}

fn verb(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
        Outcome::Interrupted => "was interrupted",
    }
}

/// The last result that belongs to the turn.
fn deciding<'a>(evidence: &'a Evidence, chat: &Chat, turn: &Turn, settle: &Settle) -> Option<&'a ResultFacts> {
    let wake = turn.cause == Cause::Wake;
    let within = |at: u64| at >= turn.accepted_at && at <= settle.at;
    evidence.results.iter().rev().filter(|result| within(result.at)).find(|result| {
        let process = evidence.process(result.pid);
        if process.is_none_or(|process| process.chat.as_deref() != Some(&chat.id)) {
            return false;
        }
        match result.owner {
            Owner::Messages => result.names.iter().any(|number| {
                let message = &evidence.messages[*number];
                turn.cause == Cause::Message(message.id.clone()) || message.consumed_at().is_some_and(within)
            }),
            Owner::Nobody => true,
            Owner::Background => wake,
            // A second result for messages that had ended closes only work that came after them.
            Owner::Late => wake,
        }
    })
}

/// Whether the turn's process ended, none was there, or it was refused because it named another session.
fn dead(evidence: &Evidence, chat: &Chat, turn: &Turn, settle: &Settle) -> bool {
    let mut processes = evidence.processes_of(&chat.id);
    let ended = |at: u64| at >= turn.accepted_at && at <= settle.at;
    !evidence.alive(&chat.id) || processes.any(|process| process.silent_at.is_some_and(ended) || process.mismatch.is_some())
}
