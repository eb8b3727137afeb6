//! `rehearsal captures tee`: neither of the two can tell that somebody stands between them.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use captures::{
    catalog::Catalog,
    format::{Capture, From, Origin, Stream, What, parse},
    provider::Provider,
    verify,
};
use common::rehearsal;

/// A directory for understudies and captures.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().expect("dir"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A command, or the same through tee.
    fn command(&self, tee: bool, words: &[&str]) -> Command {
        let mut command = if tee {
            let mut command = Command::new(PathBuf::from(env!("CARGO_BIN_EXE_rehearsal")));
            command.args(["captures", "tee", "--scene", "heard", "--output"]).arg(self.path().join("out")).arg("--");
            command.args(words);
            command
        } else {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            command
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path().join("out/heard.ndjson")).expect("a capture")
    }

    fn capture(&self) -> Capture {
        parse("heard.ndjson", &self.text()).expect("a sound capture")
    }
}

/// Writes everything, closes stdin, reads everything: stdout, stderr, exit code, signal.
fn talk(mut child: Child, input: &[u8]) -> (Vec<u8>, Vec<u8>, Option<i32>, Option<i32>) {
    let (mut stdin, mut stdout) = (child.stdin.take().expect("stdin"), child.stdout.take().expect("stdout"));
    let mut said = Vec::new();
    // One thread: what the pipes hold must be enough, or the other end reads first.
    let _ = stdin.write_all(input);
    drop(stdin);
    stdout.read_to_end(&mut said).expect("stdout");
    let output = child.wait_with_output().expect("ends");
    (said, output.stderr, output.status.code(), output.status.signal())
}

/// The same talk with a program by itself and through tee must be the same; the capture of it.
#[track_caller]
fn check(script: &str, input: &[u8]) -> Capture {
    let desk = Desk::new();
    let words = ["sh", "-c", script];
    let direct = talk(desk.command(false, &words).spawn().expect("starts"), input);
    let through = talk(desk.command(true, &words).spawn().expect("starts"), input);
    assert!(direct == through, "{direct:?}\n{through:?}");
    let left: Vec<_> = fs::read_dir(desk.path().join("out")).expect("dir").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let capture = desk.capture();
    assert_eq!(verify::tape(&capture).into_iter().find(|finding| finding.rule != "no-type"), None);
    capture
}

fn whats(capture: &Capture) -> Vec<(From, What)> {
    capture.entries.iter().map(|entry| (entry.from, entry.what.clone())).collect()
}

fn raw(from: From, text: &str) -> (From, What) {
    (from, What::Raw(text.to_owned()))
}

#[test]
fn bytes_that_are_no_frames_go_through_as_they_are() {
    let input = b"one\r\n\n\xff\xfe\0 binary\n{\"a\": 1 }\nno end";
    let capture = check("cat; printf 'err\\nor' >&2; exit 3", input);
    let from_host: Vec<_> = whats(&capture).into_iter().filter(|(from, _)| *from == From::Host).collect();
    let close = (From::Host, What::Close(Stream::Stdin));
    let frame = (From::Host, What::Frame(serde_json::json!({"a": 1})));
    let binary = raw(From::Host, "\u{fffd}\u{fffd}\0 binary");
    assert_eq!(from_host, [raw(From::Host, "one"), raw(From::Host, ""), binary, frame, raw(From::Host, "no end"), close]);
    assert_eq!(capture.entries.last().expect("exit").what, What::Exit(captures::format::Exit { code: Some(3), signal: None }));
}

#[test]
fn a_signal_that_ends_the_cli_ends_the_tee() {
    let capture = check("kill -KILL $$", b"");
    let exit = captures::format::Exit { code: None, signal: Some("SIGKILL".into()) };
    assert_eq!(capture.entries.last().expect("exit").what, What::Exit(exit));
    check("kill -TERM $$", b"");
}

