//! FID: what the provider said stands in the transcript or in the right tab, exactly once and in order.

mod expected;
mod stream;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    evidence::{Evidence, Shared},
    history::History,
    invariants::{Found, Invariant, Moment},
    view::{Chat, Entry, EntryState, HostView, MessageState, Part, Tab, Tool},
};
use expected::{Child, Expected};
use stream::{Kind, Stream, ToolNames};

const ID: &str = "FID";

/// The token that stands for the chip of a typed fork: the provider gives it no tool id, so each host makes up its own.
const FORK: &str = "typed fork";
/// A plan that some hosts show as a tool of this id; it comes from no frame of its own.
const LIVE_PLAN: &str = "live-plan";

/// Fidelity, at rest. Text is compared without white space and without regard to where blocks begin; thinking is compared where
/// the host shows any. Content that a stop cut, that came outside a turn or after its run was over may be shown or left out.
pub struct Fidelity {
    evidence: Shared,
}

impl Fidelity {
    pub(super) fn new(evidence: &Shared) -> Self {
        Fidelity { evidence: evidence.clone() }
    }
}

impl Invariant for Fidelity {
    fn id(&self) -> &'static str {
        ID
    }

    fn words(&self) -> &'static str {
        "each text, tool call and result that was said stands in the transcript or the right tab exactly once, in order"
    }

    fn look(&mut self, _moment: &Moment<'_>, _found: &mut Found) {}

    fn at_rest(&mut self, moment: &Moment<'_>, found: &mut Found) {
        // What a broken provider says binds nobody.
        if moment.history.broken_provider {
            return;
        }
        let evidence = self.evidence.read(moment.history);
        let thinking = shows_thinking(moment.view);
        for chat in &moment.view.chats {
            let judge = Judge { evidence: &evidence, history: moment.history, chat, thinking, at: moment.at };
            judge.all(found);
        }
    }
}

fn shows_thinking(view: &HostView) -> bool {
    let entries = |chat: &Chat| chat.transcript.iter().chain(chat.tabs.iter().flat_map(|tab| &tab.entries)).any(thinks);
    view.chats.iter().any(entries)
}

fn thinks(entry: &Entry) -> bool {
    entry.parts.iter().any(|part| matches!(part, Part::Reasoning { .. }))
}

struct Judge<'a> {
    evidence: &'a Evidence,
    history: &'a History,
    chat: &'a Chat,
    thinking: bool,
    at: u64,
}

