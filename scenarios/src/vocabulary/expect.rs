//! The keys of `expect` and `until`.

use crate::{
    expect::{ChatStatus, EntryState, MessageState, RowState, TurnOutcome},
    shape::{Key, Shape, TableShape},
};

/// A text, whole or by its parts.
const TEXT: Shape = Shape::Either(&[&Shape::Text, &Shape::Table(&TEXT_PARTS)]);
/// A number, exact or within bounds.
const NUMBER: Shape = Shape::Either(&[&Shape::Count, &Shape::Table(&BOUNDS)]);
const ONE_OR_MORE: Shape = Shape::Either(&[&Shape::Name, &Shape::Filled(&Shape::Name)]);

static TEXT_PARTS: TableShape = TableShape {
    what: "a text by its parts",
    one_of: None,
    keys: &[
        Key::may("contains", ONE_OR_MORE, "what it holds, in any order"),
        Key::may("lacks", ONE_OR_MORE, "what it does not hold"),
        Key::may("once", ONE_OR_MORE, "what it holds exactly once"),
    ],
};

static BOUNDS: TableShape = TableShape {
    what: "a number by its bounds",
    one_of: None,
    keys: &[Key::may("at_least", Shape::Count, "the least it may be"), Key::may("at_most", Shape::Count, "the most it may be")],
};

/// What the view shows.
pub static EXPECT: TableShape = TableShape {
    what: "an expectation",
    one_of: None,
    keys: &[
        Key::may("status", Shape::Choice(ChatStatus::WORDS), "status of the chat"),
        Key::may("pill", NUMBER, "number of running children shown"),
        Key::may("busy", Shape::Flag, "the working indicator"),
        Key::may(
            "turns",
            Shape::Either(&[&Shape::Count, &Shape::Table(&BOUNDS), &Shape::List(&Shape::Choice(TurnOutcome::WORDS))]),
            "number of turns accepted, or the outcome of each in order",
        ),
        Key::may(
            "rows",
            Shape::Either(&[&Shape::List(&Shape::Name), &Shape::Table(&ROWS)]),
            "titles of all rows in order, or how many there are",
        ),
        Key::may("row", Shape::Map { key: "row", value: &Shape::Choice(RowState::WORDS) }, "state of the row of this title"),
        Key::may(
            "tab",
            Shape::Map { key: "tab", value: &Shape::Either(&[&Shape::List(&Shape::Kind), &Shape::Table(&TAB)]) },
            "the tab of this title: the kinds of its entries in order, or a table",
        ),
        Key::may("entries", Shape::List(&Shape::Kind), "the kinds of the chat's entries in order"),
        Key::may("text", TEXT, "all replies of the chat, joined by an empty line"),
        Key::may("transcript", TEXT, "prompts, replies, errors and notices of the chat in order, joined by an empty line"),
        Key::may("last_reply", TEXT, "the last reply of the chat"),
        Key::may(
            "messages",
            Shape::Map { key: "message", value: &Shape::Choice(MessageState::WORDS) },
            "state of the message that the step of this label sent",
        ),
        Key::may(
            "queue",
            Shape::Either(&[&Shape::List(&Shape::Name), &Shape::Table(&QUEUE)]),
            "labels of the queued messages in order, or a table",
        ),
        Key::may("question", Shape::Flag, "whether a question is open"),
        Key::may("approval", Shape::Flag, "whether an approval is open"),
        Key::may(
            "notices",
            Shape::Either(&[&Shape::List(&Shape::Text), &Shape::Table(&TEXT_PARTS)]),
            "the texts shown as notices, all of them in order or by their parts",
        ),
    ],
};

static ROWS: TableShape = TableShape {
    what: "a count of rows",
    one_of: None,
    keys: &[
        Key::may("running", NUMBER, "rows that run"),
        Key::may("done", NUMBER, "rows that are done"),
        Key::may("failed", NUMBER, "rows that failed"),
        Key::may("all", NUMBER, "rows in any state"),
    ],
};

static TAB: TableShape = TableShape {
    what: "a tab",
    one_of: None,
    keys: &[
        Key::may("entries", Shape::List(&Shape::Kind), "the kinds of its entries in order"),
        Key::may("text", TEXT, "all its words, the prompt too, joined by an empty line"),
        Key::may("last_reply", TEXT, "its last reply"),
        Key::may("state", Shape::Choice(EntryState::WORDS), "state of its last entry"),
    ],
};

static QUEUE: TableShape = TableShape {
    what: "the queue",
    one_of: None,
    keys: &[
        Key::may("messages", Shape::List(&Shape::Name), "labels of the queued messages in order"),
        Key::may("length", NUMBER, "how many there are"),
        Key::may("paused", Shape::Flag, "whether it waits for an explicit send"),
    ],
};
