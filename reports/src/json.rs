//! The report for programs: one JSON object, and its way back.

use serde_json::Value;

use crate::model::{SCHEMA_VERSION, SuiteReport};

/// A report that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no JSON, or not of the shape of a report.
    #[error("failed to read the report {file}:{}:{}: {source}; expected what `--format json` prints", source.line(), source.column())]
    Shape {
        /// The file.
        file: String,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// It is of another version of the format.
    #[error(
        "failed to read the report {file}: schema_version is {found}, expected {SCHEMA_VERSION}; write it again with this build"
    )]
    Version {
        /// The file.
        file: String,
        /// The version it says it has.
        found: String,
    },
}

/// One line of JSON with a line break at its end. Fields that have nothing to say are left out; `violations` never is.
pub fn render(report: &SuiteReport) -> String {
    let mut text = serde_json::to_string(report).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads what [`render`] wrote. `file` is the name used in messages.
///
/// # Errors
///
/// If the text is no JSON, holds a key nobody knows, lacks one, or is of another schema version.
pub fn read(text: &str, file: &str) -> Result<SuiteReport, ReadError> {
    let shape = |source| ReadError::Shape { file: file.to_owned(), source };
    // The version first: "unknown key" is a misleading answer to a report of the future.
    let value: Value = serde_json::from_str(text).map_err(shape)?;
    match value.get("schema_version") {
        Some(version) if *version != SCHEMA_VERSION => {
            Err(ReadError::Version { file: file.to_owned(), found: version.to_string() })
        }
        _ => serde_json::from_str(text).map_err(shape),
    }
}

/// The JSON Schema of a report.
pub fn schema() -> Value {
    schemars::schema_for!(SuiteReport).to_value()
}
