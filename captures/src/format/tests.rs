use super::*;

const HEADER: &str = r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"synthetic","scene":"made-up","launch":["claude","-p"],"model":"scripted","recorded_on":"2026-11-30","scrubbed":[]}"#;

/// A whole capture that uses every kind of entry; its text is what `write` gives.
const WHOLE: &str = r##"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"plain-turn","launch":["claude"],"env":{"Z":"1","A":"2"},"model":"scripted","recorded_on":"2026-11-30","scrubbed":["paths"],"note":"by hand"}
{"at_ms":0.0,"from":"host","frame":{"z":1,"a":0.00011,"n":1e-7,"big":12345678901234567890,"f":1000.0,"s":"\u001b[0m é"}}
{"at_ms":5.8,"from":"host","raw":"this is not json"}
{"at_ms":5.8,"from":"cli","frame":null,"label":"nothing"}
{"at_ms":7.1,"from":"world","signal":"SIGINT"}
{"at_ms":8.0,"from":"host","close":"stdin"}
{"at_ms":8.5,"from":"cli","close":"stdout"}
{"at_ms":9.0,"from":"cli","exit":{"code":0}}
"##;

/// Reads a capture that is wrong: `lines` stand below a good header unless they begin with one of their own.
fn check(lines: &str, line: usize, problem: &str, help: &str) {
    let text = if lines.contains("capture") || line == 1 { lines.to_owned() } else { format!("{HEADER}\n{lines}") };
    let error = parse("wrong.ndjson", &text).expect_err("a malformed file was read");
    assert_eq!((error.file.as_str(), error.line), ("wrong.ndjson", line), "{error}");
    assert!(error.problem.contains(problem), "problem: {}\nexpected: {problem}", error.problem);
    assert!(error.help.contains(help), "help: {}\nexpected: {help}", error.help);
    assert!(error.to_string().contains(&format!("wrong.ndjson, line {line}: ")), "{error}");
}

fn header(from: &str, to: &str) -> String {
    assert!(HEADER.contains(from), "the header has no {from}");
    HEADER.replace(from, to)
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let capture = parse("whole.ndjson", WHOLE).unwrap();
    assert_eq!(write(&capture), WHOLE);
    assert_eq!(parse("again.ndjson", &write(&capture)).unwrap(), capture);
}

#[test]
fn a_header_alone_is_a_capture() {
    assert_eq!(parse("header.ndjson", HEADER).unwrap().entries, []);
}

