//! Content as a sequence of tokens, so that it can be compared however a host cuts it into parts.
//!
//! A token is a character that is no white space, a tool, or a mark where the kind of text changes. Where blocks begin and end
//! leaves no trace, so a host may join or split them.

use std::collections::BTreeMap;

/// Kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Reply,
    Thinking,
    User,
}

/// Tokens above the last character: marks, then tools.
const MARKS: u32 = char::MAX as u32 + 1;
const TOOLS: u32 = MARKS + 3;

/// Tools by the number that stands for them in every stream of one judgement.
#[derive(Default)]
pub(super) struct ToolNames {
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl ToolNames {
    fn number(&mut self, id: &str) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = TOOLS + self.names.len() as u32;
        self.numbers.insert(id.to_string(), number);
        self.names.push(id.to_string());
        number
    }
}

/// A stretch of content.
#[derive(Default)]
pub(super) struct Stream {
    tokens: Vec<u32>,
    kind: Option<Kind>,
}

impl Stream {
    pub(super) fn text(&mut self, kind: Kind, words: &str) {
        for letter in words.chars().filter(|letter| !letter.is_whitespace()) {
            if self.kind != Some(kind) {
                self.kind = Some(kind);
                self.tokens.push(MARKS + kind as u32);
            }
            self.tokens.push(letter as u32);
        }
    }

    pub(super) fn tool(&mut self, names: &mut ToolNames, id: &str) {
        self.tokens.push(names.number(id));
        self.kind = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// What was said in one place: everything that may be shown, and the part of it that must be.
#[derive(Default)]
pub(super) struct Said {
    pub(super) owed: Stream,
    pub(super) allowed: Stream,
}

impl Said {
    pub(super) fn text(&mut self, kind: Kind, words: &str, owed: bool) {
        self.allowed.text(kind, words);
        if owed {
            self.owed.text(kind, words);
        }
    }

    pub(super) fn tool(&mut self, names: &mut ToolNames, id: &str, owed: bool) {
        self.allowed.tool(names, id);
        if owed {
            self.owed.tool(names, id);
        }
    }

    /// What is wrong with what is shown: something owed is missing or out of its place, or something shown was never said so.
    pub(super) fn fault(&self, shown: &Stream, names: &ToolNames) -> Option<String> {
        let (owed, allowed, shown) = (&self.owed.tokens, &self.allowed.tokens, &shown.tokens);
        if owed.len() == allowed.len() {
            let common = owed.iter().zip(shown).take_while(|(owed, shown)| owed == shown).count();
            let same = common == owed.len() && common == shown.len();
            return (!same).then(|| differs(owed, shown, common, names));
        }
        if let Some(at) = beyond(owed, shown) {
            return Some(format!("{} was said and is not shown in its place", around(owed, at, names)));
        }
        beyond(shown, allowed).map(|at| format!("{} is shown and was not said so", around(shown, at, names)))
    }
}

fn differs(owed: &[u32], shown: &[u32], common: usize, names: &ToolNames) -> String {
    match (common < owed.len(), common < shown.len()) {
        (true, true) => format!("said was {}, shown is {}", around(owed, common, names), around(shown, common, names)),
        (true, false) => format!("{} was said and is not shown", around(owed, common, names)),
        (false, _) => format!("{} is shown and was not said so", around(shown, common, names)),
    }
}

/// The first token of `part` for which `whole` has no place left; `None` when all of it stands in `whole` in order.
fn beyond(part: &[u32], whole: &[u32]) -> Option<usize> {
    let mut rest = whole.iter();
    part.iter().position(|token| !rest.any(|other| other == token))
}

/// A few words around a place, for a reader.
fn around(tokens: &[u32], at: usize, names: &ToolNames) -> String {
    let mut words = String::new();
    let from = at.saturating_sub(12);
    for (index, token) in tokens.iter().enumerate().skip(from).take(at - from + 28) {
        if index == at {
            words.push('▸');
        }
        match token.checked_sub(MARKS) {
            None => words.extend(char::from_u32(*token)),
            Some(0) => words.push_str(" reply: "),
            Some(1) => words.push_str(" thinking: "),
            Some(2) => words.push_str(" user: "),
            Some(tool) => words.push_str(&format!(" [{}] ", names.names[(tool - 3) as usize])),
        }
    }
    format!("\"{}\"", words.trim())
}
