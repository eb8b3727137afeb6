//! One record of a transcript, and what kind of thing it says.

use serde_json::{Map, Value};

use super::{
    super::{Flaw, clock::wall_ms, flaw},
    INTERRUPTED,
};

/// One line.
pub(super) struct Record {
    pub(super) value: Value,
}

/// What a record of the main thread says.
pub(super) enum Kind {
    /// A message of the user, as it was typed.
    Prompt(String),
    /// The CLI's words about a stop.
    Interrupted,
    ToolResult,
    Assistant,
    /// Nothing that was on the wire, in the plural.
    Other(String),
}

pub(super) fn parse(line: &str) -> Result<Record, Flaw> {
    let keys = serde_json::from_str::<Map<String, Value>>(line).map_err(|error| {
        let problem = format!("{error}: expected a record, {{\"type\":…}}").replace(" at line 1 column ", " at column ");
        (problem, "each line of a transcript is one JSON object; a line that was cut can be deleted".to_owned())
    })?;
    if !keys.get("type").is_some_and(Value::is_string) {
        return flaw("a record without `type`: expected one", "give the file as the CLI wrote it");
    }
    let speaks = matches!(keys["type"].as_str(), Some("user" | "assistant"));
    if speaks && !keys.get("message").is_some_and(Value::is_object) {
        return flaw("a record of a message without `message`: expected one", "give the file as the CLI wrote it");
    }
    Ok(Record { value: Value::Object(keys) })
}

impl Record {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.value.get(key)?.as_str()
    }

    pub(super) fn wall_ms(&self) -> Option<f64> {
        wall_ms(self.text("timestamp")?)
    }

    /// Said by or to an agent.
    pub(super) fn sidechain(&self) -> bool {
        self.value["isSidechain"] == true
    }

    pub(super) fn content(&self) -> &Value {
        &self.value["message"]["content"]
    }

    /// The content's blocks; none when it is a text.
    pub(super) fn blocks(&self) -> &[Value] {
        self.content().as_array().map_or(&[], Vec::as_slice)
    }

    /// The texts of the content, joined.
    pub(super) fn content_text(&self) -> String {
        match self.content() {
            Value::String(text) => text.clone(),
            _ => self.blocks().iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        }
    }
}

pub(super) fn kind(record: &Record) -> Kind {
    match record.text("type").unwrap_or_default() {
        "assistant" => Kind::Assistant,
        "user" => user(record),
        other => Kind::Other(format!("{other} records")),
    }
}

fn user(record: &Record) -> Kind {
    if record.blocks().iter().any(|block| block["type"] == "tool_result") {
        return Kind::ToolResult;
    }
    let text = record.content_text();
    if text.starts_with(INTERRUPTED) {
        return Kind::Interrupted;
    }
    let own = |key: &str| record.value[key] == true;
    if record.sidechain() || own("isMeta") || own("isCompactSummary") || own("isVisibleInTranscriptOnly") {
        return Kind::Other("messages that the CLI wrote itself".to_owned());
    }
    // A typed command is kept as tags; what a local one printed is kept as a message of its own.
    if let Some(command) = tag(&text, "command-name") {
        let arguments = tag(&text, "command-args").unwrap_or_default();
        return Kind::Prompt(format!("{} {}", command.trim(), arguments.trim()).trim_end().to_owned());
    }
    if text.starts_with("<local-command-") || text.starts_with("<bash-") {
        return Kind::Other("outputs of local commands".to_owned());
    }
    Kind::Prompt(text)
}

/// The text within `<name>…</name>`.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}
