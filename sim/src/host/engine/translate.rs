//! Between the stage's words and the engine's: settings and actions in, changes out.

use engine::{
    core::input::{ChatSpec, Control, Input, Message, Pipe as EnginePipe, ResumePolicy, Sandbox},
    feed,
};

use crate::{
    history::UserAction,
    host::{ChatSetup, Feed, Pipe},
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
        native_subagents_off: setup.native_subagents_off,
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
        UserAction::Answer { chat, answers } => Input::Control(Control::Answer { chat, request_id: None, answers }),
        UserAction::Close { chat } => Input::Control(Control::Close { chat }),
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
            parent: None,
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
        feed::Row::Journal(row) => {
            Feed::Journal { chat: row.chat_id.clone(), seq: row.seq, event: serde_json::to_value(&row.event).ok()? }
        }
    })
}
