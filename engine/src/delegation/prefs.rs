//! What the user prefers, as rows of the store: a key and a JSON value each.
//!
//! A value that cannot be read gives the default of that value and a word about it, never a failure to start: a preference is
//! no reason to lock the user out. A row that was never written means that nothing is off.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::CallError;

/// Key of the harnesses that the user disabled.
pub const DISABLED: &str = "disabled_harnesses";
/// Key of the choice whether chats are named by the provider.
pub const TITLES: &str = "titles";
/// Key of the harnesses whose own subagents are off.
pub const SUBAGENTS_OFF: &str = "native_subagents_off";

/// Harnesses whose own subagents can be switched off. A Codex thread records a disabled mode and keeps it through a resume:
/// switching back on would not reach older chats, so it is not offered there.
pub const SWITCHABLE: [&str; 1] = ["claude-code"];

/// The preferences of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preferences {
    disabled: BTreeSet<String>,
    /// Chats are named by their provider.
    pub titles: bool,
    off: BTreeSet<String>,
}

impl Default for Preferences {
    fn default() -> Self {
        Preferences { disabled: BTreeSet::new(), titles: true, off: BTreeSet::new() }
    }
}

impl Preferences {
    /// From rows of the store. Gives also what could not be read, one text each.
    pub fn load<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> (Self, Vec<String>) {
        let mut preferences = Preferences::default();
        let mut unread = Vec::new();
        for (key, text) in rows {
            let value = serde_json::from_str::<Value>(text).unwrap_or_default();
            let taken = match key {
                DISABLED => names(&value).map(|names| preferences.disabled = names),
                // What cannot be switched was never off.
                SUBAGENTS_OFF => {
                    names(&value).map(|names| preferences.off = names.into_iter().filter(|name| is_switchable(name)).collect())
                }
                TITLES => value.as_bool().map(|on| preferences.titles = on),
                // A row of a later engine is kept in the store and not read.
                _ => Some(()),
            };
            if taken.is_none() {
                unread.push(format!("the preference `{key}` cannot be read and has its default: {text}"));
            }
        }
        (preferences, unread)
    }

    /// The row of a key as it is stored.
    pub fn row(&self, key: &str) -> (String, String) {
        let value = match key {
            DISABLED => json!(self.disabled),
            SUBAGENTS_OFF => json!(self.off),
            _ => json!(self.titles),
        };
        (key.to_owned(), value.to_string())
    }

    /// Whether the subagents of a harness are switched off.
    pub fn subagents_off(&self, harness: &str) -> bool {
        self.off.contains(harness)
    }

    /// The answer to `GetNativeSubagents`.
    pub fn native_subagents(&self) -> Value {
        json!({"off": self.off, "switchable": SWITCHABLE})
    }

    /// Switches the subagents of a harness.
    ///
    /// # Errors
    /// When they cannot be switched.
    pub fn set_native_subagents(&mut self, harness: &str, on: bool) -> Result<(), CallError> {
        if !is_switchable(harness) {
            return Err(CallError::refused(format!("The subagents of {harness} cannot be switched.")));
        }
        if on {
            self.off.remove(harness);
        } else {
            self.off.insert(harness.to_owned());
        }
        Ok(())
    }

    /// Whether a harness is used: detected, installed and not disabled.
    pub fn is_enabled(&self, harness: &str, installed: &[&str]) -> bool {
        installed.contains(&harness) && !self.disabled.contains(harness)
    }

    /// Enables or disables a harness.
    ///
    /// # Errors
    /// The last one that is enabled stays so.
    pub fn set_enabled(&mut self, harness: &str, on: bool, installed: &[&str]) -> Result<(), CallError> {
        let others = installed.iter().any(|other| *other != harness && self.is_enabled(other, installed));
        if on {
            self.disabled.remove(harness);
        } else if others || !self.is_enabled(harness, installed) {
            self.disabled.insert(harness.to_owned());
        } else {
            return Err(CallError::refused(format!("{harness} is the last one that is enabled.")));
        }
        Ok(())
    }
}

/// Whether the subagents of a harness can be switched off.
pub fn is_switchable(harness: &str) -> bool {
    SWITCHABLE.contains(&harness)
}

fn names(value: &Value) -> Option<BTreeSet<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(preferences: &Preferences) -> (Preferences, Vec<String>) {
        let rows = [DISABLED, TITLES, SUBAGENTS_OFF].map(|key| preferences.row(key));
        Preferences::load(rows.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }

    /// SW-07: only what is switchable is switched, and the choice is there after a reload.
    #[test]
    fn a_choice_is_lost_or_a_harness_that_cannot_be_switched_is_off() {
        let mut preferences = Preferences::default();
        assert!(preferences.set_native_subagents("claude-code", false).is_ok());
        let refused = preferences.set_native_subagents("codex", false).expect_err("Codex is refused");
        assert_eq!(refused.message, "The subagents of codex cannot be switched.");
        assert_eq!(preferences.native_subagents(), json!({"off": ["claude-code"], "switchable": ["claude-code"]}));
        assert_eq!(stored(&preferences), (preferences.clone(), Vec::new()));
        assert!(preferences.set_native_subagents("claude-code", true).is_ok());
        assert_eq!(stored(&preferences).0, Preferences::default());
    }

    /// SW-11: preferences of an engine that knew no switch turn nothing off.
    #[test]
    fn older_preferences_turn_subagents_off() {
        let (loaded, unread) = Preferences::load([(TITLES, "false"), ("window", "{}")]);
        assert!(!loaded.subagents_off("claude-code") && !loaded.titles && unread.is_empty(), "{loaded:?} {unread:?}");
    }

    /// A value that cannot be read costs only itself, and is told.
    #[test]
    fn one_corrupt_value_costs_the_others_or_the_start() {
        for corrupt in ["", "{", "7", "[7]", "\"claude-code\""] {
            let (loaded, unread) = Preferences::load([(SUBAGENTS_OFF, corrupt), (TITLES, "false")]);
            assert!(!loaded.subagents_off("claude-code") && !loaded.titles, "{corrupt}: {loaded:?}");
            assert_eq!(unread.len(), 1, "{corrupt}: {unread:?}");
        }
        // What cannot be switched was never off, whoever wrote it.
        let (loaded, unread) = Preferences::load([(SUBAGENTS_OFF, "[\"codex\",\"claude-code\"]")]);
        assert_eq!(loaded.native_subagents()["off"], json!(["claude-code"]));
        assert!(unread.is_empty());
    }

    #[test]
    fn the_last_harness_is_disabled() {
        let installed = ["claude-code", "codex"];
        let mut preferences = Preferences::default();
        assert!(preferences.set_enabled("codex", false, &installed).is_ok());
        assert!(preferences.set_enabled("claude-code", false, &installed).is_err());
        assert!(preferences.is_enabled("claude-code", &installed) && !preferences.is_enabled("codex", &installed));
        // One that is not installed counts for nothing.
        assert!(preferences.set_enabled("pi", false, &installed).is_ok());
        assert!(!preferences.is_enabled("pi", &installed));
    }
}
