//! Real processes: the first frame of an understudy, and a whole `check`.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context;

use super::measure::{Aim, Row, Times, timed};

const REHEARSAL: &str = env!("CARGO_BIN_EXE_rehearsal");
/// The scene that the understudies play.
const SCENE: &str = "second-turn-typed-fork";
/// How often a process is started for its first frame.
const STARTS: usize = 300;
/// How often `check` is run.
const CHECKS: usize = 5;
/// From one look at a process's memory to the next.
const LOOK: Duration = Duration::from_millis(1);
/// What a host writes first.
const FIRST: &str = "{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":\"initialize\"}}\n";

/// From the spawn to the first whole frame, by the small binary and by the multi-call one.
pub fn first_frame() -> anyhow::Result<Vec<Row>> {
    let dir = tempfile::tempdir()?;
    let links = dir.path().join("fakes");
    let made = Command::new(REHEARSAL).arg("fakes").arg(&links).args(["--scene", SCENE]).stdout(Stdio::null()).status()?;
    anyhow::ensure!(made.success(), "`rehearsal fakes` ended with {made}");
    let small = small_binary()?;
    let mut rows = Vec::new();
    for (name, program, scene) in [
        ("first frame of claude, no scene", &small, None),
        ("first frame of claude, a scene", &small, Some(SCENE)),
        ("first frame of rehearsal as claude, a scene", &links.join("claude"), Some(SCENE)),
    ] {
        let times = Times::of(STARTS, || {
            let mut command = claude(program, dir.path());
            command.envs(scene.map(|scene| ("REHEARSAL_SCENE", scene)));
            let (time, child) = timed(|| speak(&mut command));
            let mut child = child?;
            child.kill()?;
            child.wait()?;
            Ok(time)
        })?;
        rows.push(Row { name: name.into(), value: times.median_ms(), unit: "ms", aim: Aim::Most(3.0), how: times.p95() });
    }
    Ok(rows)
}

/// What spawning anything at all costs: the floor under the first frame.
pub fn startup() -> anyhow::Result<Vec<Row>> {
    let times = Times::of(STARTS, || {
        let (time, status) = timed(|| Command::new("true").status());
        status?;
        Ok(time)
    })?;
    let how = times.p95();
    Ok(vec![Row { name: "spawn and end of `true`".into(), value: times.median_ms(), unit: "ms", aim: Aim::None, how }])
}

fn claude(program: &Path, home: &Path) -> Command {
    let words = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                 --replay-user-messages --permission-prompt-tool stdio --permission-mode bypassPermissions --model haiku";
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).current_dir(home).env_clear().env("HOME", home).env("IS_SANDBOX", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts it, writes the first line and reads the first frame.
fn speak(command: &mut Command) -> anyhow::Result<Child> {
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().context("stdin is piped")?;
    stdin.write_all(FIRST.as_bytes())?;
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().context("stdout is piped")?).read_line(&mut line)?;
    anyhow::ensure!(line.ends_with("}\n"), "the first line is {line:?}");
    Ok(child)
}

/// The fake `claude`, built as this benchmark is.
fn small_binary() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "fake-clis", "--bin", "claude"]).status()?;
    anyhow::ensure!(built.success(), "`cargo build -p fake-clis` ended with {built}");
    let folder = Path::new(REHEARSAL).parent().context("the executable stands in a folder")?;
    Ok(folder.join("claude"))
}

/// Time and peak memory of a full `check`.
pub fn check() -> anyhow::Result<Vec<Row>> {
    let mut peak = 0;
    let times = Times::of(CHECKS, || {
        let (time, most) = timed(full_check);
        peak = peak.max(most?);
        Ok(time)
    })?;
    let mut rows = vec![Row {
        name: "a full check".into(),
        value: times.median_ms() / 1000.0,
        unit: "s",
        aim: Aim::None,
        how: format!("the whole library, {CHECKS} times"),
    }];
    if peak > 0 {
        let (name, how) = ("peak memory of a full check".into(), "VmHWM of the process".into());
        rows.push(Row { name, value: peak as f64 / 1024.0, unit: "MiB", aim: Aim::Most(300.0), how });
    }
    Ok(rows)
}

/// Runs it to its end; its peak memory in KiB, 0 where the system does not tell.
fn full_check() -> anyhow::Result<u64> {
    let mut child = Command::new(REHEARSAL).arg("check").stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // The peak only grows: the last look misses at most what came in the last millisecond.
        let page = fs::read_to_string(&status).unwrap_or_default();
        let line = page.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = size.unwrap_or(0).max(peak);
        if let Some(ended) = child.try_wait()? {
            anyhow::ensure!(ended.success(), "`rehearsal check` ended with {ended}");
            return Ok(peak);
        }
        wait();
    }
}

#[allow(clippy::disallowed_methods, reason = "a benchmark waits for a process beside it; no test sleeps")]
fn wait() {
    std::thread::sleep(LOOK);
}
