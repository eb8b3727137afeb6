//! Who plays: the understudies of a run, made from captures.
//!
//! An understudy is the provider's protocol model with the script of a capture: what the model and the tools did. A raw scene
//! is played from tape, since its host lines are the recording's own.

use std::{rc::Rc, sync::Arc};

use captures::{
    catalog::Catalog,
    format::Capture,
    ids::{Reissue, Roles},
};
use fake_clis::{
    claude::{Claude, script::reduce},
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
}

impl Casting {
    /// A casting over the captures of `catalog`.
    ///
    /// # Errors
    /// A capture that does not parse, or SQLite refuses the schema of the engine's store.
    pub fn new(catalog: Catalog) -> anyhow::Result<Self> {
        Ok(Casting { verifier: Verifier::new(catalog)?, store: host::engine::template()? })
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
            let (profile, script) = (self.verifier.profile(&capture.header.version), reduce(&capture));
            Rc::new(move |launch| Box::new(Claude::new(launch, Arc::clone(&profile), script.clone())))
        };
        CastMember { capture, make, edits }
    }

    /// The same for a process that is not the first of its run: its model, tools and requests have ids of their own.
    pub fn later_member(
        &self,
        capture: Arc<Capture>,
        edits: Vec<scenarios::scenario::Edit>,
        raw: bool,
        number: usize,
    ) -> CastMember {
        let recorded = self.member(Arc::clone(&capture), edits, raw);
        if raw {
            return recorded;
        }
        let profile = self.verifier.profile(&capture.header.version);
        let tape = Arc::clone(&capture);
        let make = move |launch: Launch| -> Box<dyn Understudy> {
            // Made when the process starts: most runs never start a second one.
            let mut random = ChaCha8Rng::seed_from_u64(number as u64);
            let fresh = Reissue::new(&Roles::of(&tape), &mut || random.next_u64()).capture(&tape);
            Box::new(Claude::new(launch, Arc::clone(&profile), reduce(&fresh)))
        };
        CastMember { make: Rc::new(make), ..recorded }
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
