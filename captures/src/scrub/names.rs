//! The users and hosts that a capture names, found before anything is replaced: a name in a path is the same name in a prompt.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use regex::Regex;
use serde_json::Value;

use crate::format::{Capture, What};

/// What the first user becomes; later ones get a number.
const USER: &str = "dev";
/// What the first host becomes.
const HOST: &str = "host";
/// Names of users that are words of their own: they are replaced in paths only.
const WORDS: [&str; 24] = [
    "root",
    "user",
    "admin",
    "ubuntu",
    "debian",
    "runner",
    "test",
    "node",
    "claude",
    "codex",
    "main",
    "app",
    "home",
    "work",
    "build",
    "default",
    "agent",
    "system",
    "assistant",
    "result",
    "code",
    "vscode",
    "guest",
    "developer",
];
/// The least length in characters of a name that is replaced wherever it stands.
const LEAST: usize = 3;
/// Directories beside the homes that are nobody's.
const NOBODY: [&str; 3] = ["Shared", "Public", "linuxbrew"];
/// Endings of names that only a private network resolves.
const PRIVATE: [&str; 7] = [".local", ".lan", ".internal", ".corp", ".intranet", ".home.arpa", ".localdomain"];

/// Users and hosts with what each becomes.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) users: IndexMap<String, String>,
    pub(super) hosts: IndexMap<String, String>,
    /// Users whose name is replaced outside of paths as well.
    pub(super) telling: BTreeSet<String>,
    /// Replacements of an earlier scrub, which must not be given out again.
    pub(super) taken: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(capture: &Capture) -> Names {
        let mut reader = Reader::new();
        for word in &capture.header.launch {
            reader.text(word);
        }
        for (name, value) in &capture.header.env {
            reader.keyed(name, value);
            // Where the API is reached is nobody's business, even under a public name.
            if name == "ANTHROPIC_BASE_URL" && !value.contains("api.anthropic.com") {
                reader.url(value, |host| host.contains(|c: char| c.is_ascii_alphabetic()));
            }
        }
        for entry in &capture.entries {
            match &entry.what {
                What::Frame(frame) => reader.value(frame),
                What::Raw(line) => reader.text(line),
                What::Close(_) | What::Signal(_) | What::Exit(_) => {}
            }
        }
        reader.finish()
    }
}

struct Reader {
    home: Regex,
    login: Regex,
    url: Regex,
    given: Regex,
    users: IndexMap<String, String>,
    hosts: IndexMap<String, String>,
    /// `NAME@HOST` without a dot in it: a host, if the name is a user's.
    logins: Vec<(String, String)>,
    /// Words of the protocol: keys, and values of keys that name kinds.
    vocabulary: BTreeSet<String>,
    taken: BTreeSet<String>,
}

/// A regular expression of this file.
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this module, which the tests run through")
}

