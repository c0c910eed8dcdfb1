//! The Internet checksum (RFC 1071): complement of the ones' complement sum of 16-bit words.

/// A sum on its way; octets are added in pieces of even length, the last may be odd.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u32);

impl Checksum {
    /// Adds octets; a last odd one is filled with zero.
    pub(crate) fn add(mut self, octets: &[u8]) -> Self {
        for pair in octets.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            self.0 += u32::from(u16::from_be_bytes([pair[0], low]));
            self.0 = (self.0 & 0xffff) + (self.0 >> 16);
        }
        self
    }

    /// The checksum.
    pub(crate) fn finish(self) -> u16 {
        let [_, _, high, low] = self.0.to_be_bytes();
        !u16::from_be_bytes([high, low])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_holds() {
        // RFC 1071, section 3: the sum of these words is ddf2.
        let sum = Checksum::default().add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
    }

    #[test]
    fn what_is_summed_with_its_checksum_gives_zero() {
        let octets = [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11];
        let checksum = Checksum::default().add(&octets).finish();
        assert_eq!(Checksum::default().add(&octets).add(&checksum.to_be_bytes()).finish(), 0);
    }
}
