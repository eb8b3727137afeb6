//! The protocol model of Claude Code reproduces the recordings.

use captures::{catalog::Catalog, provider::Provider};
use fake_clis::verify::Verifier;

/// Captures of each version.
const SCENES: usize = 86;

/// Plays every capture of a version; which are not reproduced, and where they differ first.
fn check(version: &str) {
    let catalog = Catalog::embedded();
    let verifier = Verifier::new(catalog.clone()).expect("the embedded captures parse");
    let scenes = catalog.scenes(Provider::Claude, version);
    let mut failed = Vec::new();
    for scene in &scenes {
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
    assert!(failed.is_empty(), "{} scenes differ:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(scenes.len(), SCENES, "scenes of {version}");
}

#[test]
fn a_capture_of_2_1_310_is_not_reproduced() {
    check("2.1.310");
}

#[test]
fn a_capture_of_2_1_332_is_not_reproduced() {
    check("2.1.332");
}

#[test]
fn frames_are_taken_from_tape_unnoticed() {
    let catalog = Catalog::embedded();
    let verifier = Verifier::new(catalog.clone()).expect("the embedded captures parse");
    let taped = |scene: &str| {
        let capture = catalog.get(Provider::Claude, "2.1.332", scene).expect("an embedded capture parses");
        verifier.model(&capture).taped.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(taped("bash"), []);
    assert_eq!(taped("local-commands"), [("assistant".to_owned(), 1)], "/context is a table of measured tokens");
    assert_eq!(taped("control-requests"), [("control_response".to_owned(), 1)], "get_context_usage is the same table");
}

#[test]
fn a_changed_frame_passes_for_the_recorded_one() {
    let catalog = Catalog::embedded();
    let verifier = Verifier::new(catalog.clone()).expect("the embedded captures parse");
    let mut capture = (*catalog.get(Provider::Claude, "2.1.332", "bash").expect("an embedded capture parses")).clone();
    let result = capture.entries.iter_mut().find_map(|entry| match &mut entry.what {
        captures::format::What::Frame(frame) if frame["type"] == "result" => Some(frame),
        _ => None,
    });
    result.expect("a turn has a result")["num_turns"] = 7.into();
    let report = verifier.model(&capture);
    let paths: Vec<(&str, &str)> = report.differences.iter().map(|d| (d.stream.as_str(), d.path.as_str())).collect();
    assert_eq!(paths, [("main", "/num_turns")]);
}
