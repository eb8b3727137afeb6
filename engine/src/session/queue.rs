//! What the user does with queued messages. A message leaves the queue exactly once: sent, taken back, or deleted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    chat::Chat,
    run::{Phase, Run},
};
use crate::{
    core::{config::MAILBOX, hub::Hub, input::Message},
    delegation::CallError,
    feed::MessageState,
};

impl Chat {
    /// Puts a message into the queue that is held until its attachments are there.
    pub fn enqueue_with(&mut self, hub: &mut Hub, message: Message, attachments: BTreeSet<String>) {
        if !attachments.is_empty() && !self.messages.contains_key(&message.id) {
            self.notes.entry(message.id.clone()).or_default().pending_attachments = attachments;
        }
        self.enqueue(hub, message);
    }

    /// An attachment of a queued message is there.
    ///
    /// # Errors
    /// The message is not in the queue.
    pub fn attached(&mut self, hub: &mut Hub, id: &str, attachment: &str) -> Result<Value, CallError> {
        self.place_in_queue(id)?;
        hub.require_commit();
        if let Some(note) = self.notes.get_mut(id) {
            note.pending_attachments.remove(attachment);
        }
        self.look_at_waiting(hub);
        Ok(json!({}))
    }

    /// Rewrites a queued message; without any words left it is deleted.
    ///
    /// # Errors
    /// The message is not in the queue, or its words stand in the chat already.
    pub fn edit_queued(&mut self, hub: &mut Hub, id: &str, text: &str) -> Result<Value, CallError> {
        let at = self.place_in_queue(id)?;
        if text.trim().is_empty() {
            return self.remove_queued(hub, id).map(|_| json!({"deleted": true}));
        }
        if self.doc.has_entry(id) {
            return Err(CallError::refused("The provider had this message before: its words stand in the chat."));
        }
        hub.require_commit();
        self.queue[at].text = text.to_owned();
        self.notes.entry(id.to_owned()).or_default().edited_at = Some(hub.now.wall);
        if let Some(row) = self.messages.get_mut(id) {
            row.text = text.to_owned();
            hub.message(row);
        }
        Ok(json!({"deleted": false}))
    }

    /// Takes a queued message out. The answer is the acknowledgement: what is removed is never sent (Q2).
    ///
    /// # Errors
    /// The message is not in the queue.
    pub fn remove_queued(&mut self, hub: &mut Hub, id: &str) -> Result<Value, CallError> {
        let at = self.place_in_queue(id)?;
        hub.require_commit();
        self.queue.remove(at);
        self.not_sent(hub, id, MessageState::Withdrawn);
        self.look_at_waiting(hub);
        Ok(json!({}))
    }

    /// Puts the queue into another order.
    ///
    /// # Errors
    /// The ids are not those of the queue, each once: the order was made for another queue.
    pub fn reorder_queue(&mut self, hub: &mut Hub, order: &[String]) -> Result<Value, CallError> {
        let ordered: Option<Vec<Message>> =
            order.iter().map(|id| self.queue.iter().find(|message| message.id == *id).cloned()).collect();
        let distinct = order.iter().collect::<BTreeSet<_>>().len();
        match ordered {
            Some(ordered) if ordered.len() == self.queue.len() && distinct == ordered.len() => {
                hub.require_commit();
                self.queue = ordered.into();
                // The order is the user's from here on: none stands behind another for want of room.
                self.overflow.clear();
                self.look_at_waiting(hub);
                Ok(json!({}))
            }
            _ => Err(CallError::refused("The queue holds other messages by now.")),
        }
    }

    /// Sends a queued message now: into the turn that runs where the driver takes it, else as the next one; as a turn when none
    /// runs.
    ///
    /// # Errors
    /// The message is not in the queue, or its attachments are not there.
    pub fn steer_queued(&mut self, hub: &mut Hub, id: &str) -> Result<Value, CallError> {
        let at = self.ready_in_queue(id)?;
        hub.require_commit();
        let running = self.run.as_ref().filter(|run| run.phase == Phase::Running);
        let room = |run: &Run| run.takes_messages() && run.ledger.len() < MAILBOX;
        let Some(message) = self.queue.remove(at) else { return Ok(json!({})) };
        if running.is_some_and(|run| !room(run)) {
            self.queue.push_front(message);
        } else {
            self.queue_paused = false;
            self.dispatch(hub, message);
            self.look_at_waiting(hub);
        }
        Ok(json!({}))
    }

    /// Stops the turn, then sends a queued message.
    ///
    /// # Errors
    /// The message is not in the queue, or its attachments are not there.
    pub fn send_queued(&mut self, hub: &mut Hub, id: &str) -> Result<Value, CallError> {
        let at = self.ready_in_queue(id)?;
        let message = self.queue[at].clone();
        self.send_now(hub, message);
        Ok(json!({}))
    }

    /// Whether the head of the queue waits for something that is not there.
    pub(super) fn head_is_held(&self) -> bool {
        let note = self.queue.front().and_then(|message| self.notes.get(&message.id));
        note.is_some_and(|note| !note.pending_attachments.is_empty())
    }

    fn ready_in_queue(&self, id: &str) -> Result<usize, CallError> {
        let at = self.place_in_queue(id)?;
        match self.notes.get(id) {
            Some(note) if !note.pending_attachments.is_empty() => {
                Err(CallError::refused("The attachments of this message are not there yet."))
            }
            _ => Ok(at),
        }
    }

    fn place_in_queue(&self, id: &str) -> Result<usize, CallError> {
        let place = self.queue.iter().position(|message| message.id == id);
        place.ok_or_else(|| CallError::refused("This message is not in the queue."))
    }
}
