//! What the host writes, line by line.

use serde_json::Value;

use super::{
    core::Core,
    state::{Event, Message, Priority},
};
use crate::claude::script::text_of;

/// From a malformed line to the end of the process, in ms; what was about to be said still comes.
const MALFORMED_MS: u64 = 30;

impl Core {
    /// Takes one line of stdin. Lines that come before the process reads wait.
    pub(in crate::claude) fn line(&mut self, line: &str) {
        if self.ended || self.leaving {
            return;
        }
        if !self.booted {
            self.early.push_back(line.to_owned());
            return;
        }
        if line.trim().is_empty() {
            return;
        }
        let Ok(frame) = serde_json::from_str::<Value>(line) else {
            self.breach("malformed-line", format!("stdin wants one JSON object a line, got: {}", clip(line)));
            self.complain(&format!("Error parsing streaming input line: {}\n", clip(line)));
            self.leaving = true;
            self.after(MALFORMED_MS, Event::Leave(1));
            return;
        };
        if matches!(frame["type"].as_str(), Some("user" | "control_request")) {
            self.open_session();
            if self.leaving {
                return;
            }
        }
        match frame["type"].as_str() {
            Some("user") => self.user_line(&frame),
            Some("control_request") => self.control_line(&frame),
            Some("control_response") => self.take_answer(&frame),
            // keep_alive and types that nobody knows are passed over.
            _ => {}
        }
    }

    fn user_line(&mut self, frame: &Value) {
        let content = frame["message"]["content"].clone();
        if content.is_null() || frame["message"]["role"] != "user" {
            self.breach("user-without-message", "a user line wants message {role: \"user\", content}".into());
            return;
        }
        let priority = match frame["priority"].as_str() {
            Some("now") => Priority::Now,
            Some("later") => Priority::Later,
            Some("next") | None => Priority::Next,
            Some(other) => {
                self.breach("unknown-priority", format!("priority wants now, next or later, got {}", clip(other)));
                Priority::Next
            }
        };
        let text = text_of(&content);
        self.take_message(Message { uuid: frame["uuid"].as_str().map(str::to_owned), content, text, priority });
    }

    fn control_line(&mut self, frame: &Value) {
        let Some(request_id) = frame["request_id"].as_str() else {
            self.breach("control-without-id", "a control_request wants a request_id".into());
            return;
        };
        if frame["request"]["subtype"].as_str().is_none() {
            self.breach("control-without-subtype", "a control_request wants request.subtype".into());
        }
        self.control(request_id, &frame["request"]);
    }

    /// The host closed stdin: what runs goes on, then the process ends.
    pub(in crate::claude) fn close_stdin(&mut self) {
        self.stdin_closed = true;
        if self.turn.is_none() {
            self.after(0, Event::Next);
        }
    }
}

/// The first characters of a line, for messages.
fn clip(line: &str) -> String {
    const MOST: usize = 80;
    let mut clipped: String = line.chars().take(MOST).collect();
    if clipped.len() < line.len() {
        clipped.push('…');
    }
    clipped
}
