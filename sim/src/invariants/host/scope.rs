//! I12: frames of others change nothing here.

use super::since;
use crate::{
    evidence::{Owner, Shared},
    history::What,
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, ChildState, MessageState, Status},
};

const ID: &str = "I12";

/// I12. Judged: a frame of one chat's process against the other chats; a result that names nobody of ours against a turn of a
/// message; a frame of a process that was replaced against its chat; and that each line of the host is written to the process
/// it is about.
pub struct Scopes {
    evidence: Shared,
    happenings: usize,
    results: usize,
    before: Vec<Summary>,
}

/// What of a chat must not change by a frame that is not about it. Numbers only: it is made at every look.
#[derive(Clone, Debug, PartialEq)]
struct Summary {
    status: Status,
    pill: u32,
    turns: usize,
    settles: usize,
    rows: (usize, usize),
    parts: usize,
    tools: usize,
    open_messages: usize,
    cards: (u32, u32),
}

impl Summary {
    fn of(chat: &Chat) -> Self {
        let running = chat.rows.iter().filter(|row| row.state == ChildState::Running).count();
        let open = |state: MessageState| matches!(state, MessageState::Sent | MessageState::Queued);
        Summary {
            status: chat.status,
            pill: chat.pill,
            turns: chat.turns.len(),
            settles: chat.turns.iter().map(|turn| turn.settles.len()).sum(),
            rows: (chat.rows.len(), running),
            parts: chat.transcript.iter().map(|entry| entry.parts.len()).sum(),
            tools: chat.tools().filter(|tool| tool.resolved).count(),
            open_messages: chat.messages.iter().filter(|message| open(message.state)).count(),
            cards: chat.approvals.iter().fold((0, 0), |sum, card| (sum.0 + card.openings, sum.1 + card.closings)),
        }
    }
}

impl Scopes {
    pub(super) fn new(evidence: &Shared) -> Self {
        Scopes { evidence: evidence.clone(), happenings: 0, results: 0, before: Vec::new() }
    }
}

impl Invariant for Scopes {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a frame that names another turn, session or process changes nothing here, and each line goes where it belongs"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        let new = since(&mut self.happenings, moment.history);
        let results = &evidence.results[self.results..];
        self.results = evidence.results.len();
        let now: Vec<Summary> = moment.view.chats.iter().map(Summary::of).collect();
        let before = std::mem::replace(&mut self.before, now);

        let chat_of = |pid: u32| evidence.process(pid).and_then(|process| process.chat.as_deref());
        // Only when frames are all that happened does a change tell what made it.
        let sayer = match new {
            [] => None,
            [first, ..] => match &first.what {
                What::Said { pid, .. } if new.iter().all(|h| matches!(&h.what, What::Said { pid: by, .. } if by == pid)) => {
                    Some(*pid)
                }
                _ => None,
            },
        };
        if let Some((pid, speaker)) = sayer.and_then(|pid| Some((pid, chat_of(pid)?))) {
            let newer = evidence.processes_of(speaker).last().is_some_and(|process| process.pid != pid);
            for ((chat, before), now) in moment.view.chats.iter().zip(&before).zip(&self.before) {
                let related = chat.parent.as_deref() == Some(speaker)
                    || moment.view.chat(speaker).is_some_and(|speaker| speaker.parent.as_deref() == Some(&chat.id));
                if (chat.id == speaker && !newer) || related {
                    continue;
                }
                found.judge(ID, moment.at, before == now, || {
                    let what = if newer { "a replaced process" } else { "another chat's process" };
                    format!("{}: a frame of {what} ({pid}) changed it from {before:?} to {now:?}", chat.id)
                });
            }
            let foreign =
                !results.is_empty() && results.iter().all(|result| matches!(result.owner, Owner::Background | Owner::Late));
            if foreign
                && !moment.history.broken_provider
                && let Some(chat) = moment.view.chat(speaker)
                && let Some(turn) = chat.turns.iter().rev().find(|turn| matches!(turn.cause, Cause::Message(_)))
            {
                let told = turn.settles.first().is_none_or(|settle| settle.at != moment.at || settle.synthetic.is_some());
                // The end of a turn may have waited for something else that came in the same read.
                found.judge(ID, moment.at, told || new.len() > results.len(), || {
                    format!("{}: turn {} ended by a result that names none of its messages", chat.id, turn.number)
                });
            }
        }

        for happening in new {
            let What::Heard { pid, frame } = &happening.what else { continue };
            let request = &frame["request"];
            if frame["type"] == "user" {
                let message = frame["uuid"].as_str().and_then(|uuid| evidence.message(uuid));
                let Some(wanted) = message.and_then(|message| message.chat.as_deref()) else { continue };
                found.judge(ID, moment.at, chat_of(*pid).is_none_or(|chat| chat == wanted), || {
                    format!("a message of {wanted} was written to process {pid} of {:?}", chat_of(*pid))
                });
            } else if request["subtype"] == "cancel_async_message" {
                let id = request["message_uuid"].as_str().unwrap_or_default();
                let known =
                    evidence.message(id).is_some_and(|message| message.receipts.iter().any(|receipt| receipt.pid == *pid));
                found.judge(ID, moment.at, known, || {
                    format!("process {pid} was told to give back message {id}, which it never got")
                });
            }
        }
    }
}
