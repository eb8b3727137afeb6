//! What all drivers of a stdio process share: splitting records, the stderr tail, the end of a process, the shutdown ladder.

use crate::{
    core::{
        effect::{Effect, Signal},
        input::{ExitStatus, Pipe, ProcId},
        timers::Class,
    },
    drivers::{Cx, Output},
};

/// Largest record taken, bytes. A longer one is skipped up to its line end with one note; reading goes on.
pub const RECORD_LIMIT: usize = 134_217_728;
/// Bytes of stderr kept for the crash text.
pub const STDERR_TAIL: usize = 1_400;
/// A crash text waits this long for stderr to close, ms.
pub const STDERR_CLOSE_WAIT_MS: u64 = 200;
/// SIGTERM to SIGKILL, ms.
pub const KILL_GRACE_MS: u64 = 3_000;

/// Cuts a byte stream into records on 0x0A only; one trailing 0x0D is stripped. U+2028 and friends are ordinary content.
#[derive(Debug, Default)]
pub struct Records {
    /// The record so far; it holds no line end, so each byte is searched once.
    buffer: Vec<u8>,
    skipping: bool,
}

/// One thing found in a byte stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Record {
    /// A whole record without its line end.
    Line(Vec<u8>),
    /// A record above [`RECORD_LIMIT`] was skipped.
    TooLong,
}

impl Records {
    /// Takes bytes and gives the records that they complete, in order.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Record> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.skipping {
                let Some(end) = rest.iter().position(|b| *b == b'\n') else { return found };
                self.skipping = false;
                rest = &rest[end + 1..];
                continue;
            }
            match rest.iter().position(|b| *b == b'\n') {
                Some(end) if self.buffer.len() + end <= RECORD_LIMIT => {
                    self.buffer.extend_from_slice(&rest[..end]);
                    rest = &rest[end + 1..];
                    found.push(Record::Line(self.take_line()));
                }
                Some(_) => {
                    self.overflow(&mut found);
                }
                None if self.buffer.len() + rest.len() > RECORD_LIMIT => {
                    self.overflow(&mut found);
                }
                None => {
                    self.buffer.extend_from_slice(rest);
                    rest = &[];
                }
            }
        }
        found
    }

    /// What is left at the end of the stream: a record without its line end.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        (!self.buffer.is_empty()).then(|| self.take_line())
    }

    fn take_line(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.buffer);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        line
    }

    fn overflow(&mut self, found: &mut Vec<Record>) {
        self.buffer = Vec::new();
        self.skipping = true;
        found.push(Record::TooLong);
    }
}

/// Life of the process of one run.
#[derive(Debug)]
pub struct Process {
    /// The core's number for it.
    pub proc: ProcId,
    /// Records of stdout.
    pub records: Records,
    stderr: Vec<u8>,
    stdout_ended: bool,
    stderr_ended: bool,
    exit: Option<ExitStatus>,
    ended: bool,
    stdin_closed: bool,
    /// Set when it never started.
    pub spawn_failed: bool,
}

/// What a change in the life of a process means for the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Life {
    /// It goes on.
    Goes,
    /// All that it said is in: its end can be judged.
    Over,
}

impl Process {
    /// A process that is about to be started.
    pub fn new(proc: ProcId) -> Self {
        Process {
            proc,
            records: Records::default(),
            stderr: Vec::new(),
            stdout_ended: false,
            stderr_ended: false,
            exit: None,
            ended: false,
            stdin_closed: false,
            spawn_failed: false,
        }
    }

