//! Control requests of ours and their answers. None of them holds a turn up: each has a deadline and goes on without.

use serde_json::Value;

use super::{
    driver::{Claude, Ours, STOP_SETTLE, STOP_SETTLE_MS},
    wire,
};
use crate::{
    core::timers::Class,
    drivers::Cx,
    event::{AgentEvent, DoneStatus},
};

/// Deadline of a control answer, ms. The prompt is never gated on it.
pub const CONTROL_DEADLINE_MS: u64 = 10_000;
const DEADLINE: &str = "control-deadline";

/// What a control request of ours was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// Lists for the composer.
    Initialize,
    /// Stop in place.
    Stop,
    /// The interrupt that kills the run.
    Kill,
    /// A message is taken back.
    TakeBack(String),
    /// Model or effort is changed, by its subtype.
    Configure(&'static str),
}

impl Control {
    fn name(&self) -> &'static str {
        match self {
            Control::Initialize => "initialize",
            Control::Stop | Control::Kill => "interrupt",
            Control::TakeBack(_) => "cancel_async_message",
            Control::Configure(subtype) => subtype,
        }
    }
}

impl Claude {
    /// Sends a control request and arms the deadline that ends it when no answer comes.
    pub(super) fn control(&mut self, cx: &mut Cx<'_>, id: String, what: Control, line: String) {
        self.process.write_line(cx, line);
        self.unanswered.insert(id, (what, cx.now.mono + CONTROL_DEADLINE_MS));
        self.arm_deadline(cx);
    }

    /// One timer for all requests: it stands at the first deadline.
    fn arm_deadline(&self, cx: &mut Cx<'_>) {
        let key = cx.key(Class::P, DEADLINE);
        match self.unanswered.values().map(|(_, deadline)| *deadline).min() {
            Some(first) => cx.timers.arm(key, first),
            None => {
                cx.timers.disarm(&key);
            }
        }
    }

    /// Requests whose time is over go on without an answer; later ones keep their own time.
    pub(super) fn control_deadline(&mut self, cx: &mut Cx<'_>) {
        let (over, open) = std::mem::take(&mut self.unanswered).into_iter().partition(|(_, (_, at))| *at <= cx.now.mono);
        self.unanswered = open;
        let over: std::collections::BTreeMap<String, (Control, u64)> = over;
        for (id, (what, _)) in over {
            let text = format!("no answer to {} ({id}) in {CONTROL_DEADLINE_MS} ms; it goes on without", what.name());
            cx.note(DEADLINE, text);
        }
        self.arm_deadline(cx);
    }

    pub(super) fn forget_controls(&mut self, cx: &mut Cx<'_>) {
        self.unanswered.clear();
        self.arm_deadline(cx);
    }

    pub(super) fn next_control(&mut self, stem: &str) -> String {
        self.controls += 1;
        format!("{stem}_{}", self.controls)
    }

    /// Changes what differs; the answer is not waited for, the next line is read after this one.
    pub(super) fn change(&mut self, cx: &mut Cx<'_>, model: Option<&str>, effort: Option<&str>) {
        if let Some(model) = model.filter(|model| self.request.model.as_deref() != Some(model)) {
            self.request.model = Some(model.to_owned());
            let id = self.next_control("engine_model");
            let line = wire::set_model(&id, model);
            self.control(cx, id, Control::Configure("set_model"), line);
        }
        if let Some(effort) = effort.filter(|effort| self.request.effort.as_deref() != Some(effort)) {
            self.request.effort = Some(effort.to_owned());
            let id = self.next_control("engine_settings");
            let line = wire::set_effort(&id, effort);
            self.control(cx, id, Control::Configure("apply_flag_settings"), line);
        }
    }

    /// Asks the CLI to give a message back.
    pub(super) fn take_back(&mut self, cx: &mut Cx<'_>, uuid: &str) {
        if self.taking_back.insert(uuid.to_owned()) {
            let id = self.next_control("engine_cancel");
            let line = wire::cancel(&id, uuid);
            self.control(cx, id, Control::TakeBack(uuid.to_owned()), line);
        }
    }

    /// A control_response. One that answers no request of ours is the CLI's echo of our own answer.
    pub(super) fn control_response(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let response = &frame["response"];
        let Some(id) = response["request_id"].as_str() else { return };
        let what = self.unanswered.remove(id).map(|(what, _)| what);
        self.arm_deadline(cx);
        // The stop is known by its own id: an answer after the deadline ends it all the same.
        if self.stopping.as_ref().is_some_and(|stopping| stopping.request_id == id) {
            self.stop_answered(cx, &response["response"]["still_queued"]);
            return;
        }
        match what {
            Some(Control::Initialize) => self.initialized(cx, &response["response"]),
            Some(Control::TakeBack(uuid)) => self.take_back_answered(cx, &uuid, &response["response"]["cancelled"]),
            Some(Control::Stop | Control::Kill | Control::Configure(_)) | None => {}
        }
    }

    /// Only now does the stop settle run: what the CLI still holds is asked back.
    fn stop_answered(&mut self, cx: &mut Cx<'_>, still_queued: &Value) {
        self.arm_turn_timer(cx, STOP_SETTLE, STOP_SETTLE_MS);
        let uuids: Vec<String> = strings(still_queued).filter(|uuid| self.ours.get(uuid) == Some(&Ours::Withdrawn)).collect();
        for uuid in uuids {
            self.take_back(cx, &uuid);
        }
    }

    /// The lifecycle frame tells first where the CLI reports lifecycle; elsewhere the answer is all that tells.
    fn take_back_answered(&mut self, cx: &mut Cx<'_>, uuid: &str, cancelled: &Value) {
        if cancelled.as_bool() == Some(true) && self.is_pending(uuid) {
            self.given_back(cx, uuid, "cancelled");
            self.look_at_hold(cx);
        } else {
            // Too late, or refused: the message stays what it is and may be asked back again.
            self.taking_back.remove(uuid);
        }
    }

    /// The answer to initialize: commands for the composer.
    fn initialized(&mut self, cx: &mut Cx<'_>, response: &Value) {
        let commands = response["commands"].as_array().into_iter().flatten();
        let commands: Vec<String> = commands.filter_map(|command| command["name"].as_str().map(str::to_owned)).collect();
        if !commands.is_empty() {
            cx.event(AgentEvent::AvailableCommands { commands });
        }
    }
}

/// The strings of a list; anything else in it is skipped.
pub(super) fn strings(list: &Value) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned))
}

/// A Done.
pub(super) fn done(status: DoneStatus, result: Option<String>, error: Option<String>, session_id: Option<String>) -> AgentEvent {
    AgentEvent::Done { status, result, error, session_id, synthetic: None }
}
