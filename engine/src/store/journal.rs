//! Which rows of a chat's journal are whole.
//!
//! Numbers start at 1 and have no gaps; each row carries the length and the checksum of its event. A tail that fails its check is
//! cut before the next append; a row elsewhere that is missing or fails is reported with its place and costs only itself.
//! Reading never fails because of a row.

use std::collections::BTreeMap;

use crate::event::AgentEvent;

/// A row as it is stored. What is no number, or no bytes, is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRow {
    /// Number.
    pub seq: i64,
    /// Era.
    pub era: Option<i64>,
    /// Length of the event, bytes.
    pub length: Option<i64>,
    /// CRC-32 over number and event.
    pub crc32: Option<i64>,
    /// The event, JSON.
    pub event: Option<Vec<u8>>,
}

/// A chat's journal after its check: numbers 1, 2, … without a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// The rows by number, from 1; one that is lost says why.
    pub rows: Vec<Row>,
    /// Stored numbers that are to be taken out, with the reason.
    pub cut: Vec<(i64, String)>,
    /// The highest era of any whole row; 1 for an empty journal.
    pub era: u64,
}

/// One row of a checked journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// It is whole.
    Whole {
        /// Its era.
        era: u64,
        /// Its event.
        event: AgentEvent,
    },
    /// It is missing or fails its check, and why.
    Lost(String),
}

impl Checked {
    /// Whether anything was cut or is skipped: the era grows by one then.
    pub fn is_damaged(&self) -> bool {
        !self.cut.is_empty() || self.rows.iter().any(|row| matches!(row, Row::Lost(_)))
    }
}

/// Checksum of a row. Its number counts, so that a row at a wrong place fails too.
pub fn crc(seq: u64, event: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&seq.to_le_bytes());
    hasher.update(event);
    hasher.finalize()
}

/// Checks the rows of one chat, in any order.
pub fn check(rows: impl IntoIterator<Item = RawRow>) -> Checked {
    let mut read: BTreeMap<i64, Result<(u64, AgentEvent), String>> = BTreeMap::new();
    for row in rows {
        read.insert(row.seq, whole(&row));
    }
    let last = read.iter().rev().find(|(_, row)| row.is_ok()).map_or(0, |(seq, _)| *seq);
    let mut checked = Checked { rows: Vec::new(), cut: Vec::new(), era: 1 };
    for (seq, row) in read {
        match row {
            Err(why) if seq > last || seq < 1 => checked.cut.push((seq, why)),
            row => {
                // Numbers up to here that were not read at all.
                while (checked.rows.len() as i64) < seq - 1 {
                    checked.rows.push(Row::Lost("it is missing".to_owned()));
                }
                checked.rows.push(match row {
                    Ok((era, event)) => {
                        checked.era = checked.era.max(era);
                        Row::Whole { era, event }
                    }
                    Err(why) => Row::Lost(why),
                });
            }
        }
    }
    checked
}

