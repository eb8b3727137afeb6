//! Makes the frames of two runs comparable: ids are paired by first appearance, what varies from run to run is dropped.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Fields that differ in every run. Their presence is compared, their value is not.
const VARYING: [&str; 16] = [
    "timestamp",
    "end_time",
    "request_sent_wall_ms",
    "duration_ms",
    "duration_api_ms",
    "ttft_ms",
    "ttft_stream_ms",
    "time_to_request_ms",
    "first_content_frame_ms",
    "thinking_duration_ms",
    "totalDurationMs",
    "retry_delay_ms",
    "harnessSectionHash",
    "pid",
    "messaging_socket_path",
    "Peer address",
];

/// Counts that depend on which requests of racing children were done by then.
const RACING: [&str; 3] = ["total_cost_usd", "modelUsage", "model_usage_since_last_result"];

/// Times that stand in texts: what precedes the number.
const TIMES_IN_TEXT: [&str; 3] = ["duration_ms: ", "Total duration (API):  ", "Total duration (wall): "];

/// Pairs the ids of two runs by where they stand.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Our id → the recorded one.
    pairs: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// Children race in this capture.
    racing: bool,
}

impl Names {
    /// No ids yet; `racing` when children ran side by side, see [`children_race`].
    pub fn new(racing: bool) -> Names {
        Names { racing, ..Names::default() }
    }

    /// Two frames of the same place, comparable: varying values dropped, our ids replaced by the recorded ones where they
    /// stand for each other everywhere.
    pub fn normal(&mut self, recorded: Option<&Value>, ours: Option<&Value>) -> (Option<Value>, Option<Value>) {
        if let (Some(recorded), Some(ours)) = (recorded, ours) {
            self.bind(recorded, ours);
        }
        (recorded.map(|frame| self.walk(frame, false)), ours.map(|frame| self.walk(frame, true)))
    }

    fn bind(&mut self, recorded: &Value, ours: &Value) {
        match (recorded, ours) {
            (Value::Object(a), Value::Object(b)) => {
                for (key, value) in a {
                    if let Some(other) = b.get(key) {
                        self.bind(value, other);
                    }
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (value, other) in a.iter().zip(b) {
                    self.bind(value, other);
                }
            }
            (Value::String(a), Value::String(b)) => {
                let (a, b) = (words(a), words(b));
                if a.len() != b.len() {
                    return;
                }
                for (recorded, ours) in a.into_iter().zip(b) {
                    let same_kind = kind(recorded).is_some() && kind(recorded) == kind(ours);
                    if same_kind && !self.pairs.contains_key(ours) && self.taken.insert(recorded.to_owned()) {
                        self.pairs.insert(ours.to_owned(), recorded.to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    fn walk(&self, frame: &Value, ours: bool) -> Value {
        let mut frame = frame.clone();
        if frame["subtype"] == "task_progress" {
            frame["usage"]["total_tokens"] = json!("varies");
        }
        self.value("", &frame, ours)
    }

    fn value(&self, key: &str, value: &Value, ours: bool) -> Value {
        if VARYING.contains(&key) || (self.racing && RACING.contains(&key)) {
            return json!("varies");
        }
        match value {
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), self.value(key, value, ours))).collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(key, item, ours)).collect()),
            Value::String(text) => Value::String(self.text(text, ours)),
            Value::Number(number) if number.is_f64() || key.ends_with("usd") || key.ends_with("USD") => {
                // Sums of floats differ in the last digits with the order of the terms.
                json!(format!("{:.9}", number.as_f64().unwrap_or_default()))
            }
            other => other.clone(),
        }
    }

    fn text(&self, text: &str, ours: bool) -> String {
        let mut out = text.to_owned();
        if let (true, Some(recorded)) = (ours, self.pairs.get(text)) {
            return recorded.clone();
        }
        if ours {
            for word in words(text) {
                if let Some(recorded) = self.pairs.get(word).filter(|_| kind(word).is_some()) {
                    out = out.replace(word, recorded);
                }
            }
        }
        for before in TIMES_IN_TEXT {
            out = drop_number(&out, before);
        }
        out
    }
}

/// Whether children ran side by side, with each other or with the main thread.
pub fn children_race(recorded: &[&Value]) -> bool {
    let started: Vec<&&Value> =
        recorded.iter().filter(|frame| frame["subtype"] == "task_started" && frame["task_type"] == "local_agent").collect();
    started.iter().any(|frame| frame["is_backgrounded"] == true)
        || started.iter().filter(|f| f["tool_use_id"].is_string()).count() > 1
}

/// Beginnings of the ids that the model's API gives.
const API: [&str; 3] = ["toolu_", "msg_", "req_"];

/// The words of a text that may be ids: runs of letters, digits and dashes, and the API's ids whole.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_') {
        if API.iter().any(|prefix| run.starts_with(prefix)) {
            // A heartbeat's id is its call's with more behind a dash.
            words.extend(run.split('-').next());
        } else {
            words.extend(run.split('_').filter(|word| !word.is_empty()));
        }
    }
    words
}

/// What kind of id a word is.
fn kind(word: &str) -> Option<&'static str> {
    let hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    if let Some(prefix) = API.into_iter().find(|prefix| word.starts_with(prefix)) {
        return Some(prefix);
    }
    let parts: Vec<&str> = word.split('-').collect();
    match (word.len(), parts.as_slice()) {
        (36, [a, b, c, d, e])
            if [a.len(), b.len(), c.len(), d.len(), e.len()] == [8, 4, 4, 4, 12] && parts.iter().all(|p| hex(p)) =>
        {
            Some("uuid")
        }
        (17, [id]) if id.starts_with('a') && hex(id) => Some("task"),
        (18, [time, random]) if time.len() == 9 && random.len() == 8 && hex(random) => Some("run"),
        (12, ["req", id]) if hex(id) => Some("request"),
        // Some words of nine letters pass for the id of a command: they stand for themselves.
        (9, [id]) if id.starts_with('b') && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) => Some("task"),
        _ => None,
    }
}

/// Drops the number behind each of these words.
fn drop_number(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(before);
        out.push('#');
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stands_for_one_other_id_everywhere() {
        let mut names = Names::new(false);
        let recorded = json!({"task_id": "a3bc286eef2015a62", "file": "/x/a3bc286eef2015a62.output"});
        let (one, other) =
            names.normal(Some(&recorded), Some(&json!({"task_id": "a0000000000000001", "file": "/x/a0000000000000001.output"})));
        assert_eq!(one, other);
        let (one, other) =
            names.normal(Some(&recorded), Some(&json!({"task_id": "a0000000000000002", "file": "/x/a0000000000000001.output"})));
        assert_ne!(one, other, "a second id took the place of the first");
    }

    #[test]
    fn words_that_look_like_ids_at_a_glance_are_none() {
        for word in ["background", "bravobravo", "claude-haiku-5-5", "-home-dev-project"] {
            assert_eq!(kind(word), None, "{word}");
        }
    }
}
