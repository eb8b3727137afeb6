//! A scenario's steps, one after another.

use scenarios::{
    Plan,
    plan::{Moment, Perturbation, StepName},
    scenario::{Action, Answer, AnswerTo, Decision, Killing, PowerLoss, Scenario, Steer, Step},
};

use serde_json::json;

use super::{
    asking::{self, Asked, Asking, Asks, setup_of},
    director::{Cue, Direct, Director},
    lives,
    lookup::{self, Labels},
};
use crate::{
    history::UserAction,
    host::{
        ChatSetup, HostCall,
        fault::{Ending, Fault},
    },
    view::Chat,
};

/// Plays the steps of a scenario.
pub struct Scripted {
    scenario: Scenario,
    setup: ChatSetup,
    created: Vec<String>,
    next: usize,
    /// When the step that is waiting began, ms.
    since: Option<u64>,
    /// Message labels → message ids.
    labels: Labels,
    id: Box<dyn FnMut() -> String>,
    plan: Plan,
    asking: Asking,
}

impl Scripted {
    /// Plays `scenario`; chats are set up as `setup` says, `id` gives fresh message ids.
    pub fn new(scenario: Scenario, setup: ChatSetup, id: impl FnMut() -> String + 'static) -> Self {
        Scripted {
            scenario,
            setup,
            created: Vec::new(),
            next: 0,
            since: None,
            labels: Labels::new(),
            id: Box::new(id),
            plan: Plan::default(),
            asking: Asking::default(),
        }
    }

    /// Moves what the user does as a plan says.
    pub fn moved(mut self, plan: &Plan) -> Self {
        self.plan = plan.clone();
        self
    }

    /// When the plan lets the user do this step: now (none), at a time, or not yet.
    fn held_back(&self, step: &Step, cue: &Cue<'_>, since: u64) -> Option<Option<u64>> {
        for perturbation in &self.plan.perturb {
            let Perturbation::User { step: name, to } = perturbation else { continue };
            let is_this = match name {
                StepName::Number(number) => *number == step.number,
                StepName::Label(label) => step.label.as_ref().is_some_and(|own| own.value == *label),
            };
            if !is_this {
                continue;
            }
            match to {
                Moment::Later(by) => {
                    let due = since + by.as_millis() as u64;
                    if cue.now < due {
                        return Some(Some(due));
                    }
                }
                Moment::After(beat) => {
                    let named = cue.processes.values().find(|process| {
                        beat.process.as_ref().map_or(process.said.contains_key(&beat.label), |name| *name == process.name)
                    });
                    if !named.is_some_and(|process| process.said.contains_key(&beat.label)) {
                        return Some(None);
                    }
                }
            }
        }
        None
    }

    /// A step that asks the host something.
    fn ask(&mut self, cue: &Cue<'_>, step: &Step, place: &str, since: u64) -> Asked {
        let expected = match &step.action {
            Action::Rpc(request) | Action::Mcp(request) => Some(&request.answer.value),
            Action::View(view) => Some(&view.is.value),
            _ => None,
        };
        let label = step.label.as_ref().map(|label| label.value.as_str());
        let asks = Asks { place, since, label, expected, messages: &self.labels };
        let messages = &self.labels;
        self.asking.ask(cue, &asks, |asking, number| {
            Ok(match &step.action {
                Action::View(view) => Direct::Show { number, of: view.of.value.clone(), given: view.given.clone() },
                Action::Rpc(request) => Direct::Call(number, asking.rpc(request, messages)),
                Action::Mcp(request) => Direct::Call(number, asking.mcp(cue, step.chat(), request, messages)?),
                Action::Steer(Steer::Queued(message)) => {
                    let params = json!({"chat": asking.chat(step.chat()), "message": messages.get(&message.value)});
                    Direct::Call(number, HostCall::Rpc { method: "SteerQueuedNow".to_owned(), params })
                }
                Action::Switch { on, provider } => Direct::Call(number, asking::switch(*on, *provider)),
                other => return Err(format!("`{}` asks nothing", other.key())),
            })
        })
    }

