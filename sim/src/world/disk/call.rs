//! Calls of SQLite to the disk: what they are, what may happen to them, and what is decided about them beforehand.

use std::{collections::BTreeMap, fmt, sync::Arc};

use rusqlite::ffi;
use serde::{Deserialize, Serialize};

/// What SQLite asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Opens a file, and makes it where that was asked for.
    Open,
    /// Closes a file.
    Close,
    /// Reads `length` bytes at `offset`.
    Read,
    /// Writes `length` bytes at `offset`.
    Write,
    /// Cuts the file to `length` bytes.
    Truncate,
    /// Makes the bytes of a file durable.
    Sync,
    /// Makes the names of the file's directory durable; follows a sync or a delete that asks for it.
    SyncDirectory,
    /// Asks for the length of a file.
    FileSize,
    /// Takes the lock of level `length` (1 shared, 2 reserved, 3 pending, 4 exclusive).
    Lock,
    /// Goes back to the lock of level `length` (0 none, 1 shared).
    Unlock,
    /// Asks whether somebody is about to write.
    CheckReserved,
    /// Removes a name.
    Delete,
    /// Asks whether a name is there.
    Access,
}

impl Kind {
    /// True for the calls that make something durable: those that [`super::Disk::syncs`] counts.
    pub fn is_sync(self) -> bool {
        matches!(self, Kind::Sync | Kind::SyncDirectory)
    }

    /// SQLite's code for an I/O error of this kind of call.
    pub(super) fn io_error(self) -> i32 {
        match self {
            Kind::Open => ffi::SQLITE_CANTOPEN,
            Kind::Close => ffi::SQLITE_IOERR_CLOSE,
            Kind::Read => ffi::SQLITE_IOERR_READ,
            Kind::Write => ffi::SQLITE_IOERR_WRITE,
            Kind::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Kind::Sync => ffi::SQLITE_IOERR_FSYNC,
            Kind::SyncDirectory => ffi::SQLITE_IOERR_DIR_FSYNC,
            Kind::FileSize => ffi::SQLITE_IOERR_FSTAT,
            Kind::Lock => ffi::SQLITE_IOERR_LOCK,
            Kind::Unlock => ffi::SQLITE_IOERR_UNLOCK,
            Kind::CheckReserved => ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
            Kind::Delete => ffi::SQLITE_IOERR_DELETE,
            Kind::Access => ffi::SQLITE_IOERR_ACCESS,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Close => "close",
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Truncate => "truncate",
            Kind::Sync => "sync",
            Kind::SyncDirectory => "sync-directory",
            Kind::FileSize => "file-size",
            Kind::Lock => "lock",
            Kind::Unlock => "unlock",
            Kind::CheckReserved => "check-reserved",
            Kind::Delete => "delete",
            Kind::Access => "access",
        }
    }
}

/// What comes of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The disk does what a healthy one does (a file that is not there is then still not there).
    #[default]
    Done,
    /// The call fails and changes nothing.
    IoError,
    /// No room: the call fails and changes nothing. Only for writes and for a sync, where file systems that allocate late
    /// report it.
    Full,
    /// Somebody else holds the file: the call fails and changes nothing. For locks, and for writes and syncs, so that a commit
    /// can meet it under a lock that is never given back.
    Busy,
    /// The first half of the bytes is written, then there is no room. Only for writes.
    ShortWrite,
    /// The machine or the process ends before the call is performed: the disk is fenced from here on.
    Kill,
}

impl Outcome {
    /// Whether a call of this kind can end like that. An outcome armed for a call that cannot have it is passed over.
    pub fn can_happen_to(self, kind: Kind) -> bool {
        match self {
            Outcome::Done | Outcome::Kill => true,
            // What closing and unlocking report is read by nobody.
            Outcome::IoError => !matches!(kind, Kind::Close | Kind::Unlock),
            Outcome::Full => matches!(kind, Kind::Write | Kind::Sync),
            Outcome::Busy => matches!(kind, Kind::Lock | Kind::Write | Kind::Sync),
            Outcome::ShortWrite => kind == Kind::Write,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::IoError => "IOERR",
            Outcome::Full => "FULL",
            Outcome::Busy => "BUSY",
            Outcome::ShortWrite => "short write",
            Outcome::Kill => "killed",
        }
    }
}

/// One call as it went into the trace. Calls after the fence are none: whoever made them is dead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Number in the life of the disk, from 1.
    pub number: u64,
    /// What was asked for.
    pub kind: Kind,
    /// Path of the file, as SQLite named it; empty for a file without a name.
    pub file: Arc<str>,
    /// Where, in bytes; 0 where that says nothing.
    pub offset: u64,
    /// How much, as the kind says; 0 where that says nothing.
    pub length: u64,
    /// What came of it.
    pub outcome: Outcome,
}

impl fmt::Display for Call {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { number, kind, file, offset, length, outcome } = self;
        write!(page, "{number} {} {file} {offset}+{length} {}", kind.word(), outcome.word())
    }
}

/// What is decided about calls that are still to come.
#[derive(Clone, Default)]
pub(super) struct Decisions {
    calls: BTreeMap<u64, Outcome>,
    syncs: BTreeMap<u64, Outcome>,
    from: BTreeMap<u64, Outcome>,
}

impl Decisions {
    pub(super) fn call(&mut self, number: u64, outcome: Outcome) {
        self.calls.insert(number, outcome);
    }

    pub(super) fn sync(&mut self, number: u64, outcome: Outcome) {
        self.syncs.insert(number, outcome);
    }

    pub(super) fn from(&mut self, number: u64, outcome: Outcome) {
        self.from.insert(number, outcome);
    }

    pub(super) fn heal(&mut self) {
        self.from.clear();
    }

    /// The outcome of call `number`, which is sync `sync` if it is one: the narrower decision first.
    pub(super) fn outcome(&self, kind: Kind, number: u64, sync: u64) -> Outcome {
        let for_call = self.calls.get(&number);
        let for_sync = self.syncs.get(&sync).filter(|_| kind.is_sync());
        let lasting = self.from.range(..=number).next_back().map(|(_, outcome)| outcome);
        let mut decided = [for_call, for_sync, lasting].into_iter().flatten();
        decided.find(|outcome| outcome.can_happen_to(kind)).copied().unwrap_or_default()
    }
}
