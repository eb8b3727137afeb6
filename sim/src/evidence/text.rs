//! The words of a piece, read from the frames where they stand.

use serde_json::Value;

use super::{Evidence, Piece, PieceKind, Task};
use crate::history::{History, What};

/// The frame said or heard at this happening; `Value::Null` for any other happening.
pub fn frame_at(history: &History, index: usize) -> &Value {
    match &history.happenings[index].what {
        What::Said { frame, .. } | What::Heard { frame, .. } => frame,
        _ => &Value::Null,
    }
}

/// Block `number` of a frame's content. Content that is a bare text is its only block.
fn block(frame: &Value, number: usize) -> &Value {
    let content = &frame["message"]["content"];
    if content.is_string() { content } else { &content[number] }
}

/// The text of a block: of a text, thinking or bare-text block.
fn words_of(block: &Value) -> &str {
    let text = block.as_str().or_else(|| block["text"].as_str()).or_else(|| block["thinking"].as_str());
    text.unwrap_or_default()
}

/// The whole text of a user line or frame: its text blocks, one after the other.
pub fn message_text(frame: &Value) -> String {
    match &frame["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

impl Evidence {
    /// Calls `each` with every stretch of text of a piece and the time at which it was said.
    pub fn words<'a>(&self, history: &'a History, piece: &Piece, mut each: impl FnMut(u64, usize, &'a str)) {
        let index = piece.place.index;
        let frame = frame_at(history, index);
        match piece.kind {
            PieceKind::Block(number) => {
                for index in &self.blocks[number].deltas {
                    let delta = &frame_at(history, *index)["event"]["delta"];
                    each(history.happenings[*index].at, *index, words_of(delta));
                }
            }
            PieceKind::Fork(_) => each(piece.place.at, index, prompt(frame)),
            PieceKind::ToolUse(_) | PieceKind::ToolResult(_) => {}
            PieceKind::Text(n) | PieceKind::Thinking(n) | PieceKind::UserText(n) | PieceKind::ApiError(n) => {
                each(piece.place.at, index, words_of(block(frame, n)));
            }
        }
    }

    /// The text of a piece as one.
    pub fn text(&self, history: &History, piece: &Piece) -> String {
        let mut text = String::new();
        self.words(history, piece, |_, _, words| text.push_str(words));
        text
    }

    /// The tool that a piece is tagged with.
    pub fn tag<'a>(&self, history: &'a History, piece: &Piece) -> Option<&'a str> {
        if !piece.tagged {
            return None;
        }
        frame_at(history, piece.place.index)["parent_tool_use_id"].as_str()
    }

    /// The content block of a tool call or result.
    pub fn tool_block<'a>(&self, history: &'a History, piece: &Piece) -> &'a Value {
        match piece.kind {
            PieceKind::ToolUse(n) | PieceKind::ToolResult(n) => block(frame_at(history, piece.place.index), n),
            _ => &Value::Null,
        }
    }

    /// The tool id of a tool call or result.
    pub fn tool_id<'a>(&self, history: &'a History, piece: &Piece) -> &'a str {
        let block = self.tool_block(history, piece);
        let key = if matches!(piece.kind, PieceKind::ToolUse(_)) { "id" } else { "tool_use_id" };
        block[key].as_str().unwrap_or_default()
    }

    /// The opening words of a task, as its start told them.
    pub fn prompt<'a>(&self, history: &'a History, task: &Task) -> &'a str {
        prompt(frame_at(history, task.started.index))
    }
}

fn prompt(frame: &Value) -> &str {
    frame["prompt"].as_str().unwrap_or_default()
}
