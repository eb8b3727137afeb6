//! What somebody reads who has a file that is no capture, or no source of one: each message is kept as a snapshot.
//!
//! `INSTA_UPDATE=always cargo test -p captures` writes them anew; read what changed before you commit it.

use captures::{
    format::parse,
    import::{Format, Options, import},
};

const HEADER: &str = r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"broken","launch":["claude"],"model":"scripted","recorded_on":"2026-11-30"}"#;

/// A capture with these lines; a line that begins with `{"capture"` takes the header's place.
#[track_caller]
fn check_capture(name: &str, lines: &str) {
    let text = if lines.is_empty() || lines.contains(r#""capture""#) { lines.to_owned() } else { format!("{HEADER}\n{lines}") };
    let error = parse("claude/2.1.310/broken.ndjson", &text).expect_err("the capture must be refused");
    insta::assert_snapshot!(name, error.to_string(), lines);
}

/// A source of this format, or of one that is to be told.
#[track_caller]
fn check_source(name: &str, format: Option<Format>, lines: &str) {
    let options = Options { format, ..Options::default() };
    let error = import("logs/broken.log", lines, &options).expect_err("the source must be refused");
    insta::assert_snapshot!(name, error.to_string(), lines);
}

macro_rules! captures {
    ($($name:ident: $lines:expr;)+) => { $(#[test] fn $name() { check_capture(stringify!($name), $lines); })+ };
}

macro_rules! sources {
    ($($name:ident, $format:expr, $lines:expr;)+) => { $(#[test] fn $name() { check_source(stringify!($name), $format, $lines); })+ };
}

captures! {
    nothing_at_all: "";
    a_header_of_the_future: r#"{"capture":2}"#;
    a_header_without_its_launch: r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"broken","model":"scripted","recorded_on":"2026-11-30"}"#;
    a_header_with_an_unknown_key: r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"broken","launch":["claude"],"model":"scripted","recorded_on":"2026-11-30","auther":"me"}"#;
    an_origin_that_is_neither: r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"found","scene":"broken","launch":["claude"],"model":"scripted","recorded_on":"2026-11-30"}"#;
    a_scene_with_a_blank: r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"my scene","launch":["claude"],"model":"scripted","recorded_on":"2026-11-30"}"#;
    a_day_that_is_none: r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"broken","launch":["claude"],"model":"scripted","recorded_on":"30.11.2026"}"#;
    a_line_that_was_cut: r#"{"at_ms":1,"from":"cli","frame":{"type":"assis"#;
    an_empty_line: "\n{\"at_ms\":1,\"from\":\"cli\",\"frame\":{}}";
    a_time_that_goes_back: "{\"at_ms\":2,\"from\":\"cli\",\"frame\":{}}\n{\"at_ms\":1,\"from\":\"cli\",\"frame\":{}}";
    a_writer_that_is_none: r#"{"at_ms":1,"from":"server","frame":{}}"#;
    two_things_at_once: r#"{"at_ms":1,"from":"cli","frame":{},"raw":"x"}"#;
    nothing_that_happens: r#"{"at_ms":1,"from":"cli"}"#;
    an_exit_of_the_host: r#"{"at_ms":1,"from":"host","exit":{"code":0}}"#;
    an_exit_without_a_way: r#"{"at_ms":1,"from":"cli","exit":{}}"#;
    a_signal_by_its_number: r#"{"at_ms":1,"from":"world","signal":"15"}"#;
    a_label_that_is_derived: r#"{"at_ms":1,"from":"cli","frame":{},"label":"result#2"}"#;
}

sources! {
    an_empty_file, None, "";
    an_array_of_frames, None, "[{\"type\":\"system\",\"session_id\":\"s\"}]";
    a_pretty_printed_frame, None, "{\n  \"type\": \"system\"\n}";
    prose, None, "Dear diary,\nthe CLI hung again.";
    a_log_with_a_stray_line, None, "{\"type\":\"system\",\"session_id\":\"s\"}\nnpm warn deprecated inflight";
    a_log_that_ends_within_a_line, None, "{\"type\":\"system\",\"session_id\":\"s\"}\n{\"type\":\"resu";
    a_log_whose_directions_disagree, None, "> {\"type\":\"keep_alive\"}\n> {\"type\":\"result\",\"session_id\":\"s\"}";
    a_direction_that_nobody_knows, Some(Format::Log), "{\"direction\":\"sideways\",\"data\":{\"type\":\"result\"}}";
    a_direction_without_a_line, Some(Format::Log), "{\"direction\":\"in\",\"size\":12}";
    a_log_without_a_version, None, "{\"type\":\"result\",\"session_id\":\"s\"}";
    a_log_without_a_day, None, "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"claude_code_version\":\"2.1.310\"}";
    an_agents_transcript, None, "{\"parentUuid\":null,\"isSidechain\":true,\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"content\":\"look\"}}";
    a_transcript_record_without_a_message, None, "{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\"}";
    an_emit_and_an_expect_at_once, None, "{\"emit\":{},\"expect\":{}}";
    an_emit_with_a_wrong_delay, None, "{\"emit\":{},\"delay_ms\":-5}";
    an_emit_with_an_unknown_key, None, "{\"emit\":{},\"after\":5}";
    a_recording_of_the_future, None, "{\"recording\":2}";
    a_log_called_a_recording, Some(Format::Recording), "{\"type\":\"system\",\"session_id\":\"s\"}";
}
