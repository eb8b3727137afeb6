//! What the API does wrong: errors, lost connections, limits, refusals.

use serde_json::{Value, json};

use super::{
    core::Core,
    interrupt::{null_delta, null_delta_usage},
    ledger::Tokens,
    result::Ending,
    state::{MAIN, ThreadId},
};
use crate::claude::{
    pace,
    profile::display_name,
    script::{Answer, Failure},
};

/// Cuts behind whole blocks, in a row, that end a turn.
const CUTS_MOST: u32 = 4;
/// Tries of the request without streaming after an SSE error.
const FALLBACK_TRIES: u32 = 1;

/// An error that ends a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ApiError {
    /// What the user reads.
    pub(super) text: String,
    /// `error` of the assistant frame.
    pub(super) error: String,
    /// HTTP status.
    pub(super) status: Option<u16>,
    /// The API's own type; newer versions state it.
    pub(super) kind: Option<&'static str>,
    /// The connection was lost; newer versions state it.
    pub(super) lost: bool,
    /// `req_…`.
    pub(super) request_id: Option<String>,
    /// `stop_sequence`, or `refusal`.
    pub(super) stop_reason: &'static str,
    /// The message that was refused.
    pub(super) refused: Option<String>,
}

impl ApiError {
    /// `api_error_type` and `api_error`, which the newer version has.
    pub(super) fn put_types(&self, frame: &mut Value, newer: bool) {
        if newer && let Some(kind) = self.kind {
            frame["api_error_type"] = json!(kind);
        }
        if newer && self.lost {
            frame["api_error"] = json!("connection_failed");
        }
    }
}

/// HTTP status, `error` of an api_retry, `error` of the message, the API's type.
#[rustfmt::skip]
const STATUSES: &[(u16, &str, &str, &str)] = &[
    (400, "unknown",               "unknown",               "invalid_request_error"),
    (401, "authentication_failed", "authentication_failed", "authentication_error"),
    (429, "rate_limit",            "rate_limit",            "rate_limit_error"),
    (500, "server_error",          "server_error",          "api_error"),
    (529, "overloaded",            "server_error",          "overloaded_error"),
];

fn status_row(status: u16) -> (&'static str, &'static str, &'static str) {
    STATUSES.iter().find(|row| row.0 == status).map_or(("server_error", "server_error", "api_error"), |row| (row.1, row.2, row.3))
}

impl Core {
    /// The request failed before a message began: try again, or end.
    pub(super) fn request_failed(&mut self, thread: ThreadId) {
        let Some(Answer::Failure(failure)) = self.threads[thread].answers.pop_front() else { return };
        let retried = failure.status.is_none_or(|status| status != 400);
        let state = &self.threads[thread];
        let (tries, most) =
            if state.fallback { (state.fallback_tries, FALLBACK_TRIES) } else { (state.tries, self.args.env.max_retries) };
        if retried && tries < most {
            let error = failure.status.map_or("unknown", |status| status_row(status).0);
            self.retry(thread, failure.status, error, failure.retry_ms, tries, most);
            return;
        }
        let error = self.error_of(&failure);
        self.fail(thread, error);
    }

    /// `api_retry`, then the request again.
    fn retry(&mut self, thread: ThreadId, status: Option<u16>, error: &str, given: Option<u64>, tries: u32, most: u32) {
        let doubled = (pace::RETRY << tries.min(16)).min(pace::RETRY_MOST);
        let delay = given.unwrap_or(doubled + self.random() % (doubled / 5));
        if self.is_main(thread) {
            self.say(json!({
                "type": "system", "subtype": "api_retry", "attempt": tries + 1, "max_retries": most,
                "retry_delay_ms": delay, "error_status": status, "error": error,
            }));
        }
        let state = &mut self.threads[thread];
        if state.fallback {
            state.fallback_tries += 1;
        } else {
            state.tries += 1;
        }
        state.reply = None;
        self.call(thread, delay, Core::ask_model);
    }

    fn error_of(&self, failure: &Failure) -> ApiError {
        let Some(status) = failure.status else {
            let text = if self.profile.newer {
                "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again."
            } else {
                "API Error: Connection dropped (ECONNRESET)"
            };
            return ApiError { text: text.into(), ..lost() };
        };
        let (_, error, kind) = status_row(status);
        let words = &failure.message;
        let text = match status {
            401 => "Invalid API key · Fix external API key".to_owned(),
            429 => format!("API Error: Request rejected (429) · {words}"),
            500.. => format!(
                "API Error: {status} {words}. This is a server-side issue, usually temporary — try again in a moment. If it \
                 persists, check your inference gateway ({}).",
                self.args.env.gateway
            ),
            _ => format!("API Error: {status} {words}"),
        };
        ApiError {
            text,
            error: error.into(),
            status: Some(status),
            kind: Some(kind),
            request_id: failure.request_id.clone(),
            stop_reason: "stop_sequence",
            ..ApiError::default()
        }
    }

