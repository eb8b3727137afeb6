//! Durations as a scenario writes them: `"1200ms"`, `"30s"`, `"5m"`, `"2h"`, `"1d"`.
//!
//! One whole number and one unit. Fractions and sums are refused: a figure that two people read differently is worth
//! less than a longer figure.

use std::time::Duration;

/// The units, longest first, and their length in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// What [`parse`] refuses, in words that complete "is no duration: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadDuration {
    /// No digits where the number should be.
    NoNumber,
    /// A number without a unit.
    NoUnit,
    /// A unit that is none of the five.
    Unit(String),
    /// More than 64 bits of milliseconds.
    TooLong,
}

impl std::fmt::Display for BadDuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadDuration::NoNumber => f.write_str("it does not start with a whole number"),
            BadDuration::NoUnit => f.write_str("it has no unit"),
            BadDuration::Unit(unit) => write!(f, "`{unit}` is no unit"),
            BadDuration::TooLong => f.write_str("it does not fit into 64 bits of milliseconds"),
        }
    }
}

/// Reads a duration; the result is a whole number of milliseconds.
///
/// # Errors
/// [`BadDuration`] says what is wrong with the text.
pub fn parse(text: &str) -> Result<Duration, BadDuration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(BadDuration::NoNumber);
    }
    if unit.is_empty() {
        return Err(BadDuration::NoUnit);
    }
    let (_, length) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(|| BadDuration::Unit(unit.to_owned()))?;
    let number: u64 = number.parse().map_err(|_| BadDuration::TooLong)?;
    number.checked_mul(*length).map(Duration::from_millis).ok_or(BadDuration::TooLong)
}

/// Writes a duration in the longest unit that divides it, so that [`parse`] gives it back. Less than a millisecond is
/// cut off: the stage knows no smaller step.
pub fn format(duration: Duration) -> String {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    match UNITS.iter().find(|(_, length)| ms > 0 && ms % length == 0) {
        Some((unit, length)) => format!("{}{unit}", ms / length),
        None => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BadDuration, format, parse};

    #[track_caller]
    fn check(text: &str, expected: Result<u64, BadDuration>) {
        assert_eq!(parse(text), expected.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn whole_numbers_with_a_unit_are_durations() {
        check("1200ms", Ok(1_200));
        check("0ms", Ok(0));
        check("30s", Ok(30_000));
        check("5m", Ok(300_000));
        check("2h", Ok(7_200_000));
        check("1d", Ok(86_400_000));
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        check("", Err(BadDuration::NoNumber));
        check("s", Err(BadDuration::NoNumber));
        check("-3s", Err(BadDuration::NoNumber));
        check("30", Err(BadDuration::NoUnit));
        check("1.5s", Err(BadDuration::Unit(".5s".into())));
        check("1h30m", Err(BadDuration::Unit("h30m".into())));
        check("30 s", Err(BadDuration::Unit(" s".into())));
        check("18446744073709551616ms", Err(BadDuration::TooLong));
        check("18446744073709551615s", Err(BadDuration::TooLong));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for ms in [0, 1, 40, 999, 1_000, 1_200, 60_000, 61_000, 3_600_000, 86_400_000, 90_000_000] {
            let duration = Duration::from_millis(ms);
            assert_eq!(parse(&format(duration)), Ok(duration), "{}", format(duration));
        }
    }
}
