//! Functions at the reception of frames that all ports of a node share: they are called when the last bit of a frame
//! is in, in that order over all ports (at one instant in the order of the links), and pass it, perhaps with other
//! marks, or discard it.
//!
//! A node has them or not: every frame that comes to such a node is due when its last bit is in ([`Aim::RECEPTION`]),
//! also those that no function examines, so that the stages after it see frames in order. Earlier checks of a bridge
//! (VLANs, links that are policed) come first. A damaged frame is discarded before. Functions are called in the order
//! of their list (`mechanisms.rs`).

use tautwire_core::gates::GateTime;
use tautwire_model::Network;
use tautwire_model::network::{Hop, NodeIndex, StreamIndex, TimelineAction};
use tautwire_units::{Duration, Instant};

use crate::clock::SimTime;
use crate::egress::LineTimes;
use crate::engine::Engine;
use crate::frame::{Slot, octets_of};
use crate::node::NodeState;
use crate::plan::{HopFlags, HopPlan, NONE};
use crate::recorder::Recorder;
use crate::result::{DropReason, Observation};

/// Octets of a frame without a VLAN tag in addition to its payload: without a sequence tag, and with one.
const UNTAGGED: [u8; 2] = [18, 24];

/// A frame whose last bit is in.
pub(crate) struct Arrived<'s> {
    /// The frame, after its last hop.
    pub(crate) slot: &'s mut Slot,
    /// Its node.
    pub(crate) node: NodeIndex,
    /// The reading of the node's clock.
    pub(crate) now: Instant,
    /// Its octets, destination to FCS.
    pub(crate) octets: u32,
    /// Its MAC client data, with padding.
    pub(crate) client_data: u32,
}

/// The functions of a mechanism at the receptions of all nodes.
pub(crate) trait AtReception {
    /// Whether a node has any.
    fn is_at(&self, node: NodeIndex) -> bool;

