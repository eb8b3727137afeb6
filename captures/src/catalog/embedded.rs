//! The archive that `build.rs` makes of `data/`.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::CatalogError;

/// One file of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    /// Its path below `data/`, with `/`.
    pub(super) name: &'static str,
    start: usize,
    end: usize,
    bytes: usize,
}

/// All files, by name.
pub(super) static FILES: &[Packed] = include!(concat!(env!("OUT_DIR"), "/captures.rs"));

static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/captures.bin"));

impl Packed {
    /// Its text: this file is inflated, no other.
    pub(super) fn text(&self) -> Result<String, CatalogError> {
        let mut text = String::with_capacity(self.bytes);
        DeflateDecoder::new(&ARCHIVE[self.start..self.end])
            .read_to_string(&mut text)
            .map_err(|source| CatalogError::Read { file: format!("captures/data/{}", self.name), source })?;
        Ok(text)
    }
}
