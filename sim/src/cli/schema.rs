//! `rehearsal schema`: the JSON Schema of each format.

use reports::ExitCode;

use super::{Failure, print};

/// A format.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Which {
    /// A scenario file.
    Scenario,
    /// A plan file.
    Plan,
    /// A file of regression rows.
    Rows,
    /// The report of `--format json`.
    Report,
    /// The host view that invariants read, for adapters of other hosts.
    View,
}

/// Print the JSON Schema of a format.
#[derive(Debug, clap::Args)]
pub struct Schema {
    /// Which format.
    format: Which,
}

impl Schema {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let schema = match self.format {
            Which::Scenario => serde_json::to_value(scenarios::schema::scenario()),
            Which::Plan => serde_json::to_value(scenarios::schema::plan()),
            Which::Rows => serde_json::to_value(scenarios::schema::rows()),
            Which::Report => Ok(reports::json::schema()),
            Which::View => serde_json::to_value(schemars::schema_for!(crate::view::HostView)),
        };
        let page = schema.and_then(|schema| serde_json::to_string_pretty(&schema)).map_err(anyhow::Error::from)?;
        print(&page);
        Ok(ExitCode::Conforms)
    }
}
