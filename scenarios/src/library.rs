//! The scenario library: files by their ids.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use miette::Diagnostic;

use crate::{nearest::advice, problem::Problems, scenario::Scenario};

/// Every file under `library/`: id and text, sorted by path.
static EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Scenarios by their ids, in the order of the ids.
#[derive(Clone, Debug, Default)]
pub struct Library {
    scenarios: BTreeMap<String, Scenario>,
}

impl Library {
    /// The scenarios that are compiled into the binary.
    ///
    /// # Errors
    /// [`LibraryError::Scenarios`] when one of them does not parse.
    pub fn embedded() -> Result<Library, LibraryError> {
        Library::read(EMBEDDED.iter().map(|(id, text)| (*id, format!("scenarios/library/{id}.toml"), *text)))
    }

    /// All `.toml` files under a directory, at any depth; their ids are their paths under it.
    ///
    /// # Errors
    /// When the directory cannot be read, holds no scenario, or one of them does not parse; all that do not are named.
    pub fn from_dir(directory: &Path) -> Result<Library, LibraryError> {
        let mut paths = Vec::new();
        collect(directory, &mut paths)?;
        if paths.is_empty() {
            return Err(LibraryError::Empty { directory: directory.to_owned() });
        }
        let mut files = Vec::new();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| LibraryError::Io { path: path.clone(), error })?;
            let relative = path.strip_prefix(directory).unwrap_or(&path).with_extension("");
            let id = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            files.push((id, path.display().to_string(), text));
        }
        Library::read(files.iter().map(|(id, name, text)| (id.as_str(), name.clone(), text.as_str())))
    }

    fn read<'a>(files: impl Iterator<Item = (&'a str, String, &'a str)>) -> Result<Library, LibraryError> {
        let mut library = Library::default();
        let mut broken = Vec::new();
        for (id, name, text) in files {
            match Scenario::parse(id, &name, text) {
                Ok(scenario) => library.add(scenario)?,
                Err(problems) => broken.push(problems),
            }
        }
        if broken.is_empty() { Ok(library) } else { Err(LibraryError::Scenarios { broken }) }
    }

    fn add(&mut self, scenario: Scenario) -> Result<(), LibraryError> {
        if let Some(first) = self.scenarios.get(&scenario.id) {
            return Err(LibraryError::Duplicate {
                id: scenario.id.clone(),
                first: first.source.name().to_owned(),
                second: scenario.source.name().to_owned(),
            });
        }
        self.scenarios.insert(scenario.id.clone(), scenario);
        Ok(())
    }

    /// Adds another library to this one.
    ///
    /// # Errors
    /// [`LibraryError::Duplicate`] when both have a scenario of one id: a run must not depend on which was read first.
    pub fn merge(&mut self, other: Library) -> Result<(), LibraryError> {
        other.scenarios.into_values().try_for_each(|scenario| self.add(scenario))
    }

    /// All scenarios, sorted by id.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &Scenario> {
        self.scenarios.values()
    }

    /// The scenario of this id.
    ///
    /// # Errors
    /// [`UnknownScenario`] with the nearest ids.
    pub fn get(&self, id: &str) -> Result<&Scenario, UnknownScenario> {
        self.scenarios.get(id).ok_or_else(|| {
            // With hundreds of ids a list of all is no help: the group's own come first, else the groups.
            let group = id.split('/').next().unwrap_or(id);
            let same: Vec<&str> =
                self.scenarios.keys().map(String::as_str).filter(|known| known.split('/').next() == Some(group)).collect();
            let near = crate::nearest::nearest(id, self.scenarios.keys().map(String::as_str));
            let help = match (near, same.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, false) => advice("its group has", id, same),
                (None, true) => {
                    let mut groups: Vec<&str> = self.scenarios.keys().filter_map(|known| known.split('/').next()).collect();
                    groups.dedup();
                    advice("groups", group, groups)
                }
            };
            UnknownScenario { id: id.to_owned(), help: format!("{help}; `rehearsal list` prints all") }
        })
    }
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<(), LibraryError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| LibraryError::Io { path, error }
    };
    let entries: Vec<_> = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<_>>).map_err(failed(directory))?;
    let mut entries: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    // The order of a directory is the file system's own; ours is the names'.
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Why a library cannot be read.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum LibraryError {
    /// A file or directory cannot be read.
    #[error("failed to read {}: {error}", path.display())]
    #[diagnostic(help("check that it exists and that you may read it"))]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// No scenario in it.
    #[error("failed to find a scenario under {}", directory.display())]
    #[diagnostic(help("a library is a directory with .toml files, at any depth"))]
    Empty {
        /// The directory.
        directory: PathBuf,
    },
    /// Two scenarios of one id.
    #[error("failed to add the scenario `{id}` of {second}: {first} has that id already")]
    #[diagnostic(help("rename one of the two files: the id is the path under its library"))]
    Duplicate {
        /// The id.
        id: String,
        /// The file that was there.
        first: String,
        /// The file that came.
        second: String,
    },
    /// Some scenarios do not parse.
    #[error("failed to read {} of the scenarios", broken.len())]
    Scenarios {
        /// What is wrong with each file.
        #[related]
        broken: Vec<Problems>,
    },
}

/// An id that the library does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Diagnostic)]
#[error("failed to find the scenario `{id}`")]
#[diagnostic(help("{help}"))]
pub struct UnknownScenario {
    /// What was asked for.
    pub id: String,
    /// The nearest ids, and what to do.
    pub help: String,
}
