//! Makes the frames of two runs comparable: ids are named by first appearance, what varies from run to run is dropped.

use std::collections::BTreeMap;

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

/// Names ids by first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) names: BTreeMap<String, String>,
    /// Children race in this capture.
    pub(super) racing: bool,
}

impl Names {
    /// A frame with its ids named and its varying values dropped.
    pub(super) fn normal(&mut self, frame: &Value) -> Value {
        let mut frame = frame.clone();
        if frame["subtype"] == "task_progress" {
            frame["usage"]["total_tokens"] = json!("varies");
        }
        self.walk("", &frame)
    }

    fn walk(&mut self, key: &str, value: &Value) -> Value {
        if VARYING.contains(&key) || (self.racing && RACING.contains(&key)) {
            return json!("varies");
        }
        match value {
            Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), self.walk(key, value))).collect()),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.walk(key, item)).collect()),
            Value::String(text) => Value::String(self.text(text)),
            Value::Number(number) if number.is_f64() => {
                // Sums of floats differ in the last digits with the order of the terms.
                json!(format!("{:.9}", number.as_f64().unwrap_or_default()))
            }
            Value::Number(number) if key.ends_with("usd") || key.ends_with("USD") => {
                json!(format!("{:.9}", number.as_f64().unwrap_or_default()))
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut word = String::new();
        for c in text.chars().chain(['\0']) {
            if c.is_ascii_alphanumeric() || c == '-' {
                word.push(c);
                continue;
            }
            out.push_str(&self.word(&word));
            word.clear();
            if c != '\0' {
                out.push(c);
            }
        }
        for before in TIMES_IN_TEXT {
            out = drop_number(&out, before);
        }
        out
    }

    fn word(&mut self, word: &str) -> String {
        match kind(word) {
            Some(kind) => {
                let next = self.names.len() + 1;
                self.names.entry(word.to_owned()).or_insert_with(|| format!("<{kind} {next}>")).clone()
            }
            None => word.to_owned(),
        }
    }
}

/// What kind of id a word is.
fn kind(word: &str) -> Option<&'static str> {
    let hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    let parts: Vec<&str> = word.split('-').collect();
    match (word.len(), parts.as_slice()) {
        (36, [a, b, c, d, e]) if [a.len(), b.len(), c.len(), d.len(), e.len()] == [8, 4, 4, 4, 12] && parts.iter().all(|p| hex(p)) => {
            Some("uuid")
        }
        (17, [id]) if id.starts_with('a') && hex(id) => Some("task"),
        (18, [time, random]) if time.len() == 9 && random.len() == 8 && hex(random) => Some("run"),
        (9, [id]) if id.starts_with('b') && id.chars().any(|c| c.is_ascii_digit()) => Some("task"),
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
    fn an_id_inside_a_path_is_named_as_the_id_itself() {
        let mut names = Names::default();
        let path = names.text("/x/822974f0-f2db-4cad-91b7-84c5beee305f/tasks/a3bc286eef2015a62.output");
        assert_eq!(path, "/x/<uuid 1>/tasks/<task 2>.output");
        assert_eq!(names.text("a3bc286eef2015a62"), "<task 2>");
    }

    #[test]
    fn words_that_look_like_ids_at_a_glance_are_kept() {
        let mut names = Names::default();
        for word in ["background", "bravobravo", "toolu_mock_0002_1", "claude-haiku-5-5"] {
            assert_eq!(names.text(word), word);
        }
    }
}
