//! Understudies on a PATH, by their links to the one executable.

mod common;

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use common::rehearsal;

/// Starts the linked `claude` with these arguments, writes `lines`, closes stdin; exit code and stdout.
fn claude(dir: &Path, arguments: &[&str], lines: &str) -> (Option<i32>, String) {
    let mut child = Command::new(dir.join("claude"))
        .args(arguments)
        .env("IS_SANDBOX", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut stdin = child.stdin.take().expect("stdin");
    // A process that refuses its launch is gone before it reads.
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

const STREAM: [&str; 6] = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

#[test]
fn a_linked_understudy_plays_its_scene_and_a_sound_host_breaks_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().to_str().expect("UTF-8");
    let made = rehearsal().args(["fakes", path, "--scene", "plain-turn", "--provider", "claude@2.1.310"]).output().expect("runs");
    assert!(made.status.success(), "{made:?}");
    assert_eq!(claude(dir.path(), &["--version"], "").1, "2.1.310 (Claude Code)\n");
    let line = r#"{"type":"user","message":{"role":"user","content":"Say hello. MOCK:plain"}}"#;
    let (code, out) = claude(dir.path(), &STREAM, &format!("{line}\n"));
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("Hello from the mock. This is a plain turn."), "{out}");
    let breaches = rehearsal().args(["breaches", path]).output().expect("runs");
    assert_eq!(breaches.status.code(), Some(0), "{breaches:?}");
}

#[test]
fn a_host_line_that_the_cli_would_reject_is_a_named_breach() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().to_str().expect("UTF-8");
    assert!(rehearsal().args(["fakes", path]).output().expect("runs").status.success());
    let (code, _) = claude(dir.path(), &STREAM, "this is no JSON\n");
    assert_eq!(code, Some(1));
    let breaches = rehearsal().args(["breaches", path]).output().expect("runs");
    assert_eq!(breaches.status.code(), Some(1));
    let page = String::from_utf8_lossy(&breaches.stdout).into_owned();
    assert!(page.contains("malformed-line") && page.ends_with("1 breaches\n"), "{page}");
}

#[test]
fn an_unknown_scene_makes_nothing() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("fakes");
    let made = rehearsal().args(["fakes", path.to_str().expect("UTF-8"), "--scene", "no-such-scene"]).output().expect("runs");
    assert_eq!(made.status.code(), Some(2));
    assert!(!path.exists());
}
