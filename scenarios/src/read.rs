//! Reads typed values out of a table that the shape check has passed.
//!
//! The shape check comes first and reports everything an author can do wrong. What the reader still cannot find is a
//! difference between vocabulary and reader, an error of this crate; it is reported as such and never papered over.

use std::time::Duration;

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use crate::{
    check::Checker,
    duration,
    problem::{Problem, Problems, Source, Span, Spanned},
    shape::TableShape,
};

pub(crate) type Node<'a> = toml::Spanned<DeValue<'a>>;

/// The vocabulary allows something that the reader does not know.
#[derive(Debug)]
pub(crate) struct Drift {
    pub(crate) what: String,
    pub(crate) span: Span,
}

impl Drift {
    pub(crate) fn into_problem(self, source: &Source) -> Problem {
        Problem::new(source, self.span, format!("failed to read {}", self.what), "the reader does not know this")
            .help("the vocabulary allows it and the reader does not: an error of the scenarios crate, not of this file")
    }
}

pub(crate) type Read<T> = Result<T, Drift>;

/// Reads a whole file: TOML, then shapes, then values.
pub(crate) fn file<T>(
    source: &Source,
    shape: &TableShape,
    read: impl FnOnce(&Table<'_, '_>, &mut Vec<Problem>) -> Read<T>,
) -> Result<T, Problems> {
    let text = source.inner().as_str();
    let (root, errors) = DeTable::parse_recoverable(text);
    let syntax = errors.iter().map(|error| syntax_problem(source, error)).collect();
    if let Some(problems) = Problems::of(syntax) {
        return Err(problems);
    }
    // A whole file as the place of an error would print the whole file: its first line stands for it.
    let head = Span { start: 0, end: text.find('\n').unwrap_or(text.len()) };
    let mut checker = Checker::new(source);
    checker.table(shape, root.get_ref(), head);
    let mut problems = checker.problems;
    if let Some(problems) = Problems::of(std::mem::take(&mut problems)) {
        return Err(problems);
    }
    let result = read(&Table { table: root.get_ref(), span: head }, &mut problems).map_err(|drift| drift.into_problem(source));
    match (result, Problems::of(problems)) {
        (_, Some(problems)) => Err(problems),
        (Ok(value), None) => Ok(value),
        (Err(problem), None) => Err(problem.into()),
    }
}

fn syntax_problem(source: &Source, error: &toml::de::Error) -> Problem {
    let text = source.inner().as_str();
    // An error at the end of the file has no width there: it is shown at the last thing that stands in the file.
    let last = text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
    let span = match error.span() {
        Some(span) if span.start < text.trim_end().len() => span.into(),
        _ => Span { start: last, end: text.trim_end().len() },
    };
    Problem::new(source, span, "this is no TOML", error.message().replace('\n', "; "))
        .help("the language is TOML 1.1: strings in quotes, `key = value`, lists in [ ], tables in { }")
}

/// A table under the reader's eyes.
#[derive(Clone, Copy)]
pub(crate) struct Table<'t, 'i> {
    pub(crate) table: &'t DeTable<'i>,
    pub(crate) span: Span,
}

impl<'t, 'i> Table<'t, 'i> {
    pub(crate) fn of(node: &'t Node<'i>) -> Read<Self> {
        match node.get_ref() {
            DeValue::Table(table) => Ok(Table { table, span: node.span().into() }),
            _ => Err(drift("a table", node)),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'t Node<'i>> {
        self.table.get(key)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value behind a key that the shape check has required.
    pub(crate) fn need(&self, key: &str) -> Read<&'t Node<'i>> {
        self.get(key).ok_or_else(|| Drift { what: format!("`{key}`"), span: self.span })
    }

    /// Name, its place, and value of each key, in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(Spanned<String>, &'t Node<'i>)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| (Spanned::new(name.get_ref().to_string(), name.span().into()), value))
            .collect();
        entries.sort_by_key(|(name, _)| name.span);
        entries
    }

    /// Reads the value behind a key with `read`, if the key is there.
    pub(crate) fn read<T>(&self, key: &str, read: impl FnOnce(&'t Node<'i>) -> Read<T>) -> Read<Option<T>> {
        self.get(key).map(read).transpose()
    }
}

pub(crate) fn drift(what: &str, node: &Node<'_>) -> Drift {
    Drift { what: what.to_owned(), span: node.span().into() }
}

pub(crate) fn text(node: &Node<'_>) -> Read<Spanned<String>> {
    let text = node.get_ref().as_str().ok_or_else(|| drift("a string", node))?;
    Ok(Spanned::new(text.to_owned(), node.span().into()))
}

pub(crate) fn flag(node: &Node<'_>) -> Read<bool> {
    node.get_ref().as_bool().ok_or_else(|| drift("a truth value", node))
}

pub(crate) fn count(node: &Node<'_>) -> Read<u32> {
    let number = node.get_ref().as_integer().ok_or_else(|| drift("a whole number", node))?;
    u32::from_str_radix(number.as_str(), number.radix()).map_err(|_| drift("a whole number", node))
}

pub(crate) fn integer(node: &Node<'_>) -> Read<i32> {
    let number = node.get_ref().as_integer().ok_or_else(|| drift("a whole number", node))?;
    i32::from_str_radix(number.as_str(), number.radix()).map_err(|_| drift("a whole number", node))
}

pub(crate) fn span_of_time(node: &Node<'_>) -> Read<Duration> {
    duration::parse(&text(node)?.value).map_err(|_| drift("a duration", node))
}

/// A word that `T` knows, already checked by a `Choice`.
pub(crate) fn word<T: std::str::FromStr>(node: &Node<'_>) -> Read<Spanned<T>> {
    let text = text(node)?;
    let value = text.value.parse().map_err(|_| drift("a word", node))?;
    Ok(Spanned::new(value, text.span))
}

pub(crate) fn list<'t, 'i, T>(node: &'t Node<'i>, read: impl FnMut(&'t Node<'i>) -> Read<T>) -> Read<Vec<T>> {
    let array = node.get_ref().as_array().ok_or_else(|| drift("a list", node))?;
    array.iter().map(read).collect()
}

/// One string or a list of them.
pub(crate) fn texts(node: &Node<'_>) -> Read<Vec<Spanned<String>>> {
    if node.get_ref().is_array() { list(node, text) } else { Ok(vec![text(node)?]) }
}

/// The JSON that a string holds.
pub(crate) fn json_text(node: &Node<'_>) -> Read<Value> {
    serde_json::from_str(&text(node)?.value).map_err(|_| drift("JSON", node))
}

/// A TOML value as JSON; dates become strings, what JSON has no number for is an error.
pub(crate) fn json(node: &Node<'_>) -> Read<Value> {
    Ok(match node.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| drift("a number of 64 bits", node))?;
            Value::Number(number.into())
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            Value::Number(number.ok_or_else(|| drift("a finite number", node))?)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(_) => Value::Array(list(node, json)?),
        DeValue::Table(_) => {
            let mut object = Map::new();
            for (name, value) in Table::of(node)?.entries() {
                object.insert(name.value, json(value)?);
            }
            Value::Object(object)
        }
    })
}
