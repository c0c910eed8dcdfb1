//! Faults of gates that only the resolved network shows: frames that fit into no interval, classes that never open,
//! other schedules of the port.
//!
//! All gates with one list are reported once, at the list.

use tautwire_core::gates::{GuardPolicy, Openings};
use tautwire_units::{BitRate, Bytes, Duration};

use super::{CycleTime, PortGates};
use crate::frame::{FRAME_MIN, TAG, Tags, frame_length};
use crate::gates::codes;
use crate::network::{Hop, NodeKind, PortIndex, Stream, TimelineAction, TransmissionSelection};
use crate::resolve::Resolved;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// Octets of preamble and start delimiter, which are sent before a frame.
const PREAMBLE: Bytes = Bytes::new(8);

/// The shortest cycle.
const CYCLE_MIN: Duration = Duration::from_us(1);

/// A port with gates, and the place of their list.
struct Gated<'a> {
    port: PortIndex,
    gates: &'a PortGates,
    place: Place,
    rate: BitRate,
    mtu: Bytes,
    /// Whether another list follows in the run.
    is_replaced: bool,
}

/// Reports what cannot be, or does nothing, of the gates of a network.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    super::without_effect::check(of, faults);
    let topology = &of.topology;
    // The gates at the start, and those after changes.
    let mut all: Vec<(PortIndex, PortGates, Place)> = Vec::new();
    for (number, port) in topology.ports.iter().enumerate() {
        let place = topology.extras[number].places.gates;
        // Those of cycles are held against the conditions of these.
        let is_cyclic =
            of.mechanisms.cyclic.as_ref().is_some_and(|cyclic| cyclic.bridges.contains(&port.node));
        if let (Some(gates), Some(place), false) = (&port.gates, place, is_cyclic) {
            all.push((PortIndex::at(number), (**gates).clone(), place));
        }
    }
    for event in &of.events {
        if let TimelineAction::ChangeGates(port, parameters) = &event.timeline.action
            && let Some(gates) = &topology.ports[port.index()].gates
        {
            let gates = PortGates { parameters: (**parameters).clone(), ..(**gates).clone() };
            all.push((*port, gates, event.place));
        }
    }
    let streams = || of.streams.list.iter().map(|draft| &draft.stream).chain(&of.streams.protocol);
    for (number, (port, gates, place)) in all.iter().enumerate() {
        let Some(links) = topology.ports[port.index()].links else { continue };
        let rate = topology.links[links.egress.index()].rate;
        let mtu = topology.ports[port.index()].mtu;
        let is_replaced = all[number + 1..].iter().any(|(later, ..)| later == port);
        let gated = Gated { port: *port, gates, place: *place, rate, mtu, is_replaced };
        list(&gated, faults);
        gated.beside_others(of, faults);
        gated.slopes(of, faults);
        for stream in streams() {
            for hop in stream.hops.iter().filter(|hop| hop.port == *port) {
                gated.passes(of, stream, hop, faults);
            }
        }
        gated.control_passes(of, faults);
    }
}

/// Cycles of ports with gates, with the number of their entries and the places of these.
pub(crate) fn paces(topology: &Topology<'_>) -> impl Iterator<Item = (Duration, u128, Place)> {
    topology.ports.iter().zip(&topology.extras).filter_map(|(port, extra)| {
        let parameters = &port.gates.as_ref()?.parameters;
        let entries = parameters.control_list.len() as u128;
        Some((parameters.cycle_time.floor(), entries, extra.places.gates?))
    })
}

/// Entries that are cut off, and cycles that no gates keep.
fn list(gated: &Gated<'_>, faults: &mut Faults) {
    let parameters = &gated.gates.parameters;
    let (cycle, tick) = (parameters.cycle_time, gated.gates.tick);
    if cycle.floor() < CYCLE_MIN {
        let message = format!("a cycle of {cycle} is shorter than {CYCLE_MIN}");
        faults.error(codes::GATES, gated.place, message, "lengthen it, or the intervals of the list");
    }
    if cycle.floor() < tick {
        let message = format!("a cycle of {cycle} is shorter than a tick of {tick}");
        faults.error(codes::GATES, gated.place, message, "lengthen it, or correct `tick-granularity`");
    }
    let intervals = parameters.control_list.iter().map(|entry| entry.time_interval);
    fits_cycle("the list", (intervals, cycle), gated.place, faults);
}

