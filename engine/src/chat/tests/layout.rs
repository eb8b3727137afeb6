//! The layout as a viewer without engine code meets it. What stands here is a promise: a change breaks viewers.

use loro::{LoroDoc, ToJson};
use serde_json::json;

use super::script::{apply, parse};
use crate::chat::ChatDoc;
use crate::event::AgentEvent;

#[test]
fn key_renamed() {
    let mut doc = ChatDoc::new("chat", "chat", 7);
    let script = "user m hi
         begin a
         think hm
         text/p yo
         spawn c Agent
         chip c doc=chat--sub--c
         result c out=abc diff
         ask q Sure?
         image i /tmp/i.png
         point a x";
    for op in parse(script) {
        apply(&mut doc, &op);
    }
    doc.fold(&AgentEvent::ContextUsage { tokens: Some(5), window: None });
    doc.fold(&AgentEvent::Usage { input_tokens: 1, output_tokens: 2 });
    doc.finish_segment(true, Some("gone"), Some(9));
    doc.push_fork_marker("f", "other", "Title", 3, "dev");

    let viewer = LoroDoc::new();
    viewer.import(&doc.take_update().expect("changes")).expect("a viewer takes every update");
    let question = json!({"id": "q", "header": "h", "question": "Sure?", "options": ["yes", "no"], "multiSelect": false, "multiline": false});
    let input = json!({"model": "small", "subagent_type": "scout"});
    let expected = json!({
        "meta": {"chatId": "chat", "contextUsage": {"tokens": 5}, "tokenUsage": {"inputTokens": 1, "outputTokens": 2}},
        "messages": [
            {
                "id": "m", "role": "user", "status": "complete", "createdAt": 1_700_000_000_000_i64, "deviceId": "dev",
                "parts": [{"kind": "text", "id": "t0", "text": "hi"}],
            },
            {
                "id": "a", "role": "assistant", "status": "aborted", "createdAt": 1_700_000_000_000_i64, "deviceId": "dev",
                "durationMs": 9, "nativeForkPoint": "\"x\"",
                "parts": [
                    {"kind": "reasoning", "id": "t0", "text": "hm"},
                    {"kind": "text", "id": "t1", "part": "p", "text": "yo"},
                    {
                        "kind": "tool", "id": "c", "call": {"kind": "unknown", "name": "Agent", "input": input},
                        "resolved": true, "isError": false, "outputBytes": 3, "diffStats": {"added": 2, "removed": 1},
                        "subagentRef": "chat--sub--c", "subagentStatus": "running",
                    },
                    {"kind": "input", "requestId": "q", "questions": [question], "resolved": true},
                    {"kind": "image", "id": "i", "path": "/tmp/i.png", "name": "/tmp/i.png", "mimeType": "image/png"},
                    {"kind": "error", "message": "gone"},
                ],
            },
            {
                "id": "f", "role": "system", "status": "complete", "createdAt": 3, "deviceId": "dev",
                "parts": [{"kind": "fork", "sourceChatId": "other", "sourceTitle": "Title"}],
            },
        ],
    });
    assert_eq!(viewer.get_deep_value().to_json_value(), expected);
}
