//! The table of regression rows, held against what is said to guard them: library, recorded scenes, tests.

mod sources;

use std::collections::{BTreeMap, BTreeSet};

use captures::{catalog::Catalog, provider::Provider};
use scenarios::{Library, Rows, rows::Row};
use sim::invariants;
use sources::{Tests, tests_of, tests_of_the_workspace};

/// What the table is held against.
struct World {
    /// Scenario → what its `guards` name.
    scenarios: BTreeMap<String, Vec<String>>,
    scenes: BTreeSet<String>,
    tests: Tests,
    invariants: BTreeSet<String>,
}

impl World {
    fn real() -> World {
        let library = Library::embedded().expect("the library reads");
        let guards = |scenario: &scenarios::Scenario| scenario.guards.iter().map(|guard| guard.value.clone()).collect();
        let catalog = Catalog::embedded();
        let versions = Provider::ALL.into_iter().flat_map(|provider| {
            let catalog = &catalog;
            catalog.versions(provider).into_iter().flat_map(move |version| catalog.scenes(provider, version))
        });
        World {
            scenarios: library.list().map(|scenario| (scenario.id.clone(), guards(scenario))).collect(),
            scenes: versions.map(str::to_owned).collect(),
            tests: tests_of_the_workspace(),
            invariants: invariants::all().iter().map(|invariant| invariant.id().to_owned()).collect(),
        }
    }

    /// All that is wrong with the table, one line each.
    fn problems(&self, rows: &Rows) -> Vec<String> {
        let mut problems: Vec<String> = rows.list().flat_map(|row| self.problems_of(row)).collect();
        for (scenario, guards) in &self.scenarios {
            for guard in guards.iter().filter(|guard| !self.invariants.contains(*guard) && rows.get(guard).is_none()) {
                problems.push(format!("{scenario}: it guards {guard}, which is neither a row nor an invariant"));
            }
        }
        for (test, named) in &self.tests {
            for id in named {
                match rows.get(id) {
                    None => problems.push(format!("{test}: its comment names {id}, and there is no such row")),
                    Some(row) if !row.tests.contains(test) => {
                        problems.push(format!("{id}: {test} says that it guards it, and `tests` does not name it"));
                    }
                    Some(_) => {}
                }
            }
        }
        problems
    }

    fn problems_of(&self, row: &Row) -> Vec<String> {
        let id = &row.id;
        let mut problems = Vec::new();
        let guarded = self.scenarios.values().flatten().any(|guard| guard == id);
        if !guarded && row.scenes.is_empty() && row.tests.is_empty() {
            problems.push(format!("{id}: nothing guards it; name it in the `guards` of a scenario, or name a scene or a test"));
        }
        for scene in row.scenes.iter().filter(|scene| !self.scenes.contains(*scene)) {
            problems.push(format!("{id}: there is no scene {scene}"));
        }
        for invariant in row.invariants.iter().filter(|invariant| !self.invariants.contains(*invariant)) {
            problems.push(format!("{id}: there is no invariant {invariant}"));
        }
        for test in &row.tests {
            match self.tests.get(test) {
                None => problems.push(format!("{id}: there is no test {test}, or it is never run")),
                Some(named) if !named.contains(id) => problems.push(format!("{id}: the comment of {test} does not name it")),
                Some(_) => {}
            }
        }
        problems
    }
}

#[test]
fn a_row_has_no_guard_or_a_guard_does_not_exist() {
    let problems = World::real().problems(&Rows::embedded().expect("the table reads"));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Holds a table of one row against a small world, changed by `change`, and compares what is wrong.
#[track_caller]
fn check(row: &str, change: impl FnOnce(&mut World), expected: &[&str]) {
    let mut tests = Tests::new();
    tests_of("/// TF-01: a fork.\n#[test]\nfn a_fork() {}\n", "engine::driver", &mut tests);
    let mut world = World {
        scenarios: BTreeMap::from([("typed-fork/row".to_owned(), vec!["T1".to_owned()])]),
        scenes: BTreeSet::from(["typed-fork".to_owned()]),
        tests,
        invariants: BTreeSet::from(["T1".to_owned()]),
    };
    change(&mut world);
    let table = format!("rows = 1\n[[row]]\nid = \"TF-01\"\ntitle = \"T\"\nproviders = [\"claude\"]\n{row}\n");
    let problems = world.problems(&Rows::parse("rows.toml", &table).expect("the table reads"));
    assert_eq!(problems, expected);
}

const SOUND: &str = "invariants = [\"T1\"]\nscenes = [\"typed-fork\"]\ntests = [\"engine::driver::a_fork\"]";

#[test]
fn a_sound_row_is_refused() {
    check(SOUND, |_| {}, &[]);
    check(SOUND, |world| world.scenarios.values_mut().for_each(|guards| guards.push("TF-01".to_owned())), &[]);
}

#[test]
fn a_row_that_nobody_guards_passes() {
    let bare = "TF-01: nothing guards it; name it in the `guards` of a scenario, or name a scene or a test";
    check("", |world| world.tests.clear(), &[bare]);
}

#[test]
fn a_scenario_that_guards_nothing_known_passes() {
    let guard = |world: &mut World| world.scenarios.values_mut().for_each(|guards| guards.push("TF-02".to_owned()));
    check(SOUND, guard, &["typed-fork/row: it guards TF-02, which is neither a row nor an invariant"]);
}

#[test]
fn a_guard_that_is_not_there_passes() {
    check(&SOUND.replace("typed-fork", "typed-frok"), |_| {}, &["TF-01: there is no scene typed-frok"]);
    check(&SOUND.replace("T1", "T9"), |_| {}, &["TF-01: there is no invariant T9"]);
    let gone = |world: &mut World| {
        world.tests.clear();
        tests_of("/// TF-01\n#[test]\n#[ignore]\nfn a_fork() {}\n", "engine::driver", &mut world.tests);
    };
    check(SOUND, gone, &["TF-01: there is no test engine::driver::a_fork, or it is never run"]);
}

#[test]
fn a_test_and_the_table_disagree() {
    let silent = |world: &mut World| {
        tests_of("#[test]\nfn a_fork() {}\n", "engine::driver", &mut world.tests);
    };
    check(SOUND, silent, &["TF-01: the comment of engine::driver::a_fork does not name it"]);
    let more = |world: &mut World| {
        tests_of("mod tests {\n    /// TF-01, TF-02\n    #[test]\n    fn b() {}\n}\n", "engine::fork", &mut world.tests);
    };
    check(
        SOUND,
        more,
        &[
            "TF-01: engine::fork::tests::b says that it guards it, and `tests` does not name it",
            "engine::fork::tests::b: its comment names TF-02, and there is no such row",
        ],
    );
}
