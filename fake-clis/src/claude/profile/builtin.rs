//! Profiles that were learned beforehand: a process must speak within milliseconds of its start.

use super::Profile;

/// Profiles by version, oldest first. Learned from the embedded captures; a test compares.
const PROFILES: [(&str, &str); 2] = [
    ("2.1.310", include_str!("../../../data/claude-2.1.310.json")),
    ("2.1.332", include_str!("../../../data/claude-2.1.332.json")),
];

/// The profile of a version, if it was recorded.
pub fn builtin(version: &str) -> Option<Profile> {
    let (_, text) = PROFILES.iter().find(|(known, _)| *known == version)?;
    serde_json::from_str(text).ok()
}

/// The newest version that was recorded.
pub fn newest() -> &'static str {
    PROFILES[PROFILES.len() - 1].0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use captures::{catalog::Catalog, provider::Provider};

    use super::*;
    use crate::claude::profile::learn;

    /// What is built in is what the captures teach. `REHEARSAL_BLESS=1` writes it anew.
    fn check(version: &str) {
        let catalog = Catalog::embedded();
        let captures: Vec<_> = catalog
            .scenes(Provider::Claude, version)
            .iter()
            .map(|scene| catalog.get(Provider::Claude, version, scene).expect("an embedded capture parses"))
            .collect();
        let learned = learn(version, captures.iter().map(|capture| &**capture));
        if std::env::var_os("REHEARSAL_BLESS").is_some() {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/claude-{version}.json"));
            let text = serde_json::to_string(&learned).expect("a profile is JSON");
            std::fs::write(file, format!("{text}\n")).expect("the data directory is writable");
        }
        assert_eq!(builtin(version).as_ref(), Some(&learned), "run the test once with REHEARSAL_BLESS=1");
    }

    #[test]
    fn the_built_in_profile_of_2_1_310_is_stale() {
        check("2.1.310");
    }

    #[test]
    fn the_built_in_profile_of_2_1_332_is_stale() {
        check("2.1.332");
    }
}