#[test]
fn an_end_of_stdout_before_the_exit_is_passed_on() {
    let desk = Desk::new();
    let mut child = desk.command(true, &["sh", "-c", "echo '{}'; exec >&-; read line; exit 5"]).spawn().expect("starts");
    let mut said = String::new();
    // Ends although the process is there: it waits for a line.
    child.stdout.take().expect("stdout").read_to_string(&mut said).expect("reads");
    assert_eq!(said, "{}\n");
    child.stdin.take().expect("stdin").write_all(b"go\n").expect("writes");
    assert_eq!(child.wait().expect("ends").code(), Some(5));
}

#[test]
fn a_cli_that_reads_no_more_breaks_the_hosts_pipe() {
    let desk = Desk::new();
    let mut child = desk.command(true, &["sh", "-c", "exec <&-; echo closed; sleep 20"]).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("reads");
    let mut stdin = child.stdin.take().expect("stdin");
    // The first write may still fit into a pipe on the way; one of the next breaks.
    let broke = (0..10_000).any(|_| stdin.write_all(&[b'x'; 4096]).is_err());
    assert!(broke);
    child.kill().expect("kills");
    child.wait().expect("ends");
}

#[test]
fn signals_are_passed_on_and_written_down() {
    for (name, signal) in [("TERM", "SIGTERM"), ("INT", "SIGINT")] {
        let desk = Desk::new();
        let script = format!("trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let mut child = desk.command(true, &["sh", "-c", &script]).spawn().expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        assert_eq!(lines.next().expect("a line").expect("reads"), "ready");
        let sent = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        assert_eq!(lines.next().expect("a line").expect("reads"), "caught");
        assert_eq!(child.wait().expect("ends").code(), Some(9));
        assert!(whats(&desk.capture()).contains(&(From::World, What::Signal(signal.into()))), "{signal}");
    }
}

#[test]
fn a_tee_that_is_killed_leaves_what_was_said_until_then() {
    let desk = Desk::new();
    let mut child = desk.command(true, &["sh", "-c", "echo '{\"type\":\"a\"}'; cat"]).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("reads");
    child.kill().expect("kills");
    child.wait().expect("ends");
    assert_eq!(whats(&desk.capture()), [(From::Cli, What::Frame(serde_json::json!({"type": "a"})))]);
}

#[test]
fn a_line_of_64_mib_goes_through_and_into_the_capture_in_bounded_memory() {
    const SIZE: usize = 64 * 1024 * 1024;
    let desk = Desk::new();
    // The CLI says the line by itself, and what the peak of the tee's memory was until it had ended.
    let script = format!(
        "printf '{{\"type\":\"big\",\"text\":\"'; head -c {SIZE} /dev/zero | tr '\\0' x; echo '\"}}'; grep VmHWM /proc/$PPID/status >&2"
    );
    let child = desk.command(true, &["sh", "-c", &script]).spawn().expect("starts");
    let (said, err, code, _) = talk(child, b"");
    assert_eq!((said.len(), code), (SIZE + "{\"type\":\"big\",\"text\":\"\"}\n".len(), Some(0)));
    let peak: usize = String::from_utf8_lossy(&err).split_whitespace().find_map(|word| word.parse().ok()).expect("VmHWM");
    assert!(peak < 32 * 1024, "{peak} KiB");
    let capture = desk.capture();
    let text =
        capture.entries.iter().find_map(|entry| entry.what.frame()).expect("a frame")["text"].as_str().expect("text").len();
    assert_eq!(text, SIZE);
}

#[test]
fn a_second_process_of_one_scene_gets_a_file_of_its_own() {
    let desk = Desk::new();
    for _ in 0..2 {
        talk(desk.command(true, &["true"]).spawn().expect("starts"), b"");
    }
    let second = fs::read_to_string(desk.path().join("out/heard-2.ndjson")).expect("a second capture");
    assert_eq!(parse("heard-2.ndjson", &second).expect("sound").header.scene, "heard-2");
}

/// A session with the fake `claude`: the recorded host line goes in, stdin is closed after the result.
fn session(desk: &Desk, tee: bool, scene: &str) -> Vec<String> {
    let recorded = Catalog::embedded().get(Provider::Claude, "2.1.310", scene).expect("scene");
    let program = desk.path().join("fakes/claude").display().to_string();
    let mut words = vec![program.as_str()];
    words.extend(recorded.header.launch[1..].iter().map(String::as_str));
    let mut command = desk.command(tee, &words);
    command.env("CLAUDE_CONFIG_DIR", desk.path().join(if tee { "through" } else { "direct" }));
    command
        .env("IS_SANDBOX", "1")
        .env("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT", "1")
        .env("ANTHROPIC_API_KEY", "sk-ant-a-secret-key-1");
    let mut child = command.spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("stdin");
    for entry in recorded.entries.iter().filter(|entry| entry.from == From::Host) {
        if let What::Frame(frame) = &entry.what {
            writeln!(stdin, "{frame}").expect("writes");
        }
    }
    let mut stdin = Some(stdin);
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("stdout")).lines() {
        let line = line.expect("reads");
        // The session's last line: nothing more is to come.
        if line.contains(r#""state":"completed""#) {
            stdin.take();
        }
        said.push(line);
    }
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    said
}

