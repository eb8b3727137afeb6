//! A stub host, told step by step: what the world did, and what the viewer saw of it. Each invariant has a test with a sound stub
//! and one with a single thing broken.
//!
//! A happening (`send`, `said`, `heard`, `later` …) opens a new moment, whose view starts as a copy of the one before; the calls
//! that follow change the view of that moment. Every moment is looked at in order, as the stage does.
//!
//! ```text
//! Stub::new()
//!     .send("m1", "hi").accept("m1").spawned(&["claude"])
//!     .heard(user("m1", "hi"))
//!     .said(json!({"type": "result", …})).deliver("m1").settle(Outcome::Completed)
//!     .rest()
//! ```

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Found, Invariant, Moment};
use crate::{
    history::{Happening, History, UserAction, What},
    view::*,
};

/// The chat that every call is about, unless `on` names another.
pub const CHAT: &str = "chat-1";
/// The process that every call is about, unless `with_pid` names another.
pub const PID: u32 = 1;

struct Seen {
    view: HostView,
    happenings: usize,
    at_rest: bool,
}

/// A run of a host, told in moments.
pub struct Stub {
    history: History,
    moments: Vec<Seen>,
    now: u64,
    chat: String,
    pid: u32,
}

impl Default for Stub {
    fn default() -> Self {
        Stub::new()
    }
}

impl Stub {
    /// One chat with nothing in it, nothing running.
    pub fn new() -> Self {
        let chat = Chat { id: CHAT.to_string(), ..Chat::default() };
        let view = HostView { chats: vec![chat], inside: Some(Inside::default()), ..HostView::default() };
        let moments = vec![Seen { view, happenings: 0, at_rest: false }];
        Stub { history: History::default(), moments, now: 0, chat: CHAT.to_string(), pid: PID }
    }

    // --- the world -----------------------------------------------------------------------------------------------------------

    /// What happens next happens this much later; alone it is a due timer of the host.
    pub fn later(mut self, ms: u64) -> Self {
        self.now += ms.saturating_sub(1);
        self.happens(What::HostTimer { key: "stub".to_string() })
    }

    /// Any happening, one ms after the last.
    pub fn happens(mut self, what: What) -> Self {
        self.now += 1;
        self.history.happenings.push(Happening { at: self.now, what });
        let mut view = self.moments.last().expect("there is a first moment").view.clone();
        view.clock.mono = self.now;
        self.moments.push(Seen { view, happenings: self.history.happenings.len(), at_rest: false });
        self
    }

    /// A happening of the same moment as the last one: both are looked at together.
    pub fn at_once(mut self, what: What) -> Self {
        self.history.happenings.push(Happening { at: self.now, what });
        self.moments.last_mut().expect("there is a first moment").happenings = self.history.happenings.len();
        self
    }

    /// The user sends a message; the host has not reacted yet (see `accept`).
    pub fn send(self, message: &str, text: &str) -> Self {
        let (chat, message, text) = (self.chat.clone(), message.to_string(), text.to_string());
        self.happens(What::User(UserAction::Send { chat, message, text }))
    }

    /// The user does something else.
    pub fn user(self, action: UserAction) -> Self {
        self.happens(What::User(action))
    }

    /// The user stops the chat.
    pub fn stop(self) -> Self {
        let chat = self.chat.clone();
        self.user(UserAction::Stop { chat })
    }

    /// The host starts the process for the chat; it stands in the inside view, alive and leased.
    pub fn spawned(self, argv: &[&str]) -> Self {
        let argv: Vec<String> = argv.iter().map(|word| word.to_string()).collect();
        let (pid, chat) = (self.pid, Some(self.chat.clone()));
        let stub = self.happens(What::Spawned { pid, chat: chat.clone(), argv: argv.clone() });
        let started_at = stub.now;
        stub.inside(|inside| {
            let state = ProcessState::Alive;
            inside.processes.push(Process { pid, chat, argv, started_at, state, leased: true, signals: Vec::new() });
        })
    }

