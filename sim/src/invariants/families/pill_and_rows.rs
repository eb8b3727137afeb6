//! V1 to V4: the pill and the running rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    frames,
    wire::{Wire, slot},
};
use crate::{
    invariants::{Found, Invariant, Moment},
    view::{Chat, Inside, ProcessState},
};

/// Document changes wait at most so long for their flush, ms.
const FLUSH_MS: u64 = 120;
/// After a process is gone its stderr is waited for so long, ms; only then its run ends.
const STDERR_WAIT_MS: u64 = 200;

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(PillIsRows),
        Box::new(FlushWindow::default()),
        Box::new(NoRunNoPill::default()),
        Box::new(NoChipNoTab::default()),
    ]
}

/// V1.
struct PillIsRows;

impl Invariant for PillIsRows {
    fn id(&self) -> &'static str {
        "V1"
    }

    fn words(&self) -> &'static str {
        "when everything is delivered the pill is the number of running rows"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            let (pill, rows) = (chat.pill, chat.running_rows());
            if chat.delivery.is_delivered() && (pill > 0 || !chat.rows.is_empty()) {
                found.judge("V1", moment.at, pill == rows, || format!("{}: the pill says {pill}, {rows} row(s) run", chat.id));
            }
        }
    }
}

#[derive(Default)]
struct Gap {
    /// The pill when both were equal last.
    equal: u32,
    /// Since when they differ, with nothing but the flush between them.
    since: Option<u64>,
    /// When the bound was first seen behind; after a jump of the clock all that is due comes at one instant.
    passed: Option<u64>,
}

/// V2.
#[derive(Default)]
struct FlushWindow {
    gaps: BTreeMap<String, Gap>,
}

impl Invariant for FlushWindow {
    fn id(&self) -> &'static str {
        "V2"
    }

    fn words(&self) -> &'static str {
        "pill and rows differ for one flush at most: the pill is ahead, never the rows"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for chat in &moment.view.chats {
            let gap = slot(&mut self.gaps, &chat.id);
            let (pill, rows, delivery) = (chat.pill, chat.running_rows(), chat.delivery);
            if pill == rows || delivery.is_delivered() || delivery.rows > 0 || delivery.docs > 0 {
                // Equal, or V1's matter, or a link holds something back: the time of links is not counted.
                if pill == rows {
                    gap.equal = pill;
                }
                (gap.since, gap.passed) = (None, None);
                continue;
            }
            let since = *gap.since.get_or_insert(moment.at);
            // The row is written at once, the document at the flush: so it is always the pill that moved.
            let ahead = if pill > gap.equal { pill > rows } else { pill < gap.equal && pill < rows };
            found.judge("V2", moment.at, ahead, || {
                format!(
                    "{}: both said {}, now the pill says {pill} and {rows} row(s) run: the rows moved first",
                    chat.id, gap.equal
                )
            });
            if moment.at > since + FLUSH_MS {
                let passed = *gap.passed.get_or_insert(moment.at);
                found.judge("V2", moment.at, passed == moment.at, || {
                    format!(
                        "{}: pill {pill} and {rows} running row(s) differ since {since} ms, {FLUSH_MS} ms are allowed",
                        chat.id
                    )
                });
            }
        }
    }
}

/// V3.
#[derive(Default)]
struct NoRunNoPill {
    /// Since when no process of a chat is left to reap.
    since: BTreeMap<String, Option<u64>>,
}

fn runs(inside: &Inside, chat: &Chat) -> bool {
    let of = |process: &&crate::view::Process| process.chat.as_deref() == Some(&chat.id);
    inside.processes.iter().filter(of).any(|process| process.state != ProcessState::Reaped)
}

impl Invariant for NoRunNoPill {
    fn id(&self) -> &'static str {
        "V3"
    }

    fn words(&self) -> &'static str {
        "a chat without a run has pill 0 and no running row"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        // Only the host knows when it has taken note of an end; a dead host takes note of nothing.
        let Some(inside) = &moment.view.inside else {
            found.not_observable = true;
            return;
        };
        for chat in moment.view.chats.iter().filter(|chat| !chat.rows.is_empty() || chat.pill > 0) {
            let since = slot(&mut self.since, &chat.id);
            if runs(inside, chat) {
                *since = None;
                continue;
            }
            let since = *since.get_or_insert(moment.at);
            let settled = moment.at > since + STDERR_WAIT_MS && chat.open_turn().is_none();
            if settled && chat.delivery.is_delivered() {
                let (pill, rows) = (chat.pill, chat.running_rows());
                found.judge("V3", moment.at, pill == 0 && rows == 0, || {
                    format!("{} has no process, yet the pill says {pill} and {rows} row(s) run", chat.id)
                });
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let Some(inside) = &moment.view.inside else { return };
        for chat in moment.view.chats.iter().filter(|chat| !chat.rows.is_empty() && !runs(inside, chat)) {
            let (pill, rows) = (chat.pill, chat.running_rows());
            found.judge("V3", moment.at, pill == 0 && rows == 0, || {
                format!("{} is at rest without a process, yet the pill says {pill} and {rows} row(s) run", chat.id)
            });
        }
    }
}

/// V4.
#[derive(Default)]
struct NoChipNoTab {
    wire: Wire,
    /// Chips by chat, as the journal has them.
    chips: BTreeMap<String, BTreeSet<String>>,
    /// Ids of child events without a chip.
    strangers: BTreeMap<String, BTreeSet<String>>,
    /// Rows and tabs at the last check.
    seen: BTreeMap<String, (usize, usize)>,
}

impl Invariant for NoChipNoTab {
    fn id(&self) -> &'static str {
        "V4"
    }

    fn words(&self) -> &'static str {
        "an id without a chip in this chat opens no tab and does not count"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for batch in &look.batches {
            let chat = batch.chat;
            let (chips, strangers) = (slot(&mut self.chips, &chat.id), slot(&mut self.strangers, &chat.id));
            let mut told = false;
            for entry in batch.entries {
                if let (Some(_), Some(id)) = (frames::chip_name(&entry.event), entry.event["id"].as_str()) {
                    strangers.remove(id);
                    chips.insert(id.to_string());
                }
                let Some((id, _)) = frames::child(&entry.event) else { continue };
                if !chips.contains(id) && !chat.rows.iter().any(|row| row.chip == id) {
                    told = true;
                    strangers.insert(id.to_string());
                }
            }
            let sizes = (chat.rows.len(), chat.tabs.len());
            let changed = self.seen.insert(chat.id.clone(), sizes) != Some(sizes) && sizes.1 > 0;
            if !chat.delivery.is_delivered() {
                // Not looked at yet: chip and document may be under way.
                self.seen.remove(&chat.id);
                found.checked += u64::from(told);
                continue;
            }
            if changed || told {
                let tab = chat.tabs.iter().find(|tab| !chat.rows.iter().any(|row| row.child == tab.child));
                found.judge("V4", moment.at, tab.is_none(), || {
                    format!("{}: tab {} belongs to no chip", chat.id, tab.map_or("", |tab| tab.child.as_str()))
                });
                let row = chat.rows.iter().find(|row| strangers.contains(&row.chip));
                found.judge("V4", moment.at, row.is_none(), || {
                    format!("{}: row {} stands for an id without a chip", chat.id, row.map_or("", |row| row.chip.as_str()))
                });
            }
        }
    }
}
