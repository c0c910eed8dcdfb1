//! The receiving side of a MAC merge sublayer (IEEE Std 802.3-2022, 99.4.7): mPackets in, frames out.
//!
//! A fragment that ends with neither check sequence is taken for a last one, so its frame has a wrong FCS; what follows of it belongs to no frame.

use super::{Ending, MPacket};

/// What a receiving side has counted (30.14.1.8 to 30.14.1.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReassemblyCounters {
    /// Frames that could not be put together (FrameAssErrorCount).
    pub frame_ass_errors: u64,
    /// mPackets that continue no frame (FrameSmdErrorCount).
    pub frame_smd_errors: u64,
    /// Frames that were put together of fragments (FrameAssOkCount).
    pub frame_ass_ok: u64,
    /// Continuations of frames (FragCountRx).
    pub fragments: u64,
}

/// What an mPacket makes of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Received {
    /// It is whole.
    Frame,
    /// More of it is to come.
    More,
    /// Its FCS is wrong.
    Corrupted,
    /// It continues no frame, or another one than it says: lost, with what came of that.
    Lost,
}

/// The receiving side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reassembly {
    /// The frame of which fragments came, by its number, and the number of the next of them.
    open: Option<(u8, u8)>,
    counters: ReassemblyCounters,
}

impl Reassembly {
    /// Takes an mPacket.
    pub fn take(&mut self, mpacket: MPacket, ending: Ending) -> Received {
        let next = match mpacket {
            MPacket::Express => {
                return if ending == Ending::Last { Received::Frame } else { Received::Corrupted };
            }
            // They carry no frame.
            MPacket::Verify | MPacket::Respond => return Received::More,
            MPacket::Start(number) => {
                self.counters.frame_ass_errors += u64::from(self.open.take().is_some());
                (number, 0)
            }
            MPacket::Continuation(number, fragment) => match self.open.take() {
                None => {
                    self.counters.frame_smd_errors += 1;
                    return Received::Lost;
                }
                Some(open) if open != (number, fragment) => {
                    self.counters.frame_ass_errors += 1;
                    return Received::Lost;
                }
                Some(_) => {
                    self.counters.fragments += 1;
                    (number, (fragment + 1) % 4)
                }
            },
        };
        match ending {
            Ending::More => {
                self.open = Some(next);
                Received::More
            }
            Ending::Damaged => Received::Corrupted,
            Ending::Last => {
                self.counters.frame_ass_ok += u64::from(matches!(mpacket, MPacket::Continuation(..)));
                Received::Frame
            }
        }
    }

    /// What it has counted.
    #[must_use]
    pub const fn counters(&self) -> ReassemblyCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MPacket::{Continuation, Express, Start};

    #[test]
    fn fragments_become_their_frame_with_express_frames_between() {
        let mut port = Reassembly::default();
        assert_eq!(port.take(Start(3), Ending::More), Received::More);
        assert_eq!(port.take(Express, Ending::Last), Received::Frame);
        for fragment in 0..5 {
            assert_eq!(port.take(Continuation(3, fragment % 4), Ending::More), Received::More);
        }
        assert_eq!(port.take(Continuation(3, 1), Ending::Last), Received::Frame);
        assert_eq!(port.take(Start(0), Ending::Last), Received::Frame);
        let counted = ReassemblyCounters { frame_ass_ok: 1, fragments: 6, ..ReassemblyCounters::default() };
        assert_eq!(port.counters(), counted);
    }

    #[test]
    fn a_lost_or_damaged_fragment_loses_the_frame() {
        let mut port = Reassembly::default();
        assert_eq!(port.take(Start(0), Ending::Damaged), Received::Corrupted);
        assert_eq!(port.take(Continuation(0, 0), Ending::Last), Received::Lost, "of no frame");
        assert_eq!(port.counters().frame_smd_errors, 1);
        assert_eq!(port.take(Start(1), Ending::More), Received::More);
        assert_eq!(
            port.take(Continuation(1, 1), Ending::Last),
            Received::Lost,
            "the first continuation is missing"
        );
        assert_eq!(port.take(Start(2), Ending::More), Received::More);
        assert_eq!(port.take(Continuation(3, 0), Ending::Last), Received::Lost, "of another frame");
        assert_eq!(port.take(Start(3), Ending::More), Received::More);
        assert_eq!(port.take(Start(0), Ending::Last), Received::Frame, "the one before has no end");
        assert_eq!((port.counters().frame_ass_errors, port.counters().frame_ass_ok), (3, 0));
    }
}
