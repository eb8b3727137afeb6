//! Logs made of the embedded captures must become those captures again, whatever a log leaves out.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    catalog::Catalog,
    format::{Capture, From, Origin, What},
    import::{Format, Imported, Options, import},
    provider::Provider,
    verify,
};

fn every() -> Vec<Arc<Capture>> {
    let catalog = Catalog::embedded();
    let listed: Vec<_> = catalog.iter().filter(|listed| listed.provider == Provider::Claude).collect();
    assert!(listed.len() > 100, "{} captures", listed.len());
    listed.iter().map(|listed| catalog.get(listed.provider, listed.version, listed.scene).unwrap()).collect()
}

fn scene(name: &str) -> Arc<Capture> {
    Catalog::embedded().get(Provider::Claude, "2.1.310", name).unwrap()
}

/// A log with one line a frame, as `line` writes it; what it leaves out is none.
fn log(capture: &Capture, line: impl Fn(f64, From, &Value) -> Option<String>) -> String {
    let lines = capture.entries.iter().filter_map(|entry| line(entry.at_ms, entry.from, entry.what.frame()?));
    lines.map(|line| format!("{line}\n")).collect()
}

fn options() -> Options {
    Options { version: Some("2.1.310".into()), file_date: Some("2026-11-30".into()), keep_private: true, ..Options::default() }
}

fn imported(text: &str) -> Imported {
    let imported = import("logs/My Log.txt", text, &options()).unwrap();
    assert_eq!(imported.format, Format::Log, "{text}");
    imported
}

fn frames(capture: &Capture) -> Vec<(From, Value)> {
    capture.entries.iter().filter_map(|entry| Some((entry.from, entry.what.frame()?.clone()))).collect()
}

fn times(capture: &Capture) -> Vec<f64> {
    let frames = capture.entries.iter().filter(|entry| entry.what.frame().is_some());
    frames.map(|entry| entry.at_ms).collect()
}

#[track_caller]
fn check_error(text: &str, line: usize, problem: &str) {
    let error = import("wrong.log", text, &Options { format: Some(Format::Log), ..options() }).expect_err("imported");
    assert_eq!(error.line, line, "{error}");
    assert!(error.problem.contains(problem), "{error}");
    assert!(!error.help.is_empty(), "{error}");
}

#[test]
fn without_directions_every_frame_of_every_recording_finds_its_writer() {
    for capture in every() {
        let text = log(&capture, |_, _, frame| Some(frame.to_string()));
        // A scene whose host wrote no frame is a log of stdout alone: its host lines are made up, see below.
        if text.is_empty() || capture.entries.iter().all(|entry| entry.from != From::Host || entry.what.frame().is_none()) {
            continue;
        }
        let read = imported(&text).capture;
        for ((from, frame), (guess, _)) in frames(&capture).iter().zip(frames(&read)) {
            assert_eq!(*from, guess, "{} {}: {frame}", capture.header.version, capture.header.scene);
        }
        assert_eq!(frames(&capture), frames(&read));
        assert_eq!(read.header.origin, Origin::Recorded);
        assert!(read.header.guessed.iter().any(|guess| guess.starts_with("directions")), "{:?}", read.header.guessed);
    }
}

