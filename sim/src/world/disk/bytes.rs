//! The bytes of a file in chunks that copies share: durable bytes, pending bytes and images differ in few of them.

use std::{ops::Range, sync::Arc};

/// Bytes of a chunk: SQLite's usual page.
const CHUNK_BYTES: usize = 4096;

/// A file's bytes. Behind the end, the last chunk holds zeros, so that equal files have equal chunks.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    chunks: Vec<Arc<[u8; CHUNK_BYTES]>>,
    length: usize,
}

impl Bytes {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Copies what there is at `offset`, and says how much that was.
    pub(super) fn read(&self, mut offset: usize, into: &mut [u8]) -> usize {
        let wanted = into.len().min(self.length.saturating_sub(offset));
        let mut rest = &mut into[..wanted];
        while !rest.is_empty() {
            let (chunk, at) = (offset / CHUNK_BYTES, offset % CHUNK_BYTES);
            let (now, later) = rest.split_at_mut((CHUNK_BYTES - at).min(rest.len()));
            now.copy_from_slice(&self.chunks[chunk][at..at + now.len()]);
            offset += now.len();
            rest = later;
        }
        wanted
    }

    /// Writes; a gap before `offset` is filled with zeros.
    pub(super) fn write(&mut self, mut offset: usize, mut bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.resize(self.length.max(offset + bytes.len()));
        while !bytes.is_empty() {
            let (chunk, at) = (offset / CHUNK_BYTES, offset % CHUNK_BYTES);
            let (now, later) = bytes.split_at((CHUNK_BYTES - at).min(bytes.len()));
            Arc::make_mut(&mut self.chunks[chunk])[at..at + now.len()].copy_from_slice(now);
            offset += now.len();
            bytes = later;
        }
    }

    /// Cuts, or fills up with zeros.
    pub(super) fn resize(&mut self, length: usize) {
        self.chunks.resize_with(length.div_ceil(CHUNK_BYTES), || Arc::new([0; CHUNK_BYTES]));
        if let Some(last) = self.chunks.last_mut().filter(|_| length < self.length && !length.is_multiple_of(CHUNK_BYTES)) {
            Arc::make_mut(last)[length % CHUNK_BYTES..].fill(0);
        }
        self.length = length;
    }

    /// Becomes equal to `other`, which differs in the ranges `touched` and in length only.
    pub(super) fn follow(&mut self, other: &Bytes, touched: impl Iterator<Item = Range<usize>>) {
        self.chunks.truncate(other.chunks.len());
        let had = self.chunks.len();
        self.chunks.extend_from_slice(&other.chunks[had..]);
        for range in touched {
            for chunk in range.start / CHUNK_BYTES..range.end.div_ceil(CHUNK_BYTES).min(had) {
                self.chunks[chunk].clone_from(&other.chunks[chunk]);
            }
        }
        self.length = other.length;
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        self.read(0, &mut bytes);
        bytes
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        let mut file = Bytes::default();
        file.write(0, bytes);
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_read_write_cut_and_follow_like_plain_bytes() {
        let (mut plain, mut file, mut follower) = (Vec::<u8>::new(), Bytes::default(), Bytes::default());
        let steps = [(0, 10), (4_090, 12), (20_000, 1), (100, 9_000), (8_192, 4_096), (3, 0), (30_000, 0), (12_288, 8_193)];
        for (round, (offset, length)) in steps.into_iter().cycle().take(40).enumerate() {
            let (byte, cut) = (round as u8 + 1, (round * 2_731) % 21_000);
            plain.resize(plain.len().max(if length == 0 { 0 } else { offset + length }), 0);
            plain.iter_mut().skip(offset).take(length).for_each(|place| *place = byte);
            file.write(offset, &vec![byte; length]);
            let mut touched = [offset..offset + length, 0..0];
            if round % 3 == 2 {
                plain.resize(cut, 0);
                file.resize(cut);
                touched[1] = cut..usize::MAX;
            }
            follower.follow(&file, touched.into_iter());
            assert_eq!(file.to_vec(), plain, "round {round}");
            assert!(follower == file && file == Bytes::from(plain.as_slice()), "round {round}");
            let mut part = [7; 5_000];
            let read = file.read(4_000, &mut part);
            assert_eq!(part[..read], plain[plain.len().min(4_000)..plain.len().min(9_000)], "round {round}");
        }
    }
}
