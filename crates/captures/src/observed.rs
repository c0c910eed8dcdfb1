//! The observation, and what captures show in addition.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::Stream;
use tautwire_observe::{DelayParts, Histogram};
use tautwire_sim::{
    DropReason, HopObservation, ListenerObservation, Observation, PortObservation, StreamObservation,
    WorstFrame,
};
use tautwire_units::{Bytes, Duration};
use tautwire_wire::MacAddress;

use crate::Captures;
use crate::frames::is_followed;
use crate::numbers::{OfStream, Sightings, times_of};
use crate::ways::{Passage, Start, Way, hops_to, passages, seen_numbers};

/// An interface that captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// File.
    pub file: String,
    /// Name of the interface, if it has one.
    pub interface: Option<String>,
    /// Where it captured.
    pub place: String,
    /// Frames, foreign ones included.
    pub frames: u64,
    /// Packets of links that are not Ethernet.
    pub other_links: u64,
    pub(crate) file_number: usize,
    pub(crate) begin: Option<i128>,
    pub(crate) end: Option<i128>,
}

impl Point {
    pub(crate) fn new(file: &str, interface: Option<&str>, place: String, file_number: usize) -> Self {
        let (file, interface) = (file.to_owned(), interface.map(str::to_owned));
        Self { file, interface, place, frames: 0, other_links: 0, file_number, begin: None, end: None }
    }

    pub(crate) fn saw(&mut self, at: Option<i128>) {
        self.frames += 1;
        if let Some(at) = at {
            self.begin = Some(self.begin.map_or(at, |begin| begin.min(at)));
            self.end = Some(self.end.map_or(at, |end| end.max(at)));
        }
    }
}

/// Frames that are none of the network's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignFrames {
    /// Destination.
    pub destination: MacAddress,
    /// Source.
    pub source: MacAddress,
    /// Type, or length.
    pub kind: u16,
    /// How many.
    pub frames: u64,
}

/// Frames that were seen at one place and not at the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossPlace {
    /// The last place at which they were seen; none: they were seen nowhere, and others show that they were numbered.
    pub behind: Option<String>,
    /// The next place.
    pub before: String,
    /// How many.
    pub frames: u64,
}

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the stream.
    pub stream: usize,
    /// Index of the listener among its listeners.
    pub listener: usize,
    /// From where delays count; none: no two stamps can be compared.
    pub from: Option<String>,
    /// Where the listener's frames were captured; none: nowhere.
    pub to: Option<String>,
    /// By how much each delay may be wrong because of the clocks.
    pub precision: Duration,
    /// Frames whose loss no capture shows: they passed at the edge of one.
    pub at_the_edge: u64,
    /// Frames that came again.
    pub repeated: u64,
    /// Frames that came behind one with a greater number.
    pub misordered: u64,
    /// Frames that do not fit their CRC.
    pub changed: u64,
    /// Frames without a delay, for others are equal to them and one of these is missing.
    pub doubtful: u64,
    /// Frames that came before they were sent, by the clocks: their offset is not as stated.
    pub early: u64,
    /// Where frames were lost.
    pub losses: Vec<LossPlace>,
}

/// What captures show.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// As that of a simulated run; all frames count, for captures have no warm-up.
    pub observation: Observation,
    /// Per stream and listener.
    pub rows: Vec<Row>,
    /// The interfaces that captured.
    pub points: Vec<Point>,
    /// Frames that are none of the network's.
    pub foreign: Vec<ForeignFrames>,
    /// Frames that may be of several streams.
    pub undecided: u64,
    /// Frames of which too little was captured.
    pub too_short: u64,
    /// Frames where their stream does not pass.
    pub astray: u64,
    /// Frames whose contents nothing had that was captured nearer to the talker.
    pub unmatched: u64,
    /// What is to be known of the captures, each one sentence.
    pub remarks: Vec<String>,
}

/// What an observation is made of.
pub(crate) struct Given<'g> {
    pub(crate) network: &'g Network,
    pub(crate) captures: &'g Captures,
    pub(crate) bound: &'g dyn Fn(usize, usize) -> Option<Duration>,
}

