//! End stations whose listeners or offers changed: streams begin and stop, and what was waited for is asked for.
//!
//! A talker that stops does not begin again before what it promises has room for a whole burst: so its arrival curve holds
//! for any number of starts.

use tautwire_core::srp::station::Offer;
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::ListenerDeclaration;

use super::node::Machine;
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::Recorder;
use crate::reservation::RungEvent;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Starts the streams of a talker that listeners are ready for, stops others; asks for what was waited for.
    pub(super) fn heed_listeners(&mut self, number: usize, local: Instant) {
        let reserved = &self.network.srp.as_ref().expect("stream reservation").streams;
        let srp = self.srp();
        let node = &mut srp.nodes[number];
        let Machine::Station(station) = &mut node.machine else { return };
        let offered = |stream: &u32| station.offer(reserved[*stream as usize].talker.stream) != Offer::None;
        let (asked, waiting) = std::mem::take(&mut node.waits_for).into_iter().partition(offered);
        node.waits_for = waiting;
        let asked: Vec<u32> = asked;
        for stream in &asked {
            let wanted = &reserved[*stream as usize];
            station.attach(local, wanted.talker.stream, wanted.latency_max_ns);
        }
        for stream in asked {
            self.want_vlan(number, local, stream, false, true);
        }
        let node = &self.srp().nodes[number];
        let Machine::Station(station) = &node.machine else { return };
        let said = |stream: &u32| {
            let said = station.listeners(reserved[*stream as usize].talker.stream);
            (*stream, matches!(said, Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed)))
        };
        let starts: Vec<(u32, bool)> = node.talks.iter().map(said).collect();
        for (stream, ready) in starts {
            self.switch_stream(number, stream, ready);
        }
    }

    /// A talker begins or stops to send a stream.
    pub(super) fn switch_stream(&mut self, number: usize, stream: u32, ready: bool) {
        let (now, network) = (self.now, self.network);
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        let reading = self.talker_time(reserved[stream as usize].stream);
        let node = &self.srp().nodes[number];
        // What promised no more than it has sent is not sent again.
        let spent = node.held.get(&stream) == Some(&Instant::MAX);
        if ready == node.sends.contains(&stream) || (ready && spent) {
            return;
        }
        let srp = self.srp();
        srp.rung(stream, now, index(number), if ready { RungEvent::Started } else { RungEvent::Stopped });
        let sends = &mut srp.nodes[number].sends;
        let changed = if ready { sends.insert(stream) } else { sends.remove(&stream) };
        assert!(changed, "it was looked at");
        let frames = reserved[stream as usize].stream;
        if ready {
            let held = srp.nodes[number].held.get(&stream).copied();
            self.start_stream(frames, held);
        } else {
            let whole = network.streams[frames.index()].arrival.map_or(Duration::ZERO, |promise| {
                if promise.rate.as_bps() == 0 {
                    Duration::MAX
                } else {
                    promise.rate.duration_ceil(promise.burst)
                }
            });
            let held = Instant::from_ps(reading.as_ps().saturating_add(whole.as_ps()));
            srp.nodes[number].held.insert(stream, held);
            self.talkers[frames.index()].running = false;
        }
    }
}
