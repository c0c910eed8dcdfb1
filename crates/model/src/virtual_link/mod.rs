//! Virtual links (ARINC 664 part 7): the limits of a stream, which its end system and the switches enforce.
//!
//! A virtual link is the streams that name the same identifier: its sub-virtual-links. All of them have the same
//! [`VirtualLink`], except for their own number; `check` ensures that. Not here: the machines (`tautwire-core`),
//! faults (`resolve.rs`).

pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;

use tautwire_core::policing::{Account, PolicingParameters};
use tautwire_core::redundancy::RedundantNetwork;
use tautwire_core::virtual_link::LinkBuffer;
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::network::{Network, NodeIndex, NodeKind, PortIndex, Stream};

/// The largest jitter that an end system may have, whatever its links (ARINC 664 part 7, 3.2.4.3).
pub const JITTER_LIMIT: Duration = Duration::from_us(500);
/// The part of it that the end system itself may use.
pub(crate) const JITTER_OF_STATION: Duration = Duration::from_us(40);

/// The limits of a stream as a virtual link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualLink {
    /// Identifier, and the last two octets of the destination address.
    pub id: u16,
    /// Bandwidth allocation gap.
    pub bag: Duration,
    /// Which sub-virtual-link this stream is, from 1.
    pub sub_link: u8,
    /// Least and greatest frame of all its sub-virtual-links, Lmin and Lmax, destination to FCS.
    pub frames: (Bytes, Bytes),
    /// Its place in the end system.
    pub buffer: LinkBuffer,
    /// Whether the end system keeps the BAG; without that it babbles.
    pub regulated: bool,
    /// The policing of the switches; none if they do not police.
    pub policing: Option<Policing>,
    /// SkewMax, if it goes over both networks.
    pub skew_max: Option<Duration>,
}

/// How switches police a virtual link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policing {
    /// The unit in which it is charged.
    pub account: Account,
    /// Jitter that the first switch grants.
    pub jitter: Duration,
    /// The additional jitter that every further switch allows.
    pub jitter_step: Duration,
}

/// Which network a hop of a redundant stream belongs to: A is that of the first port.
#[must_use]
pub fn network_of(stream: &Stream, hop: usize) -> RedundantNetwork {
    let mut root = hop;
    while let Some(previous) = stream.hops[root].previous {
        root = previous as usize;
    }
    if root == 0 { RedundantNetwork::A } else { RedundantNetwork::B }
}

/// The streams of a virtual link, in order: its sub-virtual-links.
pub fn sub_links(network: &Network, id: u16) -> impl Iterator<Item = (usize, &Stream)> {
    let is_one = move |(_, stream): &(usize, &Stream)| stream.virtual_link.is_some_and(|link| link.id == id);
    network.streams.iter().enumerate().filter(is_one)
}

/// The entry of a stream's virtual link in the policing table of the bridge behind a hop, or that of a master's
/// protocol control frames.
#[must_use]
pub fn policing_parameters(network: &Network, stream: &Stream, hop: usize) -> Option<PolicingParameters> {
    let Some(link) = stream.virtual_link else { return network.control_frame_policing(stream, hop) };
    let policing = link.policing?;
    let at = &stream.hops[hop];
    let cable = network.ports[at.port.index()].links?.egress;
    let bridge = network.ports[network.links[cable.index()].to.index()].node;
    if !matches!(network.nodes[bridge.index()].kind, NodeKind::Bridge { .. }) {
        return None;
    }
    let mut further = 0;
    let mut before = at.previous;
    while let Some(hop) = before {
        further += 1;
        before = stream.hops[hop as usize].previous;
    }
    let (octets_min, octets_max) = link.frames;
    Some(PolicingParameters {
        bag: least_bag(network, link.bag, stream.talker, bridge),
        jitter: policing.jitter.saturating_add(policing.jitter_step * further),
        account: policing.account,
        octets_min: octets_min.get(),
        octets_max: octets_max.get(),
    })
}

/// A BAG of the talker's clock as the bridge's may see it at the least, rounded down.
pub(crate) fn least_bag(network: &Network, bag: Duration, talker: NodeIndex, bridge: NodeIndex) -> Duration {
    let tolerance = |node: NodeIndex| u128::from(network.nodes[node.index()].clock.tolerance_ppb);
    let off = (tolerance(talker) + tolerance(bridge)).min(999_999_999);
    let ps = u128::from(bag.as_ps()) * (1_000_000_000 - off) / 1_000_000_000;
    Duration::from_ps(u64::try_from(ps).expect("not longer than it was"))
}

/// Bits on the wire of a link's longest frame, and the rate that its BAG allows of them, bit/s, rounded up.
///
/// # Panics
/// If its BAG is zero, which no profile has.
#[must_use]
pub fn bandwidth(link: &VirtualLink) -> (Bits, BitRate) {
    let bits = (link.frames.1 + Bytes::MEDIA_OVERHEAD).bits();
    (bits, BitRate::per_period_ceil(bits, link.bag).expect("a BAG of the profile"))
}

/// The jitter of an end system's port by the rule of the standard: 40 us and one longest frame of every
/// virtual link (3.2.4.3, equation 1), rounded up. It must not exceed [`JITTER_LIMIT`].
#[must_use]
pub fn end_system_jitter(network: &Network, port: PortIndex) -> Duration {
    let rate = network.ports[port.index()].links.map(|links| network.links[links.egress.index()].rate);
    let Some(rate) = rate else { return JITTER_OF_STATION };
    let bits = end_system_links(network, port).map(|link| bandwidth(&link).0).sum::<Bits>();
    JITTER_OF_STATION + rate.duration_ceil(bits)
}

/// The virtual links that leave an end system by a port, each once.
pub fn end_system_links(network: &Network, port: PortIndex) -> impl Iterator<Item = VirtualLink> {
    let leaves =
        move |stream: &&Stream| stream.hops.iter().any(|hop| hop.previous.is_none() && hop.port == port);
    let mut known = Vec::new();
    network.streams.iter().filter(leaves).filter_map(|stream| stream.virtual_link).filter(move |link| {
        let new = !known.contains(&link.id);
        known.push(link.id);
        new
    })
}
