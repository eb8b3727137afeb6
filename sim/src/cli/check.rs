//! `rehearsal check`: the library and every capture against the reference engine.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use reports::{ExitCode, Flags, Format, InvariantCount, Judgement, SuiteReport, baseline, human::Options};
use scenarios::Plan;

use super::{
    Failure, Sources, colour,
    determinism::{self, Hashed, Second},
    print, width,
    world::{Which, World},
};
use crate::{
    explore::{Sweep, sweep},
    invariants, report,
    stage::run::RunOutcome,
    suite::{self, Piece},
};

/// Failures of the reference engine that are known and say why: listed and failing passes, listed and passing is stale.
const BASELINE: &str = include_str!("../../reference-baseline.toml");

/// Run the library and every capture, or part of it.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Run only what has one of these in its id.
    filter: Vec<String>,
    /// Run only this provider, or one version of it.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How to write the report: human, json, junit, github or markdown.
    #[arg(long, default_value = "human")]
    format: Format,
    /// Write the report to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List of known failures; replaces the built-in one.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also walk every point of these kinds, in every piece that is not raw.
    #[arg(long, value_name = "KIND", num_args = 1.., value_enum)]
    sweep: Vec<Sweep>,
    /// Run everything once more in a second process and compare the traces.
    #[arg(long)]
    check_determinism: bool,
    /// Write the hash of each run to this file: what a second process does.
    #[arg(long, value_name = "FILE", hide = true)]
    hashes: Option<PathBuf>,
    /// Also say what each invariant had to judge, and list known failures.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    sources: Sources,
}

impl Check {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let watch = Watch::start();
        let second = self.check_determinism.then(|| Second::start(&self.arguments())).transpose()?;
        let world = World::open(&self.sources)?;
        let mut pieces = world.pieces()?;
        pieces.retain(|piece| {
            let id = piece.id();
            (self.filter.is_empty() || self.filter.iter().any(|filter| id.contains(filter.as_str())))
                && self.provider.as_ref().is_none_or(|which| which.takes(piece))
        });
        let bar = progress(pieces.len() as u64);
        let mut results = Vec::new();
        let mut counts = counts();
        let mut wrong = Vec::new();
        let mut hashed = Vec::new();
        let mut tally = vec![Tally::default(); self.sweep.len()];
        for piece in &pieces {
            bar.set_message(piece.id());
            let began = Watch::start();
            let outcome = suite::rehearse(&world.casting, piece, Plan::default(), self.seed)?;
            let (provider, version) = piece.played_by();
            let paste = format!("rehearsal run {} --provider {provider}@{version}{}", piece.id(), self.seed_words());
            let result = report::result(piece, &outcome, None, paste, began.micros());
            // Where a difference of this piece is told, whatever its sweeps add behind it.
            let place = results.len();
            hashed.push((self.hashed(piece, None, &outcome.hash), place));
            if outcome.wrong {
                wrong.extend(outcome.fault.clone());
            }
            add(&mut counts, &outcome);
            results.push(result);
            for (n, kind) in self.sweep.iter().enumerate() {
                if piece.is_raw() || (kind.strikes_the_host() && matches!(piece, Piece::Scenario(..))) {
                    tally[n].left_out += 1;
                    continue;
                }
                let races = races_of(&world, piece);
                let swept = sweep(&world.casting, piece, &outcome, *kind, races.as_ref(), self.seed)?;
                if let Some(line) = counts.iter_mut().find(|line| line.id == "I13" && swept.compared > 0) {
                    line.add(Judgement::Checked(swept.compared));
                }
                tally[n].points += swept.points;
                tally[n].failing += swept.failing.len();
                if self.check_determinism || self.hashes.is_some() {
                    let runs = swept.plans.iter().zip(&swept.hashes);
                    hashed.extend(runs.map(|(plan, hash)| (self.hashed(piece, Some(plan), hash), place)));
                }
                for (plan, outcome) in &swept.failing {
                    results.push(self.swept_result(piece, plan, outcome));
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        for (kind, Tally { points, failing, left_out }) in self.sweep.iter().zip(&tally) {
            let mut line = format!("sweep {}: {points} points, {points} tried, {failing} not conforming", kind.word());
            if *left_out > 0 {
                let why =
                    if kind.strikes_the_host() { "raw scenes, and scenarios with steps of their own" } else { "raw scenes" };
                line.push_str(&format!(" ({left_out} runs have no points of this kind: {why})"));
            }
            if self.output.is_none() && self.format != Format::Json { print(&line) } else { anstream::eprintln!("{line}") }
        }
        if let Some(file) = &self.hashes {
            let runs: Vec<Hashed> = hashed.iter().map(|(run, _)| run.clone()).collect();
            determinism::write(file, &runs)?;
        }
        if let Some(second) = second {
            compare(&hashed, &second.runs()?, &mut results)?;
        }
        let mut report = SuiteReport::new("reference engine", results, counts, watch.millis());
        let scope =
            if self.filter.is_empty() && self.provider.is_none() { baseline::Scope::Whole } else { baseline::Scope::Part };
        baseline::apply(&self.known()?, &mut report, scope);
        let options = Options { width: width(), colour: colour() && self.output.is_none(), verbose: self.verbose };
        let page = self.format.render(&report, &options);
        match &self.output {
            Some(file) => std::fs::write(file, page)
                .map_err(|error| Failure::usage(format!("failed to write the report to {}: {error}", file.display())))?,
            None => print(&page),
        }
        let flags = Flags { usage: !wrong.is_empty(), ..Flags::default() };
        Ok(reports::exit_code(&report, flags))
    }

    /// A run of a sweep that does not conform, with the line that plays it again.
    fn swept_result(&self, piece: &Piece, plan: &Plan, outcome: &RunOutcome) -> reports::RunResult {
        let (provider, version) = piece.played_by();
        let words = perturbations(plan).join("; ");
        let paste =
            format!("rehearsal run {} --provider {provider}@{version} --perturb '{words}'{}", piece.id(), self.seed_words());
        report::result(piece, outcome, Some(words), paste, 0)
    }

    fn hashed(&self, piece: &Piece, plan: Option<&Plan>, hash: &str) -> Hashed {
        let (provider, version) = piece.played_by();
        let mut arguments = vec![piece.id(), "--provider".to_owned(), format!("{provider}@{version}")];
        for line in plan.iter().flat_map(|plan| perturbations(plan)) {
            arguments.extend(["--perturb".to_owned(), line]);
        }
        if self.seed != 1 {
            arguments.extend(["--seed".to_owned(), self.seed.to_string()]);
        }
        Hashed { arguments, hash: hash.to_owned() }
    }

    /// What of this command line decides which runs there are.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = self.filter.clone();
        if let Some(which) = &self.provider {
            arguments.extend(["--provider".to_owned(), which.to_string()]);
        }
        arguments.extend(["--seed".to_owned(), self.seed.to_string()]);
        for kind in &self.sweep {
            arguments.extend(["--sweep".to_owned(), kind.word().to_owned()]);
        }
        arguments.extend(self.sources.arguments());
        arguments
    }

    fn known(&self) -> Result<baseline::Baseline, Failure> {
        let (text, name) = match &self.baseline {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Failure::usage(format!("failed to read the baseline {}: {error}", file.display())))?;
                (text, file.display().to_string())
            }
            None => (BASELINE.to_owned(), "the built-in baseline".to_owned()),
        };
        baseline::Baseline::parse(&text, &name).map_err(|error| Failure::usage(error.to_string()))
    }

    fn seed_words(&self) -> String {
        if self.seed == 1 { String::new() } else { format!(" --seed {}", self.seed) }
    }
}

