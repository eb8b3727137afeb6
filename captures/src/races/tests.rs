use std::collections::{BTreeMap, BTreeSet};

use super::{pattern::covers, *};
use crate::{
    catalog::Catalog,
    format::{Capture, From},
    provider::Provider,
};

fn table() -> Races {
    Catalog::embedded().races(Provider::Claude).unwrap().unwrap()
}

/// Whether two classes may swap, and on what basis; asked both ways round.
fn check(a: &str, b: &str, relation: Relation, expected: Option<Basis>) {
    let races = table();
    assert_eq!(races.may_swap(a, b, relation).map(|race| race.basis), expected, "{a} against {b}");
    assert_eq!(races.may_swap(b, a, relation).map(|race| race.basis), expected, "{b} against {a}");
}

const HEAD: &str = "races = 1\nprovider = \"claude\"\nversions = [\"1\"]\n";

/// A table with one wrong entry.
fn check_error(entry: &str, problem: &str) {
    let text = if entry.contains("races =") { entry.to_owned() } else { format!("{HEAD}{entry}") };
    let error = Races::parse("races.toml", &text).expect_err("a wrong table was read");
    assert!(error.problem.contains(problem), "problem: {}\nexpected: {problem}", error.problem);
    assert!(error.to_string().contains("races.toml"), "{error}");
}

#[test]
fn the_whole_table_is_read() {
    let races = table();
    let of = |basis| races.races.iter().filter(|race| race.basis == basis).count();
    assert_eq!([of(Basis::Observed), of(Basis::AcrossScenes), of(Basis::ByProtocol)], [122, 11, 23]);
    assert_eq!((races.ordered.len(), races.variants.len(), races.evidence.len()), (22, 4, 13));
}

#[test]
fn two_agents_may_swap_and_one_agents_frames_may_not() {
    check("child/assistant[text]", "child/user[text]", Relation::DifferentTasks, Some(Basis::Observed));
    check("child/assistant[tool_use]", "child/user[text] ", Relation::DifferentTasks, Some(Basis::ByProtocol));
    check("child/assistant[text]", "child/user[text]", Relation::SameMessage, None);
}

#[test]
fn the_turn_keeps_its_order() {
    check("main/init", "main/result/success", Relation::TaskAndMain, None);
    check("stream/message_delta", "stream/message_stop", Relation::SameMessage, None);
    check("main/control_request/can_use_tool", "stream/message_delta", Relation::SameMessage, Some(Basis::AcrossScenes));
}

#[test]
fn only_the_frames_that_the_words_in_brackets_name_are_covered() {
    let delta = "stream/message_delta";
    check("child/assistant[text] (its first)", delta, Relation::SameMessage, Some(Basis::AcrossScenes));
    check("child/assistant[text]", delta, Relation::SameMessage, None);
    check("task/task_started (local_bash)", delta, Relation::Timer, Some(Basis::ByProtocol));
    check("task/task_started", delta, Relation::Timer, None);
}

#[test]
fn a_pattern_covers_what_it_says() {
    for (pattern, class, expected) in [
        ("*", "main/init", true),
        ("child/*", "child/user[text]", true),
        ("child/*", "main/user[text]", false),
        ("child/user[text]", "child/user[text]", true),
        ("child/user[text]", "child/user[tool_result]", false),
        ("child/user[*]", "child/user[tool_result]", true),
        ("child/user[*]", "child/assistant[text]", false),
        ("main/status", "main/status/requesting", false),
        ("task/background_tasks_changed(+)", "task/background_tasks_changed(-)", false),
        ("task/task_started", "task/task_started (local_bash)", true),
        ("task/task_started (local_bash)", "task/task_started", false),
    ] {
        assert_eq!(covers(pattern, class), expected, "{pattern} and {class}");
    }
}

fn classes(scene: &str) -> (std::sync::Arc<Capture>, Vec<Option<FrameClass>>) {
    let capture = Catalog::embedded().get(Provider::Claude, "2.1.310", scene).unwrap();
    let mut classifier = Classifier::new(Provider::Claude);
    let classes = capture.entries.iter().map(|entry| classifier.class(&entry.from, entry.what.frame()?)).collect();
    (capture, classes)
}

