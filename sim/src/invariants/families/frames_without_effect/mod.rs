//! N1 to N5: frames of Claude Code that must have no effect.

mod opening;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    frames,
    wire::{Batch, Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
};

/// A fresh judge for each rule.
pub(super) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::new(ShellIsNoChild::default()),
        Box::new(MarkerIsNoSteer::default()),
        Box::new(ForeignTask::default()),
        Box::new(SecondInit::default()),
        Box::new(opening::OneOpening::default()),
    ]
}

/// The first event of a batch that is more than a note.
fn effect<'a>(batch: &Batch<'a>) -> Option<&'a str> {
    batch.entries.iter().map(|entry| frames::kind(&entry.event)).find(|kind| *kind != "note")
}

/// N1.
#[derive(Default)]
struct ShellIsNoChild {
    wire: Wire,
    shells: BTreeSet<String>,
}

impl Invariant for ShellIsNoChild {
    fn id(&self) -> &'static str {
        "N1"
    }

    fn words(&self) -> &'static str {
        "a shell task never makes a chip or a row, a tool's progress never opens a child"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        let mut told = false;
        for (_, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            let shell = match (frames::kind(frame), frames::system(frame)) {
                // The tag of a progress frame is the tool's own id. Tools that really open a child keep theirs.
                ("tool_progress", _) if frame["tool_name"].as_str() == Some("Bash") => frame["parent_tool_use_id"].as_str(),
                (_, Some("task_started")) if frame["task_type"].as_str() == Some("local_bash") => frames::task_tool(frame),
                (_, Some("task_notification" | "task_updated")) => {
                    told |= frames::task_tool(frame).is_some_and(|tool| self.shells.contains(tool));
                    None
                }
                _ => None,
            };
            if let Some(shell) = shell {
                told = true;
                self.shells.insert(shell.to_string());
            }
        }
        if self.shells.is_empty() {
            return;
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            for entry in batch.entries {
                let of_shell = |id: Option<&str>| id.is_some_and(|id| self.shells.contains(id));
                let child = of_shell(frames::child(&entry.event).map(|(chip, _)| chip));
                let chip = frames::chip_name(&entry.event).is_some() && of_shell(entry.event["id"].as_str());
                if child || chip {
                    found.judge("N1", moment.at, false, || {
                        format!("journal {} of {chat} makes a child of a shell command", entry.seq)
                    });
                }
            }
            if let Some(row) = batch.chat.rows.iter().find(|row| self.shells.contains(&row.chip)) {
                found.judge("N1", moment.at, false, || format!("{chat} shows row {} for a shell command", row.title));
            }
        }
        if told {
            found.checked += 1;
        }
    }
}

/// N2.
#[derive(Default)]
struct MarkerIsNoSteer {
    wire: Wire,
    markers: BTreeSet<String>,
    openings: BTreeSet<String>,
}

/// How the CLI marks a child that it interrupted.
const INTERRUPT_MARKER: &str = "[Request interrupted";

impl Invariant for MarkerIsNoSteer {
    fn id(&self) -> &'static str {
        "N2"
    }

    fn words(&self) -> &'static str {
        "the CLI's own words about an interrupted child are no message to it"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            self.openings.extend(opening::openings(frame).map(|(_, text)| text.trim().to_string()));
            if frames::kind(frame) == "user" && frames::tag(frame).is_some() {
                for text in frames::texts(frame).map(str::trim).filter(|text| text.starts_with(INTERRUPT_MARKER)) {
                    found.checked += 1;
                    self.markers.insert(text.to_string());
                }
            }
        }
        for batch in &look.batches {
            for entry in batch.entries {
                let Some((chip, event)) = frames::child(&entry.event) else { continue };
                let Some(text) = event["text"].as_str().filter(|_| frames::kind(event) == "userMessage") else { continue };
                let text = text.trim();
                if self.markers.contains(text) && !self.openings.contains(text) {
                    found.judge("N2", moment.at, false, || {
                        format!("journal {} of {}: child {chip} is shown a message \"{text}\"", entry.seq, batch.chat.id)
                    });
                }
            }
        }
    }
}

/// N3.
#[derive(Default)]
struct ForeignTask {
    wire: Wire,
    spawns: BTreeSet<String>,
    /// Tasks that belong to the chat, or may belong to it.
    ours: BTreeSet<String>,
    /// Tasks with the calls that they stand for; the call may be told later than its task.
    tools: BTreeMap<String, String>,
    pills: BTreeMap<String, u32>,
}

