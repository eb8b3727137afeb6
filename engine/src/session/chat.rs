//! One chat: what is kept of it between runs, and the doors through which inputs reach its run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;

use super::run::{Phase, Run};
use crate::{
    chat::ChatDoc,
    core::{
        config::{FLUSH_MS, PREVIEW_CHARS},
        effect::QueueWrite,
        hub::Hub,
        input::{ChatSpec, Message, ProcId},
        timers::{Class, TimerKey},
    },
    drivers::{Cx, Driver, Output},
    event::AgentEvent,
    feed::{ChatRow, JournalRow, MessageRow, MessageState, QueueNote, SessionRow, Status},
};

/// One chat.
pub struct Chat {
    pub(super) id: String,
    pub(super) spec: ChatSpec,
    pub(super) doc: ChatDoc,
    pub(super) session: SessionRow,
    pub(super) row: ChatRow,
    pub(super) era: u64,
    pub(super) seq: u64,
    pub(super) messages: IndexMap<String, MessageRow>,
    /// Messages shown as queued, head first.
    pub(super) queue: VecDeque<Message>,
    /// A user Stop pauses the queue until an explicit send.
    pub(super) queue_paused: bool,
    /// Messages accepted while an ended run's process is on its way out: never two writers of one session.
    pub(super) waiting: VecDeque<Message>,
    /// Messages that were dispatched again once after their run ended.
    pub(super) dispatched_again: BTreeSet<String>,
    /// Messages that the user asked to take back.
    pub(super) withdrawing: BTreeSet<String>,
    /// Queued messages for which the mailbox had no room: later ones stand behind them, so that a burst keeps its order.
    pub(super) overflow: BTreeSet<String>,
    /// Subagent documents that no sink has open, by document id: a later steer of the child continues its document.
    pub(crate) children: BTreeMap<String, Vec<u8>>,
    /// What is known of queued messages besides their words.
    pub(super) notes: BTreeMap<String, QueueNote>,
    /// Wall clock at which somebody issued a message, ms, until its entry is written.
    pub(super) issued: BTreeMap<String, u64>,
    /// The queue as it is stored: paused, messages, notes.
    pub(super) kept_queue: (bool, VecDeque<Message>, BTreeMap<String, QueueNote>),
    pub(super) turns: u64,
    pub(super) run: Option<Run>,
    pub(super) dying: Option<Run>,
    /// What the driver wanted and is not handled yet, first in first out; empty between steps.
    work: VecDeque<Output>,
    working: bool,
}

impl Chat {
    /// A chat with its first rows published.
    pub fn new(hub: &mut Hub, spec: ChatSpec) -> Self {
        let id = spec.chat.clone();
        let device_id = hub.config.device_id.clone();
        let row = ChatRow {
            chat_id: id.clone(),
            device_id: device_id.clone(),
            cwd: spec.cwd.clone(),
            preview: String::new(),
            last_message_at: None,
            harness_session_id: spec.resume.clone(),
            parent: spec.parent.clone(),
            title: None,
            archived: false,
        };
        let session = SessionRow {
            chat_id: id.clone(),
            device_id,
            status: Status::Idle,
            started_at: None,
            updated_at: hub.now.wall,
            last_completed_turn: 0,
            running_subagents: 0,
        };
        let doc = ChatDoc::new(&id, &id, hub.ids.bits());
        hub.require_commit();
        hub.config(&spec);
        hub.chat(&row);
        hub.session(&session);
        Chat::at_rest(spec, row, session, doc)
    }

    /// A chat that has no run.
    pub(super) fn at_rest(spec: ChatSpec, row: ChatRow, session: SessionRow, doc: ChatDoc) -> Self {
        Chat {
            id: row.chat_id.clone(),
            spec,
            doc,
            session,
            row,
            era: 1,
            seq: 0,
            messages: IndexMap::new(),
            queue: VecDeque::new(),
            queue_paused: false,
            waiting: VecDeque::new(),
            dispatched_again: BTreeSet::new(),
            withdrawing: BTreeSet::new(),
            overflow: BTreeSet::new(),
            children: BTreeMap::new(),
            notes: BTreeMap::new(),
            issued: BTreeMap::new(),
            kept_queue: (false, VecDeque::new(), BTreeMap::new()),
            turns: 0,
            run: None,
            dying: None,
            work: VecDeque::new(),
            working: false,
        }
    }

