//! The worst case of a run's timeline: the parameters of a stream, a shaper or a port at its worst moment.
//!
//! A start or a change lets a source or a bucket begin anew, full; each therefore adds a burst. Rates
//! are the greatest that ever hold where they load others, and the least where they serve. Not here:
//! failures, which lose frames and never delay them (`sim`).

use std::collections::BTreeMap;

use tautwire_model::network::{
    ArrivalCurve, Network, NodeIndex, PortIndex, Stream, StreamIndex, TimelineAction,
};
use tautwire_units::{BitRate, Bits};

use crate::answers::Response;
use crate::clock::PS_PER_S;

/// A shaper over the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShaperRange {
    /// Least CommittedInformationRate.
    pub(crate) rate_min: u64,
    /// Greatest CommittedInformationRate.
    pub(crate) rate_max: u64,
    /// Least CommittedBurstSize.
    pub(crate) burst_min: u64,
    /// The least time in which its bucket fills, picoseconds.
    pub(crate) fill_min: u64,
    /// The buckets of all its times together.
    pub(crate) burst_sum: u64,
    /// Whether it is the same throughout.
    pub(crate) constant: bool,
    /// By how much its clock may run faster or slower than its node's, parts in 10⁹.
    pub(crate) deviation_ppb: u32,
}

impl ShaperRange {
    /// The burst that a full bucket surely passes, bits. A bucket knows since when it fills, so one that was full before
    /// a change holds at another rate what comes in the same time.
    pub(crate) fn burst_held(&self) -> u64 {
        if self.constant {
            return self.burst_min;
        }
        let held = u128::from(self.rate_min) * u128::from(self.fill_min) / PS_PER_S;
        self.burst_min.min(u64::try_from(held).unwrap_or(u64::MAX))
    }
}

/// The time in which a bucket fills, picoseconds, rounded down.
pub(crate) fn fill(rate: u64, burst: u64) -> u64 {
    u64::try_from(u128::from(burst) * PS_PER_S / u128::from(rate.max(1))).unwrap_or(u64::MAX)
}

/// The timeline's worst.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    curves: BTreeMap<u32, Option<ArrivalCurve>>,
    /// What streams promise after the last change of their traffic: a start begins that anew.
    changed: BTreeMap<u32, Option<ArrivalCurve>>,
    slopes: BTreeMap<(u32, u8), (BitRate, BitRate)>,
    shapers: BTreeMap<u32, Vec<(u64, u64)>>,
    restarts: BTreeMap<u32, u64>,
}

impl Timeline {
    /// Of a network.
    pub(crate) fn of(network: &Network) -> Self {
        let mut timeline = Self::default();
        for event in &network.events {
            if let TimelineAction::StartNode(node) = event.action {
                *timeline.restarts.entry(node.0).or_default() += 1;
            }
        }
        for event in &network.events {
            match &event.action {
                TimelineAction::StartStream(stream) => timeline.begin(network, *stream),
                TimelineAction::ChangeTraffic(stream, _, curve) => timeline.change(network, *stream, *curve),
                TimelineAction::ChangeIdleSlope(port, class, slope) => {
                    let range = timeline.slopes.entry((port.0, class.number())).or_insert((*slope, *slope));
                    *range = (range.0.min(*slope), range.1.max(*slope));
                }
                TimelineAction::ChangeShaper(stream, settings) => {
                    timeline.shapers.entry(stream.0).or_default().push((
                        settings.committed_information_rate.as_bps(),
                        settings.committed_burst_size.get(),
                    ))
                }
                TimelineAction::StartNode(node) => {
                    timeline.talker_returns(network, *node);
                }
                // A command/monitor pair sends nothing that is wrong.
                TimelineAction::Babble(node, _) | TimelineAction::Mistime(node, _)
                    if !network.is_high_integrity(*node) =>
                {
                    let frames = network.as6802.as_ref().map(|made| &made.frames);
                    if let Some(stream) = frames.and_then(|frames| frames[node.index()]) {
                        timeline.curves.insert(stream.0, None);
                    }
                }
                TimelineAction::Babble(..)
                | TimelineAction::Mistime(..)
                | TimelineAction::StopBabbling(_)
                | TimelineAction::RepeatFrame(..)
                | TimelineAction::StopRepeating(..)
                | TimelineAction::StopStream(_)
                | TimelineAction::CutCable(_)
                | TimelineAction::MendCable(_)
                | TimelineAction::StopNode(_)
                | TimelineAction::ChangeGates(..)
                | TimelineAction::ChangeFilters(..)
                | TimelineAction::ChangeBitErrorRate(..) => {}
            }
        }
        timeline
    }

