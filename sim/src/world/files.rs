//! The files that understudies see: in memory, one set a run, so that two runs never meet.

use std::collections::BTreeMap;

use fake_clis::understudy::Files;

/// Files of one run.
#[derive(Clone, Debug, Default)]
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
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        self.files
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix))
            .map(|(path, _)| path.clone())
            .collect()
    }
}
