//! ATS schedulers: a description has one rate and burst size of a stream, and a step from one bridge to the next; groups have the residence time of
//! the port where their frames come in.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::{Hop, NodeIndex, PortIndex, Stream, StreamIndex};
use tautwire_units::BitRate;

use super::super::read::{Scheduler, StreamParts};
use super::{Edits, Sides};
use crate::Converted;

/// Rate and burst size.
type Parameters = (u64, u64);

/// Schedulers of streams by their bridges.
#[derive(Default)]
pub(super) struct Shapers {
    theirs: BTreeMap<StreamIndex, BTreeMap<NodeIndex, Parameters>>,
    /// Streams that have others than in the base.
    changed: BTreeSet<StreamIndex>,
}

impl Shapers {
    pub(super) fn add(&mut self, sides: &Sides<'_>, edits: &mut Edits, converted: &mut Converted) {
        let of = |parts: &StreamParts, streams: &BTreeMap<u64, StreamIndex>| {
            let mut found: BTreeMap<StreamIndex, Scheduler> = BTreeMap::new();
            for scheduler in &parts.schedulers {
                if let Some(stream) = streams.get(&scheduler.handle) {
                    found.insert(*stream, scheduler.clone());
                }
            }
            found
        };
        let theirs = of(&sides.theirs.streams, &sides.their_streams);
        let ours = of(&sides.ours.streams, &sides.our_streams);
        for scheduler in &sides.theirs.streams.schedulers {
            let is_ours = |own: &Scheduler| {
                !sides.our_streams.contains_key(&own.handle)
                    && (own.handle, own.rate, own.burst, own.residence)
                        == (scheduler.handle, scheduler.rate, scheduler.burst, scheduler.residence)
            };
            if !sides.their_streams.contains_key(&scheduler.handle)
                && !sides.ours.streams.schedulers.iter().any(is_ours)
            {
                converted.lacks(format!(
                    "{}: the scheduler of handle {}, which no function identifies",
                    scheduler.place, scheduler.handle
                ));
            }
        }
        for (stream, own) in &theirs {
            self.theirs.entry(*stream).or_default().insert(sides.number, (own.rate, own.burst));
            let is_same =
                ours.get(stream).is_some_and(|known| (known.rate, known.burst) == (own.rate, own.burst));
            if !is_same {
                self.changed.insert(*stream);
            }
        }
        for stream in ours.keys().filter(|stream| !theirs.contains_key(stream)) {
            converted.lacks(format!(
                "bridge {}: that stream {} has no scheduler; that of the base stays",
                sides.name,
                sides.stream(*stream)
            ));
        }
        self.groups(sides, &theirs, &ours, converted);
        residence(sides, &theirs, &ours, edits, converted);
    }

    /// Which streams share schedulers and groups is of the device.
    fn groups(
        &self,
        sides: &Sides<'_>,
        theirs: &BTreeMap<StreamIndex, Scheduler>,
        ours: &BTreeMap<StreamIndex, Scheduler>,
        converted: &mut Converted,
    ) {
        let shared = |all: &BTreeMap<StreamIndex, Scheduler>, what: fn(&Scheduler) -> u64| {
            let mut found: BTreeMap<u64, BTreeSet<StreamIndex>> = BTreeMap::new();
            for (stream, own) in
                all.iter().filter(|(stream, _)| theirs.contains_key(stream) && ours.contains_key(stream))
            {
                found.entry(what(own)).or_default().insert(*stream);
            }
            found.into_values().collect::<BTreeSet<_>>()
        };
        for (what, of) in [
            ("schedulers", (|own: &Scheduler| own.number) as fn(&Scheduler) -> u64),
            ("scheduler groups", |own| own.group),
        ] {
            let known = shared(ours, of);
            for streams in shared(theirs, of).difference(&known) {
                let names: Vec<&str> = streams.iter().map(|stream| sides.stream(*stream)).collect();
                converted.lacks(format!(
                    "bridge {}: which streams have common {what}: {}; the device model says it",
                    sides.name,
                    names.join(", ")
                ));
            }
        }
    }

    pub(super) fn write(&self, network: &Network, edits: &mut Edits, converted: &mut Converted) {
        for number in &self.changed {
            let stream = &network.streams[number.index()];
            let places = places(network, stream);
            let theirs = &self.theirs[number];
            // Along the way, with what the base has at bridges without a document.
            let mut along: BTreeMap<usize, BTreeSet<Parameters>> = BTreeMap::new();
            for (node, (place, own)) in &places {
                let parameters = theirs.get(node).or(own.as_ref());
                along.entry(*place).or_default().extend(parameters);
            }
            let is_placed = theirs.keys().all(|node| places.contains_key(node));
            match fitted(&along).filter(|_| is_placed) {
                Some((rate, burst, step)) => {
                    let keys = |key| ["streams", stream.name.as_str(), "shaper", key];
                    let own = fitted(&own_places(&places));
                    if own.is_none_or(|own| own.0 != rate) {
                        let text = BitRate::from_bps(rate).to_string();
                        edits.set(&keys("committed-information-rate"), &text, converted);
                    }
                    if own.is_none_or(|own| own.1 != burst) {
                        edits.set(&keys("committed-burst-size"), &format!("{burst} bit"), converted);
                    }
                    if own.map_or(step > 0, |own| own.2 != step) {
                        edits.set(&keys("rate-step"), &format!("{step} ppb"), converted);
                    }
                }
                None => {
                    for (node, (rate, burst)) in theirs {
                        converted.lacks(format!(
                            "bridge {}: {} and {burst} bit of the scheduler of stream {}; a description has one rate, with a step from bridge to bridge, and what the base has stays",
                            network.nodes[node.index()].name,
                            BitRate::from_bps(*rate),
                            stream.name
                        ));
                    }
                }
            }
        }
    }
}

