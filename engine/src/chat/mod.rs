//! Chat documents: one Loro document per chat and one per subagent, and nothing else is a Loro document.
//!
//! [`ChatDoc`] is the writing side and belongs to the host; [`read`] is the side of every viewer and knows nothing but the
//! [`layout`]. Both are pure: equal calls give equal bytes.

mod chips;
mod doc;
mod entry;
mod error;
mod fold;
mod index;
pub mod layout;
pub mod read;
mod segment;
mod text;
mod value;
pub mod view;

pub use chips::ChipState;
pub use doc::ChatDoc;
pub use error::DocError;
pub use layout::{ENTRY_INLINE_LIMIT, SubagentStatus, TEXT_PIECE_LIMIT};

#[cfg(test)]
mod tests;
