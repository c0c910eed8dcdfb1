//! How long stream reservation among bridges takes (IEEE Std 802.1Q-2022, clauses 10.7 and 35).
//!
//! ```text
//!  talker ─(declare, frame, process)─► bridge ─(declare, frame, process)─► … ─► listener, and the same way back
//!  declare the opportunity: a window of 1.5 JoinTimes for every three MRPDUs that a port may have to fill, and the node's tick
//!  frame   the bound of the port's MRPDUs
//!  process the longest time that a node's processor works without a pause at MRPDUs, of MVRP too, of all its neighbours
//! ```
//!
//! A declaration is sent at the next opportunity that has room, and one MRPDU has room for what `VALUE_MAX` octets of
//! each stream leave; a receiver declares on at once. So the first declaration that is not refused passes from end to
//! end in that time. Before a port knows that its neighbour is in the same domain, talkers are declared as failed:
//! that is over when all have sent their domains once.

use tautwire_core::srp::mrp::JoinRule;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_model::srp::{SrpNode, StreamReservation};
use tautwire_units::{Bytes, Duration};

use super::{AdmissionBound, Context, NoAdmissionBound};
use crate::delay::delay_max;

/// Octets of the declarations of a stream at a port: talker advertise and failed in vectors of their own.
const VALUE_MAX: u64 = 28 + 37;
/// Octets of an MRPDU that streams have for certain: without version, ends, domains, and a value that found no room.
const ROOM: u64 = 1_400;
/// Octets of a full MRPDU's frame.
const FRAME_MAX: Bytes = Bytes::new(1_518);
/// MRPDUs in a window of 1.5 JoinTimes.
const IN_WINDOW: u64 = 3;
/// Busy periods of a processor that are looked at: steps, and picoseconds.
const STEPS: usize = 10_000;
const LONGEST: u64 = 1_000_000_000_000_000;

/// Times of stream reservation.
pub(super) struct Msrp<'a> {
    context: &'a Context<'a>,
    reservation: &'a StreamReservation,
    /// MRPDUs that a port needs for all declarations.
    mrpdus: u64,
    /// Per port: see [`Self::pass`].
    passes: Vec<Result<u64, NoAdmissionBound>>,
    /// When all domains are known.
    ready: Result<u64, NoAdmissionBound>,
}

