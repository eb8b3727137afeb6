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
