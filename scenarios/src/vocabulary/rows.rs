//! The keys of a file of regression rows.

use crate::{
    rows::Owner,
    shape::{Key, Shape, TableShape},
};

/// A whole file.
pub static ROWS: TableShape = TableShape {
    what: "a file of rows",
    one_of: None,
    keys: &[
        Key::must("rows", Shape::Count, "version of the format, 1"),
        Key::must("row", Shape::Filled(&Shape::Table(&ROW)), "the rows, in the order in which they are listed"),
    ],
};

/// One row.
static ROW: TableShape = TableShape {
    what: "a row",
    one_of: None,
    keys: &[
        Key::must("id", Shape::Name, "two capitals or digits, a dash, a number: TF-12"),
        Key::must("title", Shape::Name, "what must not happen again, one line in plain words"),
        Key::must("providers", Shape::Filled(&Shape::Choice(Owner::WORDS)), "whom it concerns"),
        Key::may("invariants", Shape::List(&Shape::Name), "invariants that see it happen"),
        Key::may("tests", Shape::List(&Shape::Name), "tests that guard it: crate::binary::test; their doc comments name the row"),
        Key::may("scenes", Shape::List(&Shape::Name), "recorded scenes that guard it: `check` plays each as it was recorded"),
    ],
};