#[test]
fn however_directions_are_written_the_frames_are_the_same() {
    let words = |from: From, host: &str, cli: &str| if from == From::Host { host.to_owned() } else { cli.to_owned() };
    let wrap = move |from: From, frame: &Value, key: &str, host: &str, cli: &str, payload: &str| {
        json!({key: words(from, host, cli), payload: frame}).to_string()
    };
    type Style = Box<dyn Fn(From, &Value) -> String>;
    let styles: [(&str, Style); 12] = [
        ("arrows", Box::new(move |from, frame| format!("{} {frame}", words(from, ">", "<")))),
        (
            "arrows without a blank, seen from the host",
            Box::new(move |from, frame| format!("{}{frame}", words(from, "<--", "-->"))),
        ),
        ("words", Box::new(move |from, frame| format!("{} {frame}", words(from, "stdin:", "stdout:")))),
        ("words in brackets", Box::new(move |from, frame| format!("{}: {frame}", words(from, "[STDIN]", "[STDOUT]")))),
        ("a time before", Box::new(move |from, frame| format!("2026-11-30T10:00:00Z {} {frame}", words(from, ">", "<")))),
        (
            "a time in brackets",
            Box::new(move |from, frame| format!("[2026-11-30 10:00:00.5] {} {frame}", words(from, "in", "out"))),
        ),
        ("in and out", Box::new(move |from, frame| wrap(from, frame, "direction", "in", "out", "data"))),
        ("in and out from the host's end", Box::new(move |from, frame| wrap(from, frame, "direction", "out", "in", "message"))),
        ("send and recv", Box::new(move |from, frame| wrap(from, frame, "dir", "send", "recv", "frame"))),
        ("type is the direction", Box::new(move |from, frame| wrap(from, frame, "type", "stdin", "stdout", "payload"))),
        (
            "the line as text",
            Box::new(move |from, frame| json!({"direction": words(from, "in", "out"), "line": frame.to_string()}).to_string()),
        ),
        (
            "chunks as text",
            Box::new(move |from, frame| {
                let text = format!("{frame}\n");
                let cut = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
                let chunk = |part: &str| json!({"stream": words(from, "stdin", "stdout"), "data": part}).to_string();
                format!("{}\n{}", chunk(&text[..cut]), chunk(&text[cut..]))
            }),
        ),
    ];
    for capture in ["bash", "permission-allow", "interrupt-during-bash"].map(scene) {
        for (style, line) in &styles {
            let text = log(&capture, |_, from, frame| Some(line(from, frame)));
            let read = imported(&text).capture;
            assert_eq!(frames(&read), frames(&capture), "{style}");
            assert_eq!(verify::tape(&read), [], "{style}");
            assert_eq!(read.header.origin, Origin::Recorded, "{style}");
            assert!(!read.header.guessed.iter().any(|guess| guess.starts_with("directions")), "{:?}", read.header.guessed);
        }
    }
}

#[test]
fn times_of_the_log_are_kept_whatever_they_count() {
    let capture = scene("bash");
    let base = 1_796_032_800_000.0;
    for (style, time) in [
        ("ms since a start", Box::new(|at: f64| json!({"at_ms": at})) as Box<dyn Fn(f64) -> Value>),
        ("epoch in ms", Box::new(move |at| json!({"ts": base + at}))),
        ("epoch in s", Box::new(move |at| json!({"timestamp": (base + at) / 1000.0}))),
        ("seconds since a start", Box::new(|at| json!({"t": at / 1000.0 + 0.000_01}))),
    ] {
        let line = |at, from: From, frame: &Value| {
            let mut line = json!({"direction": if from == From::Host { "in" } else { "out" }, "data": frame});
            line.as_object_mut().unwrap().extend(time(at).as_object().unwrap().clone());
            Some(line.to_string())
        };
        let read = imported(&log(&capture, line)).capture;
        let (found, expected) = (times(&read), times(&capture));
        // Times of day are counted from the first line.
        let shift = expected[0] - found[0];
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found + shift - expected).abs() < 0.25, "{style}: {found} for {expected}");
        }
    }
}

#[test]
fn without_times_lines_are_spaced_by_rule_and_it_is_said() {
    let text = log(&scene("bash"), |_, _, frame| Some(frame.to_string()));
    let read = imported(&text);
    let times = times(&read.capture);
    assert_eq!(times[..3], [100.0, 110.0, 120.0]);
    assert!(read.capture.header.guessed.iter().any(|guess| guess.starts_with("times: none in the log")));
    assert!(read.said.iter().any(|(subject, words)| *subject == "times" && words.contains("10 ms")), "{:?}", read.said);
}

#[test]
fn a_time_that_goes_back_is_raised_and_said() {
    let at = |ms: u32, uuid: &str| {
        json!({"dir": "in", "t_ms": ms, "data": {"type": "user", "message": {"role": "user", "content": uuid}, "uuid": uuid}})
            .to_string()
    };
    let read = imported(&[at(5, "a"), at(3, "b"), at(9, "c")].join("\n"));
    assert_eq!(times(&read.capture), [5.0, 5.0, 9.0]);
    assert!(read.capture.header.guessed.iter().any(|guess| guess.contains("1 went back")), "{:?}", read.capture.header.guessed);
}

