//! Whatever a provider and a user do, in whatever order: the rig judges every step, and in the end nothing is left open.

use engine::{
    chat::layout::EntryStatus,
    feed::{MessageState, Status},
};
use proptest::prelude::*;

use crate::rig::Rig;

/// What may happen; `{n}` is a number of the case's own.
const HAPPENINGS: [&str; 32] = [
    "send m{n} text",
    "send m{n} text",
    "send-now m{n} text",
    "withdraw m{n}",
    "stop",
    "stop-turn",
    "close",
    "answer yes",
    "say text a",
    "say text b",
    "say think",
    "say call t1 Agent",
    "say call t2 Agent: /probe",
    "say call t3 Bash ; result t3",
    "say child t1 user go",
    "say child t1 text a",
    "say child t2 steered",
    "say child t2 text b ; child t9 text c",
    "say child t1 done completed",
    "say child t2 done interrupted ; child t1 done errored",
    "say result t1 ; result t2",
    "say steered",
    "say steered m{n}",
    "say returned m{n}",
    "say taken m{n}",
    "say done completed",
    "say done completed",
    "say done interrupted",
    "say done errored",
    "say ask r{n}",
    "say background {n}",
    "exit 1",
];

/// Steps in time: the same instant, inside the flush, inside the gate, beyond every timer of a turn.
const GAPS: [u64; 6] = [0, 1, 60, 130, 1_000, 16_000];

fn script(happenings: &[(usize, usize, u32)]) -> String {
    let mut script = String::from("10 send m0 first\n");
    let mut at = 10;
    for (what, gap, n) in happenings {
        at += GAPS[*gap];
        script += &format!("{at} {}\n", HAPPENINGS[*what].replace("{n}", &n.to_string()));
    }
    // The user stops everything, and the processes leave.
    for _ in 0..2 {
        at += 20_000;
        script += &format!("{at} stop\n{} all-exit\n", at + 1);
    }
    script + &format!("{} wait\n", at + 20_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// V1, V2, V3, M2, D9 and the order of commits over runs that nobody wrote.
    #[test]
    fn something_stays_open_after_the_end(
        happenings in prop::collection::vec((0..HAPPENINGS.len(), 0..GAPS.len(), 0u32..6), 1..40)
    ) {
        let rig = Rig::play(&script(&happenings), None);
        let row = &rig.viewer.sessions["c"];
        prop_assert!(matches!(row.status, Status::Idle | Status::Errored), "the chat still says {:?}", row.status);
        prop_assert_eq!(row.running_subagents, 0);
        for doc in rig.viewer.docs() {
            for entry in rig.viewer.entries(doc) {
                prop_assert!(entry.status != EntryStatus::Streaming, "{} still streams in {}", entry.id, doc);
            }
        }
        for message in rig.viewer.messages.values() {
            prop_assert!(message.state != MessageState::Sent, "{} is still on its way", message.message_id);
        }
        prop_assert!(rig.nothing_is_due(), "timers or leases are left");
    }
}