fn whole(row: &RawRow) -> Result<(u64, AgentEvent), String> {
    let seq = u64::try_from(row.seq).ok().filter(|seq| *seq > 0).ok_or("its number is below 1")?;
    let event = row.event.as_deref().ok_or("its event is no bytes")?;
    let length = row.length.ok_or("its length is no number")?;
    if length != event.len() as i64 {
        return Err(format!("it has {} bytes where {length} were written", event.len()));
    }
    if row.crc32 != Some(i64::from(crc(seq, event))) {
        return Err("its checksum is wrong".to_owned());
    }
    let era = row.era.and_then(|era| u64::try_from(era).ok()).ok_or("its era is no number")?;
    let event = serde_json::from_slice(event).map_err(|error| format!("its event is not known: {error}"))?;
    Ok((era, event))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row `seq` as the engine writes it.
    fn good(seq: i64) -> RawRow {
        let event = AgentEvent::TextDelta { text: format!("text {seq}"), part: None };
        let event = serde_json::to_vec(&event).expect("an event");
        let (length, crc32) = (Some(event.len() as i64), Some(i64::from(crc(seq as u64, &event))));
        RawRow { seq, era: Some(1), length, crc32, event: Some(event) }
    }

    /// A good row with its checks made anew over other bytes.
    fn with_event(seq: i64, event: &[u8]) -> RawRow {
        let crc32 = Some(i64::from(crc(seq as u64, event)));
        RawRow { length: Some(event.len() as i64), crc32, event: Some(event.to_vec()), ..good(seq) }
    }

    /// Checks rows 1 to 4, row `at` spoilt, and gives what came of them: `1 2 !3 4`, and what is cut: `-4`.
    fn check(at: usize, spoil: impl Fn(&mut Vec<RawRow>)) -> String {
        let mut rows: Vec<RawRow> = (1..=4).map(good).collect();
        assert!(!super::check(rows.clone()).is_damaged());
        rows.rotate_left(at - 1);
        spoil(&mut rows);
        let checked = super::check(rows);
        assert!(checked.is_damaged());
        let kept = checked.rows.iter().zip(1..).map(|(row, n)| match row {
            Row::Whole { event, .. } => {
                assert_eq!(*event, AgentEvent::TextDelta { text: format!("text {n}"), part: None });
                n.to_string()
            }
            Row::Lost(why) => {
                assert!(!why.is_empty());
                format!("!{n}")
            }
        });
        let cut = checked.cut.iter().map(|(seq, _)| format!("-{seq}"));
        kept.chain(cut).collect::<Vec<_>>().join(" ")
    }

    /// JR-01.
    #[test]
    fn a_bad_row_costs_more_than_itself() {
        type Spoil = fn(&mut RawRow);
        let spoils: [(&str, Spoil); 8] = [
            ("length", |row| row.length = Some(7)),
            ("no length", |row| row.length = None),
            ("checksum", |row| row.crc32 = row.crc32.map(|crc| crc ^ 1)),
            ("no checksum", |row| row.crc32 = None),
            ("era", |row| row.era = Some(-1)),
            ("a bit of the event", |row| row.event.iter_mut().flatten().take(1).for_each(|byte| *byte ^= 0x40)),
            ("no event", |row| row.event = None),
            ("an unknown event", |row| *row = with_event(row.seq, b"{\"type\":\"fromTheFuture\"}")),
        ];
        for (what, spoil) in spoils {
            assert_eq!(check(1, |rows| spoil(&mut rows[0])), "!1 2 3 4", "{what} of the first row");
            assert_eq!(check(3, |rows| spoil(&mut rows[0])), "1 2 !3 4", "{what} of a row in the middle");
            assert_eq!(check(4, |rows| spoil(&mut rows[0])), "1 2 3 -4", "{what} of the last row");
        }
    }

    /// JR-01.
    #[test]
    fn a_missing_row_costs_what_follows() {
        assert_eq!(check(1, |rows| drop(rows.remove(0))), "!1 2 3 4");
        assert_eq!(check(3, |rows| drop(rows.remove(0))), "1 2 !3 4");
        assert_eq!(check(2, |rows| drop(rows.drain(..2))), "1 !2 !3 4");
    }

    #[test]
    fn a_row_at_a_wrong_place_is_read_there() {
        // Row 3 under the number 30: its checksum says so, and the gap to it is no reason to report 26 lost rows.
        assert_eq!(check(3, |rows| rows[0].seq = 30), "1 2 !3 4 -30");
        assert_eq!(check(3, |rows| rows[0].seq = -3), "1 2 !3 4 --3");
        assert_eq!(check(3, |rows| rows[0].seq = 0), "1 2 !3 4 -0");
    }

    /// JR-01.
    #[test]
    fn a_torn_tail_of_several_rows_stays() {
        let spoilt = check(3, |rows| rows[..2].iter_mut().for_each(|row| row.length = None));
        assert_eq!(spoilt, "1 2 -3 -4");
        assert_eq!(check(1, |rows| rows.iter_mut().for_each(|row| row.crc32 = None)), "-1 -2 -3 -4");
    }

    #[test]
    fn an_empty_journal_is_damage() {
        assert_eq!(super::check([]), Checked { rows: Vec::new(), cut: Vec::new(), era: 1 });
        assert!(!super::check([]).is_damaged());
    }

    #[test]
    fn the_era_of_a_damaged_row_counts() {
        let mut rows = [good(1), good(2), good(3)];
        rows[1].era = Some(4);
        rows[2] = RawRow { era: Some(9), length: None, ..good(3) };
        assert_eq!(super::check(rows).era, 4);
    }
}
