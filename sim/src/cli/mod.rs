//! The command line: what a CI job, a developer and whoever upgrades a provider type.

mod captures;
mod check;
mod determinism;
mod explain;
mod failure;
mod fakes;
mod list;
mod rows;
mod run;
mod schema;
mod world;

use std::{io::Write, path::PathBuf};

use clap::{Parser, Subcommand};
use reports::ExitCode;

pub use failure::Failure;

/// Rehearses hosts of coding-agent CLIs: recorded provider frames, a clock and an order of its own, invariants that judge.
#[derive(Debug, Parser)]
#[command(name = "rehearsal", version, about, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 conforms · 1 violated, off-script or engine panicked · 2 usage, or a file that does not \
parse · 3 the harness's own fault · 4 nothing ran · 5 stale baseline · 6 nondeterminism · 7 liveness. When several apply: \
3 > 2 > 6 > 1 > 7 > 5 > 4.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the library and every capture, or part of it: the CI gate.
    Check(check::Check),
    /// Run one scenario, or the one that a capture implies.
    Run(run::Run),
    /// List scenarios, scenes, invariants; or regression rows and who guards them.
    List(list::List),
    /// Say what a scenario, an invariant or a regression row is about.
    Explain(explain::Explain),
    /// Recordings: import, verify, list, show, diff, tee.
    #[command(subcommand)]
    Captures(captures::Captures),
    /// Put understudies into a directory for a PATH.
    Fakes(fakes::Fakes),
    /// Say what a host did that the real CLI would reject.
    Breaches(fakes::Breaches),
    /// Print the JSON Schema of a format.
    Schema(schema::Schema),
}

/// Where scenarios and captures come from besides what is built in.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Sources {
    /// Also read the scenarios below this directory.
    #[arg(long, value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Also read the captures below this directory.
    #[arg(long, value_name = "DIR")]
    captures: Vec<PathBuf>,
}

impl Sources {
    /// As a command line says them.
    fn arguments(&self) -> Vec<String> {
        let named = |name: &str, paths: &[PathBuf]| {
            paths.iter().flat_map(|path| [name.to_owned(), path.display().to_string()]).collect::<Vec<_>>()
        };
        [named("--library", &self.library), named("--captures", &self.captures)].concat()
    }
}

/// Runs the command of this process.
pub fn main() -> std::process::ExitCode {
    if let Some(code) = fakes::as_understudy() {
        return code;
    }
    // A reader that went away ends the output, not with a panic's words.
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { ExitCode::Usage } else { ExitCode::Conforms };
            let _ = error.print();
            return code.into();
        }
    };
    let done = match arguments.command {
        Command::Check(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Captures(command) => command.run(),
        Command::Fakes(command) => command.run(),
        Command::Breaches(command) => command.run(),
        Command::Schema(command) => command.run(),
    };
    match done {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.report();
            failure.code().into()
        }
    }
}

/// Prints a page on stdout; a reader that went away (SIGPIPE) is no fault.
fn print(page: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(page.as_bytes());
    if !page.ends_with('\n') {
        let _ = out.write_all(b"\n");
    }
    let _ = out.flush();
}

/// Columns of the terminal, or what a page without one is written for.
fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(reports::human::DEFAULT_WIDTH)
}

/// Whether stdout takes colours.
fn colour() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}
