//! Chats with Claude Code through the reference engine in production mode: real process, real clock.
//!
//! ```text
//! cargo run -p engine --example chat                    # the `claude` on the PATH
//! cargo run -p engine --example chat -- --claude PATH   # another one, an understudy for example
//! ```
//!
//! A line of stdin is a message; a message sent while a turn runs steers it. `/stop` stops the chat, `/quit` leaves. Approvals
//! are given at once (`--ask` asks on the terminal instead: type the label of your answer).

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program for a terminal lives on the real clock")]

use std::io::{BufRead, Write};

use engine::{
    core::{
        config::EngineConfig,
        input::{ChatSpec, Control, Input, Message, Sandbox},
    },
    event::AgentEvent,
    feed::{Change, Row, Status},
    shell::production::Engine,
};
use tokio::sync::mpsc;

const CHAT: &str = "main";

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|arg| arg == name).and_then(|at| arguments.get(at + 1)).cloned();
    let mut config = EngineConfig::default();
    if let Some(program) = value("--claude") {
        config.claude_program = program;
    }
    let asks = arguments.iter().any(|arg| arg == "--ask");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(chat(config, asks)));
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("failed to chat: {words}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn chat(config: EngineConfig, asks: bool) -> Result<(), String> {
    let (engine, mut doors) = Engine::open(config, None).map_err(|error| format!("the store could not be opened: {error:?}"))?;
    let cwd = std::env::current_dir().map_err(|error| error.to_string())?.display().to_string();
    let spec = ChatSpec {
        chat: CHAT.to_owned(),
        cwd,
        sandbox: if asks { Sandbox::WorkspaceWrite } else { Sandbox::DangerFullAccess },
        auto_approve: !asks,
        ..ChatSpec::default()
    };
    let _ = doors.inputs.send(Input::Create(spec));
    let mut lines = stdin_lines();
    let mut shown = Shown::default();
    let engine = engine.run();
    tokio::pin!(engine);
    loop {
        engine::ordered_select! {
            () = &mut engine => return Ok(()),
            change = doors.feed.recv() => match change {
                Some(change) => shown.take(&change),
                None => return Ok(()),
            },
            line = lines.recv() => match line.as_deref().map(str::trim) {
                None if shown.is_idle() => return Ok(()),
                // End of input while a turn runs: its answer is still wanted.
                None => lines = never(),
                Some("/quit") => return Ok(()),
                Some("/stop") => {
                    let _ = doors.inputs.send(Input::Control(Control::Stop { chat: CHAT.to_owned() }));
                }
                Some("") => {}
                Some(answer) if shown.asked => {
                    let answers = vec![answer.to_owned()];
                    let control = Control::Answer { chat: CHAT.to_owned(), request_id: None, answers };
                    let _ = doors.inputs.send(Input::Control(control));
                }
                Some(text) => {
                    let id = shown.next_id();
                    let message = Message { chat: CHAT.to_owned(), id, text: text.to_owned() };
                    shown.wait = true;
                    let _ = doors.inputs.send(Input::Message(message));
                }
            },
        }
        if shown.over && lines.is_closed() {
            return Ok(());
        }
    }
}

/// Lines of the terminal, read on a thread of their own: stdin has no asynchronous reader that ends with the program.
fn stdin_lines() -> mpsc::UnboundedReceiver<String> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

fn never() -> mpsc::UnboundedReceiver<String> {
    let (_, receive) = mpsc::unbounded_channel();
    receive
}

/// What the terminal shows, from the two feeds alone.
#[derive(Default)]
struct Shown {
    status: Option<Status>,
    messages: u32,
    asked: bool,
    wait: bool,
    over: bool,
}

impl Shown {
    fn is_idle(&self) -> bool {
        !self.wait
    }

    fn next_id(&mut self) -> String {
        self.messages += 1;
        format!("00000000-0000-4000-8000-{:012}", self.messages)
    }

    fn take(&mut self, change: &Change) {
        match change {
            // A terminal shows the journal as it comes; a window would import the documents.
            Change::Doc(_) => {}
            Change::Row(Row::Session(row)) => {
                if Some(row.status) != self.status && matches!(row.status, Status::Idle | Status::Errored) && self.wait {
                    self.wait = false;
                    self.over = true;
                }
                self.over &= matches!(row.status, Status::Idle | Status::Errored);
                self.status = Some(row.status);
            }
            Change::Row(Row::Input(row)) => self.asked = row.open,
            Change::Row(Row::Journal(row)) => match &row.event {
                AgentEvent::TextDelta { text, .. } => self.say(text),
                AgentEvent::ToolCall { call, .. } => self.say(&format!("\n[{}]\n", call.name())),
                AgentEvent::Error { message } => self.say(&format!("\nerror: {message}\n")),
                AgentEvent::InputRequested { questions, .. } => {
                    for question in questions {
                        self.say(&format!("\n{} [{}]\n", question.question, question.options.join(" / ")));
                    }
                }
                AgentEvent::Done { status, error, .. } => {
                    let words = error.as_deref().map_or(String::new(), |error| format!(": {error}"));
                    self.say(&format!("\n-- {status:?}{words}\n"));
                }
                _ => {}
            },
            Change::Row(_) => {}
        }
    }

    fn say(&self, text: &str) {
        print!("{text}");
        let _ = std::io::stdout().flush();
    }
}
