//! The protocol model of Claude Code reproduces the recordings.

use captures::{catalog::Catalog, provider::Provider};
use fake_clis::verify::Verifier;

/// The captures of a version that are not reproduced, each with its first difference.
fn check(version: &str) -> Vec<String> {
    let catalog = Catalog::embedded();
    let verifier = Verifier::new(catalog.clone()).expect("the embedded captures parse");
    let only = std::env::var("SCENE").ok();
    let mut failed = Vec::new();
    for scene in catalog.scenes(Provider::Claude, version) {
        if only.as_ref().is_some_and(|only| !only.split(',').any(|name| name == scene)) {
            continue;
        }
        let capture = catalog.get(Provider::Claude, version, scene).expect("an embedded capture parses");
        let report = verifier.model(&capture);
        if !report.equal() {
            let mut words = format!("{scene} ({} frames)", report.frames);
            for difference in &report.differences {
                words.push_str(&format!(
                    "\n  {} #{} {}\n    expected {}\n    actual   {}",
                    difference.stream, difference.index, difference.path, difference.expected, difference.actual
                ));
            }
            failed.push(words);
        }
    }
    failed
}

#[test]
fn a_scene_of_2_1_310_is_not_reproduced() {
    let failed = check("2.1.310");
    assert!(failed.is_empty(), "{} scenes differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_scene_of_2_1_332_is_not_reproduced() {
    let failed = check("2.1.332");
    assert!(failed.is_empty(), "{} scenes differ:\n{}", failed.len(), failed.join("\n"));
}
