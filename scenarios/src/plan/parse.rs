//! Reads a plan.

use super::{Beat, BeatLabel, Cut, Exit, Insertion, Kind, Moment, Perturbation, Place, Plan, StepName, VERSION};
use crate::{
    problem::{self, Problem, Problems, Source, Span},
    read::{self, Node, Read, Table, count, drift, flag, integer, json_text, list, span_of_time, text, word},
    vocabulary,
};

impl Plan {
    /// Reads a plan; `name` is the file's name in errors.
    ///
    /// # Errors
    /// All that is wrong with the file, each with its place and what to do.
    pub fn parse(name: &str, toml: &str) -> Result<Plan, Problems> {
        let source = problem::source(name, toml);
        read::file(&source, &vocabulary::plan::PLAN, |table, problems| plan(table, &source, problems))
    }
}

fn plan(table: &Table<'_, '_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Plan> {
    crate::scenario::version(table, "plan", VERSION, source, problems)?;
    let mut perturb = Vec::new();
    for entry in table.read("perturb", |node| list(node, Ok))?.unwrap_or_default() {
        perturb.push(perturbation(entry, source, problems)?);
    }
    let seed = table.read("seed", |node| {
        let number = node.get_ref().as_integer().ok_or_else(|| drift("a seed", node))?;
        u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| drift("a seed", node))
    })?;
    Ok(Plan { scenario: table.read("scenario", text)?.map(|name| name.value), seed, perturb })
}

fn perturbation(entry: &Node<'_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Perturbation> {
    let entry_table = Table::of(entry)?;
    let found = entry_table
        .entries()
        .into_iter()
        .find_map(|(key, value)| Some((Kind::ALL.iter().find(|kind| kind.key() == key.value)?, value)));
    let (kind, node) = found.ok_or_else(|| drift("a perturbation", entry))?;
    let t = Table::of(node)?;
    let label = |key: &str| t.need(key).and_then(beat_label);
    Ok(match kind {
        Kind::Delay => Perturbation::Delay { beat: beat(&t, source, problems)?, by: span_of_time(t.need("by")?)? },
        Kind::Hold => Perturbation::Hold(label("label")?),
        Kind::Split => {
            let at = t.need("at")?;
            let cuts = list(at, count)?;
            if cuts.is_empty() || cuts.first() == Some(&0) || !cuts.is_sorted_by(|a, b| a < b) {
                problems.push(
                    Problem::new(source, at.span().into(), "these bytes cut nothing", "expected rising numbers from 1")
                        .help("write the bytes before which the line is cut, each greater than the one before: at = [1, 17]"),
                );
            }
            Perturbation::Split { label: label("label")?, at: cuts }
        }
        Kind::Join => {
            let node = t.need("labels")?;
            let labels = list(node, beat_label)?;
            if labels.len() < 2 {
                let message = "a join needs two beats or more";
                problems.push(
                    Problem::new(source, node.span().into(), message, format!("{} here", labels.len()))
                        .help("name beats that follow each other: labels = [\"init#1\", \"status#1\"]"),
                );
            }
            Perturbation::Join(labels)
        }
        Kind::Race | Kind::Swap => {
            let (a, b) = (label("a")?, label("b")?);
            if a == b {
                problems.push(
                    Problem::new(
                        source,
                        t.need("b")?.span().into(),
                        format!("`{a}` cannot change places with itself"),
                        "the same beat",
                    )
                    .help("name two different beats"),
                );
            }
            if *kind == Kind::Race { Perturbation::Race(a, b) } else { Perturbation::Swap(a, b) }
        }
        Kind::UserTiming => {
            Perturbation::User { step: step_name(t.need("step")?, source, problems)?, to: moment(t.need("to")?)? }
        }
        Kind::Act => Perturbation::Act { after: label("after")?, what: word(t.need("what")?)?.value },
        Kind::Kill => Perturbation::Kill { at: place(&t, source, problems)?, when: word(t.need("when")?)?.value },
        Kind::Disk => {
            Perturbation::Disk { call: counted(t.need("call")?, "call", source, problems)?, with: word(t.need("with")?)?.value }
        }
        Kind::PowerLoss => Perturbation::PowerLoss {
            sync: counted(t.need("sync")?, "sync", source, problems)?,
            torn: t.read("torn", flag)?.unwrap_or(false),
        },
        Kind::Suspend => Perturbation::Suspend { at: span_of_time(t.need("at")?)?, length: span_of_time(t.need("for")?)? },
        Kind::Partition => Perturbation::Partition {
            cut: cut(&t, source, problems)?,
            at: span_of_time(t.need("at")?)?,
            length: span_of_time(t.need("for")?)?,
        },
        Kind::Ties => {
            Perturbation::Ties { at: span_of_time(t.need("at")?)?, order: list(t.need("order")?, |node| Ok(text(node)?.value))? }
        }
        Kind::Drop => Perturbation::Drop(label("label")?),
        Kind::Duplicate => Perturbation::Duplicate(label("label")?),
        Kind::Insert => {
            let line = match t.get("frame") {
                Some(frame) => Insertion::Frame(json_text(frame)?),
                None => Insertion::Raw(one_line(t.need("raw")?, source, problems)?),
            };
            Perturbation::Insert { after: label("after")?, line }
        }
        Kind::Exit => {
            let exit = match t.get("code") {
                Some(code) => Exit::Code(integer(code)?),
                None => Exit::Signal(word(t.need("signal")?)?.value),
            };
            Perturbation::Exit { after: label("after")?, exit }
        }
        Kind::Close => Perturbation::Close { after: label("after")?, pipe: word(t.need("pipe")?)?.value },
        Kind::Deaf => Perturbation::Deaf(label("after")?),
    })
}

