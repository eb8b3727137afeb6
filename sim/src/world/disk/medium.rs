//! Bytes and names, pending and durable apart. Everything here is what a file system does with a healthy disk under it; who
//! fails what is decided elsewhere.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rusqlite::ffi;
use serde::{Deserialize, Serialize};

use super::{bytes::Bytes, image::Image};

/// Bytes that a disk writes as one, or tears in the middle. The smaller of the two sizes in use: SQLite then relies on least.
pub const SECTOR_BYTES: u64 = 512;

/// What a power loss leaves of what was not synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerLoss {
    /// The write that was under way is torn: of its sector with this number (counted from 0, modulo the sectors it touches) the
    /// first half is new and the second old; what comes before is new, what comes after is old. Under way is the last write
    /// that stays, or, where none stays, the last one issued.
    pub torn: Option<u64>,
    /// A seed that draws, for each change that was not synced, whether it stays; those that do are applied in the order they
    /// were made. Without it none stays.
    pub keep_unsynced: Option<u64>,
}

#[derive(Clone, Default)]
struct Inode {
    bytes: Bytes,
    durable: Bytes,
    open: u32,
    locks: BTreeMap<u64, i32>,
}

/// One change that no sync has reached.
#[derive(Clone)]
enum Change {
    Write { inode: u64, offset: u64, bytes: Vec<u8> },
    Truncate { inode: u64, length: u64 },
    Name { path: Arc<str>, inode: Option<u64> },
}

impl Change {
    fn inode(&self) -> Option<u64> {
        match self {
            Change::Write { inode, .. } | Change::Truncate { inode, .. } => Some(*inode),
            Change::Name { .. } => None,
        }
    }

