//! The tests of the workspace, read from its sources: their names, and the rows that their doc comments name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use scenarios::rows::is_id;

/// `crate::binary::test` → the rows that its doc comment names.
pub type Tests = BTreeMap<String, BTreeSet<String>>;

/// Every test of every room.
pub fn tests_of_the_workspace() -> Tests {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a room of the workspace");
    let mut tests = Tests::new();
    for room in ["captures", "engine", "fake-clis", "reports", "scenarios", "sim"] {
        for part in ["src", "tests"] {
            let directory = root.join(room).join(part);
            if directory.exists() {
                collect(&directory, &room.replace('-', "_"), &mut tests);
            }
        }
    }
    tests
}

fn collect(directory: &Path, module: &str, tests: &mut Tests) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry of it").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("sources have plain names");
        if path.is_dir() {
            collect(&path, &format!("{module}::{name}"), tests);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if ["mod", "main", "lib"].contains(&name) { module.to_owned() } else { format!("{module}::{name}") };
            tests_of(&fs::read_to_string(&path).expect("a source is text"), &module, tests);
        }
    }
}

/// Reads the tests of one source. Formatted code is all there is, so lines are enough: an inline module begins and ends at
/// the first column.
pub fn tests_of(source: &str, module: &str, tests: &mut Tests) {
    let mut module = vec![module.to_owned()];
    let (mut docs, mut is_test) = (BTreeSet::new(), false);
    for line in source.lines() {
        let word = line.trim_start();
        if let Some(inner) = line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
            module.push(inner.to_owned());
        } else if line == "}" {
            module.truncate(1);
        }
        if let Some(doc) = word.strip_prefix("///") {
            docs.extend(ids(doc));
        } else if word == "#[test]" {
            is_test = true;
        } else if word.starts_with("#[ignore") {
            // A test that nobody runs guards nothing.
            is_test = false;
        } else if !word.starts_with("#[") {
            if let (true, Some(name)) = (is_test, word.strip_prefix("fn ").and_then(|rest| rest.split('(').next())) {
                tests.insert(format!("{}::{name}", module.join("::")), std::mem::take(&mut docs));
            }
            docs.clear();
            is_test = false;
        }
    }
}

fn ids(line: &str) -> impl Iterator<Item = String> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| is_id(word)).map(str::to_owned)
}
