//! `rehearsal captures import`: what people have becomes a capture, and what had to be guessed is said.

use std::path::{Path, PathBuf};

use captures::{
    import::{self, Format, Imported, Options},
    provider::Provider,
    verify,
};
use reports::ExitCode;

use super::{super::print, Failure, read};

/// Turn logs, transcripts and recordings of other tools into captures.
///
/// Taken are: a log of stream-json lines (a plain dump of stdout, lines with `>` and `<` or `stdin:` and `stdout:` before them,
/// objects with a direction and the line in them), the transcript that Claude Code keeps of a session, `{"emit":…}` and
/// `{"expect":…}` lines of another harness, the recorder's own files, and captures. What is private is scrubbed.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// Files to read.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Directory to write to: `PROVIDER/VERSION/SCENE.ndjson` below it.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// The files' format, when it is not told by their first lines: capture, recording, log, transcript, emit-expect.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Whose frames these are, when they are not Claude Code's.
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<Provider>,
    /// The version of the CLI, when no line says it.
    #[arg(long, value_name = "VERSION")]
    cli_version: Option<String>,
    /// The scene's name; else the file's.
    #[arg(long)]
    scene: Option<String>,
    /// The day of the recording, when no line says it; else the file's.
    #[arg(long, value_name = "YYYY-MM-DD")]
    recorded_on: Option<String>,
    /// Leave names, paths and keys as they are.
    #[arg(long)]
    no_scrub: bool,
}

impl Import {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        if self.files.len() > 1 && self.scene.is_some() {
            return Err(Failure::usage(format!(
                "--scene names one capture and {} files are given; import them one by one",
                self.files.len()
            )));
        }
        let mut page = String::new();
        for file in &self.files {
            let name = file.display().to_string();
            let text = read(file)?;
            let options = Options {
                format: self.format,
                provider: self.provider,
                version: self.cli_version.clone(),
                scene: self.scene.clone(),
                recorded_on: self.recorded_on.clone(),
                file_date: modified(file),
                keep_private: self.no_scrub,
            };
            let imported = import::import(&name, &text, &options).map_err(|error| Failure::usage(error.to_string()))?;
            let target = self.write(&name, &imported)?;
            say(&name, &imported);
            let capture = &imported.capture;
            page.push_str(&format!("{name} -> {}: {} entries\n", target.display(), capture.entries.len()));
            for finding in verify::tape(capture) {
                page.push_str(&format!("  line {}: {}: {}\n", finding.entry + 2, finding.rule, finding.problem));
            }
        }
        print(&page);
        Ok(ExitCode::Conforms)
    }

    fn write(&self, name: &str, imported: &Imported) -> Result<PathBuf, Failure> {
        let header = &imported.capture.header;
        let target = self.output.join(header.provider.name()).join(&header.version).join(format!("{}.ndjson", header.scene));
        if target.exists() {
            return Err(Failure::usage(format!(
                "failed to import {name}: {} exists already; remove it, or choose another --output or --scene",
                target.display()
            )));
        }
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))?;
            std::fs::write(&target, captures::format::write(&imported.capture))
        };
        write().map_err(|error| Failure::usage(format!("failed to write {}: {error}", target.display())))?;
        Ok(target)
    }
}

/// What was found, guessed and left out, on stderr: stdout is for the list of captures.
fn say(name: &str, imported: &Imported) {
    if imported.said.is_empty() {
        return;
    }
    anstream::eprintln!("{name}: {}", imported.format.words());
    for (subject, words) in &imported.said {
        anstream::eprintln!("  {subject:10} {words}");
    }
}

/// The day on which the file was last written.
fn modified(file: &Path) -> Option<String> {
    let written = std::fs::metadata(file).ok()?.modified().ok()?;
    let since = written.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(import::date(since.as_secs_f64() * 1000.0))
}
