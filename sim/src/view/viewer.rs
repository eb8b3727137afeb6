//! A viewer: takes the two feeds and keeps the view. It has no other source, and shares no code with the host: pill and rows
//! come by different ways and are computed apart.

use std::collections::BTreeMap;

use loro::LoroDoc;
use serde_json::Value;

use super::{
    decode,
    model::{
        Approval, Cause, Chat, Clock, Delivery, Entry, HostView, JournalEntry, Message, MessageState, Outcome, Part, Settle,
        Status, SubagentRow, Tab, Tool, Turn,
    },
    reconnect::{Before, unseen_turn},
};
use crate::host::Feed;

/// One viewer's documents and view.
#[derive(Default)]
pub struct Viewer {
    view: HostView,
    chats: BTreeMap<String, usize>,
    docs: BTreeMap<String, LoroDoc>,
    /// Documents that changed in this batch, with their chats.
    changed: Vec<(String, usize)>,
    /// Turns that a batch may open: chat → message that was handed on in it.
    sent: Vec<(usize, String)>,
    /// Set while a host that was started again serves everything anew: what the chats showed before, by index.
    pub(super) replaying: Option<BTreeMap<usize, Before>>,
}

impl Viewer {
    /// The view as it stands.
    pub fn view(&self) -> &HostView {
        &self.view
    }

    /// The view, to set its clock and its inside part.
    pub fn view_mut(&mut self) -> &mut HostView {
        &mut self.view
    }

    /// Takes one change. [`Viewer::settle`] ends the batch of one event.
    ///
    /// # Errors
    /// When update bytes are no Loro update: the host's document feed is broken.
    pub fn take(&mut self, clock: Clock, feed: Feed) -> Result<(), String> {
        match feed {
            Feed::Chat { chat, parent, session, last_message_at } => {
                let shown = self.chat(&chat);
                shown.parent = parent;
                shown.session = session.filter(|session| !session.is_empty());
                shown.last_message_at = last_message_at;
            }
            Feed::Session { chat, status, pill, completed_turns } => {
                let shown = self.chat(&chat);
                shown.status = status;
                shown.busy = matches!(status, Status::Working | Status::AwaitingInput);
                shown.pill = pill;
                shown.completed_turns = completed_turns;
            }
            Feed::Message { chat, message, text, state } => self.message(clock, &chat, message, text, state),
            Feed::Queue { chat, paused, messages } => {
                let chat = self.chat(&chat);
                (chat.queue, chat.queue_paused) = (messages, paused);
            }
            Feed::Input { chat, request, provider_request, open } => self.input(clock, &chat, request, provider_request, open),
            Feed::Journal { chat, seq, event } => self.journal(clock, &chat, seq, event),
            Feed::Doc { doc, chat, bytes } => {
                let index = self.index(&chat);
                let document = self.docs.entry(doc.clone()).or_default();
                document.import(&bytes).map_err(|error| format!("document {doc}: {error}"))?;
                if !self.changed.iter().any(|(known, _)| *known == doc) {
                    self.changed.push((doc, index));
                }
            }
        }
        Ok(())
    }

    /// Ends the batch of one event: documents are read again where they changed, turns that began are opened.
    pub fn settle(&mut self, clock: Clock) {
        self.cut_off(clock);
        for index in 0..self.view.chats.len() {
            self.open_turn(clock, index);
        }
        self.sent.clear();
    }

    /// Ends a batch whose rest never comes, since its host has ended: what is there is shown, and nothing is made of what may be
    /// missing.
    pub fn cut_off(&mut self, clock: Clock) {
        self.view.clock = clock;
        self.replayed();
        for (doc, index) in std::mem::take(&mut self.changed) {
            let Some(document) = self.docs.get(&doc) else { continue };
            let entries = decode::entries(document);
            let chat = &mut self.view.chats[index];
            if doc == chat.id {
                chat.transcript = entries;
            } else {
                match chat.tabs.iter_mut().find(|tab| tab.child == doc) {
                    Some(tab) => tab.entries = entries,
                    None => chat.tabs.push(Tab { child: doc, title: String::new(), entries }),
                }
            }
            rows(chat);
        }
    }

