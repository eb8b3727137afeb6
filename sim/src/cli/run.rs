//! `rehearsal run`: one scenario, or what one capture implies.

use std::{path::PathBuf, sync::Arc};

use reports::{ExitCode, Flags, SuiteReport, human::Options};
use scenarios::Plan;

use super::{
    Failure, Sources, colour, print, width,
    world::{Which, World},
};
use crate::{
    report,
    suite::{self, CAPTURES, Piece},
    trace::Trace,
};

/// How to write a trace.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TraceFormat {
    /// One aligned line an event.
    Lines,
    /// One JSON object an event.
    Ndjson,
}

/// Run one scenario, or the one that a capture implies.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// Id of a scenario; `captures/SCENE` is what a capture implies.
    #[arg(required_unless_present = "capture")]
    scenario: Option<String>,
    /// Run what this capture implies: the name of a scene, or a file.
    #[arg(long, value_name = "SCENE|FILE", conflicts_with = "scenario")]
    capture: Option<String>,
    /// The provider, or one version of it; else the newest that has the scene.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    /// Changes of the recorded order.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// One change of the recorded order, as a line of a plan: `drop = { label = "result#1" }`.
    #[arg(long, value_name = "LINE", conflicts_with = "plan")]
    perturb: Vec<String>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the trace.
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "lines")]
    trace: Option<TraceFormat>,
    /// Also say what each invariant had to judge.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    sources: Sources,
}

impl Run {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let world = World::open(&self.sources)?;
        let piece = self.piece(&world)?;
        let (plan, words) = self.plan()?;
        if let Some(kind) = suite::not_performed(&plan) {
            return Err(Failure::usage(format!(
                "the plan has `{}`, which this version of the stage does not perform; take it out to play the rest",
                kind.key()
            )));
        }
        let outcome = suite::rehearse(&world.casting, &piece, plan, self.seed)?;
        match self.trace {
            Some(TraceFormat::Lines) => print(&Trace::render(&outcome.lines)),
            Some(TraceFormat::Ndjson) => print(&Trace::ndjson(&outcome.lines)),
            None => {}
        }
        let result = report::result(&piece, &outcome, words, self.paste(&piece), 0);
        let counts = outcome.counts.iter().map(|count| {
            let mut line = reports::InvariantCount::new(count.id, count.words);
            line.add(match (count.checked, count.not_observable) {
                (0, true) => reports::Judgement::NotObservable,
                (0, false) => reports::Judgement::NothingToJudge,
                (times, _) => reports::Judgement::Checked(times),
            });
            line
        });
        let report = SuiteReport::new("reference engine", vec![result], counts.collect(), 0);
        print(&reports::human::render_with(&report, &Options { width: width(), colour: colour(), verbose: self.verbose }));
        Ok(reports::exit_code(&report, Flags { usage: outcome.wrong, ..Flags::default() }))
    }

    fn piece(&self, world: &World) -> Result<Piece, Failure> {
        if let Some(file) = self.capture.as_deref().filter(|name| name.contains('/') || name.ends_with(".ndjson")) {
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::usage(format!("failed to read the capture {file}: {error}")))?;
            let capture = captures::format::parse(file, &text).map_err(|error| Failure::usage(error.to_string()))?;
            return Ok(Piece::Capture(Arc::new(capture)));
        }
        let id = match (&self.capture, &self.scenario) {
            (Some(scene), _) => format!("{CAPTURES}{scene}"),
            (None, Some(id)) => id.clone(),
            (None, None) => return Err(Failure::usage("name a scenario, or a capture with --capture")),
        };
        let pieces = world.pieces()?;
        let found =
            pieces.iter().rev().find(|piece| piece.id() == id && self.provider.as_ref().is_none_or(|which| which.takes(piece)));
        found.cloned().ok_or_else(|| {
            let ids: Vec<String> = pieces.iter().map(Piece::id).collect();
            let near = scenarios::nearest::nearest(&id, ids.iter().map(String::as_str));
            let advice = near.map_or(String::new(), |name| format!(" Did you mean `{name}`?"));
            Failure::usage(format!(
                "there is no scenario or scene `{id}` for this provider and version.{advice} `rehearsal list` shows what there is"
            ))
        })
    }

    fn plan(&self) -> Result<(Plan, Option<String>), Failure> {
        if !self.perturb.is_empty() {
            let lines = self.perturb.iter().map(|line| format!("\n[[perturb]]\n{line}\n")).collect::<String>();
            let plan =
                Plan::parse("--perturb", &format!("plan = 1\n{lines}")).map_err(|problems| Failure::File(problems.into()))?;
            return Ok((plan, Some(self.perturb.join("; "))));
        }
        let Some(file) = &self.plan else { return Ok((Plan::default(), None)) };
        let name = file.display().to_string();
        let text =
            std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("failed to read the plan {name}: {error}")))?;
        let plan = Plan::parse(&name, &text).map_err(|problems| Failure::File(problems.into()))?;
        Ok((plan, Some(name)))
    }

    fn paste(&self, piece: &Piece) -> String {
        let (provider, version) = piece.played_by();
        let mut line = match &self.capture {
            Some(capture) if capture.ends_with(".ndjson") => format!("rehearsal run --capture {capture}"),
            _ => format!("rehearsal run {} --provider {provider}@{version}", piece.id()),
        };
        if let Some(plan) = &self.plan {
            line.push_str(&format!(" --plan {}", plan.display()));
        }
        for perturb in &self.perturb {
            line.push_str(&format!(" --perturb '{perturb}'"));
        }
        if self.seed != 1 {
            line.push_str(&format!(" --seed {}", self.seed));
        }
        line
    }
}
