//! Classes of ports whose shaping follows from reservations (IEEE Std 802.1Q-2022, 34.3 and 35.2.4), resolved.
//!
//! Such a class takes frames of a stream while the stream is reserved at the port, and no others. The idleSlope of a
//! credit-based one is the sum that the reserved streams need; the port's settings contain its maximum.

use tautwire_core::TrafficClass;
use tautwire_units::BitRate;

use crate::network::{Network, PortIndex, StreamIndex};

/// A class of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedClass {
    /// The egress port, of a bridge or of a talker.
    pub port: PortIndex,
    /// The class there.
    pub class: TrafficClass,
    /// The most that idleSlope may become: what all its streams need, or at a bridge what its
    /// SR classes may use; none of an ATS class.
    pub idle_slope_max: Option<BitRate>,
    /// Its streams, in order, with what each needs: octets of the medium, and one for a fast clock.
    pub streams: Vec<(StreamIndex, BitRate)>,
}

impl Network {
    /// The reserved classes of a port.
    pub fn reserved_classes_at(&self, port: PortIndex) -> impl Iterator<Item = &ReservedClass> {
        let first = self.reserved_classes.partition_point(|reserved| reserved.port < port);
        self.reserved_classes[first..].iter().take_while(move |reserved| reserved.port == port)
    }
}

/// Those that are left of some streams, each at its new place.
pub(crate) fn kept(classes: &[ReservedClass], place: &[Option<StreamIndex>]) -> Vec<ReservedClass> {
    let kept = |reserved: &ReservedClass| {
        let mut streams: Vec<_> = reserved
            .streams
            .iter()
            .filter_map(|(stream, slope)| Some((place[stream.index()]?, *slope)))
            .collect();
        streams.sort_unstable();
        ReservedClass { streams, ..reserved.clone() }
    };
    classes.iter().map(kept).collect()
}
