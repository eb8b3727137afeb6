//! `rehearsal captures`: recordings.

use std::path::{Path, PathBuf};

use captures::{catalog::Catalog, format::Capture, import, provider::Provider, summary, verify};
use reports::ExitCode;

use super::{Failure, Sources, print, world::Which};

/// Recordings: import, verify, list, show.
#[derive(Debug, clap::Subcommand)]
pub enum Captures {
    /// Turn recordings of other tools into captures.
    Import(Import),
    /// Check captures: their own format and ids, or the protocol model against them.
    Verify(Verify),
    /// List the captures that there are.
    List(Listing),
    /// Show one capture, a line an entry.
    Show(Show),
}

impl Captures {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Captures::Import(command) => command.run(),
            Captures::Verify(command) => command.run(),
            Captures::List(command) => command.run(),
            Captures::Show(command) => command.run(),
        }
    }
}

/// Turn recordings of other tools into captures.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// Files to read.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Directory to write to: `PROVIDER/VERSION/SCENE.ndjson` below it.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

impl Import {
    fn run(self) -> Result<ExitCode, Failure> {
        let mut page = String::new();
        for file in &self.files {
            let name = file.display().to_string();
            let text = read(file)?;
            let capture = import::recording(&name, &text).map_err(|error| Failure::usage(error.to_string()))?;
            let header = &capture.header;
            let target = self.output.join(header.provider.name()).join(&header.version).join(format!("{}.ndjson", header.scene));
            if target.exists() {
                return Err(Failure::usage(format!(
                    "failed to import {name}: {} exists already; remove it, or choose another --output",
                    target.display()
                )));
            }
            let write = || -> std::io::Result<()> {
                std::fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))?;
                std::fs::write(&target, captures::format::write(&capture))
            };
            write().map_err(|error| Failure::usage(format!("failed to write {}: {error}", target.display())))?;
            page.push_str(&format!("{name} -> {}: {} entries\n", target.display(), capture.entries.len()));
            for finding in verify::tape(&capture) {
                page.push_str(&format!("  {}: {}\n", finding.rule, finding.problem));
            }
        }
        print(&page);
        Ok(ExitCode::Conforms)
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
        let capture = if self.scene.ends_with(".ndjson") {
            let text = read(Path::new(&self.scene))?;
            std::sync::Arc::new(captures::format::parse(&self.scene, &text).map_err(|error| Failure::usage(error.to_string()))?)
        } else {
            let catalog = open(&self.sources)?;
            let found = all(&catalog)?.into_iter().rev().find(|capture| {
                let piece = crate::suite::Piece::Capture(capture.clone());
                capture.header.scene == self.scene && self.provider.as_ref().is_none_or(|which| which.takes(&piece))
            });
            found.ok_or_else(|| {
                Failure::usage(format!("there is no scene `{}`; `rehearsal captures list` shows what there is", self.scene))
            })?
        };
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

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("failed to read {}: {error}", file.display())))
}

fn open(sources: &Sources) -> Result<Catalog, Failure> {
    sources
        .captures
        .iter()
        .try_fold(Catalog::embedded(), |catalog, dir| catalog.with_dir(dir).map_err(|error| Failure::usage(error.to_string())))
}

fn all(catalog: &Catalog) -> Result<Vec<std::sync::Arc<Capture>>, Failure> {
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
