//! The conditions of cyclic queuing and forwarding, port by port.
//!
//! - Dead time: with two buffers the last bit of a cycle, behind cable, PHYs and stages, is queued before the next cycle begins, by any two
//!   clocks; with more it is received before the first bit of the next one.
//! - Buffers: none is sent in which frames of a line are queued meanwhile.
//! - Begin: no bit that is sent at the start of a cycle is received before it, by any two clocks.
//! - Load: all frames of a cycle, behind one lower frame or what of it is not cut, leave before the dead time.
//! - Talkers hand over their frames so that they leave within the same cycle, and not before the first one.
//!
//! Each port and stream is reported once for each kind of fault.

use std::collections::BTreeMap;

use tautwire_units::{BitRate, Bytes, Duration};

use super::CyclicForwarding;
use super::line::LineTimes;
use super::resolve::{KEY, apart};
use crate::cqf::codes;
use crate::frame::frame_length;
use crate::network::{
    DeviceModel, Hop, NodeIndex, NodeKind, Port, PortIndex, SelectionAlgorithm, StagePosition, Stream,
    StreamIndex, Switching, TieRule, TimelineAction, Traffic,
};
use crate::preemption::is_verified;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// Octets of the gap behind a frame.
const GAP: u64 = 12;

/// Reports what breaks a condition.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let (Some(cyclic), Some(section)) = (&of.mechanisms.cyclic, of.draft.root.get(KEY)) else { return };
    let check = Check { of, cyclic, section };
    check.beside_others(faults);
    check.clocks(faults);
    check.events(faults);
    if of.is_routed && faults.errors() == 0 {
        check.streams(faults);
        check.ports(faults);
    }
}

struct Check<'a, 't, 'd> {
    of: &'a Resolved<'t, 'd>,
    cyclic: &'a CyclicForwarding,
    section: &'a Node<'t>,
}

