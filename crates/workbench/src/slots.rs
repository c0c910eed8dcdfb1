//! Slots planned for a network with TDMA: numbers from the bounds to the planner, and the plan back into a network.
//!
//! `analysis` computes the conditions of the slots, `synthesis` places them, and the bounds of the resulting network
//! prove them once more. A station's slot holds the longest of its frames of a kind, because a frame leaves in
//! whichever slot comes first.

use std::collections::BTreeMap;

use tautwire_analysis::{AnswerDemand, SlotDemand, bounds, slot_demand};
use tautwire_core::tdma::{Carries, TdmaSlot};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex, Traffic};
use tautwire_model::tdma::OwnedSlot;
use tautwire_synthesis::tdma_slots::{
    Alone, Opening, Pair, Rounds, SlotFault, SlotPassage, SlotPlan, SlotProblem, Transfer, plan_as,
};
use tautwire_units::Duration;

/// A network with planned slots.
#[derive(Clone, Debug)]
pub struct PlannedSlots {
    /// The network with them.
    pub network: Network,
    /// The plan; owners are nodes, pairs are those of `pairs`.
    pub plan: SlotPlan,
    /// Requests and responses.
    pub pairs: Vec<(StreamIndex, StreamIndex)>,
}

/// Why slots cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlanned {
    /// The network has no TDMA.
    NoTdma,
    /// No stream answers another.
    NoPairs,
    /// The cycle is too short.
    TooShort {
        /// The shortest.
        needed: Duration,
    },
}

/// Plans the slots of a network in a cycle of this length, or in the shortest.
///
/// # Errors
/// If the network has no TDMA or no responses, or the cycle is too short.
pub fn plan_slots(network: &Network, cycle: Option<Duration>) -> Result<PlannedSlots, NotPlanned> {
    let demand = slot_demand(network).ok_or(NotPlanned::NoTdma)?;
    let (mut problem, pairs) = problem(network, &demand);
    let first = best(network, &problem, &pairs, cycle)?;
    if first.0.not_proven == 0 {
        return Ok(first.1);
    }
    // How much of a deadline a plan may use: all but what the bound of the first one has on top of it.
    let bounds = bounds(&first.1.network);
    for (number, (_, response)) in pairs.iter().enumerate() {
        let within = |deadline: Duration| {
            let known =
                bounds.streams[response.index()].listeners.iter().filter_map(|one| one.delay.as_ref().ok());
            let proven = known.copied().max().unwrap_or_default();
            deadline.saturating_sub(proven.saturating_sub(first.1.plan.round_trips[number]))
        };
        problem.pairs[number].within = network.streams[response.index()].deadline.map(within);
    }
    let again = best(network, &problem, &pairs, cycle)?;
    Ok(if again.0 < first.0 { again.1 } else { first.1 })
}

/// The plan that is best by proof. What is proven decides: of round trips, and of the deadlines of streams that take turns in
/// a slot.
fn best(
    network: &Network,
    problem: &SlotProblem,
    pairs: &[(StreamIndex, StreamIndex)],
    cycle: Option<Duration>,
) -> Result<(Rank, PlannedSlots), NotPlanned> {
    let mut best: Option<(Rank, PlannedSlots)> = None;
    let mut fault = SlotFault::NoPairs;
    for (rounds, shares) in [
        (Rounds::Apart, false),
        (Rounds::Interleaved, false),
        (Rounds::Apart, true),
        (Rounds::Interleaved, true),
    ] {
        match plan_as(problem, cycle, rounds, shares) {
            Ok(plan) if best.as_ref().is_none_or(|(_, known)| known.plan != plan) => {
                let planned = placed(network, plan, pairs);
                let rank = Rank::of(&planned);
                if best.as_ref().is_none_or(|(known, _)| rank < *known) {
                    best = Some((rank, planned));
                }
            }
            Ok(_) => {}
            Err(why) => fault = why,
        }
    }
    best.ok_or(match fault {
        SlotFault::NoPairs => NotPlanned::NoPairs,
        SlotFault::TooShort { needed } => NotPlanned::TooShort { needed },
    })
}

/// How good slots are by proof: the less, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Round trips without a bound.
    unbounded: usize,
    /// Listeners whose deadlines are not proven.
    not_proven: usize,
    /// The worst round trip.
    round_trip: Duration,
}

impl Rank {
    fn of(planned: &PlannedSlots) -> Self {
        let bounds = bounds(&planned.network);
        let (mut unbounded, mut not_proven, mut round_trip) = (0, 0, Duration::ZERO);
        for (number, stream) in bounds.streams.iter().enumerate() {
            let is_response = planned.pairs.iter().any(|(_, response)| response.index() == number);
            let deadline = planned.network.streams[number].deadline;
            for listener in &stream.listeners {
                let known = listener.delay.as_ref().ok();
                let holds = deadline.is_none_or(|deadline| known.is_some_and(|delay| *delay <= deadline));
                not_proven += usize::from(!holds);
                if is_response {
                    unbounded += usize::from(known.is_none());
                    round_trip = round_trip.max(known.copied().unwrap_or_default());
                }
            }
        }
        Self { unbounded, not_proven, round_trip }
    }
}

