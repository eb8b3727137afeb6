//! What the host was told: every frame that reached its reader, genuine or not, and every line that it wrote, message by message.
//!
//! A rule over the order of a host's events needs to know what the host knew then. So nothing is left out here, other than in
//! the evidence, which speaks of the provider. Only Claude Code's wire is read.

mod facts;
mod take;

use std::collections::BTreeMap;

pub(super) use facts::*;
use serde_json::Value;

use crate::{
    history::{Happening, History, What},
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
    /// Set when the journal was served anew or became shorter: what was known of its order is void.
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
        // A host that was started again serves its journal anew: no happening of this moment caused what it says.
        let anew = all[from..].iter().any(|happening| matches!(happening.what, What::HostStarted));
        let mut batches = Vec::with_capacity(moment.view.chats.len());
        for chat in &moment.view.chats {
            let cursor = slot(&mut self.cursors, &chat.id);
            let rewound = anew || chat.journal.len() < cursor.read;
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
    pub fn waiting(&self, pid: u32) -> impl Iterator<Item = &Written> {
        let order = self.procs.get(&pid).map(|proc| proc.order.as_slice()).unwrap_or_default();
        order.iter().filter_map(|id| self.messages.get(id)).filter(move |message| message.pid == pid && message.waits())
    }

    /// Processes that serve a chat.
    pub fn procs_of<'s>(&'s self, chat: &'s str) -> impl Iterator<Item = (u32, &'s Proc)> {
        let serving = self.procs.iter().filter(move |(_, proc)| proc.chat.as_deref() == Some(chat));
        serving.map(|(pid, proc)| (*pid, proc))
    }
}

/// The value of a key, made where there is none.
pub(super) fn slot<'m, T: Default>(map: &'m mut BTreeMap<String, T>, key: &str) -> &'m mut T {
    if !map.contains_key(key) {
        map.insert(key.to_string(), T::default());
    }
    map.get_mut(key).expect("it was just made")
}
