//! How each happening and each event of the journal changes the facts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{super::frames, Batch, Owner, Proc, Settled, Told, Wire, Written, slot};
use crate::{
    history::{Happening, UserAction, What},
    view::JournalEntry,
};

impl Wire {
    /// Takes in one happening.
    pub fn happened(&mut self, index: usize, happening: &Happening) {
        match &happening.what {
            What::User(action) => self.user(index, action),
            What::Spawned { pid, chat, argv } => {
                self.procs.insert(*pid, Proc::new(chat.clone(), argv));
                if let Some(chat) = chat {
                    slot(&mut self.chats, chat).asked = Some(index);
                }
            }
            What::Said { pid, frame, genuine, .. } => self.said(index, happening.at, *pid, frame, *genuine),
            What::Heard { pid, frame } => self.heard(index, *pid, frame),
            What::PipeEnd { pid, pipe } if pipe == "stdout" => self.gone(index, *pid),
            What::Exited { pid, .. } => self.gone(index, *pid),
            What::HostEnded { .. } => {
                let left: Vec<u32> = self.procs.keys().copied().collect();
                left.into_iter().for_each(|pid| self.gone(index, pid));
            }
            What::Signal { pid, by_host: true, .. } => self.over(index, *pid),
            _ => {}
        }
    }

