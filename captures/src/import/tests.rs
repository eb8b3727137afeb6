use super::recording;
use crate::format::{Exit, From, Stream, What};

const HEADER: &str = r#"{"recording":1,"provider":"claude","version":"2.1.310","scene":"made-up","origin":"recorded","launch":["claude"],"env":{"A":"1"},"model":"scripted","recorded_on":"2026-11-30","scrubbed":["paths"]}"#;

/// What one line of a recording becomes.
fn check(line: &str, from: From, what: What) {
    let capture = recording("made-up.jsonl", &format!("{HEADER}\n{line}\n")).unwrap();
    let [entry] = &capture.entries[..] else { panic!("{} entries of one line", capture.entries.len()) };
    assert_eq!((entry.from, &entry.what, &entry.label), (from, &what, &None), "{line}");
}

fn check_error(text: &str, line: usize, problem: &str) {
    let text = if line == 1 { text.to_owned() } else { format!("{HEADER}\n{text}") };
    let error = recording("wrong.jsonl", &text).expect_err("a wrong recording was imported");
    assert_eq!((error.file.as_str(), error.line), ("wrong.jsonl", line), "{error}");
    assert!(error.problem.contains(problem), "problem: {}\nexpected: {problem}", error.problem);
    assert!(!error.help.is_empty(), "{error}");
}

