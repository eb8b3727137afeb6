//! Packs `data/` into one archive: each file deflated by itself, one after the other, and an index of slices.
//!
//! By itself, because a run reads one or two captures of many: none must be inflated to get at another.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::DeflateEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=data");
    let data = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("data");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    collect(&data, &mut files)?;
    files.sort();
    let mut archive = Vec::new();
    let mut index = String::from("&[\n");
    for file in &files {
        let bytes = fs::read(file)?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes)?;
        let packed = encoder.finish()?;
        let name = file.strip_prefix(&data)?.to_str().ok_or("a file name in data/ is not UTF-8")?.replace('\\', "/");
        let (start, end) = (archive.len(), archive.len() + packed.len());
        writeln!(index, "    Packed {{ name: {name:?}, start: {start}, end: {end}, bytes: {} }},", bytes.len())?;
        archive.extend(packed);
    }
    index.push_str("]\n");
    fs::write(out.join("captures.bin"), archive)?;
    fs::write(out.join("captures.rs"), index)?;
    Ok(())
}

/// All captures and race tables below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ndjson" || extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
