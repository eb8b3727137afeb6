//! The two matchers that are more than equality: numbers within bounds, and texts by their parts.

use std::fmt;

/// A number within bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The least it may be.
    pub at_least: u32,
    /// The most it may be; none means no bound.
    pub at_most: Option<u32>,
}

impl Number {
    /// Exactly this number.
    pub fn exactly(number: u32) -> Self {
        Number { at_least: number, at_most: Some(number) }
    }

    /// Whether `actual` is within the bounds.
    pub fn matches(&self, actual: usize) -> bool {
        let at_least = usize::try_from(self.at_least).is_ok_and(|least| actual >= least);
        at_least && self.at_most.is_none_or(|most| usize::try_from(most).is_ok_and(|most| actual <= most))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (least, Some(most)) if least == most => write!(f, "is {least}"),
            (0, Some(most)) => write!(f, "is at most {most}"),
            (least, Some(most)) => write!(f, "is from {least} to {most}"),
            (least, None) => write!(f, "is at least {least}"),
        }
    }
}

/// A text, whole or by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextMatch {
    /// This text and no more.
    Whole(String),
    /// A text by its parts; every list is to hold.
    Parts {
        /// Each of these occurs.
        contains: Vec<String>,
        /// Each of these occurs exactly once; overlapping places count.
        once: Vec<String>,
        /// None of these occurs.
        lacks: Vec<String>,
    },
}

impl TextMatch {
    /// Whether `actual` matches.
    pub fn matches(&self, actual: &str) -> bool {
        match self {
            TextMatch::Whole(text) => text == actual,
            TextMatch::Parts { contains, once, lacks } => {
                contains.iter().all(|part| actual.contains(part.as_str()))
                    && once.iter().all(|part| occurrences(actual, part) == 1)
                    && !lacks.iter().any(|part| actual.contains(part.as_str()))
            }
        }
    }
}

/// How often `part` starts somewhere in `text`; an empty part never does.
fn occurrences(text: &str, part: &str) -> usize {
    if part.is_empty() {
        return 0;
    }
    text.char_indices().filter(|(at, _)| text[*at..].starts_with(part)).count()
}

impl fmt::Display for TextMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextMatch::Whole(text) => write!(f, "is {text:?}"),
            TextMatch::Parts { contains, once, lacks } => {
                let all = |verb: &str, parts: &[String]| parts.iter().map(|part| format!("{verb} {part:?}")).collect::<Vec<_>>();
                let words = [all("contains", contains), all("contains once", once), all("lacks", lacks)].concat();
                f.write_str(&words.join(" and "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, TextMatch};

    #[track_caller]
    fn check(contains: &[&str], once: &[&str], lacks: &[&str], text: &str) -> bool {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        TextMatch::Parts { contains: own(contains), once: own(once), lacks: own(lacks) }.matches(text)
    }

    #[test]
    fn a_doubled_text_is_not_once() {
        assert!(check(&["one"], &["one"], &["two"], "one"));
        assert!(!check(&[], &["one"], &[], "oneone"));
        assert!(!check(&[], &["aa"], &[], "aaa"), "overlapping places count");
        assert!(!check(&["three"], &[], &[], "one"));
        assert!(!check(&[], &[], &["one"], "one"));
    }

    #[test]
    fn a_whole_text_matches_nothing_longer() {
        assert!(TextMatch::Whole("one".into()).matches("one"));
        assert!(!TextMatch::Whole("one".into()).matches("one "));
    }

    #[test]
    fn bounds_hold_on_both_sides() {
        let number = Number { at_least: 1, at_most: Some(2) };
        assert_eq!([0, 1, 2, 3].map(|n| number.matches(n)), [false, true, true, false]);
        assert_eq!([0, 1, 2].map(|n| Number::exactly(1).matches(n)), [false, true, false]);
        assert!(Number { at_least: 1, at_most: None }.matches(1_000_000));
    }
}
