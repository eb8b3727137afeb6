//! Writes down what goes through, line by line, so that whoever kills the process leaves a capture behind.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Instant,
};

use captures::format::{self, Capture, Entry, Exit, From, Header, What};
use serde_json::Value;

use super::{super::Failure, launch::UNKNOWN_VERSION, spool::Line};

/// Blanks behind the header, in whose place the version is written once it is known.
const ROOM: usize = 64;
/// Files of one scene's name that are tried.
const NAMES: usize = 10_000;
/// A frame that says the version is not longer than this.
const INIT_BYTES: usize = 256 * 1024;

/// One capture in the making.
pub(super) struct Recorder {
    path: PathBuf,
    file: File,
    header: Header,
    /// Bytes of the header's line, without its end.
    room: usize,
    started: Instant,
    last_ms: f64,
    host: Line,
    cli: Line,
    ended: bool,
    failed: Option<io::Error>,
}

impl Recorder {
    /// Makes the file, with its header. The clock starts here.
    #[allow(clippy::disallowed_methods, reason = "a capture of real processes has real times")]
    pub(super) fn create(directory: &Path, mut header: Header) -> Result<Recorder, Failure> {
        let fail = |path: &Path, error: &io::Error| {
            Failure::usage(format!("failed to write {}: {error}; give --output a directory that can be written", path.display()))
        };
        fs::create_dir_all(directory).map_err(|error| fail(directory, &error))?;
        let scene = header.scene.clone();
        for number in 1..NAMES {
            if number > 1 {
                header.scene = format!("{scene}-{number}");
            }
            let path = directory.join(format!("{}.ndjson", header.scene));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let text = header_line(&header);
                    let part = |name: &str| path.with_extension(format!("{name}.part"));
                    let mut recorder = Recorder {
                        room: text.len() + ROOM,
                        file,
                        header,
                        started: Instant::now(),
                        last_ms: 0.0,
                        host: Line::new(part("stdin")),
                        cli: Line::new(part("stdout")),
                        ended: false,
                        failed: None,
                        path: path.clone(),
                    };
                    let line = format!("{text:room$}\n", room = recorder.room);
                    recorder.file.write_all(line.as_bytes()).map_err(|error| fail(&path, &error))?;
                    return Ok(recorder);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail(&path, &error)),
            }
        }
        Err(Failure::usage(format!("{NAMES} captures are called `{scene}` already; give another --scene")))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why the capture lacks lines, if it does.
    pub(super) fn failed(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// Milliseconds since the start, to a tenth.
    fn now(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
    }

    /// Bytes that one of the two wrote just now.
    pub(super) fn bytes(&mut self, from: From, bytes: &[u8]) {
        let at_ms = self.now();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.take(from, line);
            self.line(from, at_ms);
            rest = &after[1..];
        }
        self.take(from, rest);
    }

    fn take(&mut self, from: From, bytes: &[u8]) {
        let line = if from == From::Host { &mut self.host } else { &mut self.cli };
        if let Err(error) = line.push(bytes) {
            self.failed.get_or_insert(error);
        }
    }

    /// The line is complete.
    fn line(&mut self, from: From, at_ms: f64) {
        if self.ended {
            return;
        }
        let at_ms = at_ms.max(self.last_ms);
        self.last_ms = at_ms;
        if from == From::Cli && self.header.version == UNKNOWN_VERSION {
            self.learn();
        }
        let line = if from == From::Host { &mut self.host } else { &mut self.cli };
        let prefix = format!("{{\"at_ms\":{at_ms:?},\"from\":\"{}\",", from.name());
        if let Err(error) = line.write(&prefix, &mut self.file) {
            self.failed.get_or_insert(error);
        }
    }

    /// Takes the version from the CLI's own words, and puts it into the header.
    fn learn(&mut self) {
        let Some(bytes) = self.cli.in_memory().filter(|bytes| bytes.len() <= INIT_BYTES) else { return };
        if !bytes.windows(b"claude_code_version".len()).any(|word| word == b"claude_code_version") {
            return;
        }
        let Ok(frame) = serde_json::from_slice::<Value>(bytes) else { return };
        let Some(version) = frame["claude_code_version"].as_str() else { return };
        let header = Header { version: version.to_owned(), ..self.header.clone() };
        let text = header_line(&header);
        let sound = format::parse("", &text).is_ok();
        if sound && text.len() <= self.room && !text.contains('\n') {
            let line = format!("{text:room$}", room = self.room);
            match self.file.write_all_at(line.as_bytes(), 0) {
                Ok(()) => self.header = header,
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
        }
    }

    /// Something else happened.
    pub(super) fn happened(&mut self, from: From, what: What) {
        if self.ended {
            return;
        }
        // A line without an end was all that its writer had to say.
        if matches!(what, What::Close(_)) {
            self.rest(from);
        }
        self.last_ms = self.now().max(self.last_ms);
        let entry = Entry { at_ms: self.last_ms, from, what, label: None };
        let text = format::write(&Capture { header: self.header.clone(), entries: vec![entry] });
        let line = text.split_once('\n').map_or("", |(_, line)| line);
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.failed.get_or_insert(error);
        }
    }

    fn rest(&mut self, from: From) {
        let line = if from == From::Host { &self.host } else { &self.cli };
        if !line.is_empty() {
            self.line(from, self.now());
        }
    }

    /// The CLI has ended: nothing comes after it.
    pub(super) fn end(&mut self, exit: Exit) {
        self.rest(From::Host);
        self.rest(From::Cli);
        self.happened(From::Cli, What::Exit(exit));
        self.ended = true;
    }
}

fn header_line(header: &Header) -> String {
    let text = format::write(&Capture { header: header.clone(), entries: Vec::new() });
    text.trim_end().to_owned()
}