impl Given<'_> {
    /// Whether stamps of two files can be compared.
    pub(crate) fn are_comparable(&self, one: usize, other: usize) -> bool {
        let is_stated = |file: usize| self.captures.files[file].clock.is_some();
        one == other || is_stated(one) && is_stated(other)
    }

    /// By how much a difference of their stamps may be wrong.
    pub(crate) fn precision(&self, one: usize, other: usize) -> Duration {
        let of = |file: usize| self.captures.files[file].clock.unwrap_or_default().precision;
        if one == other { Duration::ZERO } else { of(one) + of(other) }
    }
}

/// A span that is not negative and fits.
fn span(from: i128, to: i128) -> Option<Duration> {
    u64::try_from(to - from).ok().map(Duration::from_ps)
}

pub(crate) fn observe(
    given: &Given<'_>,
    points: Vec<Point>,
    sightings: Sightings,
    foreign: Vec<ForeignFrames>,
    mut remarks: Vec<String>,
) -> Captured {
    let network = given.network;
    let begin = points.iter().filter_map(|point| point.begin).min().unwrap_or(0);
    let mut rows = Vec::new();
    let mut ports = vec![PortObservation::default(); network.ports.len()];
    let mut frame_hops = 0;
    let mut streams = Vec::with_capacity(network.streams.len());
    for (number, (stream, of)) in network.streams.iter().zip(&sightings.streams).enumerate() {
        let passages = passages(stream, of);
        frame_hops += count_ports(given, stream, &passages, &mut ports);
        let mut listeners = Vec::with_capacity(stream.listeners.len());
        let seen = seen_numbers(of);
        let created = match (of.has_numbers, seen.first(), seen.last()) {
            (true, Some(first), Some(last)) => u64::from(last - first) + 1,
            _ => seen.len() as u64,
        };
        for listener in 0..stream.listeners.len() {
            let hops = hops_to(stream, u32::try_from(listener).expect("listeners are counted in u32"));
            let way = Way::new(given, &points, &hops, &passages);
            let mut counting = Counting {
                points: &points,
                stream,
                begin,
                bound: (given.bound)(number, listener),
                row: Row {
                    stream: number,
                    listener,
                    from: None,
                    to: None,
                    precision: way.precision,
                    at_the_edge: 0,
                    repeated: 0,
                    misordered: 0,
                    changed: 0,
                    doubtful: 0,
                    early: 0,
                    losses: Vec::new(),
                },
                seen: ListenerObservation {
                    histogram: Some(Histogram::default()),
                    late_at: stream.count_late.iter().map(|span| (*span, 0)).collect(),
                    ..ListenerObservation::default()
                },
            };
            counting.arrivals(&way);
            counting.losses(&way, &seen, created);
            listeners.push(counting.seen);
            if is_followed(stream) {
                rows.push(counting.row);
            }
        }
        streams.push(StreamObservation {
            created,
            replicated: created * (listeners.len() as u64).saturating_sub(1),
            delivered: listeners.iter().map(|seen| seen.delivered).sum(),
            consumed: 0,
            in_flight: listeners.iter().map(|seen| seen.in_flight).sum(),
            dropped: summed(listeners.iter().flat_map(|seen| seen.dropped.iter().copied())),
            hops: hops(given, &points, stream, &passages),
            listeners,
        });
    }
    add_remarks(network, &sightings, &points, &mut remarks);
    let total = |of: fn(&OfStream) -> u64| sightings.streams.iter().map(of).sum();
    let end = points.iter().filter_map(|point| span(point.begin?, point.end?)).max();
    Captured {
        observation: Observation {
            seed: network.run.seed,
            end: end.unwrap_or(Duration::ZERO),
            frame_hops,
            streams,
            ports,
            ..Observation::default()
        },
        rows,
        points,
        foreign,
        undecided: sightings.undecided,
        too_short: sightings.too_short,
        astray: total(|of| of.astray),
        unmatched: total(|of| of.unmatched + of.unknown),
        remarks,
    }
}