impl Judge<'_> {
    fn all(&self, found: &mut Found) {
        let mut names = ToolNames::default();
        let expected = Expected::of(self.evidence, self.history, self.chat, self.thinking, &mut names);
        self.users(found);
        self.transcript(&expected, &mut names, found);
        self.errors(&expected, found);
        self.results(&expected, found);
        let forks: Vec<&Tool> =
            self.chat.tools().filter(|tool| tool.id != LIVE_PLAN && !expected.tools.contains(tool.id.as_str())).collect();
        let mut known: Vec<&str> = Vec::new();
        for child in &expected.children {
            if let Some(chip) = self.chip(child, &forks, &expected.children) {
                known.push(&chip.id);
                self.tab(child, chip, &mut names, found);
            }
        }
        self.strays(&known, found);
    }

    /// The tool part that stands for a child. A host that names no task in its chips is read by their number; a chip that names
    /// the task of another fork is that one's alone, since a fork of a run that was killed may have none.
    fn chip<'c>(&'c self, child: &Child<'_>, forks: &[&'c Tool], children: &[Child<'_>]) -> Option<&'c Tool> {
        let Some(number) = child.fork else { return self.chat.tools().find(|tool| tool.id == child.tool) };
        let names = |tool: &Tool, child: &Child<'_>| tool.id.contains(child.tool);
        let nameless = |tool: &&&Tool| !children.iter().any(|other| other.fork.is_some() && names(tool, other));
        forks.iter().find(|tool| names(tool, child)).or_else(|| forks.get(number).filter(nameless)).copied()
    }

    /// User messages that are shown as taken stand in the transcript once, in the order in which they arrived.
    fn users(&self, found: &mut Found) {
        let entries: BTreeMap<&str, &Entry> = self.users_shown().map(|entry| (entry.id.as_str(), entry)).collect();
        for message in self.chat.messages.iter().filter(|message| message.state == MessageState::Delivered) {
            let entry = entries.get(message.id.as_str());
            let text: String = entry.into_iter().flat_map(|entry| &entry.parts).filter_map(words).collect();
            found.judge(ID, self.at, text.trim() == message.text.trim(), || match entry {
                Some(_) => format!("{}: message {} is shown as {text:?}, not as {:?}", self.chat.id, message.id, message.text),
                None => format!("{}: message {} was taken and does not stand in the transcript", self.chat.id, message.id),
            });
        }
        let arrived = self.users_shown().filter_map(|entry| {
            let message = self.evidence.message(&entry.id)?;
            (message.receipts.len() == 1 && !self.evidence.waited_over_an_end(message))
                .then(|| (message.receipts[0].index, entry.id.as_str()))
        });
        let arrived: Vec<_> = arrived.collect();
        for pair in arrived.windows(2) {
            found.judge(ID, self.at, pair[0].0 < pair[1].0, || {
                format!("{}: message {} stands before {}, and arrived after it", self.chat.id, pair[0].1, pair[1].1)
            });
        }
    }

    fn users_shown(&self) -> impl Iterator<Item = &Entry> {
        self.chat.transcript.iter().filter(|entry| entry.role == "user")
    }

    fn transcript(&self, expected: &Expected<'_>, names: &mut ToolNames, found: &mut Found) {
        let mut shown = Stream::default();
        for part in self.chat.transcript.iter().filter(|entry| entry.role == "assistant").flat_map(|entry| &entry.parts) {
            match part {
                Part::Text { text, .. } => shown.text(Kind::Reply, text),
                Part::Reasoning { text, .. } => shown.text(Kind::Thinking, text),
                Part::Tool(tool) if tool.id == LIVE_PLAN => {}
                Part::Tool(tool) if expected.tools.contains(tool.id.as_str()) || !is_chip(tool) => shown.tool(names, &tool.id),
                Part::Tool(_) => shown.tool(names, FORK),
                _ => {}
            }
        }
        if expected.said.allowed.is_empty() && shown.is_empty() {
            return;
        }
        let fault = expected.said.fault(&shown, names);
        found.judge(ID, self.at, fault.is_none(), || format!("{}: {}", self.chat.id, fault.unwrap_or_default()));
    }

    /// Errors that the provider told as replies are shown as errors.
    fn errors(&self, expected: &Expected<'_>, found: &mut Found) {
        for error in expected.errors.iter().collect::<BTreeSet<_>>() {
            // A second turn may fail in the same words.
            let said = expected.errors.iter().filter(|other| *other == error).count();
            let shown = self.chat.errors().filter(|shown| shown.contains(error.trim())).count();
            found.judge(ID, self.at, shown == said, || {
                format!("{}: the error {error:?} was said {said} times and is shown {shown} times", self.chat.id)
            });
        }
    }

    fn results(&self, expected: &Expected<'_>, found: &mut Found) {
        for tool in self.chat.tools() {
            if let Some(failed) = expected.results.get(tool.id.as_str()) {
                found.judge(ID, self.at, tool.resolved && tool.is_error == *failed, || {
                    format!("{}: the result of {} ({}) is not shown as it was said", self.chat.id, tool.id, tool.name)
                });
            }
        }
    }

    fn tab(&self, child: &Child<'_>, chip: &Tool, names: &mut ToolNames, found: &mut Found) {
        let tab = chip.child.as_deref().and_then(|id| self.chat.tabs.iter().find(|tab| tab.child == id));
        let mut shown = Stream::default();
        for entry in tab.into_iter().flat_map(|tab| &tab.entries) {
            let kind = if entry.role == "user" { Kind::User } else { Kind::Reply };
            for part in &entry.parts {
                match part {
                    Part::Text { text, .. } => shown.text(kind, text),
                    Part::Reasoning { text, .. } => shown.text(Kind::Thinking, text),
                    Part::Tool(tool) => shown.tool(names, &tool.id),
                    _ => {}
                }
            }
        }
        if child.said.allowed.is_empty() && shown.is_empty() {
            return;
        }
        let fault = child.said.fault(&shown, names);
        found.judge(ID, self.at, fault.is_none(), || {
            let place = tab.map_or("no tab", |tab| tab.title.as_str());
            format!("{}: {} ({place}): {}", self.chat.id, chip.name, fault.unwrap_or_default())
        });
        for tool in tab.into_iter().flat_map(tools) {
            if let Some(failed) = child.results.get(tool.id.as_str()) {
                found.judge(ID, self.at, tool.resolved && tool.is_error == *failed, || {
                    format!(
                        "{}: the result of {} ({}) in the tab of {} is not shown",
                        self.chat.id, tool.id, tool.name, chip.name
                    )
                });
            }
        }
    }

    /// No document shows what belongs to no child of this chat: the agents of a fork, the forks that a skill call starts.
    fn strays(&self, known: &[&str], found: &mut Found) {
        for tab in self.chat.tabs.iter().filter(|tab| !tab.entries.is_empty()) {
            let chip = self.chat.tools().find(|tool| tool.child.as_deref() == Some(&tab.child));
            let holds = chip.is_some_and(|chip| known.contains(&chip.id.as_str()));
            found.judge(ID, self.at, holds, || match chip {
                Some(chip) => format!("{}: {} ({}) is no child of this chat, and has a tab", self.chat.id, chip.name, chip.id),
                None => format!("{}: the tab {} belongs to nothing in the transcript", self.chat.id, tab.child),
            });
            let ended = chip.and_then(|chip| chip.child_state).is_some_and(|state| state != crate::view::ChildState::Running);
            let written = tab.entries.iter().any(|entry| entry.state == EntryState::Streaming);
            found.judge(ID, self.at, !(ended && written), || {
                format!("{}: the tab {} is still being written", self.chat.id, tab.title)
            });
        }
    }
}

fn is_chip(tool: &Tool) -> bool {
    tool.child.is_some() || tool.child_state.is_some() || tool.name == "Agent" || tool.name.starts_with("Agent: ")
}

fn words(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    }
}

fn tools(tab: &Tab) -> impl Iterator<Item = &Tool> {
    tab.entries.iter().flat_map(|entry| &entry.parts).filter_map(|part| match part {
        Part::Tool(tool) => Some(tool),
        _ => None,
    })
}