/// A line without the times of day and durations that the real clock puts in, and without the place of the session's files.
fn timeless(line: &str) -> String {
    let mut frame: serde_json::Value = serde_json::from_str(line).expect("JSON");
    fn drop(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(keys) => {
                for (key, value) in keys.iter_mut() {
                    if key == "timestamp"
                        || key == "run_id"
                        || key == "end_time"
                        || key.ends_with("_ms")
                        || key == "memory_paths"
                        || key == "messaging_socket_path"
                    {
                        *value = serde_json::Value::Null;
                    }
                    drop(value);
                }
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(drop),
            _ => {}
        }
    }
    drop(&mut frame);
    frame.to_string()
}

#[test]
fn a_session_with_an_understudy_is_the_same_and_its_capture_is_what_the_model_says() {
    for scene in ["bash", "typed-fork"] {
        let desk = Desk::new();
        let fakes = desk.path().join("fakes");
        let cast = ["--scene", scene, "--provider", "claude@2.1.310", "--seed", "7"];
        let made = rehearsal().arg("fakes").arg(&fakes).args(cast).output().expect("runs");
        assert!(made.status.success(), "{made:?}");
        let (direct, through) = (session(&desk, false, scene), session(&desk, true, scene));
        let all = |lines: &[String]| lines.iter().map(|line| timeless(line)).collect::<Vec<_>>();
        assert_eq!(all(&direct), all(&through), "{scene}");
        let capture = desk.capture();
        let frames: Vec<String> = capture
            .entries
            .iter()
            .filter(|entry| entry.from == From::Cli)
            .filter_map(|entry| entry.what.frame().map(ToString::to_string))
            .collect();
        assert_eq!(frames, through, "{scene}");
        assert_eq!((capture.header.origin, capture.header.version.as_str()), (Origin::Synthetic, "2.1.310"), "{scene}");
        assert!(!desk.text().contains("a-secret-key"), "{scene}");
        let file = desk.path().join("out/heard.ndjson");
        for mode in ["tape", "model"] {
            let verified = rehearsal().args(["captures", "verify", "--mode", mode]).arg(&file).output().expect("runs");
            assert_eq!(verified.status.code(), Some(0), "{scene} {mode}: {}", String::from_utf8_lossy(&verified.stdout));
        }
        let played = rehearsal().args(["run", "--capture"]).arg(&file).output().expect("runs");
        assert_eq!(played.status.code(), Some(0), "{scene}: {}", String::from_utf8_lossy(&played.stdout));
    }
}