#[test]
fn every_class_that_the_table_names_is_given_to_some_frame() {
    let catalog = Catalog::embedded();
    let mut given: BTreeSet<String> = BTreeSet::new();
    for listed in catalog.iter().filter(|listed| listed.provider == Provider::Claude) {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).unwrap();
        let mut classifier = Classifier::new(Provider::Claude);
        let of = |entry: &crate::format::Entry| classifier.class(&entry.from, entry.what.frame()?);
        given.extend(capture.entries.iter().filter_map(of).map(|class| class.class));
    }
    let races = table();
    let named: BTreeSet<&String> = races.races.iter().flat_map(|race| [&race.a, &race.b]).collect();
    let never: Vec<&str> = named
        .iter()
        .map(|pattern| pattern.as_str())
        .filter(|pattern| !given.iter().any(|class| covers(pattern, class)))
        .collect();
    // Its frames come only from a fork that starts background agents, a script of which the counts are published, not the frames.
    assert_eq!(never, ["task/background_tasks_changed(~)"]);
}

#[test]
fn deltas_have_no_class_and_everything_else_has_one() {
    let (capture, classes) = classes("background-agents-two");
    for (entry, class) in capture.entries.iter().zip(classes) {
        let Some(frame) = entry.what.frame() else { continue };
        let kind = frame["event"]["type"].as_str().or(frame["subtype"].as_str());
        let left_out = entry.from == From::Cli && matches!(kind, Some("content_block_delta" | "thinking_tokens"));
        assert_eq!(class.is_none(), left_out, "{frame}");
    }
}

#[test]
fn the_frames_of_one_agent_are_about_one_task() {
    let (_, classes) = classes("background-agents-two");
    let mut tasks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for class in classes.into_iter().flatten() {
        if let Some(task) = class.task {
            tasks.entry(task).or_default().push(class.class);
        }
    }
    for (tag, classes) in tasks.iter().filter(|(tag, _)| tag.starts_with("toolu_")) {
        for class in [
            "task/task_started",
            "main/user[tool_result]",
            "task/task_notification/completed",
            "task/background_tasks_changed(-)",
        ] {
            assert!(classes.iter().any(|name| name == class), "{tag} has no {class}: {classes:?}");
        }
        assert_eq!(classes.iter().filter(|class| class.ends_with("(its first)")).count(), 1, "{tag}: {classes:?}");
    }
    assert_eq!(tasks.keys().filter(|tag| tag.starts_with("toolu_")).count(), 2);
}

#[test]
fn a_list_that_lost_only_a_parent_neither_grew_nor_shrank() {
    let list = |tasks: &str| {
        serde_json::from_str(&format!(r#"{{"type":"system","subtype":"background_tasks_changed","tasks":[{tasks}]}}"#)).unwrap()
    };
    let mut classifier = Classifier::new(Provider::Claude);
    let mut signs = Vec::new();
    for tasks in [r#"{"task_id":"a1","parent_task_id":"a0"}"#, r#"{"task_id":"a1"}"#, "", ""] {
        signs.push(classifier.class(&From::Cli, &list(tasks)).unwrap().class);
    }
    assert_eq!(signs, ["(+)", "(~)", "(-)", ""].map(|sign| format!("task/background_tasks_changed{sign}")));
}

#[test]
fn a_table_that_does_not_add_up_is_refused() {
    let race = |rest: &str| format!("[[race]]\na = \"main/init\"\nb = \"child/*\"\nrelation = \"timer\"\n{rest}");
    check_error(&race("basis = \"by-protocol\""), "expected `why`");
    check_error(&race("basis = \"observed\""), "expected `a_first` and `b_first`");
    check_error(&race("basis = \"observed\"\na_first = 0\nb_first = 3"), "one order only");
    check_error(&race("basis = \"observed\"\na_first = 1\nb_first = 3\nby_version = { \"1\" = [1, 2] }"), "adds up to [1, 2]");
    check_error(&race("basis = \"observed\"\na_first = 1\nb_first = 3\nby_version = { \"2\" = [1, 3] }"), "by_version names 2");
    check_error(&race("basis = \"guessed\""), "unknown variant `guessed`");
    check_error(&race("basis = \"observed\"\nwho = \"me\""), "unknown field `who`");
    check_error(&race("basis = \"observed\"").replace("main/init", "init"), "`init` is no class");
}

#[test]
fn a_table_of_another_format_is_refused() {
    check_error(&HEAD.replace("races = 1", "races = 2"), "races format 2: expected 1");
    check_error(
        "[[variant]]\nsituation = \"s\"\nversion = \"2\"\nframes = \"f\"\nrecordings = 1\ngap_ms = [1, 2]",
        "variant of version 2",
    );
}