    /// Keeps the tail of stderr.
    pub fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.extend_from_slice(bytes);
        // Twice the tail is kept before cutting, so that a flood costs one copy per tail and not one per byte.
        if self.stderr.len() > 4 * STDERR_TAIL {
            let cut = self.stderr.len() - 2 * STDERR_TAIL;
            self.stderr.drain(..cut);
        }
    }

    /// A pipe ended.
    pub fn pipe_ended(&mut self, cx: &mut Cx<'_>, pipe: Pipe) -> Life {
        match pipe {
            Pipe::Stdout => self.stdout_ended = true,
            Pipe::Stderr => self.stderr_ended = true,
        }
        self.look(cx)
    }

    /// The process was reaped. Sticky: every later write goes nowhere.
    pub fn exited(&mut self, cx: &mut Cx<'_>, status: ExitStatus) -> Life {
        self.exit = Some(status);
        self.disarm_ladder(cx);
        cx.out.push(Output::Reaped);
        self.look(cx)
    }

    /// The wait for the rest of a pipe is over.
    pub fn close_wait_over(&mut self, cx: &mut Cx<'_>) -> Life {
        if self.ended {
            return Life::Goes;
        }
        self.ended = true;
        if self.exit.is_none() {
            // It closed its stdout and lives on: nothing more can come from it.
            self.terminate(cx);
        }
        Life::Over
    }

    /// Whether the process is known to have ended.
    pub fn is_gone(&self) -> bool {
        self.exit.is_some() || self.spawn_failed
    }

    /// Whether its end was judged already.
    pub fn is_over(&self) -> bool {
        self.ended
    }

    fn look(&mut self, cx: &mut Cx<'_>) -> Life {
        if self.ended {
            return Life::Goes;
        }
        let key = cx.key(Class::P, "stderr-close");
        if self.stdout_ended && self.stderr_ended && self.exit.is_some() {
            cx.timers.disarm(&key);
            self.ended = true;
            return Life::Over;
        }
        // A grandchild may hold a pipe open, and a process may close its stdout and stay: neither may hold the end back.
        if (self.stdout_ended || self.exit.is_some()) && !cx.timers.is_armed(&key) {
            cx.timers.arm(key, cx.now.mono + STDERR_CLOSE_WAIT_MS);
        }
        Life::Goes
    }

    /// Writes one whole record.
    pub fn write_line(&self, cx: &mut Cx<'_>, mut line: String) {
        if self.is_gone() || self.stdin_closed {
            return;
        }
        line.push('\n');
        cx.out.push(Output::Effect(Effect::Write { proc: self.proc, bytes: line.into_bytes() }));
    }

    /// Closes stdin once.
    pub fn close_stdin(&mut self, cx: &mut Cx<'_>) {
        if !self.stdin_closed && !self.is_gone() {
            self.stdin_closed = true;
            cx.out.push(Output::Effect(Effect::CloseStdin { proc: self.proc }));
        }
    }

    /// Starts the ladder `grace_ms` from now: SIGTERM, then SIGKILL, then the reap.
    pub fn terminate_after(&self, cx: &mut Cx<'_>, grace_ms: u64) {
        if !self.is_gone() {
            let key = cx.key(Class::P, "interrupt-grace");
            cx.timers.arm(key, cx.now.mono + grace_ms);
        }
    }

    /// First rung: SIGTERM now, SIGKILL after the grace.
    pub fn terminate(&self, cx: &mut Cx<'_>) {
        if !self.is_gone() {
            let key = cx.key(Class::P, "interrupt-grace");
            cx.timers.disarm(&key);
            cx.out.push(Output::Effect(Effect::Signal { proc: self.proc, signal: Signal::Term }));
            let key = cx.key(Class::P, "kill-grace");
            cx.timers.arm(key, cx.now.mono + KILL_GRACE_MS);
        }
    }

    /// Last rung.
    pub fn kill(&self, cx: &mut Cx<'_>) {
        if !self.is_gone() {
            cx.out.push(Output::Effect(Effect::Signal { proc: self.proc, signal: Signal::Kill }));
        }
    }

    fn disarm_ladder(&self, cx: &mut Cx<'_>) {
        for name in ["interrupt-grace", "kill-grace"] {
            let key = cx.key(Class::P, name);
            cx.timers.disarm(&key);
        }
    }

    /// What is shown when the process ended under a turn: provider, exit, redacted tail with its last line whole.
    pub fn crash_text(&self, provider: &str) -> String {
        let how = match &self.exit {
            Some(ExitStatus { signal: Some(signal), .. }) => format!("was ended by {signal}"),
            Some(ExitStatus { code: Some(code), .. }) => format!("exited with code {code}"),
            _ => "closed its output".to_owned(),
        };
        let tail = tail(&self.stderr);
        if tail.is_empty() { format!("{provider} {how}") } else { format!("{provider} {how}: {tail}") }
    }
}

