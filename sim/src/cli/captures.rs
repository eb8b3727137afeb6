//! `rehearsal captures`: recordings.

mod diff;
mod import;
mod tee;

use std::{path::Path, sync::Arc};

use captures::{catalog::Catalog, format::Capture, provider::Provider, summary, verify};
use reports::ExitCode;

use super::{Failure, Sources, print, world::Which};

/// Recordings: import, verify, list, show, diff, tee.
#[derive(Debug, clap::Subcommand)]
pub enum Captures {
    /// Turn logs, transcripts and recordings of other tools into captures.
    Import(import::Import),
    /// Check captures: their own format and ids, or the protocol model against them.
    Verify(Verify),
    /// List the captures that there are.
    List(Listing),
    /// Show one capture, a line an entry.
    Show(Show),
    /// Say what differs between two captures; exit 0 when nothing does, else 1.
    Diff(diff::DiffCommand),
    /// Stand between a host and a CLI and write a capture of what they say.
    Tee(tee::Tee),
}

impl Captures {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Captures::Import(command) => command.run(),
            Captures::Verify(command) => command.run(),
            Captures::List(command) => command.run(),
            Captures::Show(command) => command.run(),
            Captures::Diff(command) => command.run(),
            Captures::Tee(command) => command.run(),
        }
    }
}

/// What a capture is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Its own format and ids.
    Tape,
    /// The protocol model, which has to reproduce it per stream.
    Model,
}

/// Check captures.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Scenes or files; all when none is named.
    names: Vec<String>,
    /// What they are checked against.
    #[arg(long, default_value = "tape")]
    mode: Mode,
    /// Only this provider, or one version of it.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    #[command(flatten)]
    sources: Sources,
}

impl Verify {
    fn run(self) -> Result<ExitCode, Failure> {
        let catalog = open(&self.sources)?;
        let mut captures = Vec::new();
        for name in self.names.iter().filter(|name| name.ends_with(".ndjson")) {
            let text = read(Path::new(name))?;
            captures.push(captures::format::parse(name, &text).map_err(|error| Failure::usage(error.to_string()))?);
        }
        let scenes: Vec<&String> = self.names.iter().filter(|name| !name.ends_with(".ndjson")).collect();
        for capture in all(&catalog)? {
            let piece = crate::suite::Piece::Capture(capture.clone());
            let named = scenes.iter().any(|scene| **scene == capture.header.scene);
            if (self.names.is_empty() || named) && self.provider.as_ref().is_none_or(|which| which.takes(&piece)) {
                captures.push(Capture::clone(&capture));
            }
        }
        if captures.is_empty() {
            return Err(Failure::usage("no capture has this name; `rehearsal captures list` shows what there is"));
        }
        let page = match self.mode {
            Mode::Tape => tape(&captures),
            Mode::Model => model(catalog, &captures)?,
        };
        print(&page.0);
        Ok(if page.1 == 0 { ExitCode::Conforms } else { ExitCode::Failed })
    }
}

/// The page, and how many captures have a finding.
fn tape(captures: &[Capture]) -> (String, usize) {
    let (mut page, mut bad) = (String::new(), 0);
    for capture in captures {
        let findings = verify::tape(capture);
        bad += usize::from(!findings.is_empty());
        for finding in findings {
            page.push_str(&format!("{}: {}: {}\n", name(capture), finding.rule, finding.problem));
        }
    }
    page.push_str(&format!("{} captures, {} with findings\n", captures.len(), bad));
    (page, bad)
}

fn model(catalog: Catalog, captures: &[Capture]) -> Result<(String, usize), Failure> {
    let verifier = fake_clis::verify::Verifier::new(catalog).map_err(|error| Failure::usage(error.to_string()))?;
    let (mut page, mut bad, mut taped) = (String::new(), 0, 0);
    for capture in captures {
        let report = verifier.model(capture);
        taped += report.taped.values().sum::<u64>();
        if !report.equal() {
            bad += 1;
            page.push_str(&format!("{}:\n", name(capture)));
            for difference in &report.differences {
                page.push_str(&format!("  {}\n", difference_words(difference)));
            }
        }
    }
    page.push_str(&format!(
        "{} captures: {} reproduced by the protocol model per stream, {bad} not; {taped} frames taken from tape\n",
        captures.len(),
        captures.len() - bad
    ));
    Ok((page, bad))
}

/// A difference in one line.
fn difference_words(difference: &fake_clis::verify::Difference) -> String {
    let fake_clis::verify::Difference { stream, index, path, expected, actual } = difference;
    format!("{stream}[{index}] {path}: recorded {expected}, the model said {actual}")
}

