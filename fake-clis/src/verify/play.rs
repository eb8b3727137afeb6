//! Plays a capture's host lines into the model, at their recorded causal places.

use std::{collections::BTreeMap, sync::Arc};

use captures::{
    compare::Sorter,
    format::{Capture, Exit, From, Stream, What},
};
use serde_json::{Value, json};

use crate::{
    claude::{
        Claude, ids,
        profile::Profile,
        script::{Script, reduce},
    },
    drive::{Drive, MemoryFiles, Said},
    understudy::{Files, Input, Launch, Understudy},
};

/// Virtual time at which a check gives up, in ms.
const HORIZON_MS: u64 = 600_000;
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
        root: true,
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

/// A process whose frames are sorted into streams as they come.
struct Player<'a> {
    drive: Drive<'a, Claude>,
    sorter: Sorter,
    counts: BTreeMap<String, usize>,
    seen: usize,
    last: u64,
}

impl Player<'_> {
    /// Sorts what was said since the last look.
    fn look(&mut self) {
        for said in &self.drive.said[self.seen..] {
            *self.counts.entry(self.sorter.stream(&said.frame)).or_insert(0) += 1;
            self.last = said.at_ms;
        }
        self.seen = self.drive.said.len();
    }

    /// The frames that preceded a cue in the recording and have not been said: stream, said, wanted.
    fn missing<'c>(&'c self, cue: &'c Cue<'_>) -> impl Iterator<Item = (&'c String, usize, usize)> {
        let said = |stream: &String| self.counts.get(stream).copied().unwrap_or(0);
        cue.before.iter().map(move |(stream, count)| (stream, said(stream), *count)).filter(|(_, said, count)| said < count)
    }

    fn finish(self, forced: Vec<String>) -> Played {
        Played {
            taped: self.drive.understudy().taped(),
            frames: self.drive.said.into_iter().map(|said| said.frame).collect(),
            exit: self.drive.exit,
            stderr: self.drive.stderr,
            forced,
        }
    }
}

/// Plays a capture with its own script.
pub(super) fn play(capture: &Capture, profile: Arc<Profile>, files: &mut MemoryFiles) -> Played {
    let script = Script { session_id: session_of(capture).map(str::to_owned), ..reduce(capture) };
    let claude = Claude::new(launch(capture), profile, script);
    let cues = cues(capture);
    let drive = Drive::start(claude, files, 1);
    let mut player = Player { drive, sorter: Sorter::default(), counts: BTreeMap::new(), seen: 0, last: 0 };
    let mut forced = Vec::new();
    let mut next = cues.iter().peekable();
    for _ in 0..INPUTS_MOST {
        player.look();
        if player.drive.exit.is_some() || player.drive.now_ms > HORIZON_MS {
            break;
        }
        let ready = next.peek().filter(|cue| player.missing(cue).next().is_none());
        let due = ready.map(|cue| (player.last + cue.gap).max(player.drive.now_ms));
        match (due, player.drive.next_due()) {
            (Some(due), timer) if timer.is_none_or(|at| due <= at) => player.drive.now_ms = due,
            (_, Some(_)) => {
                player.drive.fire();
                continue;
            }
            (_, None) => {
                let Some(cue) = next.peek() else { break };
                let missing: Vec<String> =
                    player.missing(cue).map(|(stream, said, count)| format!("{stream}: {said} of {count}")).collect();
                forced.push(format!("line at {} ms waited for {}", cue.at, missing.join(", ")));
            }
        }
        let Some(cue) = next.next() else { break };
        player.last = player.drive.now_ms;
        if !give(&mut player, capture, cue) {
            break;
        }
    }
    player.finish(forced)
}

/// Gives one cue; false when the process is gone after it.
fn give(player: &mut Player<'_>, capture: &Capture, cue: &Cue<'_>) -> bool {
    match cue.what {
        What::Frame(frame) => {
            let line = rewrite(frame, capture, &player.drive.said);
            player.drive.line(&line);
        }
        What::Raw(raw) => player.drive.give(Input::Stdin(format!("{raw}\n").as_bytes())),
        What::Close(Stream::Stdin) => player.drive.give(Input::StdinClosed),
        What::Signal(name) if name == "SIGKILL" => return false,
        What::Signal(name) => player.drive.give(Input::Signal(name)),
        _ => {}
    }
    true
}

/// A host line with the ids that it took from the CLI's frames put in as this run has them.
fn rewrite(frame: &Value, capture: &Capture, said: &[Said]) -> Value {
    let recorded: Vec<&Value> =
        capture.entries.iter().filter(|entry| entry.from == From::Cli).filter_map(|entry| entry.what.frame()).collect();
    let mut frame = frame.clone();
    let same = |pointer: &str, kind: &dyn Fn(&Value) -> bool, id: &str| -> Option<Value> {
        let nth = recorded.iter().filter(|frame| kind(frame)).position(|frame| frame.pointer(pointer) == Some(&json!(id)))?;
        said.iter().map(|said| &said.frame).filter(|frame| kind(frame)).nth(nth)?.pointer(pointer).cloned()
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
