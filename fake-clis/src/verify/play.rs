//! Plays a capture's host lines into the model, at their recorded causal places.

use std::{collections::BTreeMap, rc::Rc};

use captures::format::{Capture, Exit, From, Stream, What};
use serde_json::{Value, json};

use super::{files::MemoryFiles, streams::Sorter};
use crate::{
    claude::{
        Claude, ids,
        profile::Profile,
        script::{Script, reduce},
    },
    understudy::{Files, Input, Launch, Output, Stage, Understudy},
};

/// Virtual time at which a check gives up, in ms.
const HORIZON_MS: u64 = 600_000;
/// The model's wall clock at the start, in ms since 1970.
const WALL_MS: u64 = 1_796_066_552_000;
/// Inputs after which a check gives up.
const INPUTS_MOST: usize = 100_000;

/// What a played capture brought out.
pub(super) struct Played {
    /// Frames said, in order.
    pub(super) frames: Vec<Value>,
    /// How the process ended, if it did.
    pub(super) exit: Option<Exit>,
    /// Everything on stderr.
    pub(super) stderr: String,
    /// Host lines that were given although the frames before them had not all been said.
    pub(super) forced: Vec<String>,
    /// Frames taken from tape.
    pub(super) taped: BTreeMap<String, u64>,
}

/// The session id that a capture was launched to resume.
pub(super) fn resumed(capture: &Capture) -> Option<String> {
    let launch = &capture.header.launch;
    let position = launch.iter().position(|word| word == "--resume")?;
    launch.get(position + 1).cloned()
}

/// The session id of a capture's first frame.
pub(super) fn session_of(capture: &Capture) -> Option<&str> {
    capture.entries.iter().find_map(|entry| entry.what.frame()?.get("session_id")?.as_str().filter(|id| !id.is_empty()))
}

/// A session that no capture wrote: one message, and the title that the SDK's fork gave it.
pub(super) fn seed_session(capture: &Capture, id: &str, files: &mut MemoryFiles) {
    let missing = capture.entries.iter().filter_map(|entry| entry.what.frame()).any(|frame| {
        frame.pointer("/errors/0").and_then(Value::as_str).is_some_and(|words| words.starts_with("No conversation found"))
    });
    if missing {
        return;
    }
    let path = format!("{}/projects/{}/{id}.jsonl", config_dir(capture), ids::slug(&cwd(capture)));
    let line = json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "…"}});
    files.append(&path, format!("{line}\n").as_bytes());
    let result = capture.entries.iter().filter_map(|entry| entry.what.frame()).find(|frame| frame["type"] == "result");
    if let Some(spent) = result.map(spent_before).filter(|spent| spent.as_object().is_some_and(|spent| !spent.is_empty())) {
        let line = json!({"type": "session-spent", "models": spent});
        files.append(&path, format!("{line}\n").as_bytes());
    }
    let title = capture.entries.iter().filter_map(|entry| entry.what.frame()).find(|f| f["subtype"] == "session_title_changed");
    if let Some(title) = title {
        let line = json!({"type": "custom-title", "customTitle": title["title"]});
        files.append(&path, format!("{line}\n").as_bytes());
    }
}

/// What a session had cost before the process whose first result this is.
fn spent_before(result: &Value) -> Value {
    let mut spent = serde_json::Map::new();
    for (model, usage) in result["modelUsage"].as_object().into_iter().flatten() {
        let since = &result["model_usage_since_last_result"][model];
        let before = |key: &str| usage[key].as_f64().unwrap_or(0.0) - since[key].as_f64().unwrap_or(0.0);
        if before("inputTokens") > 0.0 {
            spent.insert(
                model.clone(),
                json!({
                    "input_tokens": before("inputTokens") as u64,
                    "output_tokens": before("outputTokens") as u64,
                    "dollars": before("costUSD"),
                }),
            );
        }
    }
    Value::Object(spent)
}

fn config_dir(capture: &Capture) -> String {
    capture.header.env.get("CLAUDE_CONFIG_DIR").cloned().unwrap_or_else(|| "/home/dev/.claude".into())
}

fn cwd(capture: &Capture) -> String {
    let stated = capture.entries.iter().find_map(|entry| entry.what.frame()?.get("cwd")?.as_str());
    stated.unwrap_or("/home/dev/project").to_owned()
}

/// How the capture's process was launched.
fn launch(capture: &Capture) -> Launch {
    Launch {
        argv: capture.header.launch.clone(),
        env: capture.header.env.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        cwd: cwd(capture),
        pid: 4242,
    }
}

/// One thing that the host or the world did.
struct Cue<'a> {
    what: &'a What,
    at: u64,
    /// Frames of the CLI that came before it, by stream.
    before: BTreeMap<String, usize>,
    /// From the last thing before it, in ms.
    gap: u64,
}

fn cues(capture: &Capture) -> Vec<Cue<'_>> {
    let mut sorter = Sorter::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut cues = Vec::new();
    let mut last = 0;
    for entry in &capture.entries {
        let at = entry.at_ms.round().max(0.0) as u64;
        match (&entry.from, &entry.what) {
            (From::Cli, What::Frame(frame)) => {
                *counts.entry(sorter.stream(frame)).or_insert(0) += 1;
                last = at;
            }
            (From::Cli, _) => {}
            (_, what) => {
                cues.push(Cue { what, at, before: counts.clone(), gap: at.saturating_sub(last) });
                last = at;
            }
        }
    }
    cues
}

