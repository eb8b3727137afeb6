//! `result`: how a turn ended and what it cost.

use serde_json::{Value, json};

use super::{
    core::Core,
    failures::ApiError,
    state::{Event, Kind, Turn},
};
use crate::claude::pace;

/// How a turn ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// By itself.
    Completed,
    /// While a message streamed: by an interrupt, which is an error, or by a `now` message, which is not.
    AbortedStreaming { by_host: bool },
    /// While tools ran.
    AbortedTools { by_host: bool },
    /// By an error of the API.
    ApiError(ApiError),
    /// A turn in which the main thread called no model: a command's output, a fork's reply, or nothing.
    Silent { command: Option<String>, output: String },
}

impl Core {
    /// Says the result and closes the turn.
    pub(super) fn end_turn(&mut self, ending: Ending) {
        self.say_turn_started(super::state::MAIN);
        if self.turn.as_ref().is_some_and(|turn| !turn.opened) {
            // A turn that was stopped before it began still has the one init that belongs to every result.
            self.say_init();
        }
        let Some(mut turn) = self.turn.take() else { return };
        turn.ending = true;
        let cancelled = !matches!(ending, Ending::Completed | Ending::Silent { .. });
        if !cancelled {
            for uuid in &turn.folded {
                self.lifecycle(Some(uuid), "completed");
            }
        }
        let frame = self.result_frame(&turn, &ending);
        self.last_error = frame["is_error"] == true && !self.interrupted_by_signal;
        self.results += 1;
        self.last_result_ms = self.now_ms;
        self.say(frame);
        if cancelled {
            for uuid in &turn.folded {
                self.lifecycle(Some(uuid), "cancelled");
            }
        }
        self.turn = Some(turn);
        self.state_after_result = if cancelled { "cancelled" } else { "completed" };
        self.call(super::state::MAIN, pace::COMPLETED, Core::close_after_result);
    }

    /// The result of a command or a fork, with the lifecycle state it ends in.
    pub(super) fn finish_local(&mut self, command: &str, state: &'static str) {
        let output = self.turn.as_ref().map(|turn| turn.output.clone()).unwrap_or_default();
        let command = (!command.is_empty()).then(|| command.to_owned());
        self.end_turn(Ending::Silent { command, output });
        self.state_after_result = state;
    }

    fn close_after_result(&mut self, _: usize) {
        let state = self.state_after_result;
        self.close_turn(state);
    }

    fn result_frame(&mut self, turn: &Turn, ending: &Ending) -> Value {
        let newer = self.profile.newer;
        let error_ends = matches!(ending, Ending::AbortedStreaming { by_host: true } | Ending::AbortedTools { by_host: true });
        let is_error = error_ends || matches!(ending, Ending::ApiError(_));
        let silent = matches!(ending, Ending::Silent { .. });
        let mut frame = json!({
            "type": "result",
            "subtype": if error_ends { "error_during_execution" } else { "success" },
            "is_error": is_error,
            "duration_ms": self.now_ms - turn.started_ms,
            "duration_api_ms": self.now_ms - turn.started_ms,
            "num_turns": if silent { 0 } else { turn.num_turns },
            "stop_reason": turn.stop_reason,
            "total_cost_usd": self.ledger.dollars(),
            "usage": turn.tokens.usage(),
            "modelUsage": self.ledger.models(newer),
            "permission_denials": turn.denials,
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "subagent_stats": self.stats.report(),
            "safety_stops": turn.safety_stops,
            "queued_turn_count": 0,
            "result_index": self.results,
            "model_usage_since_last_result": self.ledger.take_since(newer),
        });
        self.put_words(&mut frame, turn, ending);
        if !turn.uuids.is_empty() {
            frame["user_message_uuid"] = json!(turn.uuids[0]);
            frame["user_message_uuids"] = json!(turn.uuids);
        }
        if let Kind::FollowUp { run, .. } = &turn.kind {
            frame["origin"] = match run {
                Some(run) => json!({"kind": "task-notification", "producer": "session-task", "runId": run}),
                None => json!({"kind": "task-notification"}),
            };
        }
        if !silent && newer && self.args.partial {
            frame["begun_message_ids"] = json!(turn.begun_ids);
        }
        frame
    }

    /// What the ending adds: the words, the reason, the timings of a turn that got an answer.
    fn put_words(&mut self, frame: &mut Value, turn: &Turn, ending: &Ending) {
        match ending {
            Ending::Completed => {
                frame["terminal_reason"] = json!("completed");
                frame["result"] = json!(turn.text);
            }
            Ending::AbortedStreaming { by_host } => {
                frame["terminal_reason"] = json!("aborted_streaming");
                put_abort(frame, turn, *by_host, "null");
            }
            Ending::AbortedTools { by_host } => {
                frame["terminal_reason"] = json!("aborted_tools");
                put_abort(frame, turn, *by_host, "tool_use");
            }
            Ending::ApiError(error) => {
                frame["terminal_reason"] = json!("api_error");
                frame["stop_reason"] = json!(error.stop_reason);
                frame["api_error_status"] = json!(error.status);
                frame["result"] = json!(error.text);
                error.put_types(frame, self.profile.newer);
                return;
            }
            Ending::Silent { command, output } => {
                frame["stop_reason"] = Value::Null;
                frame["result"] = json!(output);
                if let Some(command) = command {
                    frame["local_command"] = json!(command);
                }
                return;
            }
        }
        let by_host = matches!(ending, Ending::AbortedStreaming { by_host: true } | Ending::AbortedTools { by_host: true });
        if by_host {
            return;
        }
        frame["api_error_status"] = Value::Null;
        for timing in ["ttft_ms", "ttft_stream_ms", "time_to_request_ms", "first_content_frame_ms"] {
            frame[timing] = json!(self.now_ms - turn.started_ms);
        }
        if !turn.uuids.is_empty()
            && let Some((input, cached)) = turn.first_request
        {
            frame["request_sent_wall_ms"] = json!(self.wall_ms);
            frame["first_request_input_tokens"] = json!(input);
            if self.profile.newer {
                frame["first_request_cache_read_input_tokens"] = json!(cached);
            }
        }
    }

    /// A result of a process that never got to a turn.
    pub(super) fn say_failed_start(&mut self, words: &str) {
        self.say(json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true, "duration_ms": 0, "duration_api_ms": 0,
            "num_turns": 0, "stop_reason": null, "total_cost_usd": 0.0, "usage": super::ledger::Tokens::default().usage(),
            "modelUsage": {}, "permission_denials": [], "errors": [words], "result_index": 0,
        }));
        self.leaving = true;
        self.after(pace::LEAVE, Event::Leave(1));
    }
}

/// An interrupt's result has errors and no words, a steer's has the words so far.
fn put_abort(frame: &mut Value, turn: &Turn, by_host: bool, reason: &str) {
    if by_host {
        let words = format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={reason}");
        frame["errors"] = json!([words]);
    } else {
        frame["result"] = json!(turn.text);
    }
}
