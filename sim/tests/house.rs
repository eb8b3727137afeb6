//! The house: which room may look into which.

use std::collections::{BTreeMap, BTreeSet};

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
