//! The command line and the environment switches, and what the real CLI refuses at launch.

use std::collections::BTreeMap;

use crate::understudy::Launch;

/// What the switches of a launch ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// `--version`: print it and leave.
    pub version: bool,
    /// `--include-partial-messages`: stream events and `status/requesting` are said.
    pub partial: bool,
    /// `--replay-user-messages`: user messages and control responses are said again.
    pub replay: bool,
    /// `--permission-prompt-tool stdio`: the host is asked before a tool runs.
    pub asks_host: bool,
    /// `--permission-mode`, `default` when it is not given.
    pub mode: String,
    /// `--model`, as given.
    pub model: Option<String>,
    /// `--resume`.
    pub resume: Option<String>,
    /// `--fork-session`.
    pub fork_session: bool,
    /// `--session-id`.
    pub session_id: Option<String>,
    /// `--disallowedTools`, split at commas and spaces.
    pub disallowed: Vec<String>,
    /// `--append-system-prompt`, `--system-prompt` and the like are read and have no effect on the wire.
    pub ignored: Vec<String>,
    /// Environment switches.
    pub env: Env,
}

/// The environment switches that change what is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    /// `CLAUDE_CODE_FORWARD_SUBAGENT_TEXT`: a child's thinking and text are said.
    pub forward_text: bool,
    /// `CLAUDE_CODE_MAX_RETRIES`; the CLI's own number is [`DEFAULT_RETRIES`].
    pub max_retries: u32,
    /// `CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK`.
    pub no_fallback: bool,
    /// `CLAUDE_CODE_DISABLE_BACKGROUND_TASKS`: agents run in the foreground unless asked otherwise.
    pub no_background: bool,
    /// `CLAUDE_CODE_SDK_READS_SESSION_STATE`: `session_state_changed` frames are said.
    pub session_state: bool,
    /// `CLAUDE_CONFIG_DIR`, or `.claude` below the home directory.
    pub config_dir: String,
    /// Host and port of `ANTHROPIC_BASE_URL`.
    pub gateway: String,
    /// The base URL as given.
    pub base_url: String,
}

/// Retries of one API request when the environment does not say otherwise.
pub const DEFAULT_RETRIES: u32 = 10;

/// Permission modes that the CLI knows.
pub const MODES: [&str; 6] = ["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

/// A launch that ends before the first frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What goes to stderr.
    pub stderr: String,
    /// Exit code.
    pub code: i32,
}

/// Switches with a value.
const VALUED: &[&str] = &[
    "--input-format",
    "--output-format",
    "--permission-prompt-tool",
    "--permission-mode",
    "--model",
    "--thinking-display",
    "--resume",
    "--session-id",
    "--setting-sources",
    "--settings",
    "--mcp-config",
    "--add-dir",
    "--append-system-prompt",
    "--system-prompt",
    "--fallback-model",
    "--max-turns",
    "--max-thinking-tokens",
    "--disallowedTools",
    "--disallowed-tools",
    "--allowedTools",
    "--allowed-tools",
    "--tools",
    "--agents",
    "--plugin-dir",
    "--betas",
    "--effort",
    "--debug-file",
];

/// Switches without a value.
const FLAGS: &[&str] = &[
    "-p",
    "--print",
    "--verbose",
    "--include-partial-messages",
    "--replay-user-messages",
    "--fork-session",
    "--version",
    "-v",
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--strict-mcp-config",
    "--include-hook-events",
    "--debug",
    "--ide",
    "--no-session-persistence",
    "--continue",
    "-c",
];

/// Reads a launch.
///
/// # Errors
///
/// What the CLI says and returns when it does not start: an unknown switch or mode, input and output formats that do not go
/// together, or permission bypass as root outside a sandbox.
pub fn parse(launch: &Launch) -> Result<Args, Refusal> {
    let mut args = Args { mode: "default".into(), env: env(&launch.env), ..Args::default() };
    let (mut input, mut output, mut verbose, mut print, mut skip) = (None, None, false, false, false);
    let mut words = launch.argv.iter().skip(1);
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let name = if name == "-r" { "--resume" } else { name };
        if VALUED.contains(&name) {
            let value = match inline.or_else(|| words.next().cloned()) {
                Some(value) => value,
                None => return Err(refuse(format!("error: option '{name} <value>' argument missing"))),
            };
            match name {
                "--input-format" => input = Some(value),
                "--output-format" => output = Some(value),
                "--permission-prompt-tool" => args.asks_host = value == "stdio",
                "--permission-mode" => args.mode = value,
                "--model" => args.model = Some(value),
                "--resume" => args.resume = Some(value),
                "--session-id" => args.session_id = Some(value),
                "--disallowedTools" | "--disallowed-tools" => args.disallowed.extend(tools(&value)),
                _ => args.ignored.push(name.to_owned()),
            }
        } else if FLAGS.contains(&name) {
            match name {
                "-p" | "--print" => print = true,
                "--verbose" => verbose = true,
                "--include-partial-messages" => args.partial = true,
                "--replay-user-messages" => args.replay = true,
                "--fork-session" => args.fork_session = true,
                "--version" | "-v" => args.version = true,
                "--dangerously-skip-permissions" => skip = true,
                _ => args.ignored.push(name.to_owned()),
            }
        } else if word.starts_with('-') {
            return Err(refuse(format!("error: unknown option '{word}'")));
        } else {
            args.ignored.push(word.clone());
        }
    }
    if args.version {
        return Ok(args);
    }
    if skip {
        args.mode = "bypassPermissions".into();
    }
    check(&args, launch, input.as_deref(), output.as_deref(), verbose, print)?;
    Ok(args)
}

