//! `rehearsal explain`: what a scenario, an invariant or a regression row is about.

use captures::catalog::Catalog;
use reports::ExitCode;

use super::{Failure, Sources, print, rows, world::World};
use crate::{
    invariants,
    stage::implied,
    suite::{CAPTURES, Piece},
};

/// Say what a scenario, an invariant or a regression row is about.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// Id of a scenario, of `captures/SCENE`, of an invariant or of a regression row.
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
        if let Some(page) = rows::explain(&world, &self.id)? {
            print(&page);
            return Ok(ExitCode::Conforms);
        }
        if let Some(scenario) = world.library.iter().find(|scenario| scenario.id == self.id) {
            let mut page = format!("{}\n\n{}\n\n", scenario.title, scenario.why);
            let (table, judges) = (rows::table()?, invariants::all());
            for guard in &scenario.guards {
                let judge = judges.iter().find(|judge| judge.id() == guard.value).map(|judge| judge.words());
                let words = judge.or_else(|| table.get(&guard.value).map(|row| row.title.as_str()));
                page.push_str(format!("guards {:5}  {}", guard.value, words.unwrap_or_default()).trim_end());
                page.push('\n');
            }
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
        ids.extend(rows::table()?.list().map(|row| row.id.clone()));
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
