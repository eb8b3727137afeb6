//! `rehearsal captures diff A B`.

use captures::diff::{Change, Diff, Field, Moved, StreamDiff, diff};
use reports::ExitCode;

use super::{
    super::{Sources, print, world::Which},
    Failure, find,
};

/// How the difference is printed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// One JSON object.
    Json,
}

/// Say what differs between two captures, per stream: kinds of frames, their fields, their order.
///
/// Ids are paired and what varies from run to run (times, durations) is left out. Exit 0 when nothing differs, else 1.
#[derive(Debug, clap::Args)]
pub struct DiffCommand {
    /// A file, `SCENE@VERSION`, or a scene in its newest version.
    a: String,
    /// What it is compared with.
    b: String,
    /// The provider, or one version of it, where a name alone says too little.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    /// How to print it.
    #[arg(long, default_value = "human")]
    format: Format,
    #[command(flatten)]
    sources: Sources,
}

impl DiffCommand {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let (a, b) =
            (find(&self.a, self.provider.as_ref(), &self.sources)?, find(&self.b, self.provider.as_ref(), &self.sources)?);
        if a.header.provider != b.header.provider {
            return Err(Failure::usage(format!(
                "{} is {}'s and {} is {}'s: expected two captures of one provider",
                self.a, a.header.provider, self.b, b.header.provider
            )));
        }
        let found = diff(&a, &b);
        match self.format {
            Format::Human => print(&human(&found)),
            Format::Json => {
                let mut json = serde_json::json!({"schema_version": 1, "equal": found.equal()});
                let rest = serde_json::to_value(&found).map_err(anyhow::Error::from)?;
                if let (Some(json), serde_json::Value::Object(rest)) = (json.as_object_mut(), rest) {
                    json.extend(rest);
                }
                print(&json.to_string());
            }
        }
        Ok(if found.equal() { ExitCode::Conforms } else { ExitCode::Failed })
    }
}

fn human(diff: &Diff) -> String {
    let name = |side: &captures::diff::Side| format!("{}@{} {}", side.provider, side.version, side.scene);
    let mut page = format!("--- {}\n+++ {}\n", name(&diff.left), name(&diff.right));
    if diff.equal() {
        page.push_str("equal, per stream\n");
    }
    for StreamDiff { stream, kinds, fields, order } in &diff.streams {
        page.push_str(&format!("\n{stream}\n"));
        for kind in kinds {
            let sign = match (kind.left, kind.right) {
                (0, _) => "+",
                (_, 0) => "-",
                _ => "~",
            };
            page.push_str(&format!("  {sign} {}: {} frames, then {}\n", kind.kind, kind.left, kind.right));
        }
        for field in fields {
            page.push_str(&format!("  {}\n", field_words(field)));
        }
        for moved in order {
            page.push_str(&format!("  {}\n", moved_words(moved)));
        }
    }
    page
}

fn field_words(field: &Field) -> String {
    let Field { kind, path, change, frames, left, right } = field;
    let times = if *frames == 1 { String::new() } else { format!(" ({frames} frames)") };
    let value = |value: &Option<String>| value.clone().unwrap_or_default();
    match change {
        Change::Added => format!("+ {kind} {path}: {}{times}", value(right)),
        Change::Removed => format!("- {kind} {path}: {}{times}", value(left)),
        Change::Changed => format!("~ {kind} {path}: {} -> {}{times}", value(left), value(right)),
    }
}

fn moved_words(moved: &Moved) -> String {
    let after = |kind: &Option<String>| kind.as_ref().map_or_else(|| "first".to_owned(), |kind| format!("after {kind}"));
    format!("> {}: {}, then {}", moved.kind, after(&moved.left_after), after(&moved.right_after))
}