impl Reader {
    fn new() -> Reader {
        Reader {
            home: regex(r#"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)([A-Za-z0-9._][A-Za-z0-9._-]*)"#),
            login: regex(r"([A-Za-z0-9._-]+)@([A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*)"),
            url: regex(r#"://(?:[^/\s@"']*@)?([A-Za-z0-9][A-Za-z0-9.-]*)"#),
            given: regex(r"\b(?:person\d+@example\.com|sk-ant-scrubbed-\d+|scrubbed-key-\d+)\b"),
            users: IndexMap::new(),
            hosts: IndexMap::new(),
            logins: Vec::new(),
            vocabulary: BTreeSet::new(),
            taken: BTreeSet::new(),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(keys) => {
                for (key, value) in keys {
                    self.vocabulary.insert(key.clone());
                    self.text(key);
                    match value {
                        Value::String(text) => self.keyed(key, text),
                        other => self.value(other),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn keyed(&mut self, key: &str, text: &str) {
        match key {
            "type" | "subtype" | "role" | "state" | "status" | "name" | "model" => {
                self.vocabulary.insert(text.to_owned());
            }
            "username" | "user_name" | "USER" | "LOGNAME" | "USERNAME" if is_name(text) => self.user(text),
            "hostname" | "host_name" | "HOSTNAME" | "HOST" | "COMPUTERNAME" if is_name(text) => self.host(text),
            _ => {}
        }
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        // Most texts have none of the signs, and patterns are dear.
        if text.contains(['/', '\\']) {
            let homes: Vec<String> =
                self.home.captures_iter(text).map(|found| found[1].trim_end_matches('.').to_owned()).collect();
            homes.iter().filter(|name| !NOBODY.contains(&name.as_str())).for_each(|name| self.user(name));
            self.url(text, is_private);
        }
        if text.contains('@') {
            let logins: Vec<(String, String)> =
                self.login.captures_iter(text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
            for (user, host) in logins {
                if is_private(&host) && host.contains('.') {
                    self.user(&user);
                    self.host(&host);
                } else if !host.contains('.') {
                    self.logins.push((user, host));
                }
            }
        }
        if text.contains("scrubbed-") || text.contains("@example.com") {
            self.taken.extend(self.given.find_iter(text).map(|found| found.as_str().to_owned()));
        }
    }

    fn url(&mut self, text: &str, is_meant: impl Fn(&str) -> bool) {
        let hosts: Vec<String> = self.url.captures_iter(text).map(|found| found[1].trim_end_matches('.').to_owned()).collect();
        hosts.iter().filter(|host| is_meant(host)).for_each(|host| self.host(host));
    }

    fn user(&mut self, name: &str) {
        self.users.entry(name.to_owned()).or_default();
    }

    fn host(&mut self, name: &str) {
        let is_number = |name: &str| name.chars().all(|c| c.is_ascii_digit() || c == '.');
        let known = ["localhost", "127.0.0.1", "0.0.0.0", "host"].contains(&name) || name.ends_with(".example");
        if !known && !is_number(name) && name.len() >= LEAST {
            self.hosts.entry(name.to_owned()).or_default();
        }
    }

    fn finish(mut self) -> Names {
        let logins = std::mem::take(&mut self.logins);
        for (user, host) in logins {
            // A number after the sign is a version, not a host.
            if self.users.contains_key(&user) && host.contains(|c: char| c.is_ascii_alphabetic()) {
                self.host(&host);
            }
        }
        let vocabulary = &self.vocabulary;
        self.hosts.retain(|host, _| !vocabulary.contains(host));
        give(&mut self.users, USER, "");
        let dotted = ".example";
        give(&mut self.hosts, HOST, dotted);
        let telling = self.users.keys().filter(|name| {
            name.len() >= LEAST && !WORDS.contains(&name.as_str()) && !self.vocabulary.contains(*name) && *name != USER
        });
        Names { telling: telling.cloned().collect(), users: self.users, hosts: self.hosts, taken: self.taken }
    }
}

/// Gives each name its replacement: `dev`, `dev2`. A name that is one of them already keeps it.
fn give(names: &mut IndexMap<String, String>, stem: &str, ending: &str) {
    let numbered = |number: usize| if number == 1 { format!("{stem}{ending}") } else { format!("{stem}{number}{ending}") };
    let is_given = |name: &str| {
        let middle = name.strip_prefix(stem).and_then(|rest| rest.strip_suffix(ending));
        middle.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit()))
    };
    let kept: BTreeSet<String> = names.keys().filter(|name| is_given(name)).cloned().collect();
    let mut number = 0;
    for (name, given) in names.iter_mut() {
        *given = if kept.contains(name) {
            name.clone()
        } else {
            loop {
                number += 1;
                if !kept.contains(&numbered(number)) {
                    break numbered(number);
                }
            }
        };
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Whether only a private network knows this name.
fn is_private(host: &str) -> bool {
    let lettered = host.contains(|c: char| c.is_ascii_alphabetic());
    lettered && (!host.contains('.') || PRIVATE.iter().any(|ending| host.ends_with(ending)))
}
