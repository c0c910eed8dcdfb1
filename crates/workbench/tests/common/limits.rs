//! Small limits drawn for a network, and frames that a run loses where no limit is reported as too small.

use tautwire_sim::{DropReason, Observation};
use tautwire_units::Bytes;
use tautwire_workbench::network::{Parts, SharedBuffer, StreamIndex};
use tautwire_workbench::{Bounds, Network, losses};

/// Numbers by a seed.
struct Draw(u64);

impl Draw {
    /// A number below `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }

    /// A small number, now and then a greater one.
    fn few(&mut self) -> u64 {
        let most = [2, 4, 8, 16, 40][usize::try_from(self.below(5)).expect("below five")];
        1 + self.below(most)
    }
}

/// Gives queues, buffers and hosts of a network small limits, by a seed.
pub(crate) fn limit(network: &mut Parts, seed: u64) {
    let mut draw = Draw(seed);
    for port in &mut network.ports {
        for class in &mut port.classes {
            match draw.below(4) {
                0 => class.limit_frames = u32::try_from(draw.few()).expect("few"),
                1 => class.limit_octets = Bytes::new(64 + draw.few() * 200),
                _ => {}
            }
        }
        if draw.below(4) == 0 {
            let cell = 64 + draw.below(200);
            let mut reserved = [0; 8];
            for cells in &mut reserved {
                *cells = u32::try_from(draw.below(3) * draw.few()).expect("few");
            }
            let cells = reserved.iter().sum::<u32>() + u32::try_from(draw.few() * 10).expect("few");
            port.shared_buffer = Some(SharedBuffer { cell: Bytes::new(cell), cells, reserved });
        }
    }
    for device in &mut network.devices {
        if draw.below(3) == 0 {
            device.lane_limit = Some(u32::try_from(draw.few()).expect("few"));
        }
    }
    for host in &mut network.hosts {
        if draw.below(3) == 0 {
            host.queue_limit = u32::try_from(draw.few()).expect("few");
        }
        for stack in &mut host.stacks.stacks {
            stack.task_queue = u32::try_from(draw.few()).expect("few");
            stack.socket_buffer = Bytes::new(1_600 + draw.few() * 400);
        }
        for interface in &mut host.stacks.interfaces {
            interface.receive_ring = u32::try_from(draw.few()).expect("few");
            interface.receive_fifo = Bytes::new(draw.few() * 400);
        }
    }
}

/// Whether frames that are lost so are lost by a limit, and not by a failure, or because that is what they are for.
fn is_by_limit(reason: DropReason) -> bool {
    matches!(
        reason,
        DropReason::QueueFull
            | DropReason::HostQueueFull
            | DropReason::ResidenceTime
            | DropReason::LinkQueueFull
            | DropReason::PolicedRate
            | DropReason::TaskQueueFull
            | DropReason::SocketBufferFull
            | DropReason::InterfaceFull
            | DropReason::Expired
            | DropReason::FilterMaxSdu
            | DropReason::StreamGateClosed
            | DropReason::IntervalOctets
            | DropReason::Red
    )
}

/// Losses at listeners that no limit explains, each a sentence; and how many listeners may lose nothing, and how many lost.
pub(crate) fn untold_losses(
    network: &Network,
    bounds: &Bounds,
    observation: &Observation,
) -> (Vec<String>, usize, usize) {
    let limits_found = losses(network, bounds);
    let (mut found, mut safe, mut lost) = (Vec::new(), 0, 0);
    for (number, stream) in network.streams.iter().enumerate() {
        for (listener, seen) in observation.streams[number].listeners.iter().enumerate() {
            let in_host = seen.application.iter().flat_map(|application| &application.dropped);
            let dropped: Vec<_> =
                seen.dropped.iter().chain(in_host).filter(|one| is_by_limit(one.0)).collect();
            // Over two networks a frame is lost if both copies are; older messages are meant to be.
            let replaced = seen.dropped.iter().any(|(reason, _)| *reason == DropReason::Overwritten);
            if seen.lost.is_some_and(|lost| lost == 0 || replaced) {
                continue;
            }
            let may_be_lost = limits_found.may_be_lost(StreamIndex::at(number), listener);
            // What has no bound is never proven, whatever is lost.
            let bound = &bounds.streams[number].listeners[listener];
            let is_bounded = bound.delay.is_ok();
            safe += usize::from(!may_be_lost);
            lost += usize::from(!dropped.is_empty());
            if !may_be_lost && is_bounded && !dropped.is_empty() {
                found.push(format!("{} at its listener {listener}: {dropped:?}", stream.name));
            }
        }
    }
    (found, safe, lost)
}
