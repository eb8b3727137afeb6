//! C1: what was said before a message was taken belongs to the reply before it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::{
    frames,
    wire::{Wire, slot},
};
use crate::{
    history::What,
    invariants::{Found, Invariant, Moment},
};

/// One streamed block of text.
#[derive(Default)]
struct Block {
    first: usize,
    said: String,
    /// Where each piece was said, and how long the text was then.
    pieces: Vec<(usize, usize)>,
    journaled: String,
}

impl Block {
    /// Length of what was said before a place.
    fn said_before(&self, place: usize) -> usize {
        self.pieces.iter().take_while(|(index, _)| *index < place).last().map_or(0, |(_, length)| *length)
    }

    /// Whether the journal has this text from its start. Where the parked gate dropped some of it nothing can be told.
    fn is_aligned(&self) -> bool {
        self.said.starts_with(&self.journaled)
    }
}

#[derive(Default)]
struct Reply {
    blocks: BTreeMap<String, Block>,
    /// Where the message was taken that opened the reply.
    taken: Option<usize>,
}

/// C1.
#[derive(Default)]
pub(in super::super) struct OldTextFirst {
    wire: Wire,
    messages: BTreeMap<u32, String>,
    replies: BTreeMap<String, Reply>,
}

impl OldTextFirst {
    fn said(&mut self, index: usize, pid: u32, frame: &Value) {
        if frames::kind(frame) != "stream_event" || frames::tag(frame).is_some() {
            return;
        }
        let event = &frame["event"];
        match frames::kind(event) {
            "message_start" => {
                self.messages.insert(pid, event["message"]["id"].as_str().unwrap_or_default().to_string());
            }
            "content_block_delta" => {
                let Some(text) = event["delta"]["text"].as_str().filter(|_| frames::kind(&event["delta"]) == "text_delta") else {
                    return;
                };
                let Some(chat) = self.wire.chat_of(pid) else { return };
                let message = self.messages.get(&pid).map(String::as_str).unwrap_or_default();
                let key = format!("{message}/{}", event["index"].as_u64().unwrap_or(0));
                let block = slot(&mut slot(&mut self.replies, chat).blocks, &key);
                if block.pieces.is_empty() {
                    block.first = index;
                }
                block.said.push_str(text);
                block.pieces.push((index, block.said.len()));
            }
            _ => {}
        }
    }
}

impl Invariant for OldTextFirst {
    fn id(&self) -> &'static str {
        "C1"
    }

    fn words(&self) -> &'static str {
        "text that was said before a message was taken stands before its Steered"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        let look = self.wire.next(moment);
        for (index, happening) in look.happened() {
            self.wire.happened(index, happening);
            if let What::Said { pid, frame, .. } = &happening.what {
                self.said(index, *pid, frame);
            }
        }
        for batch in &look.batches {
            let chat = &batch.chat.id;
            for entry in batch.entries {
                let (event, facts) = (&entry.event, self.wire.facts(chat));
                let reply = slot(&mut self.replies, chat);
                match frames::kind(event) {
                    "textDelta" => {
                        let block = event["part"].as_str().and_then(|part| reply.blocks.get_mut(part));
                        if let (Some(block), Some(text)) = (block, event["text"].as_str()) {
                            let before = block.journaled.len();
                            block.journaled.push_str(text);
                            if let Some(taken) = reply.taken.filter(|_| block.is_aligned()) {
                                found.judge("C1", moment.at, before >= block.said_before(taken), || {
                                    format!(
                                        "journal {} of {chat}: text said before a message was taken follows its Steered",
                                        entry.seq
                                    )
                                });
                            }
                        }
                    }
                    "textSnapshot" => {
                        event["part"].as_str().map(|part| reply.blocks.remove(part));
                    }
                    "steered" => {
                        let message = event["messageId"].as_str().and_then(|id| self.wire.messages.get(id));
                        let taken = message.and_then(|message| message.taken).filter(|taken| *taken < batch.span.to);
                        if let Some(taken) = taken {
                            let since = facts.boundary.map_or(0, |boundary| boundary.to);
                            let blocks = reply.blocks.values().filter(|block| block.first >= since && block.first < taken);
                            for block in blocks.filter(|block| !block.journaled.is_empty() && block.is_aligned()) {
                                let (got, owed) = (block.journaled.len(), block.said_before(taken));
                                found.judge("C1", moment.at, got >= owed, || {
                                    format!(
                                        "{chat}: {} bytes said before a message was taken are missing before its Steered",
                                        owed - got
                                    )
                                });
                            }
                        }
                        reply.taken = taken;
                    }
                    "done" => *reply = Reply::default(),
                    _ => {}
                }
                self.wire.wrote(batch, entry);
            }
        }
    }
}
