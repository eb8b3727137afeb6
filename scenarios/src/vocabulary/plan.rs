//! The keys of a plan file.

use crate::{
    plan::{DiskFault, Pipe, Signal, UserAct, When},
    shape::{Key, OneOf, Shape, TableShape},
};

/// A whole file.
pub static PLAN: TableShape = TableShape {
    what: "a plan",
    one_of: None,
    keys: &[
        Key::must("plan", Shape::Count, "version of the format, 1"),
        Key::may("scenario", Shape::Name, "id of the scenario that it was made for"),
        Key::may("seed", Shape::Seed, "seed that it was drawn from"),
        Key::may(
            "perturb",
            Shape::List(&Shape::Table(&PERTURBATION)),
            "the perturbations; none of them means the recorded order",
        ),
    ],
};

/// One entry of `[[perturb]]`.
pub static PERTURBATION: TableShape = TableShape {
    what: "a perturbation",
    one_of: Some(OneOf {
        what: "kind",
        keys: &[
            "delay",
            "hold",
            "split",
            "join",
            "race",
            "user",
            "act",
            "kill",
            "disk",
            "power_loss",
            "suspend",
            "partition",
            "ties",
            "swap",
            "drop",
            "duplicate",
            "insert",
            "exit",
            "close",
            "deaf",
        ],
        repeats: true,
    }),
    keys: &[
        Key::may("delay", Shape::Table(&DELAY), "a beat and those after it come later"),
        Key::may("hold", Shape::Table(&BEAT), "the tape stops after a beat until the storm is over"),
        Key::may("split", Shape::Table(&SPLIT), "the bytes of a beat come in pieces"),
        Key::may("join", Shape::Table(&JOIN), "beats that follow each other come in one read"),
        Key::may("race", Shape::Table(&PAIR), "two beats that may race change places"),
        Key::may("user", Shape::Table(&USER), "an action of the user comes at another moment"),
        Key::may("act", Shape::Table(&ACT), "the user does one thing more"),
        Key::may("kill", Shape::Table(&KILL), "the engine is killed and started again"),
        Key::may("disk", Shape::Table(&DISK), "a disk call ends otherwise"),
        Key::may("power_loss", Shape::Table(&POWER_LOSS), "the power fails at a sync"),
        Key::may("suspend", Shape::Table(&SUSPEND), "the machine sleeps"),
        Key::may("partition", Shape::Table(&PARTITION), "a link is cut for a while"),
        Key::may("ties", Shape::Table(&TIES), "timers that are due at one instant fire in another order"),
        Key::may("swap", Shape::Table(&PAIR), "two beats that never race change places"),
        Key::may("drop", Shape::Table(&BEAT), "a beat is not said"),
        Key::may("duplicate", Shape::Table(&BEAT), "a beat is said twice"),
        Key::may("insert", Shape::Table(&INSERT), "a line that the recording does not hold"),
        Key::may("exit", Shape::Table(&EXIT), "the process ends"),
        Key::may("close", Shape::Table(&CLOSE), "a pipe is closed"),
        Key::may("deaf", Shape::Table(&DEAF), "the process reads no more"),
    ],
};

static DELAY: TableShape = TableShape {
    what: "a delay",
    one_of: Some(OneOf { what: "beat", keys: &["label", "beat"], repeats: false }),
    keys: &[
        Key::may("label", Shape::Beat, "label of the beat"),
        Key::may("beat", Shape::Count, "number of the beat on its tape, the first being 1"),
        Key::may_beside("process", &["beat"], Shape::Name, "the process whose tape it is; else the first"),
        Key::must("by", Shape::Duration, "how much later"),
    ],
};

static BEAT: TableShape =
    TableShape { what: "a beat", one_of: None, keys: &[Key::must("label", Shape::Beat, "label of the beat")] };

static PAIR: TableShape = TableShape {
    what: "a pair of beats",
    one_of: None,
    keys: &[Key::must("a", Shape::Beat, "the one"), Key::must("b", Shape::Beat, "the other")],
};

static SPLIT: TableShape = TableShape {
    what: "a split",
    one_of: None,
    keys: &[
        Key::must("label", Shape::Beat, "label of the beat"),
        Key::must("at", Shape::List(&Shape::Count), "the bytes before which it is cut, rising, from 1"),
    ],
};

static JOIN: TableShape = TableShape {
    what: "a join",
    one_of: None,
    keys: &[Key::must("labels", Shape::List(&Shape::Beat), "labels of the beats, two or more")],
};