/// List the captures that there are.
#[derive(Debug, clap::Args)]
pub struct Listing {
    /// Only this provider, or one version of it.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    #[command(flatten)]
    sources: Sources,
}

impl Listing {
    fn run(self) -> Result<ExitCode, Failure> {
        let catalog = open(&self.sources)?;
        let mut page = String::new();
        for capture in all(&catalog)? {
            let piece = crate::suite::Piece::Capture(capture.clone());
            if self.provider.as_ref().is_none_or(|which| which.takes(&piece)) {
                let summary = summary::summary(&capture);
                page.push_str(&format!(
                    "{:60} {:>4} host {:>4} cli {:>7.0} ms\n",
                    name(&capture),
                    summary.host_frames,
                    summary.cli_frames,
                    summary.duration_ms
                ));
            }
        }
        print(&page);
        Ok(if page.is_empty() { ExitCode::NothingRan } else { ExitCode::Conforms })
    }
}

/// Show one capture, a line an entry.
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Name of the scene, or a file.
    scene: String,
    /// The provider, or one version of it; else the newest that has the scene.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    #[command(flatten)]
    sources: Sources,
}

impl Show {
    fn run(self) -> Result<ExitCode, Failure> {
        let capture = find(&self.scene, self.provider.as_ref(), &self.sources)?;
        let labels = capture.labels();
        let mut page = format!("{}\n", name(&capture));
        for (entry, label) in capture.entries.iter().zip(labels) {
            let what = match &entry.what {
                captures::format::What::Frame(frame) if entry.from == captures::format::From::Host => {
                    crate::stage::brief::line(frame)
                }
                captures::format::What::Frame(frame) => crate::stage::brief::frame(frame),
                other => format!("{other:?}"),
            };
            let label = label.unwrap_or_default();
            page.push_str(&format!("{:>10.1} {:5} {label:24} {what}\n", entry.at_ms, entry.from.name()));
        }
        print(&page);
        Ok(ExitCode::Conforms)
    }
}

fn name(capture: &Capture) -> String {
    let header = &capture.header;
    format!("{}-{}/{}", header.provider, header.version, header.scene)
}

/// The capture that a name means: a file, `SCENE@VERSION`, or the newest of that scene.
fn find(named: &str, provider: Option<&Which>, sources: &Sources) -> Result<Arc<Capture>, Failure> {
    if named.contains('/') || named.ends_with(".ndjson") {
        let text = read(Path::new(named))?;
        return Ok(Arc::new(captures::format::parse(named, &text).map_err(|error| Failure::usage(error.to_string()))?));
    }
    let (scene, version) = named.split_once('@').map_or((named, None), |(scene, version)| (scene, Some(version)));
    let all = all(&open(sources)?)?;
    let found = all.iter().rev().find(|capture| {
        let piece = crate::suite::Piece::Capture(Arc::clone(capture));
        capture.header.scene == scene
            && version.is_none_or(|version| capture.header.version == version)
            && provider.is_none_or(|which| which.takes(&piece))
    });
    found.cloned().ok_or_else(|| {
        let names: Vec<String> = all
            .iter()
            .map(|capture| if version.is_some() { at_version(capture) } else { capture.header.scene.clone() })
            .collect();
        let near = scenarios::nearest::nearest(named, names.iter().map(String::as_str));
        let advice = near.map_or(String::new(), |name| format!(" Did you mean `{name}`?"));
        Failure::usage(format!("there is no scene `{named}`.{advice} `rehearsal captures list` shows what there is"))
    })
}

fn at_version(capture: &Capture) -> String {
    format!("{}@{}", capture.header.scene, capture.header.version)
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("failed to read {}: {error}; check the path", file.display())))
}

fn open(sources: &Sources) -> Result<Catalog, Failure> {
    sources
        .captures
        .iter()
        .try_fold(Catalog::embedded(), |catalog, dir| catalog.with_dir(dir).map_err(|error| Failure::usage(error.to_string())))
}

fn all(catalog: &Catalog) -> Result<Vec<Arc<Capture>>, Failure> {
    let mut captures = Vec::new();
    for provider in Provider::ALL {
        for version in catalog.versions(provider) {
            for scene in catalog.scenes(provider, version) {
                captures.push(catalog.get(provider, version, scene).map_err(|error| Failure::usage(error.to_string()))?);
            }
        }
    }
    Ok(captures)
}
