//! The transcript that Claude Code keeps of a session (`~/.claude/projects/…/SESSION.jsonl`).
//!
//! A transcript holds what was said, not the frames that said it: no stream, no lifecycle, no `init`, no `result`. Those are
//! made up here by the rules of the wire, so the capture is synthetic, whoever kept the transcript. Content, tools, their
//! outcomes, ids of messages and times are the transcript's own.

mod agents;
mod frames;
mod record;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Flaw, ImportError, Options, Read, flaw, guess};
use crate::{format::Origin, provider::Provider};
use agents::Agents;
use frames::Frames;
use record::{Kind, Record, kind};

/// How the CLI's own words about a stop begin.
const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) fn read(file: &str, text: &str, options: &Options) -> Result<Read, ImportError> {
    let at = |line: usize| move |(problem, help): Flaw| ImportError { file: file.to_owned(), line, problem, help };
    if options.provider.is_some_and(|provider| provider != Provider::Claude) {
        let help = "leave --provider out; transcripts of others are not read";
        return Err(at(1)(("transcripts are Claude Code's: expected the provider claude".to_owned(), help.to_owned())));
    }
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        if !line.trim().is_empty() {
            records.push(record::parse(line).map_err(at(number)).map(|record| (number, record))?);
        }
    }
    let main = records.iter().find(|(_, record)| matches!(kind(record), Kind::Prompt(_)));
    let Some((number, first)) = main else {
        let side = records.iter().any(|(_, record)| record.sidechain());
        let problem = if side { "an agent's transcript" } else { "no message of a user in the whole transcript" };
        let help = "give the session's own file, SESSION.jsonl, not one below `subagents/`";
        return Err(at(1)((format!("{problem}: expected the session's, with at least one message"), help.to_owned())));
    };
    let Some(start) = first.wall_ms() else {
        let help = "give the file as the CLI wrote it";
        return Err(at(*number)(("a message without a timestamp: expected one".to_owned(), help.to_owned())));
    };
    let mut session = Session {
        frames: Frames::new(first, start),
        agents: Agents::of(records.iter().map(|(_, record)| record)),
        turn: None,
        left_out: BTreeMap::new(),
    };
    for (number, record) in &records {
        session.take(record).map_err(at(*number))?;
    }
    session.close();
    let version = records.iter().find_map(|(_, record)| record.text("version")).map(str::to_owned);
    let turns = session.frames.results;
    let mut entries = session.frames.entries;
    let mut said = vec![
        ("directions", format!("{turns} messages became turns; stops became interrupts of the host")),
        ("times", "the transcript's own; what it does not hold comes with the line beside it".to_owned()),
        (
            "origin",
            "synthetic: lifecycle, init, replays, task frames and results are made up by the rules of the wire".to_owned(),
        ),
    ];
    if let Some(words) = guess::end(&mut entries) {
        said.push(("end", words));
    }
    if !session.left_out.is_empty() {
        let counts: Vec<String> = session.left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
        said.push(("left out", counts.join(", ")));
    }
    let known = guess::Known {
        version,
        wall_ms: Some(start),
        origin: Some(Origin::Synthetic),
        imported_from: "the transcript that the CLI keeps of a session".to_owned(),
    };
    let mut capture = guess::capture(file, entries, known, options, &mut said).map_err(at(1))?;
    capture.header.guessed = vec!["all frames: a transcript holds what was said, not the frames that said it".to_owned()];
    Ok(Read { capture, said })
}

struct Session<'a> {
    frames: Frames,
    agents: Agents<'a>,
    turn: Option<Turn>,
    left_out: BTreeMap<String, usize>,
}

/// A message and what became of it so far.
struct Turn {
    uuid: String,
    /// The last text of the model.
    text: String,
    /// Frames of the user that are no replay.
    user_frames: u64,
    stopped: Option<&'static str>,
    failed: bool,
    start_ms: f64,
}

impl<'a> Session<'a> {
    fn take(&mut self, record: &'a Record) -> Result<(), Flaw> {
        if let Some(wall) = record.wall_ms() {
            self.frames.at(wall);
        }
        if record.sidechain() {
            match self.agents.owner(record) {
                Some(agent) => self.frames.child(record, &agent)?,
                None => self.leave("records of agents whose call is not in the transcript"),
            }
            return Ok(());
        }
        match kind(record) {
            Kind::Prompt(text) => {
                self.close();
                self.open(record, &text)?;
            }
            Kind::Interrupted => {
                let Some(turn) = &mut self.turn else {
                    self.leave("stops outside of a turn");
                    return Ok(());
                };
                turn.stopped =
                    Some(if record.content_text().contains("for tool use") { "aborted_tools" } else { "aborted_streaming" });
                turn.user_frames += 1;
                self.frames.interrupted(record)?;
            }
            Kind::ToolResult => {
                if let Some(turn) = &mut self.turn {
                    turn.user_frames += 1;
                }
                for block in record.blocks() {
                    if let Some(agent) = self.agents.ended(block) {
                        self.frames.agent_ended(&agent, record);
                    }
                }
                self.frames.tool_result(record)?;
            }
            Kind::Assistant if self.turn.is_some() => {
                for block in record.blocks() {
                    self.frames.assistant(record, block, None)?;
                    if let Some(agent) = self.agents.started(block) {
                        self.frames.agent_started(&agent, block);
                    }
                    if let (Some(text), Some(turn)) = (block["text"].as_str(), &mut self.turn) {
                        text.clone_into(&mut turn.text);
                        turn.failed = record.value["isApiErrorMessage"] == true;
                    }
                }
            }
            Kind::Assistant => self.leave("replies before the first message"),
            Kind::Other(what) => self.leave(&what),
        }
        Ok(())
    }

    fn leave(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_insert(0) += 1;
    }

    fn open(&mut self, record: &Record, text: &str) -> Result<(), Flaw> {
        let Some(uuid) = record.text("uuid").map(str::to_owned) else {
            return flaw("a message without a uuid: expected one", "give the file as the CLI wrote it");
        };
        self.frames.turn(&uuid, text, record);
        self.turn =
            Some(Turn { uuid, text: String::new(), user_frames: 0, stopped: None, failed: false, start_ms: self.frames.now() });
        Ok(())
    }

    /// Ends the turn that is open: its result, and the end of its message.
    fn close(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let duration = (self.frames.now() - turn.start_ms).round();
        let mut result = json!({
            "type": "result", "subtype": "success", "is_error": turn.failed, "duration_ms": duration,
            "duration_api_ms": duration, "num_turns": turn.user_frames + 1, "result": turn.text, "stop_reason": "end_turn",
            "total_cost_usd": 0, "usage": {}, "modelUsage": {}, "permission_denials": [], "terminal_reason": "completed",
            "user_message_uuid": turn.uuid, "user_message_uuids": [turn.uuid],
        });
        if let (Some(reason), Value::Object(keys)) = (turn.stopped, &mut result) {
            keys.insert("subtype".into(), json!("error_during_execution"));
            keys.insert("is_error".into(), json!(true));
            keys.insert("terminal_reason".into(), json!(reason));
            keys.insert("errors".into(), json!([]));
            keys.shift_remove("result");
        }
        self.frames.result(result);
        self.frames.lifecycle(&turn.uuid, if turn.stopped.is_some() { "cancelled" } else { "completed" });
    }
}

#[cfg(test)]
mod tests;
