//! Reads a scenario out of a file that has the right shape.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    Action, Agent, Answer, AnswerTo, CastEntry, Choice, Decision, Edit, Event, Frames, Killing, ONLY_DEVICE, Perturb, Players,
    PowerLoss, Reply, ReplyContent, Request, Role, Scenario, Setting, Steer, Step, ToolCall, VERSION, ViewCall, WITHIN, names,
};
use crate::{
    expect,
    plan::{
        Exit, Insertion, When,
        parse::{beat_label, counted, cut, one_line, place},
    },
    problem::{self, Problem, Problems, Source, Span, Spanned},
    read::{self, Node, Read, Table, count, drift, flag, integer, json, json_text, list, span_of_time, text, texts, word},
    vocabulary,
};

impl Scenario {
    /// Reads a scenario; `id` is its path under the library without `.toml`, `name` the file's name in errors.
    ///
    /// # Errors
    /// All that is wrong with the file, each with its place and what to do.
    pub fn parse(id: &str, name: &str, toml: &str) -> Result<Scenario, Problems> {
        let source = problem::source(name, toml);
        read::file(&source, &vocabulary::scenario::SCENARIO, |table, problems| {
            let mut reader = Reader { source: &source, problems };
            let scenario = reader.scenario(id, table)?;
            names::check(&scenario, reader.problems);
            Ok(scenario)
        })
    }
}

/// Only version 1 of either format exists.
pub(crate) fn version(table: &Table<'_, '_>, key: &str, known: u32, source: &Source, problems: &mut Vec<Problem>) -> Read<()> {
    let node = table.need(key)?;
    let version = count(node)?;
    if version != known {
        problems.push(
            Problem::new(source, node.span().into(), format!("{key} version {version} is unknown"), "unknown version").help(
                format!("this build reads version {known}: write `{key} = {known}`, or use the build that the file was made for"),
            ),
        );
    }
    Ok(())
}

struct Reader<'s, 'p> {
    source: &'s Source,
    problems: &'p mut Vec<Problem>,
}