    fn user(&mut self, index: usize, action: &UserAction) {
        let facts = slot(&mut self.chats, action.chat());
        match action {
            UserAction::Send { .. } | UserAction::Queue { .. } => facts.asked = Some(index),
            UserAction::SendNow { .. } => {
                (facts.asked, facts.stopped) = (Some(index), Some(index));
                self.take_back(index, action.chat());
            }
            UserAction::StopTurn { .. } => {
                facts.stopped = Some(index);
                self.take_back(index, action.chat());
            }
            UserAction::Stop { .. } => {
                facts.stopped = Some(index);
                self.take_back(index, action.chat());
                for proc in self.procs.values_mut().filter(|proc| proc.chat.as_deref() == Some(action.chat())) {
                    proc.over.get_or_insert(index);
                }
            }
            UserAction::Withdraw { message, .. } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.taken_back.get_or_insert(index);
                }
            }
            // A queued message was handed to nobody.
            UserAction::Edit { .. } => {}
            // Deny-and-stop is an answer that may end the turn.
            UserAction::Answer { .. } => facts.stopped = Some(index),
            UserAction::Close { .. } => {}
        }
    }

    fn take_back(&mut self, index: usize, chat: &str) {
        for message in self.messages.values_mut() {
            if message.waits() && self.procs.get(&message.pid).is_some_and(|proc| proc.chat.as_deref() == Some(chat)) {
                message.taken_back = Some(index);
            }
        }
    }

    fn gone(&mut self, index: usize, pid: u32) {
        self.over(index, pid);
        let Some(proc) = self.procs.get_mut(&pid) else { return };
        proc.gone.get_or_insert(index);
        if let Some(chat) = &proc.chat {
            slot(&mut self.chats, chat).gone = Some(index);
        }
    }

    fn over(&mut self, index: usize, pid: u32) {
        if let Some(proc) = self.procs.get_mut(&pid) {
            proc.over.get_or_insert(index);
        }
    }

    fn heard(&mut self, index: usize, pid: u32, frame: &Value) {
        let Some(proc) = self.procs.get_mut(&pid) else { return };
        if frames::kind(frame) == "control_request" {
            // A message that the host asks back may be given back, or be taken all the same.
            if let Some(message) = frame["request"]["message_uuid"].as_str().and_then(|id| self.messages.get_mut(id)) {
                message.taken_back.get_or_insert(index);
            }
            return;
        }
        if frames::kind(frame) != "user" {
            return;
        }
        if let Some(chat) = &proc.chat {
            slot(&mut self.chats, chat).asked = Some(index);
        }
        let first = !std::mem::replace(&mut proc.prompted, true);
        let Some(id) = frame["uuid"].as_str() else { return };
        proc.order.push(id.to_string());
        let place = proc.order.len();
        let steered = self.messages.get(id).map_or(0, |message| message.steered);
        let written = Written { pid, heard: index, place, first, steered, ..Written::new(id) };
        self.messages.insert(id.to_string(), written);
    }

    fn said(&mut self, index: usize, at: u64, pid: u32, frame: &Value, genuine: bool) {
        let Some(proc) = self.procs.get_mut(&pid).filter(|proc| proc.claude) else {
            // A wire that is not read here: anything may be content.
            if let Some(chat) = self.procs.get(&pid).and_then(|proc| proc.chat.as_deref()) {
                slot(&mut self.chats, chat).unread = Some(index);
            }
            return;
        };
        let shown = proc.shows(frame);
        if let (Some(chat), true) = (&proc.chat, shown) {
            let facts = slot(&mut self.chats, chat);
            facts.visible = Some(index);
            if !genuine {
                facts.unread = Some(index);
            }
        }
        if let Some((id, state)) = frames::lifecycle(frame) {
            if let Some(message) = self.messages.get_mut(id).filter(|message| message.pid == pid) {
                match state {
                    "queued" => _ = message.queued.get_or_insert(index),
                    "started" | "completed" => message.take(index),
                    "cancelled" | "canceled" | "failed" if message.taken.is_none() => {
                        message.cancelled.get_or_insert(index);
                    }
                    _ => {}
                }
            }
            return;
        }
        match frames::kind(frame) {
            "user" if frame["isReplay"].as_bool() == Some(true) && frames::tag(frame).is_none() => {
                if let Some(message) = frame["uuid"].as_str().and_then(|id| self.messages.get_mut(id))
                    && message.pid == pid
                {
                    message.take(index);
                }
            }
            "result" => self.result(index, at, pid, frame),
            _ => {}
        }
    }

    fn result(&mut self, index: usize, at: u64, pid: u32, frame: &Value) {
        let named: BTreeSet<&str> = frames::named(frame).collect();
        let mut mine: Vec<String> = Vec::new();
        let (mut open, mut unsure) = (false, false);
        for id in &named {
            let Some(message) = self.messages.get(*id).filter(|message| message.pid == pid) else { continue };
            mine.push(message.id.clone());
            open |= message.ended.is_none();
            unsure |= message.ended.is_none() && (message.taken_back.is_some() || message.cancelled.is_some());
        }
        let owner = match (mine.is_empty(), open) {
            (false, _) if unsure => Owner::Unsure,
            (false, true) => Owner::Messages,
            (false, false) => Owner::Late,
            (true, _) if !named.is_empty() || !frame["origin"].is_null() => Owner::Process,
            (true, _) => Owner::Nobody,
        };
        for id in &mine {
            let Some(message) = self.messages.get_mut(id) else { continue };
            if message.cancelled.is_none() {
                message.take(index);
            }
            message.ended.get_or_insert(index);
        }
        let is_error = frame["is_error"].as_bool() != Some(false) || frame["subtype"].as_str() != Some("success");
        let cut = frame["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted_"));
        self.results.push(Told { index, at, pid, mine, owner, failed: is_error && !cut, clean: !is_error && !cut });
    }

    /// Takes in one event of the journal.
    pub fn wrote(&mut self, batch: &Batch<'_>, entry: &JournalEntry) {
        let (chat, span, event) = (batch.chat.id.as_str(), batch.span, &entry.event);
        let facts = slot(&mut self.chats, chat);
        if frames::opens(event) {
            facts.opened = true;
        }
        match frames::kind(event) {
            "steered" => {
                facts.boundary = Some(span);
                facts.steers += 1;
                if let Some(message) = event["messageId"].as_str().and_then(|id| self.messages.get_mut(id)) {
                    message.steered += 1;
                    message.steered_at = Some(span);
                    facts.own = Some(span.to);
                }
            }
            "done" => {
                let done = Settled::read(entry, span);
                facts.done = Some(done);
                facts.dones += 1;
                (facts.boundary, facts.opened, facts.steers, facts.own) = (Some(span), false, 0, None);
                let ends_run = done.errored || matches!(event["synthetic"].as_str(), Some("interrupt-deadline" | "stream-end"));
                for message in self.messages.values_mut() {
                    let proc = self.procs.get_mut(&message.pid).filter(|proc| proc.chat.as_deref() == Some(chat));
                    let Some(proc) = proc else { continue };
                    if (message.first && message.heard < span.from) || message.steered > 0 {
                        message.ended.get_or_insert(span.to);
                    }
                    if ends_run {
                        proc.over.get_or_insert(span.to);
                    }
                }
            }
            _ => {}
        }
    }
}
