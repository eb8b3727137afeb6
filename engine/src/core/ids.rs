//! The core's only source of ids: a seeded stream, so that equal inputs give equal ids.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Seeded ids of one engine.
#[derive(Clone, Debug)]
pub struct IdSource {
    rng: ChaCha8Rng,
}

impl IdSource {
    /// A source whose whole stream follows from `seed`.
    pub fn new(seed: u64) -> Self {
        IdSource { rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// 64 fresh bits, for Loro peer ids.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A UUID of version 4, as providers expect it of a host.
    pub fn uuid(&mut self) -> String {
        let high = (self.rng.next_u64() & 0xffff_ffff_ffff_0fff) | 0x4000;
        let low = (self.rng.next_u64() & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_ids_and_the_shape_is_a_uuid() {
        let (mut a, mut b) = (IdSource::new(7), IdSource::new(7));
        for _ in 0..100 {
            let id = a.uuid();
            assert_eq!(id, b.uuid());
            assert_eq!(id.len(), 36);
            assert_eq!(&id[14..15], "4");
            assert!("89ab".contains(&id[19..20]));
        }
        assert_ne!(IdSource::new(8).uuid(), IdSource::new(7).uuid());
    }
}
