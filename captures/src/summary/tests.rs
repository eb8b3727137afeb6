use super::*;
use crate::catalog::Catalog;

fn scene(name: &str) -> std::sync::Arc<Capture> {
    Catalog::embedded().get(Provider::Claude, "2.1.310", name).unwrap()
}

#[test]
fn frames_are_counted_by_who_wrote_them() {
    let counted = summary(&scene("malformed-input-line"));
    // The raw line counts as one that the host wrote.
    assert_eq!((counted.host_frames, counted.cli_frames), (3, 29));
    assert_eq!((counted.exit, counted.duration_ms), (Some(Exit { code: Some(1), signal: None }), 2974.9));
    assert_eq!((counted.stems["prompt"], counted.stems["result"]), (2, 1));
    assert_eq!(counted.stems.values().sum::<u32>(), 31);
}

#[test]
fn a_capture_without_an_entry_has_no_duration_and_no_exit() {
    let empty = Capture { entries: Vec::new(), ..(*scene("no-input")).clone() };
    let counted = summary(&empty);
    assert_eq!((counted.duration_ms, counted.exit, counted.host_frames), (0.0, None, 0));
    assert_eq!(lines(&empty), []);
}

#[test]
fn every_entry_is_a_line_with_a_name() {
    let mut capture = (*scene("killed-mid-tool")).clone();
    capture.entries[1].label = Some("by-hand".to_owned());
    let lines = lines(&capture);
    assert_eq!(lines.len(), capture.entries.len());
    assert_eq!((lines[1].label.as_str(), lines[1].hand_label.as_deref()), ("queued#1", Some("by-hand")));
    let tail: Vec<(&str, &str)> =
        lines.iter().filter(|line| line.kind != "frame").map(|line| (line.kind, line.label.as_str())).collect();
    assert_eq!(tail, [("signal", "SIGKILL"), ("close", "stdin"), ("close", "stdout"), ("exit", "SIGKILL")]);
}

#[test]
fn a_summary_is_plain_data() {
    let json = serde_json::to_value(summary(&scene("plain-turn"))).unwrap();
    assert_eq!((json["provider"].as_str(), json["origin"].as_str()), (Some("claude"), Some("recorded")));
    assert_eq!(json["exit"], serde_json::json!({"code": 0}));
}
