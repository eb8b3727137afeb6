//! Who plays: the understudies of a run, made from captures.
//!
//! An understudy is the provider's protocol model with the script of a capture: what the model and the tools did. A raw scene
//! is played from tape, since its host lines are the recording's own.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};

use captures::{
    catalog::Catalog,
    format::Capture,
    ids::{Reissue, Roles},
};
use fake_clis::{
    claude::{
        Claude,
        script::{Script, reduce},
    },
    drive::MemoryFiles,
    tape::Tape,
    understudy::{Launch, Understudy},
    verify::Verifier,
};

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

use crate::{host, stage::run::CastMember, world::disk::Image};

/// Makes cast members, and keeps what all of one version share.
pub struct Casting {
    verifier: Verifier,
    store: Image,
    /// Scripts made so far, by capture and number of the process: a sweep plays the same ones thousands of times.
    scripts: RefCell<BTreeMap<(usize, usize), Reduced>>,
}

/// A capture and what it was reduced to; the capture is held so that no other one takes its place in memory.
type Reduced = (Arc<Capture>, Rc<Script>);

impl Casting {
    /// A casting over the captures of `catalog`.
    ///
    /// # Errors
    /// A capture that does not parse, or SQLite refuses the schema of the engine's store.
    pub fn new(catalog: Catalog) -> anyhow::Result<Self> {
        Ok(Casting { verifier: Verifier::new(catalog)?, store: host::engine::template()?, scripts: RefCell::default() })
    }

    /// The disk that the engine of each run starts from.
    pub fn store(&self) -> &Image {
        &self.store
    }

    /// The captures.
    pub fn catalog(&self) -> &Catalog {
        self.verifier.catalog()
    }

    /// A process that plays `capture`.
    pub fn member(&self, capture: Arc<Capture>, edits: Vec<scenarios::scenario::Edit>, raw: bool) -> CastMember {
        let make: Rc<dyn Fn(Launch) -> Box<dyn Understudy>> = if raw {
            let tape = Arc::clone(&capture);
            Rc::new(move |launch| Box::new(Tape::raw(Arc::clone(&tape), launch)))
        } else {
            let profile = self.verifier.profile(&capture.header.version);
            let script = self.script(&capture, 0, || reduce(&capture));
            Rc::new(move |launch| Box::new(Claude::new(launch, Arc::clone(&profile), Script::clone(&script))))
        };
        CastMember { capture, make, edits }
    }

    fn script(&self, capture: &Arc<Capture>, number: usize, make: impl FnOnce() -> Script) -> Rc<Script> {
        let key = (Arc::as_ptr(capture) as usize, number);
        let known = self.scripts.borrow().get(&key).map(|(_, script)| Rc::clone(script));
        known.unwrap_or_else(|| {
            let script = Rc::new(make());
            self.scripts.borrow_mut().insert(key, (Arc::clone(capture), Rc::clone(&script)));
            script
        })
    }

    /// The same for a process that is not the first of its run: its model, tools and requests have ids of their own.
    pub fn later_member(
        &self,
        capture: Arc<Capture>,
        edits: Vec<scenarios::scenario::Edit>,
        raw: bool,
        number: usize,
    ) -> CastMember {
        if raw {
            return self.member(capture, edits, raw);
        }
        let profile = self.verifier.profile(&capture.header.version);
        let script = self.script(&capture, number, || {
            let mut random = ChaCha8Rng::seed_from_u64(number as u64);
            reduce(&Reissue::new(&Roles::of(&capture), &mut || random.next_u64()).capture(&capture))
        });
        let make: Rc<dyn Fn(Launch) -> Box<dyn Understudy>> =
            Rc::new(move |launch| Box::new(Claude::new(launch, Arc::clone(&profile), Script::clone(&script))));
        CastMember { capture, make, edits }
    }

    /// The files that the world held when the capture was recorded: a session that it resumes was written before.
    pub fn files(&self, capture: &Capture) -> MemoryFiles {
        self.more_files(capture, MemoryFiles::default())
    }

    /// The same on top of what is there.
    pub fn more_files(&self, capture: &Capture, mut files: MemoryFiles) -> MemoryFiles {
        self.verifier.lay_out(capture, &mut files);
        files
    }
}
