//! D8 to D11: the process behind a turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::{frames, wire::Wire};
use crate::{
    history::{UserAction, What},
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, MessageState, ProcessState},
};

/// After a stop of the turn in place, ms: then the run is terminated.
const STOP_TURN_SETTLE_MS: u64 = 15_000;
/// After a run was told to end, ms: then its turn is settled without the provider.
const INTERRUPT_DEADLINE_MS: u64 = 3_000;
/// From the interrupt to SIGTERM, ms.
const INTERRUPT_GRACE_MS: u64 = 2_000;
/// From SIGTERM to SIGKILL, ms.
const KILL_GRACE_MS: u64 = 3_000;

/// A bound that runs. It is passed only when two different instants lie behind it: after a jump of the clock everything that
/// is due comes at one instant, one timer after another.
struct Bound {
    chat: String,
    until: u64,
    passed_at: Option<u64>,
    what: Owed,
}

enum Owed {
    /// The turn of this number settles.
    Turn(u64),
    /// The process of this id is gone, or was killed.
    Process(u32),
}

impl Bound {
    fn is_passed(&mut self, at: u64) -> bool {
        if at <= self.until {
            return false;
        }
        *self.passed_at.get_or_insert(at) < at
    }
}

/// D8.
#[derive(Default)]
pub(in super::super) struct StopEnds {
    wire: Wire,
    bounds: Vec<Bound>,
    killed: BTreeSet<u32>,
}

impl StopEnds {
    fn stop(&mut self, moment: &Moment<'_>, at: u64, action: &UserAction) {
        let Some(chat) = moment.view.chat(action.chat()) else { return };
        let kills = matches!(action, UserAction::Stop { .. });
        let bound = if kills { INTERRUPT_DEADLINE_MS } else { STOP_TURN_SETTLE_MS + INTERRUPT_DEADLINE_MS };
        let owed = |until, what| Bound { chat: chat.id.clone(), until, passed_at: None, what };
        let mut open = false;
        for turn in chat.turns.iter().filter(|turn| turn.settles.is_empty() && turn.accepted_at < at) {
            open = true;
            self.bounds.push(owed(at + bound, Owed::Turn(turn.number)));
        }
        if kills && open {
            let alive = self.wire.procs_of(&chat.id).filter(|(_, proc)| proc.gone.is_none() && proc.prompted);
            for (pid, _) in alive {
                self.bounds.push(owed(at + INTERRUPT_GRACE_MS + KILL_GRACE_MS, Owed::Process(pid)));
            }
        }
    }

    /// Judges what is due; at rest everything is.
    fn judge(&mut self, moment: &Moment<'_>, found: &mut Found, at_rest: bool) {
        let (killed, wire) = (&self.killed, &self.wire);
        self.bounds.retain_mut(|bound| {
            let Some(chat) = moment.view.chat(&bound.chat) else { return false };
            if moment.at < moment.history.healed_at || chat.delivery.rows > 0 {
                // Faults last, or the viewer has not heard yet.
                bound.until = bound.until.max(moment.at);
                return true;
            }
            let met = match bound.what {
                Owed::Turn(number) => is_over(chat, number),
                Owed::Process(pid) => killed.contains(&pid) || wire.procs.get(&pid).is_none_or(|proc| proc.gone.is_some()),
            };
            if met {
                found.judge("D8", moment.at, true, String::new);
            } else if at_rest || bound.is_passed(moment.at) {
                found.judge("D8", moment.at, false, || match bound.what {
                    Owed::Turn(number) => {
                        format!("turn {number} of {} was stopped and should have ended by {} ms", chat.id, bound.until)
                    }
                    Owed::Process(pid) => {
                        format!("process {pid} of {} was stopped and should have been killed by {} ms", chat.id, bound.until)
                    }
                });
            } else {
                return true;
            }
            false
        });
    }
}

/// Whether a turn is settled, or was never handed over.
fn is_over(chat: &Chat, number: u64) -> bool {
    let Some(turn) = chat.turns.iter().find(|turn| turn.number == number) else { return true };
    let undelivered = match &turn.cause {
        Cause::Message(id) => chat.messages.iter().any(|message| {
            let off = matches!(message.state, MessageState::Withdrawn | MessageState::NotDelivered | MessageState::Queued);
            message.id == *id && off
        }),
        _ => false,
    };
    undelivered || !turn.settles.is_empty()
}

