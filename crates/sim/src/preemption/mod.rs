//! Frame preemption in a run (IEEE Std 802.3-2022, clause 99): what receivers make of parts of frames, and what was observed.
//!
//! Ports cut frames themselves (`tautwire-core`, `started.rs`). Here every mPacket of a link that may carry fragments is taken by the receiving
//! side at its end, in the order in which they are sent. One that is damaged loses its frame. `verification.rs`: mPackets that verify and respond.

mod verification;

use tautwire_core::preemption::{Ending, MCRC, MPacket, Reassembly, Received, VerifyStatus};
use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_observe::{Cell, Column, Shown, Table};

use crate::SimTime;
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::{Recorder, SentPart};

pub(crate) use self::verification::Verifiers;

/// The receiving side at the end of each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receivers(Vec<Reassembly>);

/// What was observed of all MAC merge sublayers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreemptionObservation {
    /// Ports that preempt, verify or respond, or may receive fragments, in the order of the network.
    pub ports: Vec<PortPreemptionObservation>,
}

/// What was observed of the MAC merge sublayer of a port (30.14.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortPreemptionObservation {
    /// The port.
    pub port: PortIndex,
    node: String,
    name: String,
    /// Whether preemption is active at the end (PreemptionActive).
    pub preemption_active: bool,
    /// How far its verification is at the end (aMACMergeStatusVerify); none if the port has no preemptable class.
    pub verify_status: Option<VerifyStatus>,
    /// Frames that were begun by the preemptable service.
    pub preemptable: u64,
    /// Additional mPackets because of preemption that were sent (FragCountTx).
    pub frag_count_tx: u64,
    /// How often the MAC was asked to hold preemptable frames (HoldCount).
    pub hold_count: u64,
    /// Additional mPackets that were received (FragCountRx).
    pub frag_count_rx: u64,
    /// Frames that were put together of several (FrameAssOkCount).
    pub frame_ass_ok_count: u64,
    /// Frames that could not be (FrameAssErrorCount).
    pub frame_ass_error_count: u64,
    /// mPackets that continued no frame (FrameSmdErrorCount).
    pub frame_smd_error_count: u64,
    /// mPackets that verify that were sent.
    pub verify_count: u64,
    /// mPackets that respond that were sent.
    pub respond_count: u64,
}

