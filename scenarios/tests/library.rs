//! The library that is compiled in, and libraries from directories.

mod common;

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use captures::{catalog::Catalog, format::Capture, provider::Provider};
use common::render;
use scenarios::{
    Library,
    library::LibraryError,
    scenario::{Edit, Frames},
};

fn embedded() -> Library {
    Library::embedded().unwrap_or_else(|error| panic!("{}", render(&error)))
}

const LEAST: &str = r#"scenario = 1
title = "T"
why = "W"
guards = ["I1"]
cast = [{ as = "claude", capture = "plain-turn" }]
steps = [{ send = "hello" }]
"#;

/// Writes files and reads them as a library: the ids, or the report.
#[track_caller]
fn check(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().expect("a directory for the test");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("a directory for the file");
        fs::write(path, text).expect("a file for the test");
    }
    let place = directory.path().display().to_string();
    Library::from_dir(directory.path())
        .map(|library| library.list().map(|scenario| scenario.id.clone()).collect())
        .map_err(|error| render(&error).replace(&place, "DIR"))
}

#[test]
fn every_file_of_the_library_parses() {
    assert!(embedded().list().len() >= 15);
}

#[test]
fn every_file_of_the_library_is_embedded() {
    let directory = Library::from_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join("library")).expect("the library reads");
    let ids = |library: &Library| library.list().map(|scenario| scenario.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&embedded()), ids(&directory));
}

#[test]
fn no_two_scenarios_share_a_title() {
    let library = embedded();
    let titles: BTreeSet<&str> = library.list().map(|scenario| scenario.title.as_str()).collect();
    assert_eq!(titles.len(), library.list().len());
}

#[test]
fn every_scene_and_label_of_the_library_exists() {
    for scenario in embedded().list() {
        for entry in scenario.cast() {
            let (Frames::Capture { scene, .. }, Some(provider)) = (&entry.frames, entry.role.value.provider()) else { continue };
            assert_eq!(provider, Provider::Claude, "{}: only Claude has recordings so far", scenario.id);
            let captures = scenes(provider, &scene.value);
            assert!(!captures.is_empty(), "{}: no version has the scene {scene}", scenario.id);
            for capture in &captures {
                for label in entry.edits.iter().filter_map(|edit| label_of(&edit.value)) {
                    assert!(capture.find_label(label).is_ok(), "{}: {scene} has no {label}", scenario.id);
                }
            }
        }
    }
}

#[test]
fn files_become_ids_in_the_order_of_the_names() {
    assert_eq!(
        check(&[("stop/b.toml", LEAST), ("a.toml", LEAST), ("stop/a.toml", LEAST), ("stop/notes.md", "")]),
        Ok(vec!["a".to_owned(), "stop/a".to_owned(), "stop/b".to_owned()])
    );
}

#[test]
fn every_broken_file_is_reported() {
    let report = check(&[("a.toml", "scenario = 1"), ("b.toml", LEAST), ("c.toml", "x = ")]).expect_err("two are broken");
    assert!(report.contains("failed to read 2 of the scenarios"), "{report}");
    assert!(report.contains("DIR/a.toml") && report.contains("DIR/c.toml") && !report.contains("DIR/b.toml"), "{report}");
}

#[test]
fn a_directory_without_scenarios_is_no_library() {
    let report = check(&[("notes.md", "")]).expect_err("there is nothing in it");
    assert!(report.contains("failed to find a scenario under DIR"), "{report}");
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let error = Library::from_dir(Path::new("no/such/directory")).expect_err("it is not there");
    assert!(matches!(&error, LibraryError::Io { path, .. } if path == Path::new("no/such/directory")), "{error}");
}

#[test]
fn two_scenarios_of_one_id_are_refused() {
    let directory = tempfile::tempdir().expect("a directory for the test");
    fs::write(directory.path().join("a.toml"), LEAST).expect("a file for the test");
    let mut library = Library::from_dir(directory.path()).expect("it reads");
    let again = library.clone();
    let error = library.merge(again).expect_err("both have `a`");
    assert!(matches!(&error, LibraryError::Duplicate { id, .. } if id == "a"), "{error}");
}

#[test]
fn an_unknown_id_gets_the_nearest_one() {
    let library = embedded();
    let help = |id: &str| library.get(id).map(|scenario| scenario.title.clone()).expect_err("no such id").help;
    assert!(help("steer/next-durin-bash").starts_with("did you mean `steer/next-during-bash`?"));
    let group = help("stop/x");
    assert!(
        group.starts_with("its group has: `stop/") && group.contains("`stop/during-bash`") && !group.contains("`steer/"),
        "{group}"
    );
    assert!(help("stopp/x").starts_with("did you mean `stop`? groups: `agents`"));
    assert_eq!(library.get("stop/during-bash").map(|scenario| scenario.id.as_str()), Ok("stop/during-bash"));
}

fn label_of(edit: &Edit) -> Option<&str> {
    Some(match edit {
        Edit::Hold(label) | Edit::Drop(label) | Edit::Duplicate(label) | Edit::Swap(label, _) => &label.label,
        Edit::Delay { label, .. } => &label.label,
        Edit::Insert { after, .. } | Edit::Exit { after, .. } | Edit::Close { after, .. } | Edit::Deaf { after } => &after.label,
        Edit::Ignore(_) => return None,
    })
}

/// The scene in every version that has it.
fn scenes(provider: Provider, scene: &str) -> Vec<Arc<Capture>> {
    let catalog = Catalog::embedded();
    let versions: Vec<&str> = catalog.versions(provider);
    let versions = versions.into_iter().filter(|version| catalog.scenes(provider, version).contains(&scene));
    versions.map(|version| catalog.get(provider, version, scene).expect("an embedded capture reads")).collect()
}
