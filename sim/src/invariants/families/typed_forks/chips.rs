//! T1 to T3: the chip of a typed fork, its row, and those it must not bring along.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::frames, FORK_TAG, Forks};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
    view::ChildState,
};

/// T1.
#[derive(Default)]
pub(super) struct OwnChip {
    forks: Forks,
    /// Chips with the task that each stands for.
    tasks: BTreeMap<String, String>,
}

impl OwnChip {
    fn fault(&mut self, chat: &str, chip: &str) -> Option<String> {
        let Some(fork) = self.forks.of(chat).iter().find(|fork| chip.contains(&fork.task)) else {
            return Some(format!("chip {chip} names no run of a command"));
        };
        let task = self.tasks.entry(chip.to_string()).or_insert_with(|| fork.task.clone());
        let known = fork.chip.as_deref().filter(|known| *known != chip);
        if *task != fork.task || known.is_some() {
            return Some(format!("chip {chip} stands for a run that has another chip, or for two"));
        }
        None
    }
}

impl Invariant for OwnChip {
    fn id(&self) -> &'static str {
        "T1"
    }

    fn words(&self) -> &'static str {
        "each run of a typed command has a chip of its own, which names its task"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.forks.next(moment);
        for batch in &look.batches {
            let chat = &batch.chat.id;
            let alone = batch.span.only_frame(moment.history).filter(|(_, _, frame)| frames::is_fork_start(frame));
            if let Some((index, pid, frame)) = alone.filter(|(_, pid, _)| self.forks.wire.is_of(*pid, chat)) {
                let task = frames::task(frame).unwrap_or_default();
                let odd = self.forks.of(chat).iter().any(|fork| fork.task == task && fork.odd);
                let over = self.forks.wire.procs[&pid].over.is_some();
                // Before its message was taken the chat may be parked, and then the gate may drop the chip.
                if self.forks.own_turn(pid, index) && !over && !odd && batch.chat.delivery.rows == 0 {
                    let has = batch.entries.iter().any(|entry| {
                        let id = entry.event["id"].as_str().unwrap_or_default();
                        frames::chip_name(&entry.event).is_some() && id.contains(task)
                    });
                    found.judge("T1", moment.at, has, || {
                        format!("{chat}: the run of a command (task {task}) has no chip of its own")
                    });
                }
            }
            for entry in batch.entries {
                let typed = frames::chip_name(&entry.event).is_some_and(|name| name.starts_with("Agent: /"));
                if let Some(chip) = entry.event["id"].as_str().filter(|id| typed && id.starts_with(FORK_TAG)) {
                    let fault = self.fault(chat, chip);
                    found.judge("T1", moment.at, fault.is_none(), || format!("{chat}: {}", fault.unwrap_or_default()));
                }
                self.forks.wrote(batch, entry);
            }
        }
    }
}

/// T2.
#[derive(Default)]
pub(super) struct RunsUntilSettled {
    forks: Forks,
    /// Settled chips whose row was not seen since.
    settled: BTreeSet<(String, String)>,
}

impl Invariant for RunsUntilSettled {
    fn id(&self) -> &'static str {
        "T2"
    }

    fn words(&self) -> &'static str {
        "a typed fork counts in the pill and has a running row from its start until its settle"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.forks.next(moment);
        for batch in &look.batches {
            for entry in batch.entries {
                self.forks.wrote(batch, entry);
                let settles = frames::child(&entry.event).filter(|(_, child)| frames::kind(child) == "done");
                let known = |chip: &str| self.forks.by_chip(&batch.chat.id, chip).is_some_and(|fork| !fork.odd);
                if let Some((chip, _)) = settles.filter(|(chip, _)| known(chip)) {
                    self.settled.insert((batch.chat.id.clone(), chip.to_string()));
                }
            }
        }
        for chat in &moment.view.chats {
            let running =
                self.forks.of(&chat.id).iter().filter(|fork| {
                    fork.opened && fork.settled.is_none() && !fork.closed && !fork.odd && !self.forks.is_over(fork)
                });
            let running: Vec<&str> = running.filter_map(|fork| fork.chip.as_deref()).collect();
            if chat.delivery.rows == 0 && !running.is_empty() {
                found.judge("T2", moment.at, chat.pill as usize >= running.len(), || {
                    format!("{}: {} typed fork(s) run, the pill says {}", chat.id, running.len(), chat.pill)
                });
            }
            if !chat.delivery.is_delivered() {
                continue;
            }
            for chip in running {
                let row = chat.rows.iter().find(|row| row.chip == chip);
                found.judge("T2", moment.at, row.is_some_and(|row| row.state == ChildState::Running), || {
                    format!("{}: typed fork {chip} runs, its row says {:?}", chat.id, row.map(|row| row.state))
                });
            }
            self.settled.retain(|(of, chip)| {
                if *of != chat.id {
                    return true;
                }
                let runs = chat.rows.iter().any(|row| row.chip == *chip && row.state == ChildState::Running);
                found.judge("T2", moment.at, !runs, || format!("{}: typed fork {chip} is settled, its row runs on", chat.id));
                false
            });
        }
    }
}

/// T3.
#[derive(Default)]
pub(super) struct InnerAgents {
    forks: Forks,
    tasks: BTreeSet<String>,
    inner: BTreeSet<String>,
}

impl Invariant for InnerAgents {
    fn id(&self) -> &'static str {
        "T3"
    }

    fn words(&self) -> &'static str {
        "agents that a typed fork starts get neither chip nor document in this chat"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.forks.next(moment);
        for (_, happening) in look.happened() {
            let What::Said { frame, .. } = &happening.what else { continue };
            if frames::is_fork_start(frame) {
                self.tasks.extend(frames::task(frame).map(str::to_string));
            }
            let by_fork = frame["parent_task_id"].as_str().is_some_and(|task| self.tasks.contains(task));
            if frames::system(frame) == Some("task_started") && by_fork {
                self.inner.extend(frames::task_tool(frame).map(str::to_string));
            }
            if frames::tag(frame).is_some_and(|tag| tag.starts_with(FORK_TAG)) {
                let calls = frames::tool_uses(frame).filter(|(_, name, _)| frames::spawns(name));
                self.inner.extend(calls.map(|(id, _, _)| id.to_string()));
            }
        }
        for batch in &look.batches {
            for entry in batch.entries {
                self.forks.wrote(batch, entry);
                let chip = frames::chip_name(&entry.event).and(entry.event["id"].as_str());
                let inner = chip.filter(|chip| self.inner.contains(*chip));
                if let Some(chip) = inner {
                    found.judge("T3", moment.at, false, || format!("{}: an agent of a fork has chip {chip}", batch.chat.id));
                }
            }
        }
        if self.inner.is_empty() {
            return;
        }
        for chat in &moment.view.chats {
            let row = chat.rows.iter().find(|row| self.inner.contains(&row.chip));
            let ids = chat.tabs.iter().filter_map(|tab| Some((tab, tab.child.rsplit_once("--sub--")?.1)));
            let tab = ids.into_iter().find(|(_, id)| self.inner.contains(*id));
            let shown = row.map(|row| row.chip.as_str()).or(tab.map(|(tab, _)| tab.child.as_str()));
            found.judge("T3", moment.at, shown.is_none(), || {
                format!("{}: an agent of a fork is shown as {}", chat.id, shown.unwrap_or_default())
            });
        }
    }
}
