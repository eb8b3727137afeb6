//! What the frames say should stand where. No engine code: the frames and the words of the wire are all it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    FORK,
    stream::{Kind, Said, ToolNames},
};
use crate::{
    evidence::{Evidence, Piece, PieceKind, Place},
    history::History,
    invariants::host::owed::{owed, run_is_over, unwritten},
    view::Chat,
};

/// A child of a chat: an agent that it called, or a typed command that runs as a fork.
pub(super) struct Child<'a> {
    /// The tool id of the call; for a fork the id of its task.
    pub(super) tool: &'a str,
    /// For a typed fork: which of the chat's forks it is, from 0.
    pub(super) fork: Option<usize>,
    /// Content of its tab.
    pub(super) said: Said,
    /// Results of its tools that must be shown: whether each is an error.
    pub(super) results: BTreeMap<&'a str, bool>,
    /// Happenings between which a fork's frames are its own.
    open: (usize, usize),
    place: Place,
    pid: u32,
    owed: bool,
    /// Its opening, until the first echo of it was dropped.
    opening: Option<&'a str>,
    /// Calls that speak to it later: their ids tag its frames too.
    aliases: Vec<&'a str>,
    /// Set once it has ended: what comes then is shown nowhere.
    over: bool,
    /// Happening of its end.
    end: usize,
}

/// What one chat should show at rest.
pub(super) struct Expected<'a> {
    pub(super) said: Said,
    /// Untagged tool calls said.
    pub(super) tools: BTreeSet<&'a str>,
    pub(super) results: BTreeMap<&'a str, bool>,
    pub(super) errors: Vec<String>,
    pub(super) children: Vec<Child<'a>>,
}

impl<'a> Expected<'a> {
    /// Reads all pieces said to a chat. Without `thinking` the host shows none, and none is expected.
    pub(super) fn of(evidence: &'a Evidence, history: &'a History, chat: &Chat, thinking: bool, names: &mut ToolNames) -> Self {
        let mut expected = Expected {
            said: Said::default(),
            tools: BTreeSet::new(),
            results: BTreeMap::new(),
            errors: Vec::new(),
            children: Vec::new(),
        };
        let reader = Reader { evidence, history, chat, thinking };
        let pids: BTreeSet<u32> = evidence.processes_of(&chat.id).map(|process| process.pid).collect();
        for piece in evidence.pieces.iter().filter(|piece| pids.contains(&piece.place.pid)) {
            if piece.tagged {
                reader.tagged(&mut expected, piece, names);
            } else {
                reader.untagged(&mut expected, piece, names);
            }
        }
        expected
    }
}

struct Reader<'a, 'c> {
    evidence: &'a Evidence,
    history: &'a History,
    chat: &'c Chat,
    thinking: bool,
}

