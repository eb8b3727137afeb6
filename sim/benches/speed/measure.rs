//! A stopwatch, the middle of many times, and a line of the table.

use std::{fmt, time::Duration};

/// Times of one thing that was done many times.
pub struct Times(Vec<Duration>);

impl Times {
    /// Does it `count` times, at least once; the first time is not counted, since it fills caches.
    ///
    /// # Errors
    /// What `each` fails with.
    pub fn of(count: usize, mut each: impl FnMut() -> anyhow::Result<Duration>) -> anyhow::Result<Times> {
        each()?;
        let mut times = (0..count.max(1)).map(|_| each()).collect::<anyhow::Result<Vec<_>>>()?;
        times.sort_unstable();
        Ok(Times(times))
    }

    /// The time that this share of them did not exceed; 0.5 is the middle one.
    pub fn at(&self, share: f64) -> Duration {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }

    /// The middle one, in milliseconds.
    pub fn median_ms(&self) -> f64 {
        ms(self.at(0.5))
    }

    /// What one in twenty exceeds, in words.
    pub fn p95(&self) -> String {
        format!("p95 {:.2} ms, {} times", ms(self.at(0.95)), self.0.len())
    }
}

/// Milliseconds of a duration.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// How long something takes on the wall, and what it gave.
#[allow(clippy::disallowed_methods, reason = "a benchmark measures the wall; nothing of a run sees it")]
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = std::time::Instant::now();
    let made = work();
    (began.elapsed(), made)
}

/// What a value should be.
#[derive(Clone, Copy)]
pub enum Aim {
    /// At least so much.
    Least(f64),
    /// At most so much.
    Most(f64),
    /// Said for its own sake.
    None,
}

/// A line of the table.
pub struct Row {
    /// What was measured.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be.
    pub aim: Aim,
    /// How it was measured.
    pub how: String,
}

impl Row {
    /// The head of the table.
    pub const HEAD: &str = "what                                                value  unit         aim          how";

    /// Whether the value is what it should be.
    pub fn is_met(&self) -> bool {
        match self.aim {
            Aim::Least(least) => self.value >= least,
            Aim::Most(most) => self.value <= most,
            Aim::None => true,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aim = match self.aim {
            Aim::Least(least) => format!("≥ {least}"),
            Aim::Most(most) => format!("≤ {most}"),
            Aim::None => String::new(),
        };
        let aim = if self.is_met() { aim } else { format!("{aim} MISSED") };
        let digits = if self.value < 100.0 { 2 } else { 0 };
        write!(f, "{:46} {:>10.digits$}  {:11}  {aim:12} {}", self.name, self.value, self.unit, self.how)
    }
}
