//! The keys of a scenario file.

use super::{
    cast::{AGENT, CAST},
    step::STEP,
};
use crate::{
    plan::Kind,
    scenario::Tag,
    shape::{Key, OneOf, Shape, TableShape},
};

/// A whole file.
pub static SCENARIO: TableShape = TableShape {
    what: "a scenario",
    one_of: Some(OneOf { what: "kind of players", keys: &["cast", "agent"], repeats: false }),
    keys: &[
        Key::must("scenario", Shape::Count, "version of the language, 1"),
        Key::must("title", Shape::Name, "what is rehearsed, one line"),
        Key::must("why", Shape::Name, "what goes wrong in a host that gets it wrong"),
        Key::must("guards", Shape::List(&Shape::Name), "regression rows and invariants that it was written for"),
        Key::may("from", Shape::Name, "link of the report that it was copied from"),
        Key::may("provenance", Shape::Name, "what is recorded and what is synthetic; required beside `from`"),
        Key::may("tags", Shape::List(&Shape::Choice(Tag::WORDS)), "how its runs are to be judged"),
        Key::may("devices", Shape::List(&Shape::Name), "the devices; one called \"device\" unless said otherwise"),
        Key::may("config", Shape::Map { key: "field of the engine's configuration", value: &Shape::Anything }, "configuration"),
        Key::may("cast", Shape::List(&Shape::Table(&CAST)), "one entry a provider process, in the order in which they start"),
        Key::may("agent", Shape::Table(&AGENT), "the in-process agent loop with a scripted model, in place of a cast"),
        Key::must("steps", Shape::List(&Shape::Table(&STEP)), "what the user and the world do, in order"),
        Key::may("perturb", Shape::Table(&PERTURB), "what sweeps and exploration may do here"),
    ],
};

/// `[perturb]`.
pub static PERTURB: TableShape = TableShape {
    what: "the perturb table",
    one_of: None,
    keys: &[
        Key::may(
            "weather",
            Shape::List(&Shape::Choice(Kind::WORDS)),
            "kinds that any conforming provider, disk, network or user may show",
        ),
        Key::may("breakage", Shape::List(&Shape::Choice(Kind::WORDS)), "kinds that only a broken provider shows"),
        Key::may("protect", Shape::List(&Shape::Beat), "beats that are never perturbed"),
    ],
};
