//! I2: the working indicator and the pill agree with turns and rows.

use super::{FLUSH_BOUND_MS, judge_state, memory};
use crate::{
    invariants::{Found, Invariant, Moment, Violation},
    view::{Chat, MessageState},
};

const ID: &str = "I2";

/// I2. Background work does not count for `busy`. The pill may run ahead of the rows while a document change waits for its
/// flush; the rows never run ahead of the pill.
#[derive(Default)]
pub struct Busy {
    chats: Vec<Memory>,
}

#[derive(Default)]
struct Memory {
    busy_wrong: bool,
    pill_wrong: bool,
    /// Set while pill and rows differ: since when, not counting the time that a link holds something back.
    since: Option<u64>,
    too_long: bool,
    pill: u32,
    rows: u32,
    /// Whether everything made had reached the viewer at the last look.
    delivered: bool,
}

impl Invariant for Busy {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "a chat is busy if and only if a turn is open; the pill is the number of running rows, but for one flush"
    }

    fn look(&mut self, moment: &Moment<'_>, found: &mut Found) {
        for (index, chat) in moment.view.chats.iter().enumerate() {
            let memory = memory(&mut self.chats, index);
            busy(memory, chat, moment.at, found);
            pill(memory, chat, moment.at, found);
        }
    }
}

fn busy(memory: &mut Memory, chat: &Chat, at: u64, found: &mut Found) {
    // Both come on the row feed: while a row change is under way the one may be here and the other not.
    if chat.turns.is_empty() && !chat.busy || chat.delivery.rows > 0 {
        return;
    }
    let open = chat.open_turn().is_some();
    // A message that was handed over and not taken keeps the chat busy between two turns.
    let waits = || chat.messages.iter().any(|message| message.state == MessageState::Sent);
    let holds = chat.busy == open || (chat.busy && waits());
    judge_state(found, &mut memory.busy_wrong, ID, at, holds, || match chat.open_turn() {
        Some(turn) => format!("{}: turn {} is open, and the chat is shown as {:?}", chat.id, turn.number, chat.status),
        None => format!("{}: no turn is open, and the chat is shown as busy ({:?})", chat.id, chat.status),
    });
}

fn pill(memory: &mut Memory, chat: &Chat, at: u64, found: &mut Found) {
    let rows = chat.running_rows();
    let delivered = chat.delivery.is_delivered();
    let on_link = chat.delivery.rows > 0 || chat.delivery.docs > 0;
    if chat.pill != rows && (memory.since.is_none() || on_link) {
        memory.since = Some(at);
    }
    if chat.pill == rows {
        (memory.since, memory.too_long) = (None, false);
    }
    if chat.pill > 0 || !chat.rows.is_empty() {
        if delivered {
            judge_state(found, &mut memory.pill_wrong, ID, at, chat.pill == rows, || {
                format!("{}: the pill says {}, and {rows} rows run", chat.id, chat.pill)
            });
        } else if let Some(since) = memory.since {
            let lasts = at - since;
            judge_state(found, &mut memory.too_long, ID, at, lasts <= FLUSH_BOUND_MS, || {
                format!("{}: for {lasts} ms the pill has said {}, and {rows} rows run", chat.id, chat.pill)
            });
        }
        let rows_alone = memory.delivered && memory.pill == chat.pill && memory.rows != rows && !on_link;
        if rows_alone && memory.pill == memory.rows && !delivered {
            found.violations.push(Violation {
                invariant: ID,
                at,
                message: format!("{}: the rows changed from {} to {rows} before the pill did", chat.id, memory.rows),
            });
        }
    }
    (memory.pill, memory.rows, memory.delivered) = (chat.pill, rows, delivered);
}
