//! Agents, forks and commands that run as tasks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Findings, claude::text};

#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Started tasks and their run ids; true once they were notified of.
    started: BTreeMap<String, (Option<String>, bool)>,
}

impl Tasks {
    pub(super) fn system(&mut self, frame: &Value, findings: &mut Findings) {
        let Some(subtype) = text(frame, "subtype") else {
            return findings.add("no-subtype", "a system frame without `subtype`: expected one");
        };
        let id = text(frame, "task_id").unwrap_or_default();
        match subtype {
            "task_started" => {
                let run = text(frame, "run_id").map(str::to_owned);
                let again = self.started.insert(id.to_owned(), (run, false)).is_some();
                findings.expect(!again, "task-twice", || format!("task `{id}` started before: expected a new id"));
            }
            "task_progress" | "task_updated" | "task_notification" => self.goes_on(subtype, id, frame, findings),
            _ => {}
        }
    }

    fn goes_on(&mut self, subtype: &str, id: &str, frame: &Value, findings: &mut Findings) {
        let run = text(frame, "run_id");
        let Some((started, notified)) = self.started.get_mut(id) else {
            // What was left of a killed session is stopped by the next process: it started in another capture.
            let orphan = subtype == "task_notification" && text(frame, "status") == Some("stopped") && run.is_none();
            return findings
                .expect(orphan, "unknown-task", || format!("{subtype} of task `{id}`: expected a task that was started"));
        };
        findings.expect(run == started.as_deref(), "run-changed", || {
            format!("{subtype} of task `{id}` with run {run:?}: expected {started:?}, as it was started")
        });
        findings.expect(!*notified, "task-over", || {
            format!("{subtype} of task `{id}` after its notification: expected nothing more")
        });
        *notified |= subtype == "task_notification";
    }

    /// An agent's own frames name its task.
    pub(super) fn tagged(&self, frame: &Value, findings: &mut Findings) {
        if let Some(id) = text(frame, "agent_id") {
            let known = self.started.contains_key(id);
            findings.expect(known, "unknown-task", || format!("a frame of agent `{id}`: expected a task that was started"));
        }
    }
}
