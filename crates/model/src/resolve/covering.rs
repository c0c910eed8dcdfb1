//! The least CommittedInformationRate that is enough for a stream, with the clocks at their worst.
//!
//! A scheduler that is slower than its stream, even if only because of its clock, delays it more and more. It covers
//! the stream if its rate, at its slowest clock, is at least the talker's rate at its fastest: in charged bits,
//! rounded up once where frames of one size come in intervals. With `committed-information-rate: covering` each
//! scheduler also covers the one before it, which groups of several streams need whose clocks drift. The bounds check
//! this on their own (`analysis`).
//!
//! With a tick a scheduler loses some of its rate with every frame. If no rate that its line can carry is then enough,
//! the message names the longest sufficient tick instead of a rate.

use tautwire_units::{BitRate, Bytes, Duration};

use super::models::Models;
use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use crate::frame::{Tags, frame_length};
use crate::network::{
    Clock, DeviceModel, Hop, NodeIndex, NodeKind, PortIndex, ShaperSettings, Stream, Traffic,
    TransmissionSelection,
};
use crate::tag_change::{charged_per_wire, tag_ratio, wire_per_charged};
use crate::text::codes;
use crate::text::faults::Faults;

const PPB: u128 = 1_000_000_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// Inputs of rates, of the network.
#[derive(Clone, Copy)]
pub(crate) struct CoveringRates {
    /// By how much a servo may run a talker's clock faster yet, parts in 10⁹.
    pub(crate) faster_ppb: u64,
    /// Whether traffic may restart or change: then only its promise determines its rate.
    pub(crate) changes: bool,
    /// Least MAC client data of all streams with a shaper: any of them may share a scheduler.
    pub(crate) payload_min: Bytes,
}

impl CoveringRates {
    pub(crate) fn with<'a, 't, 'm>(
        self,
        topology: &'a Topology<'t>,
        models: &'a Models<'t, 'm>,
    ) -> Covering<'a, 't, 'm> {
        let Self { faster_ppb, changes, payload_min } = self;
        Covering { topology, models, faster_ppb, changes, payload_min, tick_max: None }
    }
}

/// Inputs of a stream's schedulers.
#[derive(Clone, Copy)]
pub(crate) struct Covering<'a, 't, 'm> {
    pub(crate) topology: &'a Topology<'t>,
    pub(crate) models: &'a Models<'t, 'm>,
    /// By how much a servo may run a talker's clock faster yet, parts in 10⁹.
    pub(crate) faster_ppb: u64,
    /// Whether traffic may restart or change: then only its promise determines its rate.
    pub(crate) changes: bool,
    /// Least MAC client data of all streams with a shaper: any of them may share a scheduler.
    pub(crate) payload_min: Bytes,
    /// A tick that limits those of all schedulers, to compute the rates with it; none: each has its own.
    pub(crate) tick_max: Option<Duration>,
}

/// A tick with which no rate that a line carries covers a stream.
pub(crate) struct TooCoarse {
    /// Where it is too long, and what its line carries there, in charged bits.
    pub(crate) port: PortIndex,
    pub(crate) line: BitRate,
    pub(crate) tick: Duration,
    /// The longest that would do; none: not even a picosecond.
    pub(crate) enough: Option<Duration>,
}

impl TooCoarse {
    /// The remedy.
    pub(crate) fn help(&self) -> String {
        self.enough.map_or_else(
            || "remove `time-quantum`: times are then exact".to_owned(),
            |tick| format!("give the device a `time-quantum` of {tick} at most"),
        )
    }
}

/// A scheduler on the way of a stream.
struct Place<'a> {
    device: &'a DeviceModel,
    node: NodeIndex,
    hop: Hop,
    before: Hop,
    /// By how much its clock differs from its node's.
    deviation_ppb: u128,
}

