//! End stations whose listeners or offers changed: streams start and stop, and awaited streams are requested.
//!
//! A talker that stops does not start again before its promise has room for a full burst: so its arrival curve holds
//! for any number of starts.

use tautwire_core::srp::{Offer, SrpNode, SrpPart};
use tautwire_model::network::NodeIndex;
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::ListenerDeclaration;

use super::Srp;
use super::reservation::RungEvent;
use crate::control::Plane;

impl Srp<'_> {
    /// Starts the streams of a talker that listeners are ready for, stops others; requests awaited streams.
    pub(super) fn heed_listeners(&mut self, node: NodeIndex, machine: &mut SrpNode, plane: &mut dyn Plane) {
        let local = plane.reading(node, plane.now());
        let reserved = &self.settings.streams;
        let SrpPart::Station(station) = machine.part_mut() else { return };
        let state = &mut self.nodes[node.index()];
        let offered = |stream: &u32| station.offer(reserved[*stream as usize].talker.stream) != Offer::None;
        let (asked, waiting): (Vec<u32>, _) =
            std::mem::take(&mut state.waits_for).into_iter().partition(offered);
        state.waits_for = waiting;
        for stream in &asked {
            let wanted = &reserved[*stream as usize];
            station.attach(local, wanted.talker.stream, wanted.latency_max_ns);
        }
        let readiness = |stream: &u32| {
            let readiness = station.listeners(reserved[*stream as usize].talker.stream);
            (
                *stream,
                matches!(readiness, Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed)),
            )
        };
        let starts: Vec<(u32, bool)> = state.talks.iter().map(readiness).collect();
        for stream in asked {
            self.want_vlan(machine, local, stream, false, true);
        }
        for (stream, ready) in starts {
            self.switch_stream(node, stream, ready, plane);
        }
    }

    /// Whether a node is the talker of a reserved stream.
    pub(crate) fn is_talker(&self, node: NodeIndex, stream: u32) -> bool {
        let frames = self.settings.streams[stream as usize].stream;
        self.network.streams[frames.index()].talker == node
    }

    /// A talker begins or stops to send a stream.
    pub(crate) fn switch_stream(&mut self, node: NodeIndex, stream: u32, ready: bool, plane: &mut dyn Plane) {
        let frames = self.settings.streams[stream as usize].stream;
        let state = &mut self.nodes[node.index()];
        let held = state.held.get(&stream).copied();
        // A stream that has sent all that it promises is not sent again.
        let spent = held == Some(Instant::MAX);
        if ready == state.sends.contains(&stream) || (ready && spent) {
            return;
        }
        if ready {
            state.sends.insert(stream);
            plane.start_stream(frames, held);
        } else {
            state.sends.remove(&stream);
            let refill = self.network.streams[frames.index()].arrival.map_or(Duration::ZERO, |promise| {
                if promise.rate.as_bps() == 0 {
                    Duration::MAX
                } else {
                    promise.rate.duration_ceil(promise.burst)
                }
            });
            let reading = plane.talker_time(frames);
            state.held.insert(stream, Instant::from_ps(reading.as_ps().saturating_add(refill.as_ps())));
            plane.stop_stream(frames);
        }
        let event = if ready { RungEvent::Started } else { RungEvent::Stopped };
        self.rung(stream, plane.now(), node, event);
    }
}