impl Reader<'_, '_> {
    fn report(&mut self, span: Span, message: impl Into<String>, label: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(self.source, span, message, label).help(help));
    }

    fn scenario(&mut self, id: &str, t: &Table<'_, '_>) -> Read<Scenario> {
        version(t, "scenario", VERSION, self.source, self.problems)?;
        let words = |key: &str| t.read(key, |node| list(node, text));
        if let (Some(from), false) = (t.get("from"), t.has("provenance")) {
            self.report(
                from.span().into(),
                "a scenario copied from a report says what is recorded and what is synthetic",
                "copied from here",
                "add `provenance = \"…\"`: what of the frames is recorded, what is synthetic",
            );
        }
        let mut devices = words("devices")?.unwrap_or_default();
        if let (Some(node), true) = (t.get("devices"), devices.is_empty()) {
            self.report(node.span().into(), "no device", "nobody in here", "name at least one, or leave the key out");
        }
        if devices.is_empty() {
            devices.push(Spanned::new(ONLY_DEVICE.to_owned(), t.span));
        }
        let guards = words("guards")?.unwrap_or_default();
        if let (true, Some(node)) = (guards.is_empty(), t.get("guards")) {
            self.report(
                node.span().into(),
                "a scenario guards something",
                "nothing in here",
                "name the regression rows and invariants that it was written for",
            );
        }
        let players = match t.get("agent") {
            Some(agent) => Players::Agent(self.agent(&Table::of(agent)?)?),
            None => Players::Cast(self.cast(t.need("cast")?)?),
        };
        let steps = t.need("steps")?;
        let nodes = list(steps, Ok)?;
        if nodes.is_empty() {
            self.report(
                steps.span().into(),
                "a scenario without steps rehearses nothing",
                "no step in here",
                "begin with `{ send = \"…\" }`",
            );
        }
        let steps = (1..).zip(nodes).map(|(number, node)| self.step(number, &Table::of(node)?)).collect::<Read<_>>()?;
        Ok(Scenario {
            id: id.to_owned(),
            title: text(t.need("title")?)?.value,
            why: text(t.need("why")?)?.value,
            guards,
            from: t.read("from", text)?.map(|text| text.value),
            provenance: t.read("provenance", text)?.map(|text| text.value),
            tags: t.read("tags", |node| list(node, |tag| Ok(word(tag)?.value)))?.unwrap_or_default().into_iter().collect(),
            devices,
            config: t.read("config", settings)?.unwrap_or_default(),
            players,
            steps,
            perturb: t.read("perturb", |node| self.perturb(&Table::of(node)?))?.unwrap_or_default(),
            source: self.source.clone(),
        })
    }

    fn perturb(&mut self, t: &Table<'_, '_>) -> Read<Perturb> {
        let mut perturb = Perturb::default();
        for (key, own) in [("weather", &mut perturb.weather), ("breakage", &mut perturb.breakage)] {
            for kind in t.read(key, |node| list(node, word::<crate::plan::Kind>))?.unwrap_or_default() {
                let class = kind.value.class();
                if class.word() != key {
                    self.report(
                        kind.span,
                        format!("`{}` is {class}, not {key}", kind.value),
                        format!("listed under `{key}`"),
                        format!("move it to `{class}`: the two are never mixed up in a verdict"),
                    );
                }
                own.push(kind.value);
            }
        }
        perturb.protect = t.read("protect", |node| list(node, word))?.unwrap_or_default();
        Ok(perturb)
    }

    fn cast(&mut self, node: &Node<'_>) -> Read<Vec<CastEntry>> {
        let nodes = list(node, Ok)?;
        if nodes.is_empty() {
            let help = "name a scene: cast = [ { as = \"claude\", capture = \"plain-turn\" } ]";
            self.report(node.span().into(), "nobody plays", "an empty cast", help);
        }
        let mut cast: Vec<CastEntry> = Vec::new();
        for node in nodes {
            let entry = self.cast_entry(&Table::of(node)?, &cast)?;
            cast.push(entry);
        }
        Ok(cast)
    }

    fn cast_entry(&mut self, t: &Table<'_, '_>, earlier: &[CastEntry]) -> Read<CastEntry> {
        let role: Spanned<Role> = word(t.need("as")?)?;
        let frames = match (t.get("capture"), t.get("events")) {
            (Some(scene), _) => Frames::Capture { scene: text(scene)?, version: t.read("version", text)? },
            (None, Some(events)) => Frames::Events(list(events, event)?),
            (None, None) => return Err(drift("a cast entry", t.need("as")?)),
        };
        match (&frames, role.value) {
            (Frames::Capture { scene, .. }, Role::Mock) => self.report(
                scene.span,
                "the mock has no captures",
                "a scene of no provider",
                "give it `events = [ … ]`, or name the provider in `as`",
            ),
            (Frames::Events(_), role) if role != Role::Mock => self.report(
                t.need("events")?.span().into(),
                format!("{role} plays captures, not events"),
                "normalized events",
                "name a scene with `capture`, or write `as = \"mock\"`",
            ),
            (Frames::Events(_), _) => {
                for key in ["version", "edits"] {
                    if let Some(node) = t.get(key) {
                        let help = "write the events as they are to come";
                        self.report(node.span().into(), format!("the mock has no `{key}`"), "not for the mock", help);
                    }
                }
            }
            (Frames::Capture { .. }, _) => {}
        }
        let same = earlier.iter().filter(|other| other.role == role).count();
        let name = match t.read("name", text)? {
            Some(name) => {
                if name.value.contains('@') || name.value.contains(char::is_whitespace) {
                    self.report(
                        name.span,
                        format!("`{name}` is no name for a process"),
                        "a blank or an `@` in it",
                        "use letters, digits, `-` and `#`: labels are written `result#1@NAME`",
                    );
                }
                name
            }
            None if same == 0 => Spanned::new(role.value.to_string(), role.span),
            None => Spanned::new(format!("{}#{}", role.value, same + 1), role.span),
        };
        if let Some(other) = earlier.iter().find(|other| other.name == name.value) {
            self.problems.push(
                Problem::new(self.source, name.span, format!("two processes are called `{name}`"), "this one too")
                    .earlier("this is the first", other.span)
                    .help("give one of them another `name`"),
            );
        }
        let edits = t.read("edits", |node| list(node, |edit| self.edit(edit)))?.unwrap_or_default();
        Ok(CastEntry { role, name: name.value, device: t.read("device", text)?, frames, edits, span: t.span })
    }

    fn edit(&mut self, node: &Node<'_>) -> Read<Spanned<Edit>> {
        let t = Table::of(node)?;
        let after = || t.need("after").and_then(beat_label);
        for (key, value) in t.entries() {
            let edit = match key.value.as_str() {
                "hold" => Edit::Hold(beat_label(value)?),
                "drop" => Edit::Drop(beat_label(value)?),
                "duplicate" => Edit::Duplicate(beat_label(value)?),
                "swap" => match list(value, beat_label)?.as_slice() {
                    [a, b] if a != b => Edit::Swap(a.clone(), b.clone()),
                    labels => {
                        let (message, help) = ("a swap is of two different beats", "write swap = [\"init#1\", \"status#1\"]");
                        self.report(value.span().into(), message, format!("{} here", labels.len()), help);
                        continue;
                    }
                },
                "delay" => Edit::Delay { label: beat_label(value)?, by: span_of_time(t.need("by")?)? },
                "insert" => Edit::Insert { line: Insertion::Frame(json_text(value)?), after: after()? },
                "insert_raw" => {
                    Edit::Insert { line: Insertion::Raw(one_line(value, self.source, self.problems)?), after: after()? }
                }
                "exit" if value.get_ref().is_str() => Edit::Exit { exit: Exit::Signal(word(value)?.value), after: after()? },
                "exit" => Edit::Exit { exit: Exit::Code(integer(value)?), after: after()? },
                "close" => Edit::Close { pipe: word(value)?.value, after: after()? },
                "deaf" => Edit::Deaf { after: after()? },
                "ignore" => {
                    let signal = word(value)?;
                    if signal.value == crate::plan::Signal::Kill {
                        let help = "no process can ignore SIGKILL; SIGTERM and SIGINT can be ignored";
                        self.report(signal.span, "SIGKILL cannot be ignored", "the kernel does not ask", help);
                    }
                    Edit::Ignore(signal.value)
                }
                _ => continue,
            };
            return Ok(Spanned::new(edit, t.span));
        }
        // Only a swap that was reported above comes here: the problem stands for the edit.
        Ok(Spanned::new(Edit::Deaf { after: crate::plan::BeatLabel::new("unread") }, t.span))
    }

    fn agent(&mut self, t: &Table<'_, '_>) -> Read<Agent> {
        let children = t.read("children", |node| {
            Table::of(node)?.entries().into_iter().map(|(title, node)| Ok((title.value, list(node, reply)?))).collect()
        })?;
        Ok(Agent {
            replies: list(t.need("replies")?, reply)?,
            children: children.unwrap_or_default(),
            tools: t.read("tools", |node| list(node, |tool| Ok(text(tool)?.value)))?.unwrap_or_default(),
            depth: t.read("depth", count)?,
        })
    }

    fn step(&mut self, number: u32, t: &Table<'_, '_>) -> Read<Step> {
        let action_keys = vocabulary::step::STEP.one_of.as_ref().map_or(&[][..], |one_of| one_of.keys);
        let entries = t.entries();
        let (key, value) = entries
            .iter()
            .find(|(key, _)| action_keys.contains(&key.value.as_str()))
            .ok_or_else(|| read::Drift { what: "a step".into(), span: t.span })?;
        Ok(Step {
            number,
            action: self.action(&key.value, value, t)?,
            chat: t.read("chat", text)?,
            device: t.read("device", text)?,
            label: t.read("label", text)?,
            span: key.span,
        })
    }

    fn action(&mut self, key: &str, value: &Node<'_>, step: &Table<'_, '_>) -> Read<Action> {
        let inner = || Table::of(value);
        let word_only = value.get_ref().as_bool() == Some(true);
        Ok(match key {
            "send" => Action::Send(self.words_of_the_user(value)?),
            "send_now" => Action::SendNow(text(value)?),
            "queue" => Action::Queue(self.words_of_the_user(value)?),
            "edit" => Action::Edit { message: text(inner()?.need("message")?)?, text: text(inner()?.need("text")?)?.value },
            "remove" => Action::Remove(text(value)?),
            "lease" => Action::Lease(text(value)?),
            "steer" if value.get_ref().is_str() => Action::Steer(Steer::Text(self.words_of_the_user(value)?)),
            "steer" => Action::Steer(Steer::Queued(text(inner()?.need("queued")?)?)),
            "stop" => Action::Stop,
            "answer" => Action::Answer(self.answer(value)?),
            "fork" => {
                let t = inner()?;
                Action::Fork {
                    point: t.read("point", text)?,
                    destination: word(t.need("destination")?)?.value,
                    request: text(t.need("request")?)?,
                    chat: text(t.need("chat")?)?,
                }
            }
            "switch" => Action::Switch { on: flag(value)?, provider: step.read("provider", word)?.map(|role| role.value) },
            "close" => Action::Close,
            "create" => Action::Create { chat: text(inner()?.need("chat")?)?, parent: inner()?.read("parent", text)? },
            "claim" => Action::Claim { chat: text(inner()?.need("chat")?)?, parent: inner()?.read("parent", text)? },
            "kill" if word_only => Action::Kill(Killing::Now),
            "kill" => Action::Kill(self.killing(&inner()?)?),
            "restart" if word_only => Action::Restart(Killing::Now),
            "restart" => Action::Restart(self.killing(&inner()?)?),
            "crash" if word_only => Action::Crash(PowerLoss::Now),
            "crash" => Action::Crash(PowerLoss::At {
                sync: counted(inner()?.need("sync")?, "sync", self.source, self.problems)?,
                torn: inner()?.read("torn", flag)?.unwrap_or(false),
            }),
            "suspend" => Action::Suspend(span_of_time(value)?),
            "partition" if word_only => Action::Partition(None),
            "partition" => Action::Partition(Some(cut(&inner()?, self.source, self.problems)?)),
            "heal" if word_only => Action::Heal(None),
            "heal" => Action::Heal(Some(cut(&inner()?, self.source, self.problems)?)),
            "disk" => Action::Disk {
                call: counted(inner()?.need("call")?, "call", self.source, self.problems)?,
                with: word(inner()?.need("with")?)?.value,
            },
            "rpc" => Action::Rpc(request(&inner()?)?),
            "mcp" => Action::Mcp(request(&inner()?)?),
            "view" => {
                let (t, is) = (inner()?, inner()?.need("is")?);
                Action::View(ViewCall {
                    of: text(t.need("of")?)?,
                    given: object(t.get("given"))?,
                    is: Spanned::new(json(is)?, is.span().into()),
                })
            }
            "advance" => Action::Advance(span_of_time(value)?),
            "until" => Action::Until {
                expectation: expect::parse::expectation(value, self.source, self.problems)?,
                within: step.read("within", span_of_time)?.unwrap_or(WITHIN),
            },
            "expect" => Action::Expect(expect::parse::expectation(value, self.source, self.problems)?),
            "release" => Action::Release(word(value)?),
            "note" => Action::Note(text(value)?.value),
            _ => return Err(drift("an action", value)),
        })
    }

    fn words_of_the_user(&mut self, node: &Node<'_>) -> Read<String> {
        let words = text(node)?;
        if words.value.trim().is_empty() {
            let help = "write the message; no host lets its user send an empty one";
            self.report(words.span, "the message is empty", "no words", help);
        }
        Ok(words.value)
    }

    fn killing(&mut self, t: &Table<'_, '_>) -> Read<Killing> {
        let when = t.read("when", word)?.map_or(When::Before, |when| when.value);
        Ok(Killing::At(place(t, self.source, self.problems)?, when))
    }

    fn answer(&mut self, node: &Node<'_>) -> Read<Answer> {
        let decision = |node| -> Read<Decision> { Ok(word(node)?.value) };
        if node.get_ref().is_str() {
            let to = AnswerTo::Decision { decision: decision(node)?, message: None, interrupt: false };
            return Ok(Answer { open: 1, to });
        }
        let t = Table::of(node)?;
        let open = t.read("open", |node| counted(node, "open", self.source, self.problems))?.unwrap_or(1);
        let to = if let Some(node) = t.get("decision") {
            AnswerTo::Decision {
                decision: decision(node)?,
                message: t.read("message", text)?.map(|text| text.value),
                interrupt: t.read("interrupt", flag)?.unwrap_or(false),
            }
        } else if let Some(node) = t.get("choose") {
            AnswerTo::Choices(if node.get_ref().is_table() {
                let questions = Table::of(node)?.entries();
                let choice = |(question, node)| Ok(Choice { question: Some(question), labels: texts(node)? });
                questions.into_iter().map(choice).collect::<Read<_>>()?
            } else {
                vec![Choice { question: None, labels: texts(node)? }]
            })
        } else {
            AnswerTo::Text(text(t.need("text")?)?.value)
        };
        Ok(Answer { open, to })
    }
}

