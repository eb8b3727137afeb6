//! The door to SQLite: one VFS a world, every call handed on to the world's state.
//!
//! One VFS a world rather than one for all: SQLite asks for the time and for randomness without naming a file, and only the VFS
//! itself then says whose. It stands in SQLite's list under a name made of its address, from the first database that is opened
//! until the last handle and the last connection are gone; it is never the default one.
#![allow(unsafe_code, reason = "SQLite's VFS is a table of C functions")]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use rusqlite::{Connection, Error, OpenFlags, ffi};

use super::{
    medium::SECTOR_BYTES,
    state::{Code, Handle, Opening, State},
};

/// Longest path, bytes, the closing zero included.
const PATH_BYTES: c_int = 512;
/// The Unix epoch in SQLite's time, ms since noon of day 0 of the Julian calendar.
const UNIX_EPOCH_JULIAN_MS: i64 = 210_866_760_000_000;
const DAY_MS: f64 = 86_400_000.0;

/// One disk with its VFS. It stays where it is for its whole life: SQLite has its address.
pub(super) struct World {
    vfs: *mut ffi::sqlite3_vfs,
    name: CString,
    state: Mutex<State>,
}

// SAFETY: `vfs` is written here before it is registered and after it is unregistered only, both times by the one owner; between
// the two SQLite changes it under its own mutex. Everything else is behind `state`.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    pub(super) fn new(state: State) -> Arc<Self> {
        Arc::new_cyclic(|this: &Weak<World>| {
            let name = CString::new(format!("disk-{:p}", this.as_ptr())).unwrap_or_default();
            let vfs = Box::new(ffi::sqlite3_vfs {
                iVersion: 2,
                szOsFile: size_of::<File>() as c_int,
                mxPathname: PATH_BYTES,
                pNext: ptr::null_mut(),
                zName: name.as_ptr(),
                pAppData: this.as_ptr().cast_mut().cast(),
                xOpen: Some(open),
                xDelete: Some(delete),
                xAccess: Some(access),
                xFullPathname: Some(full_pathname),
                xDlOpen: Some(no_library),
                xDlError: Some(no_library_because),
                xDlSym: None,
                xDlClose: None,
                xRandomness: Some(randomness),
                xSleep: Some(sleep),
                xCurrentTime: Some(current_time),
                xGetLastError: None,
                xCurrentTimeInt64: Some(current_time_ms),
                xSetSystemCall: None,
                xGetSystemCall: None,
                xNextSystemCall: None,
            });
            World { vfs: Box::into_raw(vfs), name, state: Mutex::new(state) }
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed while it held the lock has told already what went wrong.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connect(self: &Arc<Self>, path: &str) -> rusqlite::Result<Connection> {
        // SAFETY: `vfs` is whole, stays until `World::drop`, and registering it again changes nothing.
        check(unsafe { ffi::sqlite3_vfs_register(self.vfs, 0) })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags_and_vfs(path, flags, self.name.as_c_str())?;
        // SQLite destroys functions after it has closed the files: until then the connection owns a share of the world, which
        // keeps the VFS alive however long the connection lives.
        let share = Arc::into_raw(self.clone()).cast_mut().cast();
        // SAFETY: the connection is open; `share` is given back by `release`, also when this call fails.
        let anchored = unsafe {
            let (name, utf8) = (c"disk_of_this_connection".as_ptr(), ffi::SQLITE_UTF8);
            ffi::sqlite3_create_function_v2(connection.handle(), name, 0, utf8, share, Some(nothing), None, None, Some(release))
        };
        check(anchored)?;
        // SAFETY: the connection is open, and owns a share of the world from here on.
        check(unsafe {
            let this = Arc::as_ptr(self).cast_mut().cast();
            ffi::sqlite3_trace_v2(connection.handle(), ffi::SQLITE_TRACE_STMT as c_uint, Some(statement_begins), this)
        })?;
        Ok(connection)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: the last share is gone, so no connection has the VFS; SQLite forgets it before it is freed, and does nothing
        // about one that was never registered.
        unsafe {
            ffi::sqlite3_vfs_unregister(self.vfs);
            drop(Box::from_raw(self.vfs));
        }
    }
}

fn check(code: Code) -> rusqlite::Result<()> {
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(Error::SqliteFailure(ffi::Error::new(code), None)) }
}

fn code(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(ffi::SQLITE_OK)
}

/// SQLite's file: it makes room for one, `open` fills it, `close` empties it.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    opened: *mut Opened,
}

struct Opened {
    world: Arc<World>,
    handle: Handle,
}

/// Version 1: no shared memory and no mapped pages. Exclusive locking before WAL needs neither.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// # Safety
/// `vfs` is one of ours, and somebody owns a share of its world.
unsafe fn world<'a>(vfs: *mut ffi::sqlite3_vfs) -> &'a World {
    // SAFETY: `pAppData` is the address of the world, which lives as long as any share of it.
    unsafe { &*(*vfs).pAppData.cast::<World>() }
}

