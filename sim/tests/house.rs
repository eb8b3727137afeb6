//! The house: which room may look into which.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Crate → the rooms it may depend on.
const MAY: [(&str, &[&str]); 6] = [
    ("captures", &[]),
    ("engine", &[]),
    ("reports", &[]),
    ("fake-clis", &["captures"]),
    ("scenarios", &["captures"]),
    ("sim", &["captures", "engine", "fake-clis", "reports", "scenarios"]),
];

#[test]
fn no_room_looks_where_it_may_not() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata");
    let may: BTreeMap<&str, &[&str]> = MAY.into_iter().collect();
    let rooms: BTreeSet<&str> = may.keys().copied().collect();
    let found: BTreeSet<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(found, rooms, "a crate that this test does not know");
    for package in &metadata.packages {
        for dependency in package.dependencies.iter().filter(|dependency| rooms.contains(dependency.name.as_str())) {
            let (from, to) = (package.name.as_str(), dependency.name.as_str());
            if dependency.kind == DependencyKind::Development {
                // Tests may look further, but the engine and the understudies never meet: each would be checked by the other.
                assert!(![("engine", "fake-clis"), ("fake-clis", "engine")].contains(&(from, to)), "{from} meets {to}");
            } else {
                assert!(may[from].contains(&to), "{from} depends on {to}");
            }
        }
    }
}

/// VW-03: view, judges and history are built from what a viewer and the world get: they name no type of the engine.
#[test]
fn the_view_reads_what_no_viewer_gets() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for room in ["view", "invariants", "history.rs", "evidence"] {
        sources_of(&source.join(room), &mut |path, text| {
            read += 1;
            let line = text.lines().find(|line| !line.trim_start().starts_with("//") && line.contains("engine::"));
            assert_eq!(line, None, "{} looks into the engine", path.display());
        });
    }
    assert!(read > 40, "{read} sources: the rooms are somewhere else");
}

fn sources_of(path: &Path, look: &mut impl FnMut(&Path, &str)) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a room of sources") {
            sources_of(&entry.expect("an entry of it").path(), look);
        }
    } else {
        look(path, &fs::read_to_string(path).expect("a source is text"));
    }
}
