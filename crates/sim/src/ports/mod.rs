//! A run port by port instead of instant by instant.
//!
//! Where the graph "frames that leave this port reach that one" has no cycle, a port depends on what comes before it in
//! that order alone. A run goes through windows of time; in each window every host creates its frames, and then every
//! port, in topological order, takes all frames that reach it within the window, sorted as they come, and sends until
//! the window is over. No agenda holds all entities, and what a port needs stays in the caches.
//!
//! The result is that of the event loop, bit for bit, whatever the windows are: a port takes the frames of an instant
//! in the order of the rings (ADR 2), and then selects. Random numbers are drawn per link, host and source; sums do not
//! depend on their order; what does (the worst frame, the interval between two frames) belongs to a listener, and all
//! frames of a listener come through one port. [`order`] says where that holds; other networks run instant by instant.
//!
//! Invariant: when a port's window begins, all ports before it have finished theirs, so every frame that reaches it
//! within the window has been given to it. Frames of later windows, which a host created before its window was ended, may be there, too. Not here: what happens to a frame between two queues, which is the same code
//! (`egress.rs`, `relay.rs`, `talker.rs`).

#[cfg(feature = "planted-faults")]
mod fault;
mod order;
mod parts;
mod send;

#[cfg(feature = "planted-faults")]
pub use fault::{OrderFault, run_by_ports, run_with_processors};
pub(crate) use order::order;
pub(crate) use parts::run_in_parts;

use tautwire_core::{Selection, TrafficClass};
use tautwire_model::Network;
use tautwire_model::network::NodeKind;
use tautwire_units::{Duration, Instant};

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::{Aim, Handle, octets_of};
use crate::plan::{HopPlan, NONE, index};
use crate::recorder::Recorder;
use crate::result::{DropReason, Observation};

/// Frames that are aimed at for a window, created or transmitted: enough that what a visit to a port loads is used several times, few enough
/// that their frames stay in the second cache.
const WINDOW_FRAMES: u64 = 16_384;

/// Transmissions between two reports of progress.
const PROGRESS_FRAMES: u64 = 1 << 18;

/// A frame on its way to the queue of a port.
#[derive(Clone, Copy, Debug)]
struct Input {
    due: SimTime,
    /// The ring from which it comes.
    ring: u32,
    place: u32,
    hop: u32,
    eligible: Instant,
}

impl Input {
    /// Its place in the order of a port's inputs: time, then ring.
    #[inline]
    fn order(&self) -> u128 {
        u128::from(self.due.as_ps()) << 64 | u128::from(self.ring)
    }
}

/// The state of a run by ports, in addition to that of the engine.
#[derive(Debug)]
pub(crate) struct ByPorts {
    /// Connected ports in topological order.
    order: Vec<u32>,
    /// Nodes with a host.
    hosts: Vec<u32>,
    /// Per port the frames that reach it in this window.
    inputs: Vec<Vec<Input>>,
    /// Per port when it is to be polled; [`SimTime::MAX`] if not before a frame comes.
    wakes: Vec<SimTime>,
    /// The ring whose frames are being handed on.
    ring: u32,
    /// When the window is over.
    until: SimTime,
    /// Frames that are aimed at for a window.
    window_frames: u64,
    /// The parts before and behind this one; none of a run in one part.
    joint: Option<parts::Joint>,
    #[cfg(feature = "planted-faults")]
    fault: Option<OrderFault>,
}