fn settings(node: &Node<'_>) -> Read<Vec<Setting>> {
    Table::of(node)?.entries().into_iter().map(|(key, value)| Ok(Setting { key, value: json(value)? })).collect()
}

fn event(node: &Node<'_>) -> Read<Event> {
    let t = Table::of(node)?;
    let event = t.need("event")?;
    Ok(Event {
        event: Spanned::new(json(event)?, event.span().into()),
        at: t.read("at", span_of_time)?.unwrap_or(Duration::ZERO),
        on: t.read("on", word)?.map(|trigger| trigger.value),
        label: t.read("label", text)?,
    })
}

fn reply(node: &Node<'_>) -> Read<Reply> {
    let t = Table::of(node)?;
    let content = if let Some(words) = t.get("text") {
        ReplyContent::Text(text(words)?.value)
    } else if let Some(calls) = t.get("tools") {
        ReplyContent::Tools(list(calls, |call| {
            let t = Table::of(call)?;
            Ok(ToolCall {
                tool: text(t.need("tool")?)?,
                input: object(t.get("input"))?,
                result: t.read("result", text)?.map(|text| text.value),
            })
        })?)
    } else {
        ReplyContent::Fail(text(t.need("fail")?)?.value)
    };
    Ok(Reply {
        thinking: t.read("thinking", text)?.map(|text| text.value),
        content,
        after: t.read("after", span_of_time)?.unwrap_or(Duration::ZERO),
    })
}

fn request(t: &Table<'_, '_>) -> Read<Request> {
    let answer = t.need("answer")?;
    Ok(Request {
        method: text(t.need("method")?)?,
        params: object(t.get("params"))?,
        answer: Spanned::new(json(answer)?, answer.span().into()),
    })
}

/// A table as a JSON object; an absent one is the empty object.
fn object(node: Option<&Node<'_>>) -> Read<Value> {
    node.map_or_else(|| Ok(Value::Object(Map::new())), json)
}