pub(crate) fn beat_label(node: &Node<'_>) -> Read<BeatLabel> {
    Ok(word(node)?.value)
}

fn beat(t: &Table<'_, '_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Beat> {
    if let Some(label) = t.get("label") {
        return Ok(Beat::Label(beat_label(label)?));
    }
    Ok(Beat::Number {
        process: t.read("process", text)?.map(|name| name.value),
        number: counted(t.need("beat")?, "beat", source, problems)?,
    })
}

fn step_name(node: &Node<'_>, source: &Source, problems: &mut Vec<Problem>) -> Read<StepName> {
    if node.get_ref().is_str() {
        return Ok(StepName::Label(text(node)?.value));
    }
    Ok(StepName::Number(counted(node, "step", source, problems)?))
}

fn moment(node: &Node<'_>) -> Read<Moment> {
    let t = Table::of(node)?;
    match t.get("after") {
        Some(after) => Ok(Moment::After(beat_label(after)?)),
        None => Ok(Moment::Later(span_of_time(t.need("by")?)?)),
    }
}

/// `effect` or `disk`, counted from 1.
pub(crate) fn place(t: &Table<'_, '_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Place> {
    match t.get("effect") {
        Some(effect) => Ok(Place::Effect(counted(effect, "effect", source, problems)?)),
        None => Ok(Place::Disk(counted(t.need("disk")?, "disk", source, problems)?)),
    }
}

/// `between` or `from` and `to`.
pub(crate) fn cut(t: &Table<'_, '_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Cut> {
    if let Some(between) = t.get("between") {
        let names = list(between, |node| Ok(text(node)?.value))?;
        return Ok(match <[String; 2]>::try_from(names) {
            Ok([a, b]) => {
                differ(&a, &b, between.span().into(), source, problems);
                Cut::Between(a, b)
            }
            Err(names) => {
                let message = format!("a link has two ends, and this names {}", names.len());
                problems.push(
                    Problem::new(source, between.span().into(), message, "expected two devices")
                        .help("write between = [\"device\", \"viewer\"]"),
                );
                Cut::Between(String::new(), String::new())
            }
        });
    }
    let (from, to) = (text(t.need("from")?)?, text(t.need("to")?)?);
    differ(&from.value, &to.value, to.span, source, problems);
    Ok(Cut::OneWay { from: from.value, to: to.value })
}

fn differ(a: &str, b: &str, span: Span, source: &Source, problems: &mut Vec<Problem>) {
    if a == b {
        problems.push(
            Problem::new(source, span, format!("`{a}` has no link to itself"), "the same device")
                .help("name two different devices"),
        );
    }
}

/// A number that counts from 1.
pub(crate) fn counted(node: &Node<'_>, name: &str, source: &Source, problems: &mut Vec<Problem>) -> Read<u32> {
    let number = count(node)?;
    if number == 0 {
        problems.push(
            Problem::new(source, node.span().into(), format!("`{name}` counts from 1"), "there is no number 0")
                .help(format!("write `{name} = 1` for the first")),
        );
    }
    Ok(number)
}

/// A line must not end inside itself.
pub(crate) fn one_line(node: &Node<'_>, source: &Source, problems: &mut Vec<Problem>) -> Read<String> {
    let line = text(node)?;
    if line.value.contains('\n') {
        problems.push(
            Problem::new(source, line.span, "a raw line holds a line end", "more than one line")
                .help("insert one line at a time; the line end is added"),
        );
    }
    Ok(line.value)
}
