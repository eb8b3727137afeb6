//! Compaction: by command, or between two requests of a turn.

use serde_json::{Value, json};

use super::{agents::used_line, core::Core, ledger::Tokens, state::MAIN};
use crate::claude::{pace, script::Summary};

/// How long a compaction takes that nobody scripted, in ms.
const UNSCRIPTED_MS: u64 = 100;

impl Core {
    fn next_summary(&mut self) -> Summary {
        self.script.summaries.pop_front().unwrap_or_else(|| Summary {
            wait_ms: UNSCRIPTED_MS,
            text: "The conversation so far.".into(),
            tokens: [self.threads[MAIN].last.total(), 1000, 0],
            usage: [1000, 20],
        })
    }

    /// `/compact` of a session with messages.
    pub(super) fn begin_compact(&mut self, _: usize) {
        self.say(json!({"type": "system", "subtype": "status", "status": "compacting"}));
        let summary = self.next_summary();
        let wait = summary.wait_ms;
        self.summary = Some(summary);
        self.call(MAIN, wait, Core::compacted_by_command);
    }

    fn compacted_by_command(&mut self, _: usize) {
        self.say(json!({"type": "system", "subtype": "status", "status": null, "compact_result": "success"}));
        self.call(MAIN, pace::FORK_INIT, Core::show_compaction);
    }

    fn show_compaction(&mut self, _: usize) {
        self.say_init();
        let Some(summary) = self.summary.take() else { return };
        self.book_summary(&summary);
        let last: Vec<String> = self.last_kept.last().cloned().into_iter().collect();
        let anchor = self.say_boundary("manual", &summary, &last);
        let words = self.summary_words(&summary);
        let frame = json!({
            "type": "user", "message": {"role": "user", "content": words}, "parent_tool_use_id": null, "uuid": anchor,
            "timestamp": self.stamp(), "isReplay": false, "isSynthetic": true,
        });
        self.say(frame);
        let done = json!("<local-command-stdout>Compacted </local-command-stdout>");
        let fresh = self.uuid();
        let frame = self.replay(Some(&fresh), &done);
        self.say_replay(frame);
        self.say_command_replay("compact", "");
        self.finish_local("compact", "completed");
    }

    /// The conversation is full: compaction between two requests of a turn.
    pub(super) fn compact_in_turn(&mut self) {
        self.say(json!({"type": "system", "subtype": "status", "status": "compacting", "compact_output_chars": 0}));
        let summary = self.next_summary();
        let wait = summary.wait_ms;
        self.summary = Some(summary);
        self.call(MAIN, wait, Core::compacted_in_turn);
    }

    fn compacted_in_turn(&mut self, _: usize) {
        self.say(json!({"type": "system", "subtype": "status", "status": null, "compact_result": "success"}));
        let Some(summary) = self.summary.take() else { return };
        self.book_summary(&summary);
        let mut kept = self.turn.as_ref().map(|turn| turn.kept.clone()).unwrap_or_default();
        // The token count that the CLI notes behind the tool's result is kept with it; nobody ever sees it on the wire.
        kept.push(self.uuid());
        let anchor = self.say_boundary("auto", &summary, &kept);
        let words = self.summary_words(&summary);
        let frame = json!({
            "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": words}]},
            "parent_tool_use_id": null, "uuid": anchor, "isSynthetic": true,
        });
        self.say_user(frame);
        self.threads[MAIN].last = Tokens::default();
        self.call(MAIN, 1, Core::ask_model);
    }

    fn book_summary(&mut self, summary: &Summary) {
        let model = self.model.clone();
        self.ledger.book(&model, Tokens { input: summary.usage[0], output: summary.usage[1], ..Tokens::default() });
    }

    /// `compact_boundary`; the uuid of the summary that follows it.
    fn say_boundary(&mut self, trigger: &str, summary: &Summary, kept: &[String]) -> String {
        let anchor = self.uuid();
        let [before, after, dropped] = summary.tokens;
        let (head, tail) = (kept.first(), kept.last());
        self.say(json!({
            "type": "system", "subtype": "compact_boundary",
            "compact_metadata": {
                "trigger": trigger, "pre_tokens": before, "post_tokens": after, "cumulative_dropped_tokens": dropped,
                "duration_ms": summary.wait_ms,
                "preserved_segment": {"head_uuid": head, "anchor_uuid": anchor, "tail_uuid": tail},
                "preserved_messages": {"anchor_uuid": anchor, "uuids": kept, "all_uuids": kept},
            },
            "logical_parent_uuid": tail,
        }));
        anchor
    }

    fn summary_words(&self, summary: &Summary) -> String {
        let used = &self.threads[MAIN].tools;
        let line = match (used.is_empty(), self.profile.newer) {
            (true, _) => String::new(),
            (false, true) => format!("<system-reminder>\n{}\n</system-reminder>\n", used_line(used)),
            (false, false) => format!("{}\n", used_line(used)),
        };
        format!(
            "This session is being continued from a previous conversation that ran out of context. [scrubbed]\n\n{line}Summary:\n{}\
             \n\n[scrubbed] read the full transcript at: {}\n[scrubbed]",
            summary.text,
            self.session_file()
        )
    }

    /// A session without messages has nothing to compact.
    pub(super) fn nothing_to_compact(&mut self, _: usize) {
        self.say_init();
        let words = "Error: No messages to compact";
        let message = self.synthetic(words, "end_turn");
        self.say(json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null, "timestamp": self.stamp(),
            "local_command_source": format!("<local-command-stderr>{words}</local-command-stderr>"),
            "local_command_outcome": {"kind": "failed"},
        }));
        self.say_command_replay("compact", "");
        self.finish_local("compact", "completed");
    }

    /// The replay of a typed command.
    pub(super) fn say_command_replay(&mut self, name: &str, args: &str) {
        let uuid = self.turn.as_ref().and_then(|turn| turn.head.as_ref()).and_then(|head| head.uuid.clone());
        let words = format!(
            "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            \
             <command-args>{args}</command-args>"
        );
        let frame = self.replay(uuid.as_deref(), &Value::String(words));
        self.say_replay(frame);
    }
}