    /// The process says a frame.
    pub fn said(self, frame: Value) -> Self {
        let (pid, label) = (self.pid, String::new());
        self.happens(What::Said { pid, frame, label, genuine: true })
    }

    /// The plan puts a frame in that no provider said so.
    pub fn said_falsely(self, frame: Value) -> Self {
        let (pid, label) = (self.pid, String::new());
        self.happens(What::Said { pid, frame, label, genuine: false })
    }

    /// The process reads a line of the host.
    pub fn heard(self, frame: Value) -> Self {
        let pid = self.pid;
        self.happens(What::Heard { pid, frame })
    }

    /// The process ends; the host has reaped it.
    pub fn exited(self, code: i32) -> Self {
        let pid = self.pid;
        let stub = self.happens(What::Exited { pid, code: Some(code), signal: None });
        stub.inside(|inside| {
            for process in inside.processes.iter_mut().filter(|process| process.pid == pid) {
                (process.state, process.leased) = (ProcessState::Reaped, false);
            }
        })
    }

    /// Nothing is to come any more.
    pub fn rest(mut self) -> Self {
        self = self.happens(What::Rest);
        self.moments.last_mut().expect("just pushed").at_rest = true;
        self
    }

    /// The plan's faults are a broken provider's.
    pub fn broken_provider(mut self) -> Self {
        self.history.broken_provider = true;
        self
    }

    // --- the viewer ----------------------------------------------------------------------------------------------------------

    /// What comes now is about this chat; a new one appears in the view.
    pub fn on(mut self, chat: &str) -> Self {
        self.chat = chat.to_string();
        let view = &mut self.moments.last_mut().expect("there is a first moment").view;
        if view.chat(chat).is_none() {
            view.chats.push(Chat { id: chat.to_string(), ..Chat::default() });
        }
        self
    }

    /// What comes now is about this process.
    pub fn with_pid(mut self, pid: u32) -> Self {
        self.pid = pid;
        self
    }

    /// Changes what the viewer sees of the chat at this moment.
    pub fn view(mut self, change: impl FnOnce(&mut Chat)) -> Self {
        let name = self.chat.clone();
        let view = &mut self.moments.last_mut().expect("there is a first moment").view;
        change(view.chats.iter_mut().find(|chat| chat.id == name).expect("`on` made the chat"));
        self
    }

    /// Changes the inside view at this moment.
    pub fn inside(mut self, change: impl FnOnce(&mut Inside)) -> Self {
        let view = &mut self.moments.last_mut().expect("there is a first moment").view;
        change(view.inside.get_or_insert_default());
        self
    }

    /// From now on the host shows nothing of its inside.
    pub fn closed(mut self) -> Self {
        self.moments.last_mut().expect("there is a first moment").view.inside = None;
        self
    }

    /// The host takes the message that the user sent last: it is shown, with its entry, and opens a turn unless one is open.
    pub fn accept(self, message: &str) -> Self {
        let text = self.text_of(message);
        let at = self.now;
        self.view(|chat| {
            let state = MessageState::Sent;
            chat.messages.push(Message { id: message.to_string(), text: text.clone(), accepted_at: at, state });
            chat.transcript.push(Entry {
                id: message.to_string(),
                role: "user".to_string(),
                state: EntryState::Complete,
                parts: vec![Part::Text { key: None, text }],
            });
            if chat.open_turn().is_none() {
                open(chat, Cause::Message(message.to_string()), at);
            }
        })
    }

    /// The provider's own work opens a turn.
    pub fn wake(self) -> Self {
        let at = self.now;
        self.view(|chat| open(chat, Cause::Wake, at))
    }

    /// The message is shown in this state.
    pub fn message(self, id: &str, state: MessageState) -> Self {
        self.view(|chat| {
            chat.messages.iter_mut().find(|message| message.id == id).expect("`accept` showed the message").state = state;
        })
    }

    /// The message is shown as taken.
    pub fn deliver(self, id: &str) -> Self {
        self.message(id, MessageState::Delivered)
    }

