//! Runs a transcript and compares it with what really happened.
//!
//! | at the margin | what happens |
//! |---|---|
//! | `with …` | how the run is configured; before `start` |
//! | `start a Text`, `steer b Text`, `stop`, `interrupt`, `withdraw b`, `close`, `shut-down` | calls of the host |
//! | `answer r1 Label`, `closed r1`, `decline r1`, `asking open` | questions |
//! | `+3000` | time goes on; each timer that fires is told with the ms since the line |
//! | `spawn missing`, `stderr Text`, `end stdout`, `exit 0`, `gone 0` | the process; `gone` is both pipes and the exit |
//! | anything else | a frame of the CLI, see `frames` |
//! | `.line` | the same, its outputs are not of interest |
//! | `turn a` | a first prompt that runs, silently |
//! | `parked` | the same with its end, two seconds ago, silently |

use engine::{
    core::{
        config::EngineConfig,
        ids::IdSource,
        input::{ExitStatus, Message, Now, Pipe, ProcId, ResumePolicy, Sandbox, SpawnError},
        timers::TimerTable,
    },
    drivers::{Cx, Driver, McpServer, Output, RunRequest, claude::Claude},
};

use crate::{frames::Frames, render::Render};

/// Fails unless the transcript is what really happens.
#[track_caller]
pub fn check(transcript: &str) {
    let lines: Vec<&str> = transcript.lines().filter(|line| !line.trim().is_empty()).collect();
    let margin = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let expected: Vec<String> = lines.iter().map(|line| line[margin..].trim_end().to_owned()).collect();
    let mut stage = Stage::new();
    let mut actual = Vec::new();
    for input in expected.iter().filter(|line| !line.starts_with(' ')) {
        actual.push(input.clone());
        actual.extend(stage.line(input).into_iter().map(|line| format!("    {line}").trim_end().to_owned()));
    }
    assert!(
        expected == actual,
        "the transcript differs.\n--- expected\n{}\n--- actual\n{}\n---",
        expected.join("\n"),
        actual.join("\n")
    );
}

/// A driver, its clock and its timers.
pub struct Stage {
    request: RunRequest,
    mcp: Option<McpServer>,
    config: EngineConfig,
    driver: Option<Claude>,
    ids: IdSource,
    timers: TimerTable,
    now: u64,
    frames: Frames,
    render: Render,
}

const PROC: ProcId = ProcId(1);

impl Stage {
    /// A stage on which nothing runs.
    pub fn new() -> Self {
        let request = RunRequest {
            cwd: "/work".to_owned(),
            model: None,
            effort: None,
            sandbox: Sandbox::WorkspaceWrite,
            auto_approve: false,
            resume: None,
            resume_policy: ResumePolicy::AllowFresh,
            native_subagents_off: false,
        };
        Stage {
            request,
            mcp: None,
            config: EngineConfig::default(),
            driver: None,
            ids: IdSource::new(7),
            timers: TimerTable::default(),
            now: 0,
            frames: Frames::default(),
            render: Render::default(),
        }
    }

    /// One line of a transcript; the outputs it brings.
    pub fn line(&mut self, line: &str) -> Vec<String> {
        if let Some(silent) = line.strip_prefix('.') {
            self.line(silent);
            return Vec::new();
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "with" => self.with(first, more),
            "turn" => {
                let life = |word: &str| format!("{word} {first}");
                let start = format!("start {first} Hello");
                self.silently(&[&start, "response engine_initialize {}", &life("queued"), &life("started"), "init"])
            }
            "parked" => self.silently(&["turn a", "result ok a", "completed a", "+2000"]),
            "start" => {
                let mut outputs = self.call(|driver, cx| driver.start(cx, &message(first, more)));
                if self.request.resume.is_some() {
                    // A session without a transcript.
                    outputs.extend(self.call(|driver, cx| driver.file(cx, None)));
                }
                outputs
            }
            "steer" => self.call(|driver, cx| driver.steer(cx, &message(first, more))),
            "stop" => self.call(|driver, cx| driver.stop_turn(cx)),
            "interrupt" => self.call(|driver, cx| driver.interrupt(cx)),
            "close" => self.call(|driver, cx| driver.close_mailbox(cx)),
            "shut-down" => self.call(|driver, cx| driver.shut_down(cx)),
            "decline" => self.call(|driver, cx| driver.decline(cx, first)),
            "closed" => self.call(|driver, cx| driver.answer(cx, first, None)),
            "asking" => self.call(|driver, cx| driver.question_open(cx, first == "open")),
            "withdraw" => {
                let mut known = false;
                let mut outputs = self.call(|driver, cx| known = driver.withdraw(cx, first));
                outputs.extend((!known).then(|| "too late".to_owned()));
                outputs
            }
            "answer" => {
                let answers: Vec<String> = more.split(" | ").map(str::to_owned).collect();
                self.call(|driver, cx| driver.answer(cx, first, Some(&answers)))
            }
            "spawn" => self.call(|driver, cx| {
                let error = if first == "missing" { SpawnError::NotInstalled } else { SpawnError::Io(more.to_owned()) };
                driver.spawned(cx, Err(error));
            }),
            "stderr" => self.call(|driver, cx| driver.bytes(cx, Pipe::Stderr, format!("{rest}\n").as_bytes())),
            "end" => self.call(|driver, cx| driver.end(cx, if first == "stdout" { Pipe::Stdout } else { Pipe::Stderr })),
            "exit" => self.call(|driver, cx| driver.exit(cx, exit(first))),
            "gone" => {
                let mut outputs = self.line("end stdout");
                outputs.extend(self.line("end stderr"));
                outputs.extend(self.line(&format!("exit {first}")));
                outputs
            }
            "bytes" => self.bytes(rest.replace("\\n", "\n").replace("\\u2028", "\u{2028}").as_bytes()),
            _ if word.starts_with('+') => self.wait(word[1..].parse().expect("ms after the plus")),
            _ => {
                let frame = self.frames.build(line);
                self.bytes(format!("{frame}\n").as_bytes())
            }
        }
    }

