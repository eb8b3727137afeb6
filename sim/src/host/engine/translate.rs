//! Between the stage's words and the engine's: settings and actions in, changes out.

use engine::{
    core::input::{ChatSpec, Control, Input, Message, Parent, Pipe as EnginePipe, ResumePolicy, Sandbox},
    delegation::{Answer, Asked, Call, Origin, launch},
    feed,
};
use serde_json::{Value, json};

use crate::{
    history::UserAction,
    host::{ChatSetup, Feed, HostCall, Pipe},
    view::{MessageState, Status},
};

pub(super) fn pipe(pipe: Pipe) -> EnginePipe {
    match pipe {
        Pipe::Stdout => EnginePipe::Stdout,
        Pipe::Stderr => EnginePipe::Stderr,
    }
}

pub(super) fn spec(setup: ChatSetup) -> ChatSpec {
    ChatSpec {
        chat: setup.chat,
        cwd: setup.cwd,
        model: setup.model,
        effort: None,
        sandbox: if setup.bypass_permissions { Sandbox::DangerFullAccess } else { Sandbox::WorkspaceWrite },
        auto_approve: setup.bypass_permissions,
        resume: setup.resume,
        resume_policy: if setup.require_session { ResumePolicy::RequireExisting } else { ResumePolicy::AllowFresh },
        parent: setup.parent.map_or(Parent::None, Parent::Chat),
        ..ChatSpec::default()
    }
}

pub(super) fn user(action: UserAction) -> Input {
    match action {
        UserAction::Send { chat, message, text } => Input::Message(Message { chat, id: message, text }),
        UserAction::Queue { chat, message, text } => Input::Queue(Message { chat, id: message, text }),
        UserAction::Stop { chat } => Input::Control(Control::Stop { chat }),
        UserAction::StopTurn { chat } => Input::Control(Control::StopTurn { chat }),
        UserAction::SendNow { chat, message, text } => {
            Input::Control(Control::SendNow { message: Message { chat, id: message, text } })
        }
        UserAction::Withdraw { chat, message } => Input::Control(Control::Withdraw { chat, message_id: message }),
        // Nobody waits for this answer: its number is none that a scenario gives.
        UserAction::Edit { chat, message, text } => Input::Call(Call {
            id: u64::MAX,
            asked: Asked::Rpc {
                method: "EditQueued".to_owned(),
                params: json!({"chat": chat, "message": message, "text": text}),
            },
        }),
        UserAction::Answer { chat, answers } => Input::Control(Control::Answer { chat, request_id: None, answers }),
        UserAction::Close { chat } => Input::Control(Control::Close { chat }),
    }
}

pub(super) fn call(id: u64, call: HostCall) -> Input {
    let asked = match call {
        HostCall::Rpc { method, params } => Asked::Rpc { method, params },
        HostCall::Mcp { chat, env, method, params } => Asked::Mcp {
            // What the server process reads from its environment when it starts.
            origin: Origin {
                chat: env.get(launch::CHAT_ID).cloned().unwrap_or(chat),
                device: env.get(launch::DEVICE_ID).cloned().unwrap_or_default(),
                side_chats_only: env.get(launch::SIDE_CHATS_ONLY).is_some_and(|flag| flag == "1"),
            },
            frame: json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
        },
    };
    Input::Call(Call { id, asked })
}

/// What a caller reads in an answer: of an MCP frame what the tool or method gave.
pub(super) fn outcome(answer: &Answer) -> Result<Value, String> {
    let value = answer.outcome.clone().map_err(|error| error.message)?;
    if value["jsonrpc"].is_null() {
        return Ok(value);
    }
    let result = &value["result"];
    if let Some(message) = value["error"]["message"].as_str() {
        Err(message.to_owned())
    } else if result["isError"] == true {
        Err(result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    } else if result["structuredContent"].is_null() {
        Ok(result.clone())
    } else {
        Ok(result["structuredContent"].clone())
    }
}

pub(super) fn change(change: &feed::Change) -> Option<Feed> {
    let row = match change {
        feed::Change::Doc(update) => {
            return Some(Feed::Doc { doc: update.doc_id.clone(), chat: update.chat_id.clone(), bytes: update.bytes.clone() });
        }
        feed::Change::Row(row) => row,
    };
    Some(match row {
        feed::Row::Chat(row) => Feed::Chat {
            chat: row.chat_id.clone(),
            parent: match &row.parent {
                Parent::Chat(parent) => Some(parent.clone()),
                Parent::None | Parent::Unknown => None,
            },
            session: row.harness_session_id.clone(),
            last_message_at: row.last_message_at,
        },
        feed::Row::Session(row) => Feed::Session {
            chat: row.chat_id.clone(),
            status: match row.status {
                feed::Status::Idle => Status::Idle,
                feed::Status::Working => Status::Working,
                feed::Status::AwaitingInput => Status::AwaitingInput,
                feed::Status::Errored => Status::Failed,
            },
            pill: row.running_subagents,
            completed_turns: row.last_completed_turn,
        },
        feed::Row::Message(row) => Feed::Message {
            chat: row.chat_id.clone(),
            message: row.message_id.clone(),
            text: row.text.clone(),
            state: match row.state {
                feed::MessageState::Queued => MessageState::Queued,
                feed::MessageState::Sent => MessageState::Sent,
                feed::MessageState::Delivered => MessageState::Delivered,
                feed::MessageState::NotDelivered => MessageState::NotDelivered,
                feed::MessageState::Withdrawn => MessageState::Withdrawn,
            },
        },
        feed::Row::Input(row) => Feed::Input {
            chat: row.chat_id.clone(),
            request: row.request_id.clone(),
            provider_request: row.provider_request_id.clone(),
            open: row.open,
        },
        // A word about the device is none about a chat.
        feed::Row::Notice(_) | feed::Row::Command(_) => return None,
        feed::Row::Queue(row) => Feed::Queue { chat: row.chat_id.clone(), paused: row.paused, messages: row.messages.clone() },
        feed::Row::Journal(row) => {
            Feed::Journal { chat: row.chat_id.clone(), seq: row.seq, event: serde_json::to_value(&row.event).ok()? }
        }
    })
}
