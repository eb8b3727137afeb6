//! The session on disk: what a process writes, and what `--resume` finds.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{core::Core, ledger::Tokens};
use crate::{
    claude::{ids, sessions, skills},
    understudy::Files,
};

impl Core {
    /// The folder of the working directory's sessions.
    pub(super) fn project_dir(&self) -> String {
        format!("{}/projects/{}", self.args.env.config_dir, ids::slug(&self.launch.cwd))
    }

    /// The session's file.
    pub(super) fn session_file(&self) -> String {
        format!("{}/{}.jsonl", self.project_dir(), self.session)
    }

    /// The process reads its first line: the session is opened, then what was written early is taken.
    pub(super) fn boot(&mut self, files: &mut dyn Files) {
        self.booted = true;
        if let Some(profile) = skills::read(&self.profile, &self.launch.cwd, files) {
            self.profile = Arc::new(profile);
        }
        if let Some(id) = &self.args.resume {
            let path = format!("{}/{id}.jsonl", self.project_dir());
            self.to_open = Some(files.read(&path).map(|bytes| sessions::read(&bytes)));
        }
        for line in std::mem::take(&mut self.early) {
            self.line(&line);
        }
        self.leave_if_done();
    }

    /// Opens the session to resume. Nothing is said before the first line, not even that the session is missing.
    pub(super) fn open_session(&mut self) {
        let (Some(found), Some(id)) = (self.to_open.take(), self.args.resume.clone()) else { return };
        let Some(session) = found else {
            self.say_failed_start(&format!("No conversation found with session ID: {id}"));
            return;
        };
        if self.args.fork_session {
            if self.script.session_id.is_none() {
                self.session = self.uuid();
            }
        } else {
            self.session = id;
            for (model, spent) in &session.spent {
                self.ledger.carry(model, Tokens::of(spent), spent["dollars"].as_f64().unwrap_or(0.0));
            }
        }
        self.parent = session.last;
        self.had_turn = session.has_messages;
        if let Some(title) = session.title {
            self.say(json!({"type": "system", "subtype": "session_title_changed", "title": title}));
        }
        for (task, description) in session.orphans {
            self.say_orphan(&task, &description);
        }
    }

    /// An agent in the background that a killed process left behind.
    fn say_orphan(&mut self, task: &str, description: &str) {
        self.orphans = true;
        let file = self.output_file(task);
        self.say(json!({
            "type": "system", "subtype": "task_notification", "task_id": task, "status": "stopped", "output_file": file,
            "summary": format!("Background agent \"{description}\" didn't finish before the previous session ended"),
        }));
        let line = sessions::ended(task);
        self.append(line);
    }

    /// Writes a frame of the main thread into the session's file.
    pub(super) fn record(&mut self, frame: &Value, uuid: &str) {
        let line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.launch.cwd,
            "sessionId": self.session, "version": self.profile.version, "type": frame["type"], "message": frame["message"],
            "toolUseResult": frame["tool_use_result"], "uuid": uuid, "timestamp": self.stamp(),
        });
        self.parent = Some(uuid.to_owned());
        if frame["type"] == "assistant" {
            self.last_kept.push(uuid.to_owned());
        }
        self.append(line);
    }

    /// Writes what the session has cost, for the process that resumes it; a killed process never gets to it.
    pub(super) fn record_spent(&mut self) {
        if self.results > 0 {
            let line = json!({"type": "session-spent", "models": self.ledger.spent()});
            self.append(line);
        }
    }

    /// Writes the session's title.
    pub(super) fn record_title(&mut self, title: &str) {
        let line = json!({"type": "custom-title", "customTitle": title, "sessionId": self.session});
        self.append(line);
    }

    /// A line for the session's file.
    pub(super) fn append(&mut self, line: Value) {
        let path = self.session_file();
        self.write(path, format!("{line}\n"));
    }
}
