//! I13 and the second half of I10: the end states of two runs are the same.

use std::collections::BTreeMap;

use crate::{
    invariants::{Found, Invariant, Moment},
    view::{Cause, Chat, Entry, EntryState, HostView, Part},
};

/// I13. A single run has nothing to judge: `compare` judges the final views of two.
pub struct Order;

impl Invariant for Order {
    fn id(&self) -> &'static str {
        "I13"
    }

    fn words(&self) -> &'static str {
        "two scripts that differ only in an order which the provider permits end in the same view"
    }

    fn look(&mut self, _moment: &Moment<'_>, _found: &mut Found) {}
}

/// A view at rest, without times and with every id replaced by its order of appearance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Final {
    at: u64,
    lines: Vec<String>,
}

impl Final {
    /// The view, normalized.
    pub fn of(view: &HostView) -> Self {
        let mut ids = Ids::default();
        let mut lines = Vec::new();
        for chat in &view.chats {
            chat_lines(chat, &mut ids, &mut lines);
        }
        Final { at: view.clock.mono, lines }
    }

    /// The lines that are compared, for a report.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// Compares the ends of two runs. `invariant` is `I13` for two permitted orders, `I10` for a run with something strange put in.
pub fn compare(invariant: &'static str, one: &Final, other: &Final) -> Found {
    let mut found = Found::default();
    let common = one.lines.iter().zip(&other.lines).take_while(|(one, other)| one == other).count();
    let same = one.lines == other.lines;
    found.judge(invariant, other.at.max(one.at), same, || {
        let line = |lines: &Vec<String>| lines.get(common).map_or("nothing more", String::as_str).to_string();
        format!("the runs end differently: one shows {}, the other {}", line(&one.lines), line(&other.lines))
    });
    found
}

#[derive(Default)]
struct Ids<'a>(BTreeMap<&'a str, usize>);

impl<'a> Ids<'a> {
    fn of(&mut self, id: &'a str) -> String {
        let next = self.0.len() + 1;
        format!("#{}", self.0.entry(id).or_insert(next))
    }
}

fn chat_lines<'a>(chat: &'a Chat, ids: &mut Ids<'a>, lines: &mut Vec<String>) {
    let id = ids.of(&chat.id);
    let parent = chat.parent.as_deref().map(|parent| ids.of(parent));
    let Chat { status, pill, busy, completed_turns, .. } = chat;
    lines.push(format!("chat {id} of {parent:?}: {status:?}, pill {pill}, busy {busy}, completed turns {completed_turns}"));
    for message in &chat.messages {
        lines.push(format!("message {}: {:?}, {:?}", ids.of(&message.id), message.state, message.text));
    }
    for turn in &chat.turns {
        let cause = match &turn.cause {
            Cause::Message(message) => ids.of(message),
            other => format!("{other:?}"),
        };
        let ends: Vec<_> = turn.settles.iter().map(|settle| (settle.outcome, &settle.error, &settle.synthetic)).collect();
        lines.push(format!("turn {} of {cause}: {ends:?}", turn.number));
    }
    entry_lines("transcript", &chat.transcript, ids, lines);
    for row in &chat.rows {
        lines.push(format!("row {}: {:?}", row.title, row.state));
    }
    // Documents are opened in the order of first frames, which may differ; their titles may not.
    let mut tabs: Vec<_> = chat.tabs.iter().collect();
    tabs.sort_by_key(|tab| &tab.title);
    for tab in tabs {
        entry_lines(&format!("tab {}", tab.title), &tab.entries, ids, lines);
    }
    for card in &chat.approvals {
        lines.push(format!("card {}: opened {}, closed {}", ids.of(&card.provider_request), card.openings, card.closings));
    }
}

fn entry_lines<'a>(place: &str, entries: &'a [Entry], ids: &mut Ids<'a>, lines: &mut Vec<String>) {
    for entry in entries {
        let state = if entry.state == EntryState::Complete { String::new() } else { format!(" {:?}", entry.state) };
        lines.push(format!("{place}: {}{state}", entry.role));
        for part in &entry.parts {
            lines.push(match part {
                Part::Text { text, .. } => format!("{place}: text {text:?}"),
                Part::Reasoning { text, .. } => format!("{place}: thinking {text:?}"),
                Part::Tool(tool) => {
                    let (resolved, is_error, state) = (tool.resolved, tool.is_error, tool.child_state);
                    format!(
                        "{place}: tool {} {}: resolved {resolved}, error {is_error}, child {state:?}",
                        ids.of(&tool.id),
                        tool.name
                    )
                }
                Part::Input { resolved, .. } => format!("{place}: question, resolved {resolved}"),
                Part::Error { message } => format!("{place}: error {message:?}"),
                Part::Other { kind } => format!("{place}: {kind}"),
            });
        }
    }
}