/// The refusals that need the whole line.
fn check(
    args: &Args,
    launch: &Launch,
    input: Option<&str>,
    output: Option<&str>,
    verbose: bool,
    print: bool,
) -> Result<(), Refusal> {
    if !MODES.contains(&args.mode.as_str()) {
        return Err(refuse(format!(
            "error: option '--permission-mode <mode>' argument '{}' is invalid. Allowed choices are {}.",
            args.mode,
            MODES.join(", ")
        )));
    }
    if input == Some("stream-json") && output != Some("stream-json") {
        return Err(refuse("Error: --input-format=stream-json requires output-format=stream-json.".into()));
    }
    if print && output == Some("stream-json") && !verbose {
        return Err(refuse("Error: When using --print, --output-format=stream-json requires --verbose".into()));
    }
    let sandboxed = launch.env.get("IS_SANDBOX").is_some_and(|value| value == "1");
    if args.mode == "bypassPermissions" && !sandboxed {
        return Err(refuse(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons".into(),
        ));
    }
    Ok(())
}

fn refuse(words: String) -> Refusal {
    Refusal { stderr: format!("{words}\n"), code: 1 }
}

fn tools(list: &str) -> impl Iterator<Item = String> + '_ {
    list.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

fn env(vars: &BTreeMap<String, String>) -> Env {
    let on = |name: &str| vars.get(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    let home = vars.get("HOME").map_or("/home/dev", String::as_str);
    let base_url = vars.get("ANTHROPIC_BASE_URL").cloned().unwrap_or_else(|| "https://api.anthropic.com".into());
    let gateway = base_url.split("://").last().unwrap_or_default().trim_end_matches('/').to_owned();
    Env {
        forward_text: on("CLAUDE_CODE_FORWARD_SUBAGENT_TEXT"),
        max_retries: vars.get("CLAUDE_CODE_MAX_RETRIES").and_then(|n| n.parse().ok()).unwrap_or(DEFAULT_RETRIES),
        no_fallback: on("CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK"),
        no_background: on("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"),
        session_state: on("CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        config_dir: vars.get("CLAUDE_CONFIG_DIR").cloned().unwrap_or_else(|| format!("{home}/.claude")),
        gateway,
        base_url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, env: &[(&str, &str)], expected: Result<(&str, bool), &str>) {
        let launch = Launch {
            argv: words.split(' ').map(str::to_owned).collect(),
            env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            cwd: "/p".into(),
            pid: 1,
        };
        let parsed = parse(&launch);
        match (&parsed, expected) {
            (Ok(args), Ok((mode, partial))) => assert_eq!((args.mode.as_str(), args.partial), (mode, partial), "{words}"),
            (Err(refusal), Err(part)) => assert!(refusal.stderr.contains(part) && refusal.code == 1, "{words}: {refusal:?}"),
            _ => panic!("{words}: {parsed:?}"),
        }
    }

    #[test]
    fn root_may_bypass_permissions_only_in_a_sandbox() {
        let words = "claude -p --output-format stream-json --verbose --permission-mode bypassPermissions";
        check(words, &[], Err("cannot be used with root/sudo privileges"));
        check(words, &[("IS_SANDBOX", "0")], Err("cannot be used with root/sudo privileges"));
        check(words, &[("IS_SANDBOX", "1")], Ok(("bypassPermissions", false)));
        check("claude --dangerously-skip-permissions", &[], Err("cannot be used with root/sudo privileges"));
    }

    #[test]
    fn a_value_behind_an_equals_sign_is_lost() {
        check("claude --permission-mode=plan --model=haiku --include-partial-messages", &[], Ok(("plan", true)));
        check("claude --permission-mode plan", &[], Ok(("plan", false)));
    }

    #[test]
    fn formats_that_do_not_go_together_are_taken() {
        check("claude -p --input-format stream-json", &[], Err("requires output-format=stream-json"));
        check("claude -p --output-format stream-json", &[], Err("requires --verbose"));
        check("claude --output-format stream-json --input-format stream-json", &[], Ok(("default", false)));
    }

    #[test]
    fn what_the_cli_does_not_know_is_taken() {
        check("claude --no-such-switch", &[], Err("unknown option '--no-such-switch'"));
        check("claude --permission-mode nonsense", &[], Err("Allowed choices are"));
        check("claude --model", &[], Err("argument missing"));
    }
}
