//! Who plays: the understudies of a run, made from captures.

use std::sync::Arc;

use captures::{
    catalog::Catalog,
    format::{Capture, From, What},
    provider::Provider,
};
use fake_clis::{
    tape::Tape,
    understudy::{Launch, Understudy},
};
use serde_json::Value;

use crate::stage::run::CastMember;

/// Scene whose recorded answer to `initialize` serves every tape of its version.
const INITIALIZE_SCENE: &str = "initialize-without-turn";

/// Makes cast members, and keeps what all of one version share.
pub struct Casting<'a> {
    catalog: &'a Catalog,
}

impl<'a> Casting<'a> {
    /// A casting over the captures of `catalog`.
    pub fn new(catalog: &'a Catalog) -> Self {
        Casting { catalog }
    }

    /// A process that plays `capture`.
    pub fn member(&self, capture: Arc<Capture>, edits: Vec<scenarios::scenario::Edit>, raw: bool) -> CastMember {
        let initialize = self.initialize(capture.header.provider, &capture.header.version);
        let tape = Arc::clone(&capture);
        let make = move |launch: Launch| -> Box<dyn Understudy> {
            let (tape, initialize) = (Arc::clone(&tape), initialize.clone());
            Box::new(if raw { Tape::raw(tape, launch, initialize) } else { Tape::new(tape, launch, initialize) })
        };
        CastMember { capture, make: Arc::new(make), edits }
    }

    fn initialize(&self, provider: Provider, version: &str) -> Option<Value> {
        let capture = self.catalog.get(provider, version, INITIALIZE_SCENE).ok()?;
        capture.entries.iter().find_map(|entry| match (&entry.from, &entry.what) {
            (From::Cli, What::Frame(frame)) if frame["type"] == "control_response" => Some(frame["response"]["response"].clone()),
            _ => None,
        })
    }
}
