//! Rows of the session machine that need the Claude driver.

use crate::rig::check;

/// QZ-08: wake text with no prompt is shown, Working, later Idle.
#[test]
fn the_output_of_a_wake_is_lost_or_the_chat_stays_working() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi ; result m1
            Idle
        5000 claude text a2 found it
            Working
        5010 claude result
            Idle
        5020 doc
            user complete: one
            assistant complete: hi
            assistant complete: found it
        ",
    );
}

/// QZ-09: within the gate only a child that settled since the park lets the wake in.
#[test]
fn a_wake_after_a_child_is_dropped_by_the_gate() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude tool a1 t1 Agent ; agent-started k1 t1 ; text a2 hi ; result m1
            Working pill 1
            Idle pill 1
        300 claude text a3 trailing
        400 claude agent-over k1 t1 ; text a4 found it
            Idle
            Working
        410 claude result
            Idle
        420 doc
            user complete: one
            assistant complete: [Agent done] | hi
            assistant complete: found it
        ",
    );
}

/// RL-13: a stop's late duplicate is dropped for three seconds, at exactly three it is not.
#[test]
fn a_late_result_after_a_stop_is_a_second_end() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi
        500 stop-turn
            p1 <- interrupt engine_stop_1
        600 claude result m1
            Idle
        610 claude answered engine_stop_1
        700 claude result m1
        3599 claude result
        3600 claude result
        9000 wait
        9010 journal
            +1 sessionStarted
            +2 text hi
            +3 assistantMessageCompleted
            +4 usage
            +5 done interrupted
            +6 note late-result: a result for messages that were settled before; dropped
            +7 note late-result: a second result within the window after a stop; dropped
            +8 note absorbed-result: a result while no turn is open
        ",
    );
}

/// TF-15: parked longer than a second, task_started before started.
#[test]
fn a_typed_fork_that_starts_before_its_message_stays_running() {
    check(
        "
        0 chat claude
        20 begun m1 one
        20 claude text a1 hi ; result m1
            Idle
        5000 send m2 /probe
            Working
            m2 sent
            p1 <- m2 now
        5010 claude fork-started k1
            Working
            Working pill 1
        5020 claude lifecycle m2 started
            m2 delivered
            Working pill 1
        5500 claude result m2
            Working
            Idle
        5510 doc
            user complete: one
            assistant complete: hi
            user complete: /probe
            assistant complete: [Agent: /probe done]
        5510 tab forked-command-probe-k1
            user complete: look around
        5510 journal
            +1 sessionStarted
            +2 text hi
            +3 assistantMessageCompleted
            +4 usage
            +5 nativeForkReady
            +6 done completed
            +7 call forked-command-probe-k1
            +8 child forked-command-probe-k1 user look around
            +9 steered m2
            +10 usage
            +11 child forked-command-probe-k1 done completed
            +12 done completed
        ",
    );
}
