//! Each rule has a host that keeps it and one that breaks it.

mod document;
mod driver;
mod forks;
mod frames;
mod journal;
mod order;
mod pill;

use serde_json::{Value, json};

use crate::{
    invariants::{
        families::all,
        stub::{Stub, user},
    },
    view::{ChildState, Entry, EntryState, Outcome},
};

/// A sound host is not accused by anybody, and the rule has something to judge; the broken one is accused by the named rules
/// and nobody else.
fn check(ids: &[&'static str], sound: Stub, broken: Stub) {
    sound.holds(all(), ids[0]);
    broken.breaks(all(), ids);
}

/// Nobody accuses this host, and the rule has something to judge.
fn holds(id: &str, sound: Stub) {
    sound.holds(all(), id);
}

// --- frames ------------------------------------------------------------------------------------------------------------------

fn life(message: &str, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": message, "state": state})
}

fn init(session: &str) -> Value {
    json!({"type": "system", "subtype": "init", "session_id": session, "model": "scripted"})
}

fn delta(message: &str, text: &str) -> Value {
    json!({"type": "stream_event", "parent_tool_use_id": null,
           "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
           "api_message_id": message})
}

fn message_start(message: &str) -> Value {
    json!({"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "message_start", "message": {"id": message}}})
}

fn assistant(tag: Option<&str>, message: &str, block: Value) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": tag, "uuid": format!("frame-{message}-{block}"),
           "message": {"id": message, "content": [block], "usage": {"input_tokens": 10, "output_tokens": 1}}})
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn tool_block(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn child_user(tag: &str, text: &str) -> Value {
    json!({"type": "user", "parent_tool_use_id": tag, "message": {"role": "user", "content": [text_block(text)]}})
}

fn task_started(task: &str, tool: &str) -> Value {
    json!({"type": "system", "subtype": "task_started", "task_id": task, "tool_use_id": tool, "task_type": "local_agent",
           "subagent_type": "general-purpose", "description": "look"})
}

fn task_ended(task: &str) -> Value {
    json!({"type": "system", "subtype": "task_notification", "task_id": task, "status": "completed"})
}

fn result(messages: &[&str]) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed",
           "user_message_uuids": messages, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn background_result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "origin": {"kind": "task-notification"}})
}

// --- journaled events --------------------------------------------------------------------------------------------------------

fn session_started() -> Value {
    json!({"type": "sessionStarted", "harness": "claude-code", "tools": [], "sessionId": "s1", "assistantMessageId": "r1"})
}

fn text(part: &str, text: &str) -> Value {
    json!({"type": "textDelta", "text": text, "part": format!("{part}/0")})
}

fn completed(message: &str) -> Value {
    json!({"type": "assistantMessageCompleted", "assistantMessageId": message})
}

fn usage() -> Value {
    json!({"type": "usage", "inputTokens": 1, "outputTokens": 1})
}

fn done(status: &str) -> Value {
    json!({"type": "done", "status": status})
}

fn steered(message: &str) -> Value {
    json!({"type": "steered", "messageId": message, "assistantMessageId": "r1", "nextAssistantMessageId": "r2"})
}

fn chip(id: &str, name: &str) -> Value {
    json!({"type": "toolCall", "id": id, "call": {"kind": "unknown", "name": name, "input": {}}})
}

fn child(chip: &str, event: Value) -> Value {
    json!({"type": "subagent", "parentToolUseId": chip, "event": event})
}

fn child_message(chip: &str, text: &str) -> Value {
    child(chip, json!({"type": "userMessage", "text": text}))
}

fn child_text(chip: &str, text: &str) -> Value {
    child(chip, json!({"type": "textDelta", "text": format!("{text}\n\n")}))
}

fn tool_result(id: &str) -> Value {
    json!({"type": "toolResult", "id": id, "isError": false})
}

fn note() -> Value {
    json!({"type": "note", "kind": "absorbed-result", "text": "a result of others"})
}

// --- pieces of a run ---------------------------------------------------------------------------------------------------------

/// A first prompt that its process has taken.
fn begun() -> Stub {
    let stub = Stub::new().send("m1", "hi").accept("m1").spawned(&["claude"]).heard(user("m1", "hi"));
    stub.said(life("m1", "started")).deliver("m1").said(init("s1")).journal(session_started())
}