fn meta(event: &str) -> String {
    format!(r#"{{"t_ms":1.5,"dir":"meta","frame":{event}}}"#)
}

#[test]
fn each_line_becomes_what_it_meant() {
    let frame = || What::Frame(serde_json::json!({"type":"user"}));
    check(r#"{"t_ms":1.5,"dir":"in","frame":{"type":"user"}}"#, From::Host, frame());
    check(r#"{"t_ms":1.5,"dir":"out","frame":{"type":"user"}}"#, From::Cli, frame());
    check(&meta(r#"{"event":"stdin_closed"}"#), From::Host, What::Close(Stream::Stdin));
    check(&meta(r#"{"event":"stdout_eof"}"#), From::Cli, What::Close(Stream::Stdout));
    check(&meta(r#"{"event":"stdin_broken_pipe"}"#), From::Cli, What::Close(Stream::Stdin));
    check(&meta(r#"{"event":"SIGKILL"}"#), From::World, What::Signal("SIGKILL".to_owned()));
}

#[test]
fn a_line_that_was_no_json_stays_as_it_was() {
    let raw = || What::Raw("this is not json".to_owned());
    check(r#"{"t_ms":1.5,"dir":"in","frame":{"_raw":"this is not json"}}"#, From::Host, raw());
    check(r#"{"t_ms":1.5,"dir":"in","frame":"this is not json"}"#, From::Host, raw());
}

#[test]
fn a_negative_rc_is_a_signal() {
    for (rc, code, signal) in [
        (0, Some(0), None),
        (1, Some(1), None),
        (-2, None, Some("SIGINT")),
        (-9, None, Some("SIGKILL")),
        (-15, None, Some("SIGTERM")),
    ] {
        let exit = Exit { code, signal: signal.map(str::to_owned) };
        check(&meta(&format!(r#"{{"event":"exit","rc":{rc}}}"#)), From::Cli, What::Exit(exit));
    }
}

#[test]
fn a_header_becomes_a_header() {
    let header = recording("made-up.jsonl", HEADER).unwrap().header;
    assert_eq!((header.scene.as_str(), header.env["A"].as_str(), header.note), ("made-up", "1", None));
}

#[test]
fn a_recording_of_another_provider_is_refused() {
    check_error(&HEADER.replace(r#""claude","version"#, r#""codex","config":{},"version"#), 1, "a recording of codex");
}

#[test]
fn a_recording_of_another_format_is_refused() {
    check_error(&HEADER.replace(r#""recording":1"#, r#""recording":2"#), 1, "recording format 2: expected 1");
    check_error(r#"{"capture":1}"#, 1, "no recording");
    check_error("", 1, "EOF");
}

#[test]
fn a_header_with_an_unknown_key_is_refused() {
    check_error(&HEADER.replace(r#""env""#, r#""envy":1,"env""#), 1, "unknown field `envy`");
}

#[test]
fn a_line_with_an_unknown_key_or_direction_is_refused() {
    check_error(r#"{"t_ms":1,"dir":"in","proc":"p1","frame":{}}"#, 2, "unknown field `proc`");
    check_error(r#"{"t_ms":1,"dir":"note","frame":{}}"#, 2, "unknown variant `note`");
}

#[test]
fn an_event_that_nobody_knows_is_refused() {
    check_error(&meta(r#"{"event":"SIGWINCH"}"#), 2, "meta event `SIGWINCH`");
    check_error(&meta(r#"{"event":"exit"}"#), 2, "meta event `exit` with rc None");
    check_error(&meta(r#"{"event":"exit","rc":-99}"#), 2, "rc -99");
    check_error(&meta(r#"{"argv":[]}"#), 2, "unknown field `argv`");
}

#[test]
fn a_time_that_goes_back_is_named_by_its_own_line() {
    let line = |t: u32| format!(r#"{{"t_ms":{t},"dir":"in","frame":{{}}}}"#);
    check_error(&format!("{}\n{}", line(2), line(1)), 3, "at_ms 1 after 2");
}

mod emit_expect {
    use serde_json::json;

    use crate::{
        format::{From, Origin, What},
        import::{Format, Options, import},
        verify,
    };

    fn options() -> Options {
        Options { version: Some("2.1.310".into()), recorded_on: Some("2026-11-30".into()), ..Options::default() }
    }

    #[test]
    fn each_line_is_said_by_whom_it_says_and_what_a_harness_leaves_out_is_filled_in() {
        let text = concat!(
            r#"{"expect":{"type":"user","message":{"content":"hello"}}}"#,
            "\n",
            r#"{"emit":{"type":"system","subtype":"init","cwd":"/x"},"delay_ms":40}"#,
            "\n",
            r#"{"emit":"not json"}"#,
            "\n",
            r#"{"emit":[{"type":"assistant","message":{"content":[]}},{"type":"result","is_error":true}]}"#,
            "\n",
        );
        let imported = import("other/Fake One.ndjson", text, &options()).unwrap();
        let capture = imported.capture;
        assert_eq!((imported.format, capture.header.origin), (Format::EmitExpect, Origin::Synthetic));
        assert_eq!(capture.header.scene, "fake-one");
        let entries: Vec<_> = capture.entries.iter().map(|entry| (entry.at_ms, entry.from, entry.what.key())).collect();
        assert_eq!(
            entries,
            [
                (10.0, From::Host, "frame"),
                (50.0, From::Cli, "frame"),
                (60.0, From::Cli, "raw"),
                (70.0, From::Cli, "frame"),
                (70.0, From::Cli, "frame"),
                (80.0, From::Host, "close"),
                (90.0, From::Cli, "close"),
                (100.0, From::Cli, "exit"),
            ]
        );
        assert_eq!(capture.entries[2].what, What::Raw("not json".into()));
        assert_eq!(capture.entries[4].what.frame().unwrap()["result_index"], json!(0));
        assert_eq!(verify::tape(&capture), []);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        let good = r#"{"expect":{"type":"user"}}"#;
        for (line, problem) in [
            (r#"{"emit":{},"expect":{}}"#, "`emit` and `expect` on one line"),
            (r#"{"delay_ms":1}"#, "neither `emit` nor `expect`"),
            (r#"{"emit":{},"delay":1}"#, "unknown field `delay`"),
            (r#"{"emit":{},"delay_ms":-1}"#, "delay_ms -1"),
        ] {
            let error = import("wrong.ndjson", &format!("{good}\n{line}"), &options()).expect_err(line);
            assert_eq!(error.line, 2, "{error}");
            assert!(error.problem.contains(problem) && !error.help.is_empty(), "{error}");
        }
    }
}

mod detection {
    use crate::import::{Format, format::detect};

    #[test]
    fn every_format_is_told_by_its_first_lines() {
        for (text, format) in [
            (r#"{"capture":1}"#, Format::Capture),
            (r#"{"recording":1}"#, Format::Recording),
            (r#"{"emit":{"type":"result","session_id":"s"}}"#, Format::EmitExpect),
            (r#"{"type":"summary","leafUuid":"x"}{"#, Format::Log),
            (
                "{\"type\":\"file-history-snapshot\"}\n{\"type\":\"user\",\"parentUuid\":null,\"sessionId\":\"s\"}",
                Format::Transcript,
            ),
            (r#"{"type":"system","session_id":"s"}"#, Format::Log),
            (r#"> {"type":"user"}"#, Format::Log),
            (r#"[2026-11-30T10:00:00Z] stdout: {"type":"system"}"#, Format::Log),
            (r#"{"direction":"in","data":{}}"#, Format::Log),
        ] {
            match detect("file", text) {
                Ok(found) => assert_eq!(found, format, "{text}"),
                Err(error) => assert!(text.ends_with("}{"), "{text}: {error}"),
            }
        }
    }

    #[test]
    fn what_is_none_of_them_is_refused_with_advice() {
        for (text, problem) in [
            ("", "an empty file"),
            ("[{\"type\":\"system\"}]", "a JSON array"),
            ("{\n  \"type\": \"system\"\n}", "an object over several lines"),
            ("hello", "no format that is known"),
            ("{\"a\":1}", "no format that is known"),
        ] {
            let error = detect("file", text).expect_err(text);
            assert!(error.problem.contains(problem) && !error.help.is_empty(), "{error}");
        }
    }
}
