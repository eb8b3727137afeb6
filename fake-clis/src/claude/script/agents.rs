//! The answers to agents and forks, from their tagged frames.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Answer, Block, ChildScript, End, Failure, Reply, Script, end_usage,
    main_thread::{failure, whole_chunks},
    reduce::{Said, tag, text},
    text_of,
};

/// How long a message is held that was still streaming when its fork was stopped, in ms.
const UNSEEN_TAIL_MS: u64 = 60_000;

/// One agent or fork of a capture.
pub(super) struct Child<'a> {
    /// `agent_id`, which is the task's id.
    id: &'a str,
    /// The call that started it, none for typed forks.
    call: Option<&'a str>,
    /// The command of a fork, without its slash.
    command: String,
    started: u64,
    /// The stop of the call's block, or its assistant frame where no blocks are seen.
    called: u64,
    ended: Option<u64>,
    stopped: bool,
    /// What its notification reports.
    report: Option<&'a str>,
    /// Its frames with the times at which they happened, which for a typed fork is not when they were said.
    pub frames: Vec<(u64, &'a Value)>,
}

/// Finds all agents and forks and their frames.
pub(super) fn collect<'a>(said: &[Said<'a>]) -> Vec<Child<'a>> {
    let mut children: Vec<Child<'a>> = Vec::new();
    let mut called: BTreeMap<&str, u64> = BTreeMap::new();
    let mut block: Option<&str> = None;
    let offset = said.iter().filter_map(|s| Some(s.at as i64 - wall_ms(text(s.frame, "/timestamp")?)?)).min().unwrap_or(0);
    for Said { at, frame } in said {
        let frame: &'a Value = frame;
        if let (Some("assistant"), Some(id)) = (text(frame, "/type"), text(frame, "/message/content/0/id")) {
            called.insert(id, *at);
            // Only the main thread's blocks are seen to stop.
            block = if tag(frame).is_none() { Some(id) } else { block };
        } else if text(frame, "/event/type") == Some("content_block_stop")
            && let Some(id) = block.take()
        {
            called.insert(id, *at);
        }
        if let (Some("task_started"), Some(id)) = (text(frame, "/subtype"), text(frame, "/task_id"))
            && text(frame, "/task_type") == Some("local_agent")
        {
            let command = text(frame, "/description").and_then(|d| d.strip_prefix('/')).unwrap_or_default().to_owned();
            children.push(Child {
                id,
                call: text(frame, "/tool_use_id"),
                command,
                started: *at,
                called: text(frame, "/tool_use_id").and_then(|call| called.get(call)).copied().unwrap_or(*at),
                ended: None,
                stopped: false,
                report: None,
                frames: Vec::new(),
            });
        }
        let key = text(frame, "/agent_id").or_else(|| text(frame, "/task_id"));
        let Some(position) = children.iter().position(|child| key == Some(child.id)) else { continue };
        let parent_is_fork = text(frame, "/parent_tool_use_id").is_some_and(|tag| tag.starts_with("forked-command"));
        let child = &mut children[position];
        match text(frame, "/subtype") {
            Some("task_updated" | "task_notification") => {
                child.ended.get_or_insert(*at);
                child.stopped |= matches!(text(frame, "/status"), Some("stopped"));
                child.report = text(frame, "/summary").filter(|_| text(frame, "/status") == Some("completed")).or(child.report);
            }
            _ if tag(frame).is_some() => {
                let held = parent_is_fork || child.ended.is_some_and(|ended| ended + 1 < *at && !child.stopped);
                let happened = text(frame, "/timestamp").and_then(wall_ms).map(|wall| (wall + offset).max(0) as u64);
                child.frames.push((if held { happened.unwrap_or(*at).min(*at) } else { *at }, frame));
            }
            _ => {}
        }
    }
    children
}

impl Child<'_> {
    /// Puts its answers into the script.
    pub(super) fn into_script(self, output: u64, script: &mut Script) {
        let mut answers: Vec<Answer> = Vec::new();
        let mut last = self.started;
        for (at, frame) in &self.frames {
            let gap = at.saturating_sub(last);
            last = *at;
            if text(frame, "/type") != Some("assistant") {
                continue;
            }
            let message = &frame["message"];
            if text(message, "/model") == Some("<synthetic>") {
                if let Some((status, words)) = failure(&text_of(&message["content"])) {
                    let request_id = text(frame, "/request_id").map(str::to_owned);
                    answers.push(Answer::Failure(Failure { wait_ms: gap, status, message: words, request_id, retry_ms: None }));
                }
                continue;
            }
            let id = text(message, "/id").unwrap_or_default();
            if !matches!(answers.last(), Some(Answer::Reply(reply)) if reply.id == id) {
                answers.push(Answer::Reply(reply(id, frame, output)));
            }
            if let Some(Answer::Reply(reply)) = answers.last_mut() {
                push_block(reply, &message["content"][0], gap);
            }
        }
        // A child's text may be hidden; its report is not.
        let after_tool = self.frames.last().is_some_and(|(_, frame)| text(frame, "/type") == Some("user"));
        if let (true, true, Some(report)) = (after_tool, self.command.is_empty(), self.report) {
            let usage = answers.iter().rev().find_map(|answer| match answer {
                Answer::Reply(reply) => Some(reply.usage.clone()),
                Answer::Failure(_) => None,
            });
            let frame = json!({"message": {"usage": usage}});
            let mut last = reply("msg_unseen", &frame, output);
            push_block(&mut last, &json!({"type": "text", "text": report}), 1);
            answers.push(Answer::Reply(last));
        }
        if self.stopped
            && let Some(Answer::Reply(reply)) = answers.last_mut()
            && matches!(&reply.end, End::Stop { reason, .. } if reason == "end_turn")
            && let End::Stop { delta_ms, .. } = &mut reply.end
        {
            *delta_ms = UNSEEN_TAIL_MS;
        }
        let tail_ms = self.ended.map_or(0, |ended| ended.saturating_sub(last));
        let lead_ms = self.started.saturating_sub(self.called);
        let child = ChildScript { command: self.command, answers: answers.into(), lead_ms, tail_ms };
        match self.call {
            Some(call) => {
                script.children.insert(call.to_owned(), child);
            }
            None => script.forks.push_back(child),
        }
    }
}

fn reply(id: &str, frame: &Value, output: u64) -> Reply {
    let input = frame.pointer("/message/usage/input_tokens").and_then(Value::as_u64).unwrap_or(0);
    Reply {
        id: id.to_owned(),
        request_id: text(frame, "/request_id").map(str::to_owned),
        wait_ms: 0,
        usage: frame["message"]["usage"].clone(),
        blocks: Vec::new(),
        end: End::Stop { reason: "end_turn".into(), usage: end_usage(input, output), delta_ms: 0, stop_ms: 0 },
        streamed: true,
    }
}

fn push_block(reply: &mut Reply, content: &Value, gap: u64) {
    if text(content, "/type") == Some("tool_use")
        && let End::Stop { reason, .. } = &mut reply.end
    {
        "tool_use".clone_into(reason);
    }
    reply.blocks.push(Block { content: content.clone(), start_ms: 0, chunks: whole_chunks(content), done_ms: gap, stop_ms: 0 });
}

/// Ms since 1970 of a frame's timestamp, `2026-11-30T19:22:33.037Z`.
pub(super) fn wall_ms(stamp: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| stamp.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second, ms) = (number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?);
    // Days since 1970 in the proleptic Gregorian calendar, March being the first month of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + ms)
}
