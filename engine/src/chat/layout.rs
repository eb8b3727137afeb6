//! The fixed layout of a chat document. A viewer decodes a document with this page alone.
//!
//! ```text
//! meta      root map
//!   chatId              string
//!   contextUsage        {tokens?: i64, window?: i64}            the last known of each
//!   tokenUsage          {inputTokens: i64, outputTokens: i64}   of the last turn that told them
//!   forkHistorySession  string?                                 provider session that was given the text history of a fork
//! messages  root list of maps, one per entry; entries are appended and never moved or removed
//!   id, role, status    string; role: user | assistant | system; status: streaming | complete | aborted
//!   createdAt           i64, wall clock ms
//!   deviceId            string
//!   continuationOf      string?   id of the root entry; the entry's own id is then `<root>#c<n>`, n = 1, 2, …
//!   durationMs          i64?      on the root entry only
//!   nativeForkPoint     string?   JSON text, on the root entry only
//!   parts               list of maps, one per part
//! ```
//!
//! Every part has `kind`; the rest depends on it.
//!
//! | kind | keys |
//! |---|---|
//! | `text`, `reasoning` | `id` string, `t<n>`, unique within the logical entry; `part`? string, the provider's part key; `text` a Loro **text container**; `continues`? string: this is a later piece of the part with that id, its own id is `<id>~<n>` |
//! | `tool` | `id` string, `call` plain value (the sanitised call, `{"kind": "exec", …}`), `resolved` bool, `isError` bool, `outputBytes`? i64, `diffStats`? `{added, removed}`, `subagentRef`? string (document id), `subagentStatus`? `running` \| `done` \| `failed` |
//! | `input` | `requestId` string, `questions` plain list of maps, `resolved` bool |
//! | `error` | `message` string |
//! | `image` | `id`, `path`, `name`, `mimeType` strings |
//! | `fork` | `sourceChatId`, `sourceTitle` strings |
//!
//! A reader joins what was split: the parts of `<root>#c1`, `#c2`, … follow those of the root in this order, wherever the
//! continuations stand in the list; the texts of `<id>~1`, `~2`, … follow that of the part `<id>` of the same logical entry,
//! wherever the pieces stand. Role, status, time, duration and point of the logical entry are those of its root. What a reader
//! cannot make sense of, an entry or a part, it skips.

use serde::{Deserialize, Serialize};

/// Bytes of content that one entry holds; what comes after goes on in the next continuation. UTF-8 bytes of texts count, and
/// the JSON text of calls and questions. A single tool call may be larger: a part other than text is never cut.
pub const ENTRY_INLINE_LIMIT: usize = 256 * 1024;

/// UTF-8 bytes of text that one text or reasoning part holds; what comes after goes on in the next piece.
pub const TEXT_PIECE_LIMIT: usize = 32 * 1024;

/// Levels of nesting of a stored call or question; what lies deeper is stored as its JSON text. Loro refuses more than 128.
pub const VALUE_DEPTH_LIMIT: usize = 64;

/// Root map.
pub const META: &str = "meta";
/// Root list.
pub const MESSAGES: &str = "messages";

/// Keys of the root map.
pub mod meta {
    #![allow(missing_docs, reason = "the page above says what each key holds")]
    pub const CHAT_ID: &str = "chatId";
    pub const CONTEXT_USAGE: &str = "contextUsage";
    pub const TOKEN_USAGE: &str = "tokenUsage";
    pub const FORK_HISTORY_SESSION: &str = "forkHistorySession";
    pub const TOKENS: &str = "tokens";
    pub const WINDOW: &str = "window";
    pub const INPUT_TOKENS: &str = "inputTokens";
    pub const OUTPUT_TOKENS: &str = "outputTokens";
}

/// Keys of an entry.
pub mod entry {
    #![allow(missing_docs, reason = "the page above says what each key holds")]
    pub const ID: &str = "id";
    pub const ROLE: &str = "role";
    pub const STATUS: &str = "status";
    pub const CREATED_AT: &str = "createdAt";
    pub const DEVICE_ID: &str = "deviceId";
    pub const CONTINUATION_OF: &str = "continuationOf";
    pub const DURATION_MS: &str = "durationMs";
    pub const NATIVE_FORK_POINT: &str = "nativeForkPoint";
    pub const PARTS: &str = "parts";
}