    /// The open turn settles; its entries and unresolved tools close with it.
    pub fn settle(self, outcome: Outcome) -> Self {
        let at = self.now;
        self.view(|chat| {
            let error = (outcome == Outcome::Failed).then(|| "the provider said so".to_string());
            let turn = chat.turns.iter_mut().find(|turn| turn.settles.is_empty()).expect("a turn is open");
            turn.settles.push(Settle { at, outcome, error, synthetic: None });
            chat.busy = false;
            chat.status = if outcome == Outcome::Failed { Status::Failed } else { Status::Idle };
            for entry in chat.transcript.iter_mut().filter(|entry| entry.state == EntryState::Streaming) {
                entry.state = if outcome == Outcome::Interrupted { EntryState::Aborted } else { EntryState::Complete };
            }
        })
    }

    /// The host journals an event.
    pub fn journal(self, event: Value) -> Self {
        let at = self.now;
        self.view(|chat| {
            let seq = chat.journal.len() as u64 + 1;
            chat.journal.push(JournalEntry { at, seq, event });
        })
    }

    /// A part is appended to the reply being written; a new entry is opened where none is.
    pub fn part(self, part: Part) -> Self {
        self.view(|chat| append(&mut chat.transcript, "assistant", part))
    }

    /// Text is appended to the reply.
    pub fn text(self, text: &str) -> Self {
        self.part(Part::Text { key: None, text: text.to_string() })
    }

    /// A tool call appears in the reply, unresolved.
    pub fn tool(self, id: &str, name: &str) -> Self {
        self.part(Part::Tool(tool(id, name)))
    }

    /// The tool's result came.
    pub fn resolved(self, id: &str, is_error: bool) -> Self {
        self.view(|chat| change_tool(chat, id, |tool| (tool.resolved, tool.is_error) = (true, is_error)))
    }

    /// A chip gets its document, row and place in the pill: the child runs. The tool part must be there.
    pub fn row(self, chip: &str, title: &str) -> Self {
        self.view(|chat| {
            let child = format!("{}--sub--{chip}", chat.id);
            change_tool(chat, chip, |tool| {
                (tool.child, tool.child_state) = (Some(child.clone()), Some(ChildState::Running));
            });
            let state = ChildState::Running;
            chat.rows.push(SubagentRow { child: child.clone(), chip: chip.to_string(), title: title.to_string(), state });
            chat.tabs.push(Tab { child, title: title.to_string(), entries: Vec::new() });
            chat.pill = chat.running_rows();
        })
    }

    /// The child settles: row, chip and pill change together.
    pub fn row_is(self, chip: &str, state: ChildState) -> Self {
        self.view(|chat| {
            change_tool(chat, chip, |tool| tool.child_state = Some(state));
            chat.rows.iter_mut().find(|row| row.chip == chip).expect("`row` made it").state = state;
            chat.pill = chat.running_rows();
        })
    }

    /// A part is appended to the tab of a chip, in an entry of this role.
    pub fn tab_part(self, chip: &str, role: &str, part: Part) -> Self {
        self.view(|chat| {
            let child = format!("{}--sub--{chip}", chat.id);
            let tab = chat.tabs.iter_mut().find(|tab| tab.child == child).expect("`row` made the tab");
            append(&mut tab.entries, role, part);
        })
    }

    /// Text is appended to the tab of a chip.
    pub fn tab_text(self, chip: &str, role: &str, text: &str) -> Self {
        self.tab_part(chip, role, Part::Text { key: None, text: text.to_string() })
    }

    fn text_of(&self, wanted: &str) -> String {
        let sent = self.history.happenings.iter().find_map(|happening| match &happening.what {
            What::User(UserAction::Send { message, text, .. } | UserAction::SendNow { message, text, .. })
                if message == wanted =>
            {
                Some(text.clone())
            }
            _ => None,
        });
        sent.expect("the message was sent")
    }

