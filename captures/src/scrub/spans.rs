//! Where something private stands in a text, and what takes its place.

use indexmap::IndexMap;
use regex::Regex;

use super::{
    Class,
    names::{Names, regex},
};

/// A part of a text and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) with: String,
    pub(super) class: Class,
}

/// Shapes of keys; where there is a group, only the group is the secret.
const KEYS: [&str; 7] = [
    r"\bsk-ant-[A-Za-z0-9_-]{8,}",
    r"\bsk-(?:proj-|or-v1-|live-|test-|svcacct-)?[A-Za-z0-9_]{20,}",
    r"(?i:\bbearer) +([A-Za-z0-9._~+/=-]{8,})",
    concat!(
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{20,}",
        r"|xox[abeprs]-[A-Za-z0-9-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}",
        r"|hf_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    ),
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)-----END [A-Z ]*PRIVATE KEY-----",
    r#"://[^/\s:@"']*:([^/\s@"']+)@"#,
    concat!(
        r#"(?i)[A-Z0-9_]*(?:API_?KEY|AUTH_?TOKEN|ACCESS_?TOKEN|REFRESH_?TOKEN|SECRET|PASSWORD|PASSWD)\\?["']?\s*[=:]\s*"#,
        r#"\\?["']?([^\s"'\\,;}$<*%]{8,})"#,
    ),
];
/// Which of them match words too, and so need a digit in the secret.
const NEEDS_DIGIT: [usize; 2] = [2, 6];
/// The least length in bytes of a value that a secret's name makes a secret.
const LEAST_SECRET: usize = 8;
/// Domains that are nobody's, with all below them: the reserved ones, and those that the CLI itself writes.
const NOBODY: [&str; 8] =
    ["example.com", "example.org", "example.net", "example", "invalid", "test", "anthropic.com", "users.noreply.github.com"];

