//! Replacement within texts that a stream cut into pieces.

use indexmap::IndexMap;
use serde_json::Value;

use super::{
    Class,
    spans::{Finder, Span},
};
use crate::format::{Entry, From};

/// Where the text of each kind of delta stands.
const TEXTS: [&str; 3] = ["text", "thinking", "partial_json"];

/// The pieces with the spans of their joined text replaced: what replaces one stands where it began.
pub(super) fn replace(pieces: &[&str], spans: &[Span]) -> Vec<String> {
    let mut replaced = Vec::with_capacity(pieces.len());
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.len();
        let (mut text, mut at) = (String::new(), start);
        for span in spans.iter().filter(|span| span.start < end && span.end > start) {
            if span.start >= at {
                text.push_str(&piece[at - start..span.start - start]);
            }
            if span.start >= start {
                text.push_str(&span.with);
            }
            at = span.end.min(end);
        }
        text.push_str(&piece[at - start..]);
        replaced.push(text);
        start = end;
    }
    replaced
}

/// Scrubs the deltas of each block joined.
pub(super) fn deltas(entries: &mut [Entry], finder: &mut Finder, counts: &mut IndexMap<Class, usize>) {
    // Block of the message that streams → its deltas: index of the entry and key of the text.
    let mut open: IndexMap<u64, Vec<(usize, &'static str)>> = IndexMap::new();
    let mut blocks = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(event) = entry.what.frame().and_then(|frame| frame.get("event")) else { continue };
        if entry.from != From::Cli {
            continue;
        }
        let block = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("content_block_delta") => {
                if let Some(key) = TEXTS.into_iter().find(|key| event["delta"][*key].is_string()) {
                    open.entry(block).or_default().push((index, key));
                }
            }
            Some("content_block_stop") => blocks.extend(open.shift_remove(&block)),
            Some("message_start" | "message_stop") => blocks.extend(open.drain(..).map(|(_, deltas)| deltas)),
            _ => {}
        }
    }
    blocks.extend(open.into_values());
    for block in blocks {
        let pieces: Vec<&str> = block.iter().filter_map(|(index, key)| delta(&entries[*index], key)).collect();
        let spans = finder.spans(&pieces.concat());
        if spans.is_empty() {
            continue;
        }
        for span in &spans {
            *counts.entry(span.class).or_insert(0) += 1;
        }
        let texts = replace(&pieces, &spans);
        for ((index, key), text) in block.iter().zip(texts) {
            if let crate::format::What::Frame(frame) = &mut entries[*index].what {
                frame["event"]["delta"][*key] = Value::String(text);
            }
        }
    }
}

fn delta<'a>(entry: &'a Entry, key: &str) -> Option<&'a str> {
    entry.what.frame()?["event"]["delta"][key].as_str()
}
