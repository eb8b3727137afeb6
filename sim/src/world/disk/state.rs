//! One disk at work: numbers each call, decides it, performs it on the medium, writes it down.

use std::sync::Arc;

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rusqlite::ffi;

use super::{
    call::{Call, Decisions, Kind, Outcome},
    medium::Medium,
};

/// What SQLite gets back: its result code, `SQLITE_OK` when all is well.
pub(super) type Code = i32;

/// An open file, as the connection that has it open knows it.
pub(super) struct Handle {
    pub(super) number: u64,
    pub(super) inode: u64,
    pub(super) path: Arc<str>,
    /// A journal that this opening made or would have made: its first sync has to make its name durable too.
    pub(super) name_owed: bool,
}

/// How a file is to be opened.
#[derive(Clone, Copy)]
pub(super) struct Opening {
    pub(super) create: bool,
    pub(super) must_be_new: bool,
    pub(super) delete_on_close: bool,
    pub(super) is_journal: bool,
}

#[derive(Clone)]
pub(super) struct State {
    pub(super) medium: Medium,
    pub(super) decisions: Decisions,
    pub(super) log: Vec<Call>,
    pub(super) calls: u64,
    pub(super) syncs: u64,
    pub(super) fenced: bool,
    pub(super) wall_ms: u64,
    random: ChaCha8Rng,
    last_handle: u64,
}

impl State {
    pub(super) fn new(medium: Medium, seed: u64) -> Self {
        State {
            medium,
            decisions: Decisions::default(),
            log: Vec::new(),
            calls: 0,
            syncs: 0,
            fenced: false,
            wall_ms: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
            last_handle: 0,
        }
    }

    /// The state the next process begins with: nothing open, and no fence.
    pub(super) fn next_life(&self, medium: Medium) -> Self {
        State { medium, log: Vec::new(), fenced: false, ..self.clone() }
    }

    pub(super) fn fill_random(&mut self, bytes: &mut [u8]) {
        self.random.fill_bytes(bytes);
    }

    /// A seed for SQLite's own generator; never 0, which would mean none.
    pub(super) fn next_seed(&mut self) -> i32 {
        i32::try_from(self.random.next_u32() >> 1).unwrap_or(1).max(1)
    }

    pub(super) fn open(&mut self, path: Option<&str>, how: Opening) -> Result<Handle, Code> {
        let name: Arc<str> = path.unwrap_or_default().into();
        self.call(Kind::Open, &name, 0, 0)?;
        let found = path.and_then(|path| self.medium.find(path));
        let inode = match found {
            Some(_) if how.must_be_new => return Err(ffi::SQLITE_CANTOPEN),
            Some(inode) => inode,
            None if how.create || path.is_none() => self.medium.create(path.is_some().then_some(&name)),
            None => return Err(ffi::SQLITE_CANTOPEN),
        };
        self.medium.open(inode);
        if how.delete_on_close && path.is_some() {
            self.medium.delete(&name);
        }
        self.last_handle += 1;
        // Also where the file was there already: whoever made it may have died before its name was durable.
        let name_owed = how.create && how.is_journal && !how.delete_on_close;
        Ok(Handle { number: self.last_handle, inode, path: name, name_owed })
    }

    pub(super) fn close(&mut self, handle: &Handle) -> Result<(), Code> {
        self.call(Kind::Close, &handle.path, 0, 0)?;
        self.medium.close(handle.inode, handle.number);
        Ok(())
    }

