//! The reference engine behind the host trait. The only place of this crate that names the engine's types, and only those of
//! its outer surface: inputs, effects, feeds.

mod platform;
mod translate;
mod views;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use engine::{
    core::{
        Core,
        config::EngineConfig,
        input::{ExitStatus, Input, ProcId, SpawnError},
    },
    shell::Shell,
    store::Store,
};

use self::platform::{Kills, SimPlatform};
use super::{
    ForHost, FromHost, Host, HostProc,
    fault::{Ending, Fault, Place, Reached},
};
use crate::{
    view::{Clock, Timer},
    world::disk::{Disk, Image, Outcome, PowerLoss},
};

/// Where the engine keeps its database on the world's disk.
const DATABASE: &str = "engine-data/engine.sqlite";

/// The reference engine under the stage. Not started until it is told to.
pub struct EngineHost {
    config: EngineConfig,
    seed: u64,
    /// Which life this is, from 1.
    life: u64,
    clock: Rc<Cell<Clock>>,
    disk: Disk,
    kills: Rc<RefCell<Kills>>,
    /// Syncs at which the power fails, and whether they are torn.
    losses: BTreeMap<u64, bool>,
    shell: Option<Shell<SimPlatform>>,
    /// What the last life wanted before it ended.
    left: Vec<FromHost>,
    ended: Option<Ending>,
    /// A teardown reached the disk through the fence: a fault of the harness.
    leaked: bool,
    reached: Reached,
}

/// The disk of an engine that was started once and holds nothing yet: what runs start from.
///
/// # Errors
/// When SQLite refuses the schema.
pub fn template() -> anyhow::Result<Image> {
    let disk = Disk::new(1);
    Store::with(disk.open(DATABASE)?).map_err(|error| anyhow::anyhow!("failed to lay out the engine's store: {error:?}"))?;
    Ok(disk.image())
}

impl EngineHost {
    /// An engine on a disk that holds `image`; its ids follow from `seed`.
    pub fn new(config: EngineConfig, image: &Image, seed: u64) -> Self {
        EngineHost {
            config,
            seed,
            life: 0,
            clock: Rc::new(Cell::new(Clock::default())),
            disk: Disk::from_image(image, seed),
            kills: Rc::default(),
            losses: BTreeMap::new(),
            shell: None,
            left: Vec::new(),
            ended: None,
            leaked: false,
            reached: Reached::default(),
        }
    }

    /// Opens the store and boots a core on it. An error: the store refused.
    fn boot(&mut self) -> Result<(), &'static str> {
        let connection = self.disk.open(DATABASE).map_err(|_| "IOERR")?;
        let mut store = Store::with(connection).map_err(platform::word)?;
        let stored = store.load().map_err(platform::word)?;
        let platform = SimPlatform {
            clock: Rc::clone(&self.clock),
            store,
            disk: self.disk.clone(),
            kills: Rc::clone(&self.kills),
            wants: Vec::new(),
        };
        // Each life draws ids of its own: those of the one before are on the disk.
        let seed = self.seed ^ (self.life - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut shell = Shell::counting_from(self.reached.effects, Core::new(self.config.clone(), seed), platform);
        shell.deliver(Input::Boot(Box::new(stored)));
        self.shell = Some(shell);
        Ok(())
    }

    /// After anything that the shell did: counts, and sees whether it is still alive.
    fn look(&mut self) {
        let Some(shell) = &self.shell else { return };
        if shell.effects() > self.reached.effects {
            self.reached.effects = shell.effects();
            self.reached.chain_ends.push(shell.effects());
        }
        if shell.is_dead() {
            self.end(None);
        }
    }

    /// The life is over: nothing that is still torn down reaches the disk.
    fn end(&mut self, loss: Option<PowerLoss>) {
        // A sync that was not performed, on a disk that is fenced: the power failed there, or the kill hit it.
        let at_sync = self.disk.is_fenced().then(|| self.losses.get(&self.disk.syncs()).copied()).flatten();
        let loss = loss.or(at_sync.map(|torn| PowerLoss { torn: torn.then_some(0), keep_unsynced: None }));
        self.disk.fence();
        let before = self.disk.image();
        if let Some(mut shell) = self.shell.take() {
            self.left.append(&mut shell.platform().wants);
        }
        self.leaked |= self.disk.image() != before;
        self.reached.disk_calls = self.disk.calls();
        self.reached.syncs = self.disk.syncs();
        self.disk = match loss {
            Some(loss) => self.disk.restart_after(loss),
            None => self.disk.restart(),
        };
        self.ended = Some(if loss.is_some() { Ending::PowerLost } else { Ending::Killed });
    }
}

