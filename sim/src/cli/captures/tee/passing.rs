//! Bytes and ends, from one pipe into the other.
//!
//! The host's ends are this process's own stdin and stdout. When one end is closed the other is closed too: nobody must
//! write into a pipe that nobody reads, or wait at one that nobody writes.

use std::{
    fs::OpenOptions,
    io::{IsTerminal, Read, Write},
    process::{ChildStdin, ChildStdout},
    sync::PoisonError,
};

use captures::format::{From, Stream, What};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::BorrowedFd,
    io::Errno,
    process::{Pid, Signal, kill_process},
    stdio,
};

use super::Shared;

/// Bytes that are passed on at once, at most: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// From the host to the CLI.
pub(super) fn to_cli(mut cli: ChildStdin, shared: &Shared) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = match read(stdio::stdin(), &mut chunk) {
            Ok(0) | Err(_) => {
                // Written down first: the CLI answers the end at once, and its exit must be the last line.
                lock(shared).happened(From::Host, What::Close(Stream::Stdin));
                return drop(cli);
            }
            Ok(count) => count,
        };
        // Taken down before it is passed on: an answer must not stand before its question.
        lock(shared).bytes(From::Host, &chunk[..count]);
        if cli.write_all(&chunk[..count]).is_err() {
            lock(shared).happened(From::Cli, What::Close(Stream::Stdin));
            // The host's next write fails, as it would without anybody between.
            close(stdio::dup2_stdin, false);
            return;
        }
    }
}

/// From the CLI to the host.
pub(super) fn to_host(mut cli: ChildStdout, shared: &Shared) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = match cli.read(&mut chunk) {
            Ok(0) => {
                lock(shared).happened(From::Cli, What::Close(Stream::Stdout));
                close(stdio::dup2_stdout, true);
                return;
            }
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        lock(shared).bytes(From::Cli, &chunk[..count]);
        if write(stdio::stdout(), &chunk[..count]).is_err() {
            lock(shared).happened(From::Host, What::Close(Stream::Stdout));
            return;
        }
    }
}

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, super::Recorder> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts nothing in the place of one of this process's own ends.
fn close(replace: impl FnOnce(std::fs::File) -> Result<(), Errno>, write: bool) {
    if let Ok(null) = OpenOptions::new().read(!write).write(write).open("/dev/null") {
        let _ = replace(null);
    }
}

/// Reads what there is; waits when there is nothing, also where the host made the pipe one that does not block.
fn read(from: BorrowedFd<'_>, chunk: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(from, &mut *chunk) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(from, PollFlags::IN)?,
            done => return done,
        }
    }
}

fn write(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(to, PollFlags::OUT)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait(fd: BorrowedFd<'_>, what: PollFlags) -> Result<(), Errno> {
    match poll(&mut [PollFd::from_borrowed_fd(fd, what)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sends a signal on. What a terminal sent went to all of its processes, the CLI among them.
pub(super) fn signal(pid: u32, signal: i32) {
    let by_terminal = matches!(signal, signal_hook::consts::SIGINT | signal_hook::consts::SIGQUIT);
    if by_terminal && std::io::stdin().is_terminal() {
        return;
    }
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        let _ = kill_process(pid, signal);
    }
}