    pub(super) fn read(&mut self, handle: &Handle, into: &mut [u8], offset: u64) -> Result<(), Code> {
        self.call(Kind::Read, &handle.path, offset, into.len() as u64)?;
        let length = self.medium.read(handle.inode, offset, into);
        if length < into.len() {
            // SQLite relies on zeros behind the end of a file.
            into[length..].fill(0);
            return Err(ffi::SQLITE_IOERR_SHORT_READ);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, handle: &Handle, bytes: &[u8], offset: u64) -> Result<(), Code> {
        match self.call(Kind::Write, &handle.path, offset, bytes.len() as u64) {
            Ok(()) => {
                self.medium.write(handle.inode, offset, bytes);
                Ok(())
            }
            Err(code) => {
                if !self.fenced && self.log.last().is_some_and(|call| call.outcome == Outcome::ShortWrite) {
                    self.medium.write(handle.inode, offset, &bytes[..bytes.len() / 2]);
                }
                Err(code)
            }
        }
    }

    pub(super) fn truncate(&mut self, handle: &Handle, length: u64) -> Result<(), Code> {
        self.call(Kind::Truncate, &handle.path, 0, length)?;
        self.medium.truncate(handle.inode, length);
        Ok(())
    }

    pub(super) fn sync(&mut self, handle: &mut Handle) -> Result<(), Code> {
        self.call(Kind::Sync, &handle.path, 0, 0)?;
        self.medium.sync(handle.inode);
        if handle.name_owed {
            self.sync_directory(&handle.path)?;
            handle.name_owed = false;
        }
        Ok(())
    }

    fn sync_directory(&mut self, path: &Arc<str>) -> Result<(), Code> {
        self.call(Kind::SyncDirectory, path, 0, 0)?;
        self.medium.sync_directory(path);
        Ok(())
    }

    pub(super) fn file_size(&mut self, handle: &Handle) -> Result<u64, Code> {
        self.call(Kind::FileSize, &handle.path, 0, 0)?;
        Ok(self.medium.length(handle.inode))
    }

    pub(super) fn lock(&mut self, handle: &Handle, level: i32) -> Result<(), Code> {
        self.call(Kind::Lock, &handle.path, 0, level.unsigned_abs().into())?;
        if self.medium.lock(handle.inode, handle.number, level) {
            return Ok(());
        }
        // Refused by another connection, not by a plan: the trace says what SQLite heard.
        if let Some(call) = self.log.last_mut() {
            call.outcome = Outcome::Busy;
        }
        Err(ffi::SQLITE_BUSY)
    }

    pub(super) fn unlock(&mut self, handle: &Handle, level: i32) -> Result<(), Code> {
        self.call(Kind::Unlock, &handle.path, 0, level.unsigned_abs().into())?;
        self.medium.unlock(handle.inode, handle.number, level);
        Ok(())
    }

    pub(super) fn check_reserved(&mut self, handle: &Handle) -> Result<bool, Code> {
        self.call(Kind::CheckReserved, &handle.path, 0, 0)?;
        Ok(self.medium.reserved(handle.inode))
    }

    pub(super) fn delete(&mut self, path: &str, then_sync: bool) -> Result<(), Code> {
        let path: Arc<str> = path.into();
        self.call(Kind::Delete, &path, 0, 0)?;
        if self.medium.find(&path).is_none() {
            return Err(ffi::SQLITE_IOERR_DELETE_NOENT);
        }
        self.medium.delete(&path);
        if then_sync { self.sync_directory(&path) } else { Ok(()) }
    }

    /// Whether a file is there. As SQLite's own layers have it, an empty file does not count where only existence is asked for.
    pub(super) fn access(&mut self, path: &str, only_existence: bool) -> Result<bool, Code> {
        self.call(Kind::Access, &path.into(), 0, 0)?;
        let found = self.medium.find(path);
        Ok(found.is_some_and(|inode| !only_existence || self.medium.length(inode) > 0))
    }

    /// Numbers a call, decides it and writes it down. `Err`: it is not to be performed.
    fn call(&mut self, kind: Kind, file: &Arc<str>, offset: u64, length: u64) -> Result<(), Code> {
        if self.fenced {
            return Err(kind.io_error());
        }
        self.calls += 1;
        self.syncs += u64::from(kind.is_sync());
        let outcome = self.decisions.outcome(kind, self.calls, self.syncs);
        self.log.push(Call { number: self.calls, kind, file: file.clone(), offset, length, outcome });
        match outcome {
            Outcome::Done => Ok(()),
            Outcome::IoError => Err(kind.io_error()),
            Outcome::Full | Outcome::ShortWrite => Err(ffi::SQLITE_FULL),
            Outcome::Busy => Err(ffi::SQLITE_BUSY),
            Outcome::Kill => {
                self.fenced = true;
                Err(kind.io_error())
            }
        }
    }
}
