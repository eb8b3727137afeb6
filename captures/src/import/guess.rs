//! The header of a capture whose source has none, from what its frames say.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::{Flaw, Options, clock, flaw};
use crate::{
    format::{Capture, Entry, Exit, From, Header, Origin, Stream, VERSION, What},
    provider::Provider,
};

/// Milliseconds between the last line of a source that shows no end and each step of the end that is made up.
const END_MS: f64 = 10.0;

/// What a reader knows of the source beside its frames.
#[derive(Default)]
pub(super) struct Known {
    pub(super) version: Option<String>,
    /// Wall time of some line, in ms since 1970.
    pub(super) wall_ms: Option<f64>,
    pub(super) origin: Option<Origin>,
    pub(super) imported_from: String,
}

/// Where the values of a header came from, for the person who imports.
pub(super) type Said = Vec<(&'static str, String)>;

/// A capture of these entries with a header made of them, and of what is known.
pub(super) fn capture(
    file: &str,
    entries: Vec<Entry>,
    known: Known,
    options: &Options,
    said: &mut Said,
) -> Result<Capture, Flaw> {
    let frames = || entries.iter().filter_map(|entry| entry.what.frame());
    let provider = options.provider.unwrap_or(Provider::Claude);
    let stated = frames().find_map(|frame| frame.get("claude_code_version").and_then(Value::as_str)).map(str::to_owned);
    let Some(version) = options.version.clone().or(stated).or(known.version) else {
        return flaw(
            "no line says the version of the CLI: expected an `init` frame with claude_code_version",
            "say it with --cli-version 2.1.310",
        );
    };
    said.push(("version", version.clone()));
    let scene = options.scene.clone().unwrap_or_else(|| scene(file));
    said.push(("scene", scene.clone()));
    let stamped = || frames().find_map(|frame| clock::wall_ms(frame.get("timestamp")?.as_str()?));
    let recorded_on = match (&options.recorded_on, known.wall_ms.or_else(stamped), &options.file_date) {
        (Some(day), ..) => day.clone(),
        (None, Some(wall), _) => clock::date(wall),
        (None, None, Some(day)) => {
            said.push(("date", format!("{day}, that of the file: no line has a date")));
            day.clone()
        }
        (None, None, None) => {
            return flaw("no line says the day of the recording: expected a timestamp", "say it with --recorded-on YYYY-MM-DD");
        }
    };
    let (launch, env) = if provider == Provider::Claude {
        let (launch, env) = launch(&entries);
        said.push(("launch", format!("{} (from what the frames show)", launch.join(" "))));
        (launch, env)
    } else {
        (vec![provider.name().to_owned()], IndexMap::new())
    };
    let header = Header {
        capture: VERSION,
        provider,
        version,
        origin: known.origin.unwrap_or(Origin::Synthetic),
        scene,
        launch,
        env,
        model: "unknown".to_owned(),
        recorded_on,
        scrubbed: Vec::new(),
        imported_from: Some(known.imported_from),
        guessed: Vec::new(),
        note: None,
    };
    Ok(Capture { header, entries })
}

/// What the person says wins over what the source says.
pub(super) fn overrule(header: &mut Header, options: &Options) {
    let set = |field: &mut String, value: &Option<String>| {
        if let Some(value) = value {
            field.clone_from(value);
        }
    };
    set(&mut header.version, &options.version);
    set(&mut header.scene, &options.scene);
    set(&mut header.recorded_on, &options.recorded_on);
    if let Some(provider) = options.provider {
        header.provider = provider;
    }
}

/// The scene that a file's name gives: lower case, digits, dashes.
fn scene(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let plain: String = stem.chars().map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "imported".to_owned() } else { words.join("-") }
}

/// The switches without which these frames would not be there.
fn launch(entries: &[Entry]) -> (Vec<String>, IndexMap<String, String>) {
    let said = || entries.iter().filter(|entry| entry.from == From::Cli).filter_map(|entry| entry.what.frame());
    let any = |test: &dyn Fn(&Value) -> bool| said().any(test);
    let mut launch: Vec<String> =
        ["claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
            .map(str::to_owned)
            .into();
    let mut add = |words: &[&str]| launch.extend(words.iter().map(|word| (*word).to_owned()));
    if any(&|frame| frame["type"] == "stream_event") {
        add(&["--include-partial-messages"]);
    }
    if any(&|frame| frame["isReplay"] == true) {
        add(&["--replay-user-messages"]);
    }
    if any(&|frame| frame["request"]["subtype"] == "can_use_tool") {
        add(&["--permission-prompt-tool", "stdio"]);
    }
    if let Some(init) = said().find(|frame| frame["subtype"] == "init") {
        if let Some(mode) = init["permissionMode"].as_str() {
            add(&["--permission-mode", mode]);
        }
        if let Some(model) = init["model"].as_str() {
            add(&["--model", model]);
        }
    }
    let mut env = IndexMap::new();
    // Root is refused this mode outside of a sandbox, and here the CLI was not refused.
    if said().any(|frame| frame["permissionMode"] == "bypassPermissions") {
        env.insert("IS_SANDBOX".to_owned(), "1".to_owned());
    }
    let speaks = |frame: &Value| {
        let kind = frame["message"]["content"][0]["type"].as_str();
        frame["parent_tool_use_id"].is_string() && frame["type"] == "assistant" && matches!(kind, Some("text" | "thinking"))
    };
    if any(&speaks) {
        env.insert("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT".to_owned(), "1".to_owned());
    }
    (launch, env)
}

/// Adds the process's end where a source does not show it: both pipes closed, then the code by Claude's own rule (1 after a
/// result that is an error, else 0). The words to say; none when the end was there.
pub(super) fn end(entries: &mut Vec<Entry>) -> Option<String> {
    if matches!(entries.last(), Some(Entry { what: What::Exit(_), .. })) {
        return None;
    }
    let closed = |from: From, stream: Stream| entries.iter().any(|entry| entry.from == from && entry.what == What::Close(stream));
    let (stdin, stdout) = (closed(From::Host, Stream::Stdin), closed(From::Cli, Stream::Stdout));
    let last = entries.iter().rev().filter_map(|entry| entry.what.frame()).find(|frame| frame["type"] == "result");
    let code = i32::from(last.is_some_and(|result| result["is_error"] == true));
    let mut at_ms = entries.last().map_or(0.0, |entry| entry.at_ms);
    let mut add = |from, what| {
        at_ms = clock::tenths(at_ms + END_MS);
        entries.push(Entry { at_ms, from, what, label: None });
    };
    if !stdin {
        add(From::Host, What::Close(Stream::Stdin));
    }
    if !stdout {
        add(From::Cli, What::Close(Stream::Stdout));
    }
    add(From::Cli, What::Exit(Exit { code: Some(code), signal: None }));
    Some(format!("not shown: stdin is closed after the last line, then exit code {code}"))
}
