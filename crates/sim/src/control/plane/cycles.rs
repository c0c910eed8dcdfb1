//! Which frames left in which cycle of a period: those of the first cycles behind the warm-up, for the report's picture.
//!
//! Cycles are those of the bridge at the port, by its clock: of the port's own, or of that at the other end of an end
//! station's cable. Invariant: a run behaves the same without them.

use tautwire_model::network::{NodeKind, PortIndex, StreamIndex};
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::recorder::Recorder;

/// Records of frames that leave, for a mechanism.
pub trait Cycles {
    /// Frames of the first cycles of this period are noted: they are [`Observation::cycle_frames`](crate::Observation::cycle_frames).
    fn note_cycles(&mut self, period: Duration);
}

/// Cycles whose frames are kept.
pub const CYCLES: u64 = 32;
/// Most frames that are listed.
const FRAMES_MAX: usize = 1_500;

/// A frame on a line, within a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleFrame {
    /// The port that it left from.
    pub port: PortIndex,
    /// Its stream.
    pub stream: StreamIndex,
    /// Its number in it.
    pub number: u32,
    /// The cycle, counted from the first that began behind the warm-up.
    pub cycle: u64,
    /// First bit of the preamble, from the start of the cycle.
    pub begin: Duration,
    /// When the line was free again.
    pub end: Duration,
}

/// Frames of the first cycles.
#[derive(Debug)]
pub(crate) struct FirstCycles {
    period: Duration,
    frames: Vec<CycleFrame>,
}

impl FirstCycles {
    /// The first frames of all, in an order of their own: events of one instant come in any.
    pub(crate) fn finish(self) -> Vec<CycleFrame> {
        let mut frames = self.frames;
        frames
            .sort_unstable_by_key(|frame| (frame.cycle, frame.begin, frame.port, frame.stream, frame.number));
        frames.truncate(FRAMES_MAX);
        frames
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Cycles for Engine<'_, R, PLUGGED> {
    fn note_cycles(&mut self, period: Duration) {
        self.plugged().cycles = Some(FirstCycles { period, frames: Vec::new() });
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Keeps a frame that begins now, if its cycle is one of the first.
    pub(crate) fn note_cycle(&mut self, port: u32, stream: u32, number: u32, start: SimTime, end: SimTime) {
        let noted = self.plugged.as_ref().and_then(|plugged| plugged.cycles.as_ref());
        let Some(FirstCycles { period, .. }) = noted else { return };
        let period = *period;
        let warm = SimTime::ZERO + self.network.run.warm_up;
        if start < warm || start.since(warm) > period * (CYCLES + 2) {
            return;
        }
        let network = self.network;
        let is_bridge = |port: PortIndex| {
            let node = network.ports[port.index()].node;
            matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. }).then_some(node)
        };
        let own = PortIndex(port);
        let links = network.ports[port as usize].links.expect("a port that sends has a cable");
        let bridge = is_bridge(own).or_else(|| is_bridge(network.links[links.egress.index()].to));
        let Some(bridge) = bridge else { return };
        let clock = self.nodes[bridge.index()].clock;
        let cycle = period.as_ps();
        // Rounded up: the first that begins behind the warm-up.
        let first = clock.local(warm).as_ps().div_ceil(cycle);
        let (begin, end) = (clock.local(start).as_ps(), clock.local(end).as_ps());
        let Some(number_of_cycle) = (begin / cycle).checked_sub(first).filter(|it| *it < CYCLES) else {
            return;
        };
        let frame = CycleFrame {
            port: own,
            stream: StreamIndex(stream),
            number,
            cycle: number_of_cycle,
            begin: Duration::from_ps(begin % cycle),
            end: Duration::from_ps(begin % cycle + (end - begin)),
        };
        if let Some(cycles) = &mut self.plugged().cycles {
            cycles.frames.push(frame);
        }
    }
}
