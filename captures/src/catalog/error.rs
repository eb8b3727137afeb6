//! What can go wrong with a catalog.

use std::io;

use crate::{format::FormatError, provider::Provider, races::RaceError};

/// A capture that is not there, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No capture of this version.
    #[error("failed to find captures of {provider} {version}: versions are {}", list(.versions))]
    NoVersion {
        /// Whose captures were asked for.
        provider: Provider,
        /// The version that was asked for.
        version: String,
        /// The versions that exist, oldest first.
        versions: Vec<String>,
    },
    /// The version has no such scene.
    #[error("failed to find scene `{scene}` of {provider} {version}: scenes are {}", list(.scenes))]
    NoScene {
        /// Whose captures were asked for.
        provider: Provider,
        /// Their version.
        version: String,
        /// The scene that was asked for.
        scene: String,
        /// The scenes that exist, by name.
        scenes: Vec<String>,
    },
    /// Two files say that they are the same capture.
    #[error("failed to add {file}: {what} is in {first} already; give it another scene name in its header")]
    Twice {
        /// The file that was to be added.
        file: String,
        /// The one that was there before.
        first: String,
        /// Provider, version and scene.
        what: String,
    },
    /// A file whose header says something else than its place.
    #[error("failed to read {file}: its header says {found}; expected PROVIDER/VERSION/SCENE.ndjson")]
    Misplaced {
        /// The file.
        file: String,
        /// Provider, version and scene of its header.
        found: String,
    },
    /// A file or directory that cannot be read at all.
    #[error("failed to read {file}: {source}; check the path and its permissions")]
    Read {
        /// The path.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file that is no capture.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A race table that does not parse.
    #[error(transparent)]
    Races(#[from] RaceError),
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
