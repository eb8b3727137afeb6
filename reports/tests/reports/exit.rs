//! 3 > 2 > 6 > 1 > 7 > 5 > 4 > 0, for every pair and from the reports that lead there.

use reports::{ExitCode, Flags, SuiteReport, Verdict, exit_code};

use crate::fixture::{ending, run};

/// The codes as the command line documents them, the one that counts before the others first.
const ORDER: [u8; 8] = [3, 2, 6, 1, 7, 5, 4, 0];

/// A report (and what it cannot say itself) with the causes of these codes.
fn causes(codes: &[u8]) -> (SuiteReport, Flags) {
    let (mut results, mut flags) = (Vec::new(), Flags::default());
    for code in codes {
        match code {
            0 => results.push(run("fine")),
            1 => results.push(ending("wrong", Verdict::Violated)),
            2 => flags.usage = true,
            3 => results.push(ending("ours", Verdict::HarnessFault)),
            6 => {
                let mut unsteady = run("unsteady");
                unsteady.nondeterminism = Some("two ways".to_owned());
                results.push(unsteady);
            }
            7 => results.push(ending("late", Verdict::Liveness)),
            _ => {}
        }
    }
    // A usage error or a stale entry alone does not mean that nothing ran.
    if results.is_empty() && !codes.contains(&4) {
        results.push(run("fine"));
    }
    if codes.contains(&4) {
        flags.harness_fault = codes.contains(&3);
        flags.nondeterminism = codes.contains(&6);
        results.clear();
    }
    let mut report = SuiteReport::new("reference engine", results, Vec::new(), 5);
    if codes.contains(&5) {
        let text = "[[known]]\nid = \"gone\"\nverdict = \"violated\"\nwhy = \"it was\"\n";
        let listed = reports::baseline::Baseline::parse(text, "b.toml").expect("a baseline");
        reports::baseline::apply(&listed, &mut report, reports::baseline::Scope::Whole);
    }
    (report, flags)
}

fn check(codes: &[u8], expected: u8) {
    let (report, flags) = causes(codes);
    assert_eq!(exit_code(&report, flags).code(), expected, "{codes:?}: {report:#?}");
}

#[test]
fn each_cause_has_its_code() {
    for code in ORDER {
        check(&[code], code);
    }
}

#[test]
fn of_every_two_causes_the_graver_counts() {
    for (at, graver) in ORDER.into_iter().enumerate() {
        for milder in ORDER.into_iter().skip(at + 1) {
            // Nothing ran: then no run can have been wrong.
            if (graver, milder) == (1, 4) || (graver, milder) == (7, 4) || milder == 0 && graver == 4 {
                continue;
            }
            check(&[graver, milder], graver);
            check(&[milder, graver], graver);
        }
    }
}

#[test]
fn the_order_of_the_enum_is_the_documented_one() {
    assert_eq!(ExitCode::PRECEDENCE.map(ExitCode::code), ORDER);
    for (at, graver) in ExitCode::PRECEDENCE.into_iter().enumerate() {
        for milder in ExitCode::PRECEDENCE.into_iter().skip(at) {
            assert_eq!(ExitCode::first([graver, milder]), graver);
            assert_eq!(ExitCode::first([milder, graver]), graver);
        }
    }
    assert_eq!(ExitCode::first([]), ExitCode::Conforms);
}

#[test]
fn off_script_and_panics_are_failures() {
    for verdict in [Verdict::OffScript, Verdict::EnginePanicked, Verdict::Violated] {
        let report = SuiteReport::new("reference engine", vec![run("fine"), ending("wrong", verdict)], Vec::new(), 5);
        assert_eq!(exit_code(&report, Flags::default()), ExitCode::Failed, "{verdict}");
    }
}
