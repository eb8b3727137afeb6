//! The machine's own files.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::understudy::Files;

/// Files on disk. What cannot be written is lost with a word on stderr, as it would be for the real CLI.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }

    fn append(&mut self, path: &str, bytes: &[u8]) {
        if let Err(error) = append(Path::new(path), bytes) {
            eprintln!("rehearsal: failed to write {path}: {error}");
        }
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![PathBuf::from(dir)];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    Ok(_) => found.push(entry.path().display().to_string()),
                    Err(_) => {}
                }
            }
        }
        found.sort();
        found
    }
}

fn append(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(bytes)
}
