//! Who wrote each line: by the log's own words, else by what only a host or only the CLI says.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    super::{Flaw, flaw},
    Finding, Happening,
    lines::Line,
    words::Side,
};
use crate::{
    format::{From, What},
    provider::Provider,
};

/// Gives every line its writer; an error comes with its line.
pub(super) fn sides(provider: Provider, lines: Vec<Line>) -> Result<(Vec<Happening>, Finding), (usize, Flaw)> {
    let claude = provider == Provider::Claude;
    let turned = if claude { turned(&lines)? } else { false };
    let (mut stated, mut guessed) = (0, 0);
    let alone = !lines.iter().any(|line| match (line.side, &line.what) {
        (None, What::Frame(frame)) => certain(frame).or_else(|| likely(frame)) == Some(From::Host),
        (Some(Side::Of { from, fixed }), _) => (if turned && !fixed { other(from) } else { from }) == From::Host,
        _ => false,
    });
    let mut reader = Reader { alone, ..Reader::default() };
    let mut happenings = Vec::with_capacity(lines.len());
    for line in lines {
        let from = match line.side {
            Some(Side::Of { from, fixed }) => {
                stated += 1;
                if turned && !fixed { other(from) } else { from }
            }
            _ if !claude => {
                let help = "put `stdin:` or `stdout:` before each line";
                return Err((line.number, flaw::<()>("a line without a direction: expected one", help).unwrap_err()));
            }
            _ => {
                guessed += 1;
                reader.guess(&line.what)
            }
        };
        reader.saw(from, &line.what);
        happenings.push(Happening { line: line.number, at: line.at, from, what: line.what });
    }
    let of = |from: From| happenings.iter().filter(|happening| happening.from == from).count();
    let counts = format!("{} lines of the host, {} of the CLI", of(From::Host), of(From::Cli));
    let words = match (stated, guessed) {
        (_, 0) if turned => format!("the log's own, seen from the host's end (`in` is what came from the CLI): {counts}"),
        (_, 0) => format!("the log's own: {counts}"),
        (0, _) => format!("none in the log, by what only a host or only the CLI says: {counts}"),
        _ => format!("{guessed} lines have none, by what only a host or only the CLI says: {counts}"),
    };
    Ok((happenings, Finding { words, guessed: guessed > 0 }))
}

fn other(from: From) -> From {
    if from == From::Host { From::Cli } else { From::Host }
}

/// Whether words such as `in` are meant from the host's end. Frames that only one of the two writes are the witnesses; they
/// must agree.
fn turned(lines: &[Line]) -> Result<bool, (usize, Flaw)> {
    let mut witness: Option<(bool, usize)> = None;
    for line in lines {
        let (Some(Side::Of { from, fixed: false }), What::Frame(frame)) = (line.side, &line.what) else { continue };
        let Some(writer) = certain(frame) else { continue };
        let turned = writer != from;
        match witness {
            None => witness = Some((turned, line.number)),
            Some((before, number)) if before != turned => {
                let kind = frame["type"].as_str().unwrap_or_default();
                let problem = format!(
                    "a `{kind}` frame on this side and line {number} disagree about what the directions mean: expected that only \
                     the {} writes this one",
                    if writer == From::Host { "host" } else { "CLI" }
                );
                return Err((line.number, flaw::<()>(problem, "correct the direction of one of the two lines").unwrap_err()));
            }
            Some(_) => {}
        }
    }
    Ok(witness.is_some_and(|(turned, _)| turned))
}

/// Control requests that hosts make; all others are the CLI's own.
const CLI_REQUESTS: [&str; 4] = ["can_use_tool", "hook_callback", "mcp_message", "elicitation"];

/// The writer of a frame that only one of the two writes.
fn certain(frame: &Value) -> Option<From> {
    match frame["type"].as_str()? {
        "system"
        | "stream_event"
        | "assistant"
        | "result"
        | "command_lifecycle"
        | "tool_progress"
        | "control_cancel_request"
        | "conversation_reset"
        | "rate_limit_event" => Some(From::Cli),
        "user" => {
            let blocks = frame["message"]["content"].as_array();
            let result = blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"));
            let cli = frame["isReplay"] == true
                || frame["isSynthetic"] == true
                || frame["parent_tool_use_id"].is_string()
                || frame.get("timestamp").is_some()
                || (result && frame["session_id"].as_str().is_some_and(|id| !id.is_empty()));
            // What is left could be the CLI's own words in a version whose frames have no timestamp.
            let host = !result && frame["session_id"].as_str().is_none_or(str::is_empty);
            if cli { Some(From::Cli) } else { host.then_some(From::Host) }
        }
        "control_request" => {
            let subtype = frame["request"]["subtype"].as_str()?;
            Some(if CLI_REQUESTS.contains(&subtype) { From::Cli } else { From::Host })
        }
        "keep_alive" => Some(From::Host),
        _ => None,
    }
}

/// The writer of a message that both could have written: the CLI writes no texts but those about a stop.
fn likely(frame: &Value) -> Option<From> {
    if frame["type"] != "user" {
        return None;
    }
    let content = &frame["message"]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    let cli = content[0]["type"] == "tool_result" || text.starts_with("[Request interrupted by user");
    Some(if cli { From::Cli } else { From::Host })
}

/// Who asked what, so that answers can be told apart.
#[derive(Default)]
struct Reader {
    /// The log holds stdout alone: an answer to the CLI's own request is its echo.
    alone: bool,
    host: BTreeSet<String>,
    cli: BTreeSet<String>,
}

impl Reader {
    fn saw(&mut self, from: From, what: &What) {
        let Some(frame) = what.frame() else { return };
        if let Some(id) = frame["request_id"].as_str() {
            let asked = if from == From::Host { &mut self.host } else { &mut self.cli };
            asked.insert(id.to_owned());
        }
        // The host's answer: what follows with this id is the CLI's echo of it.
        if let (From::Host, Some(id)) = (from, frame["response"]["request_id"].as_str()) {
            self.cli.remove(id);
        }
    }

    fn guess(&self, what: &What) -> From {
        let Some(frame) = what.frame() else { return From::Cli };
        if let Some(from) = certain(frame).or_else(|| likely(frame)) {
            return from;
        }
        match frame["type"].as_str() {
            _ if self.alone => From::Cli,
            // An answer to a request of the CLI that is open is the host's.
            Some("control_response") => {
                let open = frame["response"]["request_id"].as_str().is_some_and(|id| self.cli.contains(id));
                if open { From::Host } else { From::Cli }
            }
            // Every frame of the CLI but the control frames has a session.
            _ if frame["session_id"].is_string() => From::Cli,
            _ => From::Host,
        }
    }
}
