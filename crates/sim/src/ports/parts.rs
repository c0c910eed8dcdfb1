//! A run by ports on several processors.
//!
//! The order of ports is cut into parts. Frames go from a part to later ones alone, so each part runs its windows as soon as
//! the part before it has finished those up to the same instant, while that one goes on. Each part is an engine of its own
//! with the state of its ports and hosts; what another part's ports have never had is empty. After each of its windows a part
//! hands all frames for later ports to the next part, which keeps its own and hands on the rest.
//!
//! The result is the same whatever the number of parts is: it does not depend on windows (`ports/`), and each port takes the
//! same frames in the same order. Counters of all parts add up; what is kept per hop, port, listener or talker belongs to one.
//!
//! Memory: at most [`BATCHES`] windows wait between two parts. Each part has all tables of the network.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use tautwire_model::Network;
use tautwire_model::network::{NodeKind, Stream, Traffic, frame_length};
use tautwire_units::{BitRate, Bytes};

use super::{ByPorts, Input};
use crate::clock::SimTime;
use crate::engine::{Engine, Share};
use crate::frame::Slot;
use crate::options::Options;
use crate::order::Scheduled;
use crate::plan::index;
use crate::recorder::{NoRecorder, Recorder};
use crate::result::Observation;

/// Windows that wait between two parts at most: enough that neither waits for the other at each of them.
const BATCHES: usize = 2;

/// What a host does for a frame, in transmissions.
const CREATION: u64 = 1;

/// Ports that follow one another in the order, and the hosts that send through them first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) ports: Vec<u32>,
    pub(super) hosts: Vec<u32>,
    /// Ports of later parts.
    pub(super) later: Vec<u32>,
}

/// A frame for a port of a later part.
#[derive(Debug)]
struct Parcel {
    slot: Slot,
    input: Input,
    scheduled: Scheduled,
}

/// What a part hands to the next one when it has run up to an instant.
#[derive(Debug)]
struct Batch {
    until: SimTime,
    parcels: Vec<Parcel>,
}

/// How a part is connected to the others.
#[derive(Debug, Default)]
pub(super) struct Joint {
    /// From the part before; none of the first one.
    from: Option<Receiver<Batch>>,
    /// To the part behind; none of the last one.
    to: Option<SyncSender<Batch>>,
    /// Up to where the part before has run.
    horizon: SimTime,
    /// Ports of later parts.
    later: Vec<u32>,
    /// Transmissions of all parts but the first, for its reports of progress.
    others: Arc<AtomicU64>,
}

/// Runs a network whose ports have this order on at most so many processors.
///
/// # Panics
/// By an assertion that fails in a part.
pub(crate) fn run_in_parts(
    network: &Network,
    order: &[u32],
    options: &mut Options<'_>,
    with: impl Fn(ByPorts) -> ByPorts + Sync,
) -> Observation {
    let parts = cut(network, order, options.processors);
    let others = Arc::new(AtomicU64::new(0));
    let (seed, duration, histograms) = (options.seed, options.duration, options.histograms);
    let (with, mut from) = (&with, None);
    thread::scope(|scope| {
        let mut joints = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let (to, next) = match number + 1 < parts.len() {
                true => Some(sync_channel(BATCHES)).unzip(),
                false => (None, None),
            };
            let before = std::mem::replace(&mut from, next);
            let others = Arc::clone(&others);
            joints.push(Joint {
                from: before,
                to,
                horizon: SimTime::ZERO,
                later: part.later.clone(),
                others,
            });
        }
        let mut joined = parts.iter().zip(joints);
        let first = joined.next().expect("there is a part at least");
        let rest: Vec<_> = joined
            .map(|(part, joint)| {
                scope.spawn(move || {
                    let mut options = Options { seed, duration, histograms, ..Options::default() };
                    let mut nothing = NoRecorder;
                    let mut engine = Engine::<_, false>::new(network, &mut options, &mut nothing);
                    engine.by_ports = Some(Box::new(with(ByPorts::of_part(network, part, joint))));
                    engine.run_windows();
                    engine.into_share()
                })
            })
            .collect();
        let mut nothing = NoRecorder;
        let mut engine = Engine::<_, false>::new(network, options, &mut nothing);
        engine.by_ports = Some(Box::new(with(ByPorts::of_part(network, first.0, first.1))));
        engine.run_windows();
        // Without the end of its channel the last part would wait for this one.
        engine.by_ports = None;
        let shares = rest.into_iter().zip(&parts[1..]).map(|(thread, part)| {
            let share = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (share, part.ports.as_slice())
        });
        engine.observation_with(shares.collect())
    })
}

