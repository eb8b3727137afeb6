//! What agents do with chats through the MCP server. Delegation is one level deep: a side chat creates none.

use serde_json::{Value, json};

use super::{
    Core,
    calls::{Wait, no_chat},
    input::{ChatSpec, Message, Parent},
};
use crate::{
    delegation::{
        CallError, Origin, mcp,
        tools::{NewChat, NewMessage, SendMode, Tool},
    },
    feed::Status,
    session::Chat,
};

impl Core {
    pub(super) fn tool(&mut self, origin: &Origin, tool: Tool) -> Result<Value, CallError> {
        match tool {
            Tool::WhoAmI => {
                let chat = self.chats.get(&origin.chat).ok_or_else(|| no_chat(&origin.chat))?;
                let mut answer = json!({
                    "chat_id": origin.chat,
                    "device_id": origin.device,
                    "side_chat": false,
                    "side_chats_only": origin.side_chats_only,
                    "cwd": chat.spec().cwd,
                });
                if let Parent::Chat(parent) = chat.parent() {
                    answer["side_chat"] = true.into();
                    answer["parent"] = parent.clone().into();
                }
                Ok(answer)
            }
            Tool::CreateChats(chats) => self.create_chats(origin, chats),
            Tool::SendMessages(messages) => self.send_messages(origin, messages),
            Tool::ReadChat { chat, entries } => {
                self.chats.get(&chat).map(|chat| chat.read(entries)).ok_or_else(|| no_chat(&chat))
            }
            Tool::ArchiveChat { chat } => self.archive_chat(origin, &chat),
            Tool::WaitForTurn { .. } => Ok(Value::Null),
        }
    }

    fn create_chats(&mut self, origin: &Origin, chats: Vec<NewChat>) -> Result<Value, CallError> {
        let caller = self.chats.get(&origin.chat).ok_or_else(|| no_chat(&origin.chat))?;
        match caller.parent() {
            Parent::None => {}
            Parent::Chat(_) => return Err(CallError::refused("A side chat may not create chats.")),
            // It may turn out to be a side chat.
            Parent::Unknown => return Err(CallError::refused("This chat may be a side chat, which may not create chats.")),
        }
        let caller = caller.spec().clone();
        let mut created = Vec::new();
        for NewChat { title, prompt, model, cwd } in chats {
            let spec = ChatSpec {
                chat: self.hub.ids.uuid(),
                parent: Parent::Chat(origin.chat.clone()),
                model: model.or_else(|| caller.model.clone()),
                cwd: cwd.unwrap_or_else(|| caller.cwd.clone()),
                // A side chat has a session of its own.
                resume: None,
                resume_policy: super::input::ResumePolicy::AllowFresh,
                ..caller.clone()
            };
            let id = spec.chat.clone();
            self.create(spec);
            self.known(&id, |hub, chat| chat.name(hub, title));
            let message = self.send_as_agent(origin, NewMessage { chat: id.clone(), text: prompt, mode: SendMode::Auto })?;
            created.push(json!({"chat_id": id, "message_id": message}));
        }
        Ok(json!({"chats": created}))
    }

    /// All of them, or none when one cannot be sent.
    fn send_messages(&mut self, origin: &Origin, messages: Vec<NewMessage>) -> Result<Value, CallError> {
        if let Some(missing) = messages.iter().find(|message| !self.chats.contains_key(&message.chat)) {
            return Err(no_chat(&missing.chat));
        }
        let mut sent = Vec::new();
        for message in messages {
            let chat = message.chat.clone();
            let id = self.send_as_agent(origin, message)?;
            sent.push(json!({"chat_id": chat, "message_id": id}));
        }
        Ok(json!({"messages": sent}))
    }

    fn send_as_agent(&mut self, origin: &Origin, message: NewMessage) -> Result<String, CallError> {
        let NewMessage { chat, text, mode } = message;
        // Seen before it is sent: a turn that ends before the agent waits for it is an end that it has not seen.
        let seen = self.hub.settles(&chat);
        self.waits.seen.insert((origin.chat.clone(), chat.clone()), seen);
        let id = self.hub.ids.uuid();
        let message = Message { chat: chat.clone(), id: id.clone(), text };
        self.known(&chat, |hub, chat| match mode {
            SendMode::Auto => chat.send(hub, message),
            SendMode::Queue => chat.enqueue(hub, message),
        });
        Ok(id)
    }

    fn archive_chat(&mut self, origin: &Origin, id: &str) -> Result<Value, CallError> {
        let chat = self.chats.get(id).ok_or_else(|| no_chat(id))?;
        if *chat.parent() != Parent::Chat(origin.chat.clone()) {
            return Err(CallError::refused("Only a side chat of this chat can be archived."));
        }
        self.known(id, |hub, chat| {
            chat.stop(hub);
            chat.archive(hub);
        });
        Ok(json!({"chat_id": id, "archived": true}))
    }

    /// Waits for the end of the turn that the caller's last message began. An end that came between the two is not missed, and
    /// a turn that has not begun is not over. A caller that sent nothing waits for the turn that runs.
    pub(super) fn wait_for_turn(&mut self, call: u64, origin: &Origin, frame: &Value, chat: &str) -> Result<(), CallError> {
        if !self.chats.contains_key(chat) {
            return Err(no_chat(chat));
        }
        let settles = self.hub.settles(chat);
        let after = match self.waits.seen.get(&(origin.chat.clone(), chat.to_owned())) {
            Some(seen) => *seen,
            None if self.rests(chat) => return Err(CallError::refused("No turn of that chat runs, and you sent it nothing.")),
            None => settles,
        };
        self.waits.waiting.push(Wait { call, frame: frame.clone(), chat: chat.to_owned(), after });
        Ok(())
    }

    fn rests(&self, chat: &str) -> bool {
        self.chats.get(chat).is_none_or(|chat| matches!(chat.status_shown(), Status::Idle | Status::Errored))
    }

    /// Answers whoever waits for an edge that has come. Called at the end of every step.
    pub(super) fn look_at_waits(&mut self) {
        let waiting = std::mem::take(&mut self.waits.waiting);
        for wait in waiting {
            let over = self.hub.settles(&wait.chat) > wait.after && self.rests(&wait.chat);
            if !over {
                self.waits.waiting.push(wait);
                continue;
            }
            let status = self.chats.get(&wait.chat).map(Chat::status_shown);
            let answer = mcp::tool_response(&wait.frame, Ok(json!({"chat_id": wait.chat, "status": status})));
            self.hub.answer(wait.call, Ok(answer));
        }
    }
}
