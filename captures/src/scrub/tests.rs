use serde_json::{Value, json};

use super::scrub;
use crate::{
    catalog::Catalog,
    format::{Capture, Entry, From, What, parse, write},
};

/// A capture of these frames of the CLI.
fn capture(frames: Vec<Value>) -> Capture {
    let header = r#"{"capture":1,"provider":"claude","version":"2.1.310","origin":"recorded","scene":"secret","launch":["claude"],"model":"scripted","recorded_on":"2026-11-30"}"#;
    let mut capture = parse("secret.ndjson", header).unwrap();
    capture.entries =
        frames.into_iter().map(|frame| Entry { at_ms: 1.0, from: From::Cli, what: What::Frame(frame), label: None }).collect();
    capture
}

/// A text scrubbed beside a frame that names a home.
#[track_caller]
fn check(text: &str, expected: &str) {
    let mut capture = capture(vec![json!({"type": "system", "cwd": "/home/alice/project"}), json!({"text": text})]);
    scrub(&mut capture);
    assert_eq!(capture.entries[1].what.frame().unwrap()["text"], expected);
    // What was scrubbed is scrubbed.
    let (once, places) = (capture.clone(), scrub(&mut capture));
    assert_eq!((capture, places.len()), (once, 0));
}

#[test]
fn homes_and_the_names_in_them() {
    check("/home/alice/project/a.txt", "/home/dev/project/a.txt");
    check("/Users/alice/x and /home/bob", "/Users/dev/x and /home/dev2");
    check(r"C:\Users\alice\x", r"C:\Users\dev\x");
    check("~/.claude/projects/-home-alice-project/x.jsonl", "~/.claude/projects/-home-dev-project/x.jsonl");
    check("-rw-r--r-- 1 alice alice 12 a.txt", "-rw-r--r-- 1 dev dev 12 a.txt");
    check("malice, alice_2", "malice, alice_2");
    check("/home/dev/x", "/home/dev/x");
}

#[test]
fn a_user_whose_name_is_a_word_is_replaced_in_paths_only() {
    check("/home/user/x: the user says", "/home/dev2/x: the user says");
    check("/home/type/x has a type", "/home/dev2/x has a type");
}

#[test]
fn hosts() {
    check("alice@thinkpad:~$ ls", "dev@host.example:~$ ls");
    check("ssh bob@buildbox.corp.lan uptime; ping buildbox.corp.lan", "ssh dev2@host.example uptime; ping host.example");
    check("http://gitlab.internal/x and http://localhost:80", "http://host.example/x and http://localhost:80");
    check("see .claude/settings.local.json, https://github.com/a/b", "see .claude/settings.local.json, https://github.com/a/b");
    check("npm install left@1 alice@1.2", "npm install left@1 dev@1.2");
}

#[test]
fn addresses() {
    check("mail bob@firm.com, ann@firm.com, bob@firm.com", "mail person1@example.com, person2@example.com, person1@example.com");
    check("Co-Authored-By: Claude <noreply@anthropic.com>", "Co-Authored-By: Claude <noreply@anthropic.com>");
    check("git clone git@github.com:a/b.git", "git clone git@github.com:a/b.git");
}

#[test]
fn keys_and_tokens() {
    let key = "sk-ant-api03-AbCdEf0123456789_-xyz";
    check(&format!("export K={key}; echo {key}"), "export K=sk-ant-scrubbed-1; echo sk-ant-scrubbed-1");
    check("Authorization: Bearer abc123.def456", "Authorization: Bearer scrubbed-key-1");
    check("bearer authentication is used", "bearer authentication is used");
    check("ghp_abcdefghijklmnopqrst0123 AKIAABCDEFGHIJKLMNOP", "scrubbed-key-1 scrubbed-key-2");
    check("https://bob:hunter2hunter2@git.example.org/x", "https://bob:scrubbed-key-1@git.example.org/x");
    check(r#"{"api_key": "0123456789abcdef"}"#, r#"{"api_key": "scrubbed-key-1"}"#);
    check("DB_PASSWORD=correcthorse9 DB_PASSWORD=$SECRET_NAME", "DB_PASSWORD=scrubbed-key-1 DB_PASSWORD=$SECRET_NAME");
    check("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "scrubbed-key-1");
    check("output_tokens: 1234567890, sk-test", "output_tokens: 1234567890, sk-test");
}

#[test]
fn json_within_a_text_stays_json() {
    check(r#"{"x":"a\nbob@firm.com \talice"}"#, r#"{"x":"a\nperson1@example.com \tdev"}"#);
}

#[test]
fn a_secret_that_a_stream_cut_is_found_and_the_deltas_still_join() {
    let delta = |text: &str| {
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": text}}})
    };
    let stop = json!({"type": "stream_event", "event": {"type": "content_block_stop", "index": 0}});
    let whole = "The key is sk-ant-api03-AbCdEf0123456789, of bob@firm.com.";
    let message = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": whole}]}});
    for size in 1..12 {
        let letters: Vec<char> = whole.chars().collect();
        let mut frames: Vec<Value> = letters.chunks(size).map(|part| delta(&part.iter().collect::<String>())).collect();
        frames.extend([stop.clone(), message.clone()]);
        let mut capture = capture(frames);
        scrub(&mut capture);
        let frames: Vec<&Value> = capture.entries.iter().filter_map(|entry| entry.what.frame()).collect();
        let joined: String = frames.iter().filter_map(|frame| frame["event"]["delta"]["text"].as_str()).collect();
        assert_eq!(joined, "The key is sk-ant-scrubbed-1, of person1@example.com.", "{size}");
        assert_eq!(frames.last().unwrap()["message"]["content"][0]["text"], joined.as_str(), "{size}");
    }
}

#[test]
fn header_environment_and_raw_lines_are_scrubbed_and_the_header_says_what() {
    let mut capture = capture(vec![json!({"cwd": "/home/alice", "headers": {"authorization": "Basic YWxpY2U6eA=="}})]);
    capture.header.launch.push("--settings=/home/alice/s.json".into());
    capture.header.env.insert("ANTHROPIC_API_KEY".into(), "0123456789".into());
    capture.header.env.insert("ANTHROPIC_BASE_URL".into(), "https://llm.firm.com/v1".into());
    capture.header.scrubbed.push("paths".into());
    let raw = What::Raw("alice says bob@firm.com at llm.firm.com".into());
    capture.entries.push(Entry { at_ms: 2.0, from: From::Host, what: raw, label: None });
    scrub(&mut capture);
    let text = write(&capture);
    for secret in ["alice", "firm", "0123456789", "YWxpY2U6eA"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(
        capture.header.scrubbed,
        ["paths", "home directories", "user names", "host names", "e-mail addresses", "keys and tokens"]
    );
}

#[test]
fn what_was_scrubbed_by_hand_is_left_as_it_is() {
    let catalog = Catalog::embedded();
    for listed in catalog.iter() {
        let mut capture = Capture::clone(&catalog.get(listed.provider, listed.version, listed.scene).unwrap());
        let before = capture.clone();
        let places = scrub(&mut capture);
        assert!(capture == before, "{} {}: {places:?}", listed.version, listed.scene);
    }
}
