//! Captures in a directory.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::CatalogError;
use crate::format::{self, Capture};

/// All `*.ndjson` below a directory, sorted, so that the first error is always the same one.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, CatalogError> {
    let mut files = Vec::new();
    collect(directory, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), CatalogError> {
    let fail = |source| CatalogError::Read { file: directory.display().to_string(), source };
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        // The entry's own type: a link to a folder above must not be walked for ever.
        if entry.file_type().map_err(fail)?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ndjson") {
            files.push(path);
        }
    }
    Ok(())
}

pub(super) fn read(path: &Path) -> Result<Capture, CatalogError> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|source| CatalogError::Read { file: file.clone(), source })?;
    Ok(format::parse(&file, &text)?)
}