impl<'a> Msrp<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        let reservation = context.network.srp.as_ref().expect("stream reservation");
        let octets = VALUE_MAX * reservation.streams.len() as u64;
        let mrpdus = octets.div_ceil(ROOM).max(1);
        let mut msrp = Self { context, reservation, mrpdus, passes: Vec::new(), ready: Ok(0) };
        let ports = (0..context.network.ports.len()).map(PortIndex::at);
        let passes: Vec<_> = ports
            .map(|port| reservation.pdus[port.index()].map_or(Ok(0), |stream| msrp.passes(port, stream)))
            .collect();
        msrp.ready = passes.iter().try_fold(0, |most, pass| Ok((*pass)?.max(most)));
        msrp.passes = passes;
        msrp
    }

    /// When all neighbours know each other's domains.
    pub(super) fn ready(&self) -> Result<u64, NoAdmissionBound> {
        self.ready
    }

    /// The bound of a stream.
    pub(super) fn bound(&self, stream: StreamIndex) -> AdmissionBound {
        let listeners = 0..self.context.network.streams[stream.index()].listeners.len();
        let most = listeners.map(|listener| self.there_and_back(stream, listener));
        let most = most.into_iter().try_fold(0, |most, one| Ok(one?.max(most)));
        match (most, self.ready) {
            (Ok(most), Ok(ready)) => {
                AdmissionBound { stream, delay: Ok(Duration::from_ps(most)), ready: Duration::from_ps(ready) }
            }
            (Err(reason), _) | (_, Err(reason)) => AdmissionBound::none(stream, reason),
        }
    }

    /// The ports of a stream's way to a listener, the talker's first.
    pub(super) fn way(&self, stream: StreamIndex, listener: usize) -> Vec<PortIndex> {
        let hops = &self.context.network.streams[stream.index()].hops;
        let mut next =
            hops.iter().position(|hop| hop.listener.is_some_and(|number| number as usize == listener));
        let mut way = Vec::new();
        while let Some(place) = next {
            way.push(hops[place].port);
            next = hops[place].previous.map(|before| before as usize);
        }
        way.reverse();
        way
    }

    fn there_and_back(&self, stream: StreamIndex, listener: usize) -> Result<u64, NoAdmissionBound> {
        self.way(stream, listener).into_iter().try_fold(0_u64, |sum, port| {
            let there = self.pass(port)?;
            let back = self.pass(self.context.far(port))?;
            Ok(sum.saturating_add(there).saturating_add(back))
        })
    }

    /// From a declaration at a port to the end of its processing at the other end of the cable.
    pub(super) fn pass(&self, port: PortIndex) -> Result<u64, NoAdmissionBound> {
        self.passes[port.index()]
    }

    fn passes(&self, port: PortIndex, stream: StreamIndex) -> Result<u64, NoAdmissionBound> {
        let pdus_of_port = self.declare_max(self.context.network.ports[port.index()].node)?;
        let there = self.context.network.ports[self.context.far(port).index()].node;
        Ok(pdus_of_port.saturating_add(self.context.frame(stream)?).saturating_add(self.hear(there)?))
    }

    /// From a declaration to the MRPDU that carries it. By induction over the MRPDUs of a port: the n-th comes when
    /// the one three before it is a window old, or its own delay after the one before it, and the node polls its
    /// timers.
    fn declare_max(&self, node: NodeIndex) -> Result<u64, NoAdmissionBound> {
        let settings = self.settings(node);
        let looks = self.looks(node)?;
        let span = |span: u64| self.context.late(span).saturating_add(looks);
        let windows = span(window(settings)).saturating_mul(self.mrpdus.div_ceil(IN_WINDOW));
        let own = match settings.timing.rule {
            JoinRule::AtOnce => 0,
            JoinRule::After(delay) => span(delay.as_ps()).saturating_mul(self.mrpdus),
            JoinRule::Random => {
                return Ok(span(settings.timing.join.as_ps()).saturating_mul(self.mrpdus));
            }
        };
        Ok(windows.saturating_add(own))
    }

    /// The longest time until a node polls its timers. Where the polling step restarts after every MRPDU, each MRPDU
    /// that may come meanwhile delays it by one step.
    fn looks(&self, node: NodeIndex) -> Result<u64, NoAdmissionBound> {
        let Some(tick) = self.settings(node).tick else { return Ok(0) };
        let step = self.context.late(tick.period.as_ps());
        if !tick.restarts {
            return Ok(step);
        }
        self.rest(node, |span| {
            let [streams, vlans] = self.heard(node, span)?;
            Ok(step.saturating_mul(1 + streams + vlans))
        })
    }

    /// The longest that a processor works at MRPDUs without a pause.
    fn hear(&self, node: NodeIndex) -> Result<u64, NoAdmissionBound> {
        let settings = self.settings(node);
        let times = [&settings.processing, &settings.talker_processing, &settings.listener_processing];
        let one: u64 = times.iter().map(|time| delay_max(time, FRAME_MAX)).sum();
        if one == 0 {
            return Ok(0);
        }
        let of_vlans = delay_max(&settings.processing, FRAME_MAX);
        self.rest(node, |span| {
            let [streams, vlans] = self.heard(node, span)?;
            Ok(one.saturating_mul(streams).saturating_add(of_vlans.saturating_mul(vlans)))
        })
    }

    /// The least span that is as long as the work which arrives in it.
    fn rest(
        &self,
        node: NodeIndex,
        of: impl Fn(u64) -> Result<u64, NoAdmissionBound>,
    ) -> Result<u64, NoAdmissionBound> {
        let mut span = 0;
        for _ in 0..STEPS {
            let next = of(span)?;
            if next <= span {
                return Ok(span);
            }
            if next > LONGEST {
                break;
            }
            span = next;
        }
        Err(NoAdmissionBound::Processor(node))
    }

    /// Most MRPDUs of MSRP, and of MVRP, that a node receives in a span from all its neighbours: three of each in its
    /// window, with the jitter of its frames' delays.
    fn heard(&self, node: NodeIndex, span: u64) -> Result<[u64; 2], NoAdmissionBound> {
        let of_vlans = self.reservation.vlan_registration.as_ref().map(|vlans| &vlans.pdus);
        let mut sums = [0_u64; 2];
        for port in self.context.network.srp_ports(node) {
            let far = self.context.far(port);
            let neighbour = self.context.network.ports[far.index()].node;
            let settings = self.settings(neighbour);
            let apart = self.context.deviation.shrink(window(settings)).saturating_sub(2).max(1);
            let pdus_of_port =
                [self.reservation.pdus[far.index()], of_vlans.and_then(|pdus| pdus[far.index()])];
            for (sum, stream) in sums.iter_mut().zip(pdus_of_port) {
                let Some(stream) = stream else { continue };
                if settings.timing.rule == JoinRule::Random {
                    return Err(NoAdmissionBound::NoLimit(neighbour));
                }
                let shaken = span.saturating_add(self.context.frame(stream)?);
                *sum = sum.saturating_add(IN_WINDOW * (shaken / apart + 1));
            }
        }
        Ok(sums)
    }

    fn settings(&self, node: NodeIndex) -> &SrpNode {
        &self.reservation.nodes[node.index()]
    }
}

/// The window of three MRPDUs, on the node's clock.
fn window(settings: &SrpNode) -> u64 {
    (settings.timing.join.as_ps() * 3).div_ceil(2)
}