/// # Safety
/// `file` was opened by `open`, is not closed, and SQLite uses it from one thread at a time.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Opened {
    // SAFETY: `open` put a box there, `close` takes it out.
    unsafe { &mut *(*file.cast::<File>()).opened }
}

/// # Safety
/// `path` is null or ends with a zero.
unsafe fn text<'a>(path: *const c_char) -> Option<&'a str> {
    if path.is_null() {
        return None;
    }
    // SAFETY: as promised. All paths come from `World::connect`, which takes a `str`; SQLite appends ASCII to them.
    unsafe { CStr::from_ptr(path) }.to_str().ok()
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let has = |flag: c_int| flags & flag != 0;
    let how = Opening {
        create: has(ffi::SQLITE_OPEN_CREATE),
        must_be_new: has(ffi::SQLITE_OPEN_EXCLUSIVE),
        delete_on_close: has(ffi::SQLITE_OPEN_DELETEONCLOSE),
        is_journal: has(ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL),
    };
    // SAFETY: SQLite hands in one of our VFS, room for a `File`, and a path that is null or ends with a zero. While it opens a
    // file, `World::connect` or the connection has a share of the world, so there is one to add to.
    unsafe {
        (*file).pMethods = ptr::null();
        let result = world(vfs).state().open(text(path), how);
        match result {
            Ok(handle) => {
                let shares = (*vfs).pAppData.cast::<World>();
                Arc::increment_strong_count(shares);
                let opened = Opened { world: Arc::from_raw(shares), handle };
                (*file.cast::<File>()).opened = Box::into_raw(Box::new(opened));
                (*file).pMethods = &METHODS;
                if !out_flags.is_null() {
                    *out_flags = flags;
                }
                ffi::SQLITE_OK
            }
            Err(code) => code,
        }
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file is open, and SQLite does not come back to it.
    let opened = unsafe { Box::from_raw((*file.cast::<File>()).opened) };
    // SAFETY: as above; without methods the file is closed.
    unsafe { (*file).pMethods = ptr::null() };
    let result = opened.world.state().close(&opened.handle);
    code(result)
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, into: *mut c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: the file is open; SQLite gives room for `length` bytes, initialized or not: they are only written, zeros first.
    let (file, into) = unsafe {
        let length = length.unsigned_abs() as usize;
        ptr::write_bytes(into.cast::<u8>(), 0, length);
        (opened(file), std::slice::from_raw_parts_mut(into.cast::<u8>(), length))
    };
    code(file.world.state().read(&file.handle, into, offset.unsigned_abs()))
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, length: c_int, offset: i64) -> c_int {
    // SAFETY: the file is open, `from` holds `length` bytes.
    let (file, from) = unsafe { (opened(file), std::slice::from_raw_parts(from.cast::<u8>(), length.unsigned_abs() as usize)) };
    code(file.world.state().write(&file.handle, from, offset.unsigned_abs()))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { opened(file) };
    code(file.world.state().truncate(&file.handle, length.unsigned_abs()))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is open.
    let Opened { world, handle } = unsafe { opened(file) };
    code(world.state().sync(handle))
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { opened(file) };
    let result = file.world.state().file_size(&file.handle);
    // SAFETY: `size` is a place for the answer.
    code(result.map(|length| unsafe { *size = i64::try_from(length).unwrap_or(i64::MAX) }))
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { opened(file) };
    code(file.world.state().lock(&file.handle, level))
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { opened(file) };
    code(file.world.state().unlock(&file.handle, level))
}

unsafe extern "C" fn check_reserved(file: *mut ffi::sqlite3_file, answer: *mut c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { opened(file) };
    let result = file.world.state().check_reserved(&file.handle);
    // SAFETY: `answer` is a place for the answer.
    code(result.map(|reserved| unsafe { *answer = c_int::from(reserved) }))
}

/// Hints and questions of which this disk knows none.
unsafe extern "C" fn file_control(_file: *mut ffi::sqlite3_file, _op: c_int, _arg: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    SECTOR_BYTES as c_int
}

/// None: no atomic write, no safe append, no order, no power-safe overwrite. SQLite takes all the care it knows.
unsafe extern "C" fn device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    0
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, path: *const c_char, then_sync: c_int) -> c_int {
    // SAFETY: one of our VFS, a path that ends with a zero.
    let (world, path) = unsafe { (world(vfs), text(path).unwrap_or_default()) };
    code(world.state().delete(path, then_sync != 0))
}

unsafe extern "C" fn access(vfs: *mut ffi::sqlite3_vfs, path: *const c_char, flags: c_int, answer: *mut c_int) -> c_int {
    // SAFETY: one of our VFS, a path that ends with a zero.
    let (world, path) = unsafe { (world(vfs), text(path).unwrap_or_default()) };
    let result = world.state().access(path, flags == ffi::SQLITE_ACCESS_EXISTS);
    // SAFETY: `answer` is a place for the answer.
    code(result.map(|found| unsafe { *answer = c_int::from(found) }))
}

