//! What a command works on: scenarios and captures, built in and added.

use std::sync::Arc;

use captures::{catalog::Catalog, provider::Provider};
use scenarios::{Library, Scenario};

use super::{Failure, Sources};
use crate::{
    cast::Casting,
    suite::{self, Piece},
};

/// Scenarios and captures.
pub struct World {
    /// The casting over all captures.
    pub casting: Casting,
    /// All scenarios.
    pub library: Vec<Arc<Scenario>>,
}

impl World {
    /// Reads everything that `sources` name on top of what is built in.
    pub fn open(sources: &Sources) -> Result<World, Failure> {
        let mut catalog = Catalog::embedded();
        for dir in &sources.captures {
            catalog = catalog.with_dir(dir).map_err(|error| Failure::usage(error.to_string()))?;
        }
        let casting = Casting::new(catalog).map_err(|error| Failure::usage(error.to_string()))?;
        let mut library = Library::embedded().map_err(|error| Failure::File(error.into()))?;
        for dir in &sources.library {
            let more = Library::from_dir(dir).map_err(|error| Failure::File(error.into()))?;
            library.merge(more).map_err(|error| Failure::File(error.into()))?;
        }
        Ok(World { casting, library: library.list().cloned().map(Arc::new).collect() })
    }

    /// Everything that can be run, scenarios first, then what each capture implies.
    pub fn pieces(&self) -> Result<Vec<Piece>, Failure> {
        let mut pieces = Vec::new();
        for scenario in &self.library {
            pieces.extend(suite::pieces_of(scenario, &self.casting).map_err(Failure::usage)?);
        }
        let catalog = self.casting.catalog();
        for provider in Provider::ALL {
            for version in catalog.versions(provider) {
                for scene in catalog.scenes(provider, version) {
                    let capture = catalog.get(provider, version, scene).map_err(|error| Failure::usage(error.to_string()))?;
                    pieces.push(Piece::Capture(capture));
                }
            }
        }
        Ok(pieces)
    }
}

/// `claude`, or `claude@2.1.310`.
#[derive(Clone, Debug)]
pub struct Which {
    provider: Provider,
    version: Option<String>,
}

impl std::str::FromStr for Which {
    type Err = captures::provider::UnknownProvider;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (provider, version) = text.split_once('@').map_or((text, None), |(provider, version)| (provider, Some(version)));
        Ok(Which { provider: provider.parse()?, version: version.map(str::to_owned) })
    }
}

impl std::fmt::Display for Which {
    fn fmt(&self, page: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.version {
            Some(version) => write!(page, "{}@{version}", self.provider),
            None => write!(page, "{}", self.provider),
        }
    }
}

impl Which {
    /// The version, where one is named.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Whether a piece is played by this provider, in this version where one is named.
    pub fn takes(&self, piece: &Piece) -> bool {
        let (provider, version) = piece.played_by();
        provider == self.provider && self.version.as_deref().is_none_or(|wanted| wanted == version)
    }
}
