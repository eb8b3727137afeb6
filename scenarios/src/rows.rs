//! Regression rows: what went wrong once, in this engine or in another host, and who sees to it that it does not again.
//!
//! A row is guarded by each scenario whose `guards` name it, by each recorded scene and each test that it names here. A row
//! that nobody guards is no row; a test of `sim` holds the table against library, scenes and tests.

use std::collections::BTreeMap;

use crate::{
    problem::{self, Problem, Problems, Source, Spanned},
    read::{self, Read, Table, list, text, word},
    vocabulary,
    words::words,
};

/// The version of the format, the value of the key `rows`.
pub const VERSION: u32 = 1;

/// Where the built-in table stands, for errors.
pub const FILE: &str = "scenarios/data/rows.toml";

words! {
    /// Whom a row concerns.
    pub enum Owner {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// OpenCode.
        Opencode = "opencode",
        /// Pi.
        Pi = "pi",
        /// A driver that is fed from a test: rules of the engine that belong to no provider.
        Mock = "mock",
        /// Each provider.
        Any = "any",
        /// Nobody: documents, disk, time.
        None = "none",
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its id, `TF-12`.
    pub id: String,
    /// What must not happen again.
    pub title: String,
    /// Whom it concerns; never empty.
    pub providers: Vec<Owner>,
    /// Invariants that see it happen.
    pub invariants: Vec<String>,
    /// Tests that guard it, as `crate::binary::test`.
    pub tests: Vec<String>,
    /// Recorded scenes that guard it.
    pub scenes: Vec<String>,
}

/// All rows, in the order of their file.
#[derive(Clone, Debug)]
pub struct Rows {
    list: Vec<Row>,
}

impl Rows {
    /// The table that is compiled in.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn embedded() -> Result<Rows, Problems> {
        Rows::parse(FILE, include_str!("../data/rows.toml"))
    }

    /// Reads a table; `name` is the file's name in errors.
    ///
    /// # Errors
    /// All that is wrong with the file, each with its place and what to do.
    pub fn parse(name: &str, toml: &str) -> Result<Rows, Problems> {
        let source = problem::source(name, toml);
        read::file(&source, &vocabulary::rows::ROWS, |table, problems| rows(table, &source, problems))
    }

    /// The rows, in the order of the file.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.list.iter()
    }

    /// The row of this id.
    pub fn get(&self, id: &str) -> Option<&Row> {
        self.list.iter().find(|row| row.id.eq_ignore_ascii_case(id))
    }
}

/// Whether a word looks like the id of a row: two capitals or digits, a dash, a number.
pub fn is_id(word: &str) -> bool {
    let Some((group, number)) = word.split_once('-') else { return false };
    let capital = |c: char| c.is_ascii_uppercase();
    group.len() == 2
        && group.starts_with(capital)
        && group.chars().all(|c| capital(c) || c.is_ascii_digit())
        && (2..=3).contains(&number.len())
        && number.chars().all(|c| c.is_ascii_digit())
}

fn rows(table: &Table<'_, '_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Rows> {
    crate::scenario::version(table, "rows", VERSION, source, problems)?;
    let mut seen = BTreeMap::new();
    let list = list(table.need("row")?, |node| {
        let t = Table::of(node)?;
        let words = |key: &str| Ok(t.read(key, |node| list(node, text))?.unwrap_or_default());
        let id = text(t.need("id")?)?;
        if !is_id(&id.value) {
            problems.push(
                Problem::new(source, id.span, "this is no id of a row", "expected such as \"TF-12\"")
                    .help("write two capitals or digits, a dash and a number of two or three digits"),
            );
        }
        if let Some(first) = seen.insert(id.value.clone(), id.span) {
            problems.push(
                Problem::new(source, id.span, format!("the row {} stands here twice", id.value), "the second")
                    .earlier("the first", first)
                    .help("give one of them a free id, or make one row of the two"),
            );
        }
        let mut names = |key: &str| -> Read<Vec<String>> {
            let words: Vec<Spanned<String>> = words(key)?;
            for (at, word) in words.iter().enumerate() {
                if let Some(first) = words[..at].iter().find(|first| first.value == word.value) {
                    problems.push(
                        Problem::new(
                            source,
                            word.span,
                            format!("`{key}` of {} has {} twice", id.value, word.value),
                            "the second",
                        )
                        .earlier("the first", first.span)
                        .help("leave one of them out"),
                    );
                }
            }
            Ok(words.into_iter().map(|word| word.value).collect())
        };
        let (invariants, tests, scenes) = (names("invariants")?, names("tests")?, names("scenes")?);
        Ok(Row {
            id: id.value,
            title: text(t.need("title")?)?.value,
            providers: list(t.need("providers")?, |node| Ok(word(node)?.value))?,
            invariants,
            tests,
            scenes,
        })
    })?;
    Ok(Rows { list })
}
