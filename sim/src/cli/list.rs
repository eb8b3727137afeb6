//! `rehearsal list`: what there is.

use reports::ExitCode;

use super::{
    Failure, Sources, print,
    rows::{self, ListFormat},
    world::World,
};
use crate::invariants;

/// List scenarios, scenes and invariants, or regression rows.
#[derive(Debug, clap::Args)]
pub struct List {
    /// Only what has one of these in its id.
    filter: Vec<String>,
    /// List the regression rows and who guards them.
    #[arg(long)]
    rows: bool,
    /// How to write the rows.
    #[arg(long, value_enum, default_value_t, requires = "rows")]
    format: ListFormat,
    #[command(flatten)]
    sources: Sources,
}

impl List {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let world = World::open(&self.sources)?;
        let wanted = |id: &str| self.filter.is_empty() || self.filter.iter().any(|filter| id.contains(filter.as_str()));
        if self.rows {
            return rows::list(&world, self.format, wanted);
        }
        let mut lines: Vec<(String, String, String)> = Vec::new();
        for piece in world.pieces()? {
            let id = piece.id();
            let (provider, version) = piece.played_by();
            let version = format!("{provider}@{version}");
            match lines.iter_mut().find(|(known, ..)| *known == id) {
                Some((_, versions, _)) => {
                    versions.push(' ');
                    versions.push_str(&version);
                }
                None => lines.push((id, version, piece.title().unwrap_or_default().to_owned())),
            }
        }
        lines.retain(|(id, ..)| wanted(id));
        for invariant in invariants::all() {
            if wanted(invariant.id()) {
                lines.push((invariant.id().to_owned(), "invariant".to_owned(), invariant.words().to_owned()));
            }
        }
        let widths = [lines.iter().map(|line| line.0.len()).max(), lines.iter().map(|line| line.1.len()).max()];
        let [ids, versions] = widths.map(Option::unwrap_or_default);
        let page: String = lines
            .iter()
            .map(|(id, version, title)| format!("{id:ids$}  {version:versions$}  {title}").trim_end().to_owned() + "\n")
            .collect();
        print(&page);
        Ok(if lines.is_empty() { ExitCode::NothingRan } else { ExitCode::Conforms })
    }
}
