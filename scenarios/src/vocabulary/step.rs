//! The keys of a step.

use super::expect::EXPECT;
use crate::{
    plan::{DiskFault, When},
    scenario::{Decision, Destination, Role},
    shape::{Key, OneOf, Shape, TableShape},
};

/// One step: exactly one action, and what goes with it.
pub static STEP: TableShape = TableShape {
    what: "a step",
    one_of: Some(OneOf {
        what: "action",
        keys: &[
            "send",
            "send_now",
            "queue",
            "edit",
            "remove",
            "lease",
            "steer",
            "stop",
            "answer",
            "fork",
            "switch",
            "close",
            "create",
            "claim",
            "kill",
            "restart",
            "crash",
            "suspend",
            "partition",
            "heal",
            "disk",
            "rpc",
            "mcp",
            "view",
            "advance",
            "until",
            "expect",
            "release",
            "note",
        ],
        repeats: true,
    }),
    keys: &[
        Key::may("send", Shape::Text, "the user sends this message"),
        Key::may(
            "send_now",
            Shape::Name,
            "the user sends the queued message of this label now: the turn is stopped, then it is sent",
        ),
        Key::may("queue", Shape::Text, "the user puts this message into the queue"),
        Key::may("edit", Shape::Table(&EDIT_QUEUED), "the user rewrites a queued message"),
        Key::may("remove", Shape::Name, "the user takes the queued message of this label back"),
        Key::may("lease", Shape::Name, "the user begins to edit the queued message of this label"),
        Key::may(
            "steer",
            Shape::Either(&[&Shape::Text, &Shape::Table(&STEER)]),
            "the user steers the running turn with this message",
        ),
        Key::may("stop", Shape::True, "the user stops the chat"),
        Key::may(
            "answer",
            Shape::Either(&[&Shape::Choice(Decision::WORDS), &Shape::Table(&ANSWER)]),
            "the user answers an approval or a question",
        ),
        Key::may("fork", Shape::Table(&FORK), "the user forks the chat"),
        Key::may("switch", Shape::Flag, "native subagents on or off"),
        Key::may_beside(
            "provider",
            &["switch"],
            Shape::Choice(Role::WORDS),
            "whose subagents; else those of the first of the cast",
        ),
        Key::may("close", Shape::True, "the user closes the chat: its process is told that no more input comes"),
        Key::may("create", Shape::Table(&CHAT), "a chat row is created"),
        Key::may("claim", Shape::Table(&CHAT), "a chat row is claimed by the first command that reaches its host"),
        Key::may(
            "kill",
            Shape::Either(&[&Shape::True, &Shape::Table(&POINT)]),
            "the engine is killed, now or at a point that comes",
        ),
        Key::may(
            "restart",
            Shape::Either(&[&Shape::True, &Shape::Table(&POINT)]),
            "the engine starts from its store; if it lives it is killed first, now or at a point that comes",
        ),
        Key::may("crash", Shape::Either(&[&Shape::True, &Shape::Table(&POWER)]), "power loss: what was not synced is gone"),
        Key::may("suspend", Shape::Duration, "the machine sleeps: the wall clock runs, the monotonic one does not"),
        Key::may("partition", Shape::Either(&[&Shape::True, &Shape::Table(&CUT)]), "the network is cut"),
        Key::may(
            "heal",
            Shape::Either(&[&Shape::True, &Shape::Table(&CUT)]),
            "the network carries again; streams that were cut stay dead",
        ),
        Key::may("disk", Shape::Table(&DISK), "a fault of the disk is armed"),
        Key::may("rpc", Shape::Table(&CALL), "a request of the engine's own surface and its answer"),
        Key::may("mcp", Shape::Table(&CALL), "a request to the engine's MCP server and its answer"),
        Key::may("view", Shape::Table(&VIEW), "a pure view function and its value"),
        Key::may("advance", Shape::Duration, "time passes"),
        Key::may("until", Shape::Table(&EXPECT), "time passes until the view is so; else the verdict is liveness"),
        Key::may_beside("within", &["until"], Shape::Duration, "virtual time that it may take; else 60s"),
        Key::may("expect", Shape::Table(&EXPECT), "the view is so now"),
        Key::may("release", Shape::Beat, "a held beat is let go"),
        Key::may("note", Shape::Text, "words for the reader of the trace"),
        Key::may("chat", Shape::Name, "the chat it is about; else \"main\""),
        Key::may("device", Shape::Name, "the device where it happens; else the first"),
        Key::may("label", Shape::Name, "name of the step, and of the message that it sends"),
    ],
};