    /// The result for a frame.
    ///
    /// # Errors
    /// Why it is discarded.
    fn judge(&mut self, frame: &mut Arrived<'_>) -> Result<(), DropReason>;

    /// Whether frames after a hop may carry marks that count at its port.
    fn marks(&self, network: &Network, stream: StreamIndex, hop: &Hop) -> bool;

    /// A node begins, or comes back, when its clock reads `now`.
    fn start(&mut self, node: NodeIndex, now: Instant);

    /// The gates of a node follow this time from `now` on.
    fn follow(&mut self, node: NodeIndex, now: Instant, time: GateTime);

    /// A step of the timeline; `clocks` gives the readings of the nodes' clocks.
    fn act(&mut self, action: &TimelineAction, clocks: &dyn Fn(NodeIndex) -> Instant);

    /// A node comes back; `next` gives the numbers of the next frames of streams.
    fn renumber(&mut self, _: NodeIndex, _: &dyn Fn(StreamIndex) -> u32) {}

    /// The run ends; `clocks` gives the readings of the nodes' clocks.
    fn finish(self: Box<Self>, clocks: &dyn Fn(NodeIndex) -> Instant, observation: &mut Observation);
}

/// All functions of a run, in the order in which they are called.
pub(crate) struct Receptions(pub(crate) Vec<Box<dyn AtReception>>);

impl Receptions {
    /// Their observations, when the run ends.
    pub(crate) fn finish(self, now: SimTime, nodes: &[NodeState], observation: &mut Observation) {
        for function in self.0 {
            function.finish(&|node| nodes[node.index()].clock.local(now), observation);
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// The run begins: frames that come to nodes with functions are passed to them.
    pub(crate) fn begin_receptions(&mut self) {
        if self.plugged().receptions.0.is_empty() {
            return;
        }
        let network = self.network;
        for node in (0..network.nodes.len()).map(NodeIndex::at) {
            self.begin_receptions_of(node);
        }
        let functions = &self.plugged.as_ref().expect("a run with functions").receptions.0;
        for (number, stream) in network.streams.iter().enumerate() {
            let first = self.plan.first_hop[number] as usize;
            for (hop, described) in self.plan.hops[first..].iter_mut().zip(&stream.hops) {
                let links = network.ports[described.port.index()].links.expect("a hop's port is connected");
                let to = network.ports[network.links[links.egress.index()].to.index()].node;
                hop.flags.add(HopFlags::ASKED, functions.iter().any(|function| function.is_at(to)));
                hop.flags.add(
                    HopFlags::MARKED,
                    functions
                        .iter()
                        .any(|function| function.marks(network, StreamIndex::at(number), described)),
                );
            }
        }
    }

    /// The last bit of a frame is in at a node that has functions.
    #[cold]
    pub(crate) fn take_in(&mut self, link: u32, place: u32) {
        let slot = self.slab.get(place);
        if slot.marks.is_corrupted() {
            return self.drop_on_line(place, DropReason::BitError);
        }
        if !self.is_accepted(place) {
            return self.drop_on_line(place, DropReason::AcceptanceWindow);
        }
        let line = &self.links[link as usize];
        let (node, to_bridge) = (line.to_node, line.to_bridge);
        if slot.payload > line.to_mtu {
            return self.drop_on_line(place, DropReason::Oversize);
        }
        let hop = slot.hop;
        let HopPlan { overhead, flags, .. } = self.plan.hops[hop as usize];
        let octets = octets_of(slot.payload, overhead).get();
        let mut held = Duration::ZERO;
        if to_bridge && flags.has(HopFlags::INSPECTED) {
            match self.first_look(hop, place, self.now, link) {
                Ok(span) => held = span,
                Err(reason) => return self.drop_on_line(place, reason),
            }
        }
        let mut frame = Arrived {
            node: NodeIndex(node),
            now: self.nodes[node as usize].clock.local(self.now),
            octets: u32::from(octets),
            client_data: u32::from(octets - u16::from(overhead)),
            slot: self.slab.get_mut(place),
        };
        // The internal priority is the last node's own, and the priority of a tag is the frame's.
        frame.slot.marks.set_internal_priority(None);
        let functions = &mut self.plugged.as_mut().expect("a run with functions").receptions.0;
        if let Err(reason) = functions.iter_mut().try_for_each(|function| function.judge(&mut frame)) {
            return self.drop_on_line(place, reason);
        }
        if to_bridge {
            self.send_behind(link, place, octets, &LineTimes::over(self.now), held);
        } else {
            let slot = self.slab.remove(place);
            self.deliver(&slot, self.now);
        }
    }

    /// A frame that may carry marks reaches its port: without a tag it loses the tag's marks. True if it goes to the
    /// queue of the class of its internal priority, and all is done.
    #[cold]
    pub(crate) fn heed_marks(&mut self, place: u32, hop_index: u32) -> bool {
        let HopPlan { overhead, scheduler, port, class: usual, .. } = self.plan.hops[hop_index as usize];
        let slot = self.slab.get_mut(place);
        if UNTAGGED.contains(&overhead) {
            slot.marks.set_drop_eligible(false);
        }
        // It counts at this node alone.
        let internal = slot.marks.internal_priority();
        slot.marks.set_internal_priority(None);
        // A scheduler comes before the class for which it was made.
        let Some(priority) = internal.filter(|_| scheduler == NONE) else { return false };
        slot.hop = hop_index;
        slot.queued = SimTime::from_ps(self.now.as_ps() - slot.held_before.as_ps());
        let stream = slot.stream;
        let class = self.network.ports[port as usize].class_table.of_priority[priority.index()];
        if class.number() != usual {
            self.order.choose(stream);
        }
        self.put_into(place, hop_index, class.number(), Instant::ZERO);
        true
    }

    /// A node begins: its functions start.
    fn begin_receptions_of(&mut self, node: NodeIndex) {
        let now = self.nodes[node.index()].clock.local(self.now);
        self.plugged().receptions.0.iter_mut().for_each(|function| function.start(node, now));
    }

    /// A node comes back: its functions start again.
    pub(crate) fn start_receptions(&mut self, node: NodeIndex) {
        self.begin_receptions_of(node);
        let talkers = &self.talkers;
        let plugged = self.plugged.as_mut().expect("a run with functions");
        for function in &mut plugged.receptions.0 {
            function.renumber(node, &|stream| talkers[stream.index()].number);
        }
    }

    /// The gates of a node follow this time from now on.
    pub(crate) fn follow_at_receptions(&mut self, node: NodeIndex, time: GateTime) {
        let now = self.nodes[node.index()].clock.local(self.now);
        self.plugged().receptions.0.iter_mut().for_each(|function| function.follow(node, now, time));
    }

    /// A step of the timeline for the functions.
    #[cold]
    pub(crate) fn act_at_receptions(&mut self, action: &TimelineAction) {
        let (now, nodes) = (self.now, &self.nodes);
        let plugged = self.plugged.as_mut().expect("a run with functions");
        let clocks = |node: NodeIndex| nodes[node.index()].clock.local(now);
        plugged.receptions.0.iter_mut().for_each(|function| function.act(action, &clocks));
    }
}