/// How many schedulers are before that of a bridge, and its parameters.
type Places = BTreeMap<NodeIndex, (usize, Option<Parameters>)>;

fn places(network: &Network, stream: &Stream) -> Places {
    let mut found = Places::new();
    let of = |hop: &Hop| {
        let scheduler = &network.schedulers[hop.scheduler?.index()];
        Some((scheduler.committed_information_rate.as_bps(), scheduler.committed_burst_size.get()))
    };
    for hop in stream.hops.iter().filter(|hop| hop.previous.is_some()) {
        let (mut before, mut count) = (hop.previous, 0);
        while let Some(other) = before.map(|number| &stream.hops[number as usize]) {
            count += usize::from(other.previous.is_some() && other.scheduler.is_some());
            before = other.previous;
        }
        let node = network.ports[hop.port.index()].node;
        let known = found.entry(node).or_insert((count, None));
        known.1 = known.1.or(of(hop));
    }
    found
}

fn own_places(places: &Places) -> BTreeMap<usize, BTreeSet<Parameters>> {
    let mut along: BTreeMap<usize, BTreeSet<Parameters>> = BTreeMap::new();
    for (place, own) in places.values() {
        along.entry(*place).or_default().extend(own);
    }
    along
}

/// The rate and the burst size of the first scheduler, and the step in parts of 10⁹, of which all others follow; none if there are none.
fn fitted(along: &BTreeMap<usize, BTreeSet<Parameters>>) -> Option<(u64, u64, u64)> {
    let stated: Vec<(usize, Parameters)> =
        along.iter().flat_map(|(place, all)| all.iter().map(|own| (*place, *own))).collect();
    let &(0, (rate, burst)) = stated.first()? else { return None };
    let is_it = |step: u64| {
        stated.iter().all(|(place, own)| {
            let mut stepped = BitRate::from_bps(rate);
            for _ in 0..*place {
                stepped = stepped.fastest(step);
            }
            let octets = if step > 0 { *place as u64 } else { 0 };
            *own == (stepped.as_bps(), burst + 8 * octets)
        })
    };
    let second = stated.iter().find(|(place, _)| *place == 1).map_or(rate, |(_, own)| own.0);
    // Steps that give the second rate, which is rounded up; whole millionths before others.
    let parts = |bps: u64| u128::from(bps) * 1_000_000_000 / u128::from(rate.max(1));
    let most = u64::try_from(parts(second.saturating_sub(rate))).ok()?;
    let least = u64::try_from(parts(second.saturating_sub(rate + 1))).ok()?;
    let millionths = (least.div_ceil(1_000) * 1_000..=most).step_by(1_000);
    let step =
        [0].into_iter().chain(millionths.take(10_000)).chain([most, least + 1]).find(|step| is_it(*step))?;
    Some((rate, burst, step))
}

/// The residence times of the groups of ports where frames come in.
fn residence(
    sides: &Sides<'_>,
    theirs: &BTreeMap<StreamIndex, Scheduler>,
    ours: &BTreeMap<StreamIndex, Scheduler>,
    edits: &mut Edits,
    converted: &mut Converted,
) {
    let mut by_port: BTreeMap<PortIndex, (BTreeSet<u64>, bool)> = BTreeMap::new();
    for (number, own) in theirs {
        let stream = &sides.network.streams[number.index()];
        for hop in &stream.hops {
            let (node, port) = sides.network.far_end(hop);
            if node == sides.number {
                let known = by_port.entry(port).or_default();
                known.0.insert(own.residence);
                known.1 |= ours.get(number).is_none_or(|known| known.residence != own.residence);
            }
        }
    }
    for (port, (times, _)) in by_port.into_iter().filter(|(_, (_, is_changed))| *is_changed) {
        let name = sides.port_name(port);
        match times.first().filter(|_| times.len() == 1) {
            Some(ns) => {
                let text = if *ns == u64::from(u32::MAX) { "none".to_owned() } else { format!("{ns} ns") };
                let keys = ["nodes", sides.name, "ports", name, "max-residence-time"];
                edits.set(&keys, &text, converted);
            }
            None => {
                let times: Vec<String> = times.iter().map(|ns| format!("{ns} ns")).collect();
                converted.lacks(format!(
                    "port {}.{name}: residence times of several groups: {}; a description has one, and that of the base stays",
                    sides.name,
                    times.join(", ")
                ));
            }
        }
    }
}