    /// The bytes it may have changed.
    fn range(&self) -> Range<usize> {
        match self {
            Change::Write { offset, bytes, .. } => place(*offset)..place(*offset) + bytes.len(),
            Change::Truncate { length, .. } => place(*length)..usize::MAX,
            Change::Name { .. } => 0..0,
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Medium {
    inodes: BTreeMap<u64, Inode>,
    names: BTreeMap<Arc<str>, u64>,
    durable_names: BTreeMap<Arc<str>, u64>,
    unsynced: Vec<Change>,
    last_inode: u64,
}

impl Medium {
    pub(super) fn from_image(image: &Image) -> Self {
        let mut medium = Medium::default();
        for (path, bytes) in &image.files {
            let inode = medium.fresh();
            medium.inodes.insert(inode, Inode { bytes: bytes.clone(), durable: bytes.clone(), ..Inode::default() });
            medium.names.insert(path.clone(), inode);
        }
        medium.durable_names = medium.names.clone();
        medium
    }

    /// What every process of the machine sees: pending bytes included.
    pub(super) fn image(&self) -> Image {
        let bytes = |inode: &u64| self.inodes.get(inode).map(|inode| inode.bytes.clone()).unwrap_or_default();
        Image { files: self.names.iter().map(|(path, inode)| (path.clone(), bytes(inode))).collect() }
    }

    /// What is there when the machine comes up again.
    pub(super) fn after(&self, loss: PowerLoss) -> Image {
        let mut random = loss.keep_unsynced.map(ChaCha8Rng::seed_from_u64);
        let mut kept: Vec<Change> =
            self.unsynced.iter().filter(|_| random.as_mut().is_some_and(|random| random.next_u32() % 2 == 0)).cloned().collect();
        if let Some(sector) = loss.torn {
            let is_write = |change: &&mut Change| matches!(change, Change::Write { .. });
            if let Some(write) = kept.iter_mut().rev().find(is_write) {
                tear(write, sector);
            } else if let Some(mut write) = self.unsynced.last().filter(|change| matches!(change, Change::Write { .. })).cloned()
            {
                tear(&mut write, sector);
                kept.push(write);
            }
        }
        let mut names = self.durable_names.clone();
        let mut contents: BTreeMap<u64, Bytes> =
            self.inodes.iter().map(|(number, inode)| (*number, inode.durable.clone())).collect();
        for change in kept {
            match change {
                Change::Name { path, inode } => rename(&mut names, path, inode),
                change => {
                    if let Some(bytes) = change.inode().and_then(|inode| contents.get_mut(&inode)) {
                        apply(bytes, &change);
                    }
                }
            }
        }
        let bytes = |inode: u64| contents.get(&inode).cloned().unwrap_or_default();
        Image { files: names.into_iter().map(|(path, inode)| (path, bytes(inode))).collect() }
    }

    /// The medium as the next process finds it: nothing open, nothing locked, what was pending still pending.
    pub(super) fn abandoned(&self) -> Self {
        let mut medium = self.clone();
        for inode in medium.inodes.values_mut() {
            inode.open = 0;
            inode.locks.clear();
        }
        medium.forget_unreachable();
        medium
    }

    pub(super) fn find(&self, path: &str) -> Option<u64> {
        self.names.get(path).copied()
    }

    /// Makes an empty file; one without a path is gone when it is closed.
    pub(super) fn create(&mut self, path: Option<&Arc<str>>) -> u64 {
        let inode = self.fresh();
        self.inodes.insert(inode, Inode::default());
        if let Some(path) = path {
            self.name(path, Some(inode));
        }
        inode
    }

    pub(super) fn delete(&mut self, path: &Arc<str>) {
        self.name(path, None);
        self.forget_unreachable();
    }

    pub(super) fn open(&mut self, inode: u64) {
        self.at(inode).open += 1;
    }

    pub(super) fn close(&mut self, inode: u64, handle: u64) {
        let inode = self.at(inode);
        inode.open = inode.open.saturating_sub(1);
        inode.locks.remove(&handle);
        if inode.open == 0 {
            self.forget_unreachable();
        }
    }

    /// Copies what there is at `offset`, and says how much that was.
    pub(super) fn read(&self, inode: u64, offset: u64, into: &mut [u8]) -> usize {
        self.inodes.get(&inode).map_or(0, |inode| inode.bytes.read(place(offset), into))
    }

    pub(super) fn length(&self, inode: u64) -> u64 {
        self.inodes.get(&inode).map_or(0, |inode| inode.bytes.len() as u64)
    }

    pub(super) fn write(&mut self, inode: u64, offset: u64, bytes: &[u8]) {
        self.change(inode, Change::Write { inode, offset, bytes: bytes.to_vec() });
    }

    pub(super) fn truncate(&mut self, inode: u64, length: u64) {
        self.change(inode, Change::Truncate { inode, length });
    }

    pub(super) fn sync(&mut self, inode: u64) {
        let changes: Vec<Change> = self.unsynced.extract_if(.., |change| change.inode() == Some(inode)).collect();
        let Inode { bytes, durable, .. } = self.at(inode);
        // Nothing of this file is pending any more: durable is what everybody sees.
        durable.follow(bytes, changes.iter().map(Change::range));
    }

    /// Makes the names durable that stand beside `path`.
    pub(super) fn sync_directory(&mut self, path: &str) {
        let beside = |other: &str| directory(other) == directory(path);
        for change in self.unsynced.extract_if(.., |change| matches!(change, Change::Name { path, .. } if beside(path))) {
            if let Change::Name { path, inode } = change {
                rename(&mut self.durable_names, path, inode);
            }
        }
        self.forget_unreachable();
    }

    /// Takes a lock as SQLite's protocol has it; false: somebody else is in the way. Who cannot become exclusive keeps others
    /// from coming (pending).
    pub(super) fn lock(&mut self, inode: u64, handle: u64, level: i32) -> bool {
        let locks = &mut self.at(inode).locks;
        let mine = locks.get(&handle).copied().unwrap_or(ffi::SQLITE_LOCK_NONE);
        if mine >= level {
            return true;
        }
        let others = locks.iter().filter(|(other, _)| **other != handle).map(|(_, level)| *level).max().unwrap_or(0);
        let bar = if level == ffi::SQLITE_LOCK_SHARED { ffi::SQLITE_LOCK_PENDING } else { ffi::SQLITE_LOCK_RESERVED };
        if others >= bar {
            return false;
        }
        if level == ffi::SQLITE_LOCK_EXCLUSIVE && others >= ffi::SQLITE_LOCK_SHARED {
            locks.insert(handle, ffi::SQLITE_LOCK_PENDING);
            return false;
        }
        locks.insert(handle, level);
        true
    }

    pub(super) fn unlock(&mut self, inode: u64, handle: u64, level: i32) {
        let locks = &mut self.at(inode).locks;
        if locks.get(&handle).is_some_and(|mine| *mine > level) {
            locks.insert(handle, level);
        }
    }

    pub(super) fn reserved(&self, inode: u64) -> bool {
        self.inodes.get(&inode).is_some_and(|inode| inode.locks.values().any(|level| *level >= ffi::SQLITE_LOCK_RESERVED))
    }

    fn fresh(&mut self) -> u64 {
        self.last_inode += 1;
        self.last_inode
    }

    fn at(&mut self, inode: u64) -> &mut Inode {
        self.inodes.entry(inode).or_default()
    }

    fn name(&mut self, path: &Arc<str>, inode: Option<u64>) {
        rename(&mut self.names, path.clone(), inode);
        self.unsynced.push(Change::Name { path: path.clone(), inode });
    }

    fn change(&mut self, inode: u64, change: Change) {
        apply(&mut self.at(inode).bytes, &change);
        self.unsynced.push(change);
    }

    /// Drops files that nobody has open and that no name, not even a lost one, can lead to again.
    fn forget_unreachable(&mut self) {
        let pending = self.unsynced.iter().filter_map(|change| match change {
            Change::Name { inode, .. } => *inode,
            _ => None,
        });
        let reachable: Vec<u64> = self.names.values().chain(self.durable_names.values()).copied().chain(pending).collect();
        self.inodes.retain(|number, inode| inode.open > 0 || reachable.contains(number));
        let left = &self.inodes;
        self.unsynced.retain(|change| change.inode().is_none_or(|inode| left.contains_key(&inode)));
    }
}

fn rename(names: &mut BTreeMap<Arc<str>, u64>, path: Arc<str>, inode: Option<u64>) {
    match inode {
        Some(inode) => names.insert(path, inode),
        None => names.remove(&path),
    };
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn apply(file: &mut Bytes, change: &Change) {
    match change {
        Change::Write { offset, bytes, .. } => file.write(place(*offset), bytes),
        Change::Truncate { length, .. } => file.resize(place(*length)),
        Change::Name { .. } => {}
    }
}

/// Cuts a write in the middle of one of the sectors it touches.
fn tear(change: &mut Change, sector: u64) {
    if let Change::Write { offset, bytes, .. } = change {
        let first = *offset / SECTOR_BYTES;
        let last = (*offset + bytes.len() as u64).saturating_sub(1) / SECTOR_BYTES;
        let torn = first + sector % (last.saturating_sub(first) + 1);
        let middle = torn * SECTOR_BYTES + SECTOR_BYTES / 2;
        bytes.truncate(place(middle.saturating_sub(*offset)));
    }
}
