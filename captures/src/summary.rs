//! A capture in numbers and names, for lists and for a look inside. How it is printed is not decided here.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    format::{Capture, Exit, From, Origin, What},
    labels::{Counter, stem},
    provider::Provider,
};

/// One capture, counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Whose frames.
    pub provider: Provider,
    /// The CLI's version.
    pub version: String,
    /// The scene.
    pub scene: String,
    /// Recorded or synthetic.
    pub origin: Origin,
    /// Date of the recording.
    pub recorded_on: String,
    /// Frames and other lines that the host wrote.
    pub host_frames: usize,
    /// Frames and other lines that the CLI wrote.
    pub cli_frames: usize,
    /// Milliseconds from the process's start to the last entry.
    pub duration_ms: f64,
    /// How the process ended, if that is in the capture.
    pub exit: Option<Exit>,
    /// How many frames of each label stem there are.
    pub stems: BTreeMap<String, u32>,
}

/// One entry, named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryLine {
    /// Index in the capture's entries, from 0.
    pub entry: usize,
    /// Milliseconds since the process's start.
    pub at_ms: f64,
    /// Who caused it.
    pub from: From,
    /// `frame`, `raw`, `close`, `signal` or `exit`.
    pub kind: &'static str,
    /// The derived label of a frame; for the rest what happened: `stdin`, `SIGINT`, `0`.
    pub label: String,
    /// The label that was given by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hand_label: Option<String>,
}

/// Counts a capture.
pub fn summary(capture: &Capture) -> Summary {
    let mut counter = Counter::new();
    let (mut host_frames, mut cli_frames) = (0, 0);
    for entry in &capture.entries {
        if let What::Frame(frame) = &entry.what {
            counter.label(&stem(capture.header.provider, &entry.from, frame));
        }
        match (&entry.what, entry.from) {
            (What::Frame(_) | What::Raw(_), From::Host) => host_frames += 1,
            (What::Frame(_) | What::Raw(_), _) => cli_frames += 1,
            _ => {}
        }
    }
    let header = &capture.header;
    Summary {
        provider: header.provider,
        version: header.version.clone(),
        scene: header.scene.clone(),
        origin: header.origin,
        recorded_on: header.recorded_on.clone(),
        host_frames,
        cli_frames,
        duration_ms: capture.entries.last().map_or(0.0, |entry| entry.at_ms),
        exit: capture.entries.iter().rev().find_map(|entry| match &entry.what {
            What::Exit(exit) => Some(exit.clone()),
            _ => None,
        }),
        stems: counter.counts().clone(),
    }
}

/// Every entry with its label, in order.
pub fn lines(capture: &Capture) -> Vec<EntryLine> {
    let labels = capture.labels();
    let line = |(index, (entry, label)): (usize, (&crate::format::Entry, Option<String>))| EntryLine {
        entry: index,
        at_ms: entry.at_ms,
        from: entry.from,
        kind: entry.what.key(),
        label: label.unwrap_or_else(|| happening(&entry.what)),
        hand_label: entry.label.clone(),
    };
    capture.entries.iter().zip(labels).enumerate().map(line).collect()
}

fn happening(what: &What) -> String {
    match what {
        What::Frame(_) => String::new(),
        What::Raw(text) => text.clone(),
        What::Close(stream) => format!("{stream:?}").to_lowercase(),
        What::Signal(name) => name.clone(),
        What::Exit(exit) => match (&exit.signal, exit.code) {
            (Some(signal), _) => signal.clone(),
            (None, code) => code.unwrap_or_default().to_string(),
        },
    }
}

#[cfg(test)]
mod tests;
