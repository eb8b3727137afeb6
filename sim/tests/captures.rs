//! `rehearsal captures`: what comes in, what is said about it, and what is refused.

mod common;

use std::{fs, path::Path};

use captures::{catalog::Catalog, format::From, provider::Provider};
use common::rehearsal;
use serde_json::Value;

/// Runs `captures …`: exit code, stdout and stderr. `DIR` in an argument, and in what is printed, is the directory.
fn run(dir: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let path = dir.to_str().expect("UTF-8");
    let arguments = arguments.iter().map(|argument| argument.replace("DIR", path));
    let output = rehearsal().arg("captures").args(arguments).output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(path, "DIR");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What a command says that is refused, with its exit code.
#[track_caller]
fn check_refused(name: &str, file: &str, arguments: &[&str]) {
    let dir = tempfile::tempdir().expect("dir");
    fs::write(dir.path().join("given.ndjson"), file).expect("write");
    let (code, out, err) = run(dir.path(), arguments);
    assert!(out.is_empty(), "{out}");
    insta::assert_snapshot!(name, format!("exit {}\n{}", code.unwrap_or(-1), err.trim_end()), &arguments.join(" "));
}

macro_rules! refused {
    ($($name:ident: $file:expr, $($argument:expr),+;)+) => {
        $(#[test] fn $name() { check_refused(stringify!($name), $file, &[$($argument),+]); })+
    };
}

const LOG: &str =
    "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"uuid\":\"u\",\"claude_code_version\":\"2.1.310\"}\n";

refused! {
    import_of_nothing: LOG, "import", "--output", "DIR/out";
    import_without_an_output: LOG, "import", "DIR/given.ndjson";
    import_of_a_file_that_is_not_there: LOG, "import", "DIR/other.log", "--output", "DIR/out";
    import_of_a_format_that_is_none: LOG, "import", "DIR/given.ndjson", "--output", "DIR/out", "--format", "har";
    import_of_a_provider_that_is_none: LOG, "import", "DIR/given.ndjson", "--output", "DIR/out", "--provider", "gemini";
    import_of_two_files_as_one_scene: LOG, "import", "DIR/given.ndjson", "DIR/given.ndjson", "--output", "DIR/out", "--scene", "one";
    import_with_a_scene_of_two_words: LOG, "import", "DIR/given.ndjson", "--output", "DIR/out", "--scene", "Two Words";
    import_with_a_day_that_is_none: LOG, "import", "DIR/given.ndjson", "--output", "DIR/out", "--recorded-on", "yesterday";
    import_of_a_log_without_a_version: "{\"type\":\"result\",\"session_id\":\"s\"}\n", "import", "DIR/given.ndjson", "--output", "DIR/out";
    import_of_a_stray_line: "{\"type\":\"result\",\"session_id\":\"s\"}\nhello\n", "import", "DIR/given.ndjson", "--output", "DIR/out";
    verify_of_a_log: LOG, "verify", "DIR/given.ndjson";
    verify_of_no_scene: LOG, "verify", "no-such-scene";
    verify_in_a_mode_that_is_none: LOG, "verify", "--mode", "both";
    show_of_a_scene_that_is_not_there: LOG, "show", "plain-tern";
    diff_of_one: LOG, "diff", "plain-turn";
    diff_with_a_version_that_is_not_there: LOG, "diff", "plain-turn@2.1.310", "plain-turn@2.1.311";
    diff_with_a_log: LOG, "diff", "plain-turn", "DIR/given.ndjson";
    tee_without_a_cli: LOG, "tee", "--output", "DIR/out";
    tee_of_a_cli_that_is_not_there: LOG, "tee", "--output", "DIR/out", "--", "no-such-cli";
    tee_into_a_file: LOG, "tee", "--output", "DIR/given.ndjson", "--", "true";
    tee_with_a_scene_of_two_words: LOG, "tee", "--output", "DIR/out", "--scene", "Two Words", "--", "true";
}

/// A log of both directions, without any, made of a scene.
fn log(scene: &str) -> String {
    let capture = Catalog::embedded().get(Provider::Claude, "2.1.310", scene).expect("scene");
    let frames = capture.entries.iter().filter_map(|entry| entry.what.frame());
    frames.map(|frame| format!("{frame}\n")).collect()
}

/// Imports a file, verifies it and plays it; the trace, and what import said.
#[track_caller]
fn check_plays(name: &str, text: &str) -> (String, String) {
    let dir = tempfile::tempdir().expect("dir");
    fs::write(dir.path().join(name), text).expect("write");
    let file = format!("DIR/{name}");
    let (code, out, said) =
        run(dir.path(), &["import", &file, "--output", "DIR/out", "--scene", "imported", "--cli-version", "2.1.310"]);
    assert_eq!((code, out.lines().count()), (Some(0), 1), "{out}{said}");
    let capture = "DIR/out/claude/2.1.310/imported.ndjson";
    let (code, out, err) = run(dir.path(), &["verify", capture]);
    assert_eq!(code, Some(0), "{out}{err}");
    let path = dir.path().join("out/claude/2.1.310/imported.ndjson");
    let output = rehearsal().args(["run", "--trace", "--capture"]).arg(path).output().expect("runs");
    let trace = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{trace}");
    (trace, said)
}

#[test]
fn a_plain_log_is_imported_with_its_guesses_said_and_plays_to_the_recorded_reply() {
    let (trace, said) = check_plays("plain.log", &log("plain-turn"));
    assert!(trace.contains("Hello from the mock. This is a plain turn."), "{trace}");
    for words in ["directions none in the log", "times      none in the log", "version    2.1.310", "origin     recorded"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_dump_of_stdout_alone_plays_too() {
    let capture = Catalog::embedded().get(Provider::Claude, "2.1.310", "plain-turn").expect("scene");
    let said = capture.entries.iter().filter(|entry| entry.from == From::Cli).filter_map(|entry| entry.what.frame());
    let (trace, said) = check_plays("stdout.jsonl", &said.map(|frame| format!("{frame}\n")).collect::<String>());
    assert!(trace.contains("Hello from the mock. This is a plain turn."), "{trace}");
    assert!(said.contains("made up: 1 messages from their replays") && said.contains("origin     synthetic"), "{said}");
}

#[test]
fn a_transcript_plays() {
    let record = |uuid: &str, kind: &str, second: u32, message: Value| {
        let line = serde_json::json!({"parentUuid": null, "isSidechain": false, "cwd": "/home/someone/project", "version": "2.1.310",
            "sessionId": "11111111-1111-4111-8111-111111111111", "type": kind, "message": message,
            "uuid": format!("22222222-2222-4222-8222-0000000000{uuid}"), "timestamp": format!("2026-11-30T10:00:{second:02}.000Z")});
        format!("{line}\n")
    };
    let reply = |text: &str| {
        serde_json::json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-5-5", "stop_reason": null,
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 3, "output_tokens": 5}})
    };
    let text = [
        record("01", "user", 1, serde_json::json!({"role": "user", "content": "what is in the attic?"})),
        record("02", "assistant", 2, reply("Three boxes, said someone.")),
    ]
    .concat();
    let (trace, said) = check_plays("session.jsonl", &text);
    assert!(trace.contains("Three boxes, said dev."), "{trace}");
    assert!(said.contains("origin     synthetic") && said.contains("scrubbed   home directories (1), user names (2)"), "{said}");
}

#[test]
fn lines_of_another_harness_play() {
    let text = concat!(
        r#"{"expect":{"type":"user","message":{"content":"knock knock"}}}"#,
        "\n",
        r#"{"emit":{"type":"system","subtype":"init","cwd":"/x","permissionMode":"bypassPermissions"},"delay_ms":40}"#,
        "\n",
        r#"{"emit":{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":null,"content":[{"type":"text","text":"Who is there?"}],"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null}}"#,
        "\n",
        r#"{"emit":{"type":"result","subtype":"success","is_error":false,"result":"Who is there?"}}"#,
        "\n",
    );
    let (trace, _) = check_plays("fake.ndjson", text);
    assert!(trace.contains("knock knock") && trace.contains("Who is there?"), "{trace}");
}

#[test]
fn two_versions_of_a_scene_differ_and_a_scene_equals_itself() {
    let dir = tempfile::tempdir().expect("dir");
    let (code, out, _) = run(dir.path(), &["diff", "plain-turn@2.1.310", "plain-turn@2.1.332"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!("diff_of_two_versions", out);
    let (code, out, _) = run(dir.path(), &["diff", "plain-turn@2.1.310", "plain-turn@2.1.310"]);
    assert_eq!((code, out.ends_with("equal, per stream\n")), (Some(0), true), "{out}");
    let (code, out, _) = run(dir.path(), &["diff", "typed-fork@2.1.310", "typed-fork@2.1.332", "--format", "json"]);
    let json: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &json["equal"], &json["right"]["version"]), (Some(1), &false.into(), &"2.1.332".into()));
}