/// `edit`.
static EDIT_QUEUED: TableShape = TableShape {
    what: "the edit of a queued message",
    one_of: None,
    keys: &[
        Key::must("message", Shape::Name, "label of the message"),
        Key::must("text", Shape::Text, "its new text; an empty one deletes it"),
    ],
};

/// `steer` of a queued message.
static STEER: TableShape = TableShape {
    what: "a steer of a queued message",
    one_of: None,
    keys: &[Key::must("queued", Shape::Name, "label of the queued message that steers")],
};

/// `answer`, when one word does not say it.
static ANSWER: TableShape = TableShape {
    what: "an answer",
    one_of: Some(OneOf { what: "reply", keys: &["decision", "choose", "text"], repeats: false }),
    keys: &[
        Key::may("decision", Shape::Choice(Decision::WORDS), "what the user decides about an approval"),
        Key::may_beside("message", &["decision"], Shape::Text, "what the user says with it"),
        Key::may_beside("interrupt", &["decision"], Shape::Flag, "whether the turn ends with it"),
        Key::may(
            "choose",
            Shape::Either(&[
                &Shape::Text,
                &Shape::List(&Shape::Text),
                &Shape::Map { key: "question", value: &Shape::Either(&[&Shape::Text, &Shape::List(&Shape::Text)]) },
            ]),
            "the labels chosen, of the one question or of each question by its text",
        ),
        Key::may("text", Shape::Text, "the user's own words in place of a choice"),
        Key::may("open", Shape::Count, "which open card, 1 being the oldest; else the oldest"),
    ],
};

/// `fork`.
static FORK: TableShape = TableShape {
    what: "a fork",
    one_of: None,
    keys: &[
        Key::may("point", Shape::Name, "label of the message whose reply is the point; else the last reply"),
        Key::must("destination", Shape::Choice(Destination::WORDS), "what kind of chat it becomes"),
        Key::must("request", Shape::Name, "the request's id: the same id asks for the same fork"),
        Key::must("chat", Shape::Name, "the name that later steps use for the fork"),
    ],
};

/// `create` and `claim`.
static CHAT: TableShape = TableShape {
    what: "a chat",
    one_of: None,
    keys: &[
        Key::must("chat", Shape::Name, "the name that later steps use for it"),
        Key::may("parent", Shape::Name, "the chat that it is a side chat of"),
    ],
};

/// `kill` and `restart` at a point.
static POINT: TableShape = TableShape {
    what: "a point to kill at",
    one_of: Some(OneOf { what: "place", keys: &["effect", "disk"], repeats: false }),
    keys: &[
        Key::may("effect", Shape::Count, "number of the effect, counted from this step, the first being 1"),
        Key::may("disk", Shape::Count, "number of the disk call, counted from this step, the first being 1"),
        Key::may("when", Shape::Choice(When::WORDS), "before or after it; else before"),
    ],
};

/// `crash` at a sync.
static POWER: TableShape = TableShape {
    what: "a power loss",
    one_of: None,
    keys: &[
        Key::must("sync", Shape::Count, "number of the sync, counted from this step, the first being 1"),
        Key::may("torn", Shape::Flag, "whether the sector that was being written is torn"),
    ],
};

/// `partition` and `heal` of one link.
static CUT: TableShape = TableShape {
    what: "a cut",
    one_of: Some(OneOf { what: "direction", keys: &["between", "from"], repeats: false }),
    keys: &[
        Key::may("between", Shape::List(&Shape::Name), "the two devices, both ways"),
        Key::may("from", Shape::Name, "the device whose words are not delivered"),
        Key::beside("to", &["from"], Shape::Name, "the device that they do not reach"),
    ],
};

/// `disk`.
static DISK: TableShape = TableShape {
    what: "a fault of the disk",
    one_of: None,
    keys: &[
        Key::must("call", Shape::Count, "number of the disk call, counted from this step, the first being 1"),
        Key::must("with", Shape::Choice(DiskFault::WORDS), "its outcome"),
    ],
};

/// `rpc` and `mcp`.
static CALL: TableShape = TableShape {
    what: "a request",
    one_of: None,
    keys: &[
        Key::must("method", Shape::Name, "the method"),
        Key::may("params", Shape::Map { key: "parameter", value: &Shape::Anything }, "its parameters"),
        Key::must("answer", Shape::Anything, "the answer, whole"),
    ],
};

/// `view`.
static VIEW: TableShape = TableShape {
    what: "a view function",
    one_of: None,
    keys: &[
        Key::must("of", Shape::Name, "name of the function"),
        Key::may("given", Shape::Map { key: "argument", value: &Shape::Anything }, "its arguments"),
        Key::must("is", Shape::Anything, "its value"),
    ],
};
