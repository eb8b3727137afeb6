//! Makes captures of a directory of recordings: `import_dir SOURCE DATA` writes `DATA/PROVIDER/VERSION/SCENE.ndjson`.
//!
//! Subdirectories are left alone. The embedded data was made with this, so that it can be made again.

use std::{env, error::Error, fs, path::PathBuf};

use captures::{format, import};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [source, data] = &paths[..] else {
        return Err("usage: import_dir SOURCE DATA".into());
    };
    let mut files: Vec<PathBuf> = fs::read_dir(source)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    for file in &files {
        let capture = import::recording(&file.display().to_string(), &fs::read_to_string(file)?)?;
        let folder = data.join(capture.header.provider.name()).join(&capture.header.version);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{}.ndjson", capture.header.scene)), format::write(&capture))?;
    }
    println!("{} captures written to {}", files.len(), data.display());
    Ok(())
}
