//! A capture sorted into streams whose names do not depend on ids.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    compare::Sorter,
    format::{Capture, Entry, From, What},
    labels::stem,
    provider::Provider,
};

/// One entry of a stream.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: String,
    /// The frame; none for what happened to the process.
    pub(super) value: Option<Value>,
}

/// The entries of a capture by stream.
pub(super) fn sort(capture: &Capture) -> BTreeMap<String, Vec<Frame>> {
    let mut sorter = Sorter::default();
    let mut calls = Calls::default();
    let mut streams: BTreeMap<String, Vec<Frame>> = BTreeMap::new();
    let provider = capture.header.provider;
    for entry in &capture.entries {
        let (stream, frame) = match &entry.what {
            What::Frame(frame) => {
                let stream = match (entry.from, provider) {
                    (From::Host, _) => "host".to_owned(),
                    (_, Provider::Claude) => {
                        calls.note(frame);
                        calls.named(&sorter.stream(frame))
                    }
                    _ => calls.thread(frame),
                };
                (stream, Frame { kind: kind(provider, entry, frame), value: Some(frame.clone()) })
            }
            What::Raw(_) if entry.from == From::Host => ("host".to_owned(), Frame { kind: "raw".to_owned(), value: None }),
            What::Raw(_) => ("main".to_owned(), Frame { kind: "raw".to_owned(), value: None }),
            What::Close(pipe) => {
                let kind = format!("{} closes {}", entry.from.name(), format!("{pipe:?}").to_lowercase());
                ("process".to_owned(), Frame { kind, value: None })
            }
            What::Signal(name) => ("process".to_owned(), Frame { kind: name.clone(), value: None }),
            What::Exit(exit) => {
                let how = exit.signal.clone().unwrap_or_else(|| exit.code.unwrap_or_default().to_string());
                ("process".to_owned(), Frame { kind: format!("exit {how}"), value: None })
            }
        };
        streams.entry(stream).or_default().push(frame);
    }
    streams
}

/// A label's stem, and the type of what a message, block or delta holds.
fn kind(provider: Provider, entry: &Entry, frame: &Value) -> String {
    let stem = stem(provider, &entry.from, frame);
    let event = &frame["event"];
    let inner = [&frame["message"]["content"][0]["type"], &event["delta"]["type"], &event["content_block"]["type"]];
    match inner.into_iter().find_map(Value::as_str) {
        Some(inner) => format!("{stem}[{inner}]"),
        None if frame["message"]["content"].is_string() => format!("{stem}[string]"),
        None => stem,
    }
}

/// Ids in the names of streams, numbered in the order in which they come up.
#[derive(Default)]
struct Calls {
    calls: Vec<String>,
    threads: Vec<String>,
}

impl Calls {
    /// Tool calls count from the frame that makes them, so that it does not matter which agent speaks first.
    fn note(&mut self, frame: &Value) {
        let blocks = frame["message"]["content"].as_array().into_iter().flatten();
        let called = blocks.chain([&frame["event"]["content_block"]]).filter(|block| block["type"] == "tool_use");
        for id in called.filter_map(|block| block["id"].as_str()) {
            number(&mut self.calls, id);
        }
    }

    /// The stream's name with the number of its call in place of the id.
    fn named(&mut self, stream: &str) -> String {
        match stream.split_once(' ') {
            Some((what @ ("child" | "task"), id)) if !id.starts_with('#') && !id.starts_with("forked-command-") => {
                format!("{what} call#{}", number(&mut self.calls, id))
            }
            _ => stream.to_owned(),
        }
    }

    /// The stream of a provider whose frames name their thread.
    fn thread(&mut self, frame: &Value) -> String {
        let id = ["/params/threadId", "/params/thread/id", "/params/sessionID", "/properties/sessionID"]
            .into_iter()
            .find_map(|path| frame.pointer(path)?.as_str());
        id.map_or_else(|| "main".to_owned(), |id| format!("thread#{}", number(&mut self.threads, id)))
    }
}

fn number(ids: &mut Vec<String>, id: &str) -> usize {
    let position = ids.iter().position(|known| known == id).unwrap_or_else(|| {
        ids.push(id.to_owned());
        ids.len() - 1
    });
    position + 1
}