    /// Forgets documents and what a batch began.
    pub(super) fn forget(&mut self) {
        self.docs.clear();
        self.changed.clear();
        self.sent.clear();
    }

    /// Sets what was made and has not reached this viewer.
    pub fn delivery(&mut self, chat: &str, delivery: Delivery) {
        if let Some(index) = self.chats.get(chat) {
            self.view.chats[*index].delivery = delivery;
        }
    }

    fn index(&mut self, id: &str) -> usize {
        if let Some(index) = self.chats.get(id) {
            return *index;
        }
        let index = self.view.chats.len();
        self.view.chats.push(Chat { id: id.to_owned(), ..Chat::default() });
        self.chats.insert(id.to_owned(), index);
        index
    }

    fn chat(&mut self, id: &str) -> &mut Chat {
        let index = self.index(id);
        &mut self.view.chats[index]
    }

    fn message(&mut self, clock: Clock, chat: &str, id: String, text: String, state: MessageState) {
        let index = self.index(chat);
        let before = self.replaying.as_ref().and_then(|before| before.get(&index));
        let accepted_at = before.and_then(|before| before.accepted_at(&id)).unwrap_or(clock.mono);
        let replays = self.replaying.is_some();
        let shown = &mut self.view.chats[index];
        match shown.messages.iter_mut().find(|message| message.id == id) {
            Some(message) => (message.state, message.text) = (state, text),
            None => shown.messages.push(Message { id: id.clone(), text, accepted_at, state }),
        }
        if replays {
            return;
        }
        match state {
            MessageState::Sent => self.sent.push((index, id)),
            // A message that was given back before anything took it opened no turn after all.
            MessageState::Queued | MessageState::Withdrawn => {
                shown.turns.retain(|turn| {
                    !turn.settles.is_empty() || turn.cause != Cause::Message(id.clone()) || taken(&shown.journal, &id)
                });
            }
            MessageState::Delivered | MessageState::NotDelivered => {}
        }
    }

    fn input(&mut self, clock: Clock, chat: &str, id: String, provider_request: String, open: bool) {
        let replays = self.replaying.is_some();
        let shown = self.chat(chat);
        if replays && shown.approvals.iter().any(|approval| approval.id == id && approval.closed_at.is_some()) && !open {
            return;
        }
        let position = shown.approvals.iter().position(|approval| approval.id == id).unwrap_or_else(|| {
            shown.approvals.push(Approval {
                id,
                provider_request,
                opened_at: clock.mono,
                closed_at: None,
                openings: 0,
                closings: 0,
            });
            shown.approvals.len() - 1
        });
        let approval = &mut shown.approvals[position];
        if open {
            approval.openings += 1;
        } else {
            approval.closings += 1;
            approval.closed_at = Some(clock.mono);
        }
    }