/// The last lines of stderr, about [`STDERR_TAIL`] bytes together, redacted.
fn tail(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for line in text.lines().rev() {
        if bytes + line.len() > STDERR_TAIL && !lines.is_empty() {
            break;
        }
        bytes += line.len();
        lines.push(line);
    }
    lines.reverse();
    lines.iter().map(|line| redact(line)).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Hides secrets: Bearer and Basic values, tokens starting `sk-`, `ghp_`, `xox`, and `api_key=` values.
///
/// Words end at white space, quotes and commas too, since a tail is often a dumped header map or JSON.
fn redact(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut hide_next = false;
    for piece in line.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';')) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';'));
        let end = &piece[word.len()..];
        let kept = match secret_at(word) {
            _ if hide_next && !word.is_empty() => Some(0),
            found => found.filter(|at| *at < word.len()),
        };
        if !word.is_empty() {
            let scheme = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            let quoted_key = word.to_ascii_lowercase().ends_with("api_key=");
            hide_next = quoted_key || scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("basic");
        }
        match kept {
            Some(at) => {
                shown.push_str(&word[..at]);
                shown.push_str("[redacted]");
            }
            None => shown.push_str(word),
        }
        shown.push_str(end);
    }
    shown
}

/// Where a secret begins inside a word.
fn secret_at(word: &str) -> Option<usize> {
    // ASCII lower case keeps every byte's place.
    let key = word.to_ascii_lowercase().find("api_key=").map(|at| at + "api_key=".len());
    let starts_word = |at: usize| at == 0 || !word.as_bytes()[at - 1].is_ascii_alphanumeric();
    let marks = ["sk-", "ghp_", "xox"].into_iter().flat_map(|mark| word.match_indices(mark));
    marks.map(|(at, _)| at).filter(|at| starts_word(*at)).chain(key).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts `stream` into reads at every position of `cuts` and gives the records.
    fn split(stream: &[u8], cuts: &[usize]) -> Vec<String> {
        let mut records = Records::default();
        let mut lines = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().copied().chain([stream.len()]) {
            for record in records.push(&stream[from..cut]) {
                lines.push(match record {
                    Record::Line(line) => String::from_utf8_lossy(&line).into_owned(),
                    Record::TooLong => "<too long>".to_owned(),
                });
            }
            from = cut;
        }
        lines.extend(records.finish().map(|line| format!("<end>{}", String::from_utf8_lossy(&line))));
        lines
    }

    #[test]
    fn records_do_not_depend_on_where_reads_are_cut() {
        let stream = "{\"a\":\"x\u{2028}y\"}\r\n\n{\"b\":\"\u{85}\"}\nlast".as_bytes();
        let whole = split(stream, &[]);
        assert_eq!(whole, ["{\"a\":\"x\u{2028}y\"}", "", "{\"b\":\"\u{85}\"}", "<end>last"]);
        for cut in 0..=stream.len() {
            assert_eq!(split(stream, &[cut]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_record_above_the_limit_costs_only_itself() {
        let mut records = Records::default();
        let chunk = vec![b'x'; 1 << 20];
        let mut found = Vec::new();
        for _ in 0..=(RECORD_LIMIT >> 20) {
            found.extend(records.push(&chunk));
        }
        found.extend(records.push(b"tail\nnext\n"));
        assert_eq!(found, [Record::TooLong, Record::Line(b"next".to_vec())]);
    }

    #[test]
    fn secrets_do_not_reach_the_crash_text() {
        let line = "Authorization: Bearer abc.def api_key=s3cr3t token ghp_12345 (sk-ant-1) xoxb-9 task-sk";
        assert_eq!(
            redact(line),
            "Authorization: Bearer [redacted] api_key=[redacted] token [redacted] ([redacted] [redacted] task-sk"
        );
        assert_eq!(
            redact("{\"authorization\":\"Bearer abc\",\"x\":1}\tBasic\tdXNlcg== desk-sk-1 api_key=\"q w\""),
            "{\"authorization\":\"Bearer [redacted]\",\"x\":1}\tBasic\t[redacted] desk-[redacted] api_key=\"[redacted] w\""
        );
    }

    #[test]
    fn the_tail_ends_with_its_last_line_whole() {
        let flood: String = (0..500).map(|n| format!("line {n}\n")).collect();
        let kept = tail(flood.as_bytes());
        assert!(kept.ends_with("line 499"), "{kept}");
        assert!(kept.len() <= STDERR_TAIL + 200);
    }
}
