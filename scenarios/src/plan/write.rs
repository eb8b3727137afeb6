//! Writes a plan so that [`Plan::parse`] gives it back.

use std::{fmt::Write, time::Duration};

use toml::{Table, Value};

use super::{Beat, BeatLabel, Cut, Exit, Insertion, Moment, Perturbation, Place, Plan, StepName, VERSION};
use crate::duration;

impl Plan {
    /// The plan as a TOML file, one entry a perturbation, in order.
    ///
    /// A seed beyond 63 bits does not fit into TOML and is left out: the plan itself says all that a run needs.
    pub fn to_toml(&self) -> String {
        let mut out = format!("plan = {VERSION}\n");
        // Writing to a string cannot fail.
        if let Some(scenario) = &self.scenario {
            let _ = writeln!(out, "scenario = {}", Value::from(scenario.as_str()));
        }
        if let Some(seed) = self.seed.and_then(|seed| i64::try_from(seed).ok()) {
            let _ = writeln!(out, "seed = {seed}");
        }
        for perturbation in &self.perturb {
            let _ = write!(out, "\n[[perturb]]\n{} = {}\n", perturbation.kind().key(), Value::Table(body(perturbation)));
        }
        out
    }
}

/// The table behind the key of its kind.
fn body(perturbation: &Perturbation) -> Table {
    let mut t = Table::new();
    let mut put = |key: &str, value: Value| {
        t.insert(key.to_owned(), value);
    };
    match perturbation {
        Perturbation::Delay { beat, by } => {
            match beat {
                Beat::Label(beat) => put("label", label(beat)),
                Beat::Number { process, number } => {
                    put("beat", Value::from(*number));
                    if let Some(process) = process {
                        put("process", Value::from(process.as_str()));
                    }
                }
            }
            put("by", time(*by));
        }
        Perturbation::Hold(beat) | Perturbation::Drop(beat) | Perturbation::Duplicate(beat) => put("label", label(beat)),
        Perturbation::Split { label: beat, at } => {
            put("label", label(beat));
            put("at", Value::Array(at.iter().copied().map(Value::from).collect()));
        }
        Perturbation::Join(beats) => put("labels", Value::Array(beats.iter().map(label).collect())),
        Perturbation::Race(a, b) | Perturbation::Swap(a, b) => {
            put("a", label(a));
            put("b", label(b));
        }
        Perturbation::User { step, to } => {
            put(
                "step",
                match step {
                    StepName::Number(number) => Value::from(*number),
                    StepName::Label(name) => Value::from(name.as_str()),
                },
            );
            put("to", Value::Table(moment(to)));
        }
        Perturbation::Act { after, what } => {
            put("after", label(after));
            put("what", Value::from(what.word()));
        }
        Perturbation::Kill { at, when } => {
            match at {
                Place::Effect(number) => put("effect", Value::from(*number)),
                Place::Disk(number) => put("disk", Value::from(*number)),
            }
            put("when", Value::from(when.word()));
        }
        Perturbation::Disk { call, with } => {
            put("call", Value::from(*call));
            put("with", Value::from(with.word()));
        }
        Perturbation::PowerLoss { sync, torn } => {
            put("sync", Value::from(*sync));
            if *torn {
                put("torn", Value::from(true));
            }
        }
        Perturbation::Suspend { at, length } => {
            put("at", time(*at));
            put("for", time(*length));
        }
        Perturbation::Partition { cut, at, length } => {
            put("at", time(*at));
            put("for", time(*length));
            match cut {
                Cut::Between(a, b) => put("between", Value::Array(vec![Value::from(a.as_str()), Value::from(b.as_str())])),
                Cut::OneWay { from, to } => {
                    put("from", Value::from(from.as_str()));
                    put("to", Value::from(to.as_str()));
                }
            }
        }
        Perturbation::Ties { at, order } => {
            put("at", time(*at));
            put("order", Value::Array(order.iter().map(|key| Value::from(key.as_str())).collect()));
        }
        Perturbation::Insert { after, line } => {
            put("after", label(after));
            match line {
                Insertion::Frame(frame) => put("frame", Value::from(frame.to_string())),
                Insertion::Raw(raw) => put("raw", Value::from(raw.as_str())),
            }
        }
        Perturbation::Exit { after, exit } => {
            put("after", label(after));
            match exit {
                Exit::Code(code) => put("code", Value::from(*code)),
                Exit::Signal(signal) => put("signal", Value::from(signal.word())),
            }
        }
        Perturbation::Close { after, pipe } => {
            put("after", label(after));
            put("pipe", Value::from(pipe.word()));
        }
        Perturbation::Deaf(after) => put("after", label(after)),
    }
    t
}

fn moment(moment: &Moment) -> Table {
    match moment {
        Moment::After(beat) => Table::from_iter([("after".to_owned(), label(beat))]),
        Moment::Later(by) => Table::from_iter([("by".to_owned(), time(*by))]),
    }
}

fn label(label: &BeatLabel) -> Value {
    Value::from(label.to_string())
}

fn time(time: Duration) -> Value {
    Value::from(duration::format(time))
}
