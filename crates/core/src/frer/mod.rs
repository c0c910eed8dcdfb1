//! Frame replication and elimination for reliability (IEEE Std 802.1CB-2017, clause 7).
//!
//! `recovery.rs`: which of the copies of a packet pass (sequence recovery and individual recovery, 7.4.3 and 7.5);
//! `latent.rs`: detection that fewer copies are eliminated than the paths should deliver (7.4.4); here: the sequence
//! numbers of packets (7.4.1). Octets of the tags that carry them: `tautwire_wire::RTag`. Stream splitting (7.7) is
//! forwarding to several ports; stream identification is in `identification.rs`. Scenario:
//! `scenarios/frame-replication.yaml`.

mod latent;
mod recovery;

pub use latent::{LatentErrorDetection, LatentErrorParameters};
pub use recovery::{Discarded, RecoveryAlgorithm, RecoveryCounters, RecoveryParameters, SequenceRecovery};

/// Sequence generation (7.4.1): each packet takes the number behind that of the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceGeneration {
    next: u16,
}

impl SequenceGeneration {
    /// The number of the next packet.
    pub fn number(&mut self) -> u16 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Begins again with 0 (SequenceGenerationReset).
    pub fn reset(&mut self) {
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_zero_and_go_round() {
        let mut generation = SequenceGeneration::default();
        assert_eq!([generation.number(), generation.number()], [0, 1]);
        for _ in 2..=u16::MAX {
            generation.number();
        }
        assert_eq!([generation.number(), generation.number()], [0, 1]);
        generation.reset();
        assert_eq!(generation.number(), 0);
    }
}
