//! The command line and the environment switches, and what the real CLI refuses at launch.

mod switches;

use std::collections::BTreeMap;

use super::rules;
use crate::understudy::Launch;
use switches::{FLAGS, UNPLAYED, VALUED};

/// What the switches of a launch ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// `--version`: print it and leave.
    pub version: bool,
    /// `--help`: print it and leave.
    pub help: bool,
    /// Input and output are both `stream-json`, the only formats that were recorded.
    pub streams: bool,
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
    /// `--allowedTools`: the rules of calls that run without a question.
    pub allowed: Vec<String>,
    /// `--disallowedTools`: the rules of calls that never run.
    pub disallowed: Vec<String>,
    /// Names of the MCP servers that `--mcp-config` brings.
    pub mcp_servers: Vec<String>,
    /// Switches of the real CLI that change what it says in a way that was never recorded. All others that are not named here,
    /// `--system-prompt` and the like, are read and have no effect on the wire.
    pub unplayed: Vec<String>,
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
        let name = match name {
            "-r" => "--resume",
            "-c" => "--continue",
            name => name,
        };
        if UNPLAYED.contains(&name) {
            args.unplayed.push(name.to_owned());
        }
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
                "--allowedTools" | "--allowed-tools" => args.allowed.extend(rules::split(&value)),
                "--disallowedTools" | "--disallowed-tools" => args.disallowed.extend(rules::split(&value)),
                "--mcp-config" => args.mcp_servers.extend(servers(&value)),
                _ => {}
            }
        } else if FLAGS.contains(&name) {
            match name {
                "-p" | "--print" => print = true,
                "--verbose" => verbose = true,
                "--include-partial-messages" => args.partial = true,
                "--replay-user-messages" => args.replay = true,
                "--fork-session" => args.fork_session = true,
                "--version" | "-v" => args.version = true,
                "--help" | "-h" => args.help = true,
                "--dangerously-skip-permissions" => skip = true,
                _ => {}
            }
        } else if word.starts_with('-') {
            return Err(refuse(format!("error: unknown option '{word}'")));
        }
    }
    if args.version || args.help {
        return Ok(args);
    }
    if skip {
        args.mode = "bypassPermissions".into();
    }
    check(&args, launch, input.as_deref(), output.as_deref(), verbose, print)?;
    args.streams = input.as_deref() == Some("stream-json") && output.as_deref() == Some("stream-json");
    Ok(args)
}

/// What `--help` prints: how the CLI is used and the switches that are known here; its own page was not recorded.
pub fn help() -> String {
    let valued = VALUED.iter().map(|name| format!("\n  {name} <value>"));
    let flags = FLAGS.iter().map(|name| format!("\n  {name}"));
    let switches: String = valued.chain(flags).collect();
    format!("Usage: claude [options] [command] [prompt]\n\nOptions known to this understudy:{switches}")
}

/// Servers of an inline MCP configuration. A file, or what does not parse, brings none that the model could know of.
fn servers(config: &str) -> Vec<String> {
    let config: serde_json::Value = serde_json::from_str(config).unwrap_or_default();
    config["mcpServers"].as_object().into_iter().flat_map(|servers| servers.keys().cloned()).collect()
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
    if args.mode == "bypassPermissions" && launch.root && !sandboxed {
        return Err(refuse(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons".into(),
        ));
    }
    Ok(())
}

fn refuse(words: String) -> Refusal {
    Refusal { stderr: format!("{words}\n"), code: 1 }
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
        check_user(true, words, env, expected);
    }

    fn check_user(root: bool, words: &str, env: &[(&str, &str)], expected: Result<(&str, bool), &str>) {
        let launch = Launch {
            argv: words.split(' ').map(str::to_owned).collect(),
            env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            cwd: "/p".into(),
            pid: 1,
            root,
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
        check_user(false, words, &[], Ok(("bypassPermissions", false)));
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