/// Cuts an order of ports into at most so many parts with about the same number of transmissions in a second.
fn cut(network: &Network, order: &[u32], processors: usize) -> Vec<Part> {
    let mut frames = vec![0_u64; network.ports.len()];
    for stream in &network.streams {
        let rate = frames_a_second(stream);
        for hop in &stream.hops {
            let effort = if hop.previous.is_none() { 1 + CREATION } else { 1 };
            frames[hop.port.index()] += rate * effort;
        }
    }
    let all: u64 = order.iter().map(|port| frames[*port as usize]).sum();
    let count = processors.clamp(1, order.len().max(1));
    let mut parts = vec![Part::default(); count];
    let mut place_of = vec![0; network.ports.len()];
    let mut before = 0;
    for port in order {
        // By the middle of the port's share: a port that is more than a part has one of its own.
        let middle = u128::from(before) + u128::from(frames[*port as usize] / 2);
        let place = (middle * count as u128 / u128::from(all.max(1))) as usize;
        place_of[*port as usize] = place.min(count - 1);
        parts[place.min(count - 1)].ports.push(*port);
        before += frames[*port as usize];
    }
    for (number, node) in network.nodes.iter().enumerate() {
        if matches!(node.kind, NodeKind::EndStation { .. }) {
            let own = node.ports.clone().filter(|port| network.ports[*port as usize].links.is_some());
            let first = own.map(|port| place_of[port as usize]).min().unwrap_or(0);
            parts[first].hosts.push(index(number));
        }
    }
    parts.retain(|part| !part.ports.is_empty() || !part.hosts.is_empty());
    if parts.is_empty() {
        // Bridges without cables.
        parts.push(Part::default());
    }
    for number in 0..parts.len() {
        parts[number].later = parts[number + 1..].iter().flat_map(|part| &part.ports).copied().collect();
    }
    parts
}

/// Frames of a stream in a second, about; at least one.
fn frames_a_second(stream: &Stream) -> u64 {
    let (least, most) = stream.drawn();
    let mean = Bytes::new(least.get().midpoint(most.get()));
    let wire = (frame_length(mean, stream.tagged) + Bytes::MEDIA_OVERHEAD).bits();
    let rate = match (&stream.traffic, stream.arrival) {
        (Traffic::Poisson { mean_interval }, _) => BitRate::per_period_ceil(wire, *mean_interval).ok(),
        (_, arrival) => arrival.map(|arrival| arrival.rate),
    };
    rate.map_or(1, |rate| (rate.as_bps() / wire.get()).max(1))
}

impl ByPorts {
    /// The state of a part.
    fn of_part(network: &Network, part: &Part, joint: Joint) -> Self {
        let hosts = part.hosts.clone();
        Self { joint: Some(joint), hosts, ..Self::new(network, part.ports.clone()) }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Takes what the part before has handed over until that has run beyond `from`. Gives the instant up to which it has run.
    pub(super) fn take_batches(&mut self, from: SimTime) -> SimTime {
        loop {
            let by_ports = self.by_ports();
            let Some(joint) = &mut by_ports.joint else { return SimTime::MAX };
            let Some(before) = &joint.from else { return SimTime::MAX };
            if joint.horizon > from {
                return joint.horizon;
            }
            let batch = before.recv().expect("the part before has not failed");
            joint.horizon = batch.until;
            #[cfg(feature = "planted-faults")]
            if by_ports.fault == Some(super::OrderFault::HorizonAhead) {
                joint.horizon = batch.until + tautwire_units::Duration::from_us(1);
            }
            for Parcel { slot, input, scheduled } in batch.parcels {
                let place = self.slab.insert(slot);
                self.order.restore(place, scheduled);
                let port = self.plan.hops[input.hop as usize].port;
                self.by_ports().inputs[port as usize].push(Input { place, ..input });
            }
        }
    }

    /// Hands the frames for the ports of later parts to the next one, behind a window that ended at `until`.
    pub(super) fn hand_over_batch(&mut self, until: SimTime, sent: u64) {
        let by_ports = self.by_ports.as_mut().expect("a run by ports");
        let Some(joint) = &by_ports.joint else { return };
        if joint.from.is_some() {
            joint.others.fetch_add(sent, Ordering::Relaxed);
        }
        let Some(behind) = &joint.to else { return };
        let waiting = joint.later.iter().map(|port| by_ports.inputs[*port as usize].len());
        let mut parcels = Vec::with_capacity(waiting.sum());
        for port in &joint.later {
            for input in by_ports.inputs[*port as usize].drain(..) {
                let scheduled = self.order.scheduled(input.place);
                parcels.push(Parcel { slot: self.slab.remove(input.place), input, scheduled });
            }
        }
        #[cfg(feature = "planted-faults")]
        if by_ports.fault == Some(super::OrderFault::NotHandedOn) && joint.from.is_some() {
            parcels.clear();
        }
        behind.send(Batch { until, parcels }).expect("the part behind has not failed");
    }

    /// Transmissions of the parts behind the first one, so far.
    pub(crate) fn sent_by_others(&self) -> u64 {
        let joint = self.by_ports.as_ref().and_then(|by_ports| by_ports.joint.as_ref());
        joint.map_or(0, |joint| joint.others.load(Ordering::Relaxed))
    }

    /// What this part has counted, behind its last window.
    fn into_share(mut self) -> Share {
        self.count_under_way();
        Share {
            ports: self.port_observations(),
            created: self.talkers.iter().map(|talker| talker.number).collect(),
            virtual_links: self.virtual_links.observations(),
            statistics: self.statistics,
        }
    }
}
