//! Compares the backlog of a port's queues with their limits.
//!
//! A frame waits from its arrival at the queue to the start of its transmission. So the number of waiting frames of a
//! stream is limited by its arrivals within the longest such wait; and the bits of all of a class together by the
//! class's backlog. The most frames wait when the smallest do, each stream with as many as it may. A limit is compared
//! at the moment at which a frame comes, the frame itself included. Of frames whose instants are known, those of a
//! stream that can be in the queue at once are counted. Time-triggered frames wait in buffers of their
//! own.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{AtsOrganisation, PortIndex, SharedBuffer};
use tautwire_units::Bytes;

use super::{Limit, LimitKind, LimitPlace, Overflow, Whose};
use crate::analysis::Analysis;
use crate::curve::{Line, MICRO, volume};
use crate::plan::{NONE, OWN_LANE, index, wire};
use crate::port_plan::{ClassOrder, Selection};

/// Streams of a queue, of which at most so many frames wait.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    frame_min: Bytes,
    frame_max: Bytes,
    lane: u16,
    /// None: no bound.
    frames: Option<u64>,
}

/// The backlog in the queue of a class.
struct Queue {
    streams: Vec<Waiting>,
    /// Bits of the wire of all that wait; none: no bound.
    wire_bits: Option<u64>,
    /// Octets of frames.
    octets: Option<u64>,
}

impl Queue {
    /// Most frames that wait, of one lane or of all.
    fn frames(&self, lane: Option<u16>) -> Option<u64> {
        let here = self.streams.iter().filter(|one| lane.is_none_or(|lane| one.lane == lane));
        let Some(mut left) = self.wire_bits else {
            return here
                .map(|one| one.frames)
                .try_fold(0_u64, |sum, frames| Some(sum.saturating_add(frames?)));
        };
        let mut each: Vec<(u64, u64)> =
            here.map(|one| (wire(one.frame_min), one.frames.unwrap_or(u64::MAX))).collect();
        each.sort_unstable();
        let mut sum = 0;
        for (bits, frames) in each {
            let fit = frames.min(left / bits);
            sum += fit;
            left -= fit * bits;
        }
        Some(sum)
    }

    /// Most octets that wait.
    fn octets(&self) -> Option<u64> {
        let of_streams = self.sum(|one| one.frame_max.get());
        least(self.octets, of_streams)
    }

    /// Most cells of so many octets that what waits takes.
    fn cells(&self, cell: u64) -> Option<u64> {
        let of_streams = self.sum(|one| one.frame_max.get().div_ceil(cell));
        let packed = self.octets().zip(self.frames(None));
        let packed =
            packed.map(|(octets, frames)| octets.saturating_add(frames.saturating_mul(cell - 1)) / cell);
        least(of_streams, packed)
    }

    fn sum(&self, of_frame: impl Fn(&Waiting) -> u64) -> Option<u64> {
        let each = self.streams.iter().map(|one| Some(one.frames?.saturating_mul(of_frame(one))));
        each.into_iter().try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)))
    }
}

/// Cells of a port's shared buffer that may be too few, given the cells that each class needs: a class has its own,
/// and of the shared ones those that the rest may leave. The sufficient buffer has the cells that all classes need,
/// and the reserved ones, together.
pub(crate) fn buffer_limits(
    network: &Network,
    at: PortIndex,
    buffer: &SharedBuffer,
    needs: [Option<u64>; 8],
) -> impl Iterator<Item = (usize, Overflow)> {
    let cell = buffer.cell.get();
    let reserved: [u64; 8] = buffer.reserved.map(u64::from);
    let shared = u64::from(buffer.cells).saturating_sub(reserved.iter().sum());
    // No class has more than its queue takes.
    let beyond: [u64; 8] = std::array::from_fn(|class| {
        let limits = &network.ports[at.index()].classes[class];
        let (frames, octets) = (u64::from(limits.limit_frames), limits.limit_octets.get());
        let most = octets.saturating_add(frames.saturating_mul(cell - 1)) / cell;
        needs[class].map_or(most, |need| need.min(most)).saturating_sub(reserved[class])
    });
    let all = (0..8).fold(reserved.iter().sum::<u64>(), |sum, class| {
        let own = needs[class].map_or(beyond[class], |need| need.saturating_sub(reserved[class]));
        sum.saturating_add(own)
    });
    let all = Some(all).filter(|all| *all <= u64::from(u32::MAX));
    (0..8_u8).filter_map(move |class| {
        let number = usize::from(class);
        let others = (0..8).filter(|other| *other != number);
        let others = others.fold(0_u64, |sum, other| sum.saturating_add(beyond[other]));
        let left = reserved[number] + shared.saturating_sub(others);
        let need = needs[number];
        if need.is_some_and(|need| need <= left) {
            return None;
        }
        let class = TrafficClass::new(class).expect("below eight");
        let (kind, place) = (LimitKind::BUFFER_CELLS, LimitPlace::Class(at, class));
        let limit = Limit { kind, at: place, limit: u64::from(buffer.cells), needed: need.and(all) };
        Some((number, Overflow { whose: Whose::Class(at, class), limit }))
    })
}

