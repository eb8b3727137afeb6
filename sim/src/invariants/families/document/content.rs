//! M4 and M5: what the documents hold is what the journal says.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        frames,
        wire::{Batch, Wire, slot},
    },
    fold::{Fold, Item, same, shown_replies, shown_tab},
};
use crate::{
    invariants::{Found, Invariant, Moment},
    view::Chat,
};

/// From this many bytes on a text may be stored in several pieces.
const LONG_TEXT_BYTES: usize = 32 * 1024;

#[derive(Default)]
struct Known {
    fold: Fold,
    /// Set when the chat began with content that its journal does not hold: a copy, or an older store.
    foreign: bool,
    begun: bool,
    /// A turn ended since the last comparison.
    due: bool,
    /// Children that settled since.
    settled: BTreeSet<String>,
    /// Replies that were compared and are closed.
    compared: usize,
}

/// The folds of a run, chat by chat.
#[derive(Default)]
struct Folds {
    wire: Wire,
    chats: BTreeMap<String, Known>,
}

impl Folds {
    fn read(&mut self, moment: &Moment<'_>) {
        let look = self.wire.next(moment);
        for batch in &look.batches {
            self.take(batch);
        }
    }

    fn take(&mut self, batch: &Batch<'_>) {
        let (chat, known) = (batch.chat, slot(&mut self.chats, &batch.chat.id));
        if !known.begun {
            known.begun = true;
            let copied = chat.journal.is_empty() && chat.transcript.iter().any(|entry| entry.role == "assistant");
            known.foreign = copied || chat.journal.first().is_some_and(|entry| entry.seq > 1);
        }
        let mut entries = batch.entries;
        if batch.rewound {
            // A repaired journal is read again as a whole.
            *known = Known { begun: true, foreign: known.foreign, due: true, ..Known::default() };
            entries = &chat.journal;
        }
        for entry in entries {
            known.fold.fold(&entry.event);
            known.due |= frames::kind(&entry.event) == "done";
            let done = frames::child(&entry.event).filter(|(_, child)| frames::kind(child) == "done");
            known.settled.extend(done.map(|(chip, _)| chip.to_string()));
        }
    }
}

fn excerpt(items: &[Item]) -> String {
    /// Enough to find the place.
    const SHOWN_CHARS: usize = 160;
    let whole = format!("{items:?}");
    let end = whole.char_indices().nth(SHOWN_CHARS).map_or(whole.len(), |(end, _)| end);
    format!("{}{}", &whole[..end], if end < whole.len() { "…" } else { "" })
}

/// M4.
#[derive(Default)]
pub(super) struct FoldIsDocument {
    folds: Folds,
}

fn compare(moment: &Moment<'_>, found: &mut Found, chat: &Chat, known: &mut Known, whole: bool) {
    let from = if whole { 0 } else { known.compared };
    let (told, shown) = (known.fold.replies(from), shown_replies(&chat.transcript));
    let shown = shown.get(from..).unwrap_or_default();
    if !told.is_empty() || !shown.is_empty() {
        let place = (0..told.len().max(shown.len())).find(|place| match (told.get(*place), shown.get(*place)) {
            (Some(told), Some(shown)) => !same(told, shown),
            _ => true,
        });
        found.judge("M4", moment.at, place.is_none(), || {
            let place = place.unwrap_or_default();
            let side = |replies: &[Vec<Item>]| replies.get(place).map_or("nothing".to_string(), |items| excerpt(items));
            format!("{}: reply {}: the journal says {}, the transcript {}", chat.id, from + place + 1, side(&told), side(shown))
        });
    }
    known.compared = from + told.len().min(shown.len());
    if whole {
        for tool in chat.tools() {
            let Some(error) = known.fold.results.get(&tool.id) else { continue };
            found.judge("M4", moment.at, tool.resolved && tool.is_error == *error, || {
                format!("{}: tool {} has a result in the journal (error: {error}) and not so in the transcript", chat.id, tool.id)
            });
        }
    }
}

fn compare_tab(moment: &Moment<'_>, found: &mut Found, chat: &Chat, known: &Known, chip: &str) {
    let Some(row) = chat.rows.iter().find(|row| row.chip == chip) else { return };
    let Some(tab) = chat.tabs.iter().find(|tab| tab.child == row.child) else { return };
    let Some(told) = known.fold.tab(chip) else { return };
    let shown = shown_tab(tab);
    found.judge("M4", moment.at, same(&told, &shown), || {
        format!("{}: tab {}: the journal says {}, the tab {}", chat.id, row.title, excerpt(&told), excerpt(&shown))
    });
}

impl Invariant for FoldIsDocument {
    fn id(&self) -> &'static str {
        "M4"
    }

    fn words(&self) -> &'static str {
        "the journal, folded, is what transcript and tabs hold"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        self.folds.read(moment);
        for chat in &moment.view.chats {
            let Some(known) = self.folds.chats.get_mut(&chat.id).filter(|known| !known.foreign) else { continue };
            if !chat.delivery.is_delivered() || !known.due && known.settled.is_empty() {
                continue;
            }
            if std::mem::take(&mut known.due) {
                compare(moment, found, chat, known, false);
            }
            for chip in std::mem::take(&mut known.settled) {
                compare_tab(moment, found, chat, known, &chip);
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            let Some(known) = self.folds.chats.get_mut(&chat.id).filter(|known| !known.foreign) else { continue };
            compare(moment, found, chat, known, true);
            for row in &chat.rows {
                compare_tab(moment, found, chat, known, &row.chip);
            }
        }
    }
}

/// M5.
#[derive(Default)]
pub(super) struct SplitIsWhole {
    folds: Folds,
}

fn length(items: &[Item]) -> usize {
    let texts = items.iter().map(|item| match item {
        Item::Text(text) | Item::User(text) => text.len(),
        Item::Tool(_) => 0,
    });
    texts.sum()
}

impl Invariant for SplitIsWhole {
    fn id(&self) -> &'static str {
        "M5"
    }

    fn words(&self) -> &'static str {
        "a long reply that is stored in pieces reads like one that is not"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        self.folds.read(moment);
        for chat in &moment.view.chats {
            let known = self.folds.chats.get_mut(&chat.id).filter(|known| !known.foreign && known.due);
            let Some(known) = known.filter(|_| chat.delivery.is_delivered()) else { continue };
            known.due = false;
            let (told, shown) = (known.fold.replies(known.compared), shown_replies(&chat.transcript));
            let shown = shown.get(known.compared..).unwrap_or_default();
            known.compared += told.len();
            for (place, told) in told.iter().enumerate().filter(|(_, told)| length(told) >= LONG_TEXT_BYTES) {
                let whole = shown.get(place);
                found.judge("M5", moment.at, whole == Some(told), || {
                    let got = whole.map_or(0, |items| length(items));
                    format!("{}: a reply of {} bytes reads as one of {got}, or in another order", chat.id, length(told))
                });
            }
        }
    }
}
