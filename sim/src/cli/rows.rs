//! Regression rows on a page: `list --rows`, and what `explain` says of one.

use reports::ExitCode;
use scenarios::Rows;
use serde::Serialize;

use super::{Failure, print, world::World};
use crate::{
    invariants,
    rows::{self, Guarded},
    suite::CAPTURES,
};

/// The version of the list as JSON.
const VERSION: u32 = 1;

/// How a list is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ListFormat {
    /// Aligned lines for a person.
    #[default]
    Human,
    /// For a program.
    Json,
}

#[derive(Serialize)]
struct Page {
    schema_version: u32,
    rows: Vec<Guarded>,
}

/// The table that is built in.
pub fn table() -> Result<Rows, Failure> {
    Rows::embedded().map_err(|problems| Failure::File(problems.into()))
}

/// Lists the rows that `wanted` takes, each with its guards.
pub fn list(world: &World, format: ListFormat, wanted: impl Fn(&str) -> bool) -> Result<ExitCode, Failure> {
    let mut rows = rows::guarded(&table()?, &world.library);
    rows.retain(|row| wanted(&row.id));
    let code = if rows.is_empty() { ExitCode::NothingRan } else { ExitCode::Conforms };
    let page = match format {
        ListFormat::Json => serde_json::to_string_pretty(&Page { schema_version: VERSION, rows }).map_err(anyhow::Error::from)?,
        ListFormat::Human => rows.iter().map(entry).collect(),
    };
    print(&page);
    Ok(code)
}

/// A row and, below it, a line for each guard: what it is, and what to run or look for.
fn entry(row: &Guarded) -> String {
    let mut page = format!("{}  {}  {}\n", row.id, row.providers.join(" "), row.title);
    for guard in guards(row) {
        page.push_str(&format!("    {guard}\n"));
    }
    page
}

fn guards(row: &Guarded) -> Vec<String> {
    let scenarios = row.scenarios.iter().map(|id| format!("scenario  {id}"));
    let scenes = row.scenes.iter().map(|scene| format!("scene     {CAPTURES}{scene}"));
    let tests = row.tests.iter().map(|test| format!("test      {test}"));
    scenarios.chain(scenes).chain(tests).collect()
}

/// What `explain` says of a row; none when there is no such row.
pub fn explain(world: &World, id: &str) -> Result<Option<String>, Failure> {
    let table = table()?;
    let Some(row) = table.get(id) else { return Ok(None) };
    let row = rows::with_guards(row, &world.library);
    let mut page = format!("{}  {}\n\nproviders  {}\n", row.id, row.title, row.providers.join(" "));
    let judges = invariants::all();
    for judge in judges.iter().filter(|judge| row.invariants.iter().any(|id| id == judge.id())) {
        page.push_str(&format!("judged by  {}  {}\n", judge.id(), judge.words()));
    }
    if row.is_bare() {
        page.push_str("\nnothing guards it\n");
    } else {
        page.push('\n');
        for guard in guards(&row) {
            page.push_str(&format!("{guard}\n"));
        }
    }
    if let Some(id) = row.scenarios.first() {
        page.push_str(&format!("\nrehearsal run {id}\n"));
    } else if let Some(scene) = row.scenes.first() {
        page.push_str(&format!("\nrehearsal run --capture {scene}\n"));
    }
    Ok(Some(page))
}