trait Pieces {
    fn reply(self, message: &str, words: &str) -> Self;
    fn ends(self, messages: &[&str]) -> Self;
    fn steer(self, message: &str) -> Self;
    fn queue(self, message: &str) -> Self;
    fn take(self, message: &str) -> Self;
    fn agent(self, tool: &str) -> Self;
    fn agent_ends(self, tool: &str) -> Self;
    fn fork(self, task: &str) -> Self;
    fn fork_opens(self, task: &str) -> Self;
    fn fork_settles(self, task: &str) -> Self;
}

impl Pieces for Stub {
    /// The provider streams a message, the host shows it.
    fn reply(self, message: &str, words: &str) -> Self {
        let streamed = self.said(message_start(message)).said(delta(message, words)).journal(text(message, words)).text(words);
        let usage = json!({"type": "contextUsage", "tokens": 11});
        streamed.said(assistant(None, message, text_block(words))).journal(usage).journal(completed("r1"))
    }

    /// A result that ends the turn.
    fn ends(self, messages: &[&str]) -> Self {
        self.said(result(messages)).journal(usage()).journal(done("completed")).settle(Outcome::Completed)
    }

    /// A message of the user goes to the process that runs.
    fn steer(self, message: &str) -> Self {
        self.send(message, "also").accept(message).heard(user(message, "also"))
    }

    fn queue(self, message: &str) -> Self {
        self.said(life(message, "queued"))
    }

    fn take(self, message: &str) -> Self {
        self.said(life(message, "started")).journal(steered(message)).deliver(message)
    }

    /// An Agent call with its chip, its task and its prompt.
    fn agent(self, tool: &str) -> Self {
        let call = tool_block(tool, "Agent", json!({"prompt": "Look around."}));
        let stub = self.said(assistant(None, "msg_agent", call)).journal(chip(tool, "Agent"));
        let stub = stub.journal(child_message(tool, "Look around.")).journal(completed("r1")).tool(tool, "Agent");
        let stub = stub.row(tool, "Agent").tab_text(tool, "user", "Look around.");
        stub.said(task_started(&format!("task-{tool}"), tool))
    }

    fn agent_ends(self, tool: &str) -> Self {
        let stub = self.said(task_ended(&format!("task-{tool}"))).journal(child(tool, done("completed")));
        let close = |entry: &mut Entry| entry.state = EntryState::Complete;
        stub.row_is(tool, ChildState::Done).view(|chat| chat.tabs.iter_mut().flat_map(|tab| &mut tab.entries).for_each(close))
    }

    /// A typed fork begins.
    fn fork(self, task: &str) -> Self {
        self.said(fork_started(task)).fork_opens(task)
    }

    fn fork_opens(self, task: &str) -> Self {
        let id = fork_chip(task);
        let stub = self.journal(chip(&id, "Agent: /probe")).journal(child_message(&id, "Probe.")).tool(&id, "Agent: /probe");
        stub.row(&id, "Agent: /probe").tab_text(&id, "user", "Probe.")
    }

    /// Its two last events.
    fn fork_settles(self, task: &str) -> Self {
        let id = fork_chip(task);
        let stub = self.journal(child(&id, done("completed"))).journal(tool_result(&id)).resolved(&id, false);
        stub.row_is(&id, ChildState::Done)
    }
}

fn fork_started(task: &str) -> Value {
    json!({"type": "system", "subtype": "task_started", "task_id": task, "task_type": "local_agent",
           "subagent_type": "general-purpose", "description": "/probe", "prompt": "Probe."})
}

fn fork_chip(task: &str) -> String {
    format!("forked-command-probe-{task}")
}

#[test]
fn ids_are_unique_and_every_rule_has_words() {
    let all = all();
    let ids: std::collections::BTreeSet<&str> = all.iter().map(|invariant| invariant.id()).collect();
    assert_eq!(ids.len(), all.len());
    assert_eq!(all.len(), 11 + 5 + 9 + 5 + 4 + 5 + 2);
    assert!(all.iter().all(|invariant| !invariant.words().is_empty() && !invariant.words().ends_with('.')));
}

#[test]
fn a_whole_chat_of_a_sound_host_is_not_accused() {
    let stub = begun().reply("msg_1", "Hello.").agent("toolu_1").ends(&["m1"]).agent_ends("toolu_1");
    let stub = stub.send("m2", "and").accept("m2").heard(user("m2", "and")).queue("m2").take("m2");
    let stub = stub.fork("a1").said(task_ended("a1")).said(init("s1")).said(child_user("forked-command-probe", "Probe."));
    let stub = stub.said(result(&["m2"])).journal(usage()).fork_settles("a1").journal(done("completed"));
    let stub = stub.settle(Outcome::Completed).rest();
    holds("D1", stub);
}
