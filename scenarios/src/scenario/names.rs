//! Names that a scenario uses must exist: devices, chats, labels of messages, held beats.
//!
//! What only a run can know (rows, tabs, labels of a capture) is checked by whoever plays the scenario, with
//! [`super::Scenario::problem`].

use std::collections::BTreeMap;

use super::{Action, Edit, MAIN_CHAT, Scenario, Steer, Step};
use crate::{
    expect::{Expectation, Matcher, Path},
    nearest::advice,
    plan::{BeatLabel, Cut},
    problem::{Problem, Span, Spanned},
};

/// Checks all names of a scenario.
pub(super) fn check(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut names =
        Names { scenario, problems, chats: vec![MAIN_CHAT], claimed: Vec::new(), steps: BTreeMap::new(), messages: Vec::new() };
    names.devices();
    for step in &scenario.steps {
        names.step(step);
    }
}

struct Names<'s, 'p> {
    scenario: &'s Scenario,
    problems: &'p mut Vec<Problem>,
    /// The chats that exist so far.
    chats: Vec<&'s str>,
    /// Those of which only a claim is known: the record that creates them may come.
    claimed: Vec<&'s str>,
    /// Labels of all steps so far and their places.
    steps: BTreeMap<&'s str, Span>,
    /// Labels of the messages so far.
    messages: Vec<&'s str>,
}

impl<'s> Names<'s, '_> {
    fn report(&mut self, span: Span, message: String, label: &str, help: String) {
        self.problems.push(self.scenario.problem(span, message, label).help(help));
    }

    fn devices(&mut self) {
        let devices = &self.scenario.devices;
        for (n, device) in devices.iter().enumerate() {
            if let Some(first) = devices[..n].iter().find(|other| *other == device) {
                self.problems.push(
                    self.scenario
                        .problem(device.span, format!("two devices are called `{device}`"), "this one too")
                        .earlier("this is the first", first.span)
                        .help("give each device a name of its own"),
                );
            }
        }
        for entry in self.scenario.cast() {
            if let Some(device) = &entry.device {
                self.device(&device.value, device.span);
            }
        }
    }

    fn device(&mut self, name: &str, span: Span) {
        let devices = &self.scenario.devices;
        if !devices.iter().any(|device| device.value == name) {
            let help = advice("devices of this scenario", name, devices.iter().map(|device| device.value.as_str()));
            self.report(span, format!("no device is called `{name}`"), "unknown device", help);
        }
    }

    fn chat(&mut self, chat: &Spanned<String>) {
        if !self.chats.contains(&chat.value.as_str()) {
            let help = format!(
                "{}; a chat exists once a `send` names it or a `create`, `claim` or `fork` makes it",
                advice("chats so far", &chat.value, self.chats.iter().copied())
            );
            self.report(chat.span, format!("no chat is called `{chat}` here"), "unknown chat", help);
        }
    }

    fn new_chat(&mut self, chat: &'s Spanned<String>) {
        if self.chats.contains(&chat.value.as_str()) {
            let help = "give the new chat another name".to_owned();
            self.report(chat.span, format!("a chat called `{chat}` exists already"), "a second one", help);
        }
        self.chats.push(&chat.value);
    }

    fn message(&mut self, label: &str, span: Span) {
        if !self.messages.contains(&label) {
            let known = self.messages.iter().copied();
            let help =
                format!("{}; a `send`, `queue` or `steer` with a `label` makes one", advice("messages so far", label, known));
            self.report(span, format!("no message is called `{label}` here"), "unknown message", help);
        }
    }

    fn step(&mut self, step: &'s Step) {
        if let Some(device) = &step.device {
            self.device(&device.value, device.span);
        }
        match (&step.chat, &step.action) {
            (Some(chat), Action::Send(_)) => self.chats.push(&chat.value),
            (Some(chat), _) => self.chat(chat),
            (None, _) => {}
        }
        // A step cannot speak of itself, so its own label is known only behind it.
        self.action(step);
        if let Some(label) = &step.label {
            if let Some(first) = self.steps.insert(&label.value, label.span) {
                self.problems.push(
                    self.scenario
                        .problem(label.span, format!("two steps are called `{label}`"), "this one too")
                        .earlier("this is the first", first)
                        .help("give each step a label of its own"),
                );
            }
            if matches!(step.action, Action::Mcp(_)) {
                // An agent makes chats: the first one is called as its step is.
                self.chats.push(&label.value);
            }
            if step.action.makes_a_message() {
                self.messages.push(&label.value);
            }
        }
    }

    fn action(&mut self, step: &'s Step) {
        match &step.action {
            Action::SendNow(message) | Action::Edit { message, .. } | Action::Remove(message) | Action::Lease(message) => {
                self.message(&message.value, message.span);
            }
            Action::Steer(Steer::Queued(message)) => self.message(&message.value, message.span),
            Action::Fork { point, chat, .. } => {
                if let Some(point) = point {
                    self.message(&point.value, point.span);
                }
                self.new_chat(chat);
            }
            Action::Create { chat, parent } | Action::Claim { chat, parent } => {
                if let Some(parent) = parent {
                    self.chat(parent);
                }
                if matches!(step.action, Action::Claim { .. }) {
                    self.claimed.push(&chat.value);
                } else if let Some(at) = self.claimed.iter().position(|claimed| **claimed == chat.value) {
                    self.claimed.remove(at);
                    return;
                }
                self.new_chat(chat);
            }
            Action::Partition(cut) | Action::Heal(cut) => self.cut(cut.as_ref(), step.span),
            Action::Until { expectation, .. } | Action::Expect(expectation) => self.expectation(expectation),
            Action::Release(label) => self.release(label),
            _ => {}
        }
    }

    fn cut(&mut self, cut: Option<&Cut>, span: Span) {
        if self.scenario.devices.len() < 2 {
            let help = "name them: devices = [\"device\", \"viewer\"]".to_owned();
            self.report(span, "a network needs two devices".to_owned(), "there is one device", help);
            return;
        }
        let ends = match cut {
            Some(Cut::Between(a, b)) => vec![a, b],
            Some(Cut::OneWay { from, to }) => vec![from, to],
            None => vec![],
        };
        for end in ends.into_iter().filter(|end| !end.is_empty()) {
            self.device(end, span);
        }
    }

    fn expectation(&mut self, expectation: &Expectation) {
        for check in &expectation.checks {
            match (&check.path, &check.matcher) {
                (Path::Message(label), _) => self.message(label, check.span),
                (Path::Queue, Matcher::Names(labels)) => {
                    for label in labels {
                        self.message(&label.value, label.span);
                    }
                }
                _ => {}
            }
        }
    }

    fn release(&mut self, label: &Spanned<BeatLabel>) {
        let held: Vec<String> = self
            .scenario
            .cast()
            .iter()
            .flat_map(|entry| entry.edits.iter().map(move |edit| (entry, edit)))
            .filter_map(|(entry, edit)| match &edit.value {
                Edit::Hold(held) => Some((entry, held)),
                _ => None,
            })
            .flat_map(|(entry, held)| [held.label.clone(), format!("{}@{}", held.label, entry.name)])
            .collect();
        if !held.contains(&label.value.to_string()) {
            let help = format!(
                "{}; hold one with edits = [ {{ hold = \"{}\" }} ]",
                advice("held beats", &label.value.to_string(), held.iter().map(String::as_str)),
                label.value.label
            );
            self.report(label.span, format!("`{label}` is not held"), "nothing to release", help);
        }
    }
}
