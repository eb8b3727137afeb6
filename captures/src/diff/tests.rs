use serde_json::json;

use super::{Change, Diff, diff};
use crate::{
    catalog::Catalog,
    format::{Capture, From, What},
    ids::{Reissue, Roles},
    provider::Provider,
};

fn scene(version: &str, name: &str) -> Capture {
    Capture::clone(&Catalog::embedded().get(Provider::Claude, version, name).unwrap())
}

/// The difference that an edit of a scene makes, in words.
#[track_caller]
fn check(name: &str, edit: impl Fn(&mut Capture), expected: &[&str]) {
    let capture = scene("2.1.310", name);
    let mut edited = capture.clone();
    edit(&mut edited);
    let (there, back) = (diff(&capture, &edited), diff(&edited, &capture));
    assert_eq!(words(&there), expected);
    assert_eq!(there.equal(), back.equal());
}

fn words(diff: &Diff) -> Vec<String> {
    let mut words = Vec::new();
    for stream in &diff.streams {
        let name = &stream.stream;
        words.extend(stream.kinds.iter().map(|kind| format!("{name}: {} {} -> {}", kind.kind, kind.left, kind.right)));
        words.extend(stream.fields.iter().map(|f| format!("{name}: {} {} {:?} x{}", f.kind, f.path, f.change, f.frames)));
        words.extend(stream.order.iter().map(|moved| format!("{name}: {} {} -> {}", moved.kind, moved.left, moved.right)));
    }
    words
}

fn edit(label: &'static str, with: impl Fn(&mut serde_json::Value)) -> impl Fn(&mut Capture) {
    move |capture| {
        let at = capture.find_label(label).unwrap();
        if let What::Frame(frame) = &mut capture.entries[at].what {
            with(frame);
        }
    }
}

#[test]
fn other_ids_and_times_are_no_difference() {
    for name in ["typed-fork", "background-agents-two", "permission-allow", "interrupt-cancels-queued-message"] {
        let capture = scene("2.1.310", name);
        let mut number = 7_u64;
        let mut fresh = Reissue::new(&Roles::of(&capture), &mut || {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            number
        })
        .capture(&capture);
        for entry in &mut fresh.entries {
            entry.at_ms *= 2.0;
            if let What::Frame(frame) = &mut entry.what
                && frame.get("duration_ms").is_some()
            {
                frame["duration_ms"] = json!(1);
            }
        }
        assert_eq!(words(&diff(&capture, &fresh)), [""; 0], "{name}");
        assert_ne!(capture, fresh);
    }
}

#[test]
fn how_streams_merge_is_no_difference() {
    check(
        "foreground-agent",
        |capture| {
            let at = capture.find_label("delta#1").unwrap();
            let queued = capture.find_label("queued#1").unwrap();
            let entry = capture.entries.remove(queued);
            capture.entries.insert(at, entry);
        },
        &[],
    );
}

#[test]
fn an_id_that_names_another_thing_is_a_difference() {
    check(
        "bash",
        edit("tool_result#1", |frame| frame["message"]["content"][0]["tool_use_id"] = json!("toolu_other")),
        &["main: tool_result[tool_result] message.content[].tool_use_id Changed x1"],
    );
}

#[test]
fn fields_that_come_go_and_change() {
    check("bash", edit("result#1", |frame| frame["speed"] = json!("fast")), &["main: result speed Added x1"]);
    check(
        "bash",
        edit("result#1", |frame| {
            frame.as_object_mut().unwrap().shift_remove("num_turns");
        }),
        &["main: result num_turns Removed x1"],
    );
    check("bash", edit("result#1", |frame| frame["num_turns"] = json!(9)), &["main: result num_turns Changed x1"]);
    check(
        "bash",
        edit("init#1", |frame| frame["tools"].as_array_mut().unwrap().push(json!("Telescope"))),
        &["main: init tools[] Added x1"],
    );
}

#[test]
fn a_kind_that_is_missing_and_an_order_that_changed() {
    let remove = |capture: &mut Capture| {
        let at = capture.find_label("completed#1").unwrap();
        capture.entries.remove(at);
    };
    check("plain-turn", remove, &["main: completed 1 -> 0"]);
    let swap = |capture: &mut Capture| {
        let (one, two) = (capture.find_label("result#1").unwrap(), capture.find_label("completed#1").unwrap());
        capture.entries.swap(one, two);
    };
    let capture = scene("2.1.310", "plain-turn");
    let mut edited = capture.clone();
    swap(&mut edited);
    let found = diff(&capture, &edited);
    assert_eq!(found.streams.len(), 1, "{:?}", words(&found));
    let stream = &found.streams[0];
    assert_eq!((stream.kinds.len(), stream.fields.len(), stream.order.len()), (0, 0, 1), "{:?}", words(&found));
}

#[test]
fn what_the_host_did_and_how_the_process_ended_are_streams_too() {
    check("plain-turn", edit("prompt#1", |frame| frame["priority"] = json!("now")), &["host: prompt[text] priority Added x1"]);
    check(
        "plain-turn",
        |capture| {
            let last = capture.entries.last_mut().unwrap();
            last.what = What::Exit(crate::format::Exit { code: Some(1), signal: None });
            assert_eq!(last.from, From::Cli);
        },
        &["process: exit 0 1 -> 0", "process: exit 1 0 -> 1"],
    );
}

#[test]
fn two_versions_of_a_scene_differ_in_what_the_newer_one_added() {
    let found = diff(&scene("2.1.310", "plain-turn"), &scene("2.1.332", "plain-turn"));
    let fields: Vec<_> = found.streams.iter().flat_map(|stream| &stream.fields).collect();
    let has = |path: &str, change: Change| fields.iter().any(|field| field.path == path && field.change == change);
    assert!(has("sandbox_enabled", Change::Added) && has("owed_rows", Change::Added), "{:?}", words(&found));
    assert!(has("claude_code_version", Change::Changed), "{:?}", words(&found));
    assert!(!fields.iter().any(|field| field.change == Change::Removed), "{:?}", words(&found));
}
