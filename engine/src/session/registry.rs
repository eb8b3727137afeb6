//! The registry row of a chat: claimed by a command, filled in by its create record, promoted, named, put away.

use serde_json::{Value, json};

use super::{chat::Chat, run::Phase};
use crate::{
    chat::read::Part,
    core::{
        hub::Hub,
        input::{ChatSpec, Parent},
    },
    feed::Status,
};

impl Chat {
    /// The record that creates a chat whose row a command has claimed: it states the parent, and brings the configuration. The
    /// directory of the claim stays: the session was begun in it. A record that comes again changes nothing.
    pub fn created(&mut self, hub: &mut Hub, record: ChatSpec) {
        if self.row.parent != Parent::Unknown || record.parent == Parent::Unknown {
            return;
        }
        let claimed = std::mem::take(&mut self.spec);
        let cwd = if claimed.cwd.is_empty() { record.cwd.clone() } else { claimed.cwd };
        self.spec = ChatSpec {
            cwd,
            model: claimed.model.or(record.model),
            effort: claimed.effort.or(record.effort),
            resume: claimed.resume.or(record.resume),
            ..record
        };
        self.row.cwd.clone_from(&self.spec.cwd);
        if self.row.harness_session_id.is_none() {
            self.row.harness_session_id.clone_from(&self.spec.resume);
        }
        self.set_parent(hub, self.spec.parent.clone());
    }

    /// A side chat becomes a chat of its own.
    pub fn promote(&mut self, hub: &mut Hub) {
        self.set_parent(hub, Parent::None);
    }

    fn set_parent(&mut self, hub: &mut Hub, parent: Parent) {
        hub.require_commit();
        self.spec.parent = parent.clone();
        hub.config(&self.spec);
        self.row.parent = parent;
        hub.chat(&self.row);
    }

    /// Gives the chat a title; none leaves it without.
    pub fn name(&mut self, hub: &mut Hub, title: Option<String>) {
        if title.is_some() {
            hub.require_commit();
            self.row.title = title;
            hub.chat(&self.row);
        }
    }

    /// Puts the chat away.
    pub fn archive(&mut self, hub: &mut Hub) {
        hub.require_commit();
        self.row.archived = true;
        hub.chat(&self.row);
    }

    /// The chat that it is a side chat of.
    pub fn parent(&self) -> &Parent {
        &self.row.parent
    }

    /// Its configuration.
    pub fn spec(&self) -> &ChatSpec {
        &self.spec
    }

    /// Whether a turn runs that a message could steer.
    pub fn has_turn(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.phase == Phase::Running && !run.killed)
    }

    /// Whether this question is open.
    pub fn asks(&self, request: &str) -> bool {
        self.run.as_ref().is_some_and(|run| run.inputs.contains_key(request))
    }

    /// When somebody issued a message that is to be sent, wall clock in ms.
    pub fn issued_at(&mut self, message: &str, at: u64) {
        self.issued.insert(message.to_owned(), at);
    }

    /// What its row shows.
    pub fn status_shown(&self) -> Status {
        self.session.status
    }

    /// The last entries as an agent reads them: who said it, and the words. Thinking and tools stay with whoever had them.
    pub fn read(&self, entries: usize) -> Value {
        let all = self.doc.entries();
        let last = all.iter().skip(all.len().saturating_sub(entries));
        let shown: Vec<Value> = last
            .map(|entry| {
                let words = entry.parts.iter().filter_map(|part| match part {
                    Part::Text { text, .. } | Part::Error { message: text } => Some(text.trim()),
                    _ => None,
                });
                let text = words.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
                json!({"role": entry.role.as_str(), "status": entry.status.as_str(), "text": text})
            })
            .collect();
        json!({"chat_id": self.id, "title": self.row.title, "status": self.session.status, "entries": shown})
    }
}