/// Counts by reason, in the order of the reasons.
fn summed(counts: impl Iterator<Item = (DropReason, u64)>) -> Vec<(DropReason, u64)> {
    let mut sums = BTreeMap::new();
    for (reason, count) in counts.filter(|(_, count)| *count > 0) {
        *sums.entry(reason).or_default() += count;
    }
    sums.into_iter().collect()
}

/// The counting of a stream at a listener.
struct Counting<'c> {
    points: &'c [Point],
    stream: &'c Stream,
    begin: i128,
    bound: Option<Duration>,
    row: Row,
    seen: ListenerObservation,
}

impl Counting<'_> {
    /// What came to the listener.
    fn arrivals(&mut self, way: &Way<'_>) {
        let Some(last) = way.last else { return };
        self.row.to = Some(self.points[last.point].place.clone());
        self.row.from = way.from.map(|from| match from {
            Start::Creation => "creation".to_owned(),
            Start::FirstBit(place) => self.points[way.on[place].point].place.clone(),
        });
        let mut greatest = None;
        let mut come = BTreeSet::new();
        let mut before = None;
        for sighting in &last.all {
            if sighting.is_changed {
                self.row.changed += 1;
                continue;
            }
            if !come.insert(sighting.number) {
                self.row.repeated += 1;
                continue;
            }
            self.row.misordered += u64::from(greatest.is_some_and(|greatest| sighting.number < greatest));
            greatest = greatest.max(Some(sighting.number));
            self.seen.delivered += 1;
            let Some((_, received)) = sighting.times else { continue };
            if let Some(distance) = before.and_then(|before| span(before, received)) {
                self.seen.interval.add(distance);
            }
            before = Some(received);
            if sighting.is_doubtful {
                self.row.doubtful += 1;
                continue;
            }
            let Some(start) = way.start(sighting.number) else { continue };
            match span(start, received) {
                Some(delay) => self.delay(sighting.number, start, delay),
                None => self.row.early += 1,
            }
        }
    }

    fn delay(&mut self, number: u32, start: i128, delay: Duration) {
        let seen = &mut self.seen;
        seen.delay.add(delay);
        if let Some(histogram) = &mut seen.histogram {
            histogram.add(delay);
        }
        if seen.worst.is_none_or(|worst| delay > worst.delay) {
            let created = span(self.begin, start).unwrap_or(Duration::ZERO);
            seen.worst = Some(WorstFrame { number, created, delay });
        }
        seen.late += u64::from(self.stream.deadline.is_some_and(|deadline| delay > deadline));
        for (span, late) in &mut seen.late_at {
            *late += u64::from(delay > *span);
        }
    }

    /// What did not come.
    fn losses(&mut self, way: &Way<'_>, seen: &BTreeSet<u32>, created: u64) {
        let Some(last) = way.last else {
            (self.row.at_the_edge, self.seen.in_flight) = (created, created);
            return;
        };
        let place = |passage: &Passage| self.points[passage.point].place.clone();
        let changed: BTreeSet<u32> =
            last.all.iter().filter(|one| one.is_changed).map(|one| one.number).collect();
        let mut places: BTreeMap<Option<usize>, u64> = BTreeMap::new();
        let (mut lost, mut wrong) = (0, 0);
        for number in seen.iter().filter(|number| !last.first.contains_key(number)) {
            if changed.contains(number) {
                wrong += 1;
            } else if way.was_due(*number, self.points, self.bound) {
                lost += 1;
                *places.entry(way.last_seen(*number)).or_default() += 1;
            } else {
                self.row.at_the_edge += 1;
            }
        }
        // Numbers between others, which nothing captured.
        let nowhere = created - seen.len() as u64;
        if nowhere > 0 {
            *places.entry(None).or_default() += nowhere;
        }
        self.seen.in_flight = self.row.at_the_edge;
        self.seen.dropped =
            summed([(DropReason::BitError, wrong), (DropReason::Unknown, lost + nowhere)].into_iter());
        for (behind, frames) in places {
            let next = behind.map_or(0, |behind| behind + 1);
            let behind = behind.map(|behind| place(way.on[behind]));
            let before = place(way.on.get(next).copied().unwrap_or(last));
            self.row.losses.push(LossPlace { behind, before, frames });
        }
    }
}

