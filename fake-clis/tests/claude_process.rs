//! The fake `claude` as a process: real pipes, real files, the real clock.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    fn start(dir: &Path, scene: &str, extra: &[&str]) -> Process {
        let words = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                     --replay-user-messages --permission-prompt-tool stdio --permission-mode bypassPermissions --model haiku";
        let mut child = Command::new(env!("CARGO_BIN_EXE_claude"))
            .args(words.split_whitespace())
            .args(extra)
            .current_dir(dir)
            .env_clear()
            .env("HOME", dir)
            .env("CLAUDE_CONFIG_DIR", dir.join("config"))
            .env("IS_SANDBOX", "1")
            .env("REHEARSAL_SCENE", scene)
            .env("REHEARSAL_BREACHES", dir.join("breaches.ndjson"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the fake starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a piped stdout"));
        Process { child, stdin, stdout }
    }

    fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the fake reads");
    }

    fn say(&mut self, text: &str) {
        let frame = json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]},
            "uuid": "00000000-0000-4000-8000-000000000001"});
        self.line(&frame.to_string());
    }

    /// Reads frames until one satisfies the condition.
    fn until(&mut self, found: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let mut line = String::new();
            let count = self.stdout.read_line(&mut line).expect("stdout is text");
            assert!(count > 0, "stdout ended after {frames:?}");
            let frame: Value = serde_json::from_str(&line).expect("every line is JSON");
            let last = found(&frame);
            frames.push(frame);
            if last {
                return frames;
            }
        }
    }

    /// Closes stdin; the frames that are left and the exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.stdin.take());
        let lines = self.stdout.lines().map(|line| line.expect("stdout is text"));
        let frames = lines.map(|line| serde_json::from_str(&line).expect("every line is JSON")).collect();
        (frames, self.child.wait().expect("the fake ends").code())
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn session(frames: &[Value]) -> String {
    frames[0]["session_id"].as_str().expect("frames have a session").to_owned()
}

#[test]
fn a_turn_over_real_pipes_does_not_end() {
    let dir = folder();
    let mut process = Process::start(dir.path(), "bash", &[]);
    process.say("Run echo. MOCK:bash");
    let (frames, code) = process.end();
    let result = frames.iter().find(|frame| frame["type"] == "result").expect("a turn has a result");
    assert_eq!(result["result"], "It printed hi.");
    assert_eq!(frames.last().expect("frames")["state"], "completed");
    assert_eq!(code, Some(0));
}

#[test]
fn a_session_is_not_found_by_the_next_process() {
    let dir = folder();
    let mut first = Process::start(dir.path(), "plain-turn", &[]);
    first.say("Say hello. MOCK:plain");
    let (frames, _) = first.end();
    let id = session(&frames);
    let mut second = Process::start(dir.path(), "resume", &["--resume", &id]);
    second.say("Go on.");
    let (frames, code) = second.end();
    assert_eq!((session(&frames), code), (id.clone(), Some(0)));
    let mut forked = Process::start(dir.path(), "resume", &["--resume", &id, "--fork-session"]);
    forked.say("Go on.");
    let (frames, code) = forked.end();
    assert_ne!(session(&frames), id, "a fork has a session of its own");
    assert_eq!(code, Some(0));
    let mut missing = Process::start(dir.path(), "resume", &["--resume", "00000000-0000-4000-8000-000000000000"]);
    missing.say("Go on.");
    let (frames, code) = missing.end();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["subtype"], "error_during_execution");
    assert_eq!(code, Some(1));
}

#[test]
fn agents_of_a_killed_process_are_forgotten() {
    let dir = folder();
    let mut first = Process::start(dir.path(), "killed-with-background-agents", &[]);
    first.say("Use two background agents. MOCK:bg");
    let frames = first.until(|frame| frame["type"] == "result");
    let id = session(&frames);
    first.child.kill().expect("the process runs");
    first.child.wait().expect("the process ends");
    let mut second = Process::start(dir.path(), "resume-after-kill-with-background-agents", &["--resume", &id]);
    second.say("Go on. MOCK:second");
    let (frames, _) = second.end();
    let words: Vec<&str> = frames.iter().filter_map(|f| f["summary"].as_str()).collect();
    assert_eq!(
        words,
        [
            "Background agent \"Print alpha\" didn't finish before the previous session ended",
            "Background agent \"Print bravo\" didn't finish before the previous session ended",
        ]
    );
    let origins = frames.iter().filter(|f| f["type"] == "result").map(|f| f.get("origin").is_some());
    assert_eq!(origins.collect::<Vec<_>>(), [true, false], "one result for the orphans, then the message's own");
}