/// The key of a mechanism that decides at all ports what is sent when, in place of their selection, if there is one.
pub(crate) fn schedule_of_all(root: &Node<'_>) -> Option<&'static str> {
    ["tdma", "harts", "stream-reservation"].into_iter().find(|key| root.get(key).is_some())
}

/// Warns of entries of a list that are beyond its cycle.
pub(crate) fn fits_cycle(
    list: &str,
    (intervals, cycle): (impl Iterator<Item = Duration>, CycleTime),
    place: Place,
    faults: &mut Faults,
) {
    let sum = intervals.fold(Duration::ZERO, Duration::saturating_add);
    if sum > cycle.ceil() {
        let message = format!(
            "the intervals of {list} are {sum} together, longer than the cycle of {cycle}: what is beyond it is cut off"
        );
        faults.warning(codes::GATE_LIST, place, message, "lengthen the cycle, or shorten entries");
    }
}

impl Gated<'_> {
    /// Other schedules of the port.
    fn beside_others(&self, of: &Resolved<'_, '_>, faults: &mut Faults) {
        let root = &of.draft.root;
        let whole = schedule_of_all(root);
        let node = &of.topology.nodes[of.topology.ports[self.port.index()].node.index()];
        let two_stage = match &node.kind {
            NodeKind::Bridge { device, .. } => of.models.device_at(*device).two_stage,
            NodeKind::EndStation { .. } => false,
        };
        let streams = of.streams.list.iter().map(|draft| &draft.stream);
        let timed = streams.filter(|stream| stream.time_triggered.is_some());
        let is_timed = timed.flat_map(|stream| &stream.hops).any(|hop| hop.port == self.port);
        let what = match (whole, two_stage, is_timed) {
            (Some(key), ..) => format!("`{key}`"),
            (_, true, _) => "`two-stage` of its device".to_owned(),
            (.., true) => "dispatch points of time-triggered links".to_owned(),
            _ => return,
        };
        let port = of.topology.port_name(self.port);
        let message = format!("{port} has gates and {what}, which do not go together");
        faults.error(codes::GATES, self.place, message, "remove one of them, or set `gate-enabled: false`");
    }

    /// operIdleSlope of credit-based classes.
    fn slopes(&self, of: &Resolved<'_, '_>, faults: &mut Faults) {
        let classes = of.topology.ports[self.port.index()].classes.iter().enumerate();
        let stated = classes.filter_map(|(class, settings)| match settings.selection {
            TransmissionSelection::CreditBased { idle_slope } => Some((class, idle_slope)),
            _ => None,
        });
        let changed = of.events.iter().filter_map(|event| match event.timeline.action {
            TimelineAction::ChangeIdleSlope(port, class, slope) if port == self.port => {
                Some((class.index(), slope))
            }
            _ => None,
        });
        for (class, idle_slope) in stated.chain(changed) {
            let Some(scaled) = self.gates.oper_idle_slope(class, idle_slope) else { continue };
            if scaled < self.rate {
                continue;
            }
            let message = format!(
                "the idleSlope of {idle_slope} of class {class} of {} is {scaled} while its gate is open, and its line has {}",
                of.topology.port_name(self.port),
                self.rate
            );
            let help = "open the gate for longer, or lower the idleSlope";
            faults.error(codes::IDLE_SLOPE, self.place, message, help);
        }
    }

    /// Whether frames of a stream pass.
    fn passes(&self, of: &Resolved<'_, '_>, stream: &Stream, hop: &Hop, faults: &mut Faults) {
        let (class, name) = (hop.class.index(), &stream.name);
        let mtu = self.mtu;
        let (most, at) = (self.gates.payload_max(class, mtu), of.topology.port_name(self.port));
        if stream.payload_max > most && self.gates.payload_max[class].is_some() && stream.payload_max <= mtu {
            let message = format!(
                "class {class} of {at} discards frames of `{name}` with more than {most} of MAC client data"
            );
            let help = "raise its value in `queue-max-sdu-table`, or make the frames smaller";
            let report = if stream.payload_min > most { Faults::error } else { Faults::warning };
            report(faults, codes::GATE_SDU, self.place, message, help);
            if stream.payload_min > most {
                return;
            }
        }
        let frame = frame_length(most.min(stream.payload_max), hop.tagged);
        let needed = self.needed(class, hop.tagged, frame);
        if let Some((message, help)) = self.shut(of, (class, name), needed) {
            // A stream that waits for a schedule gets its windows with that, and one that starts in the run may find those of a later list.
            if stream.time_aware.is_some() && stream.open_phase {
                let help = format!("find its offset and its windows with `tautwire schedule`, or {help}");
                faults.warning(codes::GATE_WINDOW, self.place, message, help);
            } else if !stream.started && self.is_replaced {
                let help = format!("start it behind the change, or {help}");
                faults.warning(codes::GATE_WINDOW, self.place, message, help);
            } else {
                faults.error(codes::GATE_WINDOW, self.place, message, help);
            }
        }
    }

    /// Whether network control passes. Bounds know it as interference alone, so its protocols suffer, and no stream.
    fn control_passes(&self, of: &Resolved<'_, '_>, faults: &mut Faults) {
        let Some(control) = &of.network_control else { return };
        let class_table = &of.topology.ports[self.port.index()].class_table;
        let class = class_table.class_of(control.priority, true).index();
        let needed = self.needed(class, Tags::default(), control.frame_max.max(FRAME_MIN));
        if let Some((message, help)) = self.shut(of, (class, "network-control"), needed) {
            let help = format!("{help}, or write `network-control: none` if there is none");
            faults.warning(codes::GATE_WINDOW, self.place, message, help);
        }
    }

    /// How long the gate of a class must be open for a frame with these tags, of so many octets from destination to FCS.
    fn needed(&self, class: usize, tags: Tags, frame: Bytes) -> Duration {
        let frame = match self.gates.guard {
            GuardPolicy::LookAhead => frame,
            GuardPolicy::MaxSdu => {
                frame_length(self.gates.payload_max(class, self.mtu), Tags { vlan: true, ..tags })
            }
            GuardPolicy::None => return Duration::from_ps(1),
        };
        self.rate.duration_ceil((frame + PREAMBLE).bits())
    }

    /// What is wrong, and what would be right, if the gate of a class is never open for as long as frames of `name` need.
    fn shut(
        &self,
        of: &Resolved<'_, '_>,
        (class, name): (usize, &str),
        needed: Duration,
    ) -> Option<(String, String)> {
        let longest = match self.gates.parameters.openings(class) {
            Openings::Always => return None,
            Openings::Never => Duration::ZERO,
            Openings::In(open) => {
                let lengths =
                    open.iter().map(|one| (one.close - one.open).saturating_sub(self.gates.rounding()));
                lengths.max().unwrap_or_default()
            }
        };
        if needed <= longest {
            return None;
        }
        let at = of.topology.port_name(self.port);
        let message = if longest.is_zero() {
            format!(
                "the gate of class {class} of {at} never opens, and frames of `{name}` wait there for ever"
            )
        } else {
            format!(
                "the gate of class {class} of {at} is open for {longest} at most, and a frame of `{name}` needs {needed}: it blocks its queue for ever"
            )
        };
        Some((message, self.remedy(longest, needed)))
    }

    /// What would let the frames of a class pass, or discard those that do not.
    fn remedy(&self, longest: Duration, needed: Duration) -> String {
        // A tag is taken to be there.
        let bits = u128::from(longest.as_ps()) * u128::from(self.rate.as_bps()) / 1_000_000_000_000;
        let octets = u64::try_from(bits / 8).unwrap_or(u64::MAX);
        let msdu = octets.saturating_sub(PREAMBLE.get() + 16 + TAG.get());
        if msdu > 2 {
            format!("open it for {needed}, or set the class to {msdu} B at most in `queue-max-sdu-table`")
        } else {
            format!("open it for {needed}")
        }
    }
}
