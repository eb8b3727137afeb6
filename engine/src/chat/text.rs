//! Text and reasoning: merging, splitting into pieces, replacing.

use loro::LoroText;

use super::doc::ChatDoc;
use super::entry::Shown;
use super::layout::{self, ENTRY_INLINE_LIMIT, TEXT_PIECE_LIMIT, part};
use super::value::sure;

/// Text or reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Text,
    Reasoning,
}

impl RunKind {
    pub fn word(self) -> &'static str {
        match self {
            RunKind::Text => part::KIND_TEXT,
            RunKind::Reasoning => part::KIND_REASONING,
        }
    }
}

/// One stored piece of a text part.
pub(super) struct Piece {
    pub node: usize,
    pub slot: u64,
    /// 0 for the part itself, then 1, 2, …
    pub n: u32,
    pub text: LoroText,
    /// Length in Unicode scalar values, Loro's own unit of positions.
    pub chars: usize,
    pub bytes: usize,
}

/// One shown text part with all its pieces.
pub(super) struct Run {
    pub kind: RunKind,
    pub key: Option<String>,
    pub pieces: Vec<Piece>,
}

impl ChatDoc {
    /// Merges text into the part it belongs to, or begins a part: keyed text belongs to the part of its key in this entry,
    /// unkeyed text to the last shown part if that is unkeyed text of the same kind.
    pub(super) fn merge_text(&mut self, index: usize, kind: RunKind, key: Option<&str>, text: &str) {
        let known = match key {
            Some(key) => self.keys.get(key).and_then(|runs| Some(runs.range((index, 0)..=(index, u32::MAX)).next_back()?.1)),
            None => match self.replies[index].order.last_key_value() {
                Some((_, Shown::Run(run))) => Some(*run),
                _ => None,
            },
        };
        let fits = |run: &u32| {
            let run = &self.replies[index].runs[run];
            run.kind == kind && run.key.as_deref() == key
        };
        let run = known.filter(fits).unwrap_or_else(|| self.begin_run(index, kind, key));
        self.append_text(index, run, text);
    }

    /// Begins a text part without pieces; they come with its text.
    fn begin_run(&mut self, index: usize, kind: RunKind, key: Option<&str>) -> u32 {
        let runs = &mut self.replies[index].runs;
        let run = runs.last_key_value().map_or(0, |(last, _)| last + 1);
        runs.insert(run, Run { kind, key: key.map(str::to_owned), pieces: Vec::new() });
        if let Some(key) = key {
            self.keys.entry(key.to_owned()).or_default().insert((index, run));
        }
        run
    }

    /// Appends to a text part, in new pieces and continuations where a limit is reached.
    fn append_text(&mut self, index: usize, run: u32, mut text: &str) {
        while !text.is_empty() {
            let reply = &mut self.replies[index];
            let room = reply.runs[&run].pieces.last().map_or(0, |piece| {
                let entry_room = ENTRY_INLINE_LIMIT.saturating_sub(reply.nodes[piece.node].bytes);
                entry_room.min(TEXT_PIECE_LIMIT - piece.bytes)
            });
            let (now, later) = text.split_at(boundary(text, room));
            if now.is_empty() {
                let first = text.chars().next().map_or(1, char::len_utf8);
                self.push_piece(index, run, first);
                continue;
            }
            if let Some(run) = reply.runs.get_mut(&run)
                && let Some(piece) = run.pieces.last_mut()
            {
                sure(piece.text.insert(piece.chars, now));
                piece.chars += now.chars().count();
                piece.bytes += now.len();
                reply.nodes[piece.node].bytes += now.len();
                self.dirty = true;
            }
            text = later;
        }
    }

    /// Appends an empty piece at a place with room for at least `first` bytes.
    fn push_piece(&mut self, index: usize, run: u32, first: usize) {
        let kind = self.replies[index].runs[&run].kind;
        let placed = self.push_part(index, kind.word(), first);
        let reply = &mut self.replies[index];
        // What was reserved is counted when the text is written.
        reply.nodes[placed.node].bytes -= first;
        let Some(found) = reply.runs.get_mut(&run) else { return };
        let root = layout::text_id(run);
        let n = found.pieces.last().map_or(0, |piece| piece.n + 1);
        if n == 0 {
            sure(placed.map.insert(part::ID, root));
            reply.order.insert(placed.slot, Shown::Run(run));
        } else {
            sure(placed.map.insert(part::ID, layout::piece_id(&root, n)));
            sure(placed.map.insert(part::CONTINUES, root));
        }
        if let Some(key) = &found.key {
            sure(placed.map.insert(part::PART, key.as_str()));
        }
        let text = sure(placed.map.insert_container(part::TEXT, LoroText::new()));
        found.pieces.push(Piece { node: placed.node, slot: placed.slot, n, text, chars: 0, bytes: 0 });
    }

    /// Replaces the text of a part; what old and new text begin with in common is kept, so that a long part that grew costs
    /// what it grew by. Empty text takes the part back. Returns whether anything changed.
    pub(super) fn replace_text(&mut self, index: usize, run: u32, text: &str) -> bool {
        let (mut kept, mut old, mut equal) = (0, 0, true);
        for piece in &self.replies[index].runs[&run].pieces {
            old += piece.bytes;
            if equal {
                let common = common_prefix(&piece.text.to_string(), &text[kept..]);
                kept += common;
                equal = common == piece.bytes;
            }
        }
        self.cut_text(index, run, old, kept, text.is_empty());
        if text.is_empty() {
            self.forget_run(index, run);
        }
        self.append_text(index, run, &text[kept..]);
        kept < old || kept < text.len()
    }

    /// Cuts a part of `length` bytes down to `keep` bytes. The first piece stays also when it gets empty, so that the part
    /// keeps its place among the others, unless the whole part is `taken_back`.
    fn cut_text(&mut self, index: usize, run: u32, mut length: usize, keep: usize, taken_back: bool) {
        let stay = usize::from(!taken_back);
        while let Some(piece) = self.replies[index].runs.get_mut(&run).and_then(|run| {
            let last = run.pieces.last()?;
            if run.pieces.len() > stay && length - last.bytes >= keep { run.pieces.pop() } else { None }
        }) {
            length -= piece.bytes;
            self.replies[index].order.remove(&piece.slot);
            self.remove_part(index, piece.node, piece.slot, piece.bytes);
        }
        let reply = &mut self.replies[index];
        if length > keep
            && let Some(piece) = reply.runs.get_mut(&run).and_then(|run| run.pieces.last_mut())
        {
            let bytes = piece.bytes - (length - keep);
            let chars = piece.text.to_string()[..bytes].chars().count();
            sure(piece.text.delete(chars, piece.chars - chars));
            reply.nodes[piece.node].bytes -= piece.bytes - bytes;
            (piece.chars, piece.bytes) = (chars, bytes);
            self.dirty = true;
        }
    }

    fn forget_run(&mut self, index: usize, run: u32) {
        if let Some(Run { key: Some(key), .. }) = self.replies[index].runs.remove(&run)
            && let Some(runs) = self.keys.get_mut(&key)
        {
            runs.remove(&(index, run));
        }
    }
}

/// Bytes that two texts begin with in common, cut at a character.
fn common_prefix(a: &str, b: &str) -> usize {
    boundary(a, a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count())
}

/// The last character boundary of `text` that is not after `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
