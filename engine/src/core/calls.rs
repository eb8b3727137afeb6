//! Calls: the engine's own surface, and what its MCP server is asked. Each is answered once, behind the commit of what it did.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Core, effect::Effect, hub::Hub, input::Message};
use crate::{
    delegation::{
        Answer, Asked, Call, CallError, Origin,
        mcp::{self, Frame},
        prefs::SUBAGENTS_OFF,
        tools::{self, Tool},
    },
    session::Chat,
};

/// Calls of agents that wait for the end of a turn.
#[derive(Default)]
pub(super) struct Waits {
    /// In order of their arrival.
    pub(super) waiting: Vec<Wait>,
    /// Ends of turns that an agent's chat had seen of another one when it last sent to it, by both.
    pub(super) seen: BTreeMap<(String, String), u64>,
}

/// One call that waits.
pub(super) struct Wait {
    pub(super) call: u64,
    /// Id of the JSON-RPC frame.
    pub(super) frame: Value,
    pub(super) chat: String,
    /// It is answered when the chat has settled more often than this, and rests.
    pub(super) after: u64,
}

impl Hub {
    /// Answers a call.
    pub(super) fn answer(&mut self, id: u64, outcome: Result<Value, CallError>) {
        self.effect(Effect::Answer(Answer { id, outcome }));
    }
}

impl Core {
    pub(super) fn call(&mut self, call: Call) {
        match call.asked {
            Asked::Rpc { method, params } => {
                let outcome = self.rpc(&method, &params);
                self.hub.answer(call.id, outcome);
            }
            Asked::Mcp { origin, frame } => self.mcp(call.id, &origin, &frame),
        }
    }

    fn rpc(&mut self, method: &str, params: &Value) -> Result<Value, CallError> {
        match method {
            "GetNativeSubagents" => Ok(self.hub.prefs.native_subagents()),
            "SetNativeSubagents" => {
                let harness = tools::text(params, "harness")?;
                let on = params["on"].as_bool().ok_or_else(|| CallError::bad_parameters("`on` is true or false."))?;
                self.hub.prefs.set_native_subagents(&harness, on)?;
                self.hub.keep_preference(SUBAGENTS_OFF);
                Ok(self.hub.prefs.native_subagents())
            }
            "PromoteChat" => {
                let chat = tools::text(params, "chat")?;
                let chat = self.chats.get_mut(&chat).ok_or_else(|| no_chat(&chat))?;
                chat.promote(&mut self.hub);
                Ok(json!({}))
            }
            "QueueMessage" | "AttachmentReady" | "EditQueued" | "RemoveQueued" | "ReorderQueue" | "SteerQueuedNow"
            | "SendQueuedNow" => self.queue_call(method, params),
            other => Err(CallError::unknown_method(other)),
        }
    }

    /// What the user does with the queue of a chat.
    fn queue_call(&mut self, method: &str, params: &Value) -> Result<Value, CallError> {
        let id = tools::text(params, "chat")?;
        let names = |key: &str| {
            let list = params[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned)
        };
        let message = if method == "ReorderQueue" { String::new() } else { tools::text(params, "message")? };
        let chat = self.chats.get_mut(&id).ok_or_else(|| no_chat(&id))?;
        let hub = &mut self.hub;
        let outcome = match method {
            "QueueMessage" => {
                let text = tools::text(params, "text")?;
                chat.enqueue_with(hub, Message { chat: id, id: message, text }, names("attachments").collect());
                Ok(json!({}))
            }
            "AttachmentReady" => chat.attached(hub, &message, &tools::text(params, "attachment")?),
            "EditQueued" => chat.edit_queued(hub, &message, params["text"].as_str().unwrap_or_default()),
            "RemoveQueued" => chat.remove_queued(hub, &message),
            "ReorderQueue" => chat.reorder_queue(hub, &names("messages").collect::<Vec<_>>()),
            "SteerQueuedNow" => chat.steer_queued(hub, &message),
            _ => chat.send_queued(hub, &message),
        };
        chat.keep_queue(hub);
        outcome
    }

    fn mcp(&mut self, call: u64, origin: &Origin, frame: &Value) {
        let id = &frame["id"];
        let answer = match Frame::read(frame) {
            Frame::Notification => return,
            Frame::Initialize { protocol } => {
                let parent = self.chats.get(&origin.chat).map(Chat::parent);
                mcp::response(id, mcp::initialized(protocol, parent, origin.side_chats_only))
            }
            Frame::Ping => mcp::response(id, json!({})),
            Frame::ListTools => mcp::response(id, json!({"tools": tools::list()})),
            Frame::Unknown(method) => mcp::error(id, &CallError::unknown_method(&method)),
            Frame::CallTool { name, arguments } => {
                let outcome = match Tool::read(&name, &arguments) {
                    Ok(Tool::WaitForTurn { chat }) => match self.wait_for_turn(call, origin, id, &chat) {
                        // It is answered at the edge.
                        Ok(()) => return,
                        Err(error) => Err(error),
                    },
                    Ok(tool) => self.tool(origin, tool),
                    Err(error) => Err(error),
                };
                mcp::tool_response(id, outcome)
            }
        };
        self.hub.answer(call, Ok(answer));
    }
}

pub(super) fn no_chat(chat: &str) -> CallError {
    CallError::refused(format!("There is no chat {chat}."))
}
