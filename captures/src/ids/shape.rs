//! The shapes that ids have, and fresh ids of those shapes.

use super::Role;

const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Letters and digits after `msg_`, `req_`, `toolu_`: `01` and 22 more, as the API's own ids have.
const API_TAIL: usize = 22;

pub(super) const UUID_LENGTH: usize = 36;

/// True for the text form of a UUID of any version, in lower case.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == UUID_LENGTH
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        })
}

/// A task id of an agent or a fork is `a` and 16 hex digits, one of a command `b` and 8 letters or digits.
pub(super) fn is_task(text: &str) -> bool {
    let hex = |rest: &str| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    text.strip_prefix('a').is_some_and(hex) || text.strip_prefix('b').is_some_and(|rest| alphanumeric(rest, 8))
}

/// 9 base-36 digits, `-`, 8 hex digits.
pub(super) fn is_run(text: &str) -> bool {
    text.split_once('-').is_some_and(|(head, tail)| alphanumeric(head, 9) && alphanumeric(tail, 8))
}

fn alphanumeric(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
}

/// A fresh id with the shape that the captured one has.
pub(super) fn fresh(role: Role, captured: &str, next: &mut dyn FnMut() -> u64) -> String {
    match role {
        Role::Task if captured.starts_with('b') => format!("b{}", digits(BASE36, 8, next)),
        Role::Task => format!("a{:016x}", next()),
        Role::Run => format!("{}-{:08x}", digits(BASE36, 9, next), next() >> 32),
        _ if is_uuid(captured) => uuid(next),
        // Hosts name their control requests as they like: `req-` and hex digits in the recordings.
        Role::Request => format!("req-{:08x}", next() >> 32),
        Role::Message => format!("msg_01{}", digits(BASE62, API_TAIL, next)),
        Role::ApiRequest => format!("req_01{}", digits(BASE62, API_TAIL, next)),
        Role::Tool => format!("toolu_01{}", digits(BASE62, API_TAIL, next)),
        Role::Host | Role::Frame | Role::Session => uuid(next),
    }
}

/// UUIDs for what has none, the same for the same seed: an import must give the same capture twice.
pub(crate) fn made_up(seed: &str) -> impl FnMut() -> String + use<> {
    // FNV-1a, then a Weyl sequence through the finalizer of splitmix64.
    let mut state =
        seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    move || uuid(&mut next)
}

/// A UUID of version 4 and the RFC's variant.
fn uuid(next: &mut dyn FnMut() -> u64) -> String {
    let (high, low) = (next(), next());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0x0fff,
        0x8000 | ((low >> 48) & 0x3fff),
        low & 0xffff_ffff_ffff
    )
}

/// The high bits choose: the low ones of a simple generator repeat soonest.
fn digits(alphabet: &[u8], length: usize, next: &mut dyn FnMut() -> u64) -> String {
    (0..length)
        .map(|_| {
            let index = ((u128::from(next()) * alphabet.len() as u128) >> 64) as usize;
            char::from(alphabet[index])
        })
        .collect()
}