impl Host for EngineHost {
    fn start(&mut self, clock: Clock) -> Result<(), String> {
        self.clock.set(clock);
        self.life += 1;
        self.disk.set_wall_ms(clock.wall);
        let booted = self.boot();
        let calls = platform::calls(&self.disk.take_log());
        let outcome = booted.err().unwrap_or("ok");
        self.left.push(FromHost::Disk { words: "open".to_owned(), outcome, calls });
        if self.disk.is_fenced() {
            self.end(None);
            return Ok(());
        }
        booted.map_err(|word| format!("the engine refused to start: its store answered {word}"))?;
        self.look();
        Ok(())
    }

    fn kill(&mut self, ending: Ending) {
        if self.shell.is_some() {
            self.end((ending == Ending::PowerLost).then(PowerLoss::default));
        }
    }

    fn arm(&mut self, fault: Fault) -> Result<(), String> {
        match fault {
            Fault::Kill { at: Place::Effect(number), after } => {
                let mut kills = self.kills.borrow_mut();
                let side = if after { &mut kills.after } else { &mut kills.before };
                side.insert(number);
            }
            Fault::Kill { at: Place::DiskCall(number), after } => self.disk.arm(number + u64::from(after), Outcome::Kill),
            Fault::Disk { call, outcome } => self.disk.arm(call, outcome),
            Fault::PowerLoss { sync, torn } => {
                self.losses.insert(sync, torn);
                self.disk.arm_sync(sync, Outcome::Kill);
            }
        }
        Ok(())
    }

    fn ended(&mut self) -> Result<Option<Ending>, String> {
        if self.leaked {
            return Err("the engine's disk changed after its kill: the fence leaks".to_owned());
        }
        Ok(self.ended.take())
    }

    fn is_running(&self) -> bool {
        self.shell.is_some()
    }

    fn reached(&self) -> Reached {
        Reached { disk_calls: self.disk.calls(), syncs: self.disk.syncs(), ..self.reached.clone() }
    }

    fn store_digest(&self) -> Option<String> {
        Some(self.disk.image().digest())
    }

    fn take(&mut self, clock: Clock, happening: ForHost) {
        self.clock.set(clock);
        let Some(shell) = &mut self.shell else { return };
        let input = match happening {
            ForHost::Create(setup) => Input::Create(translate::spec(setup)),
            ForHost::Claim { chat, cwd } => Input::Claim { chat, cwd },
            ForHost::Call { id, call } => translate::call(id, call),
            ForHost::User(action) => translate::user(action),
            ForHost::Spawned { proc, pid } => Input::Spawned { proc: ProcId(proc), result: pid.ok_or(SpawnError::NotInstalled) },
            ForHost::File { proc, content } => Input::File { proc: ProcId(proc), content },
            ForHost::Bytes { proc, pipe, bytes } => Input::Bytes { proc: ProcId(proc), pipe: translate::pipe(pipe), bytes },
            ForHost::End { proc, pipe } => Input::End { proc: ProcId(proc), pipe: translate::pipe(pipe) },
            ForHost::Exit { proc, code, signal } => Input::Exit { proc: ProcId(proc), status: ExitStatus { code, signal } },
        };
        shell.deliver(input);
        self.look();
    }

    fn shows(&self, of: &str, given: &serde_json::Value) -> Result<serde_json::Value, String> {
        views::value(of, given)
    }

    fn wants(&mut self) -> Vec<FromHost> {
        let mut wants = std::mem::take(&mut self.left);
        if let Some(shell) = &mut self.shell {
            wants.append(&mut shell.platform().wants);
        }
        wants
    }

    fn deadline(&self) -> Option<u64> {
        self.shell.as_ref()?.core().deadline()
    }

    fn timers(&self) -> Option<Vec<Timer>> {
        let Some(shell) = &self.shell else { return Some(Vec::new()) };
        let rows = shell.core().timers();
        Some(rows.map(|(deadline, key)| Timer { deadline, class: format!("{:?}", key.class), key: key.to_string() }).collect())
    }

    fn unflushed(&self, chat: &str) -> bool {
        let Some(shell) = &self.shell else { return true };
        shell.core().timers().any(|(_, key)| key.name == "flush" && key.owner == chat)
    }

    fn owes_writes(&self) -> bool {
        self.shell.as_ref().is_none_or(|shell| shell.core().timers().any(|(_, key)| key.name == "storage-retry"))
    }

    fn ends_requests(&self, timer: &str) -> bool {
        timer.contains("/control-deadline/")
    }

    fn fire(&mut self, clock: Clock) -> Option<String> {
        self.clock.set(clock);
        let key = self.shell.as_mut()?.fire_due().map(|key| key.to_string());
        self.look();
        key
    }

    fn leases(&self) -> Vec<HostProc> {
        self.shell.iter().flat_map(|shell| shell.core().leases()).map(|proc| proc.0).collect()
    }
}
