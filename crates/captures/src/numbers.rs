//! From what frames are known by to their numbers, and from stamps to the instants of first and last bit.

use std::collections::HashMap;

use tautwire_model::Network;
use tautwire_model::network::Link;
use tautwire_units::{Bits, Duration};

use crate::frames::{Is, Known, digest};
use crate::places::Side;
use crate::{Seen, Sighting, Stamps};

/// Octets of preamble and delimiter before a frame.
const PREAMBLE: u64 = 8;

/// The sightings of one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfStream {
    /// In order of time at each point.
    pub(crate) sightings: Vec<Sighting>,
    /// Whether its frames state their numbers, so that one which is missing everywhere is known to be.
    pub(crate) has_numbers: bool,
    /// Frames of which so much was changed that their number is not known.
    pub(crate) unknown: u64,
    /// Frames whose contents nothing had that was captured nearer to the talker.
    pub(crate) unmatched: u64,
    /// Frames at places that its way does not pass.
    pub(crate) astray: u64,
}

/// The sightings of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sightings {
    pub(crate) streams: Vec<OfStream>,
    /// Frames that may be of several streams.
    pub(crate) undecided: u64,
    /// Frames of which too little was captured.
    pub(crate) too_short: u64,
    /// Frames that have no stamp.
    pub(crate) unstamped: u64,
}

/// How long a link takes from first bit to last, and the way of a bit.
pub(crate) fn times_of(link: &Link, octets: u64) -> (Duration, Duration) {
    let transmission = link.rate.duration_ceil(Bits::new((octets + PREAMBLE) * 8));
    (transmission, link.propagation + link.phy_delay.min)
}

/// First bit at the sender of a link and last bit at its receiver, by a stamp at one of its sides.
fn instants(link: &Link, side: Side, stamps: Stamps, octets: u64, at: i128) -> (i128, i128) {
    let (transmission, way) = times_of(link, octets);
    let (transmission, way) = (i128::from(transmission.as_ps()), i128::from(way.as_ps()));
    let is_first_bit = match stamps {
        Stamps::Side => side == Side::Sender,
        Stamps::FirstBit => true,
        Stamps::LastBit => false,
    };
    let first =
        at - if is_first_bit { 0 } else { transmission } - if side == Side::Receiver { way } else { 0 };
    (first, first + transmission + way)
}

/// A frame whose number is looked for.
struct Unnumbered<'s> {
    sighting: Sighting,
    known: &'s Known,
    is_cut: bool,
}

/// The sightings of all streams.
pub(crate) fn sightings(network: &Network, stamps: Stamps, packets: &[Seen]) -> Sightings {
    let mut all =
        Sightings { streams: vec![OfStream::default(); network.streams.len()], ..Sightings::default() };
    let mut of_streams: Vec<Vec<Unnumbered<'_>>> = network.streams.iter().map(|_| Vec::new()).collect();
    for packet in packets {
        all.unstamped += u64::from(packet.at.is_none());
        match &packet.is {
            Is::Foreign => {}
            Is::Undecided => all.undecided += 1,
            Is::TooShort => all.too_short += 1,
            Is::Astray(stream) => all.streams[*stream as usize].astray += 1,
            Is::Of { stream, hop, link, side, known, octets, is_changed, is_cut } => {
                let link = &network.links[link.index()];
                let times = packet.at.map(|at| instants(link, *side, stamps, *octets, at));
                let created = match known {
                    Known::Number(_, Some(created)) if packet.is_of_live_run => {
                        Some(i128::from(*created) * 1_000 - packet.ahead)
                    }
                    _ => None,
                };
                let sighting = Sighting {
                    hop: *hop,
                    point: packet.point,
                    side: *side,
                    number: 0,
                    times,
                    created,
                    octets: *octets,
                    is_changed: *is_changed,
                    is_doubtful: false,
                };
                of_streams[*stream as usize].push(Unnumbered { sighting, known, is_cut: *is_cut });
            }
        }
    }
    for (number, mut found) in of_streams.into_iter().enumerate() {
        // In order of time at each point; those without a stamp have the order of the file.
        if found.iter().all(|one| one.sighting.times.is_some()) {
            found.sort_by_key(|one| (one.sighting.point, one.sighting.times));
        } else {
            found.sort_by_key(|one| one.sighting.point);
        }
        let depth = |hop: u32| {
            let hops = &network.streams[number].hops;
            std::iter::successors(Some(hop), |hop| hops[*hop as usize].previous).count()
        };
        number_of(found, depth, &mut all.streams[number]);
    }
    all
}

/// Gives the frames of a stream their numbers.
fn number_of(found: Vec<Unnumbered<'_>>, depth: impl Fn(u32) -> usize, to: &mut OfStream) {
    to.has_numbers = found.iter().any(|one| matches!(one.known, Known::Number(..)));
    if to.has_numbers {
        for one in found {
            match one.known {
                Known::Number(number, _) => {
                    to.sightings.push(Sighting { number: *number, ..one.sighting });
                }
                // All others of the stream state theirs.
                Known::Contents(..) => to.unknown += 1,
            }
        }
        return;
    }
    // As much of each frame counts as was captured of all.
    let most = found
        .iter()
        .filter(|one| one.is_cut)
        .map(|one| match one.known {
            Known::Contents(_, data, _) => data.len(),
            Known::Number(..) => usize::MAX,
        })
        .min()
        .unwrap_or(usize::MAX);
    let digests: Vec<u64> = found
        .iter()
        .map(|one| match one.known {
            Known::Contents(kind, data, octets) => digest(*kind, data, *octets, most),
            Known::Number(number, _) => u64::from(*number),
        })
        .collect();
    let root = found
        .iter()
        .map(|one| (depth(one.sighting.hop), one.sighting.side, one.sighting.point))
        .min()
        .map(|(.., point)| point);
    // The numbers of the frames with the same contents, as they came nearest to the talker; and how many there are at each point.
    let mut numbers: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut counts: HashMap<(usize, u64), usize> = HashMap::new();
    let mut next = 0;
    for (one, digest) in found.iter().zip(&digests) {
        *counts.entry((one.sighting.point, *digest)).or_default() += 1;
        if Some(one.sighting.point) == root {
            numbers.entry(*digest).or_default().push(next);
            next += 1;
        }
    }
    let mut passed: HashMap<(usize, u64), usize> = HashMap::new();
    for (one, digest) in found.iter().zip(&digests) {
        let key = (one.sighting.point, *digest);
        let place = passed.entry(key).or_default();
        let Some(own) = numbers.get(digest) else {
            to.unmatched += 1;
            continue;
        };
        let number = own[(*place).min(own.len() - 1)];
        *place += 1;
        let is_doubtful = own.len() > 1 && counts[&key] != own.len();
        to.sightings.push(Sighting { number, is_doubtful, ..one.sighting });
    }
}
