//! Requests and their answers, both ways.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Findings, claude::text};

#[derive(Debug, Default)]
pub(super) struct Control {
    /// Requests of the host; true once answered.
    host: BTreeMap<String, bool>,
    /// Requests of the CLI; true once the host has answered.
    cli: BTreeMap<String, bool>,
}

impl Control {
    pub(super) fn host(&mut self, frame: &Value) {
        match text(frame, "type") {
            Some("control_request") => {
                if let Some(id) = text(frame, "request_id") {
                    self.host.insert(id.to_owned(), false);
                }
            }
            // A host may answer late or twice: what it does is the host's matter, not the capture's.
            Some("control_response") => {
                if let Some(answered) = answers(frame).and_then(|id| self.cli.get_mut(id)) {
                    *answered = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn cli(&mut self, kind: &str, frame: &Value, findings: &mut Findings) {
        match kind {
            "control_request" => {
                let id = text(frame, "request_id").unwrap_or_default();
                let fresh = !id.is_empty() && self.cli.insert(id.to_owned(), false).is_none();
                findings.expect(fresh, "request-id", || format!("request_id `{id}`: expected one that was not used before"));
            }
            "control_cancel_request" => {
                let id = text(frame, "request_id").unwrap_or_default();
                let open = self.cli.get(id) == Some(&false);
                findings.expect(open, "unknown-request", || format!("`{id}` cancelled: expected an open request of the CLI"));
            }
            _ => self.answer(frame, findings),
        }
    }

    /// The answer to a request of the host, or the echo of the host's own answer.
    fn answer(&mut self, frame: &Value, findings: &mut Findings) {
        let id = answers(frame).unwrap_or_default();
        if self.cli.get(id) == Some(&true) {
            return;
        }
        match self.host.get_mut(id) {
            Some(answered) if !*answered => *answered = true,
            Some(_) => findings.add("answered-twice", format!("a second answer to `{id}`: expected one")),
            None => findings.add("unknown-request", format!("an answer to `{id}`: expected a request that was made before")),
        }
    }
}

fn answers(frame: &Value) -> Option<&str> {
    frame.get("response").and_then(|response| text(response, "request_id"))
}
