//! The words of a script.

use engine::{
    core::input::{Command, CommandKind, Control, ExitStatus, Harness, Input, Message, Pipe, ProcId, StoreError},
    drivers::Capabilities,
};

use serde_json::Value;

use super::say;

/// One input line: `TIME [CHAT:] [pN] VERB …`.
pub struct Line {
    pub at: u64,
    pub chat: String,
    pub proc: Option<u64>,
    pub verb: Verb,
}

pub enum Verb {
    /// Kinds of effects shown besides the usual ones.
    Show(Vec<String>),
    /// The store fails from here on, or works again.
    Store(Option<StoreError>),
    Chat(ChatWords),
    /// A command claims a row with this directory.
    Claim(String),
    /// The engine is made anew, with this port for its MCP server.
    Port(u16),
    /// A request of the engine's own surface: its method and its parameters.
    Rpc(String, Value),
    /// A frame to the MCP server of the chat; with the flag, of a server that was started with it.
    Mcp {
        side_chats_only: bool,
        method: String,
        params: Value,
    },
    Wait,
    /// A message was sent and the provider has taken it: how most scripts open. What that shows is shown by the scripts that are
    /// about it, and not here.
    Begun(Message),
    Input(Input),
    /// Bytes of stdout.
    Said(Vec<u8>),
    Ends(Ends),
    /// Every process that lives leaves.
    AllExit,
    /// A line of the provider's transcript of a session.
    Record {
        session: String,
        record: String,
    },
    /// Reads of files are answered when the script says so.
    SlowDisk,
    /// What was read comes.
    Answered,
    /// The engine is killed and started again on its database.
    Restart,
    /// Something to look at: `doc`, `tab CHIP`, `journal`, `timers`, `leases`.
    Look(Vec<String>),
}

impl Verb {
    /// Whether no chat is to be made before it.
    pub fn makes_its_chat(&self) -> bool {
        matches!(
            self,
            Verb::Chat(_) | Verb::Claim(_) | Verb::Port(_) | Verb::Show(_) | Verb::Store(_) | Verb::Restart | Verb::Rpc(..)
        ) || matches!(self, Verb::Input(Input::Control(Control::CliBuild { .. })))
    }
}

/// `chat claude`, or `chat mock [steer] [stop]`, with `resume=SESSION` for a strict run and `parent=CHAT` for a side chat.
pub struct ChatWords {
    words: Vec<String>,
    pub resume: Option<String>,
    pub parent: Option<String>,
}

impl ChatWords {
    pub fn harness(&self, usual: Capabilities) -> Harness {
        let has = |word: &str| self.words.iter().any(|w| w == word);
        match has("claude") {
            true => Harness::ClaudeCode,
            false => Harness::Mock(Capabilities { supports_steering: has("steer"), stops_turn_in_place: has("stop"), ..usual }),
        }
    }
}

/// How a process ends.
pub enum Ends {
    /// Both pipes, then the exit.
    Exit(i32),
    /// Stdout alone.
    Eof,
    /// The exit alone: a grandchild holds the pipes.
    Reaped(i32),
    /// It never started.
    NotStarted,
}

impl Ends {
    pub fn inputs(self, proc: ProcId) -> Vec<Input> {
        let end = |pipe| Input::End { proc, pipe };
        let exit = |code| Input::Exit { proc, status: ExitStatus { code: Some(code), signal: None } };
        match self {
            Ends::Exit(code) => vec![end(Pipe::Stdout), end(Pipe::Stderr), exit(code)],
            Ends::Eof => vec![end(Pipe::Stdout)],
            Ends::Reaped(code) => vec![exit(code)],
            Ends::NotStarted => {
                vec![Input::Spawned { proc, result: Err(engine::core::input::SpawnError::NotInstalled) }]
            }
        }
    }
}

/// The input lines of a script.
pub fn lines(script: &str) -> impl Iterator<Item = &str> {
    let lines = script.lines().map(str::trim);
    lines.filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
}

/// The script without the indentation of the test's source: inputs at the margin, a timer by two, effects by four.
pub fn tidy(script: &str) -> String {
    let mut tidied = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let margin = match line.chars().next() {
            Some('@') => "  ",
            Some(c) if c.is_ascii_digit() => "",
            _ => "    ",
        };
        tidied.push_str(&format!("{margin}{line}\n"));
    }
    tidied
}

pub fn first_difference(got: &str, wanted: &str) -> String {
    let mut both = got.lines().zip(wanted.lines()).enumerate();
    match both.find(|(_, (got, wanted))| got != wanted) {
        Some((n, (got, wanted))) => format!("line {}: `{}` instead of `{}`", n + 1, got.trim(), wanted.trim()),
        None => "one is longer than the other".to_owned(),
    }
}

