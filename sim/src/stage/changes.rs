//! What a scenario's edits and a plan change of one process's recorded order, by label.

use std::collections::{BTreeMap, BTreeSet};

use captures::format::{Exit, Stream};
use scenarios::{
    plan::{Beat, BeatLabel, Insertion, Perturbation, Pipe},
    scenario::Edit,
};

/// Changes of one process.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Beats that are not said.
    pub drop: BTreeSet<String>,
    /// Beats that are said twice.
    pub duplicate: BTreeSet<String>,
    /// First beat → the beat that comes in its place.
    pub swap: BTreeMap<String, String>,
    /// Beat → how much later it and those after it come, ms.
    pub delay: BTreeMap<String, u64>,
    /// The same by the beat's number on its tape, from 1.
    pub delay_number: BTreeMap<u32, u64>,
    /// Beat → cuts within its bytes.
    pub split: BTreeMap<String, Vec<usize>>,
    /// First beat → last beat of one read.
    pub join: BTreeMap<String, String>,
    /// Beat → lines after it.
    pub insert: BTreeMap<String, Vec<String>>,
    /// Beat → the process ends after it.
    pub exit: BTreeMap<String, Exit>,
    /// Beat → the pipe is closed after it.
    pub close: BTreeMap<String, Stream>,
    /// Beat after which stdin is not read any more.
    pub deaf: BTreeSet<String>,
    /// Beats after which the process waits for a release.
    pub hold: BTreeSet<String>,
    /// Those of them that the plan set: they end when the storm is over.
    pub storms: BTreeSet<String>,
    /// Signals without effect.
    pub ignore: BTreeSet<String>,
}

impl Changes {
    /// Edits of the cast entry, then those of the plan that name this process.
    pub fn of(edits: &[Edit], plan: &scenarios::Plan, process: &str, is_first: bool) -> Self {
        let mut changes = Changes::default();
        edits.iter().for_each(|edit| changes.edit(edit));
        for perturbation in &plan.perturb {
            changes.perturb(perturbation, process, is_first);
        }
        changes
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Hold(beat) => self.hold(beat),
            Edit::Drop(beat) => self.drop_beat(beat),
            Edit::Duplicate(beat) => self.repeat(beat),
            Edit::Swap(a, b) => self.swap_beats(a, b),
            Edit::Delay { label, by } => self.delay_beat(label, by.as_millis() as u64),
            Edit::Insert { line, after } => self.insert_line(after, line),
            Edit::Exit { exit, after } => self.exit_after(after, exit),
            Edit::Close { pipe, after } => self.close_after(after, *pipe),
            Edit::Deaf { after } => {
                self.deaf.insert(after.label.clone());
            }
            Edit::Ignore(signal) => {
                self.ignore.insert(signal.word().to_owned());
            }
        }
    }

    fn perturb(&mut self, perturbation: &Perturbation, process: &str, is_first: bool) {
        let here = |beat: &BeatLabel| beat.process.as_deref().map_or(is_first, |name| name == process);
        match perturbation {
            Perturbation::Delay { beat: Beat::Label(beat), by } if here(beat) => self.delay_beat(beat, by.as_millis() as u64),
            Perturbation::Delay { beat: Beat::Number { process: named, number }, by }
                if named.as_deref().map_or(is_first, |name| name == process) =>
            {
                *self.delay_number.entry(*number).or_default() += by.as_millis() as u64;
            }
            Perturbation::Hold(beat) if here(beat) => {
                self.storms.insert(beat.label.clone());
                self.hold(beat);
            }
            Perturbation::Split { label, at } if here(label) => {
                self.split.insert(label.label.clone(), at.iter().map(|at| *at as usize).collect());
            }
            Perturbation::Join(beats) if beats.first().is_some_and(here) => {
                if let (Some(first), Some(last)) = (beats.first(), beats.last()) {
                    self.join.insert(first.label.clone(), last.label.clone());
                }
            }
            Perturbation::Race(a, b) | Perturbation::Swap(a, b) if here(a) => self.swap_beats(a, b),
            Perturbation::Drop(beat) if here(beat) => self.drop_beat(beat),
            Perturbation::Duplicate(beat) if here(beat) => self.repeat(beat),
            Perturbation::Insert { after, line } if here(after) => self.insert_line(after, line),
            Perturbation::Exit { after, exit } if here(after) => self.exit_after(after, exit),
            Perturbation::Close { after, pipe } if here(after) => self.close_after(after, *pipe),
            Perturbation::Deaf(after) if here(after) => {
                self.deaf.insert(after.label.clone());
            }
            _ => {}
        }
    }

    fn hold(&mut self, beat: &BeatLabel) {
        self.hold.insert(beat.label.clone());
    }

    fn drop_beat(&mut self, beat: &BeatLabel) {
        self.drop.insert(beat.label.clone());
    }

    fn repeat(&mut self, beat: &BeatLabel) {
        self.duplicate.insert(beat.label.clone());
    }

    fn swap_beats(&mut self, a: &BeatLabel, b: &BeatLabel) {
        self.swap.insert(a.label.clone(), b.label.clone());
    }

    fn delay_beat(&mut self, beat: &BeatLabel, by: u64) {
        *self.delay.entry(beat.label.clone()).or_default() += by;
    }

    fn insert_line(&mut self, after: &BeatLabel, line: &Insertion) {
        self.insert.entry(after.label.clone()).or_default().push(match line {
            Insertion::Frame(frame) => frame.to_string(),
            Insertion::Raw(line) => line.clone(),
        });
    }

    fn exit_after(&mut self, after: &BeatLabel, exit: &scenarios::plan::Exit) {
        let exit = match exit {
            scenarios::plan::Exit::Code(code) => Exit { code: Some(*code), signal: None },
            scenarios::plan::Exit::Signal(signal) => Exit { code: None, signal: Some(signal.word().to_owned()) },
        };
        self.exit.insert(after.label.clone(), exit);
    }

    fn close_after(&mut self, after: &BeatLabel, pipe: Pipe) {
        let stream = match pipe {
            Pipe::Stdin => Stream::Stdin,
            Pipe::Stdout => Stream::Stdout,
            Pipe::Stderr => Stream::Stderr,
        };
        self.close.insert(after.label.clone(), stream);
    }
}
