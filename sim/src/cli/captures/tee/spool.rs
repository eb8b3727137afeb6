//! One line in the making: in memory while it is short, in a file beside the capture when it grows.
//!
//! A line may hold a picture or a log of many megabytes. Memory stays bounded whatever comes, and the line is copied into the
//! capture in pieces.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::PathBuf,
};

use serde::de::IgnoredAny;

/// Bytes of a line that stay in memory.
const IN_MEMORY: usize = 1024 * 1024;
/// Bytes that are copied at once.
const PIECE: usize = 64 * 1024;
/// Levels of nesting that whoever reads the capture takes.
const DEPTH: usize = 127;

/// The line that one of the two is writing.
pub(super) struct Line {
    bytes: Vec<u8>,
    part: PathBuf,
    spooled: Option<File>,
}

impl Line {
    /// An empty line; `part` is where it goes when it grows.
    pub(super) fn new(part: PathBuf) -> Line {
        Line { bytes: Vec::new(), part, spooled: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.spooled.is_none()
    }

    /// The line so far, unless it has grown too long.
    pub(super) fn in_memory(&self) -> Option<&[u8]> {
        self.spooled.is_none().then_some(&self.bytes)
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spooled.is_none() && self.bytes.len() + bytes.len() > IN_MEMORY {
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&self.part)?;
            file.write_all(&self.bytes)?;
            self.bytes = Vec::new();
            self.spooled = Some(file);
        }
        match &mut self.spooled {
            Some(file) => file.write_all(bytes),
            None => {
                self.bytes.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Writes the line as an entry that begins with `prefix`, and begins a new one.
    pub(super) fn write(&mut self, prefix: &str, to: &mut File) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let Some(mut file) = self.spooled.take() else {
            return to.write_all(&short(prefix, &bytes));
        };
        let written = long(prefix, &mut file, to);
        drop(file);
        let removed = fs::remove_file(&self.part);
        written.and(removed)
    }
}

/// The entry of a line in memory, whole: it is written at once, so that no kill can cut it.
fn short(prefix: &str, line: &[u8]) -> Vec<u8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut entry = prefix.as_bytes().to_vec();
    match std::str::from_utf8(line) {
        Ok(text) if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok() => {
            entry.extend_from_slice(b"\"frame\":");
            entry.extend_from_slice(line);
        }
        _ => {
            entry.extend_from_slice(b"\"raw\":\"");
            entry.extend_from_slice(escaped(&String::from_utf8_lossy(line)).as_bytes());
            entry.push(b'"');
        }
    }
    entry.extend_from_slice(b"}\n");
    entry
}

/// The same in pieces.
fn long(prefix: &str, line: &mut File, to: &mut File) -> io::Result<()> {
    to.write_all(prefix.as_bytes())?;
    let frame = is_frame(line)?;
    line.seek(SeekFrom::Start(0))?;
    if frame {
        to.write_all(b"\"frame\":")?;
        io::copy(line, to)?;
        return to.write_all(b"}\n");
    }
    to.write_all(b"\"raw\":\"")?;
    pieces(line, |text| to.write_all(escaped(&text).as_bytes()).map(|()| true))?;
    to.write_all(b"\"}\n")
}

/// Whether a long line is one JSON object that a reader of the capture will take.
fn is_frame(line: &mut File) -> io::Result<bool> {
    line.seek(SeekFrom::Start(0))?;
    let (mut depth, mut deepest, mut in_text, mut escape, mut first) = (0_usize, 0, false, false, None);
    let mut sound = true;
    pieces(line, |text| {
        sound &= !text.contains(char::REPLACEMENT_CHARACTER);
        for byte in text.bytes() {
            if !byte.is_ascii_whitespace() {
                first.get_or_insert(byte);
            }
            match byte {
                _ if escape => escape = false,
                b'\\' if in_text => escape = true,
                b'"' => in_text = !in_text,
                b'{' | b'[' if !in_text => depth += 1,
                b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        Ok(sound && deepest <= DEPTH)
    })?;
    if !sound || deepest > DEPTH || first != Some(b'{') {
        return Ok(false);
    }
    line.seek(SeekFrom::Start(0))?;
    Ok(serde_json::from_reader::<_, IgnoredAny>(BufReader::with_capacity(PIECE, line)).is_ok())
}

/// Reads a file in pieces of whole characters, until `take` wants no more. What is no UTF-8 becomes U+FFFD.
fn pieces(file: &mut File, mut take: impl FnMut(String) -> io::Result<bool>) -> io::Result<()> {
    let mut held: Vec<u8> = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        held.extend_from_slice(&piece[..count]);
        // A character that the end of the piece cuts waits for its rest.
        let whole = match std::str::from_utf8(&held) {
            Err(error) if error.error_len().is_none() && count > 0 => error.valid_up_to(),
            _ => held.len() - if count > 0 { cut(&held) } else { 0 },
        };
        let text = String::from_utf8_lossy(&held[..whole]).into_owned();
        held.drain(..whole);
        if !take(text)? || count == 0 {
            return Ok(());
        }
    }
}

/// Bytes at the end that may begin a character: at most three.
fn cut(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3).position(|byte| *byte >= 0xC0);
    last.map_or(0, |back| {
        let needed = match bytes[bytes.len() - 1 - back] {
            0xF0.. => 4,
            0xE0.. => 3,
            _ => 2,
        };
        if back + 1 < needed { back + 1 } else { 0 }
    })
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