impl Analysis<'_> {
    /// All limits that may be too small.
    pub(crate) fn overflows(&self) -> Vec<Overflow> {
        let mut found = Vec::new();
        for port in 0..index(self.plan.ports.len()) {
            self.queue_overflows(port, &mut found);
        }
        self.host_overflows(&mut found);
        self.history_overflows(&mut found);
        for service in &self.plan.services {
            service.overflows(&self.plan, &mut found);
        }
        found
    }

    /// Limits of the queues of a port that may be too small.
    pub(crate) fn queue_overflows(&self, port: u32, found: &mut Vec<Overflow>) {
        if self.plan.at_port(port).is_empty() {
            return;
        }
        let network = self.plan.network;
        let settings = &network.ports[port as usize];
        let at = PortIndex(port);
        let lane_limit = network.device(settings.node).and_then(|device| device.lane_limit);
        for class in 0..8_u8 {
            let number = usize::from(class);
            let limits = &settings.classes[number];
            let (frames, octets) = (u64::from(limits.limit_frames), limits.limit_octets.get());
            let lane_limit = lane_limit.filter(|_| self.has_lanes(port, number));
            if self.plan.of_class(port, number).is_empty() || self.is_carried(port, number) {
                continue;
            }
            // Nearly always there is so much room that no frame need be counted.
            if lane_limit.is_none() && self.surely_fits(port, number, frames, octets) {
                continue;
            }
            let queue = self.queue(port, number);
            let class = TrafficClass::new(class).expect("below eight");
            let mut hold = |whose, (kind, at), limit, needed: Option<u64>| {
                if needed.is_none_or(|needed| needed > limit) {
                    found.push(Overflow { whose, limit: Limit { kind, at, limit, needed } });
                }
            };
            let (whose, place) = (Whose::Class(at, class), LimitPlace::Class(at, class));
            hold(whose, (LimitKind::QUEUE_FRAMES, place), frames, queue.frames(None));
            hold(whose, (LimitKind::QUEUE_OCTETS, place), octets, queue.octets());
            if let Some(limit) = lane_limit {
                for (lane, reception) in self.lanes(port, number) {
                    let place = (LimitKind::LANE_FRAMES, LimitPlace::Lane(at, class, reception));
                    hold(Whose::Lane(at, class, lane), place, u64::from(limit), queue.frames(Some(lane)));
                }
            }
        }
        if let Some(buffer) = &settings.shared_buffer {
            self.buffer_overflows(port, buffer, found);
        }
    }

    /// Cells of the shared buffer.
    fn buffer_overflows(&self, port: u32, buffer: &SharedBuffer, found: &mut Vec<Overflow>) {
        let cell = buffer.cell.get();
        let is_used = |class: usize| !self.plan.of_class(port, class).is_empty();
        // None: of what comes nothing is known.
        let needs = std::array::from_fn(|class| {
            let counts = is_used(class) && !self.is_carried(port, class);
            if counts { self.queue(port, class).cells(cell) } else { Some(0) }
        });
        let of_port = buffer_limits(self.plan.network, PortIndex(port), buffer, needs);
        found.extend(of_port.filter(|(class, _)| is_used(*class)).map(|(_, overflow)| overflow));
    }

    /// Whether a service carries the frames of a class: limits of theirs are its own.
    fn is_carried(&self, port: u32, class: usize) -> bool {
        self.plan.port(port).carries(class).is_some()
    }

    /// Whether reception ports have queues of their own.
    fn has_lanes(&self, port: u32, class: usize) -> bool {
        let (selection, order) = self.plan.port(port).classes[class];
        let node = self.plan.network.ports[port as usize].node;
        let apart = |organisation| organisation == AtsOrganisation::InterleavedRegulators;
        match selection {
            Selection::Ats => {
                self.plan.network.device(node).is_some_and(|device| apart(device.ats.organisation))
            }
            _ => order != ClassOrder::Fifo,
        }
    }

    /// The lanes of a class, and the reception ports of their frames.
    fn lanes(&self, port: u32, class: usize) -> Vec<(u16, PortIndex)> {
        let mut lanes: Vec<(u16, PortIndex)> = Vec::new();
        for number in self.plan.of_class(port, class) {
            let entry = &self.plan.entries[*number as usize];
            if entry.reception != NONE && lanes.iter().all(|(lane, _)| *lane != entry.lane) {
                lanes.push((entry.lane, PortIndex(entry.reception)));
            }
        }
        lanes.sort_unstable();
        lanes
    }

    /// The largest frame of a class, those of network control too.
    fn largest(&self, port: u32, class: usize) -> Bytes {
        let entries = self.plan.of_class(port, class).iter();
        let largest = entries.map(|number| self.plan.entries[*number as usize].frame_max).max();
        let control = self.plan.port(port).control.filter(|(own, ..)| *own == class);
        let control = control.map(|(_, _, bits)| Bytes::new(bits / 8) - Bytes::MEDIA_OVERHEAD);
        largest.max(control).unwrap_or(Bytes::ZERO)
    }

    /// Bits of the wire, and octets of frames, that wait in a class at most.
    fn backlog(&self, port: u32, class: usize) -> Option<(u64, u64)> {
        let held = self.ports[port as usize][class].backlog?.get();
        if self.plan.port(port).classes[class].0 == Selection::Ats {
            // In bits of the wire, what is being sent included.
            return Some((held, held / 8));
        }
        // In bits of frames, with the frame that is being sent.
        let largest = self.largest(port, class);
        let waits = held.saturating_sub(largest.bits().get());
        let (frame, overhead) = (u128::from(largest.get()), u128::from(Bytes::MEDIA_OVERHEAD.get()));
        let wire = (u128::from(waits) * (frame + overhead)).div_ceil(frame.max(1));
        Some((u64::try_from(wire).unwrap_or(u64::MAX), waits / 8))
    }

    /// Whether the backlog of a class is within its limits, however small its frames are.
    fn surely_fits(&self, port: u32, class: usize, frames: u64, octets: u64) -> bool {
        // No frame has fewer bits than 64 octets, with or without the overhead of the medium.
        let Some(held) = self.ports[port as usize][class].backlog.map(tautwire_units::Bits::get) else {
            return false;
        };
        if held / 8 <= octets && held / 512 <= frames {
            return true;
        }
        let Some((wire_bits, held)) = self.backlog(port, class) else { return false };
        let entries = self.plan.of_class(port, class).iter();
        let smallest = entries.map(|number| self.plan.entries[*number as usize].wire_min()).min();
        let smallest =
            if self.plan.port(port).control.is_some() { Some(wire(Bytes::new(64))) } else { smallest };
        held <= octets && smallest.is_some_and(|bits| wire_bits / bits.max(1) <= frames)
    }

    /// The backlog in the queue of a class.
    fn queue(&self, port: u32, class: usize) -> Queue {
        let backlog = self.backlog(port, class);
        let numbers = self.plan.of_class(port, class);
        let of = |number: &u32| {
            let entry = &self.plan.entries[*number as usize];
            let (frame_min, frame_max) = (entry.frame_min, entry.frame_max);
            Waiting { frame_min, frame_max, lane: entry.lane, frames: self.waiting(*number) }
        };
        let mut streams: Vec<Waiting> = numbers.iter().map(of).collect();
        if let Some((_, line, bits)) = self.plan.port(port).control.filter(|(own, ..)| *own == class) {
            let frame_max = Bytes::new(bits / 8) - Bytes::MEDIA_OVERHEAD;
            let frame_min = Bytes::new(64);
            let mut waits = numbers.iter().map(|number| self.wait_in_queue(*number));
            let wait = waits.try_fold(0_u64, |most, wait| Some(most.max(wait?)));
            let frames = wait.map(|wait| frames_of(line, wait.saturating_mul(2), wire(frame_min)));
            streams.push(Waiting { frame_min, frame_max, lane: OWN_LANE, frames });
        }
        Queue { streams, wire_bits: backlog.map(|(wire, _)| wire), octets: backlog.map(|(_, octets)| octets) }
    }

    /// How long a frame of an entry is in its queue at most, true time.
    fn wait_in_queue(&self, number: u32) -> Option<u64> {
        let (entry, passage) = (&self.plan.entries[number as usize], &self.passages[number as usize]);
        Some(passage.sending_max?.saturating_sub(entry.transmission_max.0))
    }

    /// Most frames of an entry that wait in its queue.
    fn waiting(&self, number: u32) -> Option<u64> {
        let (entry, arriving) = (&self.plan.entries[number as usize], &self.arrivals[number as usize]);
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::WaitingFramesForgotten) {
            return Some(1);
        }
        if arriving.scheduled {
            // It waits in the queue before it is eligible, too: from its arrival on.
            let held = self.held(entry, self.passages[number as usize].hop_max)?;
            return u64::try_from(held / (u128::from(entry.wire_min()) * MICRO)).ok();
        }
        let by_curves = self.wait_in_queue(number).and_then(|wait| {
            let lines = arriving.brought.promised.into_iter().chain(arriving.brought.shaped);
            lines.map(|line| frames_of(line, wait, entry.wire_min())).min()
        });
        least(by_curves, self.by_instants(number as usize).map(|by_instants| by_instants.waiting))
    }
}

/// Most frames of at least so many bits of the wire that come within a closed window.
pub(super) fn frames_of(line: Line, window: u64, wire_min: u64) -> u64 {
    let bits = line.burst.saturating_add(volume(line.rate, window));
    u64::try_from(bits / (u128::from(wire_min.max(1)) * MICRO)).unwrap_or(u64::MAX)
}

/// The lesser of two bounds, of which there may be none.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
