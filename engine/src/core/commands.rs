//! The command ledger: what devices want of the chats of this host, each executed at most once.
//!
//! A command is marked as processed, durably, before it runs (L1): a crash may swallow it, and a retry under a new command id with
//! the same message id then reissues it, but nothing runs twice.

use std::collections::{BTreeSet, VecDeque};

use super::{
    Core,
    effect::Effect,
    input::{Command, CommandKind, Message},
};
use crate::feed::{CommandRow, CommandStatus};

/// Commands of this host.
#[derive(Default)]
pub(super) struct Ledger {
    /// Ids of all that were ever processed.
    pub(super) known: BTreeSet<String>,
    /// Marked in the transaction whose outcome is awaited.
    marked: VecDeque<Command>,
}

impl Core {
    /// Marks commands as processed; they run when that is durable. One that was processed before is skipped.
    pub(super) fn take_commands(&mut self, commands: Vec<Command>) {
        for command in commands {
            if self.commands.known.insert(command.id.clone()) {
                self.hub.require_commit();
                self.hub.command(row(&command, CommandStatus::Pending, None));
                self.commands.marked.push_back(command);
            }
        }
    }

    /// Runs what is marked durably, in order.
    pub(super) fn execute_commands(&mut self) -> Vec<Effect> {
        if self.commands.marked.is_empty() {
            return Vec::new();
        }
        while let Some(command) = self.commands.marked.pop_front() {
            let resolution = self.execute(&command);
            self.hub.command(row(&command, CommandStatus::Applied, resolution));
        }
        self.look_at_waits();
        self.hub.finish()
    }

    /// Does what a command says; a text where what was done is not what it says.
    fn execute(&mut self, command: &Command) -> Option<String> {
        let chat = &command.chat;
        self.claim(chat.clone(), command.cwd.clone());
        match &command.what {
            CommandKind::Run { message, text } => {
                self.send_issued(command, message, text);
                None
            }
            CommandKind::Steer { message, text } => {
                let idle = self.chats.get(chat).is_none_or(|chat| !chat.has_turn());
                self.send_issued(command, message, text);
                idle.then(|| "No turn was running: it was run as a new one.".to_owned())
            }
            CommandKind::Interrupt => {
                self.known(chat, |hub, chat| chat.stop(hub));
                None
            }
            CommandKind::RespondInput { request, answers } => {
                if self.chats.get(chat).is_some_and(|chat| chat.asks(request)) {
                    self.known(chat, |hub, chat| chat.answer(hub, Some(request), answers));
                    return None;
                }
                // The command's id is the message's: said again it is the same one.
                self.send_issued(command, &command.id, &answers.join("\n"));
                Some("The question was gone: the answer was sent as a message.".to_owned())
            }
        }
    }

    fn send_issued(&mut self, command: &Command, id: &str, text: &str) {
        let message = Message { chat: command.chat.clone(), id: id.to_owned(), text: text.to_owned() };
        let issued_at = command.issued_at;
        self.known(&command.chat, |hub, chat| {
            chat.issued_at(id, issued_at);
            chat.send(hub, message);
        });
    }
}

fn row(command: &Command, status: CommandStatus, resolution: Option<String>) -> CommandRow {
    CommandRow { command_id: command.id.clone(), chat_id: command.chat.clone(), status, resolution }
}
