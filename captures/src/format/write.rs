//! A capture as text.

use serde::Serialize;
use serde_json::Value;

use super::{Capture, Entry, Exit, From, Stream, What};

/// One entry as it stands in the file; the order of the fields is the order of the keys.
#[derive(Serialize)]
struct Line<'a> {
    at_ms: f64,
    from: From,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    close: Option<Stream>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<&'a Exit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry) -> Self {
        let mut line = Line {
            at_ms: entry.at_ms,
            from: entry.from,
            frame: None,
            raw: None,
            close: None,
            signal: None,
            exit: None,
            label: entry.label.as_deref(),
        };
        match &entry.what {
            What::Frame(frame) => line.frame = Some(frame),
            What::Raw(text) => line.raw = Some(text),
            What::Close(stream) => line.close = Some(*stream),
            What::Signal(name) => line.signal = Some(name),
            What::Exit(exit) => line.exit = Some(exit),
        }
        line
    }
}

/// The capture as NDJSON: [`parse`](super::parse) of it gives the same capture again.
///
/// A time that is no finite number is written as `null`, which `parse` refuses: nothing else can be said of such a time.
pub fn write(capture: &Capture) -> String {
    let mut text = json(&capture.header);
    text.push('\n');
    for entry in &capture.entries {
        text.push_str(&json(&Line::of(entry)));
        text.push('\n');
    }
    text
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("string keys and plain values always serialize")
}
