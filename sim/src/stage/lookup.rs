//! Looking an expectation up in the view of one chat. Reads the host view only.

use std::collections::BTreeMap;

use scenarios::{
    Expectation,
    expect::{ChatStatus, Check, EntryState as WantedEntry, Matcher, MessageState as WantedMessage, Path, RowState, TurnOutcome},
};

use crate::view::{Chat, ChildState, Entry, EntryState, MessageState, Outcome, Part, Status};

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds.
    Holds,
    /// It does not; what is there instead.
    Differs(String),
    /// It names something that is not there; what there is.
    Missing(String),
}

/// Labels of the scenario's messages → their ids.
pub type Labels = BTreeMap<String, String>;

/// The first check that does not hold, with what is there instead.
pub fn first_unmet(expectation: &Expectation, chat: &Chat, labels: &Labels) -> Option<(Check, Answer)> {
    expectation.checks.iter().find_map(|check| match look(check, chat, labels) {
        Answer::Holds => None,
        answer => Some((check.clone(), answer)),
    })
}

fn look(check: &Check, chat: &Chat, labels: &Labels) -> Answer {
    match (&check.path, &check.matcher) {
        (Path::Status, Matcher::Status(wanted)) => equal(wanted.word(), status(chat.status).word()),
        (Path::Pill, Matcher::Number(number)) => count(number, chat.pill as usize),
        (Path::Busy, Matcher::Flag(wanted)) => equal(*wanted, chat.busy),
        (Path::Turns, Matcher::Number(number)) => count(number, chat.turns.len()),
        (Path::Outcomes, Matcher::Outcomes(wanted)) => equal_lists(wanted.iter().map(|w| w.word().to_owned()), outcomes(chat)),
        (Path::RowCount(state), Matcher::Number(number)) => {
            let rows = chat.rows.iter().filter(|row| state.is_none_or(|state| row_state(row.state) == state));
            count(number, rows.count())
        }
        (Path::RowTitles, Matcher::Names(wanted)) => {
            equal_lists(wanted.iter().map(|name| name.value.clone()), chat.rows.iter().map(|row| row.title.clone()))
        }
        (Path::Row(title), Matcher::Row(wanted)) => match chat.rows.iter().find(|row| row.title == *title) {
            Some(row) => equal(wanted.word(), row_state(row.state).word()),
            None => Answer::Missing(names("row", chat.rows.iter().map(|row| row.title.as_str()))),
        },
        (Path::TabEntries(title) | Path::TabText(title) | Path::TabLastReply(title) | Path::TabState(title), matcher) => {
            match chat.tabs.iter().find(|tab| tab.title == *title) {
                Some(tab) => entries(&check.path, matcher, &tab.entries),
                None => Answer::Missing(names("tab", chat.tabs.iter().map(|tab| tab.title.as_str()))),
            }
        }
        (Path::Entries | Path::Text | Path::Transcript | Path::LastReply, matcher) => {
            entries(&check.path, matcher, &chat.transcript)
        }
        (Path::Message(label), Matcher::Message(wanted)) => {
            let Some(id) = labels.get(label) else {
                return Answer::Missing(names("message", labels.keys().map(String::as_str)));
            };
            let state = chat.messages.iter().find(|message| message.id == *id).map(|message| message_state(message.state));
            equal(wanted.word(), state.map_or("unknown to the host", WantedMessage::word))
        }
        (Path::Queue, Matcher::Names(wanted)) => {
            equal_lists(wanted.iter().map(|name| name.value.clone()), queued(chat, labels).into_iter())
        }
        (Path::QueueLength, Matcher::Number(number)) => count(number, queued(chat, labels).len()),
        (Path::QueuePaused, Matcher::Flag(wanted)) => equal(*wanted, chat.queue_paused),
        (Path::QuestionOpen | Path::ApprovalOpen, Matcher::Flag(wanted)) => {
            equal(*wanted, chat.approvals.iter().any(|approval| approval.closed_at.is_none()))
        }
        (Path::Notices, Matcher::Texts(wanted)) => equal_lists(wanted.iter().cloned(), chat.errors().map(str::to_owned)),
        (Path::NoticeText, Matcher::Text(wanted)) => text(wanted, &chat.errors().collect::<Vec<_>>().join("\n\n")),
        (path, _) => Answer::Missing(format!("this host shows nothing for `{path}`")),
    }
}

