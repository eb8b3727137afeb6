//! Lines of a host's stdin, whatever chunks they come in.

/// Cuts a byte stream at 0x0A.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
}

impl Lines {
    /// Takes bytes and gives the lines that they complete, in order, without their line ends.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.buffer.extend_from_slice(piece);
            if self.buffer.last() == Some(&b'\n') {
                self.buffer.pop();
                lines.push(std::mem::take(&mut self.buffer));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_depend_on_their_chunks() {
        let stream = b"one\ntwo\n\nthree";
        for cut in 0..=stream.len() {
            let mut lines = Lines::default();
            let mut found = lines.push(&stream[..cut]);
            found.extend(lines.push(&stream[cut..]));
            assert_eq!(found, [b"one".to_vec(), b"two".to_vec(), b"".to_vec()], "cut at {cut}");
        }
    }
}
