//! Questions and approvals: one card each, one answer each, none that outlives its turn.

use super::{
    chat::Chat,
    run::{OpenInput, Run},
};
use crate::{
    core::hub::Hub,
    event::{AgentEvent, UserInputQuestion},
    feed::{InputRow, Status},
};

impl Chat {
    /// The provider asks. Nobody is asked while no turn is open or the open one is being stopped.
    pub(super) fn ask(&mut self, hub: &mut Hub, run: &mut Run, provider_request: String, questions: Vec<UserInputQuestion>) {
        if run.is_parked() || run.killed || run.stopping {
            self.call(hub, run, |driver, cx| driver.decline(cx, &provider_request));
            return;
        }
        let request_id = hub.ids.uuid();
        if run.inputs.is_empty() {
            // Timers of the turn do not run while the human is asked (I15).
            self.call(hub, run, |driver, cx| driver.question_open(cx, true));
        }
        run.inputs.insert(request_id.clone(), OpenInput { provider_request: provider_request.clone() });
        hub.require_commit();
        self.write(hub, AgentEvent::InputRequested { request_id: request_id.clone(), questions });
        hub.input(InputRow { chat_id: self.id.clone(), request_id, provider_request_id: provider_request, open: true });
        self.status(hub, Status::AwaitingInput, false);
        self.flush_with(hub, run);
    }

    /// The provider withdrew its question: the card is closed, nothing is answered.
    pub(super) fn ask_withdrawn(&mut self, hub: &mut Hub, run: &mut Run, provider_request: &str) {
        let found = run.inputs.iter().find(|(_, input)| input.provider_request == provider_request);
        if let Some(request_id) = found.map(|(id, _)| id.clone()) {
            self.resolve(hub, run, &request_id);
        }
    }

    /// The human's answer to the named question, or to the oldest open one.
    pub fn answer(&mut self, hub: &mut Hub, request_id: Option<&str>, answers: &[String]) {
        self.with_run(hub, |chat, hub, run| {
            let id = match request_id {
                Some(id) => Some(id.to_owned()),
                None => run.inputs.keys().next().cloned(),
            };
            let Some(id) = id.filter(|id| run.inputs.contains_key(id)) else { return };
            let provider_request = run.inputs[&id].provider_request.clone();
            chat.resolve(hub, run, &id);
            chat.call(hub, run, |driver, cx| driver.answer(cx, &provider_request, Some(answers)));
        });
    }

    /// Every open question is closed with empty answers; the provider is not answered late (I6).
    pub(super) fn close_questions(&mut self, hub: &mut Hub, run: &mut Run) {
        for (request_id, input) in run.inputs.clone() {
            self.resolve(hub, run, &request_id);
            self.call(hub, run, |driver, cx| driver.answer(cx, &input.provider_request, None));
        }
    }

    fn resolve(&mut self, hub: &mut Hub, run: &mut Run, request_id: &str) {
        let Some(input) = run.inputs.shift_remove(request_id) else { return };
        self.write(hub, AgentEvent::InputResolved { request_id: request_id.to_owned() });
        hub.input(InputRow {
            chat_id: self.id.clone(),
            request_id: request_id.to_owned(),
            provider_request_id: input.provider_request,
            open: false,
        });
        if run.inputs.is_empty() {
            self.call(hub, run, |driver, cx| driver.question_open(cx, false));
            if !run.is_parked() {
                self.status(hub, Status::Working, false);
            }
        }
    }
}
