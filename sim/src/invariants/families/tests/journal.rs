//! J1, J2.

use super::*;
use crate::history::What;

fn killed(host: Stub) -> Stub {
    let host = host.happens(What::HostEnded { power_lost: false }).happens(What::HostStarted);
    host.view(|chat| chat.transcript.iter_mut().for_each(|entry| entry.state = EntryState::Aborted))
}

fn restarted() -> Value {
    json!({"type": "done", "status": "interrupted", "synthetic": "restart"})
}

fn running() -> Stub {
    let host = Stub::new().happens(What::HostTimer { key: "stub".to_string() });
    host.journal(json!({"type": "textDelta", "text": "half a"})).text("half a")
}

#[test]
fn a_journal_with_a_gap_after_a_restart() {
    let sound = || killed(running()).journal(restarted()).rest();
    let broken = killed(running()).journal(restarted()).view(|chat| chat.journal[1].seq = 3).rest();
    check(&["J1"], sound(), broken);
}

#[test]
fn a_turn_that_no_boot_ends() {
    check(&["J2"], killed(running()).journal(restarted()).rest(), killed(running()).rest());
}

#[test]
fn a_turn_that_a_boot_ends_twice() {
    let twice = killed(running()).journal(restarted()).journal(restarted()).rest();
    check(&["J2"], killed(running()).journal(restarted()).rest(), twice);
}

#[test]
fn a_second_boot_that_ends_the_turn_of_the_first_again() {
    let once = || killed(running()).journal(restarted());
    check(&["J2"], killed(once()).rest(), killed(once()).journal(restarted()).rest());
}