#[test]
fn stdout_alone_gets_the_host_lines_that_it_shows_and_is_synthetic() {
    for capture in every() {
        let host = |entry: &crate::format::Entry| entry.from == From::Host && matches!(entry.what, What::Frame(_));
        let text = log(&capture, |_, from, frame| (from == From::Cli).then(|| frame.to_string()));
        if text.is_empty() || !capture.entries.iter().any(host) {
            continue;
        }
        let read = imported(&text).capture;
        let name = format!("{} {}", capture.header.version, capture.header.scene);
        let said: Vec<_> = frames(&read).into_iter().filter(|(from, _)| *from == From::Cli).collect();
        let recorded: Vec<_> = frames(&capture).into_iter().filter(|(from, _)| *from == From::Cli).collect();
        assert_eq!(said, recorded, "{name}");
        if frames(&read).len() > said.len() {
            assert_eq!(read.header.origin, Origin::Synthetic, "{name}");
        }
        // The messages that the CLI names are found, each once; one that it never read leaves no sign.
        let named: std::collections::BTreeSet<&str> =
            said.iter().filter_map(|(_, frame)| frame["command_uuid"].as_str()).collect();
        let all = frames(&read);
        let host = all.iter().filter(|(from, frame)| *from == From::Host && frame["type"] == "user");
        let found: Vec<&str> = host.filter_map(|(_, frame)| frame["uuid"].as_str()).collect();
        assert!(found.len() >= named.len() && named.iter().all(|uuid| found.contains(uuid)), "{name}");
        let findings = verify::tape(&read);
        assert!(findings.iter().all(|finding| finding.rule == "unknown-task"), "{name}: {findings:?}");
    }
}

#[test]
fn stdout_without_replays_and_lifecycle_gets_a_message_a_turn() {
    let plain = |_, from: From, frame: &Value| {
        let shown = from == From::Cli && frame["isReplay"] != true && frame["type"] != "command_lifecycle";
        shown.then(|| frame.to_string())
    };
    let read = imported(&log(&scene("second-turn"), plain)).capture;
    let host: Vec<_> = frames(&read).into_iter().filter(|(from, _)| *from == From::Host).collect();
    assert_eq!(host.len(), 2, "{host:?}");
    assert!(host[0].1["message"]["content"][0]["text"].as_str().unwrap().contains("does not hold"));
    assert_eq!(verify::tape(&read), []);
}

#[test]
fn the_header_says_what_the_frames_show() {
    let text = log(&scene("permission-allow"), |_, _, frame| Some(frame.to_string()));
    let header = import("logs/My Log.txt", &text, &Options { version: None, ..options() }).unwrap().capture.header;
    assert_eq!((header.version.as_str(), header.scene.as_str(), header.model.as_str()), ("2.1.310", "my-log", "unknown"));
    let launch = header.launch.join(" ");
    for switch in ["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool stdio", "--model"] {
        assert!(launch.contains(switch), "{launch}");
    }
    assert!(header.imported_from.unwrap().contains("by whom it was recorded is not known"));
}

#[test]
fn a_line_that_is_no_json_is_raw_where_its_writer_is_known_and_stderr_is_left_out() {
    let read = imported(
        "stdin: this is not json\nstderr: warning: deprecated\nstdout: {\"type\":\"result\",\"uuid\":\"u\",\"session_id\":\"s\"}",
    );
    assert_eq!(read.capture.entries[0].what, What::Raw("this is not json".into()));
    assert_eq!(read.capture.entries.len(), 5);
    assert!(read.said.contains(&("left out", "1 lines of stderr".to_owned())), "{:?}", read.said);
}

#[test]
fn what_cannot_be_read_is_named_by_its_line() {
    let frame = r#"{"type":"result","uuid":"u","session_id":"s"}"#;
    check_error(&format!("{frame}\nnpm warn deprecated\n{frame}"), 2, "`npm warn deprecated` is no JSON and has no direction");
    check_error(&format!("{frame}\n{{\"type\":\"assis"), 2, "not JSON");
    check_error(&format!("{{\"direction\":\"sideways\",\"data\":{frame}}}"), 1, "direction \"sideways\"");
    check_error("{\"direction\":\"in\"}", 1, "a direction and no line");
    check_error(&format!("> {{\"type\":\"keep_alive\"}}\n> {frame}"), 2, "disagree about what the directions mean");
    check_error("\n\n", 1, "no frame in the whole log");
}
