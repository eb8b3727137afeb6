//! What is known of a process before it has said anything: the header of its capture.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use captures::{
    format::{Header, Origin, VERSION},
    import::date,
    provider::Provider,
};
use indexmap::IndexMap;

use super::super::Failure;

/// The version of a CLI that has not said it.
pub(super) const UNKNOWN_VERSION: &str = "0.0.0-unknown";

/// Variables that change what the CLI says on the wire. Only these are written down: the others are the machine's, and some
/// are secrets.
const VARIABLES: [&str; 22] = [
    "ANTHROPIC_MODEL",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
    "IS_SANDBOX",
    "MAX_THINKING_TOKENS",
    "OPENCODE_CONFIG",
    "PI_CODING_AGENT_DIR",
];

/// Lets root do what others may do anywhere.
const SANDBOX: &str = "IS_SANDBOX";

/// Seconds of a day.
const DAY_S: u64 = 86_400;

pub(super) struct Launch {
    pub(super) header: Header,
}

impl Launch {
    /// The launch of a command.
    #[allow(clippy::disallowed_methods, reason = "a capture of real processes has the day on which they ran")]
    pub(super) fn of(command: &[OsString], scene: Option<String>, version: Option<String>) -> Result<Launch, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let recorded_on = date(now.as_secs_f64() * 1000.0);
        let moment = || {
            let second = now.as_secs() % DAY_S;
            let (hours, minutes) = (second / 3600, second / 60 % 60);
            format!("tee-{}-{hours:02}{minutes:02}{:02}-{}", recorded_on.replace('-', ""), second % 60, std::process::id())
        };
        let program = PathBuf::from(&command[0]);
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let ours = is_understudy(&program);
        let mut launch = vec![name.clone()];
        launch.extend(command[1..].iter().map(|word| word.to_string_lossy().into_owned()));
        let mut variables: IndexMap<String, String> = VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env::var_os(name)?.to_string_lossy().into_owned())))
            .collect();
        // Understudies are root, and root may do in a sandbox alone what others may do anywhere.
        let mut note = if ours { "tee of an understudy".to_owned() } else { format!("tee of `{name}`") };
        if !rustix::process::geteuid().is_root() && !variables.contains_key(SANDBOX) {
            variables.insert(SANDBOX.to_owned(), "1".to_owned());
            note.push_str(&format!("; {SANDBOX} was not set, it stands for a user who is not root"));
        }
        let header = Header {
            capture: VERSION,
            provider: Provider::ALL.into_iter().find(|provider| provider.name() == name).unwrap_or(Provider::Claude),
            version: version.unwrap_or_else(|| UNKNOWN_VERSION.to_owned()),
            origin: if ours { Origin::Synthetic } else { Origin::Recorded },
            scene: scene.unwrap_or_else(moment),
            launch,
            env: variables,
            model: "unknown".to_owned(),
            recorded_on,
            scrubbed: Vec::new(),
            imported_from: None,
            guessed: Vec::new(),
            note: Some(note),
        };
        // What a person gave is checked by the format's own rules.
        let probe = captures::format::write(&captures::format::Capture { header: header.clone(), entries: Vec::new() });
        captures::format::parse("the capture", &probe)
            .map_err(|error| Failure::usage(format!("{} (help: {})", error.problem, error.help)))?;
        Ok(Launch { header })
    }
}

/// Whether a program is a fake of ours: its capture is not a recording of the real CLI.
fn is_understudy(program: &Path) -> bool {
    let told = env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("REHEARSAL_"));
    let found = if program.components().count() > 1 {
        Some(program.to_owned())
    } else {
        env::var_os("PATH").and_then(|path| env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file()))
    };
    let real = |path: PathBuf| path.canonicalize().ok();
    told || (found.and_then(real).is_some_and(|found| env::current_exe().ok().and_then(real) == Some(found)))
}