impl Invariant for StopEnds {
    fn id(&self) -> &'static str {
        "D8"
    }

    fn words(&self) -> &'static str {
        "a stopped turn ends in bounded time, also where the provider answers nothing; a stopped process is killed"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            match &happening.what {
                What::User(action @ (UserAction::Stop { .. } | UserAction::StopTurn { .. } | UserAction::SendNow { .. })) => {
                    self.stop(moment, happening.at, action)
                }
                What::Signal { pid, signal, by_host: true } if signal.to_ascii_uppercase().ends_with("KILL") => {
                    self.killed.insert(*pid);
                }
                _ => {}
            }
        }
        if !self.bounds.is_empty() {
            self.judge(moment, found, false);
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        self.judge(moment, found, true);
    }
}

/// D9.
#[derive(Default)]
pub(in super::super) struct LeaseOutlives {
    wire: Wire,
    leased: BTreeSet<u32>,
}

impl Invariant for LeaseOutlives {
    fn id(&self) -> &'static str {
        "D9"
    }

    fn words(&self) -> &'static str {
        "a process that serves a chat is leased until it is reaped"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        self.wire.read(moment);
        let Some(inside) = &moment.view.inside else {
            found.not_observable = true;
            return;
        };
        for process in &inside.processes {
            if process.leased {
                self.leased.insert(process.pid);
            }
            // A helper that never held a lease owes none; who was given a prompt does.
            let owes = self.leased.contains(&process.pid)
                || process.chat.is_some() && self.wire.procs.get(&process.pid).is_some_and(|proc| proc.prompted);
            if owes && !matches!(process.state, ProcessState::Reaped | ProcessState::Orphan) {
                found.judge("D9", moment.at, process.leased, || {
                    format!("process {} lost its lease before it was reaped", process.pid)
                });
            }
        }
    }
}

/// D10, as far as a viewer can see it.
#[derive(Default)]
pub(in super::super) struct SessionFollowed {
    wire: Wire,
    sessions: BTreeMap<u32, String>,
    owed: Vec<(usize, u32, String)>,
}

impl Invariant for SessionFollowed {
    fn id(&self) -> &'static str {
        "D10"
    }

    fn words(&self) -> &'static str {
        "a session that changes under a process is followed with a note, never in silence"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (index, happening) in look.happened() {
            let What::Said { pid, frame, .. } = &happening.what else { continue };
            let Some(session) = frame["session_id"].as_str().filter(|_| frames::system(frame) == Some("init")) else { continue };
            let before = self.sessions.insert(*pid, session.to_string());
            let heard = self.wire.procs.get(pid).is_some_and(|proc| proc.over.is_none_or(|over| over > index));
            if heard && before.is_some_and(|before| before != session) {
                self.owed.push((index, *pid, session.to_string()));
            }
        }
        for batch in &look.batches {
            if batch.rewound {
                // The note may have been lost with the host that was about to write it down.
                self.owed.retain(|(_, pid, _)| self.wire.chat_of(*pid) != Some(&batch.chat.id));
            }
            let notes = batch.entries.iter().any(|entry| frames::kind(&entry.event) == "note");
            if notes {
                self.owed.retain(|(index, pid, _)| {
                    let paid = *index < batch.span.to && self.wire.chat_of(*pid) == Some(&batch.chat.id);
                    if paid {
                        found.judge("D10", moment.at, true, String::new);
                    }
                    !paid
                });
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for (_, pid, session) in self.owed.drain(..) {
            found.judge("D10", moment.at, false, || format!("process {pid} went over to session {session}, and no note says so"));
        }
    }
}

/// D11.
#[derive(Default)]
pub(in super::super) struct UnknownIsHarmless {
    wire: Wire,
}

impl Invariant for UnknownIsHarmless {
    fn id(&self) -> &'static str {
        "D11"
    }

    fn words(&self) -> &'static str {
        "a record that is unknown, or no JSON, ends no turn and no process"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let Some((_, pid, frame)) = batch.span.only_frame(moment.history) else { continue };
            if !self.wire.is_of(pid, chat) || !is_unknown(frame) {
                continue;
            }
            let done = batch.entries.iter().find(|entry| frames::kind(&entry.event) == "done");
            found.judge("D11", moment.at, done.is_none(), || format!("{chat}: a record that nobody knows ended the turn"));
            let signal = moment.history.happenings[batch.span.from..batch.span.to]
                .iter()
                .any(|happening| matches!(happening.what, What::Signal { pid: to, by_host: true, .. } if to == pid));
            found.judge("D11", moment.at, !signal, || format!("{chat}: a record that nobody knows ended process {pid}"));
        }
    }
}

/// Whether a record is no JSON, or of a kind that no version of the CLI is known to send.
fn is_unknown(frame: &Value) -> bool {
    let known = [
        "system",
        "stream_event",
        "assistant",
        "user",
        "rate_limit_event",
        "result",
        "control_request",
        "control_cancel_request",
        "control_response",
        "tool_progress",
        "conversation_reset",
        "command_lifecycle",
        "keep_alive",
    ];
    !known.contains(&frames::kind(frame))
}