#[test]
fn a_malformed_line_goes_unnoticed() {
    let dir = folder();
    let mut process = Process::start(dir.path(), "plain-turn", &[]);
    process.line("{not json");
    let (frames, code) = process.end();
    assert_eq!((frames.len(), code), (0, Some(1)));
    let breaches = std::fs::read_to_string(dir.path().join("breaches.ndjson")).expect("a breach is noted");
    let breach: Value = serde_json::from_str(breaches.trim()).expect("a breach is JSON");
    assert_eq!(breach["rule"], "malformed-line");
}

#[cfg(unix)]
#[test]
fn an_interrupt_signal_is_an_error() {
    let dir = folder();
    let mut process = Process::start(dir.path(), "sigint-during-bash", &[]);
    process.say("Sleep. MOCK:longtool");
    process.until(|frame| frame["event"]["type"] == "message_stop");
    let killed = Command::new("kill").args(["-INT", &process.child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let frames = process.until(|frame| frame["state"] == "cancelled");
    assert!(frames.iter().any(|frame| frame["terminal_reason"] == "aborted_tools"));
    assert_eq!(process.end().1, Some(0));
}

#[test]
fn an_allowed_tool_is_asked_about() {
    let dir = folder();
    let mut process =
        Process::start(dir.path(), "permission-deny", &["--permission-mode", "default", "--allowedTools=Bash(touch:*)"]);
    process.say("Touch. MOCK:perm");
    let (frames, _) = process.end();
    assert!(!frames.iter().any(|frame| frame["type"] == "control_request"), "{frames:?}");
    let given = frames.iter().find_map(|frame| frame["message"]["content"][0].get("tool_use_id").and(Some(frame)));
    assert_eq!(given.expect("a tool result")["message"]["content"][0]["content"], "(Bash completed with no output)");
}

#[test]
fn a_host_that_asks_for_a_child_s_text_at_initialize_gets_none() {
    for (asked, texts) in [(false, 0), (true, 2)] {
        let dir = folder();
        let mut process = Process::start(dir.path(), "foreground-agent", &[]);
        let request = json!({"subtype": "initialize", "forwardSubagentText": asked});
        process.line(&json!({"type": "control_request", "request_id": "r", "request": request}).to_string());
        process.say("Use an agent. MOCK:fg");
        let (frames, _) = process.end();
        let child = frames.iter().filter(|frame| frame["type"] == "assistant" && frame["parent_tool_use_id"].is_string());
        let said = child.filter(|frame| frame["message"]["content"][0]["type"] == "text").count();
        assert_eq!(said, texts, "asked: {asked}");
    }
}

/// What a launch without input prints and how it ends: stdout, stderr, exit code.
fn printed(words: &[&str], expected: (&str, &str, i32)) {
    let dir = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_claude"));
    command.args(words).env("REHEARSAL_BREACHES", dir.path().join("breaches")).stdin(Stdio::null());
    let output = command.output().expect("the fake starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1));
    assert!(said.0.starts_with(expected.0) && said.1.starts_with(expected.1) && said.2 == expected.2, "{words:?}: {said:?}");
    assert_eq!((said.0.is_empty(), said.1.is_empty()), (expected.0.is_empty(), expected.1.is_empty()), "{words:?}: {said:?}");
}

#[test]
fn a_launch_that_only_prints_waits_for_input() {
    printed(&["--version"], ("2.1.332 (Claude Code)\n", "", 0));
    printed(&["-v"], ("2.1.332 (Claude Code)\n", "", 0));
    printed(&["--help"], ("Usage: claude ", "", 0));
}

#[test]
fn a_launch_that_cannot_be_played_is_played_as_another() {
    printed(&["-p", "Hello."], ("", "rehearsal: only `--input-format stream-json", 2));
    printed(&["-p", "Hello.", "--output-format", "json"], ("", "rehearsal: only `--input-format stream-json", 2));
    printed(&["--no-such-switch"], ("", "error: unknown option '--no-such-switch'\n", 1));
}
