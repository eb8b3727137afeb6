//! Questions and approvals: `can_use_tool`, its answer, its withdrawal.

use serde_json::{Map, Value, json};

use super::{driver::Claude, wire};
use crate::{
    drivers::{Cx, Output},
    event::UserInputQuestion,
};

/// Choice of an approval: this one call.
pub const ALLOW_ONCE: &str = "Allow once";
/// Choice of an approval: this call and those like it.
pub const ALLOW_ALWAYS: &str = "Allow always";
/// Choice of an approval: not this call; the turn goes on.
pub const DENY: &str = "Deny";
/// Choice of an approval: not this call, and the turn stops.
pub const DENY_AND_STOP: &str = "Deny and stop";
/// What the model reads when the human says no.
pub const DENIED: &str = "The user denied this.";

/// A request of the CLI that waits for an answer.
#[derive(Debug)]
pub(super) struct OpenRequest {
    input: Value,
    suggestions: Value,
    /// The questions' texts, for AskUserQuestion: answers are keyed by them.
    questions: Option<Vec<String>>,
}

impl Claude {
    /// A `control_request` of the CLI.
    pub(super) fn control_request(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let request = &frame["request"];
        let Some(id) = frame["request_id"].as_str() else { return };
        if request["subtype"].as_str() != Some("can_use_tool") {
            cx.note("unknown-request", format!("a control request that is not answered: {}", request["subtype"]));
            return;
        }
        let tool = request["tool_name"].as_str().unwrap_or("a tool");
        let input = request["input"].clone();
        let asks_human = tool == "AskUserQuestion";
        if self.request.auto_approve && !asks_human {
            self.process.write_line(cx, wire::answer(id, json!({"behavior": "allow", "updatedInput": input})));
            return;
        }
        self.requests.insert(
            id.to_owned(),
            OpenRequest {
                input: input.clone(),
                suggestions: request["permission_suggestions"].clone(),
                questions: asks_human.then(|| question_texts(&input)),
            },
        );
        // A request for a turn that is not open is declined, never approved (K19); background work may still ask.
        if !self.turn_open() && self.background.is_empty() {
            self.decline_request(cx, id, "No turn is open.");
            return;
        }
        let questions = if asks_human { human_questions(&input) } else { vec![approval(tool, request)] };
        cx.out.push(Output::Ask { provider_request: id.to_owned(), questions });
    }

    /// `control_cancel_request`: the card is closed with empty answers, nothing is written.
    pub(super) fn control_cancelled(&mut self, cx: &mut Cx<'_>, id: &str) {
        if self.requests.remove(id).is_some() {
            cx.out.push(Output::AskWithdrawn { provider_request: id.to_owned() });
        }
    }

    /// At a stop, at the turn's end and at the exit open questions are closed and never answered late (I6).
    pub(super) fn close_questions(&mut self, cx: &mut Cx<'_>) {
        for id in std::mem::take(&mut self.requests).into_keys() {
            cx.out.push(Output::AskWithdrawn { provider_request: id });
        }
    }

    /// The human's answer.
    pub(super) fn answer_request(&mut self, cx: &mut Cx<'_>, id: &str, answers: Option<&[String]>) {
        let Some(answers) = answers else {
            self.requests.remove(id);
            return;
        };
        let Some(open) = self.requests.remove(id) else { return };
        let response = match &open.questions {
            Some(questions) => {
                let mut given = Map::new();
                for (question, answer) in questions.iter().zip(answers) {
                    given.insert(question.clone(), answer.clone().into());
                }
                let mut input = open.input;
                input["answers"] = Value::Object(given);
                json!({"behavior": "allow", "updatedInput": input})
            }
            None => match answers.first().map(String::as_str) {
                Some(ALLOW_ALWAYS) => {
                    json!({"behavior": "allow", "updatedInput": open.input, "updatedPermissions": open.suggestions})
                }
                Some(ALLOW_ONCE) => json!({"behavior": "allow", "updatedInput": open.input}),
                Some(DENY_AND_STOP) => json!({"behavior": "deny", "message": DENIED, "interrupt": true}),
                Some(DENY) | None => json!({"behavior": "deny", "message": DENIED}),
                // Words of the human's own are the reason that the model reads.
                Some(words) => json!({"behavior": "deny", "message": words}),
            },
        };
        self.process.write_line(cx, wire::answer(id, response));
    }

    /// Turned down without asking anybody.
    pub(super) fn decline_request(&mut self, cx: &mut Cx<'_>, id: &str, why: &str) {
        if self.requests.remove(id).is_some() {
            self.process.write_line(cx, wire::answer(id, json!({"behavior": "deny", "message": why})));
        }
    }
}

fn approval(tool: &str, request: &Value) -> UserInputQuestion {
    let what = request["description"].as_str().or_else(|| request["decision_reason"].as_str()).unwrap_or_default();
    let mut options = vec![ALLOW_ONCE.to_owned()];
    if request["permission_suggestions"].as_array().is_some_and(|list| !list.is_empty()) {
        options.push(ALLOW_ALWAYS.to_owned());
    }
    options.extend([DENY.to_owned(), DENY_AND_STOP.to_owned()]);
    UserInputQuestion {
        id: "approval".to_owned(),
        header: tool.to_owned(),
        question: if what.is_empty() { format!("Allow {tool}?") } else { format!("Allow {tool}: {what}?") },
        options,
        multi_select: false,
        prefill: None,
        multiline: false,
    }
}

fn question_texts(input: &Value) -> Vec<String> {
    let questions = input["questions"].as_array().into_iter().flatten();
    questions.map(|question| question["question"].as_str().unwrap_or_default().to_owned()).collect()
}

fn human_questions(input: &Value) -> Vec<UserInputQuestion> {
    let questions = input["questions"].as_array().into_iter().flatten().enumerate();
    questions
        .map(|(n, question)| UserInputQuestion {
            id: format!("question-{}", n + 1),
            header: question["header"].as_str().unwrap_or_default().to_owned(),
            question: question["question"].as_str().unwrap_or_default().to_owned(),
            options: question["options"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|option| option["label"].as_str().map(str::to_owned))
                .collect(),
            multi_select: question["multiSelect"].as_bool().unwrap_or(false),
            prefill: None,
            multiline: false,
        })
        .collect()
}