fn entries(path: &Path, matcher: &Matcher, entries: &[Entry]) -> Answer {
    match (path, matcher) {
        (Path::TabEntries(_) | Path::Entries, Matcher::Kinds(wanted)) => {
            equal_lists(wanted.iter().map(ToString::to_string), kinds(entries).into_iter())
        }
        (Path::Text, Matcher::Text(wanted)) => text(wanted, &replies(entries).join("\n\n")),
        (Path::TabText(_) | Path::Transcript, Matcher::Text(wanted)) => text(wanted, &spoken(entries).join("\n\n")),
        (Path::TabLastReply(_) | Path::LastReply, Matcher::Text(wanted)) => {
            text(wanted, replies(entries).last().map_or("", String::as_str))
        }
        (Path::TabState(_), Matcher::Entry(wanted)) => {
            let state = entries.last().map_or("empty", |entry| entry_state(entry.state).word());
            equal(wanted.word(), state)
        }
        (path, _) => Answer::Missing(format!("this host shows nothing for `{path}`")),
    }
}

/// One word a shown part.
fn kinds(entries: &[Entry]) -> Vec<String> {
    let mut kinds = Vec::new();
    for entry in entries {
        for part in &entry.parts {
            kinds.push(match part {
                Part::Text { .. } if entry.role == "user" => "prompt".to_owned(),
                Part::Text { .. } => "reply".to_owned(),
                Part::Reasoning { .. } => "thinking".to_owned(),
                Part::Tool(tool) if tool.name == "todo" => "plan".to_owned(),
                Part::Tool(tool) => format!("tool:{}", tool.name),
                Part::Input { .. } => "question".to_owned(),
                Part::Error { .. } => "error".to_owned(),
                Part::Other { .. } => "marker".to_owned(),
            });
        }
    }
    kinds
}

fn replies(entries: &[Entry]) -> Vec<String> {
    let parts = entries.iter().filter(|entry| entry.role == "assistant").flat_map(|entry| &entry.parts);
    parts
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.trim().to_owned()),
            _ => None,
        })
        .collect()
}

fn spoken(entries: &[Entry]) -> Vec<String> {
    let parts = entries.iter().flat_map(|entry| &entry.parts);
    parts
        .filter_map(|part| match part {
            Part::Text { text, .. } | Part::Error { message: text } => Some(text.trim().to_owned()),
            _ => None,
        })
        .collect()
}

fn queued(chat: &Chat, labels: &Labels) -> Vec<String> {
    chat.queue
        .iter()
        .map(|queued| labels.iter().find(|(_, id)| *id == queued).map_or(queued, |(label, _)| label).clone())
        .collect()
}

fn outcomes(chat: &Chat) -> impl Iterator<Item = String> {
    chat.turns.iter().map(|turn| {
        match turn.settles.first().map(|settle| settle.outcome) {
            None => TurnOutcome::Running,
            Some(Outcome::Completed) => TurnOutcome::Completed,
            Some(Outcome::Failed) => TurnOutcome::Failed,
            Some(Outcome::Interrupted) => TurnOutcome::Interrupted,
        }
        .word()
        .to_owned()
    })
}

fn status(status: Status) -> ChatStatus {
    match status {
        Status::Idle => ChatStatus::Idle,
        Status::Working => ChatStatus::Working,
        Status::AwaitingInput => ChatStatus::Waiting,
        Status::Failed => ChatStatus::Failed,
    }
}

fn row_state(state: ChildState) -> RowState {
    match state {
        ChildState::Running => RowState::Running,
        ChildState::Done => RowState::Done,
        ChildState::Failed => RowState::Failed,
    }
}

fn entry_state(state: EntryState) -> WantedEntry {
    match state {
        EntryState::Streaming => WantedEntry::Streaming,
        EntryState::Complete => WantedEntry::Complete,
        EntryState::Aborted => WantedEntry::Aborted,
    }
}

fn message_state(state: MessageState) -> WantedMessage {
    match state {
        MessageState::Queued => WantedMessage::Queued,
        MessageState::Sent => WantedMessage::Sent,
        MessageState::Delivered => WantedMessage::Delivered,
        MessageState::NotDelivered => WantedMessage::NotDelivered,
        MessageState::Withdrawn => WantedMessage::Withdrawn,
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(wanted: T, actual: T) -> Answer {
    if wanted == actual { Answer::Holds } else { Answer::Differs(format!("it is {actual:?}")) }
}

fn equal_lists(wanted: impl Iterator<Item = String>, actual: impl Iterator<Item = String>) -> Answer {
    equal(wanted.collect::<Vec<_>>(), actual.collect())
}

fn count(number: &scenarios::expect::Number, actual: usize) -> Answer {
    if number.matches(actual) { Answer::Holds } else { Answer::Differs(format!("it is {actual}")) }
}

fn text(wanted: &scenarios::expect::TextMatch, actual: &str) -> Answer {
    if wanted.matches(actual) { Answer::Holds } else { Answer::Differs(format!("it is {actual:?}")) }
}

fn names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    if names.is_empty() { format!("there was no {what} at all") } else { format!("there was {what} {}", names.join(", ")) }
}