impl Covering<'_, '_, '_> {
    /// Chooses the rates of the streams that leave it to us: of the talker's shaper, or of the first scheduler.
    pub(crate) fn choose(&self, streams: &mut Streams<'_, '_>, faults: &mut Faults) {
        for draft in streams.list.iter_mut().filter(|draft| draft.covering) {
            let first = (0..draft.stream.hops.len()).find_map(|hop| self.settings(draft, hop));
            let rate = match (draft.stream.arrival, first) {
                (None, _) => {
                    let message =
                        "its talker has no arrival curve that a shaper's rate could cover".to_owned();
                    let help = "give it an `arrival-curve`, or state `committed-information-rate`";
                    faults.error(codes::SHAPER_RATE, draft.place("shaper"), message, help);
                    continue;
                }
                (Some(_), Some(_)) if self.report_too_coarse(draft, faults) => continue,
                (Some(curve), _) if draft.stream.shaped_at_talker => {
                    self.at_talker(&draft.stream, curve.rate)
                }
                (Some(_), Some(first)) => first.committed_information_rate,
                (Some(curve), None) => curve.rate,
            };
            if let Some(shaper) = &mut draft.stream.shaper {
                shaper.committed_information_rate = rate;
            }
        }
    }

    /// Reports that no rate covers a stream because of its schedulers' ticks; true if so.
    fn report_too_coarse(&self, draft: &StreamDraft<'_, '_>, faults: &mut Faults) -> bool {
        let Some(coarse) = self.too_coarse(draft) else { return false };
        let message = format!(
            "no rate up to the {} of charged bits that the line of {} carries covers it, as times are rounded up to {} there (`time-quantum`)",
            coarse.line,
            self.topology.port_name(coarse.port),
            coarse.tick
        );
        faults.error(codes::SHAPER_RATE, draft.place("shaper"), message, coarse.help());
        true
    }

    /// The tick that is too long for any rate to cover a stream; none: one does, or it is not for a tick that none does.
    pub(crate) fn too_coarse(&self, draft: &StreamDraft<'_, '_>) -> Option<TooCoarse> {
        let stream = &draft.stream;
        let fails = |of: &Self| {
            (0..stream.hops.len()).find_map(|hop| {
                let place = of.place(stream, hop)?;
                let needed = if draft.covering {
                    of.settings(draft, hop)?.committed_information_rate
                } else {
                    of.least(stream, &place)?
                };
                let line = of.line(stream, &place)?;
                (needed > line).then_some((place.hop.port, line))
            })
        };
        let places = (0..stream.hops.len()).filter_map(|hop| self.place(stream, hop));
        let tick = places.filter_map(|place| self.tick(&place)).max()?;
        let (port, line) = fails(self)?;
        let with = |ps| Self { tick_max: Some(Duration::from_ps(ps)), ..*self };
        if fails(&with(0)).is_some() {
            return None;
        }
        let (mut enough, mut too_long) = (0, tick.as_ps());
        while too_long - enough > 1 {
            let middle = enough + (too_long - enough) / 2;
            *(if fails(&with(middle)).is_some() { &mut too_long } else { &mut enough }) = middle;
        }
        let enough = (enough > 0).then_some(Duration::from_ps(enough));
        Some(TooCoarse { port, line, tick, enough })
    }

    /// What a scheduler's line carries, in charged bits on the clock of its node.
    fn line(&self, stream: &Stream, place: &Place<'_>) -> Option<BitRate> {
        let links = self.topology.ports[place.hop.port.index()].links?;
        let rate = u128::from(self.topology.links[links.egress.index()].rate.as_bps());
        let (tags, overhead) = charge(place);
        Some(bit_rate(scaled(rate, charged_per_wire(stream, tags, overhead))))
    }

    /// The step to which a scheduler rounds its times up.
    fn tick(&self, place: &Place<'_>) -> Option<Duration> {
        let tick = place.device.ats.time_quantum?;
        Some(self.tick_max.map_or(tick, |most| tick.min(most))).filter(|tick| !tick.is_zero())
    }

    /// The parameters at a hop of a stream that leaves its rate to us; none at a hop without a scheduler.
    pub(crate) fn settings(&self, draft: &StreamDraft<'_, '_>, hop: usize) -> Option<ShaperSettings> {
        let stream = &draft.stream;
        let shaper = stream.shaper?;
        let place = self.place(stream, hop)?;
        let needed = self.least(stream, &place)?;
        let mut before = stream.hops[hop].previous;
        while let Some(number) = before {
            if let Some(from) = self.place(stream, number as usize) {
                let known = self.settings(draft, number as usize)?;
                if needed <= known.committed_information_rate && self.is_same(stream, &from, &place) {
                    return Some(known);
                }
                let rate = known.committed_information_rate.as_bps();
                let through = (u128::from(rate) * (PPB + from.deviation_ppb)).div_ceil(PPB);
                let (tags, overhead) = charge(&from);
                let sent = wire_per_charged(stream, tags, overhead);
                let sent = self.fastest(from.node, scaled(through, sent));
                let rate = self.covered(&place, self.here(stream, &place, from.hop.tagged, sent));
                return Some(ShaperSettings {
                    committed_information_rate: rate.max(needed),
                    committed_burst_size: known.committed_burst_size + Bytes::new(1).bits(),
                });
            }
            before = stream.hops[number as usize].previous;
        }
        let mut rate = needed;
        if let Some(curve) = stream.arrival.filter(|_| stream.shaped_at_talker) {
            let shaped = u128::from(self.at_talker(stream, curve.rate).as_bps());
            let sent = self.fastest(stream.talker, shaped);
            rate = rate.max(self.covered(&place, self.here(stream, &place, stream.tagged, sent)));
        }
        Some(ShaperSettings { committed_information_rate: rate, ..shaper })
    }

    /// The least rate that is enough for all schedulers of a stream, where they have the `stated` one, and the port of
    /// the one that needs it; none for a stream without schedulers or without a promise.
    pub(crate) fn least_of_all(&self, stream: &Stream, stated: BitRate) -> Option<(BitRate, PortIndex)> {
        let exact = Self { tick_max: Some(Duration::ZERO), ..*self };
        let places = (0..stream.hops.len()).filter_map(|hop| self.place(stream, hop));
        let rates = places.filter_map(|place| {
            let exactly = exact.least(stream, &place)?;
            let enough = stated >= exactly && self.octet_is_exact(&place, stated);
            let least = if enough { exactly } else { self.least(stream, &place)? };
            Some((least, place.hop.port))
        });
        rates.max_by_key(|(rate, port)| (*rate, core::cmp::Reverse(*port)))
    }

    /// Whether an octet takes a whole number of ticks at a rate: then no time is lost to rounding.
    fn octet_is_exact(&self, place: &Place<'_>, rate: BitRate) -> bool {
        let tick = self.tick(place).map_or(1, |tick| u128::from(tick.as_ps()));
        place.deviation_ppb == 0 && (8 * PS_PER_S).is_multiple_of((u128::from(rate.as_bps()) * tick).max(1))
    }

    /// As fast as the talker sends, for its own shaper, which its own clock drives.
    fn at_talker(&self, stream: &Stream, promised: BitRate) -> BitRate {
        let rate = self.fastest(stream.talker, u128::from(promised.fastest(self.faster_ppb).as_bps()));
        bit_rate(self.fastest(stream.talker, rate))
    }

    /// The scheduler of a hop, if it has one.
    fn place(&self, stream: &Stream, hop: usize) -> Option<Place<'_>> {
        let hop = stream.hops[hop];
        let before = stream.hops[hop.previous? as usize];
        let port = &self.topology.ports[hop.port.index()];
        if port.classes[hop.class.index()].selection != TransmissionSelection::Ats {
            return None;
        }
        let node = &self.topology.nodes[port.node.index()];
        let NodeKind::Bridge { device, .. } = node.kind else { return None };
        let device = self.models.device_at(device);
        let links = self.topology.ports[before.port.index()].links?;
        let reception = self.topology.links[links.egress.index()].to;
        let first = node.ports.start;
        let deviation = device.clock_rate_deviation_max_ppb(reception.0 - first, hop.port.0 - first);
        Some(Place { device, node: port.node, hop, before, deviation_ppb: u128::from(deviation) })
    }

    /// The least rate that covers what the talker of a stream sends.
    fn least(&self, stream: &Stream, place: &Place<'_>) -> Option<BitRate> {
        let promised = stream.arrival?.rate.fastest(self.faster_ppb);
        let sent = self.fastest(stream.talker, u128::from(promised.as_bps()));
        let mut here = self.here(stream, place, stream.tagged, sent);
        if let Traffic::Periodic { interval, burst, .. } = stream.traffic
            && !self.changes
            && self.faster_ppb == 0
        {
            let frame = frame_length(stream.payload_max, place.before.tagged);
            let bits = (frame + place.device.ats.charged_overhead).bits().get();
            let bits = u128::from(bits) * u128::from(burst) * PS_PER_S;
            let sent = self.fastest(stream.talker, bits.div_ceil(u128::from(interval.as_ps().max(1))));
            here = here.min(self.fastest(place.node, sent));
        }
        Some(self.covered(place, here))
    }

    /// A rate of bits of the wire in true time, as charged bits on the clock of a scheduler's node.
    fn here(&self, stream: &Stream, place: &Place<'_>, tagged: impl Into<Tags>, sent: u128) -> u128 {
        let here = scaled(sent, tag_ratio(stream, tagged, place.hop.tagged));
        let (tags, overhead) = charge(place);
        scaled(self.fastest(place.node, here), charged_per_wire(stream, tags, overhead))
    }

    /// The least rate of a scheduler that certainly passes a rate on the clock of its node: its own clock may be
    /// slower, and with a tick it loses the rounding of every frame.
    fn covered(&self, place: &Place<'_>, rate: u128) -> BitRate {
        let mut rate = rate;
        if let Some(tick) = self.tick(place) {
            let octets = frame_length(self.payload_min, false) + place.device.ats.charged_overhead;
            let octets = u128::from(octets.get());
            let lost = 4 * u128::from(tick.as_ps()) + 4;
            let time = (octets * 8 * PS_PER_S / rate.max(1)).saturating_sub(lost).max(1);
            rate = (octets * 8 * PS_PER_S).div_ceil(time).max(rate);
        }
        bit_rate((rate * PPB).div_ceil(PPB - place.deviation_ppb.min(PPB - 1)))
    }

    /// A rate on a node's clock as fast as it can seem in true time, and the other way round.
    fn fastest(&self, node: NodeIndex, rate: u128) -> u128 {
        let Clock { tolerance_ppb, .. } = self.topology.nodes[node.index()].clock;
        let rho = u128::from(tolerance_ppb).min(PPB - 1);
        let deviation = (rho * PPB).div_ceil(PPB - rho);
        (rate * (PPB + deviation)).div_ceil(PPB)
    }

    /// Whether two schedulers in a row do the same at all times.
    fn is_same(&self, stream: &Stream, one: &Place<'_>, other: &Place<'_>) -> bool {
        let is_perfect = |place: &Place<'_>| {
            self.topology.nodes[place.node.index()].clock.tolerance_ppb == 0 && place.deviation_ppb == 0
        };
        let is_next = other.hop.previous.is_some_and(|number| stream.hops[number as usize] == one.hop);
        is_next
            && is_perfect(one)
            && is_perfect(other)
            && one.before.tagged == other.before.tagged
            && one.device.ats.time_quantum == other.device.ats.time_quantum
            && one.device.ats.charged_overhead == other.device.ats.charged_overhead
    }
}

fn bit_rate(bps: u128) -> BitRate {
    BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

fn scaled(rate: u128, (num, den): (u64, u64)) -> u128 {
    (rate * u128::from(num)).div_ceil(u128::from(den))
}

/// Whether frames come to a place with a tag and leave it with one, and the overhead that its scheduler charges.
fn charge(place: &Place<'_>) -> ((Tags, Tags), Bytes) {
    ((place.before.tagged, place.hop.tagged), place.device.ats.charged_overhead)
}
