//! End stations whose listeners or offers changed: streams begin and stop, and what was waited for is asked for.
//!
//! A talker that stops does not begin again before what it promises has room for a whole burst: so its arrival curve holds
//! for any number of starts.

use tautwire_core::srp::station::Offer;
use tautwire_units::{Duration, Instant};
use tautwire_wire::mrp::ListenerDeclaration;

use super::node::Machine;
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::Recorder;
use crate::reservation::RungEvent;

impl<R: Recorder> Engine<'_, R> {
    /// Starts the streams of a talker that listeners are ready for, stops others; asks for what was waited for.
    pub(super) fn heed_listeners(&mut self, number: usize, local: Instant) {
        let (now, network) = (self.now, self.network);
        let reserved = &network.reservation.as_ref().expect("stream reservation").streams;
        let srp = self.srp();
        let node = &mut srp.nodes[number];
        let Machine::Station(station) = &mut node.machine else { return };
        let offered = |stream: &u32| station.offer(reserved[*stream as usize].talker.stream) != Offer::None;
        let (asked, waiting) = std::mem::take(&mut node.waits_for).into_iter().partition(offered);
        node.waits_for = waiting;
        let asked: Vec<u32> = asked;
        for stream in asked {
            let wanted = &reserved[stream as usize];
            station.attach(local, wanted.talker.stream, wanted.latency_max_ns);
        }
        let mut starts = Vec::new();
        for stream in &node.talks {
            let said = station.listeners(reserved[*stream as usize].talker.stream);
            let ready = matches!(said, Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed));
            // What promised no more than it has sent is not sent again.
            let spent = node.held.get(stream) == Some(&Instant::MAX);
            if ready != node.sends.contains(stream) && !(ready && spent) {
                starts.push((*stream, ready));
            }
        }
        for (stream, ready) in starts {
            let srp = self.srp();
            let (event, of) = (if ready { RungEvent::Started } else { RungEvent::Stopped }, index(number));
            srp.rung(stream, now, of, event);
            let sends = &mut srp.nodes[number].sends;
            let stream = if ready { sends.insert(stream) } else { sends.remove(&stream) }.then_some(stream);
            let place = stream.expect("it changed");
            let stream = reserved[place as usize].stream;
            if ready {
                let held = srp.nodes[number].held.get(&place).copied();
                self.start_stream(stream, held);
            } else {
                let whole = network.streams[stream.index()].arrival.map_or(Duration::ZERO, |promise| {
                    if promise.rate.as_bps() == 0 {
                        Duration::MAX
                    } else {
                        promise.rate.duration_ceil(promise.burst)
                    }
                });
                let held = Instant::from_ps(local.as_ps().saturating_add(whole.as_ps()));
                srp.nodes[number].held.insert(place, held);
                self.talkers[stream.index()].running = false;
            }
        }
    }
}
