//! What a settings view shows of the switch, as a pure function of what is known of a device.
//!
//! The switch moves at once on a flip. While the request is in flight another flip waits: a second request could reach the
//! device first, and the switch would end up the other way.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CallError, ErrorKind, prefs::is_switchable};

/// Shown beside an inert switch of a device that does not know the request.
pub const OUTDATED: &str = "The engine on this device must be updated before this can be switched.";

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Section {
    /// Nothing.
    Hidden,
    /// A switch.
    Switch {
        /// Subagents are on.
        on: bool,
        /// It cannot be moved.
        inert: bool,
        /// A line under it.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
}

/// What is known of a harness on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// The harness that the section is about.
    pub harness: String,
    /// The target has preferences of its own.
    pub own_preferences: bool,
    /// What the device last answered to `GetNativeSubagents`; none before it did.
    pub known: Option<Result<Known, CallError>>,
    /// Where the user last put the switch, while the device has not answered.
    in_flight: Option<bool>,
    /// A flip that waits for that answer.
    waits: Option<bool>,
    /// The device's words about a change that it refused.
    refusal: Option<String>,
}

/// The answer to `GetNativeSubagents`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Harnesses whose subagents are off.
    pub off: Vec<String>,
    /// Harnesses that can be switched.
    pub switchable: Vec<String>,
}

impl Known {
    /// From the answer's value; what it lacks is empty.
    pub fn read(answer: &Value) -> Known {
        let list = |key: &str| {
            let names = answer[key].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Known { off: list("off"), switchable: list("switchable") }
    }
}

/// A request that the view sends to the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Send {
    /// `GetNativeSubagents`.
    Get,
    /// `SetNativeSubagents` to this.
    Set(bool),
}

impl Device {
    /// A device of which nothing is known yet.
    pub fn new(harness: &str, own_preferences: bool) -> Self {
        Device { harness: harness.to_owned(), own_preferences, ..Device::default() }
    }

    fn stored_on(&self) -> bool {
        !matches!(&self.known, Some(Ok(known)) if known.off.contains(&self.harness))
    }

    /// The user moves the switch. Gives what is to be sent now; nothing while a request is in flight or the switch is inert.
    pub fn flip(&mut self) -> Option<Send> {
        let Section::Switch { on, inert: false, .. } = delegation_section(self) else { return None };
        self.refusal = None;
        if self.in_flight.is_some() {
            self.waits = Some(!self.waits.unwrap_or(on));
            return None;
        }
        self.in_flight = Some(!on);
        Some(Send::Set(!on))
    }

    /// The device answered `GetNativeSubagents`.
    pub fn loaded(&mut self, answer: Result<Known, CallError>) {
        self.known = Some(answer);
    }

    /// The device answered `SetNativeSubagents`. Gives what is to be sent next: a flip that waited, or a reload after a refusal.
    pub fn changed(&mut self, answer: Result<Known, CallError>) -> Option<Send> {
        self.in_flight = None;
        let waits = self.waits.take();
        match answer {
            Ok(known) => {
                self.known = Some(Ok(known));
                let next = waits.filter(|on| *on != self.stored_on())?;
                self.in_flight = Some(next);
                Some(Send::Set(next))
            }
            Err(error) => {
                self.refusal = Some(error.message);
                Some(Send::Get)
            }
        }
    }
}

/// What the settings view shows.
pub fn delegation_section(device: &Device) -> Section {
    if !device.own_preferences || !is_switchable(&device.harness) {
        return Section::Hidden;
    }
    let inert = |line: String| Section::Switch { on: true, inert: true, line: Some(line) };
    match &device.known {
        // Nothing is known yet: a switch that moves under the user's hand would be worse than none.
        None => Section::Hidden,
        Some(Err(error)) if error.kind == ErrorKind::UnknownMethod => inert(OUTDATED.to_owned()),
        Some(Err(error)) => inert(error.message.clone()),
        Some(Ok(known)) if !known.switchable.contains(&device.harness) => Section::Hidden,
        Some(Ok(_)) => {
            let on = device.in_flight.unwrap_or_else(|| device.stored_on());
            Section::Switch { on, inert: false, line: device.refusal.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(off: &[&str]) -> Known {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Known { off: own(off), switchable: own(&["claude-code"]) }
    }

    fn shows(device: &Device) -> (bool, bool, Option<String>) {
        match delegation_section(device) {
            Section::Switch { on, inert, line } => (on, inert, line),
            Section::Hidden => panic!("nothing is shown"),
        }
    }

    /// SW-08: it moves at once, and a second flip waits for the answer to the first.
    #[test]
    fn a_second_flip_overtakes_the_first() {
        let mut device = Device::new("claude-code", true);
        device.loaded(Ok(known(&[])));
        assert_eq!(device.flip(), Some(Send::Set(false)));
        assert_eq!(shows(&device), (false, false, None), "it moves at once");
        assert_eq!(device.flip(), None, "a request is in flight");
        assert_eq!(shows(&device), (false, false, None), "the second flip waits");
        assert_eq!(device.changed(Ok(known(&["claude-code"]))), Some(Send::Set(true)));
        assert_eq!(shows(&device), (true, false, None));
        assert_eq!(device.changed(Ok(known(&[]))), None);
        assert_eq!(shows(&device), (true, false, None));
    }

    /// A flip and its counter-flip while a request is in flight ask for nothing more.
    #[test]
    fn flips_that_cancel_out_are_sent() {
        let mut device = Device::new("claude-code", true);
        device.loaded(Ok(known(&[])));
        device.flip();
        assert_eq!((device.flip(), device.flip()), (None, None));
        assert_eq!(device.changed(Ok(known(&["claude-code"]))), None);
        assert_eq!(shows(&device), (false, false, None));
    }

    /// A change that the device refuses shows its words and loads again.
    #[test]
    fn a_refused_change_stays_on_the_switch() {
        let mut device = Device::new("claude-code", true);
        device.loaded(Ok(known(&[])));
        device.flip();
        assert_eq!(device.changed(Err(CallError::refused("The disk is full."))), Some(Send::Get));
        device.loaded(Ok(known(&[])));
        assert_eq!(shows(&device), (true, false, Some("The disk is full.".to_owned())));
        device.flip();
        assert_eq!(shows(&device), (false, false, None), "the words of the last change are gone");
    }

    /// SW-09: an engine without the request, one with an error, and a harness that cannot be switched.
    #[test]
    fn an_error_hides_the_section_or_is_shown_raw() {
        let mut device = Device::new("claude-code", true);
        device.loaded(Err(CallError::unknown_method("GetNativeSubagents")));
        assert_eq!(shows(&device), (true, true, Some(OUTDATED.to_owned())));
        assert_eq!(device.flip(), None, "an inert switch asks for nothing");
        device.loaded(Err(CallError::refused("The store is busy.")));
        assert_eq!(shows(&device), (true, true, Some("The store is busy.".to_owned())));
        let mut codex = Device::new("codex", true);
        codex.loaded(Ok(Known { off: Vec::new(), switchable: vec!["codex".to_owned()] }));
        assert_eq!(delegation_section(&codex), Section::Hidden);
    }

    /// SW-23: a target without preferences of its own has nothing to switch.
    #[test]
    fn a_switch_that_changes_nothing_is_shown() {
        let mut device = Device::new("claude-code", false);
        device.loaded(Ok(known(&[])));
        assert_eq!(delegation_section(&device), Section::Hidden);
        assert_eq!(device.flip(), None);
    }
}
