//! `check --check-determinism`: everything once more in a process of its own, trace hash against trace hash.
//!
//! A second process shares nothing with the first: not the addresses, not the order in which anything was made before. Where a
//! trace differs both are told again, line by line, from the last line that they have in common.

use std::{path::Path, process::Command};

use super::Failure;
use crate::trace::Line;

/// Lines of each continuation that are told.
const TOLD: usize = 3;

/// One run by the line that plays it again, and the hash of its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hashed {
    /// `captures/bash --provider claude@2.1.332 …`: the arguments of `run`.
    pub(super) arguments: Vec<String>,
    /// The hash.
    pub(super) hash: String,
}

/// Writes the runs of this process for the one that compares.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(file: &Path, runs: &[Hashed]) -> Result<(), Failure> {
    let lines: String = runs.iter().map(|run| format!("{}\t{}\n", run.hash, run.arguments.join("\t"))).collect();
    std::fs::write(file, lines)
        .map_err(|error| Failure::usage(format!("failed to write the hashes to {}: {error}", file.display())))
}

/// A second process that runs the same.
pub(super) struct Second {
    child: std::process::Child,
    file: tempfile::NamedTempFile,
}

#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the second process is what is compared, no part of a run"
)]
impl Second {
    /// Starts it with the arguments of this process, without those that say how to report.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(arguments: &[String]) -> Result<Self, Failure> {
        let file = tempfile::NamedTempFile::new()
            .map_err(|error| anyhow::anyhow!("failed to make a file for the hashes of the second process: {error}"))?;
        let child = this()?
            .arg("check")
            .args(arguments)
            .arg("--hashes")
            .arg(file.path())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .map_err(|error| anyhow::anyhow!("failed to start the second process: {error}"))?;
        Ok(Second { child, file })
    }

    /// Its runs, when it is done.
    ///
    /// # Errors
    /// When it ended without having written them.
    pub(super) fn runs(mut self) -> Result<Vec<Hashed>, Failure> {
        let failed = |words: String| Failure::from(anyhow::anyhow!("the second process of --check-determinism {words}"));
        let status = self.child.wait().map_err(|error| failed(format!("cannot be waited for: {error}")))?;
        let text = std::fs::read_to_string(self.file.path()).map_err(|error| failed(format!("left no hashes: {error}")))?;
        if text.is_empty() {
            return Err(failed(format!("ended with {status} and wrote no hashes")));
        }
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        let words = |arguments: &str| arguments.split('\t').map(str::to_owned).collect();
        Ok(lines.map(|(hash, arguments)| Hashed { arguments: words(arguments), hash: hash.to_owned() }).collect())
    }
}

/// This executable.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the second process is what is compared, no part of a run"
)]
fn this() -> Result<Command, Failure> {
    let exe =
        std::env::current_exe().map_err(|error| Failure::from(anyhow::anyhow!("failed to find this executable: {error}")))?;
    Ok(Command::new(exe))
}

/// Runs whose hashes differ, by their place; a run that only one side has differs, too.
pub(super) fn different(here: &[Hashed], there: &[Hashed]) -> Vec<usize> {
    let length = here.len().max(there.len());
    (0..length).filter(|at| here.get(*at) != there.get(*at)).collect()
}

/// How two traces of one run part.
pub(super) fn parting(here: &[Line], there: &[Line]) -> String {
    let same = here.iter().zip(there).take_while(|(a, b)| a == b).count();
    let show = |lines: &[Line]| {
        let told: Vec<String> =
            lines.iter().skip(same).take(TOLD).map(|line| format!("{} ms {} {}", line.at, line.who, line.what)).collect();
        if told.is_empty() { "nothing more".to_owned() } else { told.join(" · ") }
    };
    if same == here.len() && same == there.len() {
        return format!("the traces have the same {same} lines, but not the same bytes behind them");
    }
    let common = here[..same].last().map_or("the start".to_owned(), |line| format!("{} ms {} {}", line.at, line.who, line.what));
    format!("equal for {same} lines, up to: {common}\nthis process: {}\nthe second: {}", show(here), show(there))
}

/// The trace of a run in a process of its own.
///
/// # Errors
/// When the process does not tell it.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the second process is what is compared, no part of a run"
)]
pub(super) fn trace(arguments: &[String]) -> Result<Vec<Line>, Failure> {
    let output = this()?
        .arg("run")
        .args(arguments)
        .args(["--trace", "ndjson"])
        .output()
        .map_err(|error| Failure::from(anyhow::anyhow!("failed to run the second process: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map_while(|line| serde_json::from_str(line).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(whats: &[&str]) -> Vec<Line> {
        let line = |(at, what): (usize, &&str)| Line { at: at as u64, who: "host".to_owned(), what: (*what).to_owned() };
        whats.iter().enumerate().map(line).collect()
    }

    #[test]
    fn two_traces_are_told_from_the_line_where_they_part() {
        let told = parting(&lines(&["a", "b", "c"]), &lines(&["a", "b", "d"]));
        assert_eq!(told, "equal for 2 lines, up to: 1 ms host b\nthis process: 2 ms host c\nthe second: 2 ms host d");
        let told = parting(&lines(&["a"]), &lines(&["a", "b"]));
        assert_eq!(told, "equal for 1 lines, up to: 0 ms host a\nthis process: nothing more\nthe second: 1 ms host b");
    }

    #[test]
    fn a_run_that_only_one_process_had_is_a_difference() {
        let run = |hash: &str| Hashed { arguments: vec!["a".to_owned()], hash: hash.to_owned() };
        assert_eq!(different(&[run("1"), run("2")], &[run("1"), run("3")]), [1]);
        assert_eq!(different(&[run("1")], &[run("1"), run("3")]), [1]);
        assert!(different(&[run("1")], &[run("1")]).is_empty());
    }
}
