//! The table of regression rows: what it holds, and what an author sees who writes a row wrong.

mod common;

use common::render;
use scenarios::{
    Rows,
    rows::{Owner, is_id},
};

/// Reads a table with this one row and expects the report to hold each of these words.
#[track_caller]
fn check(row: &str, words: &[&str]) {
    let file = format!("rows = 1\n[[row]]\n{row}\n");
    let report = render(&Rows::parse("rows.toml", &file).expect_err("the row must be refused"));
    for word in words {
        assert!(report.contains(word), "{word:?} is not in the report:\n{report}");
    }
}

#[test]
fn a_row_without_a_title() {
    check("id = \"TF-01\"\nproviders = [\"claude\"]", &["`title`"]);
}

#[test]
fn a_row_of_nobody() {
    check("id = \"TF-01\"\ntitle = \"T\"\nproviders = []", &["providers"]);
}

#[test]
fn a_row_of_an_unknown_provider() {
    check("id = \"TF-01\"\ntitle = \"T\"\nproviders = [\"claud\"]", &["did you mean `claude`"]);
}

#[test]
fn a_mistyped_key_of_a_row() {
    check("id = \"TF-01\"\ntitle = \"T\"\nproviders = [\"any\"]\ntest = []", &["unknown key `test`", "`tests`"]);
}

#[test]
fn an_id_that_is_none() {
    check("id = \"TF1\"\ntitle = \"T\"\nproviders = [\"any\"]", &["this is no id of a row", "two capitals or digits"]);
}

#[test]
fn a_row_twice() {
    let row = "id = \"TF-01\"\ntitle = \"T\"\nproviders = [\"any\"]";
    check(&format!("{row}\n[[row]]\n{row}"), &["the row TF-01 stands here twice", "the first"]);
}

#[test]
fn a_guard_twice() {
    check("id = \"TF-01\"\ntitle = \"T\"\nproviders = [\"any\"]\ntests = [\"a\", \"a\"]", &["`tests` of TF-01 has a twice"]);
}

#[test]
fn a_table_of_the_future() {
    let report = render(
        &Rows::parse("rows.toml", "rows = 2\nrow = [{ id = \"TF-01\", title = \"T\", providers = [\"any\"] }]").unwrap_err(),
    );
    assert!(report.contains("rows version 2 is unknown"), "{report}");
}

#[test]
fn the_built_in_table_does_not_read() {
    let rows = Rows::embedded().unwrap_or_else(|problems| panic!("{}", render(&problems)));
    let row = rows.get("tf-12").expect("ids are found in any case");
    assert_eq!((row.id.as_str(), row.providers.as_slice()), ("TF-12", &[Owner::Claude][..]));
}

#[test]
fn a_word_is_taken_for_an_id_or_an_id_for_a_word() {
    for id in ["TF-12", "E2-01", "LR-103"] {
        assert!(is_id(id), "{id}");
    }
    for word in ["T1", "tf-12", "2E-01", "TF-1", "TF-", "TFX-12", "UTF-8", "TF-1a", "U-2028"] {
        assert!(!is_id(word), "{word}");
    }
}
