//! Why a stored document could not be loaded.

/// A stored document that cannot be loaded. The caller decides whether the chat is shown without it.
#[derive(Debug, thiserror::Error)]
pub enum DocError {
    /// Bytes that Loro refuses.
    #[error("failed to load document {doc_id}: {what} is damaged ({source}); it is made again from the journal")]
    Damaged {
        /// Document id.
        doc_id: String,
        /// `the snapshot` or `update 3`.
        what: String,
        /// What Loro says.
        source: loro::LoroError,
    },
    /// An update before these is missing.
    #[error("failed to load document {doc_id}: {what} needs changes that are not stored; an earlier update is missing")]
    Gap {
        /// Document id.
        doc_id: String,
        /// `the snapshot` or `update 3`.
        what: String,
    },
    /// The document belongs to another chat.
    #[error("failed to load document {doc_id}: it belongs to chat {found}, expected chat {expected}")]
    OtherChat {
        /// Document id.
        doc_id: String,
        /// Chat id in the document.
        found: String,
        /// Chat id asked for.
        expected: String,
    },
}
