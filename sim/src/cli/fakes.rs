//! `rehearsal fakes DIR` and `rehearsal breaches DIR`: understudies on a PATH, and what a host did wrong with them.
//!
//! The links in DIR point to this very executable: started under the name of a CLI it *is* that CLI's understudy. What it plays
//! stands in a file beside the link.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use captures::{catalog::Catalog, provider::Provider};
use fake_clis::{claude, process};
use reports::ExitCode;
use serde_json::Value;

use super::{Failure, print, world::Which};

/// CLIs that have an understudy.
const CLIS: [&str; 1] = ["claude"];
/// File beside the links that says what is played: `NAME=value` lines of the environment.
const SETTING: &str = "rehearsal.env";
/// File to which breaches are appended.
const BREACHES: &str = "breaches.ndjson";

/// Put understudies into a directory for a PATH.
#[derive(Debug, clap::Args)]
pub struct Fakes {
    /// The directory; made when it is missing.
    dir: PathBuf,
    /// The scene whose model and tools they play; without it every reply repeats the prompt's first words.
    #[arg(long)]
    scene: Option<String>,
    /// The version to be, `claude@2.1.310`; else the newest that has the scene.
    #[arg(long, value_name = "PROVIDER[@VERSION]")]
    provider: Option<Which>,
    /// Seed of their ids; without it they are new in every run.
    #[arg(long)]
    seed: Option<u64>,
}

impl Fakes {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let catalog = Catalog::embedded();
        let version = self.provider.as_ref().and_then(Which::version);
        if let Some(scene) = &self.scene {
            let found = match version {
                Some(version) => catalog.get(Provider::Claude, version, scene).map(|_| ()).map_err(|error| error.to_string()),
                None => catalog
                    .newest_with(Provider::Claude, &[scene])
                    .map(|_| ())
                    .ok_or_else(|| format!("there is no scene `{scene}`; `rehearsal captures list` shows what there is")),
            };
            found.map_err(Failure::usage)?;
        }
        let setting = [
            ("REHEARSAL_SCENE", self.scene.clone()),
            ("REHEARSAL_VERSION", version.map(str::to_owned)),
            ("REHEARSAL_SEED", self.seed.map(|seed| seed.to_string())),
        ];
        let page: String = setting.iter().filter_map(|(name, value)| Some(format!("{name}={}\n", value.as_ref()?))).collect();
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            let program = env::current_exe()?;
            for name in CLIS {
                let link = self.dir.join(name);
                match fs::symlink_metadata(&link) {
                    Ok(there) if there.file_type().is_symlink() => fs::remove_file(&link)?,
                    Ok(_) => return Err(io::Error::other(format!("{} is there and is no link of ours", link.display()))),
                    Err(_) => {}
                }
                std::os::unix::fs::symlink(&program, &link)?;
            }
            fs::write(self.dir.join(SETTING), &page)?;
            fs::write(self.dir.join(BREACHES), "")
        };
        write()
            .map_err(|error| Failure::usage(format!("failed to put the understudies into {}: {error}", self.dir.display())))?;
        print(&format!("export PATH={}:$PATH", self.dir.display()));
        Ok(ExitCode::Conforms)
    }
}

/// Say what a host did that the real CLI would reject.
#[derive(Debug, clap::Args)]
pub struct Breaches {
    /// The directory of the understudies.
    dir: PathBuf,
}

impl Breaches {
    /// Runs it.
    pub fn run(self) -> Result<ExitCode, Failure> {
        let file = self.dir.join(BREACHES);
        let text = fs::read_to_string(&file).map_err(|error| {
            Failure::usage(format!(
                "failed to read {}: {error}; `rehearsal fakes {}` makes it",
                file.display(),
                self.dir.display()
            ))
        })?;
        let mut page = String::new();
        let mut count = 0;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            count += 1;
            let breach: Value = serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned()));
            let word = |key: &str| breach[key].as_str().unwrap_or_default();
            let rule = if word("rule").is_empty() { "off-script" } else { word("rule") };
            let words = [word("words"), word("off_script")].concat();
            page.push_str(&format!("{rule:24} {}\n", if words.is_empty() { line } else { &words }));
        }
        page.push_str(&format!("{count} breaches\n"));
        print(&page);
        Ok(if count == 0 { ExitCode::Conforms } else { ExitCode::Failed })
    }
}

/// Where this executable was started under the name of a CLI: its understudy, to the end of the process.
pub fn as_understudy() -> Option<std::process::ExitCode> {
    let called = env::args_os().next().map(PathBuf::from)?;
    let name = called.file_name()?.to_str()?.to_owned();
    if !CLIS.contains(&name.as_str()) {
        return None;
    }
    let mut launch = process::launch();
    if let Some(dir) = directory(&called, &name) {
        for (key, value) in setting(&dir) {
            launch.env.entry(key).or_insert(value);
        }
        let breaches = dir.join(BREACHES).display().to_string();
        launch.env.entry(process::BREACHES.to_owned()).or_insert(breaches);
    }
    Some(match claude::from_launch(&launch) {
        Ok(understudy) => std::process::ExitCode::from(process::run(understudy, &launch)),
        Err(words) => {
            anstream::eprintln!("rehearsal: {words}");
            ExitCode::Usage.into()
        }
    })
}

/// The directory of the link that was started: as it was typed, or as the PATH found it.
fn directory(called: &Path, name: &str) -> Option<PathBuf> {
    if called.components().count() > 1 {
        return called.parent().map(Path::to_path_buf);
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).find(|dir| dir.join(name).exists() && dir.join(SETTING).exists())
}

fn setting(dir: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(dir.join(SETTING)).unwrap_or_default();
    text.lines().filter_map(|line| line.split_once('=')).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