static INSERT: TableShape = TableShape {
    what: "an insertion",
    one_of: Some(OneOf { what: "line", keys: &["frame", "raw"], repeats: false }),
    keys: &[
        Key::must("after", Shape::Beat, "label of the beat before it"),
        Key::may("frame", Shape::Json, "a frame"),
        Key::may("raw", Shape::Text, "a line that is no frame"),
    ],
};

static EXIT: TableShape = TableShape {
    what: "an exit",
    one_of: Some(OneOf { what: "status", keys: &["code", "signal"], repeats: false }),
    keys: &[
        Key::must("after", Shape::Beat, "label of the beat before it"),
        Key::may("code", Shape::Integer, "exit code"),
        Key::may("signal", Shape::Choice(Signal::WORDS), "the signal that ends it"),
    ],
};

static ACT: TableShape = TableShape {
    what: "an action of the user",
    one_of: None,
    keys: &[
        Key::must("after", Shape::Beat, "label of the beat before it"),
        Key::must("what", Shape::Choice(UserAct::WORDS), "what the user does"),
    ],
};

static CLOSE: TableShape = TableShape {
    what: "a closed pipe",
    one_of: None,
    keys: &[
        Key::must("after", Shape::Beat, "label of the beat before it"),
        Key::must("pipe", Shape::Choice(Pipe::WORDS), "the pipe"),
    ],
};

static DEAF: TableShape = TableShape {
    what: "deafness",
    one_of: None,
    keys: &[Key::must("after", Shape::Beat, "label of the beat from which on the process reads no more")],
};

static USER: TableShape = TableShape {
    what: "a move of a user action",
    one_of: None,
    keys: &[
        Key::must("step", Shape::Either(&[&Shape::Count, &Shape::Name]), "number of the step, the first being 1, or its label"),
        Key::must("to", Shape::Table(&MOMENT), "when it happens"),
    ],
};

static MOMENT: TableShape = TableShape {
    what: "a moment",
    one_of: Some(OneOf { what: "measure", keys: &["after", "by"], repeats: false }),
    keys: &[
        Key::may("after", Shape::Beat, "right after this beat"),
        Key::may("by", Shape::Duration, "this much later than it was"),
    ],
};

static KILL: TableShape = TableShape {
    what: "a kill",
    one_of: Some(OneOf { what: "place", keys: &["effect", "disk"], repeats: false }),
    keys: &[
        Key::may("effect", Shape::Count, "number of the effect in the run, the first being 1"),
        Key::may("disk", Shape::Count, "number of the disk call in the run, the first being 1"),
        Key::must("when", Shape::Choice(When::WORDS), "before or after it"),
    ],
};

static DISK: TableShape = TableShape {
    what: "a fault of the disk",
    one_of: None,
    keys: &[
        Key::must("call", Shape::Count, "number of the disk call in the run, the first being 1"),
        Key::must("with", Shape::Choice(DiskFault::WORDS), "its outcome"),
    ],
};

static POWER_LOSS: TableShape = TableShape {
    what: "a power loss",
    one_of: None,
    keys: &[
        Key::must("sync", Shape::Count, "number of the sync in the run, the first being 1"),
        Key::may("torn", Shape::Flag, "whether the sector that was being written is torn"),
    ],
};

static SUSPEND: TableShape = TableShape {
    what: "a suspend",
    one_of: None,
    keys: &[
        Key::must("at", Shape::Duration, "virtual time of the run"),
        Key::must("for", Shape::Duration, "how long the wall clock runs on"),
    ],
};

static PARTITION: TableShape = TableShape {
    what: "a cut",
    one_of: Some(OneOf { what: "direction", keys: &["between", "from"], repeats: false }),
    keys: &[
        Key::must("at", Shape::Duration, "virtual time of the run"),
        Key::must("for", Shape::Duration, "how long until it heals"),
        Key::may("between", Shape::List(&Shape::Name), "the two devices, both ways"),
        Key::may("from", Shape::Name, "the device whose words are not delivered"),
        Key::beside("to", &["from"], Shape::Name, "the device that they do not reach"),
    ],
};

static TIES: TableShape = TableShape {
    what: "an order of ties",
    one_of: None,
    keys: &[
        Key::must("at", Shape::Duration, "virtual time of the run"),
        Key::must("order", Shape::List(&Shape::Name), "the timers' keys in the order in which they fire"),
    ],
};
