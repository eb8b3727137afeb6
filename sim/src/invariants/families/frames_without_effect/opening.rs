//! N5: the opening prompt of a child, and its echo.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{
    frames,
    wire::{Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::{Part, Tab},
};

/// Prompts with which a frame opens children: tool id, or the task id of a typed fork, and text.
pub(super) fn openings(frame: &Value) -> impl Iterator<Item = (&str, &str)> {
    let plain = frames::kind(frame) == "assistant" && frames::tag(frame).is_none();
    let calls = frames::tool_uses(frame).filter(move |(_, name, _)| plain && frames::spawns(name));
    let calls = calls.filter_map(|(id, _, block)| Some((id, block["input"]["prompt"].as_str()?)));
    let fork = if frames::is_fork_start(frame) { frames::task(frame).zip(frame["prompt"].as_str()) } else { None };
    calls.chain(fork)
}

/// The opening prompt of one child.
#[derive(Default)]
struct Opening {
    text: String,
    /// Texts equal to it that the wire told of: the opening itself, its echo, a later steer with the same words.
    told: u32,
    shown: u32,
    chip: bool,
}

/// N5.
#[derive(Default)]
pub(super) struct OneOpening {
    wire: Wire,
    /// By chip; typed forks by task until their chip appears.
    openings: BTreeMap<String, Opening>,
    /// Words of messages to running children: who gets them is for the host to find.
    sent: Vec<String>,
}

impl OneOpening {
    fn learn(&mut self, frame: &Value) {
        for (id, text) in openings(frame).filter(|(_, text)| !text.trim().is_empty()) {
            let opening = slot(&mut self.openings, id);
            opening.text = text.trim().to_string();
        }
        if frames::kind(frame) == "assistant" {
            let sends = frames::tool_uses(frame).filter(|(_, name, _)| *name == "SendMessage");
            let texts = sends.flat_map(|(_, _, block)| block["input"].as_object().into_iter().flatten());
            self.sent.extend(texts.filter_map(|(_, value)| value.as_str()).map(|text| text.trim().to_string()));
        }
        if let ("user", Some(tag)) = (frames::kind(frame), frames::tag(frame)) {
            for text in frames::texts(frame).map(str::trim) {
                let told = self
                    .openings
                    .iter_mut()
                    .filter(|(id, opening)| opening.text == text && (id.as_str() == tag || tag.starts_with(FORK_TAG)));
                told.for_each(|(_, opening)| opening.told += 1);
            }
        }
    }

    fn of(&mut self, chip: &str) -> Option<&mut Opening> {
        if self.openings.contains_key(chip) {
            return self.openings.get_mut(chip);
        }
        let fork = chip.starts_with(FORK_TAG);
        self.openings.iter_mut().find(|(task, _)| fork && chip.contains(task.as_str())).map(|(_, opening)| opening)
    }
}

/// Tag under which the CLI replays the transcript of a typed fork.
const FORK_TAG: &str = "forked-command-";

impl Invariant for OneOpening {
    fn id(&self) -> &'static str {
        "N5"
    }

    fn words(&self) -> &'static str {
        "the opening prompt of a child stands in its tab once"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            if let What::Said { frame, .. } = &happening.what {
                self.learn(frame);
            }
        }
        for batch in &look.batches {
            if batch.rewound {
                // What the host had begun to tell is void where it was not written down.
                self.openings.clear();
            }
            let chat = &batch.chat.id;
            for entry in batch.entries {
                if frames::chip_name(&entry.event).is_some()
                    && let Some(opening) = self.of(entry.event["id"].as_str().unwrap_or_default())
                {
                    opening.chip = true;
                }
                let Some((chip, event)) = frames::child(&entry.event) else { continue };
                let Some(text) = event["text"].as_str().filter(|_| frames::kind(event) == "userMessage") else { continue };
                let text = text.trim();
                let sent = self.sent.iter().filter(|sent| *sent == text).count() as u32;
                let Some(opening) = self.of(chip).filter(|opening| opening.text == text) else { continue };
                opening.shown += 1;
                // The first tagged text equal to the opening is its echo; more of them are the child's own.
                let allowed = 1 + opening.told.saturating_sub(1) + sent;
                let shown = opening.shown;
                found.judge("N5", moment.at, shown <= allowed, || {
                    format!("{chat}: the opening of {chip} is told {shown} times, {allowed} would be right")
                });
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for (id, opening) in self.openings.iter().filter(|(_, opening)| opening.chip) {
            found.judge("N5", moment.at, opening.shown > 0, || format!("the opening of {id} is told nowhere"));
        }
        for chat in &moment.view.chats {
            for row in &chat.rows {
                let Some(tab) = chat.tabs.iter().find(|tab| tab.child == row.child) else { continue };
                let Some(opening) = self.of(&row.chip) else { continue };
                let times = user_texts(tab).filter(|text| *text == opening.text).count() as u32;
                let shown = opening.shown;
                found.judge("N5", moment.at, times <= shown.max(1), || {
                    format!("tab {} of {} holds its opening {times} times", row.title, chat.id)
                });
            }
        }
    }
}

fn user_texts(tab: &Tab) -> impl Iterator<Item = &str> {
    let parts = tab.entries.iter().filter(|entry| entry.role == "user").flat_map(|entry| &entry.parts);
    parts.filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.trim()),
        _ => None,
    })
}
