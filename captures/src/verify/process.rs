//! What holds for every process, whatever it says: labels, times, pipes, the exit.

use std::collections::BTreeSet;

use super::Findings;
use crate::format::{Capture, Entry, From, Stream, What};

pub(super) fn check(capture: &Capture, findings: &mut Findings) {
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    let mut pipes = Pipes::default();
    let mut before = 0.0;
    let last = capture.entries.len().saturating_sub(1);
    for (index, entry) in capture.entries.iter().enumerate() {
        findings.at(index, entry);
        if let Some(label) = &entry.label {
            findings
                .expect(labels.insert(label), "label-twice", || format!("label `{label}` was given before: expected it once"));
        }
        let forward = entry.at_ms.is_finite() && entry.at_ms >= before;
        findings.expect(forward, "time-goes-back", || format!("at {} ms after {before} ms", entry.at_ms));
        if forward {
            before = entry.at_ms;
        }
        let ended = matches!(entry.what, What::Exit(_));
        findings.expect(!ended || index == last, "exit-not-last", || "entries follow the exit: expected none".to_owned());
        pipes.check(entry, findings);
    }
    let ended = matches!(capture.entries.last(), Some(Entry { what: What::Exit(_), .. }));
    findings.expect(ended, "no-exit", || "the capture ends without an exit: expected the process's end".to_owned());
}

#[derive(Default)]
struct Pipes {
    stdin_closed: bool,
    stdout_closed: bool,
}

impl Pipes {
    fn check(&mut self, entry: &Entry, findings: &mut Findings) {
        match (&entry.what, entry.from) {
            (What::Close(Stream::Stdin), From::Host) => {
                findings.expect(!self.stdin_closed, "closed-twice", || "stdin was closed before".to_owned());
                self.stdin_closed = true;
            }
            (What::Close(Stream::Stdout), From::Cli) => {
                findings.expect(!self.stdout_closed, "closed-twice", || "stdout was closed before".to_owned());
                self.stdout_closed = true;
            }
            (What::Frame(_) | What::Raw(_), From::Host) => {
                findings.expect(!self.stdin_closed, "written-after-close", || "the host closed stdin before".to_owned());
            }
            (What::Frame(_) | What::Raw(_), From::Cli) => {
                findings.expect(!self.stdout_closed, "written-after-close", || "stdout ended before".to_owned());
            }
            _ => {}
        }
    }
}
