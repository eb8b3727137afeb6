use std::fs;

use super::*;
use crate::format::{Origin, write};

const VERSIONS: [&str; 2] = ["2.1.310", "2.1.332"];

/// A small capture of the given name.
fn capture(version: &str, scene: &str) -> Capture {
    let mut capture = (*Catalog::embedded().get(Provider::Claude, VERSIONS[0], "no-input").unwrap()).clone();
    capture.header.version = version.to_owned();
    capture.header.scene = scene.to_owned();
    capture.header.origin = Origin::Synthetic;
    capture
}

/// The embedded catalog with files of these names and texts beside it.
fn with(files: &[(&str, String)]) -> Result<Catalog, CatalogError> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Catalog::embedded().with_dir(directory.path())
}

/// The error that a directory with this one file gives; its message must hold the words.
fn check_error(name: &str, text: String, words: &[&str]) {
    let message = with(&[(name, text)]).expect_err("a wrong directory was added").to_string();
    for word in words.iter().chain([&name]) {
        assert!(message.contains(word), "message: {message}\nexpected: {word}");
    }
}

#[test]
fn both_versions_of_every_scene_are_embedded() {
    let catalog = Catalog::embedded();
    assert_eq!(catalog.versions(Provider::Claude), VERSIONS);
    assert_eq!(catalog.scenes(Provider::Claude, VERSIONS[0]), catalog.scenes(Provider::Claude, VERSIONS[1]));
    let mut names: Vec<(&str, &str)> = Vec::new();
    for listed in catalog.iter().filter(|listed| listed.provider == Provider::Claude) {
        names.push((listed.version, listed.scene));
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        assert_eq!((capture.header.version.as_str(), capture.header.scene.as_str()), (listed.version, listed.scene));
        assert!(listed.embedded);
    }
    assert_eq!(names.len(), 172);
}

#[test]
fn an_embedded_capture_is_the_file_it_was_made_of() {
    let catalog = Catalog::embedded();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/claude/2.1.332/typed-fork.ndjson");
    let capture = catalog.get(Provider::Claude, "2.1.332", "typed-fork").unwrap();
    assert_eq!(write(&capture), fs::read_to_string(file).unwrap());
}

#[test]
fn a_capture_is_read_once() {
    let catalog = Catalog::embedded();
    let get = || catalog.get(Provider::Claude, VERSIONS[0], "plain-turn").unwrap();
    assert!(Arc::ptr_eq(&get(), &get()));
}

#[test]
fn a_scene_that_is_not_there_names_those_that_are() {
    let error = Catalog::embedded().get(Provider::Claude, VERSIONS[0], "plane-turn").unwrap_err();
    assert!(matches!(&error, CatalogError::NoScene { scenes, .. } if scenes.len() == 86), "{error}");
    assert!(error.to_string().contains("plain-turn, resume"), "{error}");
}

#[test]
fn a_version_that_is_not_there_names_those_that_are() {
    let error = Catalog::embedded().get(Provider::Claude, "2.1.311", "plain-turn").unwrap_err();
    assert!(error.to_string().contains("versions are 2.1.310, 2.1.332"), "{error}");
    let error = Catalog::empty().get(Provider::Pi, "1.6.0", "plain-turn").unwrap_err();
    assert!(error.to_string().contains("versions are none"), "{error}");
}

#[test]
fn versions_sort_by_number() {
    let files: Vec<(String, String)> = ["2.1.99", "2.10.0", "2.1.332-rc1", "10.0.0"]
        .into_iter()
        .map(|version| (format!("{version}.ndjson"), write(&capture(version, "small"))))
        .collect();
    let files: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let catalog = with(&files).unwrap();
    let versions = catalog.versions(Provider::Claude);
    assert_eq!(versions, ["2.1.99", "2.1.310", "2.1.332-rc1", "2.1.332", "2.10.0", "10.0.0"]);
}

#[test]
fn the_newest_version_must_have_all_the_scenes() {
    let catalog =
        with(&[("deep/er/a.ndjson", write(&capture("2.1.400", "plain-turn"))), ("notes.txt", "no capture".to_owned())]).unwrap();
    let newest = |scenes: &[&str]| catalog.newest_with(Provider::Claude, scenes);
    assert_eq!(newest(&["plain-turn"]), Some("2.1.400"));
    assert_eq!(newest(&["plain-turn", "typed-fork"]), Some("2.1.332"));
    assert_eq!(newest(&["plain-turn", "no-such-scene"]), None);
    assert_eq!(newest(&[]), Some("2.1.400"));
}

#[test]
fn a_file_added_by_hand_is_listed_as_such() {
    let catalog = with(&[("a.ndjson", write(&capture("2.1.400", "mine")))]).unwrap();
    let mine: Vec<Listed> = catalog.iter().filter(|listed| !listed.embedded).collect();
    assert_eq!((mine.len(), mine[0].scene), (1, "mine"));
    assert!(mine[0].file.ends_with("a.ndjson"), "{}", mine[0].file);
    // The directory is gone by now: what was added had been read.
    assert_eq!(catalog.get(Provider::Claude, "2.1.400", "mine").unwrap().header.origin, Origin::Synthetic);
}

#[test]
fn a_second_capture_of_one_name_is_refused() {
    let text = write(&capture(VERSIONS[0], "plain-turn"));
    check_error("mine.ndjson", text, &["claude 2.1.310 plain-turn", "captures/data/claude/2.1.310/plain-turn.ndjson"]);
}

#[test]
fn a_file_that_is_no_capture_is_named_with_its_line() {
    check_error("wrong.ndjson", write(&capture("2.1.400", "mine")) + "{}\n", &["line 5", "at_ms"]);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let error = Catalog::empty().with_dir(Path::new("no/such/directory")).unwrap_err();
    assert!(matches!(&error, CatalogError::Read { file, .. } if file == "no/such/directory"), "{error}");
}

#[test]
fn only_a_provider_with_a_table_has_races() {
    let catalog = Catalog::embedded();
    assert_eq!(catalog.races(Provider::Claude).unwrap().unwrap().versions, VERSIONS);
    assert_eq!(Catalog::empty().races(Provider::Claude).unwrap(), None);
}

#[test]
fn one_scene_is_held_in_all_its_versions_and_nothing_else() {
    let one = Catalog::embedded_scene(Provider::Claude, "typed-fork");
    assert_eq!(one.versions(Provider::Claude), VERSIONS);
    for version in VERSIONS {
        // `second-turn-typed-fork` ends in the same words.
        assert_eq!(one.scenes(Provider::Claude, version), ["typed-fork"]);
        let whole = Catalog::embedded();
        let get = |catalog: &Catalog| catalog.get(Provider::Claude, version, "typed-fork").unwrap();
        assert_eq!(get(&one), get(&whole));
    }
    assert_eq!(Catalog::embedded_scene(Provider::Claude, "no-such-scene").iter().count(), 0);
    assert_eq!(Catalog::embedded_scene(Provider::Codex, "typed-fork").iter().count(), 0);
}
