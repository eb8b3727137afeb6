//! What an understudy says, through the plan's hands: held, swapped, joined, cut, dropped, repeated, late.

use std::collections::VecDeque;

use captures::{
    format::{Exit, Stream},
    labels::Counter,
};
use fake_clis::understudy::{Breach, Input, Launch, Output};
use serde_json::Value;

use super::{changes::Changes, play::Stage, queue::Event, run::End};
use crate::{
    history::What,
    host::{Feed, ForHost, Pipe},
    view::{Delivery, Inside, Process as ShownProcess, ProcessState, Request},
    world::{Process, process::Gathering},
};

impl Stage<'_> {
    /// Starts the next process of the cast.
    pub(super) fn spawn(&mut self, proc: u64, chat: String, launch: Launch) -> Result<(), End> {
        let number = self.processes.len();
        let name = if number == 0 { "claude".to_owned() } else { format!("claude#{}", number + 1) };
        let Some(member) = self.setting.cast.get(number) else {
            return Err(End::OffScript(format!("the host started process {} where the cast has {number}", number + 1)));
        };
        let pid = launch.pid;
        let argv = launch.argv.clone();
        self.trace.line(self.now(), "host", format!("starts {}", argv.join(" ")), &[]);
        let mut full = launch;
        for (key, value) in &member.capture.header.env {
            // What a host sets itself is its own to set; the rest is the machine's.
            if key != "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT" {
                full.env.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        let process = Process {
            proc,
            pid,
            changes: Changes::of(&member.edits, &self.setting.plan, &name, number == 0),
            name,
            chat: chat.clone(),
            understudy: (member.make)(full.clone()),
            launch: full,
            labels: Counter::new(),
            beats: 0,
            said: Default::default(),
            held_at: None,
            waiting: VecDeque::new(),
            gathering: None,
            late: 0,
            timers: Default::default(),
            exit: None,
            stdout_closed: false,
            stdin_closed: false,
            deaf: false,
            orphan: false,
        };
        self.processes.insert(pid, process);
        self.note(What::Spawned { pid, chat: Some(chat), argv: argv.clone() });
        self.queue.push(self.now(), Event::Host { pid, happening: ForHost::Spawned { proc, pid: Some(pid) } });
        let now = self.now();
        self.viewer.view_mut().inside.get_or_insert_with(Inside::default).processes.push(ShownProcess {
            pid,
            chat: Some(self.processes[&pid].chat.clone()),
            argv,
            started_at: now,
            state: ProcessState::Alive,
            leased: true,
            signals: Vec::new(),
        });
        self.understudy(pid, Input::Start);
        Ok(())
    }

    /// One output of an understudy; behind a hold it waits.
    pub(super) fn output(&mut self, pid: u32, output: Output) {
        let now = self.now();
        let Some(process) = self.processes.get_mut(&pid) else { return };
        if process.held_at.is_some() && !matches!(output, Output::Arm { .. } | Output::Disarm(_)) {
            process.waiting.push_back(output);
            return;
        }
        match output {
            Output::Say { line, stem } => self.say(pid, line, &stem, true),
            Output::Stderr(_) if process.orphan => {}
            Output::Stderr(text) => {
                let due = now + self.processes[&pid].late;
                let proc = self.processes[&pid].proc;
                let happening = ForHost::Bytes { proc, pipe: Pipe::Stderr, bytes: text.into_bytes() };
                self.queue.push(due, Event::Host { pid, happening });
            }
            Output::Arm { timer, at_ms } => {
                self.queue.disarm(pid, timer);
                process.timers.insert(timer, at_ms);
                self.queue.push(at_ms, Event::Understudy { pid, timer });
            }
            Output::Disarm(timer) => {
                process.timers.remove(&timer);
                self.queue.disarm(pid, timer);
            }
            Output::Close(stream) => self.close(pid, stream),
            Output::Exit(exit) => self.exit(pid, exit),
            Output::StopReading => process.deaf = true,
            Output::Breach(Breach { rule, words }) => {
                let name = process.name.clone();
                self.trace.line(now, &name, format!("breach {rule}: {words}"), &[]);
                self.note(What::Breach { pid, rule: rule.to_owned(), words });
            }
            Output::OffScript(words) => self.end = Some(End::OffScript(words)),
        }
    }

    /// One record, through the changes of the plan.
    fn say(&mut self, pid: u32, line: String, stem: &str, genuine: bool) {
        let now = self.now();
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let label = process.labels.label(stem);
        process.beats += 1;
        let by_number = process.changes.delay_number.get(&process.beats);
        let by_label = process.changes.delay.get(&label);
        process.late += by_label.into_iter().chain(by_number).sum::<u64>();
        if process.changes.drop.contains(&label) {
            let name = process.name.clone();
            process.said.entry(label.clone()).or_insert(now);
            self.trace.line(now, &name, format!("{label} is dropped"), &[]);
            return self.after(pid, &label);
        }
        if let Some(until) = process.changes.swap.get(&label).cloned() {
            process.gathering = Some(Gathering { until, swaps: true, said: vec![(label, line, genuine)] });
            return;
        }
        if let Some(until) = process.changes.join.get(&label).cloned() {
            process.gathering = Some(Gathering { until, swaps: false, said: vec![(label, line, genuine)] });
            return;
        }
        if let Some(gathering) = &mut process.gathering {
            let last = gathering.until == label;
            gathering.said.push((label, line, genuine));
            if last {
                self.gathered(pid);
            }
            return;
        }
        let again = process.changes.duplicate.contains(&label).then(|| line.clone());
        self.read(pid, vec![(label.clone(), line, genuine)]);
        if let Some(line) = again {
            self.read(pid, vec![(format!("{label}-again"), line, false)]);
        }
        self.after(pid, &label);
    }

    /// Ends a swap or a join.
    fn gathered(&mut self, pid: u32) {
        let Some(gathering) = self.processes.get_mut(&pid).and_then(|process| process.gathering.take()) else { return };
        let mut said = gathering.said;
        let labels: Vec<String> = said.iter().map(|(label, ..)| label.clone()).collect();
        if gathering.swaps {
            let last = said.len() - 1;
            said.swap(0, last);
            for record in said {
                self.read(pid, vec![record]);
            }
        } else {
            self.read(pid, said);
        }
        for label in labels {
            self.after(pid, &label);
        }
    }

    /// Puts records before the host, as one read or cut into several.
    fn read(&mut self, pid: u32, said: Vec<(String, String, bool)>) {
        let Some(process) = self.processes.get(&pid) else { return };
        if process.orphan {
            // A write to a pipe without a reader: the error of it ends the process.
            return self.exit(pid, Exit { code: Some(1), signal: None });
        }
        if process.stdout_closed {
            // Nobody reads a pipe that the process closed.
            return;
        }
        let (proc, due) = (process.proc, self.now() + process.late);
        let mut bytes = Vec::new();
        let mut cuts: Vec<usize> = Vec::new();
        let mut records = Vec::new();
        for (label, line, genuine) in said {
            let start = bytes.len();
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            if let Some(at) = process.changes.split.get(&label) {
                cuts.extend(at.iter().map(|at| start + at).filter(|at| *at < bytes.len()));
            }
            records.push((label, serde_json::from_str(&line).unwrap_or(Value::Null), genuine));
        }
        cuts.push(bytes.len());
        let mut from = 0;
        for cut in cuts {
            let piece = bytes[from..cut].to_vec();
            let said = if cut == bytes.len() { std::mem::take(&mut records) } else { Vec::new() };
            let happening = ForHost::Bytes { proc, pipe: Pipe::Stdout, bytes: piece };
            self.queue.push(due, Event::Read { pid, happening, said });
            from = cut;
        }
    }

    /// What the plan has after a beat.
    fn after(&mut self, pid: u32, label: &str) {
        let Some(process) = self.processes.get_mut(&pid) else { return };
        let inserted = process.changes.insert.get(label).cloned().unwrap_or_default();
        let close = process.changes.close.get(label).copied();
        let exit = process.changes.exit.get(label).cloned();
        if process.changes.deaf.contains(label) {
            process.deaf = true;
        }
        if process.changes.hold.contains(label) {
            process.held_at = Some(label.to_owned());
        }
        for line in inserted {
            self.read(pid, vec![("inserted".to_owned(), line, false)]);
        }
        if let Some(stream) = close {
            self.close(pid, stream);
        }
        if let Some(exit) = exit {
            self.close(pid, Stream::Stdout);
            self.exit(pid, exit);
        }
    }

    /// Lets a held process go on.
    pub(super) fn release(&mut self, label: &str) {
        let (label, name) = label.split_once('@').map_or((label, None), |(label, name)| (label, Some(name)));
        let held = self
            .processes
            .values_mut()
            .find(|process| process.held_at.as_deref() == Some(label) && name.is_none_or(|name| process.name == name));
        let Some(process) = held else {
            // Released before it was reached: it never holds.
            for process in self.processes.values_mut() {
                process.changes.hold.remove(label);
            }
            return;
        };
        process.held_at = None;
        process.changes.hold.remove(label);
        let (pid, mut waiting) = (process.pid, std::mem::take(&mut process.waiting));
        while let Some(output) = waiting.pop_front() {
            self.output(pid, output);
            if let Some(process) = self.processes.get_mut(&pid).filter(|process| process.held_at.is_some()) {
                process.waiting.append(&mut waiting);
            }
        }
    }

    /// Nothing comes any more: a swap or join that waits for its end is ended with what there is, and what the plan holds back
    /// is let go, since the storm is over.
    pub(super) fn untie(&mut self) -> bool {
        let held = self.processes.values().find_map(|process| {
            let label = process.held_at.as_ref().filter(|label| process.changes.storms.contains(*label))?;
            Some(format!("{label}@{}", process.name))
        });
        if let Some(label) = held {
            self.history.healed_at = self.now();
            self.release(&label);
            return true;
        }
        let pids: Vec<u32> =
            self.processes.values().filter(|process| process.gathering.is_some()).map(|process| process.pid).collect();
        for pid in &pids {
            self.gathered(*pid);
        }
        !pids.is_empty()
    }

    fn close(&mut self, pid: u32, stream: Stream) {
        let now = self.now();
        let Some(process) = self.processes.get_mut(&pid).filter(|process| !process.orphan) else { return };
        let (proc, due) = (process.proc, now + process.late);
        match stream {
            Stream::Stdout if !process.stdout_closed => {
                process.stdout_closed = true;
                self.queue.push(due, Event::Host { pid, happening: ForHost::End { proc, pipe: Pipe::Stdout } });
            }
            Stream::Stderr => {
                self.queue.push(due, Event::Host { pid, happening: ForHost::End { proc, pipe: Pipe::Stderr } });
            }
            Stream::Stdin => process.deaf = true,
            Stream::Stdout => {}
        }
    }

    /// The process ends: its pipes end as the kernel ends them, then the host reaps it.
    pub(super) fn exit(&mut self, pid: u32, exit: Exit) {
        let now = self.now();
        let Some(process) = self.processes.get_mut(&pid).filter(|process| process.is_alive()) else { return };
        process.exit = Some(exit.clone());
        process.held_at = None;
        let (proc, due, orphan) = (process.proc, now + process.late, process.orphan);
        self.queue.forget(pid);
        if orphan {
            self.trace.line(now, "world", format!("process {pid}, which has no host, ended"), &[]);
            self.note(What::Exited { pid, code: exit.code, signal: exit.signal });
            return self.gone(pid);
        }
        if let Some(shown) = self.shown(pid).filter(|_| !orphan) {
            shown.state = ProcessState::Exited;
        }
        self.close(pid, Stream::Stdout);
        self.close(pid, Stream::Stderr);
        let happening = ForHost::Exit { proc, code: exit.code, signal: exit.signal };
        self.queue.push(due, Event::Host { pid, happening });
    }

    /// A signal reaches a process.
    pub(super) fn signalled(&mut self, pid: u32, signal: &str, by_host: bool) {
        let Some(process) = self.processes.get(&pid) else { return };
        let name = process.name.clone();
        let (alive, ignores) = (process.is_alive(), process.changes.ignore.contains(signal));
        let now = self.now();
        self.trace.line(now, if by_host { "host" } else { "world" }, format!("{signal} to {name}"), &[]);
        self.note(What::Signal { pid, signal: signal.to_owned(), by_host });
        if by_host && let Some(shown) = self.shown(pid) {
            shown.signals.push((now, signal.to_owned()));
        }
        if !alive || (ignores && signal != "SIGKILL") {
            return;
        }
        if signal == "SIGKILL" {
            self.exit(pid, Exit { code: None, signal: Some(signal.to_owned()) });
        } else {
            self.understudy(pid, Input::Signal(signal));
        }
    }

    /// What the host wrote is on its way to the understudy.
    pub(super) fn host_writes(&mut self, proc: u64, bytes: Vec<u8>) {
        let Some(pid) = self.pid_of(proc) else { return };
        // In a raw scene the stage writes the lines itself: the host's own go nowhere.
        if self.setting.raw || !self.processes[&pid].is_alive() {
            return;
        }
        let now = self.now();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let frame: Value = serde_json::from_slice(line).unwrap_or(Value::Null);
            self.trace.line(now, "host", format!("writes {}", super::brief::line(&frame)), line);
            if frame["type"] == "control_request" {
                let request = Request {
                    id: frame["request_id"].as_str().unwrap_or_default().to_owned(),
                    pid,
                    method: frame["request"]["subtype"].as_str().unwrap_or_default().to_owned(),
                    sent_at: now,
                    ended_at: None,
                    end: None,
                };
                self.viewer.view_mut().inside.get_or_insert_with(Inside::default).requests.push(request);
            }
        }
        self.queue.push(now, Event::Stdin { pid, bytes });
    }

    /// The understudy reads what the host wrote.
    pub(super) fn heard(&mut self, pid: u32, bytes: &[u8]) {
        let Some(process) = self.processes.get(&pid).filter(|process| process.is_alive() && !process.deaf) else { return };
        let name = process.name.clone();
        let now = self.now();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let frame: Value = serde_json::from_slice(line).unwrap_or(Value::Null);
            self.trace.line(now, &name, format!("hears {}", super::brief::line(&frame)), &[]);
            self.note(What::Heard { pid, frame });
        }
        self.understudy(pid, Input::Stdin(bytes));
    }

    /// A control response of the CLI ends a request of the host.
    pub(super) fn answered(&mut self, pid: u32, frame: &Value) {
        if frame["type"] != "control_response" {
            return;
        }
        let id = frame["response"]["request_id"].as_str().unwrap_or_default().to_owned();
        let end = if frame["response"]["subtype"] == "error" { "error" } else { "answer" };
        self.end_requests(|request| request.pid == pid && request.id == id, end);
    }

    /// Ends the open requests that `which` names.
    pub(super) fn end_requests(&mut self, which: impl Fn(&Request) -> bool, end: &str) {
        let now = self.now();
        let Some(inside) = &mut self.viewer.view_mut().inside else { return };
        for request in inside.requests.iter_mut().filter(|request| request.ended_at.is_none() && which(request)) {
            request.ended_at = Some(now);
            request.end = Some(end.to_owned());
        }
    }

    pub(super) fn shown(&mut self, pid: u32) -> Option<&mut ShownProcess> {
        let inside = self.viewer.view_mut().inside.as_mut()?;
        inside.processes.iter_mut().find(|process| process.pid == pid)
    }

    /// The second door: timers, leases, what waits for its flush.
    pub(super) fn inside(&mut self) {
        let now = self.now();
        let (timers, leases) = (self.host.timers(), self.host.leases());
        let by_pid: Vec<(u32, bool)> =
            self.processes.values().map(|process| (process.pid, !process.orphan && leases.contains(&process.proc))).collect();
        let view = self.viewer.view_mut();
        if let Some(timers) = timers {
            let inside = view.inside.get_or_insert_with(Inside::default);
            inside.timers = timers;
            for (pid, leased) in by_pid {
                if let Some(shown) = inside.processes.iter_mut().find(|process| process.pid == pid) {
                    shown.leased = leased;
                    if !leased && shown.state == ProcessState::Exited {
                        shown.state = ProcessState::Reaped;
                    }
                }
            }
        }
        let owes = self.host.owes_writes();
        let owed = view.chats.iter().any(|chat| chat.delivery.rows > 0);
        match (owed, self.history.withheld.last_mut()) {
            (true, Some(last)) => last.1 = now,
            _ if owes && !view.chats.is_empty() => self.history.withheld.push((now, now)),
            _ => {}
        }
        for chat in &mut view.chats {
            chat.delivery = Delivery { rows: u32::from(owes), docs: 0, unflushed: self.host.unflushed(&chat.id) };
        }
    }

    /// A change on its way to the viewer, in the trace.
    pub(super) fn trace_feed(&mut self, feed: &Feed) {
        let now = self.now();
        let words = super::brief::feed(feed);
        match feed {
            Feed::Doc { bytes, .. } => self.trace.line(now, "view", words, bytes),
            // The line shows the event in short; the hash takes all of it.
            Feed::Journal { event, .. } => self.trace.line(now, "view", words, event.to_string().as_bytes()),
            _ => self.trace.line(now, "view", words, &[]),
        }
    }
}
