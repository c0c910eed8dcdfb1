//! Cyclic queuing and forwarding (IEEE Std 802.1Q-2022, Annex T): what is sent in a cycle is sent on in the next one, or with more than two
//! buffers so many cycles later as its line requires.
//!
//! The check of a description ensures that a talker hands over its frames and sends them within a cycle less dead time, that every
//! bridge receives all frames of a cycle as one, and that they leave before the dead time of the cycle in which they are sent
//! (`tautwire_model::cqf`), behind a lower frame or, with frame preemption, what of it is not cut. So the place of a frame is known, but for the place within a cycle: of cycle time T and dead time DT,
//! handed over in cycle k it is sent, s cycles later by all lines up to a bridge, between (k + s) T and (k + s + 1) T - DT. Clocks run alike, so the difference of two
//! readings is that of their offsets. Nothing depends on other streams. Cycles of clocks that gPTP corrects have no bound.

mod reasons;

use tautwire_model::Network;
use tautwire_model::cqf::CyclicForwarding;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{Bits, Bytes, Duration};

use self::reasons::CORRECTED;
use crate::clock::PS_PER_S;
use crate::curve::{Curve, Line, MICRO};
use crate::loss::{Limit, LimitKind, LimitPlace, Overflow, Whose};
use crate::plan::{Entry, NONE, Plan, signed};
use crate::preemption::precedence;
use crate::result::{ClassBounds, Method};
use crate::service::{Carried, Served, Service, ServiceKind, Terms, Words};

/// The mechanism.
pub(crate) struct Cycles;

impl ServiceKind for Cycles {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network.cyclic.as_ref().map(|_| "cycles: all cyclic streams of a port share them")
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        let settings = plan.network.cyclic.as_ref()?;
        Some(Box::new(Cyclic { settings }))
    }
}

/// The cyclic streams of a network.
#[derive(Debug)]
struct Cyclic<'network> {
    settings: &'network CyclicForwarding,
}

/// What cyclic streams bring to a port in a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    frames: u64,
    octets: u64,
    wire_bits: u64,
}

impl Service for Cyclic<'_> {
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        let is_corrected = plan.network.gptp.as_ref().is_some_and(|gptp| gptp.servo.is_some());
        let entries = self.settings.streams.iter().flat_map(|stream| plan.entries_of(stream.0));
        let behind = entries.filter(|entry| plan.entries[*entry as usize].previous != NONE);
        behind.map(|entry| (entry, self.carried(plan, entry, is_corrected))).collect()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        plan.network.cyclic_at(PortIndex(port))?;
        plan.ports[port as usize].as_ref()?;
        let load = self.load(plan, port);
        let classes = self.settings.classes(&plan.network.ports[port as usize]);
        let classes: Vec<usize> = classes.into_iter().map(|class| class.index()).collect();
        let mut carried: [Option<ClassBounds>; 8] = Default::default();
        for class in classes.iter().copied() {
            let backlog = Some(Bits::new(load.octets * 8));
            carried[class] = Some(ClassBounds { used: load.frames > 0, backlog, ..ClassBounds::default() });
        }
        // A window meets at most one cycle more than it is long, and a part of another.
        let line = |bits: u64| {
            let rate = (u128::from(bits) * PS_PER_S).div_ceil(u128::from(self.settings.cycle_time.as_ps()));
            Line { burst: 2 * u128::from(bits) * MICRO, rate: u64::try_from(rate).unwrap_or(u64::MAX) }
        };
        let merge = plan.network.preemption_config(PortIndex(port)).map(|config| precedence(plan, &config));
        // Each of its frames may cut a lower one.
        let costs = |class: usize| match &merge {
            Some(merge) if merge.is_cut(class) => load.wire_bits + load.frames * merge.cut_bits,
            _ => load.wire_bits,
        };
        let least = classes.into_iter().min().unwrap_or(0);
        #[cfg(feature = "planted-faults")]
        let least = if plan.fault == Some(crate::PlantedFault::CyclicFramesForgotten) { 0 } else { least };
        let taken = std::array::from_fn(|class| {
            let is_taken = class < least && load.frames > 0;
            if is_taken { Curve::least_of([line(costs(class))]) } else { Curve::zero() }
        });
        Some(Served { carried, taken: vec![("cyclic frames", taken)], ..Served::default() })
    }

    fn overflows(&self, plan: &Plan<'_>, found: &mut Vec<Overflow>) {
        for number in 0..plan.ports.len() {
            let at = PortIndex::at(number);
            if plan.network.cyclic_at(at).is_none() || plan.ports[number].is_none() {
                continue;
            }
            let load = self.load(plan, at.0);
            let settings = &plan.network.ports[number];
            for class in self.settings.classes(settings) {
                let limits = &settings.classes[class.index()];
                let frames = (LimitKind::QUEUE_FRAMES, u64::from(limits.limit_frames), load.frames);
                let octets = (LimitKind::QUEUE_OCTETS, limits.limit_octets.get(), load.octets);
                for (kind, limit, needed) in [frames, octets] {
                    if needed <= limit {
                        continue;
                    }
                    let limit = Limit { kind, at: LimitPlace::Class(at, class), limit, needed: Some(needed) };
                    let streams = self.at_port(plan, at.0).map(|entry| StreamIndex(entry.stream));
                    found.extend(
                        streams.map(|stream| Overflow { whose: Whose::Stream(stream), limit: limit.clone() }),
                    );
                }
            }
        }
    }

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        Words {
            formula: "(cycles by which its lines are later up to here + 1) x cycle - dead time + last cable + phase of its clock against the talker's",
            source: "802.1Q-2022 Annex T, with the dead time and the phase error of clocks",
            same: Vec::new(),
        }
    }
}

