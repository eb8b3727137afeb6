//! What is on a disk: a value to copy, to compare, to start a run from.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::bytes::Bytes;

/// The files of a disk with their bytes. Copies share the bytes until somebody writes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Image {
    pub(super) files: BTreeMap<Arc<str>, Bytes>,
}

impl Image {
    /// Paths and lengths, in order of the paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, usize)> {
        self.files.iter().map(|(path, bytes)| (&**path, bytes.len()))
    }

    /// The bytes of a file.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).map(Bytes::to_vec)
    }

    /// Puts a file in, in place of one of the same path.
    pub fn put(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.into(), bytes.into());
    }

    /// A hash over paths and bytes, 32 hexadecimal digits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, bytes) in &self.files {
            for part in [path.as_bytes(), &bytes.to_vec()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

/// Lengths and a hash: nobody reads the bytes of a database in an assertion.
impl fmt::Debug for Image {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        page.debug_map().entries(self.files()).finish()?;
        write!(page, " {}", self.digest())
    }
}