/// Delays from hop to hop, where both were captured by clocks that can be compared.
fn hops(given: &Given<'_>, points: &[Point], stream: &Stream, passages: &[Passage]) -> Vec<HopObservation> {
    let at = |hop: u32| passages.iter().rfind(|passage| passage.hop == hop);
    let mut observed = Vec::with_capacity(stream.hops.len());
    for (number, hop) in stream.hops.iter().enumerate() {
        let own = at(u32::try_from(number).expect("hops are counted in u32"));
        let mut seen = HopObservation::default();
        if let Some(own) = own {
            let before = hop.previous.and_then(at).filter(|before| {
                given.are_comparable(points[before.point].file_number, points[own.point].file_number)
            });
            for (number, sighting) in &own.first {
                let start = match hop.previous {
                    Some(_) => before
                        .and_then(|before| before.first.get(number))
                        .filter(|before| !before.is_doubtful)
                        .and_then(|before| before.times)
                        .map(|(_, received)| received),
                    None => sighting.created,
                };
                let delay =
                    start.zip(sighting.times).and_then(|(start, (_, received))| span(start, received));
                let Some(delay) = delay.filter(|_| !sighting.is_doubtful) else { continue };
                let links = given.network.ports[hop.port.index()].links.expect("a hop's port is connected");
                let link = &given.network.links[links.egress.index()];
                let (transmission, way) = times_of(link, sighting.octets);
                let propagation = way.min(delay);
                let transmission = transmission.min(delay - propagation);
                seen.frames += 1;
                seen.max = seen.max.max(delay);
                // What the device takes is not seen apart from the waiting.
                seen.sums += &DelayParts {
                    queueing: delay - propagation - transmission,
                    transmission,
                    propagation,
                    ..DelayParts::default()
                };
            }
        }
        observed.push(seen);
    }
    observed
}

/// Counts the frames of a stream at the ports that send them, each at the first interface that saw it there.
fn count_ports(
    given: &Given<'_>,
    stream: &Stream,
    passages: &[Passage],
    ports: &mut [PortObservation],
) -> u64 {
    let mut counted = 0;
    for (number, hop) in stream.hops.iter().enumerate() {
        let Some(passage) = passages.iter().find(|passage| passage.hop as usize == number) else { continue };
        let links = given.network.ports[hop.port.index()].links.expect("a hop's port is connected");
        let link = &given.network.links[links.egress.index()];
        let port = &mut ports[hop.port.index()];
        for sighting in &passage.all {
            let octets = Bytes::new(sighting.octets);
            port.frames += 1;
            port.octets += octets;
            port.busy += link.rate.duration_ceil((octets + Bytes::MEDIA_OVERHEAD).bits());
            port.classes[hop.class.index()].frames += 1;
            counted += 1;
        }
    }
    counted
}

fn add_remarks(network: &Network, sightings: &Sightings, points: &[Point], remarks: &mut Vec<String>) {
    let left_out = network.streams.iter().filter(|stream| !is_followed(stream)).count();
    if left_out > 0 {
        remarks.push(format!(
            "{left_out} streams of protocols and of datagrams of several frames are not followed"
        ));
    }
    for point in points.iter().filter(|point| point.other_links > 0) {
        remarks.push(format!(
            "{}: {} packets of links that are not Ethernet are left out",
            point.file, point.other_links
        ));
    }
    if sightings.unstamped > 0 {
        remarks.push(format!("{} frames have no time stamp, and so no delay", sightings.unstamped));
    }
    for (stream, of) in network.streams.iter().zip(&sightings.streams) {
        if of.astray > 0 {
            remarks.push(format!("{} frames of {} are where it does not pass", of.astray, stream.name));
        }
    }
}