    /// A start beyond the first adds a burst of the traffic that the stream has then.
    fn begin(&mut self, network: &Network, stream: StreamIndex) {
        let own = &network.streams[stream.index()];
        if own.started || self.curves.contains_key(&stream.0) {
            self.begin_anew(network, stream);
        } else {
            self.curves.insert(stream.0, own.arrival);
        }
    }

    fn begin_anew(&mut self, network: &Network, stream: StreamIndex) {
        let first = network.streams[stream.index()].arrival;
        let next = self.changed.get(&stream.0).copied().unwrap_or(first);
        let before = self.curves.get(&stream.0).copied().unwrap_or(first);
        self.curves.insert(stream.0, before.zip(next).map(|(old, new)| joined(old, new)));
    }

    fn change(&mut self, network: &Network, stream: StreamIndex, curve: Option<ArrivalCurve>) {
        self.changed.insert(stream.0, curve);
        self.begin_anew(network, stream);
    }

    fn talker_returns(&mut self, network: &Network, node: NodeIndex) {
        for (index, stream) in network.streams.iter().enumerate() {
            if stream.talker == node {
                self.begin_anew(network, StreamIndex::at(index));
            }
        }
    }

    /// Takes what is known of responses: they come as what they answer, whatever begins anew.
    pub(crate) fn take_responses(&mut self, responses: &[Option<Response>]) {
        for (stream, response) in (0..).zip(responses) {
            if let Some(response) = response {
                self.curves.insert(stream, Some(response.curve()));
            }
        }
    }

    /// The promise of a stream's talker over the complete run.
    pub(crate) fn arrival(&self, stream: &Stream, number: u32) -> Option<ArrivalCurve> {
        self.curves.get(&number).copied().unwrap_or(stream.arrival)
    }

    /// Least and greatest idleSlope of a class, given its first.
    pub(crate) fn idle_slope(&self, port: PortIndex, class: u8, first: BitRate) -> (u64, u64) {
        let (least, greatest) = self.slopes.get(&(port.0, class)).copied().unwrap_or((first, first));
        (least.min(first).as_bps(), greatest.max(first).as_bps())
    }

    /// A shaper of a stream at a node over the run, given its first parameters.
    pub(crate) fn shaper(&self, stream: u32, node: NodeIndex, rate: u64, burst: u64) -> ShaperRange {
        let mut range = ShaperRange {
            rate_min: rate,
            rate_max: rate,
            burst_min: burst,
            burst_sum: burst,
            fill_min: fill(rate, burst),
            constant: true,
            deviation_ppb: 0,
        };
        let changes = self.shapers.get(&stream).map_or(&[][..], Vec::as_slice);
        for (rate, burst) in changes {
            range.rate_min = range.rate_min.min(*rate);
            range.rate_max = range.rate_max.max(*rate);
            range.burst_min = range.burst_min.min(*burst);
            range.burst_sum = range.burst_sum.saturating_add(*burst);
            range.fill_min = range.fill_min.min(fill(*rate, *burst));
            range.constant = false;
        }
        if let Some(restarts) = self.restarts.get(&node.0) {
            range.burst_sum = range.burst_sum.saturating_mul(restarts + 1);
        }
        range
    }
}

/// Upper bound of the traffic when one follows the other at any time.
fn joined(one: ArrivalCurve, other: ArrivalCurve) -> ArrivalCurve {
    let burst = Bits::new(one.burst.get().saturating_add(other.burst.get()));
    ArrivalCurve { rate: one.rate.max(other.rate), burst }
}