/// Names of fields and variables whose value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    const NAMES: [&str; 15] = [
        "authorization",
        "x-api-key",
        "api_key",
        "api-key",
        "apikey",
        "password",
        "passwd",
        "secret",
        "client_secret",
        "access_token",
        "refresh_token",
        "auth_token",
        "id_token",
        "private_key",
        "cookie",
    ];
    const ENDINGS: [&str; 5] = ["_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS"];
    NAMES.contains(&name.to_ascii_lowercase().as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Finds what is private, and remembers what each became.
pub(super) struct Finder {
    keys: Vec<Regex>,
    mail: Regex,
    /// Homes, in paths and in the names that Claude Code makes of paths.
    home: Regex,
    words: Option<Regex>,
    names: Names,
    given: IndexMap<String, String>,
    numbers: [usize; 3],
}

impl Finder {
    pub(super) fn new(names: Names) -> Finder {
        let words: Vec<String> = names.hosts.keys().chain(&names.telling).map(|word| regex_escaped(word)).collect();
        // Longest first: a host may begin with a user's name.
        let mut words = words;
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Finder {
            keys: KEYS.iter().map(|pattern| regex(pattern)).collect(),
            mail: regex(r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}"),
            home: regex(
                r#"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)([A-Za-z0-9._][A-Za-z0-9._-]*)|-(?:home|Users)-([A-Za-z0-9-]+)"#,
            ),
            words: (!words.is_empty()).then(|| regex(&format!("(?:{})", words.join("|")))),
            names,
            given: IndexMap::new(),
            numbers: [0; 3],
        }
    }

    /// What a secret becomes that its name betrays; none if it is no secret at all.
    pub(super) fn key(&mut self, secret: &str) -> Option<String> {
        (secret.len() >= LEAST_SECRET && !secret.contains("scrubbed-")).then(|| self.give_key(secret))
    }

    fn give_key(&mut self, secret: &str) -> String {
        let (stem, counter) = if secret.starts_with("sk-ant-") { ("sk-ant-scrubbed-", 0) } else { ("scrubbed-key-", 1) };
        self.give(secret, counter, |number| format!("{stem}{number}"))
    }

    fn give(&mut self, found: &str, counter: usize, name: impl Fn(usize) -> String) -> String {
        if let Some(given) = self.given.get(found) {
            return given.clone();
        }
        let given = loop {
            self.numbers[counter] += 1;
            let name = name(self.numbers[counter]);
            if !self.names.taken.contains(&name) {
                break name;
            }
        };
        self.given.insert(found.to_owned(), given.clone());
        given
    }

    /// Everything private in a text, in order, without overlaps: keys win over addresses, addresses over names.
    pub(super) fn spans(&mut self, text: &str) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for index in 0..self.keys.len() {
            let found: Vec<(usize, usize)> = self.keys[index]
                .captures_iter(text)
                .filter_map(|found| found.iter().flatten().last().map(|part| (part.start(), part.end())))
                .collect();
            for (start, end) in found {
                let secret = text[start..end].to_owned();
                let wordlike = NEEDS_DIGIT.contains(&index) && !secret.contains(|c: char| c.is_ascii_digit());
                if !wordlike && !secret.contains("scrubbed-") {
                    self.put(&mut spans, text, start, end, Class::Key);
                }
            }
        }
        if text.contains('@') {
            let found: Vec<_> = self.mail.find_iter(text).map(|found| found.range()).collect();
            for range in found {
                self.put(&mut spans, text, range.start, range.end, Class::Mail);
            }
        }
        if text.contains(['/', '\\', '-']) {
            let found: Vec<_> = self
                .home
                .captures_iter(text)
                .filter_map(|found| found.get(1).or(found.get(2)).map(|part| part.range()))
                .collect();
            for range in found {
                self.home_at(&mut spans, text, range.start, range.end);
            }
        }
        if let Some(words) = &self.words {
            let found: Vec<_> = words.find_iter(text).map(|found| found.range()).collect();
            for range in found.into_iter().filter(|range| is_word_at(text, range.start, range.end)) {
                let class = if self.names.hosts.contains_key(&text[range.clone()]) { Class::Host } else { Class::User };
                self.put(&mut spans, text, range.start, range.end, class);
            }
        }
        spans.sort_by_key(|span| span.start);
        spans
    }

    /// A home: the name is the longest that is known, for the name of a directory may go on behind a dash.
    fn home_at(&mut self, spans: &mut Vec<Span>, text: &str, start: usize, end: usize) {
        let written = &text[start..end];
        let ends = |name: &str| written[name.len()..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric());
        let dashed = |name: &str| name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>();
        let known = self.names.users.iter().filter_map(|(name, given)| {
            let as_written =
                [name.clone(), dashed(name)].into_iter().find(|name| written.starts_with(name.as_str()) && ends(name))?;
            Some((as_written.len(), given.clone()))
        });
        let Some((length, given)) = known.max_by_key(|(length, _)| *length) else { return };
        if text[start..start + length] != given {
            put_span(spans, Span { start, end: start + length, with: given, class: Class::Home });
        }
    }

    fn put(&mut self, spans: &mut Vec<Span>, text: &str, start: usize, end: usize, class: Class) {
        // In JSON within a text the letter behind a backslash is the backslash's.
        let slashes = text[..start].bytes().rev().take_while(|byte| *byte == b'\\').count();
        let start = if slashes % 2 == 1 && class != Class::Host { start + 1 } else { start };
        let found = &text[start..end];
        let with = match class {
            Class::Key => self.give_key(found),
            Class::Mail => {
                let (user, domain) = found.split_once('@').unwrap_or((found, ""));
                let private = self.names.hosts.contains_key(domain);
                let below = |of: &str| domain.strip_suffix(of).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                let nobody = NOBODY.into_iter().any(below) || user.contains("scrubbed-");
                if private || user.is_empty() || nobody || (user == "git" && text[end..].starts_with(':')) {
                    return;
                }
                let found = found.to_owned();
                self.give(&found, 2, |number| format!("person{number}@example.com"))
            }
            Class::Host => self.names.hosts[found].clone(),
            Class::Home | Class::User => match self.names.users.get(found) {
                Some(given) => given.clone(),
                None => return,
            },
        };
        if with != *found {
            put_span(spans, Span { start, end, with, class });
        }
    }
}

/// Adds a span unless one that is there has a part of it.
fn put_span(spans: &mut Vec<Span>, span: Span) {
    if span.start < span.end && spans.iter().all(|other| other.end <= span.start || other.start >= span.end) {
        spans.push(span);
    }
}

/// Whether a word begins and ends here: `alice`, not `malice`; a backslash's letter is no part of one.
fn is_word_at(text: &str, start: usize, end: usize) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..start].chars().next_back().is_some_and(inner);
    let slashes = text[..start.saturating_sub(1)].bytes().rev().take_while(|byte| *byte == b'\\').count();
    let escaped = start > 0 && text.is_char_boundary(start - 1) && slashes % 2 == 1;
    let after = text[end..].chars().next().is_some_and(inner);
    (!before || escaped) && !after
}

fn regex_escaped(word: &str) -> String {
    regex::escape(word)
}