    // --- judging -------------------------------------------------------------------------------------------------------------

    /// Shows every moment to one invariant.
    pub fn judge(&self, invariant: &mut dyn Invariant) -> Found {
        let mut found = Found::default();
        self.each_moment(|moment, at_rest| {
            invariant.look(moment, &mut found);
            if at_rest {
                invariant.at_rest(moment, &mut found);
            }
        });
        found
    }

    fn each_moment(&self, mut look: impl FnMut(&Moment<'_>, bool)) {
        for seen in &self.moments {
            let happenings = self.history.happenings[..seen.happenings].to_vec();
            let history = History { happenings, ..self.history.clone() };
            look(&Moment { at: seen.view.clock.mono, view: &seen.view, history: &history }, seen.at_rest);
        }
    }

    /// Asserts that the invariant of this id had something to judge and found no fault, and that none of the others found one.
    pub fn holds(&self, all: Vec<Box<dyn Invariant>>, id: &str) {
        let faults = self.faults(all, id);
        assert!(faults.is_empty(), "a sound host was accused: {faults:#?}");
    }

    /// Asserts that exactly the named invariants, of all given, find this host at fault.
    pub fn breaks(&self, all: Vec<Box<dyn Invariant>>, ids: &[&'static str]) {
        let faults = self.faults(all, ids[0]);
        let named: BTreeSet<&str> = faults.iter().map(|(id, _)| *id).collect();
        assert_eq!(named, ids.iter().copied().collect(), "{faults:#?}");
    }

    /// Shows every moment to all, one moment after the other as the stage does: judges may share what they remember.
    fn faults(&self, mut all: Vec<Box<dyn Invariant>>, judged: &str) -> Vec<(&'static str, String)> {
        let mut found: Vec<Found> = all.iter().map(|_| Found::default()).collect();
        self.each_moment(|moment, at_rest| {
            for (invariant, found) in all.iter_mut().zip(&mut found) {
                invariant.look(moment, found);
                if at_rest {
                    invariant.at_rest(moment, found);
                }
            }
        });
        let place = all.iter().position(|invariant| invariant.id() == judged);
        let checked = found[place.unwrap_or_else(|| panic!("no invariant {judged}"))].checked;
        assert!(checked > 0, "{judged} had nothing to judge");
        let violations = found.into_iter().flat_map(|found| found.violations);
        violations.map(|violation| (violation.invariant, violation.message)).collect()
    }
}

/// The user line that a host writes for a message.
pub fn user(uuid: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "session_id": "", "parent_tool_use_id": null,
           "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

/// An unresolved tool part.
pub fn tool(id: &str, name: &str) -> Tool {
    let (resolved, is_error) = (false, false);
    Tool { id: id.to_string(), name: name.to_string(), resolved, is_error, child: None, child_state: None }
}

fn open(chat: &mut Chat, cause: Cause, at: u64) {
    let number = chat.turns.len() as u64 + 1;
    chat.turns.push(Turn { number, cause, accepted_at: at, settles: Vec::new() });
    (chat.busy, chat.status) = (true, Status::Working);
}

fn append(entries: &mut Vec<Entry>, role: &str, part: Part) {
    let open = entries.last().is_some_and(|entry| entry.role == role && entry.state == EntryState::Streaming);
    if !open {
        let id = format!("{role}-{}", entries.len());
        let state = if role == "user" { EntryState::Complete } else { EntryState::Streaming };
        entries.push(Entry { id, role: role.to_string(), state, parts: Vec::new() });
    }
    entries.last_mut().expect("just pushed").parts.push(part);
}

fn change_tool(chat: &mut Chat, id: &str, change: impl FnOnce(&mut Tool)) {
    let parts = chat.transcript.iter_mut().flat_map(|entry| &mut entry.parts);
    let tool = parts.filter_map(|part| match part {
        Part::Tool(tool) if tool.id == id => Some(tool),
        _ => None,
    });
    change(tool.last().expect("`tool` made the part"));
}
