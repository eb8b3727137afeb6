//! I14: every request ends in bounded time.

use std::collections::BTreeSet;

use super::SETTLE_BOUND_MS;
use crate::{
    evidence::{Evidence, Shared},
    invariants::{Found, Invariant, Moment},
    view::{Chat, Inside, Request, Status},
};

const ID: &str = "I14";

/// I14. An open request has a timer of its chat that fires within the settle bound; while a human is asked, timers of the turn
/// stand still and none is wanted. Once a process has ended, none of its requests stays open.
pub struct Requests {
    evidence: Shared,
    told: BTreeSet<(u32, String)>,
    before: u64,
}

impl Requests {
    pub(super) fn new(evidence: &Shared) -> Self {
        Requests { evidence: evidence.clone(), told: BTreeSet::new(), before: 0 }
    }
}

impl Invariant for Requests {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "each request of the host ends by answer, error, deadline or exit; none is open without a timer that ends it"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let before = std::mem::replace(&mut self.before, moment.at);
        let Some(inside) = &moment.view.inside else {
            found.not_observable = true;
            return;
        };
        let open = || inside.requests.iter().filter(|request| request.ended_at.is_none());
        if open().next().is_none() {
            return;
        }
        let evidence = self.evidence.read(moment.history);
        for request in open() {
            let fault = fault(&evidence, inside, moment, request, before);
            let told = fault.is_none() || !self.told.insert((request.pid, request.id.clone()));
            found.judge(ID, moment.at, told, || {
                format!("request {} ({}) to process {}: {}", request.id, request.method, request.pid, fault.unwrap_or_default())
            });
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for request in moment.view.inside.iter().flat_map(|inside| &inside.requests) {
            let over = request.ended_at.is_some() || moment.at <= request.sent_at + SETTLE_BOUND_MS;
            found.judge(ID, moment.at, over, || {
                format!("request {} ({}), sent at {} ms, never ended", request.id, request.method, request.sent_at)
            });
        }
    }
}

fn fault(evidence: &Evidence, inside: &Inside, moment: &Moment<'_>, request: &Request, before: u64) -> Option<&'static str> {
    let process = evidence.process(request.pid)?;
    if process.exited_at.is_some() {
        // The event after the exit is the last at which it may still be open.
        return process.exited_at.is_some_and(|at| at < before).then_some("its process is gone");
    }
    let chat = process.chat.as_deref().and_then(|chat| moment.view.chat(chat));
    if process.silent_at.is_some() || chat.is_some_and(asks) {
        return None;
    }
    let prefix = process.chat.as_deref().map(|chat| format!("{chat}/"));
    let bound = inside.timers.iter().any(|timer| {
        let owned = prefix.as_ref().is_none_or(|prefix| timer.key.starts_with(prefix.as_str()));
        owned
            && "PDR".contains(&timer.class)
            && !timer.key.contains("/flush/")
            && timer.deadline <= request.sent_at + SETTLE_BOUND_MS
    });
    (!bound).then_some("it is open, and no timer ends it")
}

fn asks(chat: &Chat) -> bool {
    chat.status == Status::AwaitingInput
}
