//! Frame preemption: the MAC merge sublayer of a port (IEEE Std 802.3-2022, clause 99; IEEE Std 802.1Q-2022, 6.7.2).
//!
//! A frame of the preemptable service is sent in mPackets: it may be cut where [`AddFragSize`] allows it, and its rest follows when the line is
//! free of express frames. Here is what both ends know: lengths, delimiters, and the machines of the sending (`Merge`) and the receiving side
//! ([`Reassembly`]), and of verification ([`Verification`]). Not here: which frame is selected (`port/merged.rs`), octets (`tautwire-wire`).
//! Page: `docs/mechanisms/frame-preemption.md`.

mod merge;
mod reassembly;
mod verification;

use tautwire_units::Duration;

use crate::gates::HoldAdvances;

pub(crate) use merge::Merge;
pub use merge::{MergeCounters, Started};
pub use reassembly::{Reassembly, ReassemblyCounters, Received};
pub use tautwire_wire::preemption::MPacket;
pub use verification::{VERIFY_LIMIT, Verification, VerifyStatus};

/// Octets of preamble and start mPacket delimiter, and of the fragment count where there is one.
pub const HEAD: u64 = 8;
/// Octets of the check sequence of a fragment that is not the last.
pub const MCRC: u64 = 4;
/// Octets of the gap behind an mPacket.
pub const GAP: u64 = 12;
/// Fewest octets of the last fragment, its FCS included.
pub const LAST_MIN: u32 = 64;
/// What a cut adds on the line: check sequence, gap, and the head of the continuation.
pub const CUT_OVERHEAD: u64 = MCRC + GAP + HEAD;
/// Octets of an mPacket that verifies, or responds, destination to check sequence.
pub const VERIFY_OCTETS: u64 = 64;

/// Fewest octets of fragments that are not the last (aMACMergeAddFragSize, 30.14.1.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AddFragSize(u8);

impl AddFragSize {
    /// So many times 64 octets more than the least; none above three.
    #[must_use]
    pub const fn new(times: u8) -> Option<Self> {
        if times < 4 { Some(Self(times)) } else { None }
    }

    /// The parameter.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Fewest octets of the frame in a fragment that is not the last.
    #[must_use]
    pub const fn fragment_min(self) -> u32 {
        64 * (1 + self.0 as u32) - MCRC as u32
    }

    /// The smallest frame that may be cut.
    #[must_use]
    pub const fn frame_min(self) -> u32 {
        self.fragment_min() + LAST_MIN
    }

    /// How often a frame of so many octets is cut at most.
    #[must_use]
    pub const fn cuts_max(self, octets: u32) -> u32 {
        octets.saturating_sub(LAST_MIN) / self.fragment_min()
    }

    /// For how many octets of the line a frame of so many keeps an express frame off at most, however it is cut.
    #[must_use]
    pub const fn blocking(self, octets: u32) -> u64 {
        let most = self.frame_min() - 1;
        HEAD + GAP + if octets < most { octets as u64 } else { most as u64 }
    }
}

/// How a port is built that preempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptionConfig {
    /// Bit *n*: frames of class *n* are sent by the preemptable service; none of a port that only verifies or responds.
    pub preemptable: u8,
    /// Fewest octets of its fragments.
    pub add_frag_size: AddFragSize,
    /// Advances of its MAC.
    pub advances: HoldAdvances,
    /// Whether preemption is active from the beginning; otherwise all frames are express ones until it is.
    pub active: bool,
}

/// What an mPacket ends with, as its receiver finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A check sequence of the frame so far: more follows.
    More,
    /// The frame's own.
    Last,
    /// Neither: it was damaged.
    Damaged,
}

/// The time of a verification when nothing is stated (30.14.1.6).
pub const VERIFY_TIME: Duration = Duration::from_ms(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_standard() {
        let sizes: alloc::vec::Vec<AddFragSize> = (0..4).filter_map(AddFragSize::new).collect();
        let of = |get: &dyn Fn(AddFragSize) -> u64| {
            sizes.iter().map(|size| get(*size)).collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(of(&|size| size.fragment_min().into()), [60, 124, 188, 252]);
        assert_eq!(of(&|size| size.frame_min().into()), [124, 188, 252, 316]);
        assert_eq!(of(&|size| size.cuts_max(1_522).into()), [24, 11, 7, 5]);
        assert_eq!(of(&|size| size.blocking(1_518)), [143, 207, 271, 335]);
        assert_eq!(of(&|size| size.blocking(100)), [120; 4]);
        assert_eq!((AddFragSize::new(4), CUT_OVERHEAD), (None, 24));
    }
}
