//! I4: no duplicate rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{memory, owed::unwritten};
use crate::{
    evidence::{Block, Evidence, Shared},
    invariants::{Found, Invariant, Moment},
    view::{Chat, Entry, Part},
};

const ID: &str = "I4";

/// I4. One provider id stands for at most one thing shown; text that was taken back is not shown beside what replaced it.
pub struct Duplicates {
    evidence: Shared,
    chats: Vec<Memory>,
}

#[derive(Default)]
struct Memory {
    /// Numbers of everything that has an id: duplicates can only come when they change.
    counts: [usize; 7],
    /// Journal entries judged.
    journal: usize,
    told: BTreeSet<String>,
}

impl Duplicates {
    pub(super) fn new(evidence: &Shared) -> Self {
        Duplicates { evidence: evidence.clone(), chats: Vec::new() }
    }
}

impl Invariant for Duplicates {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "one provider id is shown at most once, and text that was taken back is not shown beside what replaced it"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let memory = memory(&mut self.chats, index);
            let counts = counts(chat);
            if counts != memory.counts {
                memory.counts = counts;
                judge(&evidence, moment.history.broken_provider, chat, memory, moment.at, found);
            }
            journal(chat, memory, moment.at, found);
            taken_back(&evidence, chat, memory, moment.at, found);
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let evidence = self.evidence.read(moment.history);
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let memory = memory(&mut self.chats, index);
            judge(&evidence, moment.history.broken_provider, chat, memory, moment.at, found);
        }
    }
}

fn counts(chat: &Chat) -> [usize; 7] {
    let tabs = &chat.tabs;
    [
        chat.transcript.len(),
        chat.transcript.iter().map(|entry| entry.parts.len()).sum(),
        chat.rows.len(),
        tabs.len(),
        tabs.iter().map(|tab| tab.entries.iter().map(|entry| entry.parts.len()).sum::<usize>()).sum(),
        chat.messages.len(),
        chat.approvals.len(),
    ]
}

fn judge(evidence: &Evidence, broken: bool, chat: &Chat, memory: &mut Memory, at: u64, found: &mut Found) {
    let told = &mut memory.told;
    let mut once = |what: &str, ids: &mut dyn Iterator<Item = &str>| {
        let mut seen = BTreeSet::new();
        for id in ids {
            found.checked += 1;
            if !seen.insert(id) && told.insert(format!("{what} {id}")) {
                found.checked -= 1;
                found.judge(ID, at, false, || format!("{}: {what} {id} is shown twice", chat.id));
            }
        }
    };
    once("entry", &mut chat.transcript.iter().map(|entry| entry.id.as_str()));
    once("tool", &mut chat.tools().map(|tool| tool.id.as_str()));
    once("row of", &mut chat.rows.iter().map(|row| row.chip.as_str()));
    once("tab", &mut chat.tabs.iter().map(|tab| tab.child.as_str()));
    once("message", &mut chat.messages.iter().map(|message| message.id.as_str()));
    let cards = chat.approvals.iter().map(|approval| approval.provider_request.as_str());
    // Two processes may ask under one id; then there are as many cards as requests.
    let asked = |id: &str| evidence.asks.iter().filter(|ask| ask.id == id).count();
    once("approval of", &mut cards.filter(|id| asked(id) <= 1));
    for tab in &chat.tabs {
        once("entry of a tab", &mut tab.entries.iter().map(|entry| entry.id.as_str()));
        let parts = tab.entries.iter().flat_map(|entry| &entry.parts);
        once(
            "tool of a tab",
            &mut parts.filter_map(|part| if let Part::Tool(tool) = part { Some(tool.id.as_str()) } else { None }),
        );
    }
    // Where a frame that starts a message was swallowed, two messages look like one.
    if !broken
        && let Some(key) = repeated_key(&chat.transcript)
        && told.insert(format!("part {key}"))
    {
        found.judge(ID, at, false, || format!("{}: part {key} is shown twice", chat.id));
    }
}

/// Journal numbers grow: one that comes again would be shown twice by whoever replays them.
fn journal(chat: &Chat, memory: &mut Memory, at: u64, found: &mut Found) {
    for number in std::mem::replace(&mut memory.journal, chat.journal.len())..chat.journal.len() {
        let (before, entry) = (number.checked_sub(1).map(|before| &chat.journal[before]), &chat.journal[number]);
        found.judge(ID, at, before.is_none_or(|before| before.seq < entry.seq), || {
            format!("{}: journal number {} came after {}", chat.id, entry.seq, before.map_or(0, |before| before.seq))
        });
    }
}

/// A part key whose text is shown a second time, whole or in part. A key may come twice when something was shown in between;
/// then its texts differ.
fn repeated_key(entries: &[Entry]) -> Option<&str> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let parts = entries.iter().flat_map(|entry| &entry.parts);
    let keyed = parts.filter_map(|part| match part {
        Part::Text { key: Some(key), text } | Part::Reasoning { key: Some(key), text } => Some((key.as_str(), text.as_str())),
        _ => None,
    });
    for (key, text) in keyed {
        if let Some(before) = seen.insert(key, text)
            && (before.starts_with(text) || text.starts_with(before))
        {
            return Some(key);
        }
    }
    None
}

/// Blocks that were taken back and can be told by their part key. What has no key is told by its words, see the fidelity rule.
fn taken_back(evidence: &Evidence, chat: &Chat, memory: &mut Memory, at: u64, found: &mut Found) {
    if !chat.delivery.is_delivered() {
        return;
    }
    for block in evidence.blocks.iter().filter(|block| block.taken_back.is_some_and(|at| !unwritten(evidence, at))) {
        // A later process may use the same ids again; what it did not take back is rightly shown.
        let same = |other: &&Block| other.message == block.message && other.number == block.number;
        if evidence.blocks.iter().filter(same).any(|other| other.taken_back.is_none()) {
            continue;
        }
        let key = format!("{}/{}", block.message, block.number);
        let parts = chat.transcript.iter().flat_map(|entry| &entry.parts);
        let shown = parts.filter_map(|part| match part {
            Part::Text { key: Some(key), text } | Part::Reasoning { key: Some(key), text } => Some((key, text)),
            _ => None,
        });
        let shown = shown.into_iter().any(|(shown, text)| *shown == key && !text.is_empty());
        if memory.told.insert(format!("taken back {key} {shown}")) {
            found.judge(ID, at, !shown, || format!("{}: part {key} is shown, though the provider took it back", chat.id));
        }
    }
}