/// The network with planned slots.
fn placed(network: &Network, plan: SlotPlan, pairs: &[(StreamIndex, StreamIndex)]) -> PlannedSlots {
    let slot = |slot: &tautwire_synthesis::tdma_slots::PlannedSlot| OwnedSlot {
        owner: NodeIndex(slot.owner),
        slot: TdmaSlot { offset: slot.offset, period: slot.every, phase: slot.phase, carries: slot.carries },
        length: slot.length,
    };
    let network = network.with_slots(plan.cycle, plan.slots.iter().map(slot).collect());
    PlannedSlots { network, plan, pairs: pairs.to_vec() }
}

/// The planner's problem, and the streams of its pairs.
fn problem(network: &Network, demand: &SlotDemand) -> (SlotProblem, Vec<(StreamIndex, StreamIndex)>) {
    let (mut openings, mut transfers) = (Vec::new(), Vec::new());
    // Per talker and kind: which transfer.
    let mut known: BTreeMap<(NodeIndex, bool), usize> = BTreeMap::new();
    let mut of_stream = Vec::new();
    let tdma = network.tdma.as_ref().expect("there is a demand");
    for (number, stream) in network.streams.iter().enumerate() {
        let index = StreamIndex::at(number);
        let own = &demand.streams[number];
        let passages = own.passages.iter().map(|(port, from, until)| SlotPassage {
            port: port.0,
            from: *from,
            until: *until,
        });
        if matches!(stream.traffic, Traffic::Synchronisation { .. }) {
            let passages: Vec<SlotPassage> = passages.collect();
            let watch = tdma.standby.filter(|standby| standby.synchronisation == index);
            let starts = [Some(Duration::ZERO), watch.map(|standby| standby.offset)];
            let opening = |start| Opening { start, passages: passages.clone() };
            openings.extend(starts.into_iter().flatten().map(opening));
            of_stream.push(usize::MAX);
            continue;
        }
        let real_time = network.is_real_time(index);
        let place = *known.entry((stream.talker, real_time)).or_insert(transfers.len());
        if place == transfers.len() {
            let carries = if real_time { Carries::RealTime } else { Carries::Ordinary };
            let (owner, passages) = (stream.talker.0, Vec::new());
            transfers.push(Transfer { owner, carries, length: own.length, heard: own.heard, passages });
        }
        let transfer: &mut Transfer = &mut transfers[place];
        transfer.length = transfer.length.max(own.length);
        passages.for_each(|passage| merge(&mut transfer.passages, passage));
        of_stream.push(place);
    }
    let (pairs, streams, alone) = pairs(network, demand, &of_stream);
    let quantum = Duration::from_us(1);
    (SlotProblem { quantum, error: demand.error, openings, transfers, pairs, alone }, streams)
}

/// Adds a passage to those of other frames of a slot.
fn merge(passages: &mut Vec<SlotPassage>, passage: SlotPassage) {
    match passages.iter_mut().find(|known| known.port == passage.port) {
        Some(known) => {
            known.from = known.from.min(passage.from);
            known.until = known.until.max(passage.until);
        }
        None => passages.push(passage),
    }
}

type Pairs = (Vec<Pair>, Vec<(StreamIndex, StreamIndex)>, Vec<Alone>);

/// Pairs, their streams, and the transfers of streams that are neither requests nor responses.
fn pairs(network: &Network, demand: &SlotDemand, of_stream: &[usize]) -> Pairs {
    let (mut pairs, mut streams) = (Vec::new(), Vec::new());
    for (number, own) in demand.streams.iter().enumerate() {
        let Some(AnswerDemand { to, ready, way }) = own.answer else { continue };
        let (request, response) = (of_stream[to.index()], of_stream[number]);
        pairs.push(Pair { request, response, ready, way, within: None });
        streams.push((to, StreamIndex::at(number)));
    }
    let paired = |number: &usize| {
        let index = StreamIndex::at(*number);
        streams.iter().any(|(request, response)| *request == index || *response == index)
    };
    let opens = |number: &usize| matches!(network.streams[*number].traffic, Traffic::Synchronisation { .. });
    let alone = (0..network.streams.len()).filter(|number| !paired(number) && !opens(number));
    let alone = alone.map(|number| {
        let transfer = of_stream[number];
        // A stream that shares a queue with others waits for them too.
        let single = of_stream.iter().filter(|other| **other == transfer).count() == 1;
        Alone { transfer, apart_max: demand.streams[number].apart_max.filter(|_| single) }
    });
    let alone = alone.collect();
    (pairs, streams, alone)
}
