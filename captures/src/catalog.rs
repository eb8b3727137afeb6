//! All captures there are: the embedded ones, and those of directories given by hand.
//!
//! An embedded capture is inflated and parsed when it is first asked for, and kept.

mod directory;
mod embedded;
mod error;

pub use error::CatalogError;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::{
    format::{self, Capture},
    provider::{Provider, VersionKey},
    races::Races,
};
use embedded::Packed;

/// What names a capture: no two of a catalog share it. Ordered by provider, version (as numbers), scene.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    provider: Provider,
    version: VersionKey,
    scene: String,
}

/// Where the text of a capture is.
#[derive(Clone, Debug)]
enum Source {
    Embedded(Packed),
    File(PathBuf),
}

#[derive(Clone, Debug)]
struct Slot {
    source: Source,
    capture: OnceLock<Arc<Capture>>,
}

impl Slot {
    /// The file as a person would look for it.
    fn file(&self) -> String {
        match &self.source {
            Source::Embedded(packed) => format!("captures/data/{}", packed.name),
            Source::File(path) => path.display().to_string(),
        }
    }
}

/// One capture of the catalog, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Whose frames.
    pub provider: Provider,
    /// The CLI's version.
    pub version: &'a str,
    /// The scene.
    pub scene: &'a str,
    /// Where it stands; embedded ones by their path in the source tree.
    pub file: String,
    /// Whether it came with the program.
    pub embedded: bool,
}

/// Captures by provider, version and scene.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    slots: BTreeMap<Key, Slot>,
    races: BTreeMap<Provider, Packed>,
}

impl Catalog {
    /// A catalog of nothing.
    pub fn empty() -> Catalog {
        Catalog::default()
    }

    /// The captures that are part of the program.
    pub fn embedded() -> Catalog {
        let mut catalog = Catalog::empty();
        for packed in embedded::FILES {
            let mut parts = packed.name.split('/');
            let (provider, second, third) = (parts.next(), parts.next(), parts.next());
            let Some(provider) = provider.and_then(|name| name.parse::<Provider>().ok()) else { continue };
            match (second, third.and_then(|file| file.strip_suffix(".ndjson"))) {
                (Some("races.toml"), None) => {
                    catalog.races.insert(provider, *packed);
                }
                (Some(version), Some(scene)) => catalog.hold(provider, version, scene, packed),
                _ => {}
            }
        }
        catalog
    }

    /// Only one scene of the embedded captures, in all its versions and without race tables: for a process that plays one scene
    /// and must speak within milliseconds of its start. Empty when there is no such scene.
    pub fn embedded_scene(provider: Provider, scene: &str) -> Catalog {
        let mut catalog = Catalog::empty();
        for packed in embedded::FILES {
            let path = packed.name.strip_suffix(".ndjson").and_then(|path| path.strip_suffix(scene)?.strip_suffix('/'));
            if let Some((name, version)) = path.and_then(|path| path.split_once('/'))
                && name == provider.name()
            {
                catalog.hold(provider, version, scene, packed);
            }
        }
        catalog
    }

    fn hold(&mut self, provider: Provider, version: &str, scene: &str, packed: &Packed) {
        let key = Key { provider, version: VersionKey::new(version), scene: scene.to_owned() };
        self.slots.insert(key, Slot { source: Source::Embedded(*packed), capture: OnceLock::new() });
    }

    /// Adds every `*.ndjson` below a directory. The files may stand anywhere in it: their headers say what they are.
    ///
    /// # Errors
    ///
    /// A directory or file that cannot be read, a file that is no capture, and a capture that is in the catalog already.
    pub fn with_dir(mut self, directory: &Path) -> Result<Catalog, CatalogError> {
        for path in directory::files(directory)? {
            let capture = directory::read(&path)?;
            let header = &capture.header;
            let key = Key { provider: header.provider, version: VersionKey::new(&header.version), scene: header.scene.clone() };
            if let Some(first) = self.slots.get(&key) {
                return Err(CatalogError::Twice {
                    file: path.display().to_string(),
                    first: first.file(),
                    what: format!("{} {} {}", key.provider, key.version.text(), key.scene),
                });
            }
            let slot = Slot { source: Source::File(path), capture: OnceLock::from(Arc::new(capture)) };
            self.slots.insert(key, slot);
        }
        Ok(self)
    }

