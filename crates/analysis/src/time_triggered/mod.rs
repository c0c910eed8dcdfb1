//! Time-triggered virtual links (SAE AS6802): their own times, which the schedule fixes, and the time that
//! they take from all other traffic of a port.
//!
//! *A link* (`ways.rs`). A frame waits for its talker's dispatch point: up to a period if its application runs by its
//! own clock, or as the schedule states if that follows network time. From there the points determine its time at each
//! hop: `offset(hop) − offset(talker)`, by two clocks that differ by at most the precision. It begins at its point, or
//! later by the cost of the integration: the frame in transmission (shuffling), a correction that brings the point
//! nearer (timely block), the octet in transmission and a gap (preemption). The description must ensure that no two
//! links overlap, and that every frame is there before its point. Of k links of which each answers the one before,
//! every one waits for a point of its own: the bound has k such waits.
//!
//! *Other traffic* (`windows.rs`). In addition to one lower frame and higher traffic, a frame of a class waits while
//! its class cannot use the line: in slots, and before them for as long as one frame of its class or above takes,
//! which may not begin there (timely block) or is cut there and sent again (preemption).
//!
//! All of it depends on network time: where control frames may be late (`control_frames.rs`) nothing is proven. Not
//! here: the precision of network time.

mod control_frames;
mod newest;
mod reasons;
mod ways;
mod windows;

pub use self::control_frames::{late_control_frames, proven_precision};

use tautwire_core::time_triggered::Integration;
use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_model::time_triggered::TimeTriggered;
use tautwire_units::{Bits, Bytes};

use self::ways::Ways;
use crate::clock::PS_PER_S;
use crate::loss::{Overflow, StatedFailure, Whose};
use crate::plan::{Entry, Plan};
use crate::port_plan::PortPlan;
use crate::result::{Bounds, ClassBounds};
use crate::service::{Carried, Misses, Served, Service, ServiceKind, Silence, Words};

/// Octets of a gap, and the one that is being sent when a frame is cut.
const CUT: Bytes = Bytes::new(13);

/// The mechanism.
pub(crate) struct TimedLinks;

impl ServiceKind for TimedLinks {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network.time_triggered.as_ref().map(|_| "time-triggered links: their schedule is one")
    }

    fn doubts(&self, network: &Network, bounds: &Bounds) -> Vec<u16> {
        control_frames::late_clusters(network, bounds)
    }

    /// Nodes to which the control frames of every compression master of their cluster may be lost.
    fn silences(&self, network: &Network, misses: Misses<'_>) -> Vec<Silence> {
        let silence = |node| Silence {
            failure: StatedFailure::Misses(node, "network time"),
            node,
            on_way: true,
            takes: |stream| stream.time_triggered.is_some(),
        };
        control_frames::timeless_nodes(network, misses).map(silence).collect()
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        let settings = plan.network.time_triggered?;
        let at = |port: usize| plan.network.time_triggered_class(PortIndex::at(port));
        let classes = (0..plan.ports.len()).map(|port| at(port).map(|class| class.index())).collect();
        Some(Box::new(Timed { settings, classes }))
    }
}

/// The links of a network.
#[derive(Debug)]
struct Timed {
    settings: TimeTriggered,
    /// Per port, the class of its links.
    classes: Vec<Option<usize>>,
}

impl Service for Timed {
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        let mut ways = Ways::new(plan, self);
        let links = 0..plan.network.streams.len();
        links.flat_map(|stream| ways.carried(stream)).collect()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        let class = self.classes[port as usize]?;
        let taken = windows::taken(plan, self, port, class)?;
        let mut carried: [Option<ClassBounds>; 8] = Default::default();
        carried[class] = Some(self.class_bounds(plan, port, class));
        Some(Served { carried, taken: vec![("slots of time-triggered links", taken)], ..Served::default() })
    }

    fn overflows(&self, plan: &Plan<'_>, found: &mut Vec<Overflow>) {
        for stream in (0..plan.network.streams.len()).map(tautwire_model::network::StreamIndex::at) {
            // A stream that is never sent is at no place.
            if plan.entries_of(stream.0).is_empty() {
                continue;
            }
            let place = newest::place(plan, &self.settings, stream);
            found.extend(place.map(|limit| Overflow { whose: Whose::Stream(stream), limit }));
        }
    }

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        Words {
            formula: "wait for the talker's dispatch point + distance of the points + precision of the clocks + \
                      what other traffic may delay it + own frame / line rate",
            source: "SAE AS6802, time-triggered dispatch; integration by shuffling, timely block or preemption",
            same: Vec::new(),
        }
    }
}

impl Timed {
    /// Bits of frames that may wait for their points, and the one that is sent.
    fn class_bounds(&self, plan: &Plan<'_>, port: u32, class: usize) -> ClassBounds {
        let held = entries(plan, port).filter(|entry| usize::from(entry.class) == class);
        let bits = |entry: &Entry| entry.frame_max.bits().get();
        let backlog = held.clone().map(bits).sum::<u64>() + held.map(bits).max().unwrap_or(0);
        let keeps_up = !plan.port(port).stages_too_slow;
        ClassBounds { used: true, backlog: keeps_up.then_some(Bits::new(backlog)), ..ClassBounds::default() }
    }

    /// The largest frame of a class and those above it that is no link's, which may keep the line idle before a slot.
    fn largest_other(&self, plan: &Plan<'_>, port: u32, least: usize) -> u64 {
        let class = self.classes[port as usize];
        let control = plan.port(port).control.filter(|(class, ..)| *class >= least);
        let others = entries(plan, port).filter(|entry| Some(usize::from(entry.class)) != class);
        let above = others.filter(|entry| usize::from(entry.class) >= least).map(Entry::wire_max);
        above.chain(control.map(|(_, _, bits)| bits)).max().unwrap_or(0)
    }

    /// How much later than its point a frame may begin at a port.
    fn lateness(&self, plan: &Plan<'_>, port: u32) -> u64 {
        let wire = self.largest_other(plan, port, 0);
        let port = plan.port(port);
        let wait = match self.settings.integration {
            Integration::Shuffling => line_ps(port, wire),
            Integration::TimelyBlock => self.settings.precision.as_ps(),
            Integration::Preemption => line_ps(port, CUT.bits().get()),
        };
        wait + port.slack + 4
    }
}

/// The entries of a port.
fn entries<'a>(plan: &'a Plan<'_>, port: u32) -> impl Iterator<Item = &'a Entry> + Clone {
    plan.at_port(port).iter().map(|entry| &plan.entries[*entry as usize])
}

/// Time of the line for so many bits, true time, rounded up.
fn line_ps(port: &PortPlan, bits: u64) -> u64 {
    let ps = (u128::from(bits) * PS_PER_S).div_ceil(u128::from(port.rate));
    port.deviation.stretch(u64::try_from(ps).unwrap_or(u64::MAX)) + port.slack
}