/// Keys and kinds of a part.
pub mod part {
    #![allow(missing_docs, reason = "the page above says what each key holds")]
    pub const KIND: &str = "kind";
    pub const KIND_TEXT: &str = "text";
    pub const KIND_REASONING: &str = "reasoning";
    pub const KIND_TOOL: &str = "tool";
    pub const KIND_INPUT: &str = "input";
    pub const KIND_ERROR: &str = "error";
    pub const KIND_IMAGE: &str = "image";
    pub const KIND_FORK: &str = "fork";

    pub const ID: &str = "id";
    pub const PART: &str = "part";
    pub const TEXT: &str = "text";
    pub const CONTINUES: &str = "continues";

    pub const CALL: &str = "call";
    pub const RESOLVED: &str = "resolved";
    pub const IS_ERROR: &str = "isError";
    pub const OUTPUT_BYTES: &str = "outputBytes";
    pub const DIFF_STATS: &str = "diffStats";
    pub const ADDED: &str = "added";
    pub const REMOVED: &str = "removed";
    pub const SUBAGENT_REF: &str = "subagentRef";
    pub const SUBAGENT_STATUS: &str = "subagentStatus";

    pub const REQUEST_ID: &str = "requestId";
    pub const QUESTIONS: &str = "questions";
    pub const MESSAGE: &str = "message";
    pub const PATH: &str = "path";
    pub const NAME: &str = "name";
    pub const MIME_TYPE: &str = "mimeType";
    pub const SOURCE_CHAT_ID: &str = "sourceChatId";
    pub const SOURCE_TITLE: &str = "sourceTitle";
}

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The human; in a subagent document the parent or a steering human.
    User,
    /// The model.
    Assistant,
    /// The engine: fork markers.
    System,
}

impl Role {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }

    /// The role of a word, none for a word that is no role.
    pub fn parse(word: &str) -> Option<Role> {
        [Role::User, Role::Assistant, Role::System].into_iter().find(|role| role.as_str() == word)
    }
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryStatus {
    /// Content still comes.
    Streaming,
    /// Ended by the provider, or a user's message.
    Complete,
    /// Cut.
    Aborted,
}

impl EntryStatus {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryStatus::Streaming => "streaming",
            EntryStatus::Complete => "complete",
            EntryStatus::Aborted => "aborted",
        }
    }

    /// The status of a word, none for a word that is no status.
    pub fn parse(word: &str) -> Option<EntryStatus> {
        [EntryStatus::Streaming, EntryStatus::Complete, EntryStatus::Aborted].into_iter().find(|status| status.as_str() == word)
    }
}

/// Where the child of a chip stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubagentStatus {
    /// It works.
    Running,
    /// It ended; also by an interrupt.
    Done,
    /// It failed, or its run ended before it did.
    Failed,
}

impl SubagentStatus {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            SubagentStatus::Running => "running",
            SubagentStatus::Done => "done",
            SubagentStatus::Failed => "failed",
        }
    }

    /// The status of a word, none for a word that is no status.
    pub fn parse(word: &str) -> Option<SubagentStatus> {
        [SubagentStatus::Running, SubagentStatus::Done, SubagentStatus::Failed].into_iter().find(|status| status.as_str() == word)
    }

    /// Whether the child has ended.
    pub fn is_terminal(self) -> bool {
        self != SubagentStatus::Running
    }
}

/// Id of the `n`th continuation of an entry, counted from 1.
pub fn continuation_id(root: &str, n: u32) -> String {
    format!("{root}#c{n}")
}

/// Number of a continuation of `root`, none when `id` is not the id of one.
pub fn continuation_number(root: &str, id: &str) -> Option<u32> {
    id.strip_prefix(root)?.strip_prefix("#c")?.parse().ok()
}

/// Id of the `n`th text part of a logical entry, counted from 0.
pub fn text_id(n: u32) -> String {
    format!("t{n}")
}

/// Number of a text part from its id.
pub fn text_number(id: &str) -> Option<u32> {
    id.strip_prefix('t')?.parse().ok()
}

/// Id of the `n`th later piece of a text part, counted from 1.
pub fn piece_id(root: &str, n: u32) -> String {
    format!("{root}~{n}")
}

/// Number of a later piece of the text part `root`, none when `id` is not the id of one.
pub fn piece_number(root: &str, id: &str) -> Option<u32> {
    id.strip_prefix(root)?.strip_prefix('~')?.parse().ok()
}
