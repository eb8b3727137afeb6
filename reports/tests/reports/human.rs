//! What a person must find where they look: the engine on the first line, the command on the last.

use reports::human::{Options, render, render_run, render_with};
use reports::{SuiteReport, TraceLine, Verdict};

use crate::fixture::{ending, everything, passing, run, trace};

fn suite(runs: Vec<reports::RunResult>) -> SuiteReport {
    SuiteReport::new("reference engine", runs, Vec::new(), 1_930)
}

fn check(report: &SuiteReport, first: &str, last: &str) {
    let text = render(report, 100, false);
    assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text}");
    assert_eq!((text.lines().next(), text.lines().last()), (Some(first), Some(last)), "{text}");
}

#[test]
fn the_last_line_of_every_failure_is_a_command() {
    let command = "rehearsal run steer/plain --provider claude@2.1.310";
    for verdict in Verdict::ALL.into_iter().filter(|verdict| verdict.is_failing()) {
        check(&suite(vec![run("fine"), ending("steer/plain", verdict)]), "reference engine, sim", command);
    }
}

#[test]
fn the_last_line_of_many_failures_is_the_command_of_the_gravest() {
    let runs = vec![ending("a", Verdict::Liveness), ending("b", Verdict::OffScript), ending("c", Verdict::Violated)];
    check(&suite(runs), "reference engine, sim", "rehearsal run c --provider claude@2.1.310");
}

#[test]
fn a_suite_that_passes_ends_with_its_figures() {
    let closing = "1 run of 1 scenario, claude 2.1.310: 1 conform — 2.4 s simulated in 1.9 s";
    check(&suite(vec![run("steer/plain")]), "reference engine, sim", closing);
}

#[test]
fn spans_are_said_in_the_units_that_matter() {
    for (ms, words) in [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min 0 s"),
        (3_599_999, "59 min 59 s"),
        (3_600_000, "1 h 0 min"),
    ] {
        let mut long = run("steer/plain");
        long.simulated_ms = ms;
        let text = reports::closing(&suite(vec![long]));
        assert!(text.contains(&format!(" — {words} simulated in 1.9 s")), "{text}");
    }
}

#[test]
fn a_run_that_goes_two_ways_for_long_is_cut() {
    let mut unsteady = run("steer/plain");
    unsteady.nondeterminism = Some((1..=41).map(|n| format!("= row {n}\n")).collect());
    let text = render(&suite(vec![unsteady]), 100, false);
    assert!(text.contains("= row 40\n      and 1 more lines\n"), "{text}");
}

#[test]
fn nothing_ran_is_no_pass() {
    check(&suite(Vec::new()), "reference engine", "rehearsal list");
    assert!(render(&suite(Vec::new()), 100, false).contains("nothing ran"));
}

#[test]
fn a_run_without_a_command_gets_the_check_of_its_scenario() {
    let mut silent = ending("steer/plain", Verdict::Violated);
    silent.paste.clear();
    check(&suite(vec![silent]), "reference engine, sim", "rehearsal check steer/plain --provider claude@2.1.310");
}

#[test]
fn colours_come_only_when_asked_for_and_change_no_word() {
    let report = everything();
    let plain = render(&report, 100, false);
    let painted = render(&report, 100, true);
    assert!(!plain.contains('\u{1b}') && painted.contains('\u{1b}'));
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some(start) = rest.find('\u{1b}') {
        let end = rest[start..].find('m').expect("the end of a colour");
        bare.push_str(&rest[..start]);
        rest = &rest[start + end + 1..];
    }
    bare.push_str(rest);
    assert_eq!(bare, plain);
}

#[test]
fn known_failures_are_named_only_when_verbose() {
    let report = passing();
    let verbose = render_with(&report, &Options { verbose: true, ..Options::default() });
    assert!(!render(&report, 100, false).contains("steer/cross-session"));
    assert!(verbose.contains("off-script       steer/cross-session  claude@2.1.310  as listed: the recording"), "{verbose}");
    assert!(verbose.contains("nothing to judge  not observable  rule"), "{verbose}");
}

#[test]
fn a_frame_cannot_move_the_cursor_of_who_reads_about_it() {
    let mut rude = ending("bytes/rude", Verdict::Violated);
    rude.violations[0].message = "said \u{1b}[2Jgone\r".to_owned();
    rude.excerpt = vec![TraceLine { at_ms: 1, who: "cli > host".into(), what: "\u{7}\u{1b}]0;x\n".into(), moment: true }];
    let text = render(&suite(vec![rude]), 100, false);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(text.contains("said \\u{1b}[2Jgone"), "{text}");
}

/// The excerpt of `trace` as a report shows it: its times, the moment with a mark.
fn excerpted(trace: Vec<TraceLine>) -> Vec<String> {
    let mut run = ending("steer/plain", Verdict::Violated);
    run.excerpt = trace;
    let text = render_run(&run, &Options::default());
    let lines = text.lines().filter(|line| line.contains(" ms  "));
    lines.map(|line| line.split(" ms").next().unwrap_or_default().split_whitespace().collect()).collect()
}

#[test]
fn twelve_lines_around_the_moment() {
    let times = excerpted(trace());
    assert_eq!(times.len(), 12);
    assert_eq!((times[0].as_str(), times[7].as_str(), times[11].as_str()), ("1560", ">2400", "2880"));
    let early: Vec<TraceLine> = trace().into_iter().map(|line| TraceLine { moment: line.at_ms == 120, ..line }).collect();
    let times = excerpted(early);
    assert_eq!((times.len(), times[0].as_str(), times[11].as_str()), (12, ">120", "1440"));
    let late: Vec<TraceLine> = trace().into_iter().map(|line| TraceLine { moment: line.at_ms == 3_600, ..line }).collect();
    let times = excerpted(late);
    assert_eq!((times.len(), times[0].as_str(), times[11].as_str()), (12, "2280", ">3600"));
}

#[test]
fn no_trace_line_is_wider_than_the_page() {
    let mut run = ending("steer/plain", Verdict::Violated);
    run.excerpt = vec![TraceLine { at_ms: 1, who: "cli > host".into(), what: "x".repeat(500), moment: false }];
    for width in [0, 40, 41, 100] {
        let text = render(&suite(vec![run.clone()]), width, false);
        let widest = text.lines().filter(|line| line.contains("xxx")).map(|line| line.chars().count()).max();
        assert_eq!(widest, Some(width.max(40)), "{text}");
    }
}

#[test]
fn invariants_that_judged_nothing_are_named() {
    let text = render(&passing(), 100, false);
    assert!(text.contains("nothing to judge for: one-writer\nnot observable: converges\n"), "{text}");
}
