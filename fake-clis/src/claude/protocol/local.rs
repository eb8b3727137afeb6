//! Commands of the CLI's own: no model is called.

use serde_json::{Value, json};

use super::{
    core::Core,
    state::{Kind, MAIN, Message, Turn},
};
use crate::claude::{pace, profile::display_name};

/// Commands that answer without a screen: the name typed, and the one they are run under.
const LOCAL: &[(&str, &str)] = &[
    ("context", "context"),
    ("cost", "usage"),
    ("usage", "usage"),
    ("model", "model"),
    ("clear", "clear"),
    ("compact", "compact"),
];

/// Commands that exist and want a screen.
const NEEDS_SCREEN: [&str; 9] = ["help", "login", "logout", "exit", "quit", "resume", "permissions", "hooks", "vim"];

impl Core {
    /// Whether a typed command is the CLI's own.
    pub(super) fn is_local(&self, name: &str) -> bool {
        LOCAL.iter().any(|(typed, _)| *typed == name) || NEEDS_SCREEN.contains(&name)
    }

    /// Begins a command's turn.
    pub(super) fn begin_local(&mut self, message: Message, name: &str, args: &str) {
        self.take_local_script(&message.text);
        let empty = !self.had_turn;
        self.turn = Some(Turn::new(Kind::Local(name.to_owned()), Some(message), self.now_ms));
        self.local_args = args.to_owned();
        self.call(MAIN, pace::STARTED, Core::say_turn_started);
        match name {
            "compact" if empty => self.call(MAIN, pace::INIT, Core::nothing_to_compact),
            "compact" => self.call(MAIN, pace::REQUEST, Core::begin_compact),
            "clear" => self.call(MAIN, 1, Core::clear),
            _ => self.call(MAIN, pace::INIT, Core::run_local),
        }
    }

    /// The script's turn of a command has no answers; only one with the same words is taken.
    fn take_local_script(&mut self, text: &str) {
        let same = self
            .script
            .turns
            .iter()
            .position(|turn| matches!(&turn.cue, crate::claude::script::Cue::Message(cue) if text.trim() == cue.trim()));
        if let Some(position) = same {
            self.script.turns.remove(position);
        }
    }

    fn run_local(&mut self, _: usize) {
        let Some(Kind::Local(name)) = self.turn.as_ref().map(|turn| turn.kind.clone()) else { return };
        let args = self.local_args.clone();
        if NEEDS_SCREEN.contains(&name.as_str()) {
            self.say_init();
            let words = format!("/{name} isn't available in this environment.");
            self.say_local_output(&words, &[("local_command_outcome", json!({"kind": "unavailable_headless"}))]);
            self.finish_local("", "completed");
            return;
        }
        let mut extra: Vec<(&str, Value)> = Vec::new();
        let mut new_model = None;
        let run = LOCAL.iter().find(|(typed, _)| *typed == name).map_or(name.as_str(), |(_, run)| *run);
        let output = match run {
            "context" => {
                self.tape("assistant");
                let (text, usage) = self.profile.context.clone().unwrap_or_default();
                extra.push(("context_usage", usage));
                text
            }
            "usage" => self.cost_text(),
            _ if args.is_empty() => {
                format!("Current model: `{}`\n{}", display_name(&self.model), self.profile.model_usage)
            }
            _ => {
                let resolved = self.profile.resolve(&args);
                let words = format!("Set model to `{}` for this session only", display_name(&resolved));
                new_model = Some(resolved);
                words
            }
        };
        // This turn's own init still names the old model.
        self.say_init();
        if let Some(model) = new_model {
            self.model = model;
        }
        extra.push(("local_command_run", json!({"command": run, "args": args})));
        self.say_local_output(&output, &extra);
        self.say_command_replay(run, &args);
        self.finish_local(&name, "completed");
    }

    /// A command's or a fork's output, as a message of the CLI's own making.
    pub(super) fn say_local_output(&mut self, text: &str, extra: &[(&str, Value)]) {
        let message = self.synthetic(text.trim_end_matches('\n'), "end_turn");
        let mut frame = json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null, "timestamp": self.stamp(),
            "local_command_source": format!("<local-command-stdout>{text}</local-command-stdout>"),
        });
        for (key, value) in extra {
            frame[*key] = value.clone();
        }
        self.say(frame);
        if let Some(turn) = self.turn.as_mut() {
            text.clone_into(&mut turn.output);
        }
    }

    /// What the session cost, as `/cost`, `/usage` and `get_session_cost` print it.
    pub(super) fn cost_text(&self) -> String {
        let label = if self.profile.newer { "Estimated cost: " } else { "Total cost: " };
        let tokens = self.ledger.total();
        let wall = (self.now_ms - self.started_ms) / 1000;
        format!(
            "{label:<23}${:.4}\nTotal duration (API):  0s\nTotal duration (wall): {wall}s\nTotal code changes:    0 lines added, 0 \
             lines removed\nUsage:                 {} input, {} output, {} cache read, {} cache write",
            self.ledger.dollars(),
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write
        )
    }

    /// `/clear`: a new conversation under a new session id.
    fn clear(&mut self, _: usize) {
        let uuid = self.uuid();
        let head = self.turn.as_ref().and_then(|turn| turn.head.as_ref()).and_then(|head| head.uuid.clone());
        self.say(json!({
            "type": "conversation_reset", "new_conversation_id": uuid, "trigger": "clear", "user_message_uuid": head,
            "uuid": uuid, "timestamp": self.stamp(),
        }));
        if self.profile.newer {
            self.say_background_tasks();
        }
        self.call(MAIN, pace::INIT, Core::cleared);
    }

    fn cleared(&mut self, _: usize) {
        self.session = self.uuid();
        self.parent = None;
        self.had_turn = false;
        self.threads[MAIN].tools.clear();
        self.say_init();
        self.say_command_replay("clear", "");
        self.finish_local("clear", "completed");
    }
}