    /// Calls the driver of the run that owns `proc` and handles what it answers, to the end.
    pub fn drive(&mut self, hub: &mut Hub, proc: ProcId, call: impl FnOnce(&mut dyn Driver, &mut Cx<'_>)) {
        if self.run.as_ref().is_some_and(|run| run.proc == proc) {
            self.with_run(hub, |chat, hub, run| chat.call(hub, run, call));
        } else if self.dying.as_ref().is_some_and(|run| run.proc == proc) {
            self.with_dying(hub, call);
        }
        self.look_at_waiting(hub);
    }

    /// Whether a run of this process still listens.
    pub fn listens(&self, proc: ProcId) -> bool {
        [&self.run, &self.dying].into_iter().flatten().any(|run| run.proc == proc)
    }

    /// Lends the live run to `work`; a run that ended in it goes on its way out.
    pub(super) fn with_run(&mut self, hub: &mut Hub, work: impl FnOnce(&mut Chat, &mut Hub, &mut Run)) {
        let Some(mut run) = self.run.take() else { return };
        work(self, hub, &mut run);
        if run.phase != Phase::Ended {
            self.run = Some(run);
        } else if !run.reaped {
            self.dying = Some(run);
        }
    }

    /// One call of the driver, its outputs handled in order. A handler may call the driver again: what that brings comes
    /// behind what is not handled yet, so that a step has one order.
    pub(super) fn call(&mut self, hub: &mut Hub, run: &mut Run, call: impl FnOnce(&mut dyn Driver, &mut Cx<'_>)) {
        let mut outputs = Vec::new();
        let Hub { config, ids, timers, now, .. } = hub;
        call(run.driver.as_mut(), &mut Cx { now: *now, config, ids, timers, chat: &self.id, proc: run.proc, out: &mut outputs });
        self.work.extend(outputs);
        if self.working {
            return;
        }
        self.working = true;
        while let Some(output) = self.work.pop_front() {
            self.output(hub, run, output);
        }
        self.working = false;
    }

    fn output(&mut self, hub: &mut Hub, run: &mut Run, output: Output) {
        if run.phase == Phase::Ended {
            self.late_output(hub, run, output);
            return;
        }
        match output {
            Output::Event(event) => self.event(hub, run, event),
            Output::Effect(effect) => hub.effect(effect),
            Output::Taken(message) => self.taken(hub, run, &message),
            Output::Background(count) => {
                if count < run.background {
                    run.bypass = true;
                }
                run.background = count;
            }
            Output::Ask { provider_request, questions } => self.ask(hub, run, provider_request, questions),
            Output::AskWithdrawn { provider_request } => self.ask_withdrawn(hub, run, &provider_request),
            Output::Ended => self.stream_ended(hub, run),
            Output::Reaped => self.reaped(hub, run),
        }
    }

    /// What comes of a run that is over: its process must end, its words are for the journal.
    fn late_output(&mut self, hub: &mut Hub, run: &mut Run, output: Output) {
        match output {
            Output::Effect(effect) => hub.effect(effect),
            Output::Reaped => self.reaped(hub, run),
            Output::Ended => run.stream_over = true,
            Output::Event(AgentEvent::Done { status, .. }) => {
                let text = format!("a Done ({status:?}) of a run that was over");
                self.journal(hub, AgentEvent::Note { kind: "late-terminal".to_owned(), text });
            }
            // The children of a run that is over are settled. Their last words would be folded again at a recovery (M4), so the
            // journal keeps only that there were some.
            Output::Event(AgentEvent::Subagent { parent_tool_use_id, .. }) => {
                let text = format!("a frame of the child {parent_tool_use_id} of a run that was over");
                self.journal(hub, AgentEvent::Note { kind: "late-child".to_owned(), text });
            }
            Output::Event(event @ AgentEvent::Note { .. }) => self.journal(hub, event),
            // A request for a turn that is over is turned down, never left open.
            Output::Ask { provider_request, .. } => self.call(hub, run, |driver, cx| driver.decline(cx, &provider_request)),
            _ => {}
        }
    }

    fn with_dying(&mut self, hub: &mut Hub, call: impl FnOnce(&mut dyn Driver, &mut Cx<'_>)) {
        let Some(mut run) = self.dying.take() else { return };
        self.call(hub, &mut run, call);
        if !run.reaped {
            self.dying = Some(run);
        }
    }

    /// Journals and publishes an event under its number; what must be durable before it is seen waits for the commit.
    pub(crate) fn journal(&mut self, hub: &mut Hub, event: AgentEvent) {
        self.seq += 1;
        let durable = matches!(
            event,
            AgentEvent::Done { .. }
                | AgentEvent::Steered { .. }
                | AgentEvent::InputRequested { .. }
                | AgentEvent::NativeForkReady { .. }
        );
        if durable {
            hub.require_commit();
        }
        hub.journal(JournalRow { chat_id: self.id.clone(), era: self.era, seq: self.seq, event });
        self.arm_flush(hub);
    }

    pub(super) fn flush_key(&self) -> TimerKey {
        TimerKey::new(Class::R, &self.id, "flush")
    }

    pub(super) fn arm_flush(&self, hub: &mut Hub) {
        if !hub.timers.is_armed(&self.flush_key()) {
            hub.timers.arm(self.flush_key(), hub.now.mono + FLUSH_MS);
        }
    }

    /// Commits and publishes all pending document changes of the chat.
    pub fn flush(&mut self, hub: &mut Hub) {
        hub.require_commit();
        hub.doc_update(&mut self.doc, self.seq, false);
        for run in [&mut self.run, &mut self.dying].into_iter().flatten() {
            run.sinks.flush(hub, self.seq);
        }
        hub.timers.disarm(&self.flush_key());
    }

    /// The same inside a call that holds the run.
    pub(super) fn flush_with(&mut self, hub: &mut Hub, run: &mut Run) {
        self.flush(hub);
        run.sinks.flush(hub, self.seq);
    }

    /// Publishes and stores the queue where a step has changed it.
    pub fn keep_queue(&mut self, hub: &mut Hub) {
        self.notes.retain(|id, _| self.queue.iter().any(|message| message.id == *id));
        let now = (self.queue_paused, self.queue.clone(), self.notes.clone());
        if self.kept_queue != now {
            self.kept_queue = now;
            hub.queue(self.queue_row());
        }
    }

    /// The queue as it is kept.
    pub(super) fn queue_row(&self) -> QueueWrite {
        let messages = self.queue.iter().cloned().collect();
        QueueWrite { chat_id: self.id.clone(), paused: self.queue_paused, messages, notes: self.notes.clone() }
    }

    /// Publishes a status; Working begins anew from a settled state.
    pub(super) fn status(&mut self, hub: &mut Hub, status: Status, fresh_start: bool) {
        let settled = |status| matches!(status, Status::Idle | Status::Errored);
        let before = self.session.clone();
        if !settled(status) && (settled(self.session.status) || fresh_start) {
            self.session.started_at = Some(hub.now.wall);
        } else if settled(status) {
            self.session.started_at = None;
        }
        self.session.status = status;
        if self.session != before {
            self.publish_session(hub);
        }
    }

    pub(super) fn publish_session(&mut self, hub: &mut Hub) {
        self.session.updated_at = hub.now.wall;
        hub.session(&self.session);
        self.arm_flush(hub);
    }

    /// The status of an open turn: while a question of it waits for the human, that is what is shown.
    pub(super) fn open_status(run: &Run) -> Status {
        if run.inputs.is_empty() { Status::Working } else { Status::AwaitingInput }
    }

    /// Publishes what became of a message.
    pub(super) fn message_state(&mut self, hub: &mut Hub, message: &str, state: MessageState) {
        if let Some(row) = self.messages.get_mut(message).filter(|row| row.state != state) {
            row.state = state;
            hub.message(row);
            self.arm_flush(hub);
        }
    }

    /// The same for a message that may not have a row yet.
    pub(super) fn message_row(&mut self, hub: &mut Hub, message: &Message, state: MessageState) {
        if self.messages.contains_key(&message.id) {
            return self.message_state(hub, &message.id, state);
        }
        let row = MessageRow { chat_id: self.id.clone(), message_id: message.id.clone(), text: message.text.clone(), state };
        hub.message(&row);
        self.messages.insert(message.id.clone(), row);
    }

    /// Keeps a preview of the last message and its time; published after Working (R1).
    pub(super) fn note_message(&mut self, hub: &mut Hub, text: &str) {
        self.row.preview = text.chars().take(PREVIEW_CHARS).collect();
        self.row.last_message_at = Some(hub.now.wall);
        hub.chat(&self.row);
    }

    pub(crate) fn chat_id(&self) -> &str {
        &self.id
    }

    pub(crate) fn doc_mut(&mut self) -> &mut ChatDoc {
        &mut self.doc
    }

    pub(crate) fn journal_seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn journal_child(&mut self, hub: &mut Hub, chip: &str, event: &AgentEvent) {
        let event = AgentEvent::Subagent { parent_tool_use_id: chip.to_owned(), event: Box::new(event.clone()) };
        self.journal(hub, event);
    }

    pub(crate) fn arm_flush_for_child(&self, hub: &mut Hub) {
        self.arm_flush(hub);
    }

    pub(crate) fn set_running_subagents(&mut self, hub: &mut Hub, count: u32) {
        if self.session.running_subagents != count {
            self.session.running_subagents = count;
            self.publish_session(hub);
        }
    }

    pub(super) fn run_timer(&self, name: &'static str) -> TimerKey {
        TimerKey::new(Class::R, &self.id, name)
    }
}