#[test]
fn two_entries_may_share_a_time() {
    let text = format!("{HEADER}\n{}\n{}\n", r#"{"at_ms":1,"from":"cli","raw":"a"}"#, r#"{"at_ms":1.0,"from":"cli","raw":"b"}"#);
    assert_eq!(parse("tie.ndjson", &text).unwrap().entries.len(), 2);
}

#[test]
fn an_empty_file_has_no_header() {
    check("", 1, "EOF while parsing", "one JSON object");
}

#[test]
fn a_file_without_a_header() {
    check(r#"{"at_ms":1,"from":"cli","raw":"a"}"#, 1, "without the key `capture`", "put the header on the first line");
}

#[test]
fn a_recording_is_no_capture() {
    check(r#"{"recording":1,"provider":"claude"}"#, 1, "a recording", "rehearsal captures import");
}

#[test]
fn a_capture_of_a_later_version() {
    check(&header(r#""capture":1"#, r#""capture":2"#), 1, "capture format 2: expected version 1", "release that wrote it");
}

#[test]
fn a_version_that_is_no_number() {
    check(&header(r#""capture":1"#, r#""capture":"1""#), 1, "capture format \"1\"", "release that wrote it");
}

#[test]
fn a_header_with_an_unknown_key() {
    check(&header(r#""model""#, r#""modal":1,"model""#), 1, "unknown field `modal`", "one JSON object");
}

#[test]
fn a_header_without_a_key() {
    check(&header(r#""model":"scripted","#, ""), 1, "missing field `model`", "one JSON object");
}

#[test]
fn a_header_of_an_unknown_provider() {
    check(&header("\"claude\",\"version", "\"cloud\",\"version"), 1, "unknown variant `cloud`", "one JSON object");
}

#[test]
fn a_header_with_an_impossible_date() {
    check(&header("2026-11-30", "2026-13-30"), 1, "2026-13-30", "day of the recording");
    check(&header("2026-11-30", "30.11.2026"), 1, "YYYY-MM-DD", "day of the recording");
}

#[test]
fn a_header_with_a_scene_that_is_no_file_name() {
    check(&header("made-up", "made/up"), 1, "scene `made/up`", "rename it");
    check(&header("made-up", ""), 1, "scene ``", "rename it");
}

#[test]
fn a_header_without_a_command_line() {
    check(&header(r#"["claude","-p"]"#, "[]"), 1, "`launch` is empty", "program's name");
}

#[test]
fn a_header_with_a_version_that_is_prose() {
    check(&header("2.1.310", "v2"), 1, "version `v2`", "--version");
}

#[test]
fn a_line_that_is_no_json() {
    check("{\"at_ms\":1,", 2, "not JSON", "one JSON object");
}

#[test]
fn two_records_on_one_line() {
    check(r#"{"at_ms":1,"from":"cli","raw":"a"}{"at_ms":1,"from":"cli","raw":"a"}"#, 2, "trailing characters", "one JSON object");
}

#[test]
fn an_empty_line_between_two() {
    let line = r#"{"at_ms":1,"from":"cli","raw":"a"}"#;
    check(&format!("{line}\n\n{line}"), 3, "an empty line", "delete the line");
}

#[test]
fn an_entry_with_an_unknown_key() {
    check(r#"{"at_ms":1,"from":"cli","raw":"a","lable":"x"}"#, 2, "unknown field `lable`", "one JSON object");
}

#[test]
fn an_entry_with_a_key_twice() {
    check(r#"{"at_ms":1,"from":"cli","raw":"a","raw":"b"}"#, 2, "duplicate field `raw`", "one JSON object");
}

#[test]
fn an_entry_without_a_time() {
    check(r#"{"from":"cli","raw":"a"}"#, 2, "missing field `at_ms`", "one JSON object");
}

#[test]
fn an_entry_from_nobody() {
    check(r#"{"at_ms":1,"from":"user","raw":"a"}"#, 2, "unknown variant `user`", "one JSON object");
}

#[test]
fn an_entry_in_which_nothing_happens() {
    check(r#"{"at_ms":1,"from":"cli"}"#, 2, "nothing happens here", "delete the line");
}

#[test]
fn an_entry_in_which_two_things_happen() {
    check(r#"{"at_ms":1,"from":"cli","frame":{},"raw":"a"}"#, 2, "frame and raw in one entry", "one line for each");
}

#[test]
fn a_time_before_the_process_started() {
    check(r#"{"at_ms":-0.1,"from":"cli","raw":"a"}"#, 2, "at_ms -0.1", "start of the process");
}

#[test]
fn a_time_that_is_no_number() {
    check(r#"{"at_ms":null,"from":"cli","raw":"a"}"#, 2, "invalid type: null", "one JSON object");
    check(r#"{"at_ms":1e999,"from":"cli","raw":"a"}"#, 2, "number out of range", "one JSON object");
}

#[test]
fn a_time_that_goes_back() {
    check(
        "{\"at_ms\":2,\"from\":\"cli\",\"raw\":\"a\"}\n{\"at_ms\":1.9,\"from\":\"cli\",\"raw\":\"b\"}",
        3,
        "1.9 after 2",
        "sort the lines",
    );
}

#[test]
fn a_label_twice() {
    let line = r#"{"at_ms":1,"from":"cli","raw":"a","label":"x"}"#;
    check(&format!("{line}\n{line}"), 3, "label `x` stands on line 2 already", "another name");
}

#[test]
fn a_derived_label_in_the_file() {
    check(r#"{"at_ms":1,"from":"cli","raw":"a","label":"init#1"}"#, 2, "label `init#1`", "never stored");
}

#[test]
fn a_signal_that_the_host_sent() {
    check(r#"{"at_ms":1,"from":"host","signal":"SIGINT"}"#, 2, "a signal from `host`", "from outside");
}

#[test]
fn a_signal_by_its_number() {
    check(r#"{"at_ms":1,"from":"world","signal":"9"}"#, 2, "signal `9`", "POSIX name");
}

#[test]
fn a_frame_that_the_world_wrote() {
    check(r#"{"at_ms":1,"from":"world","frame":{}}"#, 2, "a line from the world", "who wrote it");
}

#[test]
fn an_exit_of_the_host() {
    check(r#"{"at_ms":1,"from":"host","exit":{"code":0}}"#, 2, "an exit of `host`", "only the recorded process ends");
}

#[test]
fn an_exit_by_code_and_signal() {
    check(r#"{"at_ms":1,"from":"cli","exit":{"code":0,"signal":"SIGKILL"}}"#, 2, "exactly one of", "{\"code\":0}");
    check(r#"{"at_ms":1,"from":"cli","exit":{}}"#, 2, "exactly one of", "{\"code\":0}");
}

#[test]
fn a_pipe_that_is_none_of_three() {
    check(r#"{"at_ms":1,"from":"cli","close":"socket"}"#, 2, "unknown variant `socket`", "one JSON object");
}
