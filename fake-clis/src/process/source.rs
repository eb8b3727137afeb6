//! What reaches a process from outside: stdin and signals, in the order in which they come.

use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// Bytes read from stdin at once.
const CHUNK: usize = 64 * 1024;

/// One thing from outside.
pub(super) enum Event {
    /// Bytes on stdin.
    Bytes(Vec<u8>),
    /// The host closed stdin.
    Closed,
    /// A signal.
    Signal(&'static str),
}

/// Begins to listen; everything comes out of one end, in order. Stdin is read until `stopped` is set: then the pipe fills,
/// and the host's writes block.
#[allow(clippy::disallowed_methods, reason = "stdin and signals block: each needs a thread of its own")]
pub(super) fn listen(stopped: Arc<AtomicBool>) -> Receiver<Event> {
    let (sender, events) = channel();
    let to_main = sender.clone();
    thread::spawn(move || read_stdin(&to_main, &stopped));
    thread::spawn(move || hear_signals(&sender));
    events
}

fn read_stdin(to_main: &Sender<Event>, stopped: &AtomicBool) {
    let mut stdin = std::io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    while !stopped.load(Ordering::SeqCst) {
        let event = match stdin.read(&mut chunk) {
            Ok(0) | Err(_) => Event::Closed,
            Ok(count) => Event::Bytes(chunk[..count].to_vec()),
        };
        let last = matches!(event, Event::Closed);
        if to_main.send(event).is_err() || last {
            return;
        }
    }
}

#[cfg(unix)]
fn hear_signals(to_main: &Sender<Event>) {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
            return;
        };
        loop {
            // One future that polls both in this order: which of two signals at once is first does not matter here.
            let name = std::future::poll_fn(|context| {
                if interrupt.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready("SIGINT");
                }
                terminate.poll_recv(context).map(|_| "SIGTERM")
            })
            .await;
            if to_main.send(Event::Signal(name)).is_err() {
                return;
            }
        }
    });
}

#[cfg(not(unix))]
fn hear_signals(_: &Sender<Event>) {}
