//! Checks a value against its [`Shape`] and collects everything that is wrong.

use toml::de::{DeTable, DeValue};

use crate::{
    duration,
    expect::Kind,
    nearest::{advice, nearest},
    plan::BeatLabel,
    problem::{Problem, Source, Span},
    shape::{Key, Need, OneOf, Shape, TableShape},
};

type Node<'a> = toml::Spanned<DeValue<'a>>;

/// Collects the problems of one file.
pub(crate) struct Checker<'s> {
    source: &'s Source,
    /// What was found so far.
    pub(crate) problems: Vec<Problem>,
}

impl<'s> Checker<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Checker { source, problems: Vec::new() }
    }

    fn report(&mut self, span: Span, message: String, label: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(self.source, span, message, label).help(help));
    }

    /// Checks a table whose keys are fixed; `span` is the table's place.
    pub(crate) fn table(&mut self, shape: &TableShape, table: &DeTable<'_>, span: Span) {
        // A mistyped key is one slip: what it was meant to be is not reported as missing on top of it.
        let mut meant: Vec<&str> = Vec::new();
        for (name, value) in table.iter() {
            let key_span = Span::from(name.span());
            match shape.keys.iter().find(|key| key.name == name.get_ref().as_ref()) {
                None => {
                    meant.extend(nearest(name.get_ref(), shape.keys.iter().map(|key| key.name)));
                    self.report(
                        key_span,
                        format!("unknown key `{}` in {}", name.get_ref(), shape.what),
                        format!("not a key of {}", shape.what),
                        advice("its keys", name.get_ref(), shape.keys.iter().map(|key| key.name)),
                    )
                }
                Some(key) => {
                    self.company(shape, key, table, key_span);
                    self.value(&key.shape, value, key.name);
                }
            }
        }
        for key in shape.keys {
            if !table.contains_key(key.name) && !meant.contains(&key.name) {
                self.missing(shape, key, table, span);
            }
        }
        let required = shape.one_of.is_some() || shape.keys.iter().any(|key| key.need == Need::Always);
        if table.is_empty() && !required {
            self.empty(span, shape.what, shape.keys.iter().map(|key| key.name));
        }
        if let Some(one_of) = &shape.one_of {
            let mistyped = meant.iter().any(|name| one_of.keys.contains(name));
            self.exactly_one(shape, one_of, table, span, mistyped);
        }
    }

    /// A table that says nothing is a slip, and in an expectation a check that cannot fail.
    fn empty<'k>(&mut self, span: Span, what: &str, keys: impl IntoIterator<Item = &'k str>) {
        let keys: Vec<&str> = keys.into_iter().collect();
        let help = if keys.is_empty() {
            "name one, or leave it out".to_owned()
        } else {
            format!("write one of {}, or leave it out", list(&keys))
        };
        self.report(span, format!("{what} is empty"), "nothing in here", help);
    }

    /// A key that belongs beside another one must not stand alone.
    fn company(&mut self, shape: &TableShape, key: &Key, table: &DeTable<'_>, span: Span) {
        let (Need::Beside(others) | Need::MayBeside(others)) = key.need else { return };
        if !others.iter().any(|other| table.contains_key(*other)) {
            self.report(
                span,
                format!("`{}` does not belong here", key.name),
                format!("nothing in {} that it could go with", shape.what),
                format!("`{}` goes with {}", key.name, list(others)),
            );
        }
    }

    fn missing(&mut self, shape: &TableShape, key: &Key, table: &DeTable<'_>, span: Span) {
        let (at, whose) = match key.need {
            Need::Always => (span, shape.what.to_owned()),
            Need::Beside(others) => match others.iter().find_map(|other| table.get_key_value(*other)) {
                Some((name, _)) => (name.span().into(), format!("`{}`", name.get_ref())),
                None => return,
            },
            Need::May | Need::MayBeside(_) => return,
        };
        self.report(
            at,
            format!("{whose} lacks `{}`", key.name),
            format!("`{}` is missing", key.name),
            format!("add `{} = …`: {} ({})", key.name, key.about, key.shape.expected()),
        );
    }

    fn exactly_one(&mut self, shape: &TableShape, one_of: &OneOf, table: &DeTable<'_>, span: Span, mistyped: bool) {
        let mut found: Vec<(Span, &str)> = table
            .keys()
            .filter(|name| one_of.keys.contains(&name.get_ref().as_ref()))
            .map(|name| (Span::from(name.span()), name.get_ref().as_ref()))
            .collect();
        found.sort();
        match found.as_slice() {
            [] if mistyped => {}
            [] => self.report(
                span,
                format!("{} needs exactly one {}, and this has none", shape.what, one_of.what),
                format!("no {} here", one_of.what),
                format!("add one of {}", list(one_of.keys)),
            ),
            [_] => {}
            [(first_span, first), rest @ ..] => {
                for (span, name) in rest {
                    self.problems.push(
                        Problem::new(
                            self.source,
                            *span,
                            format!(
                                "{} needs exactly one {}, and this has {}",
                                shape.what,
                                one_of.what,
                                list(&found.iter().map(|(_, name)| *name).collect::<Vec<_>>())
                            ),
                            format!("`{name}` is a second one"),
                        )
                        .earlier(format!("`{first}` is the first"), *first_span)
                        .help(if one_of.repeats {
                            format!("make it two: one with `{first}`, one with `{name}`")
                        } else {
                            format!("keep one of `{first}` and `{name}`")
                        }),
                    );
                }
            }
        }
    }

    /// Checks one value; `name` is the key that it stands behind.
    pub(crate) fn value(&mut self, shape: &Shape, node: &Node<'_>, name: &str) {
        let span = Span::from(node.span());
        match (shape, node.get_ref()) {
            (Shape::Anything, _) => self.anything(node, name),
            (Shape::Text, DeValue::String(_)) | (Shape::Flag, DeValue::Boolean(_)) => {}
            (Shape::True, DeValue::Boolean(true)) => {}
            (Shape::True, DeValue::Boolean(false)) => self.report(
                span,
                format!("`{name} = false` says nothing"),
                "expected `true`",
                format!("write `{name} = true`, or leave the key out"),
            ),
            (Shape::Name, DeValue::String(text)) if text.is_empty() => self.report(
                span,
                format!("`{name}` is empty"),
                "nothing between the quotes",
                "give it a name that a reader of the report will understand",
            ),
            (Shape::Name, DeValue::String(_)) => {}
            (Shape::Beat, DeValue::String(text)) => {
                if let Err(reason) = text.parse::<BeatLabel>() {
                    self.report(
                        span,
                        format!("`{text}` is no label of a beat"),
                        reason.to_string(),
                        "write the label as the capture lists it, \"result#1\", or with its process, \"result#1@claude#2\"",
                    );
                }
            }
            (Shape::Duration, DeValue::String(text)) => {
                if let Err(reason) = duration::parse(text) {
                    self.report(
                        span,
                        format!("`{text}` is no duration: {reason}"),
                        "expected a whole number and a unit",
                        "write a number and one of ms, s, m, h, d: \"1200ms\", \"30s\", \"2h\"",
                    );
                }
            }
            (Shape::Json, DeValue::String(text)) => {
                if let Err(reason) = serde_json::from_str::<serde_json::Value>(text) {
                    self.report(
                        span,
                        format!("the text behind `{name}` is no JSON: {reason}"),
                        "expected one JSON value in a string",
                        "put the frame in single quotes: '{\"type\":\"system\"}'; a line that is no JSON on purpose goes behind the raw key",
                    );
                }
            }
            (Shape::Kind, DeValue::String(text)) => {
                if text.parse::<Kind>().is_err() {
                    self.report(
                        span,
                        format!("`{text}` is no kind of entry"),
                        "unknown kind",
                        advice("kinds (a tool's has its name behind it, \"tool:exec\")", text, Kind::WORDS),
                    );
                }
            }
            (Shape::Choice(words), DeValue::String(text)) => {
                if !words.contains(&text.as_ref()) {
                    self.report(
                        span,
                        format!("`{name}` cannot be {text:?}"),
                        "unknown word",
                        advice("it can be", text, words.iter().copied()),
                    );
                }
            }
            (Shape::Count, DeValue::Integer(number)) => {
                if u32::from_str_radix(number.as_str(), number.radix()).is_err() {
                    self.report(
                        span,
                        format!("`{name}` cannot be {number}"),
                        "expected a whole number from 0",
                        format!("write a number from 0 to {}", u32::MAX),
                    );
                }
            }
            (Shape::Seed, DeValue::Integer(number)) => {
                if !i64::from_str_radix(number.as_str(), number.radix()).is_ok_and(|seed| seed >= 0) {
                    self.report(
                        span,
                        format!("`{name}` cannot be {number}"),
                        "expected a whole number from 0",
                        format!("write a number from 0 to {}", i64::MAX),
                    );
                }
            }
            (Shape::Integer, DeValue::Integer(number)) => {
                if i32::from_str_radix(number.as_str(), number.radix()).is_err() {
                    self.report(
                        span,
                        format!("`{name}` cannot be {number}"),
                        "expected a whole number of 32 bits",
                        format!("write a number from {} to {}", i32::MIN, i32::MAX),
                    );
                }
            }
            (Shape::List(item) | Shape::Filled(item), DeValue::Array(array)) => {
                if array.is_empty() && matches!(shape, Shape::Filled(_)) {
                    self.empty(span, &format!("the list of `{name}`"), []);
                }
                for value in array {
                    self.value(item, value, name);
                }
            }
            (Shape::Table(shape), DeValue::Table(table)) => self.table(shape, table, span),
            (Shape::Map { key, value: inner }, DeValue::Table(table)) => {
                // A map of anything is a message to somebody else, who may well be told nothing.
                if table.is_empty() && !matches!(inner, Shape::Anything) {
                    self.empty(span, &format!("the table of `{name}`"), []);
                }
                for (name, value) in table.iter() {
                    if name.get_ref().is_empty() {
                        let message = format!("a {key} has an empty name");
                        self.report(name.span().into(), message, "no name", format!("name the {key}"));
                    }
                    self.value(inner, value, name.get_ref());
                }
            }
            (Shape::Either(shapes), value) => match shapes.iter().find(|shape| takes(shape, value)) {
                Some(shape) => self.value(shape, node, name),
                None => self.wrong_type(shape, value, span, name),
            },
            (_, value) => self.wrong_type(shape, value, span, name),
        }
    }

    /// TOML can say more than JSON: `nan`, `inf` and numbers beyond 64 bits have no JSON.
    fn anything(&mut self, node: &Node<'_>, name: &str) {
        let fine = match node.get_ref() {
            DeValue::Float(number) => number.as_str().parse().is_ok_and(f64::is_finite),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).is_ok(),
            DeValue::Array(array) => return array.iter().for_each(|value| self.anything(value, name)),
            DeValue::Table(table) => return table.iter().for_each(|(name, value)| self.anything(value, name.get_ref())),
            DeValue::String(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => true,
        };
        if !fine {
            let help = "write a finite number of 64 bits, or a string";
            self.report(
                node.span().into(),
                format!("`{name}` is a number that JSON does not have"),
                "no such number in JSON",
                help,
            );
        }
    }

    fn wrong_type(&mut self, shape: &Shape, value: &DeValue<'_>, span: Span, name: &str) {
        self.report(
            span,
            format!("`{name}` has the wrong type"),
            format!("this is {}", type_name(value)),
            format!("expected {}", shape.expected()),
        );
    }
}

/// Whether a value of this TOML type belongs to this shape.
fn takes(shape: &Shape, value: &DeValue<'_>) -> bool {
    match shape {
        Shape::Text | Shape::Name | Shape::Beat | Shape::Duration | Shape::Json | Shape::Choice(_) | Shape::Kind => {
            matches!(value, DeValue::String(_))
        }
        Shape::Count | Shape::Seed | Shape::Integer => matches!(value, DeValue::Integer(_)),
        Shape::Flag | Shape::True => matches!(value, DeValue::Boolean(_)),
        Shape::List(_) | Shape::Filled(_) => matches!(value, DeValue::Array(_)),
        Shape::Table(_) | Shape::Map { .. } => matches!(value, DeValue::Table(_)),
        Shape::Either(shapes) => shapes.iter().any(|shape| takes(shape, value)),
        Shape::Anything => true,
    }
}

/// The type of a TOML value with its article.
fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
