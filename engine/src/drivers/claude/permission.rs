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

/// Why a request is turned down while no turn is open.
const NO_TURN: &str = "No turn is open.";
/// Why a request is turned down that the turn's end found open.
const TURN_OVER: &str = "The turn is over.";
/// Why a request is turned down that came after a stop.
const STOPPED: &str = "The user stopped this turn.";
/// Longest text of a tool's input in an approval, characters.
const INPUT_CHARS: usize = 2_000;

/// A request of the CLI that waits for an answer.
#[derive(Debug)]
pub(super) struct OpenRequest {
    input: Value,
    suggestions: Value,
    /// The questions' texts, for AskUserQuestion: answers are keyed by them.
    questions: Option<Vec<String>>,
    /// Its card is closed: the human's answer comes too late, the CLI withdraws it or is refused at the turn's end.
    closed: bool,
}

impl Claude {
    /// A `control_request` of the CLI.
    pub(super) fn control_request(&mut self, cx: &mut Cx<'_>, frame: &Value) {
        let request = &frame["request"];
        let Some(id) = frame["request_id"].as_str() else { return };
        // Exactly one answer a request (I6), however often it is said and whether its card is still open.
        if !self.asked.insert(id.to_owned()) {
            return;
        }
        if request["subtype"].as_str() != Some("can_use_tool") {
            let kind = request["subtype"].as_str().unwrap_or("without a subtype");
            cx.note("unknown-request", format!("a control request that is refused: {kind}"));
            // It waits for an answer, and nobody else gives one.
            self.process.write_line(cx, wire::unsupported(id, &format!("Unsupported control request: {kind}")));
            return;
        }
        // A request for a turn that is not open is declined, never approved (K19); background work may still ask.
        if !self.turn_open() && self.background.is_empty() {
            return self.deny(cx, id, NO_TURN);
        }
        // After a stop nothing more is granted, and a card would hold the stop's end back.
        if self.stopping.is_some() || self.interrupted {
            return self.deny(cx, id, STOPPED);
        }
        let tool = request["tool_name"].as_str().unwrap_or("a tool");
        let input = request["input"].clone();
        let asks_human = tool == "AskUserQuestion";
        if self.request.auto_approve && !asks_human {
            self.process.write_line(cx, wire::answer(id, json!({"behavior": "allow", "updatedInput": input})));
            return;
        }
        let questions = if asks_human { human_questions(&input) } else { vec![approval(tool, request)] };
        let open = OpenRequest {
            suggestions: request["permission_suggestions"].clone(),
            questions: asks_human.then(|| question_texts(&input)),
            input,
            closed: false,
        };
        self.requests.insert(id.to_owned(), open);
        cx.out.push(Output::Ask { provider_request: id.to_owned(), questions });
    }

    /// `control_cancel_request`: the card is closed with empty answers, nothing is written.
    pub(super) fn control_cancelled(&mut self, cx: &mut Cx<'_>, id: &str) {
        if self.requests.remove(id).is_some_and(|request| !request.closed) {
            cx.out.push(Output::AskWithdrawn { provider_request: id.to_owned() });
        }
    }

    /// At a stop and at the exit open questions are closed and never answered late (I6).
    pub(super) fn close_questions(&mut self, cx: &mut Cx<'_>) {
        for (id, request) in &mut self.requests {
            if !std::mem::replace(&mut request.closed, true) {
                cx.out.push(Output::AskWithdrawn { provider_request: id.clone() });
            }
        }
    }

    /// Every path that ends a turn answers what is still asked: a child of background work would wait for ever (K19).
    pub(super) fn refuse_open_requests(&mut self, cx: &mut Cx<'_>) {
        self.close_questions(cx);
        for id in std::mem::take(&mut self.requests).into_keys() {
            self.deny(cx, &id, TURN_OVER);
        }
    }

    /// The human's answer, or none when the card was closed without one: then the CLI withdraws its request, or the turn's end
    /// refuses it.
    pub(super) fn answer_request(&mut self, cx: &mut Cx<'_>, id: &str, answers: Option<&[String]>) {
        let Some(answers) = answers else {
            if let Some(request) = self.requests.get_mut(id) {
                request.closed = true;
            }
            return;
        };
        if self.requests.get(id).is_none_or(|request| request.closed) {
            return;
        }
        let Some(open) = self.requests.remove(id) else { return };
        let response = match &open.questions {
            Some(questions) => {
                let given: Map<String, Value> =
                    questions.iter().cloned().zip(answers.iter().map(|answer| answer.clone().into())).collect();
                let mut input = match open.input {
                    Value::Object(input) => input,
                    _ => Map::new(),
                };
                input.insert("answers".to_owned(), Value::Object(given));
                json!({"behavior": "allow", "updatedInput": input})
            }
            None => match answers.first().map(String::as_str) {
                Some(ALLOW_ALWAYS) if offers_always(&open.suggestions) => {
                    json!({"behavior": "allow", "updatedInput": open.input, "updatedPermissions": open.suggestions})
                }
                Some(ALLOW_ONCE | ALLOW_ALWAYS) => json!({"behavior": "allow", "updatedInput": open.input}),
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
            self.deny(cx, id, why);
        }
    }

    fn deny(&self, cx: &mut Cx<'_>, id: &str, why: &str) {
        self.process.write_line(cx, wire::answer(id, json!({"behavior": "deny", "message": why})));
    }
}

fn offers_always(suggestions: &Value) -> bool {
    suggestions.as_array().is_some_and(|list| !list.is_empty())
}

/// What the human is asked to approve: the tool, why, and its input, since a yes without seeing the command is no yes.
fn approval(tool: &str, request: &Value) -> UserInputQuestion {
    let what = request["description"].as_str().or_else(|| request["decision_reason"].as_str()).unwrap_or_default();
    let mut question = if what.is_empty() { format!("Allow {tool}?") } else { format!("Allow {tool}: {what}?") };
    if !request["input"].is_null() {
        question.push('\n');
        question.extend(request["input"].to_string().chars().take(INPUT_CHARS));
    }
    let mut options = vec![ALLOW_ONCE.to_owned()];
    if offers_always(&request["permission_suggestions"]) {
        options.push(ALLOW_ALWAYS.to_owned());
    }
    options.extend([DENY.to_owned(), DENY_AND_STOP.to_owned()]);
    UserInputQuestion {
        id: "approval".to_owned(),
        header: tool.to_owned(),
        question,
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