impl Receivers {
    pub(crate) fn new(network: &Network) -> Self {
        let links = if network.has_merging() { network.links.len() } else { 0 };
        Self(vec![Reassembly::default(); links])
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A part of a frame is out that is not the last.
    pub(crate) fn part_sent(&mut self, port_index: u32, place: u32, start: SimTime) {
        let Some(port) = self.ports[port_index as usize].as_ref() else { return };
        let link = &mut self.links[port.link as usize];
        let octets = port.egress.part_octets();
        let damaged = link.errs && link.corrupts((octets + MCRC) * 8);
        let slot = self.slab.get_mut(place);
        slot.marks.corrupt(damaged);
        let until = port.egress.started().map_or(0, |started| u64::from(started.sent));
        let part = SentPart {
            start,
            end: port.clock.true_at(port.egress.busy_until()),
            port: port_index,
            stream: slot.stream,
            number: slot.number,
            hop: slot.hop - self.plan.first_hop[slot.stream as usize],
            mpacket: port.egress.mpacket(),
            offset: short(until - octets),
            octets: short(octets),
            frame: port.egress.started().map_or(0, |started| started.sent + started.rest()),
            is_last: false,
        };
        self.part_received(port.link, damaged, &part);
    }

    /// The last part of a frame, or all of it, is on the line until `end`.
    pub(crate) fn last_part_sent(
        &mut self,
        port_index: u32,
        place: u32,
        (start, end): (SimTime, SimTime),
        octets: u64,
    ) {
        let Some(port) = self.ports[port_index as usize].as_ref() else { return };
        let slot = self.slab.get(place);
        let is_preemptable = port.egress.mpacket() != MPacket::Express;
        let started = port.egress.started().filter(|_| is_preemptable);
        let offset = started.map_or(0, |started| started.sent);
        let part = SentPart {
            start,
            end,
            port: port_index,
            stream: slot.stream,
            number: slot.number,
            hop: slot.hop - self.plan.first_hop[slot.stream as usize],
            mpacket: port.egress.mpacket(),
            offset,
            octets: short(octets) - offset,
            frame: short(octets),
            is_last: true,
        };
        self.part_received(port.link, slot.marks.is_corrupted(), &part);
    }

    /// The receiver at the end of a link takes an mPacket.
    fn part_received(&mut self, link: u32, damaged: bool, part: &SentPart) {
        let (mpacket, is_last) = (part.mpacket, part.is_last);
        self.recorder.part_sent(part);
        let ending = match (damaged, is_last) {
            (true, _) => Ending::Damaged,
            (false, true) => Ending::Last,
            (false, false) => Ending::More,
        };
        let Some(receiver) = self.plugged().receivers.0.get_mut(link as usize) else { return };
        let received = receiver.take(mpacket, ending);
        debug_assert!(damaged || received != Received::Corrupted, "only damage makes a wrong check sequence");
    }

    /// What was observed of frame preemption; none if no frame may be cut.
    pub(crate) fn preemption_observation(&self) -> Option<PreemptionObservation> {
        let plugged = self.plugged.as_ref()?;
        let receivers = &plugged.receivers.0;
        let mut seen = PreemptionObservation::default();
        for (number, state) in self.ports.iter().enumerate() {
            let (Some(state), port) = (state, PortIndex(index(number))) else { continue };
            let described = &self.network.ports[port.index()];
            let Some(ingress) = described.links.map(|links| links.ingress) else { continue };
            let sends_here = self.network.links[ingress.index()].from;
            let receives = self.network.preemptable(sends_here) != 0;
            if !receives && !state.egress.is_merging() {
                continue;
            }
            let stated = described.preemption.filter(|_| described.preemptable_classes() != 0);
            let verify_status = plugged.verifiers.status(port).or_else(|| {
                Some(match (stated?.verify_disabled, self.network.preemptable(port) != 0) {
                    (true, _) => VerifyStatus::Disabled,
                    (false, true) => VerifyStatus::Succeeded,
                    (false, false) => VerifyStatus::Failed,
                })
            });
            let (sent, received) = (state.egress.merge_counters(), receivers[ingress.index()].counters());
            seen.ports.push(PortPreemptionObservation {
                port,
                node: self.network.nodes[described.node.index()].name.clone(),
                name: described.name.clone(),
                preemption_active: state.egress.is_preempting(),
                verify_status,
                preemptable: sent.preemptable,
                frag_count_tx: sent.fragments,
                hold_count: state.egress.hold_count(),
                frag_count_rx: received.fragments,
                frame_ass_ok_count: received.frame_ass_ok,
                frame_ass_error_count: received.frame_ass_errors,
                frame_smd_error_count: received.frame_smd_errors,
                verify_count: sent.verifies,
                respond_count: sent.responds,
            });
        }
        (!seen.ports.is_empty()).then_some(seen)
    }
}

/// Octets of a frame.
fn short(octets: u64) -> u32 {
    u32::try_from(octets).expect("a frame is short")
}

const fn column(name: &'static str, title: &'static str) -> Column {
    Column { name, title }
}

impl Shown for PreemptionObservation {
    fn join(&self, other: &Self) -> Self {
        let mut ports: Vec<_> = self.ports.iter().chain(&other.ports).cloned().collect();
        ports.sort_by_key(|port| port.port);
        Self { ports }
    }

    fn tables(&self) -> Vec<Table> {
        let row = |port: &PortPreemptionObservation| {
            let active = if port.preemption_active { "yes" } else { "no" };
            let status = match port.verify_status {
                None => "none",
                Some(VerifyStatus::Initial) => "initial",
                Some(VerifyStatus::Verifying) => "verifying",
                Some(VerifyStatus::Succeeded) => "succeeded",
                Some(VerifyStatus::Failed) => "failed",
                Some(VerifyStatus::Disabled) => "disabled",
            };
            let words =
                [&port.node, &port.name, active, status].map(|text: &str| Cell::Text(text.to_owned()));
            let counts = [
                port.preemptable,
                port.frag_count_tx,
                port.hold_count,
                port.frag_count_rx,
                port.frame_ass_ok_count,
                port.frame_ass_error_count,
                port.frame_smd_error_count,
                port.verify_count,
                port.respond_count,
            ];
            words.into_iter().chain(counts.map(Cell::Number)).collect()
        };
        vec![Table {
            name: "preemption",
            title: "Frame preemption",
            about: "Counters of each MAC merge sublayer: frames sent by the preemptable service, mPackets beyond one for each frame, holds, what became of fragments that came, and mPackets that verify the other end and respond to it.",
            columns: vec![
                column("node", "node"),
                column("port", "port"),
                column("preemption_active", "active"),
                column("verify_status", "verification"),
                column("preemptable", "preemptable"),
                column("frag_count_tx", "fragments sent"),
                column("hold_count", "holds"),
                column("frag_count_rx", "fragments received"),
                column("frame_ass_ok_count", "put together"),
                column("frame_ass_error_count", "assembly errors"),
                column("frame_smd_error_count", "SMD errors"),
                column("verify_count", "verified"),
                column("respond_count", "responded"),
            ],
            rows: self.ports.iter().map(row).collect(),
        }]
    }
}