impl Cyclic<'_> {
    /// The entries of cyclic streams at a port of a bridge.
    fn at_port<'a>(&self, plan: &'a Plan<'_>, port: u32) -> impl Iterator<Item = &'a Entry> + use<'a, '_> {
        let entries = plan.at_port(port).iter().map(|entry| &plan.entries[*entry as usize]);
        let streams = &self.settings.streams;
        entries.filter(|entry| entry.previous != NONE && streams.contains(&StreamIndex(entry.stream)))
    }

    fn load(&self, plan: &Plan<'_>, port: u32) -> Load {
        self.at_port(plan, port).fold(Load::default(), |sum, entry| {
            let stream = &plan.network.streams[entry.stream as usize];
            let frames = self.settings.load(stream, Duration::ZERO).map_or(0, |load| load.frames);
            Load {
                frames: sum.frames + frames,
                octets: sum.octets + frames * entry.frame_max.get(),
                wire_bits: sum.wire_bits + frames * entry.wire_max(),
            }
        })
    }

    /// An entry at a port of a bridge.
    fn carried(&self, plan: &Plan<'_>, number: u32, is_corrected: bool) -> Carried {
        let entry = &plan.entries[number as usize];
        let (before, first, later) = self.way(plan, entry);
        let held = self.later(plan, before);
        let (cycle, dead) = (ps(self.settings.cycle_time), ps(self.settings.dead_time));
        let node = |entry: &Entry| plan.network.ports[entry.port as usize].node;
        #[cfg(feature = "planted-faults")]
        let phase_matters = plan.fault != Some(crate::PlantedFault::PhaseErrorForgotten);
        #[cfg(not(feature = "planted-faults"))]
        let phase_matters = true;
        let phase = |from: &Entry| {
            if phase_matters {
                reading(plan.network, node(from)) - reading(plan.network, node(entry))
            } else {
                0
            }
        };
        #[cfg(feature = "planted-faults")]
        let (sends_later, open) = match plan.fault {
            Some(crate::PlantedFault::CycleOfReceptionForgotten) => (0, cycle - dead),
            Some(crate::PlantedFault::LateHandOverForgotten) => (1, 0),
            _ => (1, cycle - dead),
        };
        #[cfg(not(feature = "planted-faults"))]
        let (sends_later, open) = (1, cycle - dead);
        let behind = i128::from(plan.port(entry.port).behind_max);
        let sent = i128::from(entry.next_min - entry.ready_min);
        let end = cycle * (later + sends_later) - dead + behind + phase(first);
        // The talker hands its last frame over early enough to send it in its cycle.
        let first_min = line_min(plan, first) + i128::from(first.queue_min);
        let end_min = cycle * later - open + first_min + sent + phase(first);
        let came_min = i128::from(before.next_min - before.ready_min);
        let hop = (held + 1) * cycle - dead + behind - came_min + phase(before);
        let came_max = i128::from(plan.port(before.port).behind_max);
        let hop_min = (held - 1) * cycle + dead - came_max + sent + phase(before);
        let reason = is_corrected.then(|| CORRECTED.at(PortIndex(entry.port)));
        Carried {
            hop_min: if is_corrected { 0 } else { least(hop_min) },
            end_min: if is_corrected { u64::try_from(entry.next_min).unwrap_or(0) } else { least(end_min) },
            hop: reason.clone().map_or_else(
                || {
                    let words = if held == 1 {
                        "rest of its cycle, and the next one"
                    } else {
                        "rest of its cycle, and those in which it waits and is sent"
                    };
                    Ok(Terms::of(words, least(hop - behind)).and("cable", least(behind)))
                },
                Err,
            ),
            end: reason.map_or_else(|| Ok(least(end)), Err),
            method: if is_corrected { Method::None } else { Method::Carried("cyclic") },
        }
    }

    /// The entry before, that of the talker, and how many cycles later than the talker a frame is sent here.
    fn way<'a>(&self, plan: &'a Plan<'_>, entry: &'a Entry) -> (&'a Entry, &'a Entry, i128) {
        let before = &plan.entries[entry.previous as usize];
        let (mut first, mut later) = (before, self.later(plan, before));
        while first.previous != NONE {
            first = &plan.entries[first.previous as usize];
            later += self.later(plan, first);
        }
        (before, first, later)
    }

    /// How many cycles later than at an entry its frames are sent by the bridge behind it.
    fn later(&self, _plan: &Plan<'_>, entry: &Entry) -> i128 {
        #[cfg(feature = "planted-faults")]
        if _plan.fault == Some(crate::PlantedFault::LongLineForgotten) {
            return 1;
        }
        i128::from(self.settings.cycles_behind(PortIndex(entry.port)))
    }
}

/// From the first bit of the smallest frame of an entry to its last one.
fn line_min(plan: &Plan<'_>, entry: &Entry) -> i128 {
    let links = plan.network.ports[entry.port as usize].links.expect("a planned port is connected");
    ps(plan.network.links[links.egress.index()].rate.duration_floor((entry.frame_min + Bytes::new(8)).bits()))
}

/// By how much the clock of a node is ahead.
fn reading(network: &Network, node: NodeIndex) -> i128 {
    i128::from(network.nodes[node.index()].clock.offset.as_ps())
}

fn ps(span: Duration) -> i128 {
    i128::from(signed(span.as_ps()))
}

/// A time; none below zero.
fn least(ps: i128) -> u64 {
    u64::try_from(ps.max(0)).unwrap_or(u64::MAX)
}
