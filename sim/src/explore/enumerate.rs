//! The points of a kind: every place of a run where one thing can be otherwise.
//!
//! A point is a plan with one perturbation. Points come from a run in the recorded order, so the list is whole for that run:
//! nothing is sampled.

use captures::races::{Classifier, Races, Relation};
use captures::{format::From, provider::Provider};
use scenarios::{
    Plan,
    plan::{BeatLabel, DiskFault, Exit, Perturbation, Place, UserAct, When},
};
use serde_json::Value;

use crate::{history::What, host::fault::Reached, stage::run::RunOutcome};

/// A kind of point, by the word that `--sweep` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sweep {
    /// The user stops the chat after every frame.
    Stop,
    /// The user stops the turn in place after every frame.
    StopTurn,
    /// The user sends a message after every frame.
    Steer,
    /// The process ends after every frame.
    Exit,
    /// Every frame is cut, once at each class of byte boundary that it has.
    Split,
    /// Every two frames that follow each other come in one read.
    Join,
    /// Every two neighbours that the provider's races let change places do so.
    Race,
    /// Every frame is lost.
    Drop,
    /// Every frame is said twice.
    Duplicate,
    /// The host is killed before every effect, and after every effect behind which it rests; then it is started again.
    Kill,
    /// The host is killed at every call to its disk, inside its transactions too; then it is started again.
    KillInStore,
    /// Every call to the disk fails, once in each way that this kind of call can fail.
    Disk,
    /// The power fails at every sync, with the write under way whole and torn.
    PowerLoss,
}

impl Sweep {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Sweep::Stop => "stop",
            Sweep::StopTurn => "stop-turn",
            Sweep::Steer => "steer",
            Sweep::Exit => "exit",
            Sweep::Split => "split",
            Sweep::Join => "join",
            Sweep::Race => "race",
            Sweep::Drop => "drop",
            Sweep::Duplicate => "duplicate",
            Sweep::Kill => "kill",
            Sweep::KillInStore => "kill-in-store",
            Sweep::Disk => "disk",
            Sweep::PowerLoss => "power-loss",
        }
    }

    /// Whether it happens to the host itself. Then it is tried where the user's actions follow from a recording: a scenario's own
    /// steps wait for what only a host that lives on can show.
    pub fn strikes_the_host(self) -> bool {
        matches!(self, Sweep::Kill | Sweep::KillInStore | Sweep::Disk | Sweep::PowerLoss)
    }

    /// Whether the end must be the same as in the recorded order: bytes and permitted orders change nothing that is shown.
    pub fn keeps_the_end(self) -> bool {
        matches!(self, Sweep::Split | Sweep::Join)
    }
}

/// One frame of the first process, as a run in the recorded order said it.
struct Said<'a> {
    label: &'a str,
    frame: &'a Value,
    /// Whether the user did something between the frame before and this one.
    after_user: bool,
}

/// Every point of a kind in a run.
pub fn points(kind: Sweep, base: &RunOutcome, provider: Provider, races: Option<&Races>) -> Vec<Plan> {
    let said = said(base);
    let one = |perturbation| Plan { perturb: vec![perturbation], ..Plan::default() };
    let each = |make: &dyn Fn(BeatLabel) -> Perturbation| said.iter().map(|said| one(make(BeatLabel::new(said.label)))).collect();
    let act = |what: UserAct| each(&move |after| Perturbation::Act { after, what });
    match kind {
        Sweep::Stop => act(UserAct::Stop),
        Sweep::StopTurn => act(UserAct::StopTurn),
        Sweep::Steer => act(UserAct::Steer),
        Sweep::Exit => each(&|after| Perturbation::Exit { after, exit: Exit::Code(1) }),
        Sweep::Drop => each(&Perturbation::Drop),
        Sweep::Duplicate => each(&Perturbation::Duplicate),
        Sweep::Join => said
            .windows(2)
            // What the user does between two frames may be what the second one answers: then they never come in one read.
            .filter(|pair| !pair[1].after_user)
            .map(|pair| one(Perturbation::Join(vec![BeatLabel::new(pair[0].label), BeatLabel::new(pair[1].label)])))
            .collect(),
        Sweep::Split => said
            .iter()
            .flat_map(|said| cuts(said.frame).into_iter().map(move |at| (said.label, at)))
            .map(|(label, at)| one(Perturbation::Split { label: BeatLabel::new(label), at: vec![at] }))
            .collect(),
        Sweep::Kill => kills(&base.reached).into_iter().map(one).collect(),
        Sweep::KillInStore => numbers(base.reached.disk_calls)
            .map(|number| one(Perturbation::Kill { at: Place::Disk(number), when: When::Before }))
            .collect(),
        Sweep::Disk => numbers(base.reached.disk_calls)
            .flat_map(|call| DISK_FAULTS.map(|with| one(Perturbation::Disk { call, with })))
            .collect(),
        Sweep::PowerLoss => numbers(base.reached.syncs)
            .flat_map(|sync| [false, true].map(|torn| one(Perturbation::PowerLoss { sync, torn })))
            .collect(),
        Sweep::Race => races.map_or_else(Vec::new, |races| {
            let pairs = permitted(&said, provider, races);
            pairs.into_iter().map(|(a, b)| one(Perturbation::Race(BeatLabel::new(a), BeatLabel::new(b)))).collect()
        }),
    }
}

