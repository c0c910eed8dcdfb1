//! The frame of the tests of a port: octets and a class.

use super::QueuedFrame;
use crate::TrafficClass;

/// Octets and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame(pub(super) u32, pub(super) u8);

impl QueuedFrame for Frame {
    fn octets(self) -> u32 {
        self.0
    }

    fn class(self) -> TrafficClass {
        TrafficClass::new(self.1).expect("below eight")
    }
}