struct Player<'a> {
    claude: Claude,
    files: &'a mut MemoryFiles,
    now: u64,
    timer: Option<u64>,
    bits: u64,
    sorter: Sorter,
    counts: BTreeMap<String, usize>,
    last: u64,
    played: Played,
}

impl Player<'_> {
    fn give(&mut self, input: Input<'_>) {
        let bits = &mut self.bits;
        let mut random = || {
            *bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *bits
        };
        let mut stage =
            Stage { now_ms: self.now, wall_ms: WALL_MS + self.now, files: self.files, random: &mut random };
        for output in self.claude.on_input(&mut stage, input) {
            match output {
                Output::Say { line, .. } => {
                    let frame: Value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                    *self.counts.entry(self.sorter.stream(&frame)).or_insert(0) += 1;
                    self.last = self.now;
                    if std::env::var("DUMP").is_ok() { eprintln!("{:7} {}", self.now, frame.to_string().chars().take(17000).collect::<String>()); }
                    self.played.frames.push(frame);
                }
                Output::Arm { at_ms, .. } => self.timer = Some(at_ms),
                Output::Disarm(_) => self.timer = None,
                Output::Exit(exit) => self.played.exit = Some(exit),
                Output::Stderr(words) => self.played.stderr.push_str(&words),
                Output::Close(_) | Output::StopReading | Output::Breach(_) | Output::OffScript(_) => {}
            }
        }
    }

    /// Whether all frames that preceded a cue in the recording have been said.
    fn ready(&self, cue: &Cue<'_>) -> bool {
        cue.before.iter().all(|(stream, count)| self.counts.get(stream).is_some_and(|said| said >= count))
    }
}

/// Plays a capture with its own script.
pub(super) fn play(capture: &Capture, profile: Rc<Profile>, files: &mut MemoryFiles) -> Played {
    let script: Script = reduce(capture);
    let cues = cues(capture);
    let mut player = Player {
        claude: Claude::new(launch(capture), profile, script),
        files,
        now: 0,
        timer: None,
        bits: 1,
        sorter: Sorter::default(),
        counts: BTreeMap::new(),
        last: 0,
        played: Played {
            frames: Vec::new(),
            exit: None,
            stderr: String::new(),
            forced: Vec::new(),
            taped: BTreeMap::new(),
        },
    };
    player.give(Input::Start);
    let mut next = 0;
    for _ in 0..INPUTS_MOST {
        if player.played.exit.is_some() || player.now > HORIZON_MS {
            break;
        }
        let due = cues.get(next).filter(|cue| player.ready(cue)).map(|cue| player.last + cue.gap);
        match (due, player.timer) {
            (Some(due), timer) if timer.is_none_or(|at| due.max(player.now) <= at) => {
                player.now = player.now.max(due);
                player.last = player.now;
                if !cue(&mut player, capture, &cues[next]) {
                    break;
                }
                next += 1;
            }
            (_, Some(at)) => {
                player.now = player.now.max(at);
                player.timer = None;
                player.give(Input::Timer(1));
            }
            (None, None) => {
                let Some(stuck) = cues.get(next) else { break };
                let missing: Vec<String> = stuck
                    .before
                    .iter()
                    .filter(|(stream, count)| player.counts.get(*stream).is_none_or(|said| said < count))
                    .map(|(stream, count)| format!("{stream}: {} of {count}", player.counts.get(stream).unwrap_or(&0)))
                    .collect();
                player.played.forced.push(format!("line at {} ms waited for {}", stuck.at, missing.join(", ")));
                if !cue(&mut player, capture, stuck) {
                    break;
                }
                next += 1;
            }
            (Some(_), None) => break,
        }
    }
    player.played.taped = player.claude.taped();
    player.played
}

/// Gives one cue; false when the process is gone after it.
fn cue(player: &mut Player<'_>, capture: &Capture, cue: &Cue<'_>) -> bool {
    match cue.what {
        What::Frame(frame) => {
            let line = format!("{}\n", rewrite(frame, capture, &player.played.frames));
            player.give(Input::Stdin(line.as_bytes()));
        }
        What::Raw(raw) => player.give(Input::Stdin(format!("{raw}\n").as_bytes())),
        What::Close(Stream::Stdin) => player.give(Input::StdinClosed),
        What::Signal(name) if name == "SIGKILL" => return false,
        What::Signal(name) => player.give(Input::Signal(name)),
        _ => {}
    }
    true
}

/// A host line with the ids that it took from the CLI's frames put in as this run has them.
fn rewrite(frame: &Value, capture: &Capture, said: &[Value]) -> Value {
    let recorded: Vec<&Value> =
        capture.entries.iter().filter(|entry| entry.from == From::Cli).filter_map(|entry| entry.what.frame()).collect();
    let mut frame = frame.clone();
    let same = |pointer: &str, kind: &dyn Fn(&Value) -> bool, id: &str| -> Option<Value> {
        let nth = recorded.iter().filter(|frame| kind(frame)).position(|frame| frame.pointer(pointer) == Some(&json!(id)))?;
        said.iter().filter(|frame| kind(frame)).nth(nth)?.pointer(pointer).cloned()
    };
    if let Some(id) = frame.pointer("/response/request_id").and_then(Value::as_str).map(str::to_owned)
        && let Some(actual) = same("/request_id", &|frame| frame["type"] == "control_request", &id)
    {
        frame["response"]["request_id"] = actual;
    }
    if let Some(id) = frame.pointer("/request/task_id").and_then(Value::as_str).map(str::to_owned)
        && let Some(actual) = same("/task_id", &|frame| frame["subtype"] == "task_started", &id)
    {
        frame["request"]["task_id"] = actual;
    }
    frame
}
