//! Checks a protocol model against recordings: the host's lines of a capture go in at their recorded causal places, the
//! capture's own script says what the model and the tools do, and what comes out is compared stream by stream.

mod compare;
mod play;

pub use compare::Difference;

use std::{collections::BTreeMap, sync::Arc};

use captures::{
    catalog::{Catalog, CatalogError},
    format::Capture,
    provider::Provider,
    races::Races,
};

use crate::{
    claude::profile::{Profile, learn},
    drive::MemoryFiles,
};

/// What the check of one capture found.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReport {
    /// The scene.
    pub scene: String,
    /// The CLI's version.
    pub version: String,
    /// The first difference of each stream that is not equal; empty when the model reproduced the capture.
    pub differences: Vec<Difference>,
    /// Recorded frames of the CLI that were compared.
    pub frames: usize,
    /// Frames that the model took from tape, by stem.
    pub taped: BTreeMap<String, u64>,
}

impl ModelReport {
    /// Whether the model reproduced the capture.
    pub fn equal(&self) -> bool {
        self.differences.is_empty()
    }
}

/// A catalog with what has to be known of its versions.
pub struct Verifier {
    catalog: Catalog,
    profiles: BTreeMap<String, Arc<Profile>>,
    races: Option<Races>,
}

impl Verifier {
    /// Learns the Claude Code versions of a catalog.
    ///
    /// # Errors
    ///
    /// A capture or a table of races that does not parse.
    pub fn new(catalog: Catalog) -> Result<Verifier, CatalogError> {
        let mut profiles = BTreeMap::new();
        for version in catalog.versions(Provider::Claude) {
            let scenes = catalog.scenes(Provider::Claude, version);
            let captures =
                scenes.iter().map(|scene| catalog.get(Provider::Claude, version, scene)).collect::<Result<Vec<_>, _>>()?;
            let profile = learn(version, captures.iter().map(|capture| &**capture));
            profiles.insert(version.to_owned(), Arc::new(profile));
        }
        let races = catalog.races(Provider::Claude)?;
        Ok(Verifier { catalog, profiles, races })
    }

    /// The profile of a version: its own, else that of the newest version.
    pub fn profile(&self, version: &str) -> Arc<Profile> {
        let known = self.profiles.get(version).or_else(|| self.profiles.values().next_back());
        known.cloned().unwrap_or_else(|| Arc::new(learn(version, [])))
    }

    /// The captures that it knows.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Checks one capture.
    pub fn model(&self, capture: &Capture) -> ModelReport {
        let mut files = MemoryFiles::default();
        self.lay_out(capture, &mut files);
        let played = play::play(capture, self.profile(&capture.header.version), &mut files);
        compare::compare(capture, &played, self.races.as_ref())
    }

    /// Makes the session files that the world held when the capture was recorded: a resumed session was written by the
    /// process before, which is played first.
    pub fn lay_out(&self, capture: &Capture, files: &mut MemoryFiles) {
        let Some(id) = play::resumed(capture) else { return };
        let version = &capture.header.version;
        for scene in self.catalog.scenes(Provider::Claude, version) {
            let Ok(before) = self.catalog.get(Provider::Claude, version, scene) else { continue };
            if play::session_of(&before) == Some(&id)
                && before.header.scene != capture.header.scene
                && play::resumed(&before).is_none()
            {
                play::play(&before, self.profile(version), files);
                return;
            }
        }
        play::seed_session(capture, &id, files);
    }
}

/// Checks one capture against the embedded catalog.
///
/// # Errors
///
/// An embedded capture that does not parse.
pub fn model(capture: &Capture) -> Result<ModelReport, CatalogError> {
    Ok(Verifier::new(Catalog::embedded())?.model(capture))
}
