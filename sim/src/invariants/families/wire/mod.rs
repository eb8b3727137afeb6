//! What the host was told: every frame that reached its reader, genuine or not, and every line that it wrote, message by message.
//!
//! A rule over the order of a host's events needs to know what the host knew then. So nothing is left out here, other than in
//! the evidence, which speaks of the provider. Only Claude Code's wire is read.

mod facts;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use facts::*;
use serde_json::Value;

use super::frames;
use crate::{
    history::{Happening, History, UserAction, What},
    invariants::Moment,
    view::{Chat, JournalEntry},
};

/// What came of one moment: the happenings since the last one, and what each chat journaled.
pub(super) struct Look<'a> {
    /// Index of the first new happening.
    pub from: usize,
    /// The new happenings.
    pub happened: &'a [Happening],
    /// One batch a chat, also where nothing was journaled.
    pub batches: Vec<Batch<'a>>,
}

impl<'a> Look<'a> {
    /// The new happenings with their places in the history.
    pub fn happened(&self) -> impl Iterator<Item = (usize, &'a Happening)> + use<'a> {
        let from = self.from;
        self.happened.iter().enumerate().map(move |(place, happening)| (from + place, happening))
    }
}

/// What one chat journaled since the last look.
pub(super) struct Batch<'a> {
    /// The chat.
    pub chat: &'a Chat,
    /// Its new events, in order.
    pub entries: &'a [JournalEntry],
    /// The happenings that may have caused them.
    pub span: Span,
    /// Set when the journal became shorter: what was known of its order is void.
    pub rewound: bool,
}

/// A run of happenings, `from` included, `to` not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    /// First.
    pub from: usize,
    /// One past the last.
    pub to: usize,
}

impl Span {
    /// The only happening of the span that can be a cause; what the host itself does is none.
    pub fn only<'a>(&self, history: &'a History) -> Option<(usize, &'a Happening)> {
        let all = history.happenings.get(self.from..self.to)?;
        let mut causes = all.iter().enumerate().filter(|(_, happening)| {
            !matches!(happening.what, What::Spawned { .. } | What::Signal { by_host: true, .. } | What::Breach { .. })
        });
        let (place, happening) = causes.next()?;
        causes.next().is_none().then_some((self.from + place, happening))
    }

    /// The frame that alone can be the cause, and who said it.
    pub fn only_frame<'a>(&self, history: &'a History) -> Option<(usize, u32, &'a Value)> {
        match self.only(history)? {
            (index, Happening { what: What::Said { pid, frame, .. }, .. }) => Some((index, *pid, frame)),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Cursor {
    read: usize,
    /// First happening since when row changes are under way: an event that arrives now may stem from there.
    lag_from: Option<usize>,
}

/// Reads a run, moment by moment.
#[derive(Debug, Default)]
pub(super) struct Wire {
    seen: usize,
    cursors: BTreeMap<String, Cursor>,
    /// Processes by id.
    pub procs: BTreeMap<u32, Proc>,
    /// Messages that were written to a process, by id.
    pub messages: BTreeMap<String, Written>,
    /// Chats by id.
    pub chats: BTreeMap<String, ChatFacts>,
    /// Results, in the order said.
    pub results: Vec<Told>,
}

impl Wire {
    /// What is new at this moment. The facts do not hold it yet: see [`Wire::happened`] and [`Wire::wrote`].
    pub fn next<'a>(&mut self, moment: &Moment<'a>) -> Look<'a> {
        let all = &moment.history.happenings;
        let from = self.seen.min(all.len());
        self.seen = all.len();
        let mut batches = Vec::with_capacity(moment.view.chats.len());
        for chat in &moment.view.chats {
            let cursor = slot(&mut self.cursors, &chat.id);
            let rewound = chat.journal.len() < cursor.read;
            // A journal that was cut is read on from its new end: nothing is judged twice.
            let start = if rewound { chat.journal.len() } else { cursor.read };
            let span = Span { from: cursor.lag_from.unwrap_or(from), to: all.len() };
            batches.push(Batch { chat, entries: &chat.journal[start..], span, rewound });
            cursor.read = chat.journal.len();
            cursor.lag_from = if chat.delivery.rows > 0 { Some(span.from) } else { None };
            if rewound {
                self.chats.remove(&chat.id);
            }
        }
        if let Some(inside) = &moment.view.inside {
            for process in inside.processes.iter().rev() {
                // The world may not know for whom a process was started; the host does.
                match self.procs.get_mut(&process.pid) {
                    Some(proc) if proc.chat.is_some() => break,
                    Some(proc) => proc.chat = process.chat.clone(),
                    None => {}
                }
            }
        }
        Look { from, happened: &all[from..], batches }
    }

    /// Reads everything new at once, for rules that judge only afterwards.
    pub fn read<'a>(&mut self, moment: &Moment<'a>) -> Look<'a> {
        let look = self.next(moment);
        for (index, happening) in look.happened() {
            self.happened(index, happening);
        }
        for batch in &look.batches {
            for entry in batch.entries {
                self.wrote(batch, entry);
            }
        }
        look
    }

    /// The chat that a process serves.
    pub fn chat_of(&self, pid: u32) -> Option<&str> {
        self.procs.get(&pid)?.chat.as_deref()
    }

    /// Whether a frame of this process is Claude Code's, and for this chat.
    pub fn is_of(&self, pid: u32, chat: &str) -> bool {
        self.procs.get(&pid).is_some_and(|proc| proc.claude && proc.chat.as_deref() == Some(chat))
    }

    /// Facts of a chat.
    pub fn facts(&self, chat: &str) -> ChatFacts {
        self.chats.get(chat).copied().unwrap_or_default()
    }

    /// The result said at this happening.
    pub fn result_at(&self, index: usize) -> Option<&Told> {
        self.results.last().filter(|told| told.index == index)
    }

    /// Messages of a process that were written to it as steers and are waiting: neither taken nor given back.
    pub fn waiting<'s>(&'s self, pid: u32) -> impl Iterator<Item = &'s Written> {
        let order = self.procs.get(&pid).map(|proc| proc.order.as_slice()).unwrap_or_default();
        order.iter().filter_map(|id| self.messages.get(id)).filter(move |message| message.pid == pid && message.waits())
    }

    /// Processes that serve a chat.
    pub fn procs_of<'s>(&'s self, chat: &'s str) -> impl Iterator<Item = (u32, &'s Proc)> {
        let serving = self.procs.iter().filter(move |(_, proc)| proc.chat.as_deref() == Some(chat));
        serving.map(|(pid, proc)| (*pid, proc))
    }

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
            What::Signal { pid, by_host: true, .. } => self.over(index, *pid),
            _ => {}
        }
    }

    fn user(&mut self, index: usize, action: &UserAction) {
        let facts = slot(&mut self.chats, action.chat());
        match action {
            UserAction::Send { .. } => facts.asked = Some(index),
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
                if let Some(message) = frame["uuid"].as_str().and_then(|id| self.messages.get_mut(id)) {
                    if message.pid == pid {
                        message.take(index);
                    }
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

/// The value of a key, made where there is none.
pub(super) fn slot<'m, T: Default>(map: &'m mut BTreeMap<String, T>, key: &str) -> &'m mut T {
    if !map.contains_key(key) {
        map.insert(key.to_string(), T::default());
    }
    map.get_mut(key).expect("it was just made")
}
