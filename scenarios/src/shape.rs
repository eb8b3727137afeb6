//! Shapes: what may stand where, as data.
//!
//! The vocabulary of the two languages is one set of constant tables ([`crate::vocabulary`]). The check of a file, the
//! help line of an error and the JSON Schema are all read off them, so that they cannot say different things.

/// What a value may be.
#[derive(Debug)]
pub enum Shape {
    /// Any string.
    Text,
    /// A string that is not empty.
    Name,
    /// The label of a beat, `result#1`, or of one process, `result#1@claude#2`.
    Beat,
    /// A whole number from 0.
    Count,
    /// A whole number from 0 of 63 bits, all that TOML has.
    Seed,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// Only `true`: the key itself is the word.
    True,
    /// A string such as `"30s"`.
    Duration,
    /// A string that holds one JSON value.
    Json,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A kind of entry: one of the fixed kinds or `tool:NAME`.
    Kind,
    /// A list of this.
    List(&'static Shape),
    /// A list of this that is not empty.
    Filled(&'static Shape),
    /// A table with these keys.
    Table(&'static TableShape),
    /// A table whose keys the author chooses.
    Map {
        /// What a key names.
        key: &'static str,
        /// What stands behind each key.
        value: &'static Shape,
    },
    /// One of these, told apart by their TOML type; at most one of them is a table.
    Either(&'static [&'static Shape]),
    /// Anything that TOML can say and JSON too.
    Anything,
}

/// A table with fixed keys.
#[derive(Debug)]
pub struct TableShape {
    /// What such a table is, with its article: `a step`.
    pub what: &'static str,
    /// The keys.
    pub keys: &'static [Key],
    /// Keys of which exactly one must be there.
    pub one_of: Option<OneOf>,
}

/// "Exactly one of": the word for it and the keys.
#[derive(Debug)]
pub struct OneOf {
    /// What the key decides: `action`.
    pub what: &'static str,
    /// The keys.
    pub keys: &'static [&'static str],
    /// Whether such tables stand in a list, so that two of the keys can be two tables.
    pub repeats: bool,
}

/// One key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it means, one line.
    pub about: &'static str,
    /// What may stand behind it.
    pub shape: Shape,
    /// When it must or may be there.
    pub need: Need,
}

/// When a key must or may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always.
    Always,
    /// Never has to.
    May,
    /// Only, and then always, beside one of these keys.
    Beside(&'static [&'static str]),
    /// Only beside one of these keys, and not even there always.
    MayBeside(&'static [&'static str]),
}

impl Key {
    /// A key that must be there.
    pub const fn must(name: &'static str, shape: Shape, about: &'static str) -> Key {
        Key { name, about, shape, need: Need::Always }
    }

    /// A key that may be there.
    pub const fn may(name: &'static str, shape: Shape, about: &'static str) -> Key {
        Key { name, about, shape, need: Need::May }
    }

    /// A key that belongs to others and is required there.
    pub const fn beside(name: &'static str, others: &'static [&'static str], shape: Shape, about: &'static str) -> Key {
        Key { name, about, shape, need: Need::Beside(others) }
    }

    /// A key that belongs to others and is optional there.
    pub const fn may_beside(name: &'static str, others: &'static [&'static str], shape: Shape, about: &'static str) -> Key {
        Key { name, about, shape, need: Need::MayBeside(others) }
    }
}

impl Shape {
    /// What was expected, to be read after "expected".
    pub fn expected(&self) -> String {
        match self {
            Shape::Text => "a string".into(),
            Shape::Name => "a string that is not empty".into(),
            Shape::Beat => "a label such as \"result#1\"".into(),
            Shape::Count | Shape::Seed => "a whole number from 0".into(),
            Shape::Integer => "a whole number".into(),
            Shape::Flag => "`true` or `false`".into(),
            Shape::True => "`true`".into(),
            Shape::Duration => "a duration such as \"1200ms\", \"30s\" or \"2h\"".into(),
            Shape::Json => "a string that holds one JSON value".into(),
            Shape::Choice(words) => words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or "),
            Shape::Kind => "a kind of entry such as \"reply\" or \"tool:exec\"".into(),
            Shape::List(item) | Shape::Filled(item) => format!("a list, each of it {}", item.expected()),
            Shape::Table(table) => format!("a table: {}", table.what),
            Shape::Map { key, .. } => format!("a table with one key for each {key}"),
            Shape::Either(shapes) => shapes.iter().map(|shape| shape.expected()).collect::<Vec<_>>().join(", or "),
            Shape::Anything => "any value".into(),
        }
    }
}
