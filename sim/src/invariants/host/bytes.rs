//! I9: bytes to frames is lossless, both ways.

use std::collections::BTreeMap;

use super::{owed, since};
use crate::{
    evidence::{PieceKind, Shared, message_text},
    history::{UserAction, What},
    invariants::{Found, Invariant, Moment},
    view::{Part, Tool},
};

const ID: &str = "I9";

/// I9. To the host: at rest every untagged text, tool call and result that a turn owes stands in the transcript, character for
/// character. From the host: every line that a process read is whole JSON, and every user line holds the text that the user
/// sent under that id. Chunking shows in the view only by what it loses, so this judges the content of frames; a frame that
/// says nothing to the user cannot be judged by it.
pub struct Bytes {
    evidence: Shared,
    happenings: usize,
    sent: BTreeMap<String, usize>,
}

impl Bytes {
    pub(super) fn new(evidence: &Shared) -> Self {
        Bytes { evidence: evidence.clone(), happenings: 0, sent: BTreeMap::new() }
    }
}

impl Invariant for Bytes {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "no chunking loses a frame: what was said is shown to the letter, and each line that a process reads is whole"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let first = self.happenings;
        for (offset, happening) in since(&mut self.happenings, moment.history).iter().enumerate() {
            match &happening.what {
                What::User(
                    UserAction::Send { message, .. }
                    | UserAction::Queue { message, .. }
                    | UserAction::SendNow { message, .. }
                    | UserAction::Edit { message, .. },
                ) => {
                    self.sent.insert(message.clone(), first + offset);
                }
                What::Heard { pid, frame } if !moment.history.raw => {
                    found.judge(ID, moment.at, !frame.is_null(), || format!("process {pid} read a line that is no JSON"));
                    let sent = frame["uuid"].as_str().filter(|_| frame["type"] == "user").and_then(|uuid| self.sent.get(uuid));
                    let Some(index) = sent else { continue };
                    if let What::User(
                        UserAction::Send { message, text, .. }
                        | UserAction::Queue { message, text, .. }
                        | UserAction::Edit { message, text, .. }
                        | UserAction::SendNow { message, text, .. },
                    ) = &moment.history.happenings[*index].what
                    {
                        // A host may put context around the words of the user, never other words in their place.
                        let heard = message_text(frame);
                        found.judge(ID, moment.at, heard.contains(text.as_str()), || {
                            format!("message {message}: process {pid} read {heard:?}, the user wrote {text:?}")
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        if moment.history.broken_provider {
            return;
        }
        let evidence = self.evidence.read(moment.history);
        for chat in &moment.view.chats {
            let mut shown = String::new();
            let mut tools: BTreeMap<&str, &Tool> = BTreeMap::new();
            for part in chat.transcript.iter().filter(|entry| entry.role != "user").flat_map(|entry| &entry.parts) {
                match part {
                    Part::Text { text, .. } => shown.push_str(text),
                    Part::Tool(tool) => {
                        tools.insert(&tool.id, tool);
                    }
                    _ => {}
                }
            }
            let pids: Vec<u32> = evidence.processes_of(&chat.id).map(|process| process.pid).collect();
            for piece in evidence.pieces.iter().filter(|piece| !piece.tagged && pids.contains(&piece.place.pid)) {
                if !owed::owed(&evidence, chat, piece.place) {
                    continue;
                }
                match piece.kind {
                    PieceKind::Block(number)
                        if evidence.blocks[number].thinking || evidence.blocks[number].taken_back.is_some() => {}
                    PieceKind::Block(_) | PieceKind::Text(_) => {
                        let mut text = String::new();
                        evidence.words(moment.history, piece, |at, index, words| {
                            let place = crate::evidence::Place { at, index, ..piece.place };
                            if owed::owed(&evidence, chat, place) {
                                text.push_str(words);
                            }
                        });
                        found.judge(ID, moment.at, shown.contains(&text), || {
                            format!("{}: the text {text:?}, said at {} ms, is not shown to the letter", chat.id, piece.place.at)
                        });
                    }
                    PieceKind::ToolUse(_) => {
                        let id = evidence.tool_id(moment.history, piece);
                        found.judge(ID, moment.at, tools.contains_key(id), || format!("{}: tool {id} is not shown", chat.id));
                    }
                    PieceKind::ToolResult(_) => {
                        let id = evidence.tool_id(moment.history, piece);
                        let Some(tool) = tools.get(id) else { continue };
                        let failed = evidence.tool_block(moment.history, piece)["is_error"] == true;
                        found.judge(ID, moment.at, tool.resolved && tool.is_error == failed, || {
                            format!("{}: the result of tool {id} (error: {failed}) is not shown", chat.id)
                        });
                    }
                    _ => {}
                }
            }
        }
    }
}
