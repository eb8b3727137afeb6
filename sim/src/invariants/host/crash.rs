//! I16: after a kill, a power loss or a write that failed the host starts, and nothing that was shown as kept is gone.

use super::since;
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::{Chat, Entry, EntryState, HostView, Part},
};

const ID: &str = "I16";
/// Events that a host shows only when they are durable.
pub const DURABLE: [&str; 4] = ["done", "steered", "inputRequested", "nativeForkReady"];

/// I16. At each restart, before anything else happens: the host has started from its store, every turn that was running has
/// ended, and what the viewer had been shown as done is still there.
#[derive(Default)]
pub struct Crash {
    seen: usize,
    /// How often the host refused to start.
    refused: u32,
    /// What the viewer saw when the host ended.
    shown: Option<HostView>,
}

impl Invariant for Crash {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "after a crash the host starts from its store: what was shown as done is there, nothing is shown as running"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for happening in since(&mut self.seen, moment.history) {
            match &happening.what {
                What::HostEnded { .. } => self.shown = Some(moment.view.clone()),
                What::HostRefused { words } => {
                    self.refused += 1;
                    let faults = moment.history.disk_faults;
                    found.judge(ID, moment.at, self.refused <= faults, || {
                        format!("the host does not start: {words} ({faults} disk call(s) were made to fail)")
                    });
                }
                What::HostStarted => {
                    let empty = HostView::default();
                    let shown = self.shown.take().unwrap_or(empty);
                    for chat in &moment.view.chats {
                        settled(chat, moment.at, found);
                        if let Some(before) = shown.chat(&chat.id) {
                            kept(before, chat, moment.at, found);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn settled(chat: &Chat, at: u64, found: &mut Found) {
    let streaming = chat.transcript.iter().chain(chat.tabs.iter().flat_map(|tab| &tab.entries));
    let streaming = streaming.filter(|entry| entry.state == EntryState::Streaming).count();
    let open = chat.open_turn().map(|turn| turn.number);
    let holds = !chat.busy && open.is_none() && chat.pill == 0 && chat.running_rows() == 0 && streaming == 0;
    found.judge(ID, at, holds, || {
        format!(
            "{}: the host has just started and runs nothing, but the chat is shown as {:?} with pill {}, {} running row(s), \
             {streaming} entry(s) being written{}",
            chat.id,
            chat.status,
            chat.pill,
            chat.running_rows(),
            open.map(|number| format!(", turn {number} open")).unwrap_or_default()
        )
    });
}

fn kept(before: &Chat, now: &Chat, at: u64, found: &mut Found) {
    let lost = before.messages.iter().find(|message| now.messages.iter().all(|known| known.id != message.id));
    found.judge(ID, at, lost.is_none(), || {
        format!("{}: message {} is gone", now.id, lost.map(|message| message.id.as_str()).unwrap_or_default())
    });
    let durable = |kind: Option<&str>| kind.is_some_and(|kind| DURABLE.contains(&kind));
    let mut rows = before.journal.iter().filter(|entry| durable(entry.event["type"].as_str()));
    let lost = rows.find(|entry| now.journal.iter().all(|known| known.seq != entry.seq || known.event != entry.event));
    found.judge(ID, at, lost.is_none(), || {
        let lost = lost.map(|entry| format!("{} {}", entry.seq, entry.event["type"].as_str().unwrap_or_default()));
        format!("{}: journal row {} was shown and is gone", now.id, lost.unwrap_or_default())
    });
    let mut whole = before.transcript.iter().filter(|entry| entry.state != EntryState::Streaming);
    let changed = whole.find(|entry| now.transcript.iter().all(|known| !same(known, entry)));
    found.judge(ID, at, changed.is_none(), || {
        format!(
            "{}: entry {} was whole and is gone or changed",
            now.id,
            changed.map(|entry| entry.id.as_str()).unwrap_or_default()
        )
    });
}

/// Whether two entries say the same. What became of a tool or a child of it may have changed: its process is gone.
fn same(one: &Entry, other: &Entry) -> bool {
    let part = |(one, other): (&Part, &Part)| match (one, other) {
        (Part::Tool(one), Part::Tool(other)) => one.id == other.id && one.name == other.name,
        (Part::Input { request: one, .. }, Part::Input { request: other, .. }) => one == other,
        (one, other) => one == other,
    };
    one.id == other.id
        && one.role == other.role
        && one.state == other.state
        && one.parts.len() == other.parts.len()
        && one.parts.iter().zip(&other.parts).all(part)
}