impl ByPorts {
    /// Of a network whose ports are in this order.
    pub(crate) fn new(network: &Network, order: Vec<u32>) -> Self {
        let has_host = |node: &usize| matches!(network.nodes[*node].kind, NodeKind::EndStation { .. });
        Self {
            order,
            hosts: (0..network.nodes.len()).filter(has_host).map(index).collect(),
            inputs: vec![Vec::new(); network.ports.len()],
            wakes: vec![SimTime::MAX; network.ports.len()],
            ring: 0,
            until: SimTime::ZERO,
            window_frames: WINDOW_FRAMES,
            joint: None,
            #[cfg(feature = "planted-faults")]
            fault: None,
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Runs port by port.
    pub(crate) fn run_by_ports(mut self, by_ports: ByPorts) -> Observation {
        self.by_ports = Some(Box::new(by_ports));
        self.run_windows();
        self.observation()
    }

    fn run_windows(&mut self) {
        let window_frames = self.by_ports().window_frames;
        self.offer_sources();
        let over = self.end + Duration::from_ps(1);
        let mut span = self.reach;
        let (mut from, mut reported) = (SimTime::ZERO, 0);
        while from < over {
            let horizon = self.take_batches(from);
            let event = self.act_until(from);
            let wanted = SimTime::from_ps(from.as_ps().saturating_add(span.as_ps()));
            let until = over.min(wanted).min(event).min(horizon);
            let before = self.statistics.frame_hops;
            let (until, created) = self.run_window(from, until);
            let sent = self.statistics.frame_hops - before;
            self.hand_over_batch(until, sent);
            let frames = sent + created;
            if frames > window_frames * 2 {
                span = Duration::from_ps(until.since(from).as_ps().div_ceil(2));
            } else if frames < window_frames / 2 && until == wanted {
                span = span.saturating_add(span);
            }
            from = until;
            if self.statistics.frame_hops - reported >= PROGRESS_FRAMES {
                reported = self.statistics.frame_hops;
                self.report_progress();
            }
        }
        self.now = self.end;
    }

    /// Takes the steps of the timeline up to `now`, the start of a window, and gives the time of the next one.
    fn act_until(&mut self, now: SimTime) -> SimTime {
        while let Some(event) = self.network.events.get(self.next_event) {
            let at = SimTime::ZERO + event.at;
            if at > now {
                return at;
            }
            self.now = at;
            self.take_timeline();
        }
        SimTime::MAX
    }

    /// A port is to be polled now, the start of a window, or when its line is free.
    pub(crate) fn ask_by_ports(&mut self, port_index: u32) {
        let now = self.now;
        let port = self.ports[port_index as usize].as_ref().expect("a port that is asked is connected");
        let wake = if port.egress.busy_until() <= port.clock.local(now) {
            now
        } else if port.egress.is_empty() {
            SimTime::MAX
        } else {
            port.clock.true_at(port.egress.busy_until())
        };
        self.by_ports().wakes[port_index as usize] = wake;
    }

    /// All that happens from `from` up to the end of the window, which is not behind `until`. Gives the end, and the frames that hosts created.
    ///
    /// How many frames come is known only when they are created. A host that creates four times what is aimed at ends the window:
    /// so early that the other hosts together create about as many as it did, if they are like it. Its own frames wait for their windows.
    fn run_window(&mut self, from: SimTime, mut until: SimTime) -> (SimTime, u64) {
        let most = 4 * self.by_ports().window_frames;
        let (mut all, mut created) = (0, 0);
        let hosts = self.by_ports().hosts.len();
        for place in 0..hosts {
            self.by_ports().until = until;
            let node = self.by_ports().hosts[place];
            while let Some(now) = self.step_host(node, until) {
                created += 1;
                if created > most {
                    let others = Duration::from_ps(now.since(from).as_ps() / (hosts - place) as u64);
                    until = from + others.max(Duration::from_ps(1));
                    (all, created) = (all + created, 0);
                }
            }
        }
        self.by_ports().until = until;
        for place in 0..self.by_ports().order.len() {
            let port = self.by_ports().order[place];
            self.run_port(port, until);
        }
        (until, all + created)
    }

    fn by_ports(&mut self) -> &mut ByPorts {
        self.by_ports.as_mut().expect("a run by ports")
    }

    /// The next frame of a host before `until`: one that leaves it, or at one instant behind these one that its applications create.
    /// Gives the instant.
    #[inline]
    fn step_host(&mut self, node: u32, until: SimTime) -> Option<SimTime> {
        let ring = index(self.links.len()) + node;
        let leaves = self.rings[ring as usize].next_due(&self.slab).unwrap_or(SimTime::MAX);
        let host = self.hosts[node as usize].as_ref().expect("a node with a host");
        let created = host.sources.peek().map_or(SimTime::MAX, |first| first.0.0);
        let now = leaves.min(created);
        if now >= until {
            return None;
        }
        self.now = now;
        self.by_ports().ring = ring;
        if leaves == now {
            let place = self.rings[ring as usize].pop(&self.slab).expect("a frame that is due");
            self.leave_host(place);
        } else {
            self.take_source(node);
        }
        Some(now)
    }

    /// A port takes and sends frames until the window is over, and hands what arrives within it to the next ports.
    fn run_port(&mut self, port_index: u32, until: SimTime) {
        let by_ports = self.by_ports();
        let mut wake = by_ports.wakes[port_index as usize];
        let mut inputs = std::mem::take(&mut by_ports.inputs[port_index as usize]);
        // Those of one ring are in their order already, which a stable sort keeps.
        inputs.sort_by_key(Input::order);
        #[cfg(feature = "planted-faults")]
        self.spoil(&mut inputs, &mut wake);
        let mut left = inputs.as_slice();
        let port = self.ports[port_index as usize].as_ref().expect("a port of a hop is connected");
        let (clock, link) = (port.clock, port.link);
        loop {
            let due = left.first().map_or(SimTime::MAX, |input| input.due);
            let now = due.min(wake);
            if now >= until {
                break;
            }
            debug_assert!(now < SimTime::MAX, "a window is finite");
            self.now = now;
            let local = clock.local(now);
            if let [input, rest @ ..] = left
                && input.due == now
            {
                let is_alone = rest.first().is_none_or(|other| other.due > now);
                left = rest;
                if self.take_input(port_index, local, input, is_alone) {
                    wake = SimTime::MAX;
                    continue;
                }
            }
            while let [input, rest @ ..] = left
                && input.due == now
            {
                self.take_input(port_index, local, input, false);
                left = rest;
            }
            let port = self.ports[port_index as usize].as_ref().expect("a port of a hop is connected");
            if port.egress.busy_until() <= local {
                wake = self.select_by_ports(port_index, local);
            } else if wake == SimTime::MAX && !port.egress.is_empty() {
                wake = clock.true_at(port.egress.busy_until());
            }
        }
        let taken = inputs.len() - left.len();
        debug_assert!(
            inputs[taken..].iter().all(|input| input.due >= until),
            "what comes in a window is taken in it"
        );
        inputs.drain(..taken);
        let by_ports = self.by_ports();
        by_ports.inputs[port_index as usize] = inputs;
        by_ports.wakes[port_index as usize] = wake;
        by_ports.ring = link;
        while let Some(due) = self.rings[link as usize].next_due(&self.slab)
            && due < until
        {
            self.now = due;
            let place = self.rings[link as usize].pop(&self.slab).expect("a frame that is due");
            self.receive(link, place);
        }
    }

    /// A frame has reached the port of a hop.
    #[inline]
    pub(crate) fn give_to_port(&mut self, place: u32, hop: u32, eligible: Instant) {
        let due = self.now;
        let port = self.plan.hops[hop as usize].port;
        let by_ports = self.by_ports();
        let ring = by_ports.ring;
        by_ports.inputs[port as usize].push(Input { due, ring, place, hop, eligible });
    }

    /// Sends a frame on that will reach the port of a hop at `due`: without the ring of its link, if that happens within the window,
    /// nothing is in the ring before it, and nothing else is to be done when it is due.
    #[inline]
    pub(crate) fn fly_to_port(&mut self, ring: u32, place: u32, due: SimTime, hop: u32) {
        let to_mtu = self.links[ring as usize].to_mtu;
        let &HopPlan { port, scheduler, .. } = &self.plan.hops[hop as usize];
        let slot = self.slab.get_mut(place);
        let is_plain =
            scheduler == NONE && !slot.marks.is_corrupted() && slot.payload <= to_mtu && !self.may_fail;
        let by_ports = self.by_ports.as_mut().expect("a run by ports");
        if is_plain && due < by_ports.until && self.rings[ring as usize].len() == 0 {
            (slot.queued, slot.hop) = (due, hop);
            let input = Input { due, ring, place, hop, eligible: Instant::ZERO };
            by_ports.inputs[port as usize].push(input);
        } else {
            (slot.queued, slot.aim) = (due, Aim::hop(hop));
            self.rings[ring as usize].insert(&mut self.slab, place);
        }
    }

    /// A port takes a frame into its queues; or sends it at once, if it is the only one of this instant. Whether it did that.
    #[inline(always)]
    fn take_input(&mut self, port_index: u32, local: Instant, input: &Input, is_alone: bool) -> bool {
        let &Input { place, hop: hop_index, eligible, .. } = input;
        if self.may_fail && self.is_down(port_index, place) {
            return false;
        }
        let hop = &self.plan.hops[hop_index as usize];
        let payload = self.slab.get(place).payload;
        let class = TrafficClass::new(hop.class).expect("a class");
        let handle = Handle { slot: place, octets: octets_of(payload, hop.overhead), class };
        let port = self.ports[port_index as usize].as_mut().expect("a port of a hop is connected");
        if payload > port.mtu {
            self.drop_frame(place, DropReason::Oversize);
            return false;
        }
        if is_alone && port.egress.pass(local, eligible, handle) {
            let busy_until = port.clock.true_at(port.egress.busy_until());
            self.send_by_ports(port_index, handle, Duration::ZERO, busy_until);
            return true;
        }
        if port.egress.enqueue(local, hop.lane, eligible, handle).is_err() {
            self.enqueue_over(port_index, local, (hop_index, eligible), handle);
        }
        false
    }

    /// Drops a frame that has reached a port whose node or link is down. Whether it did.
    #[cold]
    fn is_down(&mut self, port_index: u32, place: u32) -> bool {
        let port = self.ports[port_index as usize].as_ref().expect("a port of a hop is connected");
        let is_oversize = self.slab.get(place).payload > port.mtu;
        let reason = if is_oversize {
            return false;
        } else if !self.nodes[port.node as usize].up {
            DropReason::NodeDown
        } else if !self.links[port.link as usize].up {
            DropReason::LinkDown
        } else {
            return false;
        };
        self.drop_frame(place, reason);
        true
    }

    /// Polls a port, and gives the instant at which it is to be polled again.
    #[inline]
    fn select_by_ports(&mut self, port_index: u32, local: Instant) -> SimTime {
        let port = self.ports[port_index as usize].as_mut().expect("a port of a hop is connected");
        match port.egress.select(local) {
            Selection::Transmit { frame, held } => {
                let busy_until = port.clock.true_at(port.egress.busy_until());
                let waits = !port.egress.is_empty();
                self.send_by_ports(port_index, frame, held, busy_until);
                if waits { busy_until } else { SimTime::MAX }
            }
            Selection::Wait(at) => port.clock.true_at(at),
            Selection::Idle => SimTime::MAX,
        }
    }
}
