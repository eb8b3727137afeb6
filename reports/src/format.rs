//! The formats `--format` knows.

use std::fmt;
use std::str::FromStr;

use crate::model::SuiteReport;
use crate::{github, human, json, junit, markdown};

/// For whom a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A person at a terminal or in a CI log.
    #[default]
    Human,
    /// A program.
    Json,
    /// A CI server that collects test results.
    Junit,
    /// Annotations on a GitHub pull request.
    Github,
    /// A GitHub step summary, or any page that takes Markdown.
    Markdown,
}

/// A format nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to choose a format: {given:?} is none; use one of human, json, junit, github, markdown")]
pub struct UnknownFormat {
    /// What was asked for.
    pub given: String,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Human, Self::Json, Self::Junit, Self::Github, Self::Markdown];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Github => "github",
            Self::Markdown => "markdown",
        }
    }

    /// The report in this format, with a line break at its end. Only [`Format::Human`] looks at the options.
    pub fn render(self, report: &SuiteReport, options: &human::Options) -> String {
        match self {
            Self::Human => human::render_with(report, options),
            Self::Json => json::render(report),
            Self::Junit => junit::render(report),
            Self::Github => github::render(report),
            Self::Markdown => markdown::render(report),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(given: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == given).ok_or_else(|| UnknownFormat { given: given.to_owned() })
    }
}