    /// Bytes of stdout.
    pub fn bytes(&mut self, bytes: &[u8]) -> Vec<String> {
        self.call(|driver, cx| driver.bytes(cx, Pipe::Stdout, bytes))
    }

    /// The frame that a line stands for.
    pub fn frame(&mut self, line: &str) -> serde_json::Value {
        self.frames.build(line)
    }

    fn silently(&mut self, lines: &[&str]) -> Vec<String> {
        for line in lines {
            self.line(line);
        }
        Vec::new()
    }

    fn with(&mut self, what: &str, value: &str) -> Vec<String> {
        let request = &mut self.request;
        match what {
            "bypass" => (request.auto_approve, request.sandbox) = (true, Sandbox::DangerFullAccess),
            "auto-approve" => request.auto_approve = true,
            "model" => request.model = Some(value.to_owned()),
            "effort" => request.effort = Some(value.to_owned()),
            "resume" => request.resume = Some(value.to_owned()),
            "required" => {
                (request.resume, request.resume_policy) = (Some(value.to_owned()), ResumePolicy::RequireExisting);
            }
            "subagents-off" => request.native_subagents_off = true,
            "old-cli" => self.config.claude_thinking_display = false,
            "mcp" => {
                let (command, name) = ("serve".to_owned(), value.to_owned());
                let env = vec![("PORT".to_owned(), "1".to_owned())];
                self.mcp = Some(McpServer { name, command, args: vec!["--stdio".to_owned()], env });
            }
            other => panic!("no configuration `{other}`"),
        }
        Vec::new()
    }

    fn call(&mut self, call: impl FnOnce(&mut Claude, &mut Cx<'_>)) -> Vec<String> {
        let driver = self.driver.get_or_insert_with(|| {
            let driver = Claude::new(PROC, self.request.clone());
            match self.mcp.clone() {
                Some(server) => driver.with_mcp(server),
                None => driver,
            }
        });
        let mut out: Vec<Output> = Vec::new();
        let now = Now { mono: self.now, wall: self.now };
        let (config, ids, timers) = (&self.config, &mut self.ids, &mut self.timers);
        call(driver, &mut Cx { now, config, ids, timers, chat: "chat", proc: PROC, out: &mut out });
        out.iter().map(|output| self.render.output(output)).collect()
    }

    fn wait(&mut self, ms: u64) -> Vec<String> {
        let (from, until) = (self.now, self.now + ms);
        let mut outputs = Vec::new();
        while let Some(at) = self.timers.first().filter(|at| *at <= until) {
            self.now = at;
            let Some(key) = self.timers.take_due(at) else { break };
            outputs.push(format!("({} {})", at - from, key.name));
            outputs.extend(self.call(|driver, cx| driver.timer(cx, &key)));
        }
        self.now = until;
        outputs
    }
}

fn message(id: &str, text: &str) -> Message {
    Message { chat: "chat".to_owned(), id: id.to_owned(), text: text.to_owned() }
}

fn exit(word: &str) -> ExitStatus {
    match word.parse() {
        Ok(code) => ExitStatus { code: Some(code), signal: None },
        Err(_) => ExitStatus { code: None, signal: Some(word.to_owned()) },
    }
}