/// The changes of a plan, as `run --perturb` takes them.
fn perturbations(plan: &Plan) -> Vec<String> {
    plan.to_toml().lines().filter(|line| line.contains(" = {")).map(str::to_owned).collect()
}

/// What a sweep of one kind brought over all pieces.
#[derive(Clone, Default)]
struct Tally {
    points: usize,
    failing: usize,
    left_out: usize,
}

fn races_of(world: &World, piece: &Piece) -> Option<captures::races::Races> {
    world.casting.catalog().races(piece.played_by().0).ok().flatten()
}

/// Measures the harness itself. Nothing of a run sees it.
struct Watch(std::time::Instant);

#[allow(clippy::disallowed_methods, reason = "how long a run took on the wall is part of the report and of no trace")]
impl Watch {
    fn start() -> Self {
        Watch(std::time::Instant::now())
    }

    fn micros(&self) -> u64 {
        self.0.elapsed().as_micros() as u64
    }

    fn millis(&self) -> u64 {
        self.0.elapsed().as_millis() as u64
    }
}

/// On stderr, and only on a terminal.
fn progress(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

/// A line per invariant, in the order of the registry.
fn counts() -> Vec<InvariantCount> {
    invariants::all().iter().map(|invariant| InvariantCount::new(invariant.id(), invariant.words())).collect()
}

fn add(counts: &mut [InvariantCount], outcome: &RunOutcome) {
    for count in &outcome.counts {
        if let Some(line) = counts.iter_mut().find(|line| line.id == count.id) {
            line.add(match (count.checked, count.not_observable) {
                (0, true) => Judgement::NotObservable,
                (0, false) => Judgement::NothingToJudge,
                (times, _) => Judgement::Checked(times),
            });
        }
    }
}

/// Tells each run whose trace was another one in the second process, at the result of its piece.
fn compare(here: &[(Hashed, usize)], there: &[Hashed], results: &mut [reports::RunResult]) -> Result<(), Failure> {
    let mine: Vec<Hashed> = here.iter().map(|(run, _)| run.clone()).collect();
    for at in determinism::different(&mine, there) {
        let Some((run, result)) = here.get(at) else {
            return Err(anyhow::anyhow!("the second process had more runs than this one: {:?}", there.get(at)).into());
        };
        if results[*result].nondeterminism.is_none() {
            let (one, two) = (determinism::trace(&run.arguments)?, determinism::trace(&run.arguments)?);
            let words = determinism::parting(&one, &two);
            results[*result].nondeterminism = Some(format!("rehearsal run {}: {words}", run.arguments.join(" ")));
        }
    }
    Ok(())
}
