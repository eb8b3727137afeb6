//! What a host owes to show of what was said, and what it may leave out: content cut by a stop, content outside any turn, late
//! content of a run that is over.

use super::{FLUSH_BOUND_MS, GATE_MS};
use crate::{
    evidence::{Evidence, Place, StopKind},
    view::{Cause, Chat, Outcome, Turn},
};

/// Whether untagged content said there must be shown.
pub(super) fn owed(evidence: &Evidence, chat: &Chat, place: Place) -> bool {
    if unwritten(evidence, place.at) {
        return false;
    }
    let Some(number) = chat.turns.iter().rposition(|turn| turn.accepted_at <= place.at) else { return false };
    let turn = &chat.turns[number];
    if evidence.stop_between(&chat.id, turn.accepted_at, place.at).is_some() || run_is_over(evidence, chat, place) {
        return false;
    }
    if let Some(settle) = turn.settles.first() {
        // At the very instant of the end, what was said before the result is part of the turn: both came in one read.
        let result = evidence.results.iter().rfind(|result| result.at == settle.at).map_or(0, |result| result.index);
        if place.at > settle.at || (place.at == settle.at && place.index > result) {
            return false;
        }
    }
    !gated(evidence, turn, number.checked_sub(1).map(|before| &chat.turns[before]), place)
}

/// Whether the viewer cannot know what the host made of what was said there: its disk refused its writes, so that nobody knows
/// where its turns began and ended; or it ended before it had to have written it down.
pub(super) fn unwritten(evidence: &Evidence, at: u64) -> bool {
    evidence.withheld.iter().any(|(from, to)| *from <= at && at <= to + GATE_MS)
        || evidence.host_ends.iter().any(|end| *end >= at && *end <= at + FLUSH_BOUND_MS)
}

/// Whether the run that this process served was over: stopped, failed, given up, or replaced by a newer process; or nobody can
/// tell.
pub(super) fn run_is_over(evidence: &Evidence, chat: &Chat, place: Place) -> bool {
    if unwritten(evidence, place.at) {
        return true;
    }
    let Some(process) = evidence.process(place.pid) else { return true };
    let within = |at: u64| at > process.started_at && at <= place.at;
    let stopped = |stop: &crate::evidence::Stop| stop.chat == chat.id && stop.kind == StopKind::Chat && within(stop.at);
    let settles = || chat.turns.iter().flat_map(|turn| &turn.settles);
    evidence.stops.iter().any(stopped)
        || settles().any(|settle| (settle.outcome == Outcome::Failed || settle.synthetic.is_some()) && within(settle.at))
        || evidence.processes_of(&chat.id).any(|other| other.pid != place.pid && within(other.started_at))
}

/// Whether a host that just ended a turn may take this for an echo of it: shortly after the end, before the next message was
/// taken.
fn gated(evidence: &Evidence, turn: &Turn, before: Option<&Turn>, place: Place) -> bool {
    let (Cause::Message(message), Some(ended)) = (&turn.cause, before.and_then(|turn| turn.settles.first())) else {
        return false;
    };
    let taken = evidence.message(message).and_then(|message| message.consumed_at());
    place.at < ended.at + GATE_MS && taken.is_none_or(|taken| place.at < taken)
}