    fn done(&mut self) {
        self.next += 1;
        self.since = None;
    }

    fn message(&mut self, label: Option<String>) -> String {
        let id = (self.id)();
        if let Some(label) = label {
            self.labels.insert(label, id.clone());
        }
        id
    }
}

/// A step in words, for reports.
fn place(scenario: &Scenario, number: u32, key: &str) -> String {
    format!("step {number} (`{key}`) of {}", scenario.id)
}

impl Director for Scripted {
    fn next(&mut self, cue: &Cue<'_>) -> Direct {
        loop {
            let Some(step) = self.scenario.steps.get(self.next).cloned() else { return Direct::Finished };
            let name = step.chat().to_owned();
            let chat = self.asking.chat(&name);
            if step.action.needs_its_chat() && !self.created.contains(&name) && !self.asking.made_by_host(&name) {
                self.created.push(name.clone());
                return Direct::Create(setup_of(&name, &self.setup));
            }
            let place = place(&self.scenario, step.number, step.action.key());
            let since = *self.since.get_or_insert(cue.now);
            if step.action.is_of_the_user()
                && let Some(until) = self.held_back(&step, cue, since)
            {
                return Direct::Wait(until);
            }
            let empty = Chat::default();
            let view = cue.view.chat(&chat).unwrap_or(&empty);
            match step.action {
                Action::Note(_) => self.done(),
                Action::Advance(length) => {
                    let due = since + length.as_millis() as u64;
                    if cue.now < due {
                        return Direct::Wait(Some(due));
                    }
                    self.done();
                }
                Action::Expect(expectation) => {
                    let unmet = lookup::first_unmet(&expectation, view, &self.labels);
                    self.done();
                    match unmet {
                        None => {}
                        Some((check, lookup::Answer::Missing(names))) => {
                            return Direct::Wrong(format!("{place}: expected `{check}`, but {names}"));
                        }
                        Some((check, lookup::Answer::Differs(actual))) => {
                            return Direct::Unmet(format!("{place}: expected {check}, but {actual}"));
                        }
                        Some((_, lookup::Answer::Holds)) => {}
                    }
                }
                Action::Until { expectation, within } => {
                    let Some((check, answer)) = lookup::first_unmet(&expectation, view, &self.labels) else {
                        self.done();
                        continue;
                    };
                    let due = since + within.as_millis() as u64;
                    if cue.now < due {
                        return Direct::Wait(Some(due));
                    }
                    return match answer {
                        lookup::Answer::Missing(names) => Direct::Wrong(format!("{place}: waited for `{check}`, but {names}")),
                        lookup::Answer::Differs(actual) => {
                            Direct::TooLate(format!("{place}: waited {} ms for {check}, but {actual}", due - since))
                        }
                        lookup::Answer::Holds => Direct::Wait(None),
                    };
                }
                Action::Release(label) => {
                    self.done();
                    return Direct::Release(label.value.to_string());
                }
                Action::Send(text) | Action::Steer(Steer::Text(text)) => {
                    let message = self.message(step.label.map(|label| label.value));
                    self.done();
                    return Direct::Act(UserAction::Send { chat, message, text });
                }
                Action::Queue(text) => {
                    let message = self.message(step.label.map(|label| label.value));
                    self.done();
                    return Direct::Act(UserAction::Queue { chat, message, text });
                }
                Action::SendNow(label) => {
                    let Some(message) = self.labels.get(&label.value).cloned() else {
                        return Direct::Wrong(format!("{place}: no message is labelled {:?}", label.value));
                    };
                    let text = view.messages.iter().find(|known| known.id == message).map(|known| known.text.clone());
                    self.done();
                    return Direct::Act(UserAction::SendNow { chat, message, text: text.unwrap_or_default() });
                }
                Action::Edit { message: label, text } => {
                    let Some(message) = self.labels.get(&label.value).cloned() else {
                        return Direct::Wrong(format!("{place}: no message is labelled {:?}", label.value));
                    };
                    self.done();
                    return Direct::Act(UserAction::Edit { chat, message, text });
                }
                Action::Remove(label) => {
                    let Some(message) = self.labels.get(&label.value).cloned() else {
                        return Direct::Wrong(format!("{place}: no message is labelled {:?}", label.value));
                    };
                    self.done();
                    return Direct::Act(UserAction::Withdraw { chat, message });
                }
                Action::Stop => {
                    self.done();
                    return Direct::Act(UserAction::Stop { chat });
                }
                Action::Close => {
                    self.done();
                    return Direct::Act(UserAction::Close { chat });
                }
                Action::Answer(answer) => {
                    if view.approvals.iter().all(|approval| approval.closed_at.is_some()) {
                        return Direct::Wrong(format!("{place}: no question or approval is open"));
                    }
                    self.done();
                    return Direct::Act(UserAction::Answer { chat, answers: answers(&answer) });
                }
                Action::Create { chat, parent } => {
                    self.created.push(chat.value.clone());
                    self.done();
                    let parent = parent.map(|parent| self.asking.chat(&parent.value));
                    return Direct::Create(ChatSetup { parent, ..setup_of(&chat.value, &self.setup) });
                }
                Action::Claim { chat, .. } => {
                    self.created.push(chat.value.clone());
                    self.done();
                    return Direct::Claim(setup_of(&chat.value, &self.setup));
                }
                Action::Steer(Steer::Queued(_)) | Action::Switch { .. } | Action::Rpc(_) | Action::Mcp(_) | Action::View(_) => {
                    match self.ask(cue, &step, &place, since) {
                        Asked::Wait(direct) => return direct,
                        Asked::Over => self.done(),
                        Asked::Differs(direct) => {
                            self.done();
                            return direct;
                        }
                    }
                }
                Action::Kill(Killing::Now) => {
                    self.done();
                    return Direct::End(Ending::Killed);
                }
                Action::Crash(PowerLoss::Now) => {
                    self.done();
                    return Direct::End(Ending::PowerLost);
                }
                Action::Restart(Killing::Now) => {
                    self.done();
                    return Direct::Restart;
                }
                Action::Kill(Killing::At(at, when)) => {
                    self.done();
                    return Direct::Arm { fault: lives::kill(at, when), again: false };
                }
                Action::Restart(Killing::At(at, when)) => {
                    self.done();
                    return Direct::Arm { fault: lives::kill(at, when), again: true };
                }
                Action::Crash(PowerLoss::At { sync, torn }) => {
                    self.done();
                    return Direct::Arm { fault: Fault::PowerLoss { sync: u64::from(sync), torn }, again: false };
                }
                Action::Disk { call, with } => {
                    self.done();
                    let fault = Fault::Disk { call: u64::from(call), outcome: lives::outcome(with) };
                    return Direct::Arm { fault, again: true };
                }
                Action::Suspend(length) => {
                    self.done();
                    return Direct::Suspend(length.as_millis() as u64);
                }
                other => {
                    return Direct::Wrong(format!("{place}: this version of the stage does not perform `{}`", other.key()));
                }
            }
        }
    }

    fn waits_for(&self) -> Option<String> {
        let step = self.scenario.steps.get(self.next)?;
        Some(format!("{} waits and nothing comes", place(&self.scenario, step.number, step.action.key())))
    }
}

/// What the human clicks or types.
fn answers(answer: &Answer) -> Vec<String> {
    match &answer.to {
        AnswerTo::Text(text) => vec![text.clone()],
        AnswerTo::Choices(choices) => choices
            .iter()
            .map(|choice| choice.labels.iter().map(|label| label.value.as_str()).collect::<Vec<_>>().join(", "))
            .collect(),
        AnswerTo::Decision { decision, message, interrupt } => vec![match (decision, message, interrupt) {
            (Decision::Allow, ..) => "Allow once".to_owned(),
            (Decision::AllowAlways, ..) => "Allow always".to_owned(),
            (Decision::Deny, _, true) => "Deny and stop".to_owned(),
            (Decision::Deny, Some(words), false) => words.clone(),
            (Decision::Deny, None, false) => "Deny".to_owned(),
        }],
    }
}