impl Check<'_, '_, '_> {
    fn place(&self, key: &str) -> Place {
        self.section.get(key).map_or(self.section.anchor(), Node::anchor)
    }

    fn streams_of(&self) -> impl Iterator<Item = (StreamIndex, &Stream)> {
        let all = self.of.streams.list.iter().enumerate();
        let all = all.map(|(number, draft)| (StreamIndex::at(number), &draft.stream));
        all.filter(|(number, _)| self.cyclic.streams.contains(number))
    }

    fn device(&self, node: NodeIndex) -> Option<&DeviceModel> {
        match self.of.topology.nodes[node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(self.of.models.device_at(device)),
            NodeKind::EndStation { .. } => None,
        }
    }

    /// Mechanisms and devices with which it is not supported.
    fn beside_others(&self, faults: &mut Faults) {
        let root = &self.of.draft.root;
        let place = self.section.anchor();
        let others = ["tdma", "harts", "stream-reservation", "time-triggered"];
        if let Some(key) = others.into_iter().find(|key| root.get(key).is_some()) {
            let message = format!("`{KEY}` and `{key}` do not go together");
            faults.error(codes::CYCLIC, place, message, "remove one of them");
        }
        let mut drafts = self.of.streams.list.iter().map(|draft| &draft.stream);
        if drafts.any(|stream| stream.virtual_link.is_some() || stream.time_triggered.is_some()) {
            let message = format!("`{KEY}` and virtual links do not go together");
            faults.error(codes::CYCLIC, place, message, "remove one of them");
        }
        for bridge in &self.cyclic.bridges {
            let (Some(device), node) = (self.device(*bridge), &self.of.topology.nodes[bridge.index()]) else {
                continue;
            };
            let is_behind = |position| position == StagePosition::Transmission;
            let has = |what: fn(&Port) -> bool| {
                let mut ports = self.of.topology.ports_of(*bridge);
                ports.any(|port| what(&self.of.topology.ports[port.index()]))
            };
            let what = if device.two_stage {
                "`two-stage` of its device"
            } else if device.stages.iter().any(|stage| is_behind(stage.position)) {
                "a stage behind the transmission selection"
            } else if device.stages.iter().any(|stage| stage.occupancy != Default::default()) {
                "a stage that a frame keeps to itself"
            } else if matches!(device.switching, Switching::CutThrough { .. }) {
                "cut-through switching of its device"
            } else if device.tie_rule != TieRule::ArrivalOrder {
                "queues of its own for each reception port"
            } else if has(|port| port.shared_buffer.is_some()) {
                "a shared buffer"
            } else {
                continue;
            };
            let message =
                format!("`{}` forwards in cycles and has {what}, which is not supported", node.name);
            faults.error(codes::CYCLIC, place, message, "take another device, or leave it out of `bridges`");
        }
    }

    /// Whether it is known by how much clocks differ.
    fn clocks(&self, faults: &mut Faults) {
        let nodes = &self.of.topology.nodes;
        let servo = self.of.mechanisms.gptp.as_ref().is_some_and(|gptp| gptp.servo.is_some());
        let stated = self.section.get("precision").is_some();
        if servo && stated {
            return;
        }
        if let Some(node) = nodes.iter().find(|node| node.clock.tolerance_ppb > 0) {
            let message =
                format!("the clock of `{}` drifts, so the phase error of its cycles is not known", node.name);
            let help = if servo {
                "state `precision`, the greatest difference of two corrected clocks"
            } else {
                "add `gptp` with a `servo` and state `precision`, or give all clocks the tolerance 0 ppm"
            };
            faults.error(codes::CYCLIC_CLOCKS, self.section.anchor(), message, help);
            return;
        }
        let apart = apart(&self.of.topology);
        if apart > self.cyclic.precision {
            let message =
                format!("the clocks differ by {apart}, more than the precision of {}", self.cyclic.precision);
            let help = format!("raise `precision` to {apart}, or reduce the difference of their offsets");
            faults.error(codes::CYCLIC_CLOCKS, self.place("precision"), message, help);
        }
    }

    /// Events that change cycles, or the place of frames in them.
    fn events(&self, faults: &mut Faults) {
        for event in &self.of.events {
            let is_at = |node: &NodeIndex| self.cyclic.bridges.contains(node);
            let is_of = |stream: &StreamIndex| self.cyclic.streams.contains(stream);
            let what = match &event.timeline.action {
                TimelineAction::StartStream(stream) | TimelineAction::ChangeTraffic(stream, ..)
                    if is_of(stream) =>
                {
                    "a cyclic stream begins"
                }
                TimelineAction::ChangeFilters(node, _) | TimelineAction::StartNode(node) if is_at(node) => {
                    "the lists of a bridge that forwards in cycles begin"
                }
                TimelineAction::ChangeGates(port, _) if is_at(&self.of.topology.ports[port.index()].node) => {
                    "the lists of a bridge that forwards in cycles begin"
                }
                _ => continue,
            };
            let message = format!("{what} at this event, which is not supported");
            faults.error(codes::CYCLIC, event.place, message, "remove the event");
        }
    }

    /// Ways and talkers.
    fn streams(&self, faults: &mut Faults) {
        for (number, stream) in self.streams_of() {
            let draft = &self.of.streams.list[number.index()];
            let node = |hop: &Hop| self.of.topology.ports[hop.port.index()].node;
            let strange = stream
                .hops
                .iter()
                .find(|hop| hop.previous.is_some() && !self.cyclic.bridges.contains(&node(hop)));
            if let Some(hop) = strange {
                let name = &self.of.topology.nodes[node(hop).index()].name;
                let message = format!("`{}` is cyclic, and `{name}` does not forward in cycles", stream.name);
                let help = format!("add `{name}` to `bridges`, or give the stream another priority");
                faults.error(codes::CYCLIC, draft.name_place, message, help);
            } else if stream.learned || stream.datagrams.is_some() || stream.shaped_at_talker {
                let message = format!(
                    "`{}` is cyclic and learned, shaped or cut into frames, which is not supported",
                    stream.name
                );
                faults.error(codes::CYCLIC, draft.name_place, message, "give it another priority");
            } else {
                self.begins(stream, draft.place("traffic"), faults);
            }
        }
        self.talkers(faults);
    }

    /// When the list of a node begins, from the start of the run, and what its clock reads then.
    fn begin(&self, node: NodeIndex) -> (Duration, Duration) {
        let reading = self.reading(node);
        let (list, base) = (self.cyclic.list_length().as_ps(), self.cyclic.base_time.as_ps());
        let past = reading.as_ps().saturating_sub(base).div_ceil(list) * list;
        let first = Duration::from_ps(base + past);
        (first.saturating_sub(reading), first)
    }

    /// What the clock of a node reads when the run begins.
    fn reading(&self, node: NodeIndex) -> Duration {
        reading(self.of.topology.nodes.iter().map(|node| node.clock.offset.as_ps()), node)
    }

    /// Whether the first frame of a stream comes in the first cycle or later.
    fn begins(&self, stream: &Stream, place: Place, faults: &mut Faults) {
        let reading = self.reading(stream.talker);
        if self.cyclic.load(stream, reading).is_none() {
            let message =
                format!("it is not known at which place of a cycle the talker of `{}` sends", stream.name);
            let help = "make its traffic `periodic` with an `offset`, or give it another priority";
            faults.error(codes::CYCLIC_TALKER, place, message, help);
            return;
        }
        let Traffic::Periodic { offset, .. } = stream.traffic else { return };
        let all = self.cyclic.bridges.iter().map(|bridge| self.begin(*bridge).0);
        let first = all.max().unwrap_or_default();
        // With two buffers the dead time contains the difference of clocks.
        let ahead = if self.cyclic.takes_turns() { Duration::ZERO } else { self.cyclic.precision };
        let first = first.saturating_add(ahead);
        if offset < first {
            let message = format!("`{}` begins before the first cycle of all bridges", stream.name);
            let help = format!("raise its `offset` by a number of cycles, to {first} at least");
            faults.error(codes::CYCLIC_TALKER, place, message, help);
        }
    }

    /// Whether each talker's frames of a cycle leave within it.
    fn talkers(&self, faults: &mut Faults) {
        let mut ports: BTreeMap<PortIndex, Vec<(&Stream, Place)>> = BTreeMap::new();
        for (number, stream) in self.streams_of() {
            let place = self.of.streams.list[number.index()].place("traffic");
            for hop in stream.hops.iter().filter(|hop| hop.previous.is_none()) {
                ports.entry(hop.port).or_default().push((stream, place));
            }
        }
        for (port, streams) in ports {
            self.talker(port, &streams, faults);
        }
    }

    fn talker(&self, port: PortIndex, streams: &[(&Stream, Place)], faults: &mut Faults) {
        let settings = &self.of.topology.ports[port.index()];
        let node = &self.of.topology.nodes[settings.node.index()];
        let NodeKind::EndStation { host } = node.kind else { return };
        let host = self.of.models.host_at(host);
        let (name, place) = (self.of.topology.port_name(port), streams[0].1);
        let first = |stream: &Stream| stream.hops.iter().find(|hop| hop.port == port).copied();
        let classes: Vec<_> = streams.iter().filter_map(|(stream, _)| Some(first(stream)?.class)).collect();
        let is_plain = |class: &tautwire_core::TrafficClass| {
            settings.classes[class.index()].selection.algorithm() == SelectionAlgorithm::StrictPriority
        };
        let lower = self.others_at(port, *classes.iter().min().expect("a stream"));
        let is_cut =
            |class: &tautwire_core::TrafficClass| settings.preemptable_classes() >> class.number() & 1 == 1;
        let what = if settings.gates.is_some() {
            "has gates"
        } else if classes.iter().any(is_cut) {
            "lets others cut them"
        } else if !host.stacks.stacks.is_empty() || host.is_class_blind {
            "has protocol stacks, or one queue for all classes"
        } else if !classes.iter().all(is_plain) {
            "shapes them"
        } else if lower.is_none() {
            "sends other frames before them"
        } else {
            ""
        };
        if !what.is_empty() {
            let message =
                format!("the frames of `{}` may leave their cycle, for {name} {what}", streams[0].0.name);
            let help = "give cyclic streams the highest classes of their talker, with strict priority and nothing else";
            faults.error(codes::CYCLIC_TALKER, place, message, help);
            return;
        }
        let Some(links) = settings.links else { return };
        let rate = self.of.topology.links[links.egress.index()].rate;
        let reading = self.reading(settings.node);
        let (mut latest, mut host_max, mut wire) = (Duration::ZERO, Duration::ZERO, Bytes::ZERO);
        for (stream, _) in streams {
            let (Some(load), Some(hop)) = (self.cyclic.load(stream, reading), first(stream)) else { return };
            let frame = frame_length(stream.payload_max, hop.tagged);
            latest = latest.max(load.latest);
            let transmit = &host.transmit;
            let fixed = (transmit.constant + transmit.per_octet * frame.get()).saturating_sub(transmit.less);
            host_max = host_max.max(fixed.saturating_add(crate::resolve::models::delay_max(transmit.random)));
            wire += (frame + Bytes::MEDIA_OVERHEAD) * load.frames;
        }
        let sent = line_time(rate, lower.unwrap_or_default(), wire);
        let gap = rate.duration_ceil(self.gap(rate).bits());
        let end = latest.saturating_add(host_max).max(gap).saturating_add(sent);
        if end > self.cyclic.open_time() {
            let message = format!(
                "the frames that {name} gets in a cycle may leave it at {end} of the cycle, later than cycle less dead time, {}",
                self.cyclic.open_time()
            );
            let spare = self.cyclic.open_time().saturating_sub(sent.saturating_add(host_max));
            let help = format!(
                "hand all frames over within the first {spare} of a cycle (`offset`, `jitter`, an `interval` of whole cycles), or lengthen the cycle"
            );
            faults.error(codes::CYCLIC_TALKER, place, message, help);
        }
    }

    /// For how many octets of the line streams that are not cyclic keep cyclic ones off at a port at most, and network control: a frame, or what of it is not
    /// cut; none if one is not below a class.
    fn others_at(&self, port: PortIndex, class: tautwire_core::TrafficClass) -> Option<Bytes> {
        let listed = self.of.streams.list.iter().map(|draft| &draft.stream).enumerate();
        let listed = listed.filter(|(number, _)| !self.cyclic.streams.contains(&StreamIndex::at(*number)));
        let all = listed.map(|(_, stream)| stream).chain(&self.of.streams.protocol);
        let settings = &self.of.topology.ports[port.index()];
        // Where the other end takes no fragments, frames are whole.
        let cut = settings
            .preemption
            .filter(|_| is_verified(&self.of.topology.ports, &self.of.topology.links, port));
        let on_line = |frame: Bytes, class: tautwire_core::TrafficClass| {
            let is_cut = settings.preemptable_classes() >> class.number() & 1 == 1;
            let whole = frame + Bytes::MEDIA_OVERHEAD;
            let part = cut.filter(|_| is_cut).map(|stated| {
                Bytes::new(stated.add_frag_size.blocking(u32::try_from(frame.get()).unwrap_or(u32::MAX)))
            });
            part.map_or(whole, |part| part.min(whole))
        };
        let mut most = Bytes::ZERO;
        for stream in all {
            for hop in stream.hops.iter().filter(|hop| hop.port == port) {
                if hop.class >= class {
                    return None;
                }
                most = most.max(on_line(frame_length(stream.payload_max, hop.tagged), hop.class));
            }
        }
        if let Some(control) = &self.of.network_control {
            let own = settings.class_table.class_of(control.priority, true);
            if own >= class {
                return None;
            }
            most = most.max(on_line(control.frame_max, own));
        }
        Some(most)
    }

    /// Octets of the gap behind the last frame of the cycle before that lie in a cycle, for the dead time may be shorter.
    fn gap(&self, rate: BitRate) -> Bytes {
        let is_over = rate.duration_ceil(Bytes::new(GAP).bits()) <= self.cyclic.dead_time;
        if is_over { Bytes::ZERO } else { Bytes::new(GAP) }
    }

    /// Lines and load.
    fn ports(&self, faults: &mut Faults) {
        let mut ports: BTreeMap<PortIndex, Vec<(&Stream, Hop)>> = BTreeMap::new();
        for (_, stream) in self.streams_of() {
            for hop in &stream.hops {
                ports.entry(hop.port).or_default().push((stream, *hop));
            }
        }
        for (port, hops) in &ports {
            self.line(*port, hops, faults);
            if hops[0].1.previous.is_some() {
                self.port(*port, hops, faults);
            }
        }
    }

    /// The line from a port to a bridge: dead time and begin.
    fn line(&self, port: PortIndex, hops: &[(&Stream, Hop)], faults: &mut Faults) {
        let Some(links) = self.of.topology.ports[port.index()].links else { return };
        let link = &self.of.topology.links[links.egress.index()];
        let to = self.of.topology.ports[link.to.index()].node;
        let Some(device) = self.device(to) else { return };
        let name = self.of.topology.port_name(port);
        let octets = |payload, hop: &Hop| frame_length(payload, hop.tagged);
        let largest =
            hops.iter().map(|(stream, hop)| octets(stream.payload_max, hop)).max().unwrap_or_default();
        let least =
            hops.iter().map(|(stream, hop)| octets(stream.payload_min, hop)).min().unwrap_or_default();
        let times = LineTimes::new(link, device, least, largest);
        let needed = self.cyclic.dead_time_min(&times);
        if needed > self.cyclic.dead_time {
            let (is, help) = if self.cyclic.takes_turns() {
                ("queued", format!("set `dead-time` to {needed}, leave it out, or name a third priority"))
            } else {
                ("received", format!("set `dead-time` to {needed}, or leave it out"))
            };
            let message = format!(
                "a dead time of {} is too short: what {name} sends at the end of a cycle is not {is} before the frames of the next one",
                self.cyclic.dead_time
            );
            faults.error(codes::CYCLIC_DEAD_TIME, self.place("dead-time"), message, help);
        }
        let (buffers, stated) = (self.cyclic.buffers_min(&times), self.cyclic.priorities.len());
        if !self.cyclic.takes_turns() && buffers > u64::try_from(stated).unwrap_or(u64::MAX) {
            let message = format!(
                "the line behind {name} needs {buffers} buffers, one that is sent and those in which its frames may wait meanwhile, and there are {stated}"
            );
            let help = if buffers > 8 {
                "lengthen the cycle".to_owned()
            } else {
                format!("name {buffers} priorities, or lengthen the cycle")
            };
            faults.error(codes::CYCLIC_BUFFERS, self.place("priorities"), message, help);
        }
        let way = times.first_min;
        if way < self.cyclic.precision {
            let message = format!(
                "what {name} sends at the start of a cycle may be received {way} later, in the cycle before by a clock that differs by {}",
                self.cyclic.precision
            );
            let help = format!("improve the clocks to a `precision` of {way}, or make the frames larger");
            faults.error(codes::CYCLIC_CLOCKS, self.place("precision"), message, help);
        }
    }

    /// Classes and load of a bridge's port.
    fn port(&self, port: PortIndex, hops: &[(&Stream, Hop)], faults: &mut Faults) {
        let settings = &self.of.topology.ports[port.index()];
        let (name, place) = (self.of.topology.port_name(port), self.place("priorities"));
        let classes = self.cyclic.classes(settings);
        let plain = |class: &tautwire_core::TrafficClass| {
            settings.classes[class.index()].selection.algorithm() == SelectionAlgorithm::StrictPriority
        };
        let lower = self.others_at(port, *classes.iter().min().expect("two at least"));
        let preemptable = settings.preemptable_classes();
        let is_shared = (1..classes.len()).any(|place| classes[..place].contains(&classes[place]));
        let what = if is_shared {
            "two priorities have one class"
        } else if !classes.iter().all(plain) {
            "a class of them has another selection than strict priority"
        } else if hops.iter().any(|(_, hop)| !classes.contains(&hop.class)) {
            "frames of cyclic streams come with another priority"
        } else if classes.iter().any(|class| preemptable >> class.number() & 1 == 1) {
            "they are preemptable"
        } else if lower.is_none() {
            "other frames use their classes, or go before them"
        } else {
            ""
        };
        if !what.is_empty() {
            let message = format!("at {name} {what}");
            let help = "give these priorities the highest classes, of their own and express, at every port";
            faults.error(codes::CYCLIC, place, message, help);
            return;
        }
        let Some(links) = settings.links else { return };
        let rate = self.of.topology.links[links.egress.index()].rate;
        let wire = hops.iter().fold(Bytes::ZERO, |sum, (stream, hop)| {
            let load = self.cyclic.load(stream, self.reading(stream.talker));
            let frame = frame_length(stream.payload_max, hop.tagged) + Bytes::MEDIA_OVERHEAD;
            sum + frame * load.map_or(0, |load| load.frames)
        });
        let needed = line_time(rate, lower.unwrap_or_default().max(self.gap(rate)), wire);
        if needed > self.cyclic.open_time() {
            let message = format!(
                "the cyclic frames of a cycle take {name} {needed}, and a cycle less dead time has {}",
                self.cyclic.open_time()
            );
            let longer = needed.saturating_add(self.cyclic.dead_time);
            let help = format!("lengthen the cycle to {longer}, or move streams to another way");
            faults.error(codes::CYCLIC_LOAD, self.place("cycle-time"), message, help);
        }
    }
}

/// What a clock reads when the run begins: none reads less than zero.
pub(super) fn reading(offsets: impl Iterator<Item = i64> + Clone, node: NodeIndex) -> Duration {
    let least = offsets.clone().min().unwrap_or(0).min(0);
    let own = offsets.into_iter().nth(node.index()).unwrap_or(0);
    Duration::from_ps(own.abs_diff(least))
}

/// From the start of the line's time to the last bit of so many octets on the wire, behind those of a lower frame.
fn line_time(rate: BitRate, lower: Bytes, wire: Bytes) -> Duration {
    let octets = (lower.get() + wire.get()).saturating_sub(GAP);
    rate.duration_ceil(Bytes::new(octets).bits())
}
