//! The segment: the assistant entry that is being streamed now.

use serde_json::Value;

use super::doc::ChatDoc;
use super::layout::{EntryStatus, Role, entry, meta, part};
use super::value::sure;

/// The open segment. Its entry is made by the first content that is folded, so that a turn without content leaves none.
pub(super) struct Segment {
    pub id: String,
    pub created_at: u64,
    pub device_id: String,
    /// The entry, once it is made.
    pub entry: Option<usize>,
}

impl ChatDoc {
    /// Writes a user's message. False: the id is there already and nothing is written (M1).
    pub fn push_user(&mut self, entry_id: &str, text: &str, created_at: u64, device_id: &str) -> bool {
        if self.id_taken(entry_id) {
            return false;
        }
        let index = self.push_entry(entry_id, Role::User, EntryStatus::Complete, created_at, device_id);
        self.merge_text(index, super::text::RunKind::Text, None, text);
        true
    }

    /// Writes the marker that says where a fork came from, an entry of its own. False: the id is there already.
    pub fn push_fork_marker(
        &mut self,
        entry_id: &str,
        source_chat_id: &str,
        source_title: &str,
        created_at: u64,
        device_id: &str,
    ) -> bool {
        if self.id_taken(entry_id) {
            return false;
        }
        let index = self.push_entry(entry_id, Role::System, EntryStatus::Complete, created_at, device_id);
        let placed = self.push_shown(index, part::KIND_FORK, source_title.len());
        sure(placed.map.insert(part::SOURCE_CHAT_ID, source_chat_id));
        sure(placed.map.insert(part::SOURCE_TITLE, source_title));
        true
    }

    /// Opens a segment. A streaming entry of that id, as a loaded document may hold one, is continued; a segment still open is
    /// finished as complete first (M2). False: the id belongs to an entry that has ended, and no segment is open.
    pub fn begin_segment(&mut self, entry_id: &str, created_at: u64, device_id: &str) -> bool {
        if self.segment.as_ref().is_some_and(|segment| segment.id != entry_id) {
            self.finish_segment(false, None, None);
        }
        let entry = self.by_id.get(entry_id).copied();
        if entry.is_some_and(|index| self.replies[index].id != entry_id || !self.streaming.contains(&index)) {
            return false;
        }
        self.segment = Some(Segment { id: entry_id.to_owned(), created_at, device_id: device_id.to_owned(), entry });
        true
    }

    /// Whether a segment is open.
    pub fn has_segment(&self) -> bool {
        self.segment.is_some()
    }

    /// The newest entry that still streams, as a loaded document may hold one.
    pub fn streaming_entry(&self) -> Option<&str> {
        self.streaming.last().map(|index| self.replies[*index].id.as_str())
    }

    /// Whether an entry has this id.
    pub fn has_entry(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Questions that are not closed, by request id.
    pub fn open_questions(&self) -> Vec<String> {
        self.replies.iter().flat_map(|reply| reply.open_inputs.keys().cloned()).collect()
    }

    /// Whether no segment is open, or the open one shows nothing: nothing was folded, or all of it was taken back.
    pub fn segment_is_empty(&self) -> bool {
        self.current().is_none_or(|index| self.replies[index].order.is_empty())
    }

    /// Id of the open segment's entry, also while the entry is not made yet.
    pub fn segment_entry(&self) -> Option<&str> {
        self.segment.as_ref().map(|segment| segment.id.as_str())
    }

    /// Ends the open segment, if there is one: every question in it is resolved, the entry is complete or aborted. An error
    /// becomes an Error part unless one with the same text is there already; for an error the entry is made also when nothing
    /// was streamed. Without both no entry is made.
    pub fn finish_segment(&mut self, aborted: bool, error: Option<&str>, duration_ms: Option<u64>) {
        if let Some(message) = error
            && let Some(index) = self.open_entry()
        {
            self.push_error(index, message, true);
        }
        if let Some(index) = self.segment.take().and_then(|segment| segment.entry) {
            self.close_entry(index, aborted, duration_ms);
        }
    }

    /// Recovery: every streaming entry becomes aborted, with an Error part that says why unless it is there already. Returns
    /// whether there was one.
    pub fn abort_streaming(&mut self, error: Option<&str>) -> bool {
        self.segment = None;
        let streaming = std::mem::take(&mut self.streaming);
        for index in &streaming {
            if let Some(message) = error {
                self.push_error(*index, message, true);
            }
            self.close_entry(*index, true, None);
        }
        !streaming.is_empty()
    }

    /// Records the native position after which a reply can be forked. False: no such entry.
    pub fn set_fork_point(&mut self, entry_id: &str, point: &Value) -> bool {
        let Some(index) = self.by_id.get(entry_id) else { return false };
        sure(self.replies[*index].nodes[0].map.insert(entry::NATIVE_FORK_POINT, point.to_string()));
        self.dirty = true;
        true
    }

    /// Records which provider session was given the text history of a fork, so that it is given once.
    pub fn set_fork_history_session(&mut self, session: &str) {
        sure(self.meta.insert(meta::FORK_HISTORY_SESSION, session));
        self.dirty = true;
    }

    /// Whether an entry has this id, or the open segment will give it to one.
    fn id_taken(&self, entry_id: &str) -> bool {
        self.by_id.contains_key(entry_id) || self.segment_entry() == Some(entry_id)
    }

    /// The open segment's entry, if it is made.
    pub(super) fn current(&self) -> Option<usize> {
        self.segment.as_ref()?.entry
    }

    /// The open segment's entry, made now if it is not yet. None: no segment is open.
    pub(super) fn open_entry(&mut self) -> Option<usize> {
        let mut segment = self.segment.take()?;
        let index = segment.entry.unwrap_or_else(|| {
            self.push_entry(&segment.id, Role::Assistant, EntryStatus::Streaming, segment.created_at, &segment.device_id)
        });
        segment.entry = Some(index);
        self.segment = Some(segment);
        Some(index)
    }
}
