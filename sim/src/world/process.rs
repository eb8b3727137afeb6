//! One process of the world: an understudy, its labels, what it has said and what is held back.

use std::collections::{BTreeMap, VecDeque};

use captures::{format::Exit, labels::Counter};
use fake_clis::understudy::{Launch, Output, Understudy};

use crate::{host::HostProc, stage::changes::Changes};

/// Capacity of a pipe, bytes: what the kernel keeps between a writer and a reader that does not read.
pub const PIPE_BYTES: usize = 65_536;

/// Records that come together, or in another order.
pub struct Gathering {
    /// The label that ends it.
    pub until: String,
    /// True for a swap, false for a join into one read.
    pub swaps: bool,
    /// What was said since, the first one included: label, record, genuine.
    pub said: Vec<(String, String, bool)>,
}

/// A process.
pub struct Process {
    /// The host's number for it.
    pub proc: HostProc,
    /// Process id of the world.
    pub pid: u32,
    /// Name in reports and plans: `claude`, the second one `claude#2`.
    pub name: String,
    /// The chat it serves.
    pub chat: String,
    /// How it was launched.
    pub launch: Launch,
    /// Who plays it.
    pub understudy: Box<dyn Understudy>,
    /// Numbers its frames.
    pub labels: Counter,
    /// Beats said so far.
    pub beats: u32,
    /// When each label was given to the host, ms.
    pub said: BTreeMap<String, u64>,
    /// What the scenario and the plan change of its recorded order.
    pub changes: Changes,
    /// The hold that is in force.
    pub held_at: Option<String>,
    /// Outputs that wait behind a hold.
    pub waiting: VecDeque<Output>,
    /// A swap or join in progress: the label that ends it, and what was said since it began.
    pub gathering: Option<Gathering>,
    /// How much later everything comes, ms.
    pub late: u64,
    /// Timers of the understudy: number → due, ms.
    pub timers: BTreeMap<u64, u64>,
    /// Ended: how.
    pub exit: Option<Exit>,
    /// stdout ended.
    pub stdout_closed: bool,
    /// stdin was closed by the host.
    pub stdin_closed: bool,
    /// Does not read stdin any more; what the host writes stays in the pipe.
    pub deaf: bool,
    /// Its host is gone: nobody reads what it says, nobody writes to it, nobody reaps it.
    pub orphan: bool,
}

impl Process {
    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        self.exit.is_none()
    }
}