    /// A thread's error: it ends the main thread's turn, an agent, a fork.
    fn fail(&mut self, thread: ThreadId, error: ApiError) {
        if self.is_main(thread) {
            self.release_replays();
            self.say_error(thread, &error);
            self.call_error(error);
            return;
        }
        self.say_error(thread, &error);
        if let Some(task) = self.threads[thread].task {
            self.tasks[task].failure = Some(error.text);
            let tail = self.threads[thread].tail_ms;
            self.call(thread, tail, Core::child_ends);
        }
    }

    fn call_error(&mut self, error: ApiError) {
        self.pending_error = Some(error);
        if let Some(turn) = self.turn.as_mut() {
            turn.ending = true;
        }
        self.call(MAIN, pace::RESULT, Core::end_in_error);
    }

    fn end_in_error(&mut self, _: usize) {
        let error = self.pending_error.take().unwrap_or_default();
        self.end_turn(Ending::ApiError(error));
    }

    /// The synthetic message of an error.
    fn say_error(&mut self, thread: ThreadId, error: &ApiError) {
        let message = self.synthetic(&error.text, error.stop_reason);
        let mut frame = json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null, "timestamp": self.stamp(),
            "error": error.error,
        });
        if let Some(request_id) = &error.request_id {
            frame["request_id"] = json!(request_id);
        }
        frame["is_api_error_message"] = json!(true);
        if let Some(refused) = &error.refused {
            frame["refused_message_id"] = json!(refused);
        }
        error.put_types(&mut frame, self.profile.newer);
        match self.threads[thread].task {
            Some(task) => self.say_tagged(task, frame),
            None => {
                if let Some(status) = error.status {
                    frame["api_error_status"] = json!(status);
                }
                self.put_first_spoken(&mut frame);
                self.say(frame);
            }
        }
    }

    /// The connection was lost in a message.
    pub(super) fn connection_lost(&mut self, thread: ThreadId) {
        let Some(speaking) = self.threads[thread].reply.as_ref() else { return };
        let (done, main) = (speaking.done, self.is_main(thread));
        let request_id = speaking.reply.request_id.clone();
        if done > 0 {
            self.cut_behind_blocks(thread, done);
            return;
        }
        let tries = self.threads[thread].tries;
        if tries >= self.args.env.max_retries && self.args.env.no_fallback && main {
            let text = "API Error: Connection to the API was lost (ECONNRESET). This is usually temporary — try again.";
            let error = ApiError { text: text.into(), request_id, ..lost() };
            self.say_error(thread, &error);
            self.book_lost(thread, false);
            self.say_lost_tail();
            self.call_error(error);
            return;
        }
        self.abandon(thread, 0);
        self.book_lost(thread, true);
        if tries < self.args.env.max_retries {
            let most = self.args.env.max_retries;
            self.retry(thread, None, "unknown", None, tries, most);
            return;
        }
        let state = &mut self.threads[thread];
        (state.fallback, state.fallback_tries, state.reply) = (true, FALLBACK_TRIES, None);
        self.ask_model(thread);
    }

    /// The API sent an SSE `error` event: the request without streaming, at once.
    pub(super) fn stream_error(&mut self, thread: ThreadId) {
        self.abandon(thread, 0);
        let start = self.threads[thread].reply.as_ref().map(|speaking| Tokens::of(&speaking.reply.usage));
        if let (Some(tokens), Some(turn)) = (start, self.turn.as_mut().filter(|_| thread == MAIN)) {
            turn.tokens.add(tokens);
        }
        let state = &mut self.threads[thread];
        (state.fallback, state.fallback_tries, state.reply) = (true, 0, None);
        self.ask_model(thread);
    }

    /// `message_stop` that takes blocks back.
    fn abandon(&mut self, thread: ThreadId, from: usize) {
        let Some(speaking) = self.threads[thread].reply.as_mut() else { return };
        speaking.stopped = true;
        let (id, open) = (speaking.reply.id.clone(), speaking.block);
        if let Some(index) = open.filter(|_| from == 0) {
            self.say_event(thread, json!({"index": index, "type": "content_block_stop"}), &[]);
        }
        let abandoned = json!({"api_message_id": id, "from_block_index": from});
        self.say_event(thread, json!({"type": "message_stop"}), &[("abandoned_blocks", abandoned)]);
    }

    /// The tail of a lost message whose error was said before it.
    fn say_lost_tail(&mut self) {
        let Some(speaking) = self.threads[MAIN].reply.as_mut() else { return };
        speaking.stopped = true;
        let (id, open) = (speaking.reply.id.clone(), speaking.block);
        let usage = null_delta_usage(&speaking.reply.usage);
        if let Some(index) = open {
            self.say_event(MAIN, json!({"index": index, "type": "content_block_stop"}), &[]);
        }
        let delta = null_delta(&usage);
        self.say_event(MAIN, delta, &[]);
        let abandoned = [("abandoned_blocks", json!({"api_message_id": id, "from_block_index": 0}))];
        self.say_event(MAIN, json!({"type": "message_stop"}), if self.profile.newer { &abandoned } else { &[] });
    }

    /// What a lost message cost: its start for the older version, an estimate for the newer one.
    fn book_lost(&mut self, thread: ThreadId, in_turn: bool) {
        let Some(speaking) = self.threads[thread].reply.as_ref() else { return };
        let start = Tokens::of(&speaking.reply.usage);
        let booked = if self.profile.newer { Tokens { output: speaking.chars_with_names() / 3, ..start } } else { start };
        let model = self.model.clone();
        self.ledger.book(&model, booked);
        if let Some(turn) = self.turn.as_mut().filter(|_| in_turn && thread == MAIN) {
            turn.tokens.add(start);
        }
    }

    /// Whole blocks stay; the model is told to go on; the fourth cut in a row ends the turn.
    fn cut_behind_blocks(&mut self, thread: ThreadId, done: usize) {
        self.book_lost(thread, true);
        self.abandon(thread, done);
        let state = &mut self.threads[thread];
        state.cuts += 1;
        if state.cuts >= CUTS_MOST {
            let text = "API Error: Connection lost mid-response. The response above may be incomplete.";
            self.fail(thread, ApiError { text: text.into(), ..lost() });
            return;
        }
        if self.is_main(thread) {
            let words = self.profile.texts.cut_off.clone();
            self.say_synthetic_user(&words, &[]);
        }
        if self.threads[thread].open.is_empty() {
            self.call(thread, 1, Core::request);
        } else {
            self.threads[thread].waiting = true;
        }
    }

    /// A user frame that the CLI itself put into the conversation.
    pub(super) fn say_synthetic_user(&mut self, words: &str, extra: &[(&str, Value)]) -> String {
        let mut frame = json!({
            "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": words}]},
            "parent_tool_use_id": null, "isSynthetic": true,
        });
        for (key, value) in extra {
            frame[*key] = value.clone();
        }
        self.say_user(frame)
    }

    /// `max_tokens`: the model is told to go on.
    pub(super) fn token_limit(&mut self, thread: ThreadId) {
        let words = self.profile.texts.token_limit.clone();
        self.say_synthetic_user(&words, &[]);
        self.call(thread, 1, Core::request);
    }

    /// A refusal at `message_delta`: the second one in a row ends the turn before the message's tail.
    pub(super) fn refused(&mut self, thread: ThreadId, reason: &str, usage: &Value) {
        if let Some(turn) = self.turn.as_mut() {
            turn.safety_stops += 1;
        }
        self.threads[thread].refusals += 1;
        if self.threads[thread].refusals < 2 {
            self.say_stop_reason(thread, reason, usage);
            return;
        }
        let Some(reply) = self.threads[thread].reply.as_ref().map(|speaking| speaking.reply.clone()) else { return };
        let head = self.turn.as_ref().and_then(|turn| turn.uuids.first().cloned());
        let request_id = reply.request_id.clone().unwrap_or_default();
        self.say(json!({
            "type": "system", "subtype": "model_refusal_no_fallback", "original_model": self.model, "request_id": request_id,
            "api_refusal_category": null, "api_refusal_explanation": null, "refused_user_message_uuid": head, "content": "",
        }));
        let text = format!(
            "API Error: {} can't help with this. Start a new session to continue.\n\nLearn more: \
             https://www.anthropic.com/legal/aup\n\nRequest ID: {request_id}\n\nMessage ID: {}",
            display_name(&self.model),
            reply.id
        );
        let error = ApiError {
            text,
            error: "invalid_request".into(),
            request_id: Some(request_id),
            stop_reason: "refusal",
            refused: Some(reply.id),
            ..ApiError::default()
        };
        self.say_error(thread, &error);
        self.pending_error = Some(error);
        self.say_stop_reason(thread, reason, usage);
    }

    /// After a refused message: one more try, with a note, or the end.
    pub(super) fn after_refusal(&mut self, thread: ThreadId) {
        if let Some(error) = self.pending_error.take() {
            self.threads[thread].refusals = 0;
            self.call_error(error);
            return;
        }
        let name = display_name(&self.model);
        self.say(json!({
            "type": "system", "subtype": "informational",
            "content": format!("{name}'s safeguards stopped the response above · continuing once with that noted"),
            "level": "notice",
        }));
        let id = self.threads[thread].reply.as_ref().map(|speaking| speaking.reply.id.clone());
        let mut extra = vec![("refused_message_id", json!(id))];
        if self.profile.newer {
            extra.push(("refusal_retry", json!(true)));
        }
        let words = self.profile.texts.refused.clone();
        self.say_synthetic_user(&words, &extra);
        self.call(thread, 1, Core::request);
    }
}

/// A lost connection, without its words.
fn lost() -> ApiError {
    ApiError { error: "server_error".into(), lost: true, stop_reason: "stop_sequence", ..ApiError::default() }
}

impl super::state::Speaking {
    /// Characters received, tool names included: what the newer version's estimate counts.
    fn chars_with_names(&self) -> u64 {
        let blocks = self.reply.blocks.iter().take(self.done + 1);
        let names = blocks.filter_map(|block| block.content["name"].as_str()).map(|name| name.len() as u64);
        self.chars + names.sum::<u64>()
    }
}