    fn journal(&mut self, clock: Clock, chat: &str, seq: u64, event: Value) {
        let index = self.index(chat);
        let mut row = JournalEntry { at: clock.mono, seq, event };
        let before = self.replaying.as_ref().and_then(|before| before.get(&index));
        if let Some(at) = before.and_then(|before| before.row_came_at(&row)) {
            row.at = at;
            self.view.chats[index].journal.push(row);
            return;
        }
        let event = &row.event;
        if event["type"].as_str() == Some("done") {
            self.open_turn(clock, index);
            let chat = &mut self.view.chats[index];
            let settle = Settle {
                at: clock.mono,
                outcome: match event["status"].as_str() {
                    Some("completed") => Outcome::Completed,
                    Some("interrupted") => Outcome::Interrupted,
                    _ => Outcome::Failed,
                },
                error: event["error"].as_str().map(str::to_owned),
                synthetic: event["synthetic"].as_str().map(str::to_owned),
            };
            // Without an open turn it is a second end of the last one, or an end of nothing.
            let open = chat.turns.iter().position(|turn| turn.settles.is_empty());
            // A message that is still only sent waits for another run: what ends before it is work that nobody asked for.
            let waits = |turn: &Turn| {
                chat.messages
                    .iter()
                    .any(|message| message.state == MessageState::Sent && turn.cause == Cause::Message(message.id.clone()))
            };
            if let Some(at) = open.filter(|at| waits(&chat.turns[*at])) {
                let wake = Turn { cause: Cause::Wake, ..chat.turns[at].clone() };
                chat.turns[at].number += 1;
                chat.turns.insert(at, wake);
            }
            if self.replaying.is_some() && open.is_none() {
                let turn = unseen_turn(chat, clock, settle);
                chat.turns.push(turn);
                chat.journal.push(row);
                return;
            }
            match open.or(chat.turns.len().checked_sub(1)) {
                Some(at) => chat.turns[at].settles.push(settle),
                None => chat.turns.push(Turn { number: 1, cause: Cause::Wake, accepted_at: clock.mono, settles: vec![settle] }),
            }
        }
        self.view.chats[index].journal.push(row);
    }

    /// A turn is open from the message that was handed on, or from the host's Working when nobody asked for it.
    fn open_turn(&mut self, clock: Clock, index: usize) {
        let sent: Vec<String> = self.sent.iter().filter(|(chat, _)| *chat == index).map(|(_, message)| message.clone()).collect();
        let chat = &mut self.view.chats[index];
        if chat.turns.iter().any(|turn| turn.settles.is_empty()) {
            return;
        }
        let state = |id: &str| chat.messages.iter().find(|message| message.id == id).map(|message| message.state);
        let cause = sent
            .into_iter()
            .find(|id| state(id) != Some(MessageState::Withdrawn) && state(id) != Some(MessageState::Queued))
            .or_else(|| {
                chat.messages.iter().find(|message| message.state == MessageState::Sent).map(|message| message.id.clone())
            })
            .filter(|id| !chat.turns.iter().any(|turn| turn.cause == Cause::Message(id.clone())))
            .map(Cause::Message);
        let cause = match (cause, chat.busy) {
            (Some(cause), _) => cause,
            (None, true) => Cause::Wake,
            (None, false) => return,
        };
        let number = chat.turns.len() as u64 + 1;
        chat.turns.push(Turn { number, cause, accepted_at: clock.mono, settles: Vec::new() });
    }
}

/// Whether the host said that a message was taken.
pub(super) fn taken(journal: &[JournalEntry], message: &str) -> bool {
    journal.iter().any(|entry| entry.event["type"] == "steered" && entry.event["messageId"] == message)
}

/// Rows of the session card: chips that carry a document, by document, the last occurrence counts. Shown titles are numbered in
/// transcript order over the whole chat.
fn rows(chat: &mut Chat) {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut rows: Vec<SubagentRow> = Vec::new();
    for tool in chips(&chat.transcript) {
        let count = counts.entry(tool.name.clone()).or_default();
        *count += 1;
        let title = if *count == 1 { tool.name.clone() } else { format!("{}#{count}", tool.name) };
        let (Some(child), Some(state)) = (&tool.child, tool.child_state) else { continue };
        let row = SubagentRow { child: child.clone(), chip: tool.id.clone(), title, state };
        rows.retain(|known| known.child != row.child);
        rows.push(row);
    }
    for tab in &mut chat.tabs {
        if let Some(row) = rows.iter().find(|row| row.child == tab.child) {
            tab.title.clone_from(&row.title);
        }
    }
    chat.rows = rows;
}

/// Tool parts that stand for a subagent spawn.
fn chips(transcript: &[Entry]) -> impl Iterator<Item = &Tool> {
    transcript.iter().flat_map(|entry| &entry.parts).filter_map(|part| match part {
        Part::Tool(tool) if tool.name == "Agent" || tool.name.starts_with("Agent: ") => Some(tool),
        _ => None,
    })
}