impl<'a> Reader<'a, '_> {
    fn untagged(&self, expected: &mut Expected<'a>, piece: &Piece, names: &mut ToolNames) {
        let must = owed(self.evidence, self.chat, piece.place);
        match piece.kind {
            PieceKind::Block(number) => {
                let block = &self.evidence.blocks[number];
                let forgotten = block.taken_back.is_some_and(|at| unwritten(self.evidence, at));
                if block.taken_back.is_some() && !forgotten {
                    return;
                }
                let kind = if block.thinking { Kind::Thinking } else { Kind::Reply };
                self.words(piece, |place, words| {
                    let must = !forgotten && owed(self.evidence, self.chat, place);
                    self.write(&mut expected.said, kind, words, must);
                });
            }
            PieceKind::Text(_) => self.words(piece, |_, words| self.write(&mut expected.said, Kind::Reply, words, must)),
            PieceKind::Thinking(_) => self.words(piece, |_, words| self.write(&mut expected.said, Kind::Thinking, words, must)),
            PieceKind::ApiError(_) if must => expected.errors.push(self.evidence.text(self.history, piece)),
            PieceKind::ToolUse(_) => {
                let id = self.evidence.tool_id(self.history, piece);
                expected.tools.insert(id);
                expected.said.tool(names, id, must);
                self.call(expected, piece, id, must);
            }
            PieceKind::ToolResult(_) => {
                let id = self.evidence.tool_id(self.history, piece);
                let failed = self.evidence.tool_block(self.history, piece)["is_error"] == true;
                if must {
                    expected.results.insert(id, failed);
                }
                // "tool_result with is_error for a chip that has no registered task": a call that was refused has no task to end
                // it. One whose task began runs on, though a stop cut its call.
                let refused = failed && !self.evidence.tasks.iter().any(|task| task.tool.as_deref() == Some(id));
                for child in expected.children.iter_mut().filter(|child| refused && child.tool == id) {
                    child.end = child.end.min(piece.place.index);
                }
            }
            PieceKind::Fork(task) => {
                expected.said.tool(names, FORK, must);
                let task = &self.evidence.tasks[task];
                let fork = expected.children.iter().filter(|child| child.fork.is_some()).count();
                let closed = task.closed.unwrap_or(usize::MAX);
                let prompt = self.evidence.prompt(self.history, task);
                let child = self.child(&task.id, Some(fork), piece.place, must, prompt, closed);
                expected.children.push(child);
            }
            PieceKind::ApiError(_) | PieceKind::UserText(_) => {}
        }
    }

    /// A call that starts a child, or speaks to one.
    fn call(&self, expected: &mut Expected<'a>, piece: &Piece, id: &'a str, must: bool) {
        let block = self.evidence.tool_block(self.history, piece);
        let input = &block["input"];
        match block["name"].as_str() {
            Some("Agent" | "Task") => {
                let prompt = input["prompt"].as_str().unwrap_or_default();
                let end = self.evidence.child_end(id).map_or(usize::MAX, |(index, _)| index);
                expected.children.push(self.child(id, None, piece.place, must, prompt, end));
            }
            Some("SendMessage") => {
                let values = || input.as_object().into_iter().flat_map(|input| input.values()).filter_map(|value| value.as_str());
                let addressed = |child: &&mut Child<'a>| {
                    let mut tasks = self.evidence.tasks.iter().filter(|task| task.tool.as_deref() == Some(child.tool));
                    tasks.any(|task| values().any(|value| value == task.id))
                };
                let Some(child) = expected.children.iter_mut().find(addressed) else { return };
                child.aliases.push(id);
                // Which of its words are the message is for the host to know; none of them has to be shown.
                for words in values() {
                    child.said.text(Kind::User, words, false);
                }
                (child.over, child.end) = (false, usize::MAX);
            }
            _ => {}
        }
    }

    fn child(&self, tool: &'a str, fork: Option<usize>, place: Place, owed: bool, prompt: &'a str, end: usize) -> Child<'a> {
        let mut said = Said::default();
        said.text(Kind::User, prompt, owed);
        Child {
            tool,
            fork,
            said,
            results: BTreeMap::new(),
            open: (place.index, end),
            place,
            pid: place.pid,
            owed,
            opening: Some(prompt).filter(|prompt| !prompt.trim().is_empty()),
            aliases: Vec::new(),
            over: false,
            end,
        }
    }

    fn tagged(&self, expected: &mut Expected<'a>, piece: &Piece, names: &mut ToolNames) {
        let Some(tag) = self.evidence.tag(self.history, piece) else { return };
        let index = piece.place.index;
        // A typed fork's frames carry the name of the command, the same for every run of it.
        let fork = tag.starts_with("forked-command-");
        let Some(child) = expected.children.iter_mut().rev().find(|child| match child.fork {
            None => child.tool == tag || child.aliases.contains(&tag),
            Some(_) => fork && child.pid == piece.place.pid && index > child.open.0 && index < child.open.1,
        }) else {
            return;
        };
        child.over |= index > child.end;
        let text = self.evidence.text(self.history, piece);
        if matches!(piece.kind, PieceKind::UserText(_)) {
            if is_marker(&text) {
                return;
            }
            if child.opening.is_some_and(|opening| opening.trim() == text.trim()) {
                child.opening = None;
                return;
            }
            // Somebody speaks to a child that had ended: it goes on.
            (child.over, child.end) = (false, if child.over { usize::MAX } else { child.end });
        }
        if child.over {
            return;
        }
        let stopped = self.evidence.stop_between(&self.chat.id, child.place.at, piece.place.at).is_some();
        let must = child.owed && !stopped && !run_is_over(self.evidence, self.chat, piece.place);
        match piece.kind {
            PieceKind::Text(_) => self.write(&mut child.said, Kind::Reply, &text, must),
            PieceKind::Thinking(_) => self.write(&mut child.said, Kind::Thinking, &text, must),
            PieceKind::UserText(_) => self.write(&mut child.said, Kind::User, &text, must),
            PieceKind::ToolUse(_) => child.said.tool(names, self.evidence.tool_id(self.history, piece), must),
            PieceKind::ToolResult(_) if must => {
                let failed = self.evidence.tool_block(self.history, piece)["is_error"] == true;
                child.results.insert(self.evidence.tool_id(self.history, piece), failed);
            }
            _ => {}
        }
    }

    fn words(&self, piece: &Piece, mut each: impl FnMut(Place, &str)) {
        self.evidence.words(self.history, piece, |at, index, words| each(Place { at, index, pid: piece.place.pid }, words));
    }

    fn write(&self, said: &mut Said, kind: Kind, words: &str, must: bool) {
        if kind != Kind::Thinking || self.thinking {
            said.text(kind, words, must);
        }
    }
}

/// User frames inside a child that nobody said: reminders, and the notice that something was interrupted.
fn is_marker(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with("<system-reminder>") || text.starts_with("[Request interrupted")
}
