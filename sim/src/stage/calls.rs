//! Requests to the host, and rows that a command claims.

use serde_json::Value;

use super::{play::Stage, run::End};
use crate::host::{ChatSetup, ForHost, HostCall};

impl Stage<'_> {
    pub(super) fn claim(&mut self, setup: ChatSetup) -> Result<(), End> {
        self.own_instant();
        self.trace.line(self.now(), "world", format!("claim {} {}", setup.chat, setup.cwd), &[]);
        self.host.take(self.clock(), ForHost::Claim { chat: setup.chat, cwd: setup.cwd });
        self.after_host()
    }

    pub(super) fn call(&mut self, id: u64, call: HostCall) -> Result<(), End> {
        self.own_instant();
        let words = match &call {
            HostCall::Rpc { method, params } => format!("call {id} {method} {params}"),
            HostCall::Mcp { chat, method, params, .. } => format!("call {id} of the agent of {chat}: {method} {params}"),
        };
        self.trace.line(self.now(), "user", words, &[]);
        self.host.take(self.clock(), ForHost::Call { id, call });
        self.after_host()
    }
}

/// An answer, for the trace.
pub(super) fn answered(id: u64, outcome: &Result<Value, String>) -> String {
    match outcome {
        Ok(value) => format!("answer {id} {value}"),
        Err(words) => format!("answer {id} refused: {words}"),
    }
}
