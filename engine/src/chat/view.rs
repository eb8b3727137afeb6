//! View functions over read entries: the running rows of a chat's session card, and the titles of its subagents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::SubagentStatus;
use super::read::{Entry, Part, ToolView};

/// One row of the session card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentRow {
    /// Document of the child; rows are told apart by it.
    pub doc_id: String,
    /// Chip id.
    pub chip_id: String,
    /// Shown title: `Agent: /probe#2`.
    pub title: String,
    /// Where the child stands. This engine always sets it with the document; a row without one is shown and never running.
    pub status: Option<SubagentStatus>,
}

impl SubagentRow {
    /// Whether the row counts as running.
    pub fn is_running(&self) -> bool {
        self.status == Some(SubagentStatus::Running)
    }
}

/// Rows of the session card: chips that have a document, one row per document (the last chip that names it), running ones
/// first and oldest first, then the others, newest first.
pub fn subagent_rows(entries: &[Entry]) -> Vec<SubagentRow> {
    let titles = shown_titles(entries);
    let mut rows: BTreeMap<&str, (usize, &ToolView)> = BTreeMap::new();
    for (place, chip) in chips(entries).enumerate() {
        if let Some(doc_id) = &chip.subagent_ref {
            rows.insert(doc_id, (place, chip));
        }
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, (place, chip))| {
        let running = chip.subagent_status == Some(SubagentStatus::Running);
        if running { (0, *place) } else { (1, usize::MAX - *place) }
    });
    let row = |(doc_id, (_, chip)): (&str, (usize, &ToolView))| SubagentRow {
        doc_id: doc_id.to_owned(),
        chip_id: chip.id.clone(),
        title: titles.get(&chip.id).cloned().unwrap_or_else(|| chip.call.name().to_owned()),
        status: chip.subagent_status,
    };
    rows.into_iter().map(row).collect()
}

/// Number of rows in state running: what the pill must equal in delivered state (V1).
pub fn running_rows(entries: &[Entry]) -> usize {
    subagent_rows(entries).iter().filter(|row| row.is_running()).count()
}

/// Shown titles by chip id: the chip's name, and `#2`, `#3` … for later chips of the same name, counted in transcript order
/// over the whole chat, so that a number once given does not change.
pub fn shown_titles(entries: &[Entry]) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for chip in chips(entries) {
        if titles.contains_key(&chip.id) {
            continue;
        }
        let name = chip.call.name();
        let n = seen.entry(name).or_insert(0);
        *n += 1;
        titles.insert(chip.id.clone(), if *n == 1 { name.to_owned() } else { format!("{name}#{n}") });
    }
    titles
}

/// Shown title of one chip; none for an id that is no chip.
pub fn shown_title(entries: &[Entry], chip_id: &str) -> Option<String> {
    shown_titles(entries).remove(chip_id)
}

/// Chips in transcript order.
fn chips(entries: &[Entry]) -> impl Iterator<Item = &ToolView> {
    entries.iter().flat_map(|entry| &entry.parts).filter_map(|part| match part {
        Part::Tool(tool) if tool.call.is_spawn() => Some(tool),
        _ => None,
    })
}
