//! Why a command could not do its work, and the exit code for it.

use reports::ExitCode;

/// A command that failed before it could judge anything.
#[derive(Debug)]
pub enum Failure {
    /// Wrong arguments: what was given, what there is.
    Usage(String),
    /// A file that does not parse, shown with the place.
    File(miette::Report),
    /// The harness's own fault.
    Harness(anyhow::Error),
}

impl Failure {
    /// A wrong argument.
    pub fn usage(words: impl Into<String>) -> Self {
        Failure::Usage(words.into())
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) | Failure::File(_) => ExitCode::Usage,
            Failure::Harness(_) => ExitCode::HarnessFault,
        }
    }

    /// Says it on stderr.
    pub fn report(&self) {
        match self {
            Failure::Usage(words) => anstream::eprintln!("error: {words}"),
            Failure::File(report) => anstream::eprintln!("{report:?}"),
            Failure::Harness(error) => anstream::eprintln!("error: the harness failed: {error:#}"),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Harness(error)
    }
}
