//! Runs of the full engine in this process, on one core.

use std::sync::Arc;

use captures::{catalog::Catalog, provider::Provider};
use scenarios::{Plan, Scenario};
use sim::{
    cast::Casting,
    explore::{self, Sweep},
    stage::run::RunOutcome,
    suite::{self, Piece},
};

use super::measure::{Aim, Row, Times, ms, timed};

/// The version whose captures are played.
const VERSION: &str = "2.1.310";
/// Lines of a capture that count as a scene of about sixty frames.
const LINES: std::ops::RangeInclusive<usize> = 55..=70;
/// The scene whose points are swept.
const SWEPT: &str = "second-turn-typed-fork";
/// Virtual minutes of doing nothing.
const IDLE_MINUTES: u64 = 30;
/// How often each thing is done.
const TIMES: usize = 50;

fn casting() -> anyhow::Result<Casting> {
    Casting::new(Catalog::embedded())
}

fn play(casting: &Casting, piece: &Piece) -> anyhow::Result<RunOutcome> {
    suite::rehearse(casting, piece, Plan::default(), 1)
}

/// Runs a second, and simulated seconds a wall second while something happens.
pub fn runs() -> anyhow::Result<Vec<Row>> {
    let casting = casting()?;
    let catalog = casting.catalog();
    let scenes = catalog.scenes(Provider::Claude, VERSION).into_iter();
    let captures = scenes.map(|scene| catalog.get(Provider::Claude, VERSION, scene)).collect::<Result<Vec<_>, _>>()?;
    let of_size = captures.into_iter().filter(|capture| LINES.contains(&capture.entries.len())).map(Piece::Capture);
    let pieces: Vec<Piece> = of_size.filter(|piece| !piece.is_raw()).collect();
    anyhow::ensure!(!pieces.is_empty(), "no scene has {LINES:?} lines");
    let (mut simulated, mut events) = (0, 0);
    for piece in &pieces {
        let outcome = play(&casting, piece)?;
        simulated += outcome.simulated_ms;
        events += outcome.events;
    }
    let times = Times::of(TIMES, || {
        let (time, played) = timed(|| pieces.iter().try_for_each(|piece| play(&casting, piece).map(drop)));
        played.map(|()| time)
    })?;
    let count = pieces.len() as f64;
    let how = format!("{} scenes of {}–{} lines, {TIMES} times", pieces.len(), LINES.start(), LINES.end());
    let one = times.median_ms() / count;
    Ok(vec![
        Row { name: "full-engine runs a second".into(), value: 1000.0 / one, unit: "runs/s", aim: Aim::Least(300.0), how },
        Row {
            name: "one run".into(),
            value: one,
            unit: "ms",
            aim: Aim::None,
            how: format!("{:.0} events each", events as f64 / count),
        },
        Row {
            name: "simulated seconds a wall second, busy".into(),
            value: simulated as f64 / times.median_ms(),
            unit: "s/s",
            aim: Aim::None,
            how: "the same runs".into(),
        },
    ])
}

/// What doing nothing costs: a scene with thirty virtual minutes after it, less the same scene without.
pub fn idle() -> anyhow::Result<Vec<Row>> {
    let casting = casting()?;
    let piece = |minutes: u64| -> anyhow::Result<Piece> {
        let page = format!(
            "scenario = 1\ntitle = \"idle\"\nwhy = \"idle\"\nguards = [\"I15\"]\ncast = [{{ as = \"claude\", capture = \"plain-turn\", version = \
             \"{VERSION}\" }}]\nsteps = [\n{{ send = \"Say hello. MOCK:plain\" }},\n{{ until = {{ status = \"idle\" }} }},\n\
             {{ advance = \"{minutes}m\" }},\n]\n"
        );
        let scenario = Scenario::parse("idle", "idle.toml", &page).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let mut pieces = suite::pieces_of(&Arc::new(scenario), &casting).map_err(anyhow::Error::msg)?;
        Ok(pieces.remove(0))
    };
    // One minute on both sides: what the end of a turn leaves to do is done by then.
    let (short, long) = (piece(1)?, piece(1 + IDLE_MINUTES)?);
    let simulated = play(&casting, &long)?.simulated_ms - play(&casting, &short)?.simulated_ms;
    anyhow::ensure!(simulated == IDLE_MINUTES * 60_000, "{simulated} ms more were simulated");
    // In turns, so that a machine that grows slower in between does not look like idling.
    let mut costs = Vec::new();
    for _ in 0..TIMES {
        let (without, _) = timed(|| play(&casting, &short));
        let (with, _) = timed(|| play(&casting, &long));
        costs.push(ms(with) - ms(without));
    }
    costs.sort_by(f64::total_cmp);
    let cost = costs[costs.len() / 2].max(0.0);
    let aim = Aim::Most(1.0);
    let how = format!("with and without, {TIMES} times");
    // Less than a microsecond is not told from nothing.
    let a_second = simulated as f64 / cost.max(0.001);
    Ok(vec![
        Row { name: format!("{IDLE_MINUTES} idle virtual minutes"), value: cost, unit: "ms", aim, how },
        Row {
            name: "simulated seconds a wall second, idle".into(),
            value: a_second,
            unit: "s/s",
            aim: Aim::None,
            how: "at least".into(),
        },
    ])
}

/// Points a second of a sweep.
pub fn sweep() -> anyhow::Result<Vec<Row>> {
    let casting = casting()?;
    let piece = Piece::Capture(casting.catalog().get(Provider::Claude, VERSION, SWEPT)?);
    let base = play(&casting, &piece)?;
    let mut rows = Vec::new();
    for kind in [Sweep::Stop, Sweep::Split] {
        let (time, swept) = timed(|| explore::sweep(&casting, &piece, &base, kind, None, 1));
        let points = swept?.points;
        rows.push(Row {
            name: format!("sweep points a second, {}", kind.word()),
            value: points as f64 / time.as_secs_f64(),
            unit: "points/s",
            aim: Aim::None,
            how: format!("{points} points of {SWEPT}"),
        });
    }
    Ok(rows)
}
