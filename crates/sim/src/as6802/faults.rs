//! Faults of a node that makes protocol control frames: one that babbles, one whose frames come late; and the pair of
//! a high-integrity device, which sends no frame that its monitor has not made.

use std::collections::VecDeque;

use tautwire_core::as6802::{CommandMonitor, PcfType, ProtocolControlFrame, output};
use tautwire_core::control::Output;
use tautwire_model::as6802::{SyncCluster, SyncRole};
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::control::Fault;

/// Faults between a node's machine and its ports.
#[derive(Default)]
pub(super) struct Gate {
    babble: Option<Babble>,
    /// How much later its frames leave than they should, and those that have not left.
    mistimed: Duration,
    late: VecDeque<(SimTime, Output)>,
    /// Of a high-integrity device.
    pair: Option<CommandMonitor>,
}

/// Frames that a faulty master makes in addition to those of its machine.
#[derive(Clone, Copy, Debug)]
struct Babble {
    next: SimTime,
    interval: Duration,
    count: u32,
}

/// The frames that a faulty node makes.
#[derive(Clone, Copy)]
pub(super) struct Identity<'n> {
    pub(super) cluster: &'n SyncCluster,
    pub(super) cycles: u32,
    pub(super) role: SyncRole,
}

impl Babble {
    /// The next one: of all kinds, of any cycle, every fourth under the name of another; of a compression master
    /// with all members.
    fn frame(&mut self, as_of: Identity<'_>) -> ProtocolControlFrame {
        let Identity { cluster, cycles, role } = as_of;
        let count = self.count;
        self.count = count.wrapping_add(1);
        self.next = self.next + self.interval;
        let membership_new = match role {
            SyncRole::Master(number) if count % 4 == 3 => 1 << ((u32::from(number) + 1) % cluster.masters),
            SyncRole::Master(number) => 1 << number,
            SyncRole::CompressionMaster(_) | SyncRole::Client => u32::MAX >> (32 - cluster.masters),
        };
        ProtocolControlFrame {
            integration_cycle: count / 3 % cycles,
            membership_new,
            sync_priority: cluster.sync_priority,
            sync_domain: cluster.domain,
            kind: [PcfType::Integration, PcfType::ColdStart, PcfType::ColdStartAcknowledge]
                [(count % 3) as usize],
            transparent_clock: 0,
        }
    }
}

impl Gate {
    /// That of a node; `is_pair`: it is a high-integrity device.
    pub(super) fn new(is_pair: bool) -> Self {
        Self { pair: is_pair.then(CommandMonitor::default), ..Self::default() }
    }

    /// What leaves a node of the frames that its machine has made now: a faulty one adds to them, or holds them up; of a
    /// pair nothing leaves then.
    pub(super) fn let_out(&mut self, as_of: Identity<'_>, made: Vec<Output>, now: SimTime) -> Vec<Output> {
        let mut offered = made.clone();
        if let Some(babble) = self.babble.as_mut().filter(|babble| babble.next <= now) {
            offered.push(output(babble.frame(as_of)));
        }
        if !self.mistimed.is_zero() {
            let at = now + self.mistimed;
            self.late.extend(offered.drain(..).map(|frame| (at, frame)));
        }
        while self.late.front().is_some_and(|(at, _)| *at <= now) {
            offered.extend(self.late.pop_front().map(|(_, frame)| frame));
        }
        let passes = self.pair.as_mut().is_none_or(|pair| pair.passes(&offered, &made));
        if passes { offered } else { Vec::new() }
    }

    /// When something leaves whatever the machine does.
    pub(super) fn next(&self) -> Option<SimTime> {
        let babble = self.babble.map(|babble| babble.next);
        babble.into_iter().chain(self.late.front().map(|(at, _)| *at)).min()
    }

    /// The node becomes faulty; or its fault is over, and it is repaired.
    pub(super) fn fail(&mut self, fault: Fault, now: SimTime) {
        match fault {
            Fault::Babble(interval) => {
                self.babble = interval.map(|interval| Babble { next: now, interval, count: 0 });
            }
            Fault::Mistime(by) => self.mistimed = by,
        }
        if self.babble.is_none() && self.mistimed.is_zero() {
            self.late.clear();
            self.pair = self.pair.map(|_| CommandMonitor::default());
        }
    }
}