/// Ways in which a disk call can fail; one that a call cannot have is passed over when it comes to it.
const DISK_FAULTS: [DiskFault; 4] = [DiskFault::Full, DiskFault::Busy, DiskFault::IoErr, DiskFault::ShortWrite];

fn numbers(last: u64) -> std::ops::RangeInclusive<u32> {
    1..=u32::try_from(last).unwrap_or(u32::MAX)
}

/// Before each effect; and after those that ended a chain, since between two effects of one chain nothing can happen: there
/// *after the one* is *before the next*.
fn kills(reached: &Reached) -> Vec<Perturbation> {
    let kill = |number, when| Perturbation::Kill { at: Place::Effect(number), when };
    let before = numbers(reached.effects).map(|number| kill(number, When::Before));
    let ends = reached.chain_ends.iter().filter_map(|number| u32::try_from(*number).ok());
    before.chain(ends.map(|number| kill(number, When::After))).collect()
}

fn said(base: &RunOutcome) -> Vec<Said<'_>> {
    let mut first = None;
    let mut acted = false;
    let happenings = base.history.happenings.iter();
    happenings
        .filter_map(|happening| match &happening.what {
            What::Said { pid, frame, label, .. } if *first.get_or_insert(*pid) == *pid => {
                Some(Said { label, frame, after_user: std::mem::take(&mut acted) })
            }
            What::User(_) | What::Signal { by_host: false, .. } => {
                acted = true;
                None
            }
            _ => None,
        })
        .collect()
}

/// One cut for each class of byte boundary that a record has: after its first byte, in its middle, inside a character of several
/// bytes, inside an escape, before its line end.
fn cuts(frame: &Value) -> Vec<u32> {
    let line = frame.to_string();
    let bytes = line.as_bytes();
    let mut cuts = vec![1, bytes.len() / 2, bytes.len()];
    cuts.extend(bytes.iter().position(|byte| !byte.is_ascii()).map(|at| at + 1));
    cuts.extend(bytes.iter().position(|byte| *byte == b'\\').map(|at| at + 1));
    cuts.retain(|at| *at > 0);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.into_iter().filter_map(|at| u32::try_from(at).ok()).collect()
}

/// Neighbours that the races table lets change places.
fn permitted<'a>(said: &[Said<'a>], provider: Provider, races: &Races) -> Vec<(&'a str, &'a str)> {
    let mut classifier = Classifier::new(provider);
    let classes: Vec<_> = said.iter().map(|said| classifier.class(&From::Cli, said.frame)).collect();
    let mut pairs = Vec::new();
    for (pair, class) in said.windows(2).zip(classes.windows(2)) {
        let (Some(a), Some(b)) = (&class[0], &class[1]) else { continue };
        let relation = match (&a.task, &b.task) {
            (Some(one), Some(other)) if one != other => Relation::DifferentTasks,
            (Some(_), None) | (None, Some(_)) => Relation::TaskAndMain,
            _ => continue,
        };
        if races.may_swap(&a.class, &b.class, relation).is_some() {
            pairs.push((pair[0].label, pair[1].label));
        }
    }
    pairs
}
