//! The one timer table of an engine: rows (deadline, class, key), in that order. The shell sleeps until the first deadline.
//!
//! Nothing else in the engine keeps time. Windows (parked gate, duplicate result) are comparisons and stand nowhere here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Class of a timer; decides between timers of one instant (process before driver before run before store before device).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Process and transport.
    P,
    /// Driver.
    D,
    /// Run.
    R,
    /// Delivery and store.
    L,
    /// Device.
    S,
}

/// Name of a timer: whose it is, what it is for, and a number where several of one name may stand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerKey {
    /// Class letter.
    pub class: Class,
    /// Chat id, or device id.
    pub owner: String,
    /// What it is for: `flush`, `kill-grace` …
    pub name: &'static str,
    /// Number, 0 where only one can stand.
    pub number: u64,
}

impl TimerKey {
    /// A timer of which the owner has only one.
    pub fn new(class: Class, owner: &str, name: &'static str) -> Self {
        TimerKey { class, owner: owner.to_owned(), name, number: 0 }
    }

    /// One of several timers of that name.
    pub fn numbered(class: Class, owner: &str, name: &'static str, number: u64) -> Self {
        TimerKey { class, owner: owner.to_owned(), name, number }
    }
}

impl fmt::Display for TimerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.owner, self.name, self.number)
    }
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct TimerTable {
    rows: BTreeSet<(u64, Class, String, TimerKey)>,
    deadlines: BTreeMap<TimerKey, u64>,
    suspended: BTreeMap<TimerKey, u64>,
}

impl TimerTable {
    /// Arms a timer, or moves it to a new deadline (ms of the monotonic clock).
    pub fn arm(&mut self, key: TimerKey, deadline: u64) {
        self.disarm(&key);
        self.rows.insert((deadline, key.class, key.to_string(), key.clone()));
        self.deadlines.insert(key, deadline);
    }

    /// Takes a timer out; true when it stood in the table or was suspended.
    pub fn disarm(&mut self, key: &TimerKey) -> bool {
        let was_suspended = self.suspended.remove(key).is_some();
        let Some(deadline) = self.deadlines.remove(key) else { return was_suspended };
        self.rows.remove(&(deadline, key.class, key.to_string(), key.clone()));
        true
    }

    /// Takes all timers of an owner out, but for those that `keep` names.
    pub fn disarm_owner(&mut self, owner: &str, keep: impl Fn(&TimerKey) -> bool) {
        let keys: Vec<TimerKey> =
            self.deadlines.keys().chain(self.suspended.keys()).filter(|k| k.owner == owner && !keep(k)).cloned().collect();
        for key in keys {
            self.disarm(&key);
        }
    }

    /// Whether the timer stands in the table.
    pub fn is_armed(&self, key: &TimerKey) -> bool {
        self.deadlines.contains_key(key)
    }

    /// Takes a timer out with its remaining time (a question to the human is open).
    pub fn suspend(&mut self, key: &TimerKey, now: u64) {
        if let Some(deadline) = self.deadlines.get(key).copied() {
            self.disarm(key);
            self.suspended.insert(key.clone(), deadline.saturating_sub(now));
        }
    }

    /// Puts a suspended timer back with its remaining time.
    pub fn resume(&mut self, key: &TimerKey, now: u64) {
        if let Some(rest) = self.suspended.remove(key) {
            self.arm(key.clone(), now + rest);
        }
    }

    /// The first deadline, ms.
    pub fn first(&self) -> Option<u64> {
        self.rows.first().map(|row| row.0)
    }

    /// Takes the first row out when it is due.
    pub fn take_due(&mut self, now: u64) -> Option<TimerKey> {
        let (deadline, ..) = self.rows.first()?;
        if *deadline > now {
            return None;
        }
        let (_, _, _, key) = self.rows.pop_first()?;
        self.deadlines.remove(&key);
        Some(key)
    }

    /// All rows in table order: deadline (ms), key.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &TimerKey)> {
        self.rows.iter().map(|(deadline, _, _, key)| (*deadline, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arms `(deadline, class, owner)` rows and gives the order in which they fire.
    fn order(rows: &[(u64, Class, &str)]) -> Vec<String> {
        let mut table = TimerTable::default();
        for (deadline, class, owner) in rows {
            table.arm(TimerKey::new(*class, owner, "t"), *deadline);
        }
        std::iter::from_fn(|| table.take_due(u64::MAX)).map(|key| format!("{:?} {}", key.class, key.owner)).collect()
    }

    #[test]
    fn deadline_then_class_then_key_decide() {
        let fired = order(&[(5, Class::S, "a"), (5, Class::P, "b"), (5, Class::P, "a"), (4, Class::S, "z"), (5, Class::D, "a")]);
        assert_eq!(fired, ["S z", "P a", "P b", "D a", "S a"]);
    }

    #[test]
    fn a_timer_disarmed_by_another_of_the_same_instant_is_gone() {
        let mut table = TimerTable::default();
        let (first, second) = (TimerKey::new(Class::D, "c", "stop-settle"), TimerKey::new(Class::R, "c", "interrupt-deadline"));
        table.arm(first.clone(), 10);
        table.arm(second.clone(), 10);
        assert_eq!(table.take_due(10), Some(first));
        assert!(table.disarm(&second));
        assert_eq!(table.take_due(10), None);
    }

    #[test]
    fn a_suspended_timer_comes_back_with_its_remaining_time() {
        let mut table = TimerTable::default();
        let key = TimerKey::new(Class::D, "c", "unreported-settle");
        table.arm(key.clone(), 5_000);
        table.suspend(&key, 2_000);
        assert_eq!(table.first(), None);
        table.resume(&key, 60_000);
        assert_eq!(table.first(), Some(63_000));
    }

    #[test]
    fn arming_again_replaces_the_row() {
        let mut table = TimerTable::default();
        let key = TimerKey::new(Class::R, "c", "flush");
        table.arm(key.clone(), 120);
        table.arm(key.clone(), 300);
        assert_eq!(table.take_due(299), None);
        assert_eq!(table.take_due(300), Some(key));
        assert_eq!(table.first(), None);
    }
}
