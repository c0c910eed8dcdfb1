//! Time-triggered virtual links in a run: network time, dispatch, acceptance.
//!
//! The slots are part of the ports (`tautwire-core`); this file gives them the corrections of their nodes' clocks: at
//! the beginning of every integration cycle each node's network time is set anew, at most so far from true time that
//! it stays within half of the precision until the next one; or protocol control frames set it (`as6802`). An
//! application that follows network time releases nothing while its node has none. Frames that are cut:
//! `started.rs`.

use tautwire_core::TrafficClass;
use tautwire_core::gates::GateTime;
use tautwire_core::time_triggered::Window;
use tautwire_core::time_triggered::dispatcher::Held;
use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_model::time_triggered::{Release, TimeTriggered};
use tautwire_units::{Duration, Instant};

use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::frame::{Handle, octets_of};
use crate::network_time::NetworkTimeObservation;
use crate::plan::{NONE, Taker, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;

/// The state of a run with time-triggered traffic.
pub(crate) struct Timed {
    cycle: Duration,
    /// The next correction of the clocks as stated; never, if protocol control frames correct them.
    next: SimTime,
    /// How far a correction may leave a clock from true time.
    error_max: u64,
    /// Per node: network time less the clock's reading.
    corrections: Vec<i64>,
    /// Per node: whether it has network time.
    synchronised: Vec<bool>,
    /// Per node: the place of the cluster whose time it has.
    clusters: Vec<u16>,
    /// Per stream: the cluster whose time all its nodes must have, if they are of several.
    links: Vec<Option<u16>>,
    /// Its observations.
    pub(crate) observed: NetworkTimeObservation,
    /// Per hop: its slot at its port, or [`NONE`], and the window of the node behind it.
    slots: Vec<u32>,
    windows: Vec<Option<Window>>,
    /// Per node: streams whose applications follow network time.
    locked: Vec<Vec<u32>>,
    random: Random,
}

/// Whether the application of a stream follows network time.
pub(crate) fn is_locked(stream: &tautwire_model::network::Stream) -> bool {
    stream.time_triggered.as_ref().is_some_and(|link| link.release == Release::Locked)
}

impl Timed {
    pub(crate) fn new(network: &Network, settings: &TimeTriggered, seed: u64) -> Self {
        let mut slots = Vec::new();
        let mut windows = Vec::new();
        let mut taken = vec![0; network.ports.len()];
        for stream in &network.streams {
            let points = stream.time_triggered.as_ref().map_or(&[][..], |link| &link.points);
            for (hop, at) in stream.hops.iter().enumerate() {
                let point = points.get(hop);
                windows.push(point.map(|point| point.window));
                slots.push(point.map_or(NONE, |_| {
                    taken[at.port.index()] += 1;
                    taken[at.port.index()] - 1
                }));
            }
        }
        let locked = |node: usize| {
            let streams = network.streams.iter().enumerate();
            let own = streams.filter(|(_, stream)| stream.talker.index() == node && is_locked(stream));
            own.map(|(number, _)| index(number)).collect()
        };
        // What the worst clock drifts until the next correction, and its step, is left to it.
        let worst = network.nodes.iter().map(|node| u128::from(node.clock.tolerance_ppb)).max().unwrap_or(0);
        let step = network.nodes.iter().map(|node| node.clock.granularity.as_ps()).max().unwrap_or(0);
        let span = u128::from(settings.integration_cycle.as_ps()) + u128::from(settings.precision.as_ps());
        let drift = u64::try_from((span * worst).div_ceil(1_000_000_000)).unwrap_or(u64::MAX);
        Self {
            cycle: settings.integration_cycle,
            next: if network.as6802.is_some() { SimTime::MAX } else { SimTime::ZERO },
            error_max: (settings.precision.as_ps() / 2)
                .saturating_sub(drift.saturating_add(step).saturating_add(4)),
            corrections: vec![0; network.nodes.len()],
            synchronised: vec![network.as6802.is_none(); network.nodes.len()],
            clusters: vec![0; network.nodes.len()],
            links: network.streams.iter().map(|stream| network.cluster_of_link(stream)).collect(),
            observed: NetworkTimeObservation::new(network),
            slots,
            windows,
            locked: (0..network.nodes.len()).map(locked).collect(),
            random: Random::new(seed, Purpose::NetworkTime, 0),
        }
    }

    /// When the clocks are corrected next.
    pub(crate) fn next(&self) -> SimTime {
        self.next
    }

    /// Whether a node has network time.
    pub(crate) fn is_synchronised(&self, node: usize) -> bool {
        self.synchronised[node]
    }

    /// The place of the cluster whose time a node has; none without network time.
    pub(crate) fn follows(&self, node: usize) -> Option<u16> {
        self.synchronised[node].then(|| self.clusters[node])
    }

    /// Whether a node has the time that a link follows.
    fn has_time_of(&self, node: usize, stream: u32) -> bool {
        let own = self.links[stream as usize];
        own.map_or_else(|| self.synchronised[node], |own| self.follows(node) == Some(own))
    }

    /// What a node's clock reads when network time is `network` there.
    pub(crate) fn reading(&self, node: usize, network: Instant) -> Instant {
        Instant::from_ps(network.as_ps().saturating_add_signed(self.corrections[node].saturating_neg()))
    }

    /// Network time at a node at a true time not long ago, by the correction that holds now.
    pub(crate) fn network(&self, node: usize, clock: LocalClock, time: SimTime) -> Instant {
        Instant::from_ps(clock.local(time).as_ps().saturating_add_signed(self.corrections[node]))
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(crate) fn timed(&self) -> Option<&Timed> {
        self.plugged.as_ref()?.timed.as_ref()
    }

    pub(crate) fn timed_mut(&mut self) -> Option<&mut Timed> {
        self.plugged.as_mut()?.timed.as_mut()
    }

    /// Corrects the clocks, if it is time.
    pub(crate) fn correct_clocks(&mut self) {
        let now = self.now;
        let Some(timed) = self.timed_mut().filter(|timed| timed.next <= now) else { return };
        timed.next = now + timed.cycle;
        self.observe_network_time();
        for node in 0..self.nodes.len() {
            self.draw_correction(node);
        }
        self.observe_network_time();
    }

    fn draw_correction(&mut self, node: usize) {
        let (now, local) = (self.now.as_ps(), self.nodes[node].clock.local(self.now));
        let Some(timed) = self.timed_mut() else { return };
        let drawn = timed.random.up_to(2 * timed.error_max);
        // Network time does not begin below zero.
        let network = (now + drawn).saturating_sub(timed.error_max);
        let correction = i64::try_from(i128::from(network) - i128::from(local.as_ps()))
            .expect("clocks that are less than 106 days apart");
        self.correct_network_time(node, correction);
    }

    /// A node follows the time of a cluster from now on.
    pub(crate) fn follow(&mut self, node: usize, cluster: u16) {
        if let Some(timed) = self.timed_mut() {
            timed.clusters[node] = cluster;
        }
    }

    /// Sets a node's network time: the clock's reading and so much.
    pub(crate) fn correct_network_time(&mut self, node: usize, correction: i64) {
        let local = self.nodes[node].clock.local(self.now);
        let Some(timed) = self.timed_mut() else { return };
        timed.corrections[node] = correction;
        let begins = !std::mem::replace(&mut timed.synchronised[node], true);
        let network = Instant::from_ps(local.as_ps().saturating_add_signed(correction));
        let locked = timed.locked[node].clone();
        self.follow_at_receptions(NodeIndex::at(node), GateTime::Ahead(correction));
        for port in self.network.nodes[node].ports.clone() {
            let Some(state) = &mut self.ports[port as usize] else { continue };
            state.egress.synchronise(local, correction);
            if state.egress.is_gated() {
                self.ask_gated(port);
            } else if state.egress.is_integrated() && !state.egress.is_empty() {
                self.arm_watched(port);
            }
        }
        for stream in locked {
            if self.talkers[stream as usize].running {
                if begins {
                    // Messages that were due in the meantime are never released.
                    self.talkers[stream as usize].source.skip_to(network);
                }
                self.talkers[stream as usize].epoch += 1;
                self.offer_source(stream);
            }
        }
        self.arm_sources(index(node));
    }

    /// A node loses network time, and with it the frames that wait for their points.
    pub(crate) fn forget_network_time(&mut self, node: usize) {
        let Some(timed) = self.timed_mut() else { return };
        timed.synchronised[node] = false;
        let locked = timed.locked[node].clone();
        for stream in locked {
            self.talkers[stream as usize].epoch += 1;
        }
        for port in self.network.nodes[node].ports.clone() {
            let Some(state) = &mut self.ports[port as usize] else { continue };
            let lost = state.egress.desynchronise();
            let waits = !state.egress.is_empty();
            for frame in lost {
                self.drop_frame(frame.slot, DropReason::Unsynchronised);
            }
            // Slots block no frame any more.
            if waits {
                self.arm_watched(port);
            }
        }
    }

    /// How far the network times of nodes that follow one cluster are apart now.
    pub(crate) fn observe_network_time(&mut self) {
        let now = self.now;
        for cluster in 0..self.timed().map_or(0, |timed| timed.observed.clusters.len()) {
            let Some(timed) = self.timed() else { return };
            let nodes = self.nodes.iter().enumerate();
            let nodes = nodes.filter(|(node, _)| timed.follows(*node).map(usize::from) == Some(cluster));
            let times = nodes.map(|(node, state)| timed.network(node, state.clock, now));
            let (least, most) = times
                .fold((Instant::MAX, Instant::ZERO), |(least, most), time| (least.min(time), most.max(time)));
            let apart = most.saturating_since(least);
            if let Some(timed) = self.timed_mut() {
                timed.observed.see(cluster, apart);
            }
        }
    }

    /// Puts a frame into the place of its link at the port of `hop`.
    pub(crate) fn hold_timed(&mut self, place: u32, hop_index: u32) {
        let Some(slot) = self.timed().map(|timed| timed.slots[hop_index as usize]) else { return };
        let hop = &self.plan.hops[hop_index as usize];
        let port_index = hop.port;
        let frame = self.slab.get_mut(place);
        (frame.hop, frame.queued) = (hop_index, self.now);
        let octets = octets_of(frame.payload, hop.overhead);
        let (payload, stream) = (frame.payload, frame.stream);
        let handle = Handle { slot: place, octets, class: TrafficClass::new(hop.class).expect("a class") };
        let port = self.ports[port_index as usize].as_ref().expect("a hop's port is connected");
        let foreign = self.timed().is_some_and(|timed| {
            timed.links[stream as usize].is_some() && !timed.has_time_of(port.node as usize, stream)
        });
        let reason = if payload > port.mtu {
            Some(DropReason::Oversize)
        } else if foreign {
            Some(DropReason::Unsynchronised)
        } else if slot == NONE {
            Some(DropReason::Unscheduled)
        } else if self.may_fail && !self.nodes[port.node as usize].up {
            Some(DropReason::NodeDown)
        } else if self.may_fail && !self.links[port.link as usize].up {
            Some(DropReason::LinkDown)
        } else {
            None
        };
        if let Some(reason) = reason {
            return self.drop_frame(place, reason);
        }
        let port = self.ports[port_index as usize].as_mut().expect("a hop's port is connected");
        let local = port.clock.local(self.now);
        match port.egress.hold(local, slot, handle) {
            Held::Waiting => {}
            Held::Overwrote(old) => self.drop_frame(old.slot, DropReason::Overwritten),
            Held::Unsynchronised => return self.drop_frame(place, DropReason::Unsynchronised),
            Held::Full => return self.drop_frame(place, DropReason::QueueFull),
        }
        self.arm_watched(port_index);
    }

    /// Whether the bridge at the end of a hop listens to a frame that it also passes on.
    pub(crate) fn is_heard_in_passing(&self, hop: usize) -> bool {
        let (first, end) = self.plan.branches_behind[hop];
        first != end && self.plan.hops[hop].taker != Taker::NOBODY
    }

    /// What was observed of network time; none without time-triggered traffic.
    pub(crate) fn network_time_observation(&self) -> Option<NetworkTimeObservation> {
        self.timed().map(|timed| timed.observed.clone())
    }

    /// Whether a received frame comes within its acceptance window, if it has one.
    pub(crate) fn is_accepted(&self, place: u32) -> bool {
        let Some(timed) = self.timed() else { return true };
        let frame = self.slab.get(place);
        let Some(window) = timed.windows[frame.hop as usize] else { return true };
        let port = self.plan.hops[frame.hop as usize].port;
        let links = self.network.ports[port as usize].links.expect("a hop's port is connected");
        let NodeIndex(node) = self.network.ports[self.network.links[links.egress.index()].to.index()].node;
        let clock = self.nodes[node as usize].clock;
        // A node without network time knows no window; a switch drops the frame then, because it does not store such frames.
        !timed.has_time_of(node as usize, frame.stream)
            || window.is_open(timed.network(node as usize, clock, frame.received))
    }
}
