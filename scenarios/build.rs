//! Writes the list of library files that the crate embeds, so that a new file needs no registration.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let library = root.join("library");
    println!("cargo::rerun-if-changed=library");

    let mut files = Vec::new();
    collect(&library, &mut files)?;
    files.sort();

    // Paths are written relative to the manifest, so the generated text is the same on every machine.
    let mut list = String::from("&[\n");
    for file in &files {
        let relative = file.strip_prefix(&library).map_err(io::Error::other)?;
        let id = relative.with_extension("").components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        list.push_str(&format!("    ({id:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/library/{id}.toml\"))),\n"));
    }
    list.push_str("]\n");

    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("library.rs"), list)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", directory.display());
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