/// One input line.
pub fn line(text: &str) -> Line {
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    let at = words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no time: {text}"));
    let chat = words.next_if(|word| word.ends_with(':')).map_or("c", |word| word.trim_end_matches(':')).to_owned();
    let number = |word: &&str| word.strip_prefix('p').is_some_and(|n| n.parse::<u64>().is_ok());
    let proc = words.next_if(number).and_then(|word| word[1..].parse().ok());
    let verb = words.next().unwrap_or_else(|| panic!("no verb: {text}"));
    let rest: Vec<&str> = words.collect();
    Line { at, proc, verb: self::verb(verb, &rest, &chat), chat }
}

fn command(words: &[&str], chat: &str) -> Command {
    let (id, words) = words.split_first().expect("the command's id");
    let dated = words[0].strip_prefix('@').map(|at| at.parse::<u64>().expect("ms"));
    let words = if dated.is_some() { &words[1..] } else { words };
    let (message, text) = (words.get(1).copied().unwrap_or_default().to_owned(), words.get(2..).unwrap_or_default().join(" "));
    let what = match words[0] {
        "run" => CommandKind::Run { message, text },
        "steer" => CommandKind::Steer { message, text },
        "interrupt" => CommandKind::Interrupt,
        "respond" => CommandKind::RespondInput { request: message, answers: vec![text] },
        other => panic!("no command `{other}`"),
    };
    let (chat, cwd) = (chat.to_owned(), "/w".to_owned());
    Command { id: (*id).to_owned(), chat, cwd, issued_at: super::WALL_AT_START + dated.unwrap_or(0), what }
}

fn json_of(words: &[&str]) -> Value {
    let text = words.join(" ");
    if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}")) }
}

fn verb(verb: &str, rest: &[&str], chat: &str) -> Verb {
    let own = || rest.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let chat = chat.to_owned();
    let message = || Message { chat: chat.clone(), id: rest[0].to_owned(), text: rest[1..].join(" ") };
    let control = |control| Verb::Input(Input::Control(control));
    match verb {
        "show" => Verb::Show(own()),
        "store" => Verb::Store(match rest {
            ["works"] => None,
            ["busy"] => Some(StoreError::Busy),
            ["full"] => Some(StoreError::Full),
            _ => panic!("store busy, full or works, not {rest:?}"),
        }),
        "chat" => {
            let value = |key: &str| rest.iter().find_map(|word| word.strip_prefix(key)).map(str::to_owned);
            Verb::Chat(ChatWords { words: own(), resume: value("resume="), parent: value("parent=") })
        }
        "claim" => Verb::Claim(rest.first().copied().unwrap_or_default().to_owned()),
        "port" => Verb::Port(rest[0].parse().expect("a port")),
        "build" => control(Control::CliBuild { harness: rest[0].to_owned(), build: rest[1].to_owned() }),
        "rpc" => Verb::Rpc(rest[0].to_owned(), json_of(&rest[1..])),
        "mcp" | "mcp-only" => {
            Verb::Mcp { side_chats_only: verb == "mcp-only", method: rest[0].to_owned(), params: json_of(&rest[1..]) }
        }
        "wait" => Verb::Wait,
        "begun" => Verb::Begun(message()),
        "send" => Verb::Input(Input::Message(message())),
        "queue" => Verb::Input(Input::Queue(message())),
        // `commands c1 run m1 words ; c2 steer m2 words ; c3 interrupt ; c4 respond REQUEST words`, `@MS` before a kind dates it.
        "commands" => Verb::Input(Input::Commands(rest.split(|word| *word == ";").map(|words| command(words, &chat)).collect())),
        "send-now" => control(Control::SendNow { message: message() }),
        "stop" => control(Control::Stop { chat }),
        "stop-turn" => control(Control::StopTurn { chat }),
        "close" => control(Control::Close { chat }),
        "withdraw" => control(Control::Withdraw { chat, message_id: rest[0].to_owned() }),
        "answer" => control(Control::Answer { chat, request_id: None, answers: vec![rest.join(" ")] }),
        "say" => Verb::Said(say::mock(&rest.join(" "))),
        "claude" => Verb::Said(say::claude(&rest.join(" "))),
        "exit" => Verb::Ends(Ends::Exit(rest.first().and_then(|code| code.parse().ok()).unwrap_or(0))),
        "eof" => Verb::Ends(Ends::Eof),
        "reaped" => Verb::Ends(Ends::Reaped(0)),
        "all-exit" => Verb::AllExit,
        "restart" => Verb::Restart,
        "slow-disk" => Verb::SlowDisk,
        "read-comes" => Verb::Answered,
        "record" => Verb::Record { session: rest[0].to_owned(), record: say::record_of(&rest[1..]) },
        "not-started" => Verb::Ends(Ends::NotStarted),
        "doc" | "tab" | "journal" | "timers" | "leases" => {
            let mut what = vec![verb.to_owned()];
            what.extend(own());
            Verb::Look(what)
        }
        other => panic!("unknown verb `{other}`"),
    }
}
