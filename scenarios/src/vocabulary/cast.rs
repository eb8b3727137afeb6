//! The keys of a cast entry, of its edits, of the mock's events and of the in-process agent.

use crate::{
    plan::{Pipe, Signal},
    scenario::{Role, Trigger},
    shape::{Key, OneOf, Shape, TableShape},
};

/// One entry of `cast`.
pub static CAST: TableShape = TableShape {
    what: "a cast entry",
    one_of: Some(OneOf { what: "source of frames", keys: &["capture", "events"], repeats: false }),
    keys: &[
        Key::must("as", Shape::Choice(Role::WORDS), "whose process this is; `mock` takes events in place of a capture"),
        Key::may("capture", Shape::Name, "name of the scene"),
        Key::may("version", Shape::Name, "version of the CLI, when only that one will do"),
        Key::may("name", Shape::Name, "name of the process in labels and reports; else `claude`, `claude#2` …"),
        Key::may("device", Shape::Name, "device whose engine starts it; else the first"),
        Key::may("edits", Shape::List(&Shape::Table(&EDIT)), "what the tape does otherwise than it was recorded"),
        Key::may("events", Shape::List(&Shape::Table(&EVENT)), "normalized events that the mock driver hands on"),
    ],
};

const AFTER: &[&str] = &["insert", "insert_raw", "exit", "close", "deaf"];

/// One edit of a tape.
pub static EDIT: TableShape = TableShape {
    what: "an edit",
    one_of: Some(OneOf {
        what: "kind",
        keys: &["hold", "drop", "duplicate", "swap", "delay", "insert", "insert_raw", "exit", "close", "deaf", "ignore"],
        repeats: true,
    }),
    keys: &[
        Key::may("hold", Shape::Beat, "the tape stops after this beat until `release`"),
        Key::may("drop", Shape::Beat, "this beat is not said"),
        Key::may("duplicate", Shape::Beat, "this beat is said twice"),
        Key::may("swap", Shape::List(&Shape::Beat), "these two beats change places"),
        Key::may("delay", Shape::Beat, "this beat and those after it come later"),
        Key::beside("by", &["delay"], Shape::Duration, "how much later"),
        Key::may("insert", Shape::Json, "a frame that the recording does not hold"),
        Key::may("insert_raw", Shape::Text, "a line that is no frame"),
        Key::may(
            "exit",
            Shape::Either(&[&Shape::Integer, &Shape::Choice(Signal::WORDS)]),
            "the process ends with this code or by this signal",
        ),
        Key::may("close", Shape::Choice(Pipe::WORDS), "this pipe is closed"),
        Key::may("deaf", Shape::True, "the process reads no more"),
        Key::beside("after", AFTER, Shape::Beat, "the beat after which it happens"),
        Key::may("ignore", Shape::Choice(Signal::WORDS), "this signal has no effect on the process"),
    ],
};

/// One event of the mock driver.
pub static EVENT: TableShape = TableShape {
    what: "an event of the mock",
    one_of: None,
    keys: &[
        Key::must(
            "event",
            Shape::Either(&[&Shape::Name, &Shape::Map { key: "field of the event", value: &Shape::Anything }]),
            "the normalized event, by its name or as a table",
        ),
        Key::may("at", Shape::Duration, "time since the event before it; else at once"),
        Key::may("on", Shape::Choice(Trigger::WORDS), "what the host has to do first"),
        Key::may("label", Shape::Name, "its label, for holds and plans"),
    ],
};

/// `agent = { … }`.
pub static AGENT: TableShape = TableShape {
    what: "the agent",
    one_of: None,
    keys: &[
        Key::must("replies", Shape::List(&Shape::Table(&REPLY)), "what the model answers, one after another"),
        Key::may(
            "children",
            Shape::Map { key: "agent", value: &Shape::List(&Shape::Table(&REPLY)) },
            "what the model answers to each spawned agent, by its title",
        ),
        Key::may("tools", Shape::List(&Shape::Name), "the tools it is offered"),
        Key::may("depth", Shape::Count, "how deep agents may spawn agents"),
    ],
};

/// One answer of the scripted model.
pub static REPLY: TableShape = TableShape {
    what: "a reply",
    one_of: Some(OneOf { what: "content", keys: &["text", "tools", "fail"], repeats: true }),
    keys: &[
        Key::may("text", Shape::Text, "the words; they end the turn"),
        Key::may("tools", Shape::List(&Shape::Table(&CALL)), "tool calls, made at once"),
        Key::may("fail", Shape::Name, "the model's request fails with these words"),
        Key::may("thinking", Shape::Text, "what it thinks first"),
        Key::may("after", Shape::Duration, "how long it takes"),
    ],
};

/// One tool call of the scripted model.
pub static CALL: TableShape = TableShape {
    what: "a tool call",
    one_of: None,
    keys: &[
        Key::must("tool", Shape::Name, "name of the tool"),
        Key::may("input", Shape::Map { key: "argument", value: &Shape::Anything }, "its arguments"),
        Key::may("result", Shape::Text, "what the tool answers, when the world answers for it"),
    ],
};
