//! A digest of a file's content, by which a damaged file is told from a whole one.
//!
//! FNV-1a, 128 bits (Fowler, Noll, Vo; RFC 9923): each step is reversible, so that no change of one byte goes unseen, and
//! of other changes one in 2^128. It is against accidents, not against people.

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = (1 << 88) + 0x13b;

/// The digest of these bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> [u8; 16] {
    bytes.iter().fold(OFFSET, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As published with the function.
    #[test]
    fn known_values() {
        assert_eq!(digest(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128.to_be_bytes());
        assert_eq!(digest(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964_u128.to_be_bytes());
    }
}