impl ForeignTask {
    fn learn(&mut self, frame: &Value) {
        if frames::tag(frame).is_none() {
            for (id, name, _) in frames::tool_uses(frame) {
                // A message to an agent starts a task of it too.
                if frames::spawns(name) || name == "SendMessage" {
                    self.spawns.insert(id.to_string());
                }
            }
            // A launch names its task in the result of the call.
            let launched = frame["tool_use_result"]["agentId"].as_str().or_else(|| frame["toolUseResult"]["agentId"].as_str());
            self.ours.extend(launched.map(str::to_string));
        }
        if frames::system(frame) == Some("task_started") {
            let Some(task) = frames::task(frame) else { return };
            match frames::task_tool(frame) {
                Some(tool) => _ = self.tools.insert(task.to_string(), tool.to_string()),
                None if frames::is_fork_start(frame) => _ = self.ours.insert(task.to_string()),
                None => {}
            }
        }
    }

    fn is_ours(&self, task: &str) -> bool {
        self.ours.contains(task) || self.tools.get(task).is_some_and(|tool| self.spawns.contains(tool))
    }
}

impl Invariant for ForeignTask {
    fn id(&self) -> &'static str {
        "N3"
    }

    fn words(&self) -> &'static str {
        "the end of a task that is no subagent of this chat has no effect"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            if let What::Said { frame, .. } = &happening.what {
                self.learn(frame);
            }
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let pill = std::mem::replace(slot(&mut self.pills, chat), batch.chat.pill);
            let Some((_, pid, frame)) = batch.span.only_frame(moment.history) else { continue };
            let foreign = frames::task_end(frame).is_some_and(|task| !self.is_ours(task));
            // A process that resumed a session may tell of children that this run never saw start.
            let resumed = self.wire.procs.get(&pid).is_none_or(|proc| proc.resumed);
            if !foreign || resumed || !self.wire.is_of(pid, chat) {
                continue;
            }
            let effect = effect(batch);
            found.judge("N3", moment.at, effect.is_none(), || {
                format!("{chat}: a task that is no subagent here ended, and the journal got a {}", effect.unwrap_or_default())
            });
            found.judge("N3", moment.at, pill == batch.chat.pill, || {
                format!("{chat}: a task that is no subagent here ended, and the pill went from {pill} to {}", batch.chat.pill)
            });
        }
    }
}

/// N4.
#[derive(Default)]
struct SecondInit {
    wire: Wire,
    inits: BTreeMap<u32, u64>,
    started: BTreeMap<String, u64>,
}

impl Invariant for SecondInit {
    fn id(&self) -> &'static str {
        "N4"
    }

    fn words(&self) -> &'static str {
        "a second init of a process has no effect"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.read(moment);
        for (_, happening) in look.happened() {
            if let What::Said { pid, frame, .. } = &happening.what
                && frames::system(frame) == Some("init")
                && frame["session_id"].is_string()
            {
                *self.inits.entry(*pid).or_default() += 1;
            }
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let begun = batch.entries.iter().filter(|entry| frames::kind(&entry.event) == "sessionStarted").count() as u64;
            if begun > 0 {
                let started = slot(&mut self.started, chat);
                *started += begun;
                let (started, procs) = (*started, self.wire.procs_of(chat).count() as u64);
                // A chat may have been read from a store: then its journal holds sessions of processes long gone.
                let known = self.wire.procs.values().all(|proc| proc.chat.is_some());
                let reads = procs > 0 && known && batch.chat.journal.first().is_none_or(|entry| entry.seq <= 1);
                if reads {
                    found.judge("N4", moment.at, started <= procs, || {
                        format!("{chat}: {started} sessions began in {procs} process(es)")
                    });
                }
            }
            let Some((_, pid, frame)) = batch.span.only_frame(moment.history) else { continue };
            let again = frames::system(frame) == Some("init") && self.inits.get(&pid).is_some_and(|count| *count > 1);
            if again && self.wire.is_of(pid, chat) {
                let effect = effect(batch);
                found.judge("N4", moment.at, effect.is_none(), || {
                    format!("{chat}: a second init brought a {} into the journal", effect.unwrap_or_default())
                });
            }
        }
    }
}
