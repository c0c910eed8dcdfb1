//! The effects of a mechanism's attachment on the data plane of a run: clocks and frames here, other topics in files of their own.
//!
//! No mechanism is named: what one needs of the data plane another may need too. A bridge on real interfaces offers
//! the same interface.

mod cycles;
mod filtering;
mod handing_down;
mod network_time;
mod notes;
mod policing;
mod pooling;
mod servers;
mod shaping;
mod talkers;

use tautwire_core::gptp::{Adjustment, DisciplinedClock};
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Instant};

use super::contents::Frame;
use super::controls::Deferred;
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::recorder::Recorder;

pub(crate) use cycles::FirstCycles;
pub use cycles::{CYCLES, CycleFrame, Cycles};
pub(crate) use filtering::Filters;
pub use filtering::{Filtering, Shut};
pub use handing_down::{HandedDown, HandingDown};
pub use network_time::NetworkTime;
pub use notes::Notes;
pub(crate) use policing::Policers;
pub use policing::Policing;
pub use pooling::Pooling;
pub(crate) use pooling::Pools;
pub use servers::Servers;
pub use shaping::Shaping;
pub use talkers::Talkers;

/// The actions of a mechanism on the data plane.
pub trait Plane:
    NetworkTime + Policing + Pooling + Servers + Cycles + HandingDown + Talkers + Notes + Shaping + Filtering
{
    /// True time.
    fn now(&self) -> SimTime;

    /// The reading of a node's clock at a true time.
    fn reading(&self, node: NodeIndex, at: SimTime) -> Instant;

    /// The first true time at which a node's clock reads at least `reading`.
    fn true_at(&self, node: NodeIndex, reading: Instant) -> SimTime;

    /// Whether the cable of a port is up and the nodes at both of its ends run.
    fn is_up(&self, port: PortIndex) -> bool;

    /// Hands a frame to the port of its stream, after the calling runner has acted; `payload` is its number of payload octets.
    fn send(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes);

    /// The clock that a node's applications see was corrected: what they send has new instants.
    fn correct_clock(&mut self, node: NodeIndex, clock: DisciplinedClock, adjustment: Adjustment);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Plane for Engine<'_, R, PLUGGED> {
    fn now(&self) -> SimTime {
        self.now
    }

    fn reading(&self, node: NodeIndex, at: SimTime) -> Instant {
        self.nodes[node.index()].clock.local(at)
    }

    fn true_at(&self, node: NodeIndex, reading: Instant) -> SimTime {
        self.nodes[node.index()].clock.true_at(reading)
    }

    fn is_up(&self, port: PortIndex) -> bool {
        let Some(links) = self.network.ports[port.index()].links else { return false };
        let link = &self.network.links[links.egress.index()];
        let ends = [link.from, link.to].map(|end| self.network.ports[end.index()].node);
        self.links[links.egress.index()].up && ends.iter().all(|node| self.nodes[node.index()].up)
    }

    fn send(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes) {
        let deferred = Deferred::Send(stream, frame, payload);
        self.plugged().controls.deferred.push_back(deferred);
    }

    fn correct_clock(&mut self, node: NodeIndex, clock: DisciplinedClock, adjustment: Adjustment) {
        self.plugged().controls.corrected[node.index()] = Some(clock);
        self.recorder.disciplined(node.0, clock);
        self.gates_follow(node, clock);
        self.offer_by_corrected_clock(node, clock, adjustment);
    }
}
