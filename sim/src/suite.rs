//! From a scene or scenario to a run and its line in the report.

use std::sync::Arc;

use captures::{catalog::Catalog, format::Capture};
use engine::core::config::EngineConfig;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{
    cast::Casting,
    host::engine::EngineHost,
    invariants,
    stage::{
        implied::Implied,
        run::{Rehearsal, RunOutcome, Setting, run},
    },
};

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

/// Plays the scenario that a capture implies against the reference engine.
///
/// # Errors
/// When the engine cannot be started.
pub fn rehearse_capture(catalog: &Catalog, capture: &Arc<Capture>, plan: scenarios::Plan, seed: u64) -> anyhow::Result<RunOutcome> {
    let implied = Implied::new(capture, message_ids(seed));
    let raw = implied.raw().is_some();
    let member = Casting::new(catalog).member(Arc::clone(capture), Vec::new(), raw);
    let setting = Setting { cast: vec![member], plan, seed, raw };
    let host = EngineHost::new(EngineConfig::default(), seed)?;
    Ok(run(Rehearsal { host: Box::new(host), director: Box::new(implied), setting: &setting, invariants: invariants::all() }))
}
