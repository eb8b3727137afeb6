//! The words and keys by which logs say who wrote a line, when, and what.

use crate::format::From;

/// Who a log says wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// One of the two; `fixed` when the word means the same to everybody. `in` is stdin to one and what came in to another.
    Of { from: From, fixed: bool },
    /// Diagnostics: not captured.
    Stderr,
}

const fn fixed(from: From) -> Side {
    Side::Of { from, fixed: true }
}

const fn loose(from: From) -> Side {
    Side::Of { from, fixed: false }
}

/// Every word, in lower case.
const WORDS: [(&str, Side); 39] = [
    ("stdin", fixed(From::Host)),
    ("host", fixed(From::Host)),
    ("to_cli", fixed(From::Host)),
    ("to-cli", fixed(From::Host)),
    ("host->cli", fixed(From::Host)),
    ("stdout", fixed(From::Cli)),
    ("cli", fixed(From::Cli)),
    ("claude", fixed(From::Cli)),
    ("from_cli", fixed(From::Cli)),
    ("from-cli", fixed(From::Cli)),
    ("cli->host", fixed(From::Cli)),
    ("stderr", Side::Stderr),
    (">", loose(From::Host)),
    (">>", loose(From::Host)),
    (">>>", loose(From::Host)),
    ("->", loose(From::Host)),
    ("-->", loose(From::Host)),
    ("in", loose(From::Host)),
    ("input", loose(From::Host)),
    ("send", loose(From::Host)),
    ("sent", loose(From::Host)),
    ("tx", loose(From::Host)),
    ("write", loose(From::Host)),
    ("outgoing", loose(From::Host)),
    ("request", loose(From::Host)),
    ("<", loose(From::Cli)),
    ("<<", loose(From::Cli)),
    ("<<<", loose(From::Cli)),
    ("<-", loose(From::Cli)),
    ("<--", loose(From::Cli)),
    ("out", loose(From::Cli)),
    ("output", loose(From::Cli)),
    ("recv", loose(From::Cli)),
    ("receive", loose(From::Cli)),
    ("received", loose(From::Cli)),
    ("rx", loose(From::Cli)),
    ("read", loose(From::Cli)),
    ("incoming", loose(From::Cli)),
    ("response", loose(From::Cli)),
];

/// Keys under which a wrapped line says who wrote it. `type` only with one of the words: frames have it too.
pub(super) const DIRECTION_KEYS: [&str; 9] = ["direction", "dir", "from", "stream", "channel", "source", "side", "type", "event"];
/// Keys under which the line stands.
pub(super) const PAYLOAD_KEYS: [&str; 11] =
    ["frame", "data", "message", "line", "payload", "msg", "json", "raw", "content", "text", "body"];
/// Keys of a time in ms since a start.
pub(super) const MS_KEYS: [&str; 6] = ["at_ms", "t_ms", "ms", "elapsed_ms", "offset_ms", "time_ms"];
/// Keys of a time of day, or of one since a start.
pub(super) const TIME_KEYS: [&str; 6] = ["ts", "timestamp", "time", "at", "date", "t"];

/// What a word says, if it is one of them.
pub(super) fn side(word: &str) -> Option<Side> {
    let word = word.to_ascii_lowercase();
    WORDS.iter().find(|(known, _)| *known == word).map(|(_, side)| *side)
}