/// Every path is whole already. Not a call to the disk.
unsafe extern "C" fn full_pathname(_: *mut ffi::sqlite3_vfs, path: *const c_char, room: c_int, out: *mut c_char) -> c_int {
    // SAFETY: `path` ends with a zero, `out` has `room` bytes.
    unsafe {
        let path = CStr::from_ptr(path).to_bytes_with_nul();
        if path.len() > room.unsigned_abs() as usize {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len());
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn no_library(_vfs: *mut ffi::sqlite3_vfs, _path: *const c_char) -> *mut c_void {
    ptr::null_mut()
}

unsafe extern "C" fn no_library_because(_vfs: *mut ffi::sqlite3_vfs, room: c_int, out: *mut c_char) {
    if room > 0 {
        // SAFETY: `out` has `room` bytes.
        unsafe { *out = 0 };
    }
}

/// SQLite asks only its default VFS for randomness, which this is not; see `statement_begins` for what it does use.
unsafe extern "C" fn randomness(vfs: *mut ffi::sqlite3_vfs, length: c_int, out: *mut c_char) -> c_int {
    // SAFETY: one of our VFS, room for `length` bytes; they are zeroed before they are looked at as a slice.
    unsafe {
        let length = length.unsigned_abs() as usize;
        ptr::write_bytes(out.cast::<u8>(), 0, length);
        world(vfs).state().fill_random(std::slice::from_raw_parts_mut(out.cast::<u8>(), length));
    }
    length
}

unsafe extern "C" fn sleep(_vfs: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    microseconds
}

unsafe extern "C" fn current_time_ms(vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: one of our VFS, a place for the answer.
    unsafe { *out = UNIX_EPOCH_JULIAN_MS.saturating_add_unsigned(world(vfs).state().wall_ms) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time(vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    let mut ms = 0;
    // SAFETY: one of our VFS, places for the answers.
    unsafe {
        let code = current_time_ms(vfs, &mut ms);
        *out = ms as f64 / DAY_MS;
        code
    }
}

/// SQLite has one generator of random numbers a process, and draws from it the salts of a WAL, the nonces of a journal and
/// `random()`. So each statement begins with the generator seeded from its own world: what another world of the process drew
/// before, or will draw, is then out of sight. Two threads that are inside SQLite at the same moment still share it.
unsafe extern "C" fn statement_begins(_mask: c_uint, this: *mut c_void, _statement: *mut c_void, _sql: *mut c_void) -> c_int {
    // SAFETY: the connection owns a share of the world; the operation takes an int and a connection, here none.
    unsafe {
        let seed = (*this.cast::<World>()).state().next_seed();
        ffi::sqlite3_test_control(ffi::SQLITE_TESTCTRL_PRNG_SEED, seed, ptr::null_mut::<ffi::sqlite3>());
    }
    ffi::SQLITE_OK
}

/// A function that stands for the world of the connection; its value is null.
unsafe extern "C" fn nothing(_context: *mut ffi::sqlite3_context, _count: c_int, _values: *mut *mut ffi::sqlite3_value) {}

/// The connection gives its share of the world back.
unsafe extern "C" fn release(share: *mut c_void) {
    // SAFETY: `share` came out of `Arc::into_raw` in `World::connect`, and comes here once.
    drop(unsafe { Arc::from_raw(share.cast::<World>().cast_const()) });
}

#[cfg(test)]
mod tests {
    use super::super::Disk;
    use super::*;

    fn registered(name: &CStr) -> bool {
        // SAFETY: a name that ends with a zero; the answer is only compared.
        !unsafe { ffi::sqlite3_vfs_find(name.as_ptr()) }.is_null()
    }

    #[test]
    fn a_world_goes_with_its_last_connection_and_leaves_nothing_behind() {
        let disk = Disk::new(1);
        let (world, name) = (Arc::downgrade(&disk.world), disk.world.name.clone());
        assert!(!registered(&name), "before anything is opened");
        let connection = disk.open("engine.sqlite").expect("opens");
        drop(disk);
        connection.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1)").expect("the connection has its own share");
        assert!(registered(&name));
        drop(connection);
        assert_eq!(world.strong_count(), 0);
        assert!(!registered(&name));
    }

    #[test]
    fn a_database_that_cannot_be_opened_leaves_nothing_behind() {
        let disk = Disk::new(1);
        let (world, name) = (Arc::downgrade(&disk.world), disk.world.name.clone());
        disk.fence();
        let error = disk.open("engine.sqlite").expect_err("fenced");
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::CannotOpen));
        let long = "x".repeat(PATH_BYTES as usize);
        assert!(disk.open(&long).is_err(), "a path longer than the door");
        drop(disk);
        assert_eq!(world.strong_count(), 0);
        assert!(!registered(&name));
    }
}
