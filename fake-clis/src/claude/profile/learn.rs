//! Learns a profile from the captures of one version.

use std::collections::BTreeMap;

use captures::format::{Capture, From};
use serde_json::{Value, json};

use super::{Model, Profile, Skill, Texts, is_newer};
use crate::claude::script::text_of;

/// Control requests whose answers are constants of a version, with session, directory and model put in.
const CONSTANT: [&str; 6] = ["initialize", "get_status", "get_settings", "get_context_usage", "list_models", "mcp_status"];

/// Learns what a version says whatever the host does. Captures of other versions are passed over.
pub fn learn<'a>(version: &str, captures: impl IntoIterator<Item = &'a Capture>) -> Profile {
    let newer = is_newer(version);
    let mut profile = Profile {
        version: version.to_owned(),
        newer,
        init: json!({"type": "system", "subtype": "init", "tools": [], "slash_commands": []}),
        answers: BTreeMap::new(),
        models: Vec::new(),
        skills: BTreeMap::new(),
        context: None,
        model_usage: "Usage: /model <name>.".into(),
        texts: texts(newer),
    };
    for capture in captures {
        if capture.header.version == version {
            take(&mut profile, capture);
        }
    }
    profile
}

fn take(profile: &mut Profile, capture: &Capture) {
    let mut asked: BTreeMap<&str, &str> = BTreeMap::new();
    for entry in &capture.entries {
        let Some(frame) = entry.what.frame() else { continue };
        let text = |pointer: &str| frame.pointer(pointer).and_then(Value::as_str);
        if entry.from == From::Host {
            if let (Some(id), Some(subtype)) = (text("/request_id"), text("/request/subtype")) {
                asked.insert(id, subtype);
            }
            continue;
        }
        match (text("/type"), text("/subtype")) {
            (Some("system"), Some("init")) => take_init(profile, frame),
            (Some("system"), Some("task_started")) => take_skill(profile, frame),
            (Some("control_response"), _) => {
                let subtype = text("/response/request_id").and_then(|id| asked.get(id));
                if let (Some(subtype), Some(answer)) = (subtype, frame.pointer("/response/response"))
                    && CONSTANT.contains(subtype)
                {
                    profile.answers.entry((*subtype).to_owned()).or_insert_with(|| answer.clone());
                    take_models(profile, answer);
                }
            }
            (Some("assistant"), _) => take_local(profile, frame),
            (Some("user"), _) => take_description(profile, frame),
            _ => {}
        }
    }
}

/// The longest list of tools is that of a launch without `--disallowedTools`.
fn take_init(profile: &mut Profile, frame: &Value) {
    let count = |init: &Value| init["tools"].as_array().map_or(0, Vec::len);
    if count(frame) > count(&profile.init) {
        profile.init = frame.clone();
        if let Some(init) = profile.init.as_object_mut() {
            init.shift_remove("user_message_uuids");
        }
    }
}

fn take_skill(profile: &mut Profile, frame: &Value) {
    let text = |key: &str| frame.get(key).and_then(Value::as_str);
    let (Some(name), Some(prompt)) = (text("description").and_then(|d| d.strip_prefix('/')), text("prompt")) else { return };
    let Some((_, body)) = prompt.split_once("\n\n") else { return };
    let body = body.split_once("\n\nARGUMENTS: ").map_or(body, |(body, _)| body);
    let skill = profile.skills.entry(name.to_owned()).or_default();
    skill.fork = true;
    body.clone_into(&mut skill.body);
}

/// The first tagged frame of a fork states the skill's description.
fn take_description(profile: &mut Profile, frame: &Value) {
    let text = |key: &str| frame.get(key).and_then(Value::as_str);
    let words = text_of(&frame["message"]["content"]);
    let Some(name) = words.strip_prefix("Base directory for this skill: ").and_then(|rest| rest.lines().next()) else { return };
    let name = name.rsplit('/').next().unwrap_or_default();
    if let Some(description) = text("task_description") {
        let skill: &mut Skill = profile.skills.entry(name.to_owned()).or_default();
        description.clone_into(&mut skill.description);
    }
}

fn take_models(profile: &mut Profile, answer: &Value) {
    for model in answer["models"].as_array().into_iter().flatten() {
        if let (Some(value), Some(resolved)) = (model["value"].as_str(), model["resolvedModel"].as_str())
            && !profile.models.iter().any(|known| known.value == value)
        {
            profile.models.push(Model { value: value.to_owned(), resolved: resolved.to_owned() });
        }
    }
}

fn take_local(profile: &mut Profile, frame: &Value) {
    let words = text_of(&frame["message"]["content"]);
    if let Some(usage) = frame.get("context_usage") {
        let source = frame["local_command_source"].as_str().unwrap_or_default();
        let source = source.trim_start_matches("<local-command-stdout>").trim_end_matches("</local-command-stdout>");
        profile.context = Some((source.to_owned(), usage.clone()));
    }
    if let Some((_, usage)) = words.split_once("\nUsage: /model") {
        profile.model_usage = format!("Usage: /model{usage}");
    }
}

/// What is left of the CLI's prose in the captures: first sentences, the rest scrubbed.
fn texts(newer: bool) -> Texts {
    let rejected = "The user doesn't want to proceed with this tool use. [scrubbed]".to_owned();
    let rejected_running = if newer { format!("{rejected} Correction to the text above: [scrubbed]") } else { rejected.clone() };
    Texts {
        rejected,
        rejected_running,
        cut_off: "Your response above was cut off mid-stream. [scrubbed]".into(),
        token_limit: "Output token limit hit. [scrubbed]".into(),
        refused: "Your response above was stopped by a safety classifier [scrubbed]".into(),
    }
}
