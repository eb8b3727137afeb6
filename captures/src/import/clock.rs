//! Times as logs and transcripts write them.

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;

/// Milliseconds since 1970 of `2026-11-30T10:00:00.123Z`: a blank for the T, a fraction and an offset may be there or not.
pub(super) fn wall_ms(text: &str) -> Option<f64> {
    let (date, time) = text.split_at_checked(10)?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let time = time.strip_prefix(['T', ' '])?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    let mut parts = clock.split(':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour >= 24.0 || minute >= 60.0 || second >= 61.0 {
        return None;
    }
    let offset = match zone {
        "" | "Z" => 0.0,
        zone => {
            let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
            let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
            let (hours, minutes) = digits.split_at_checked(2)?;
            sign * (hours.parse::<f64>().ok()? * 60.0 + minutes.parse::<f64>().unwrap_or(0.0))
        }
    };
    let seconds = (hour * 60.0 + minute - offset) * 60.0 + second;
    Some(days(year, month, day) as f64 * DAY_MS + seconds * 1000.0)
}

/// The day of a wall time in ms since 1970, `YYYY-MM-DD` in UTC.
pub fn date(wall_ms: f64) -> String {
    let (year, month, day) = civil((wall_ms / DAY_MS).floor() as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days since 1970 of a date of the Gregorian calendar: years begin in March, so that the leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Milliseconds to one decimal, as captures have them.
pub(super) fn tenths(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::{date, wall_ms};

    #[test]
    fn times_are_read_in_every_zone_and_days_come_back() {
        for (text, day, ms) in [
            ("1970-01-01T00:00:00Z", "1970-01-01", 0.0),
            ("2024-02-29 23:59:59.5", "2024-02-29", 1_709_251_199_500.0),
            ("2024-03-01T01:00:00+02:00", "2024-02-29", 1_709_247_600_000.0),
            ("2026-11-30T10:00:00.123Z", "2026-11-30", 1_796_032_800_123.0),
        ] {
            let read = wall_ms(text).expect(text);
            assert_eq!((read, date(read).as_str()), (ms, day), "{text}");
        }
        for wrong in ["", "2024-02-29", "2024-13-01T00:00:00Z", "2024-02-29T25:00:00Z", "yesterday at ten"] {
            assert_eq!(wall_ms(wrong), None, "{wrong}");
        }
    }
}
