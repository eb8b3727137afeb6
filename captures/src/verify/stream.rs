//! The framing of the model's stream: message_start, blocks, message_stop.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Findings, claude::text};

/// The main thread's stream; no stream_event belongs to an agent.
#[derive(Debug, Default)]
pub(super) struct Stream {
    open: bool,
    blocks: BTreeSet<u64>,
}

impl Stream {
    pub(super) fn event(&mut self, event: &Value, findings: &mut Findings) {
        const RULE: &str = "stream-framing";
        let kind = text(event, "type").unwrap_or_default();
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        if kind == "message_start" {
            findings.expect(!self.open, RULE, || "message_start within a message: expected message_stop before".to_owned());
            self.open = true;
            self.blocks.clear();
            return;
        }
        findings.expect(self.open, RULE, || format!("{kind} outside of a message: expected message_start before"));
        match kind {
            "content_block_start" => {
                let fresh = self.blocks.insert(index);
                findings.expect(fresh, RULE, || format!("block {index} started twice: expected content_block_stop before"));
            }
            "content_block_delta" => {
                let open = self.blocks.contains(&index);
                findings.expect(open, RULE, || format!("a delta of block {index}: expected a block that is open"));
            }
            "content_block_stop" => {
                let open = self.blocks.remove(&index);
                findings.expect(open, RULE, || format!("content_block_stop of block {index}: expected a block that is open"));
            }
            "message_stop" => {
                // A block that the cut of a connection left open is named by abandoned_blocks on the frame and gets no stop.
                self.open = false;
                self.blocks.clear();
            }
            _ => {}
        }
    }
}
