//! One run: a host, a director, a cast, a judge. Ends with exactly one verdict.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::Arc,
};

use captures::format::Capture;
use reports::Verdict;

use super::{director::Director, play::Stage};
use crate::{
    history::{History, What},
    host::{Host, fault::Reached},
    invariants::{self, Found, Invariant, Moment, Violation},
    trace::{Line, Trace},
    view::HostView,
};

/// What a run is made of besides its host.
pub struct Setting {
    /// The capture that each process of a provider plays, in start order.
    pub cast: Vec<CastMember>,
    /// Files that the world holds at the start.
    pub files: fake_clis::drive::MemoryFiles,
    /// The plan's changes of the recorded order.
    pub plan: scenarios::Plan,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// True for a scene whose host lines the stage writes itself.
    pub raw: bool,
}

/// One process of the cast.
#[derive(Clone)]
pub struct CastMember {
    /// The capture whose script it plays.
    pub capture: Arc<Capture>,
    /// Makes the understudy for a launch.
    pub make: Rc<dyn Fn(fake_clis::understudy::Launch) -> Box<dyn fake_clis::understudy::Understudy>>,
    /// Edits of the scenario.
    pub edits: Vec<scenarios::scenario::Edit>,
}

/// A run that is ready.
pub struct Rehearsal<'a> {
    /// The host under rehearsal.
    pub host: Box<dyn Host>,
    /// What happens from outside.
    pub director: Box<dyn Director>,
    /// Cast, plan, seed.
    pub setting: &'a Setting,
    /// Who judges.
    pub invariants: Vec<Box<dyn Invariant>>,
}

/// How often an invariant judged in one run.
#[derive(Clone, Debug)]
pub struct Count {
    /// Its id.
    pub id: &'static str,
    /// Its rule in one line.
    pub words: &'static str,
    /// Times it had something to judge.
    pub checked: u64,
    /// The view lacked what it needs.
    pub not_observable: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The one verdict.
    pub verdict: Verdict,
    /// What did not hold.
    pub violations: Vec<Violation>,
    /// Why the tape was left.
    pub off_script: Option<String>,
    /// The panic's words, or the harness's own fault.
    pub fault: Option<String>,
    /// The scenario itself is wrong: its file is to be mended, exit code 2.
    pub wrong: bool,
    /// What did not come in its time.
    pub liveness: Option<String>,
    /// Counts per invariant.
    pub counts: Vec<Count>,
    /// The trace.
    pub lines: Vec<Line>,
    /// Hash over everything.
    pub hash: String,
    /// Events delivered.
    pub events: u64,
    /// Virtual time at the end, ms.
    pub simulated_ms: u64,
    /// The last view.
    pub view: HostView,
    /// What happened.
    pub history: History,
    /// Labels of the capture that were never said, per process.
    pub unreached: Vec<String>,
    /// How far the host came: the places at which it can be killed, its disk fail, the power go.
    pub reached: Reached,
}

/// How a run ended, before the invariants are asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Rest,
    OffScript(String),
    Panicked(String),
    Fault(String),
    /// The scenario is wrong, not the harness.
    Wrong(String),
    TooLate(String),
}

/// Plays a rehearsal to its end.
pub fn run(rehearsal: Rehearsal<'_>) -> RunOutcome {
    let Rehearsal { host, director, setting, mut invariants } = rehearsal;
    if setting.raw {
        invariants.retain(|invariant| invariants::JUDGE_RAW.contains(&invariant.id()));
    }
    let mut judge = Judge { founds: invariants.iter().map(|_| Found::default()).collect(), invariants };
    let mut stage = Stage::new(host, director, setting);
    let end = loop {
        let step = catch_unwind(AssertUnwindSafe(|| stage.step()));
        match step {
            Ok(Ok(true)) => judge.look(&stage),
            Ok(Ok(false)) => break End::Rest,
            Ok(Err(end)) => break end,
            Err(panic) => break End::Panicked(panic_words(&panic)),
        }
    };
    if end == End::Rest {
        stage.history.happenings.push(crate::history::Happening { at: stage.now(), what: What::Rest });
        judge.rest(&stage);
    }
    judge.outcome(stage, end)
}

fn panic_words(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}

struct Judge {
    invariants: Vec<Box<dyn Invariant>>,
    founds: Vec<Found>,
}

impl Judge {
    fn look(&mut self, stage: &Stage<'_>) {
        let moment = Moment { at: stage.now(), view: stage.view(), history: &stage.history };
        for (invariant, found) in self.invariants.iter_mut().zip(&mut self.founds) {
            invariant.look(&moment, found);
        }
    }

    fn rest(&mut self, stage: &Stage<'_>) {
        let moment = Moment { at: stage.now(), view: stage.view(), history: &stage.history };
        for (invariant, found) in self.invariants.iter_mut().zip(&mut self.founds) {
            invariant.at_rest(&moment, found);
        }
    }

    fn outcome(self, stage: Stage<'_>, end: End) -> RunOutcome {
        let mut violations = Vec::new();
        let mut counts = Vec::new();
        for (invariant, found) in self.invariants.iter().zip(self.founds) {
            // The first fault of an invariant tells; what follows from it would bury it.
            violations.extend(found.violations.into_iter().take(3));
            counts.push(Count {
                id: invariant.id(),
                words: invariant.words(),
                checked: found.checked,
                not_observable: found.not_observable && found.checked == 0,
            });
        }
        violations.extend(stage.unmet.iter().map(|(at, message)| Violation {
            invariant: "expect",
            at: *at,
            message: message.clone(),
        }));
        violations.sort_by_key(|violation| violation.at);
        let (mut off_script, mut fault, mut liveness, mut wrong) = (None, None, None, false);
        let verdict = match end {
            End::Fault(words) => {
                fault = Some(words);
                Verdict::HarnessFault
            }
            End::Wrong(words) => {
                fault = Some(words);
                wrong = true;
                Verdict::HarnessFault
            }
            End::Panicked(words) => {
                fault = Some(words);
                Verdict::EnginePanicked
            }
            End::OffScript(words) => {
                off_script = Some(words);
                if violations.is_empty() { Verdict::OffScript } else { Verdict::Violated }
            }
            _ if !violations.is_empty() => Verdict::Violated,
            End::TooLate(words) => {
                liveness = Some(words);
                Verdict::Liveness
            }
            End::Rest => Verdict::Conforms,
        };
        let unreached = stage.unreached();
        let (reached, digest) = (stage.host.reached(), stage.host.store_digest());
        let (events, simulated_ms) = (stage.events, stage.now());
        let Stage { mut trace, history, viewer, .. } = stage;
        trace.hash(0, digest.unwrap_or_default().as_bytes());
        trace.hash(verdict as u64, verdict.name().as_bytes());
        RunOutcome {
            verdict,
            violations,
            off_script,
            fault,
            wrong,
            liveness,
            counts,
            lines: trace.lines().to_vec(),
            hash: Trace::digest(&trace),
            events,
            simulated_ms,
            view: viewer.view().clone(),
            history,
            unreached,
            reached,
        }
    }
}
