//! Ids and timestamps in the CLI's own shapes.

const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// A version 4 UUID.
pub fn uuid(random: &mut dyn FnMut() -> u64) -> String {
    let (a, b) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xfff,
        0x8000 | (b >> 48) & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

/// The id of an agent or a fork: `a` and 16 hex digits.
pub fn agent(random: &mut dyn FnMut() -> u64) -> String {
    format!("a{:016x}", random())
}

/// The id of a command's task: `b` and 8 letters or digits.
pub fn command(random: &mut dyn FnMut() -> u64) -> String {
    let mut bits = random();
    let mut id = String::from("b");
    for _ in 0..8 {
        id.push(char::from(BASE36[(bits % 36) as usize]));
        bits /= 36;
    }
    id
}

/// One run of a task: 9 base-36 digits of the time, `-`, 8 hex digits.
pub fn run(wall_ms: u64, random: &mut dyn FnMut() -> u64) -> String {
    let mut digits = [b'0'; 9];
    let mut rest = wall_ms;
    for digit in digits.iter_mut().rev() {
        *digit = BASE36[(rest % 36) as usize];
        rest /= 36;
    }
    format!("{}-{:08x}", digits.map(char::from).iter().collect::<String>(), random() >> 32)
}

/// A timestamp, `2026-11-30T19:22:33.037Z`, of ms since 1970.
pub fn timestamp(wall_ms: u64) -> String {
    let (days, of_day) = (wall_ms / 86_400_000, wall_ms % 86_400_000);
    // Civil date of a day number, March being the first month of a year.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second, ms) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// A path as the CLI names its folder: every character but letters and digits becomes `-`.
pub fn slug(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_the_instant_it_was_made_of() {
        assert_eq!(timestamp(1_796_066_553_037), "2026-11-30T19:22:33.037Z");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn ids_have_the_lengths_that_hosts_match_on() {
        let mut bits = 0x0123_4567_89ab_cdef;
        let mut random = || {
            bits += 1;
            bits
        };
        assert_eq!(uuid(&mut random).len(), 36);
        assert_eq!(&uuid(&mut random)[14..15], "4");
        assert_eq!(agent(&mut random).len(), 17);
        assert_eq!(command(&mut random).len(), 9);
        let run = run(1_796_066_553_037, &mut random);
        assert_eq!((run.len(), &run[9..10]), (18, "-"));
    }

    #[test]
    fn a_slug_keeps_letters_and_digits() {
        assert_eq!(slug("/home/dev/my_project.2"), "-home-dev-my-project-2");
    }
}