    /// The versions of a provider, oldest first; 2.1.99 is older than 2.1.310.
    pub fn versions(&self, provider: Provider) -> Vec<&str> {
        let mut versions: Vec<&str> = self.of(provider).map(|(key, _)| key.version.text()).collect();
        versions.dedup();
        versions
    }

    /// The scenes of a version, by name.
    pub fn scenes(&self, provider: Provider, version: &str) -> Vec<&str> {
        self.of(provider).filter(|(key, _)| key.version.text() == version).map(|(key, _)| key.scene.as_str()).collect()
    }

    /// The newest version that has all these scenes.
    pub fn newest_with(&self, provider: Provider, scenes: &[&str]) -> Option<&str> {
        let has = |version: &str, scene: &str| {
            let key = Key { provider, version: VersionKey::new(version), scene: scene.to_owned() };
            self.slots.contains_key(&key)
        };
        self.versions(provider).into_iter().rev().find(|version| scenes.iter().all(|scene| has(version, scene)))
    }

    /// A capture, read on first use.
    ///
    /// # Errors
    ///
    /// What exists, if this does not; else what is wrong with its file.
    pub fn get(&self, provider: Provider, version: &str, scene: &str) -> Result<Arc<Capture>, CatalogError> {
        let key = Key { provider, version: VersionKey::new(version), scene: scene.to_owned() };
        let slot = self.slots.get(&key).ok_or_else(|| self.missing(provider, version, scene))?;
        if let Some(capture) = slot.capture.get() {
            return Ok(Arc::clone(capture));
        }
        let file = slot.file();
        let capture = match &slot.source {
            Source::Embedded(packed) => format::parse(&file, &packed.text()?)?,
            Source::File(path) => directory::read(path)?,
        };
        let header = &capture.header;
        if (header.provider, header.version.as_str(), header.scene.as_str()) != (provider, version, scene) {
            let found = format!("{} {} {}", header.provider, header.version, header.scene);
            return Err(CatalogError::Misplaced { file, found });
        }
        Ok(Arc::clone(slot.capture.get_or_init(|| Arc::new(capture))))
    }

    /// The race table of a provider, if there is one.
    ///
    /// # Errors
    ///
    /// A table that does not parse.
    pub fn races(&self, provider: Provider) -> Result<Option<Races>, CatalogError> {
        let Some(packed) = self.races.get(&provider) else { return Ok(None) };
        Ok(Some(Races::parse(&format!("captures/data/{}", packed.name), &packed.text()?)?))
    }

    /// Everything there is, by provider, version and scene.
    pub fn iter(&self) -> impl Iterator<Item = Listed<'_>> {
        self.slots.iter().map(|(key, slot)| Listed {
            provider: key.provider,
            version: key.version.text(),
            scene: &key.scene,
            file: slot.file(),
            embedded: matches!(slot.source, Source::Embedded(_)),
        })
    }

    fn of(&self, provider: Provider) -> impl Iterator<Item = (&Key, &Slot)> {
        self.slots.iter().filter(move |(key, _)| key.provider == provider)
    }

    fn missing(&self, provider: Provider, version: &str, scene: &str) -> CatalogError {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let scenes = self.scenes(provider, version);
        if scenes.is_empty() {
            let versions = owned(self.versions(provider));
            return CatalogError::NoVersion { provider, version: version.to_owned(), versions };
        }
        CatalogError::NoScene { provider, version: version.to_owned(), scene: scene.to_owned(), scenes: owned(scenes) }
    }
}

#[cfg(test)]
mod tests;
