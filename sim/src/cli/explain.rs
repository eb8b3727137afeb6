//! `rehearsal explain`: what a scenario or an invariant is about.

use captures::catalog::Catalog;
use reports::ExitCode;

use super::{Failure, Sources, print, world::World};
use crate::{
    invariants,
    stage::implied,
    suite::{CAPTURES, Piece},
};

/// Say what a scenario or an invariant is about.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// Id of a scenario, of `captures/SCENE`, or of an invariant.
    id: String,
    #[command(flatten)]
    sources: Sources,
}

impl Explain {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        if let Some(invariant) = invariants::all().iter().find(|invariant| invariant.id().eq_ignore_ascii_case(&self.id)) {
            print(&format!("{}  {}", invariant.id(), invariant.words()));
            return Ok(ExitCode::Conforms);
        }
        let world = World::open(&self.sources)?;
        if let Some(scenario) = world.library.iter().find(|scenario| scenario.id == self.id) {
            let mut page = format!(
                "{}\n\n{}\n\nguards {}\n",
                scenario.title,
                scenario.why,
                scenario.guards.iter().map(|guard| guard.value.as_str()).collect::<Vec<_>>().join(" ")
            );
            if let Some(from) = &scenario.from {
                page.push_str(&format!("from {from}\n"));
            }
            page.push_str(&format!("\n{}", scenario.text()));
            print(&page);
            return Ok(ExitCode::Conforms);
        }
        if let Some(page) = self.id.strip_prefix(CAPTURES).and_then(|scene| about_scene(world.casting.catalog(), scene)) {
            print(&page);
            return Ok(ExitCode::Conforms);
        }
        let pieces = world.pieces()?;
        let mut ids: Vec<String> = pieces.iter().map(Piece::id).collect();
        ids.extend(invariants::all().iter().map(|invariant| invariant.id().to_owned()));
        let near = scenarios::nearest::nearest(&self.id, ids.iter().map(String::as_str));
        let advice = near.map_or(String::new(), |name| format!(" Did you mean `{name}`?"));
        Err(Failure::usage(format!("nothing here is called `{}`.{advice} `rehearsal list` shows what there is", self.id)))
    }
}

fn about_scene(catalog: &Catalog, scene: &str) -> Option<String> {
    let mut page = String::new();
    for listed in catalog.iter().filter(|listed| listed.scene == scene) {
        let capture = catalog.get(listed.provider, listed.version, listed.scene).ok()?;
        let summary = captures::summary::summary(&capture);
        let raw = implied::raw_reason(&capture).map_or(String::new(), |reason| format!("; raw: {reason}"));
        page.push_str(&format!(
            "{} {} {}: {} host lines, {} frames of the CLI{raw}\n",
            listed.provider, listed.version, scene, summary.host_frames, summary.cli_frames
        ));
    }
    (!page.is_empty()).then_some(page)
}
