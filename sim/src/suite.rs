//! From a scene or scenario to a run, and from a run to its line in the report.

use std::sync::Arc;

use captures::{format::Capture, provider::Provider};
use engine::core::config::EngineConfig;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use scenarios::{Plan, Scenario, plan::Kind, scenario::Frames};

use crate::{
    cast::Casting,
    host::engine::EngineHost,
    invariants,
    stage::{
        Director,
        implied::{self, Implied},
        run::{Rehearsal, RunOutcome, Setting, run},
        scripted::Scripted,
    },
};

/// Processes that a scenario may start one after another when its cast does not say; more is a host that restarts for ever.
const PROCESSES: usize = 8;
/// Prefix of the id of a scenario that a capture implies.
pub const CAPTURES: &str = "captures/";

/// One thing that can be run: a scenario with one version of its provider.
#[derive(Clone)]
pub enum Piece {
    /// What a capture implies.
    Capture(Arc<Capture>),
    /// A scenario of the library, and the scenes of its cast.
    Scenario(Arc<Scenario>, Vec<Arc<Capture>>),
}

impl Piece {
    /// Its id.
    pub fn id(&self) -> String {
        match self {
            Piece::Capture(capture) => format!("{CAPTURES}{}", capture.header.scene),
            Piece::Scenario(scenario, _) => scenario.id.clone(),
        }
    }

    /// Its title.
    pub fn title(&self) -> Option<&str> {
        match self {
            Piece::Capture(_) => None,
            Piece::Scenario(scenario, _) => Some(&scenario.title),
        }
    }

    /// Captures that it plays, at least one.
    pub fn captures(&self) -> &[Arc<Capture>] {
        match self {
            Piece::Capture(capture) => std::slice::from_ref(capture),
            Piece::Scenario(_, captures) => captures,
        }
    }

    /// Provider and version of the first process.
    pub fn played_by(&self) -> (Provider, &str) {
        let header = &self.captures()[0].header;
        (header.provider, &header.version)
    }

    /// Whether the stage writes the host's lines itself.
    pub fn is_raw(&self) -> bool {
        match self {
            Piece::Capture(capture) => implied::raw_reason(capture).is_some(),
            Piece::Scenario(scenario, _) => scenario.tags.contains(&scenarios::scenario::Tag::Raw),
        }
    }
}

/// Pieces of a scenario: one for each version that has all its scenes. The error names what is missing.
pub fn pieces_of(scenario: &Arc<Scenario>, casting: &Casting) -> Result<Vec<Piece>, String> {
    let mut scenes = Vec::new();
    let mut provider = None;
    for entry in scenario.cast() {
        let Frames::Capture { scene, version } = &entry.frames else {
            return Err(format!("{}: the mock driver is not part of this stage", scenario.id));
        };
        provider = entry.role.value.provider().or(provider);
        scenes.push((scene.value.clone(), version.as_ref().map(|version| version.value.clone())));
    }
    let Some(provider) = provider else { return Err(format!("{}: it has no cast", scenario.id)) };
    let catalog = casting.catalog();
    let mut pieces = Vec::new();
    let mut missing = None;
    for version in catalog.versions(provider) {
        let found: Result<Vec<_>, _> =
            scenes.iter().map(|(scene, fixed)| catalog.get(provider, fixed.as_deref().unwrap_or(version), scene)).collect();
        match found {
            Ok(captures) => pieces.push(Piece::Scenario(Arc::clone(scenario), captures)),
            Err(error) => missing = Some(format!("{}: {error}", scenario.id)),
        }
    }
    match (pieces.is_empty(), missing) {
        (true, Some(missing)) => Err(missing),
        _ => Ok(pieces),
    }
}

/// Ids of user messages, as a host makes them.
fn message_ids(seed: u64) -> impl FnMut() -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x4e55_4765);
    move || {
        let (high, low) = (random.next_u64(), random.next_u64());
        let high = (high & 0xffff_ffff_ffff_0fff) | 0x4000;
        let low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
        let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
        format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
    }
}

/// A perturbation of a plan that this stage does not perform, if there is one. It is refused: a plan that is not played says
/// nothing.
pub fn not_performed(plan: &Plan) -> Option<Kind> {
    let kinds = plan.perturb.iter().map(scenarios::plan::Perturbation::kind);
    let mut missing = kinds.filter(|kind| matches!(kind, Kind::Partition | Kind::Ties));
    missing.next()
}

/// Port of the engine for its MCP server, where a run needs one: nobody listens in a simulation.
const IPC_PORT: u16 = 4_100;

/// The engine's configuration in a run of this piece.
///
/// # Errors
/// A field that the engine does not have, or a value that it does not take.
fn config(piece: &Piece) -> anyhow::Result<EngineConfig> {
    match piece {
        Piece::Capture(capture) if implied::subagents_off(capture) => {
            Ok(EngineConfig { ipc_port: Some(IPC_PORT), ..EngineConfig::default() })
        }
        Piece::Capture(_) => Ok(EngineConfig::default()),
        Piece::Scenario(scenario, _) => {
            let fields = scenario.config.iter().map(|setting| (setting.key.value.clone(), setting.value.clone()));
            serde_json::from_value(serde_json::Value::Object(fields.collect()))
                .map_err(|error| anyhow::anyhow!("{}: its `config` is not one of this engine: {error}", scenario.id))
        }
    }
}

/// Plays a piece against the reference engine.
///
/// # Errors
/// When the engine cannot be started.
pub fn rehearse(casting: &Casting, piece: &Piece, plan: Plan, seed: u64) -> anyhow::Result<RunOutcome> {
    let raw = piece.is_raw();
    let mut files = casting.files(&piece.captures()[0]);
    let (cast, director): (Vec<_>, Box<dyn Director>) = match piece {
        Piece::Capture(capture) => {
            // A host that starts a second process resumes the session: that process plays on from the same script.
            let mut cast = vec![casting.member(Arc::clone(capture), Vec::new(), raw)];
            cast.extend((1..PROCESSES).map(|number| casting.later_member(Arc::clone(capture), Vec::new(), raw, number)));
            (cast, Box::new(Implied::new(capture, message_ids(seed)).moved(&plan)))
        }
        Piece::Scenario(scenario, captures) => {
            let mut cast = Vec::new();
            for (number, (entry, capture)) in scenario.cast().iter().zip(captures).enumerate() {
                let edits = entry.edits.iter().map(|edit| edit.value.clone()).collect();
                cast.push(match number {
                    0 => casting.member(Arc::clone(capture), edits, raw),
                    _ => casting.later_member(Arc::clone(capture), edits, raw, number),
                });
            }
            for capture in &captures[1..] {
                files = casting.more_files(capture, files);
            }
            let setup = implied::setup(&captures[0]);
            (cast, Box::new(Scripted::new(Scenario::clone(scenario), setup, message_ids(seed)).moved(&plan)))
        }
    };
    let setting = Setting { cast, files, plan, seed, raw };
    let host = EngineHost::new(config(piece)?, casting.store(), seed);
    Ok(run(Rehearsal { host: Box::new(host), director, setting: &setting, invariants: invariants::all() }))
}
