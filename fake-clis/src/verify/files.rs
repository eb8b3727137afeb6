//! Files in memory.

use std::collections::BTreeMap;

use crate::understudy::Files;

/// Files of a process that live as long as the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFiles {
    files: BTreeMap<String, Vec<u8>>,
}

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn append(&mut self, path: &str, bytes: &[u8]) {
        self.files.entry(path.to_owned()).or_default().extend_from_slice(bytes);
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let below = |path: &&String| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        self.files.keys().filter(below).cloned().collect()
    }
}
