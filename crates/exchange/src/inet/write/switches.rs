//! Classes, limits, shapers and gates of ports; delays, tags and filters of switches.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tautwire_core::Priority;
use tautwire_core::gates::Openings;
use tautwire_model::gates::{GuardPolicy, Operation, PortGates};
use tautwire_model::network::{
    Delay, DeviceModel, Distribution, Hop, Node, NodeIndex, NodeKind, Port, PortIndex, Switching, TieRule,
    TransmissionSelection,
};
use tautwire_units::Bytes;

use super::super::CLASSES;
use super::super::group_address;
use super::{CHARGED, Sent, Writer, rate, time};
use crate::node_of;

impl<'n> Writer<'n> {
    /// Classes, shapers, gates, filters and delays of all nodes.
    pub(super) fn nodes(&mut self, sent: &[Sent<'n>]) {
        let network = self.network;
        for (number, node) in network.nodes.iter().enumerate() {
            let name = self.names[number].clone();
            let is_blind = match node.kind {
                NodeKind::EndStation { host } => network.hosts[host.index()].is_class_blind,
                NodeKind::Bridge { .. } => false,
            };
            self.ini.push('\n');
            for port in node.ports.clone() {
                let port = &network.ports[port as usize];
                let interface = port.links.map(|links| &network.links[links.egress.index()]);
                if let Some(link) = interface {
                    let number = self.interfaces[&link.from.index()];
                    self.set(&format!("{name}.eth[{number}].bitrate"), &rate(link.rate.as_bps()));
                }
            }
            if !is_blind {
                self.set(&format!("{name}.hasEgressTrafficShaping"), "true");
                for port in node.ports.clone().map(|port| port as usize) {
                    if self.interfaces.contains_key(&port) {
                        self.port(port, node, sent);
                    }
                }
            }
            if let NodeKind::Bridge { device, .. } = node.kind {
                self.switch(number, node, &network.devices[device.index()], sent);
            }
        }
    }

    fn place(&self, port: &Port) -> String {
        format!("{}.{}", node_of(self.network, port), port.name)
    }

    /// Classes, limits, shapers and gates of a port.
    fn port(&mut self, number: usize, node: &Node, sent: &[Sent<'n>]) {
        let port = &self.network.ports[number];
        let (queue, place) = (self.queue(number), self.place(port));
        let class_of = |priority, tagged| port.class_table.class_of(priority, tagged).index() as u64;
        let table: Vec<u64> = Priority::all().map(|priority| class_of(priority, true)).collect();
        if table != CLASSES.map(|row| row[7]) {
            let rows: Vec<String> =
                table.iter().map(|class| format!("[{}]", vec![class.to_string(); 8].join(", "))).collect();
            self.list(&format!("{queue}.classifier.mapping"), &rows);
        }
        let untagged = class_of(port.default_priority, false);
        if untagged != 0 {
            self.set(&format!("{queue}.classifier.defaultGateIndex"), &untagged.to_string());
        }
        for (class, settings) in port.classes.iter().enumerate() {
            let path = format!("{queue}.queue[{class}]");
            self.set(&format!("{path}.packetCapacity"), &settings.limit_frames.to_string());
            let dropper = if settings.discards_oldest { "Begin" } else { "End" };
            self.set(
                &format!("{path}.dropperClass"),
                &format!("\"inet::queueing::PacketAtCollection{dropper}Dropper\""),
            );
            if settings.limit_octets != Bytes::new(2 << 20) {
                self.lacks
                    .lacks(format!("port {place} class {class}: its limit of {}", settings.limit_octets));
            }
            match settings.selection {
                TransmissionSelection::StrictPriority => {}
                TransmissionSelection::CreditBased { idle_slope } => {
                    let path = format!("{queue}.transmissionSelectionAlgorithm[{class}]");
                    self.set(&format!("{path}.typename"), "\"Ieee8021qCreditBasedShaper\"");
                    self.set(&format!("{path}.idleSlope"), &rate(idle_slope.as_bps()));
                }
                // A frame without an eligibility time is an error there.
                TransmissionSelection::Ats if matches!(node.kind, NodeKind::Bridge { .. }) => {
                    let of_class = |hop: &Hop| hop.port.index() == number && hop.class.index() == class;
                    let (metered, _) = metered(node, sent);
                    let mut users = sent.iter().filter(|one| one.stream.hops.iter().any(of_class));
                    if users.all(|one| metered.iter().any(|other| other.port == one.port)) {
                        self.eligible(PortIndex::at(number), class);
                    } else {
                        self.lacks.lacks(format!(
                            "port {place} class {class}: asynchronous traffic shaping, as not all of its streams have meters"
                        ));
                    }
                }
                TransmissionSelection::Ats => {}
            }
        }
        if port.shared_buffer.is_some() {
            self.lacks.lacks(format!("port {place}: its shared buffer"));
        }
        if port.preemption.is_some() {
            self.lacks.lacks(format!("port {place}: frame preemption"));
        }
        if Priority::all().zip(port.priority_regeneration).any(|(received, own)| received != own) {
            self.lacks.lacks(format!("port {place}: regenerated priorities"));
        }
        if let Some(gates) = &port.gates {
            self.gates(number, gates, &queue, &place);
        }
    }

    fn gates(&mut self, number: usize, gates: &PortGates, queue: &str, place: &str) {
        let parameters = &gates.parameters;
        if parameters.cycle_time.denominator() != 1 {
            self.lacks.lacks(format!("port {place}: its cycle is no whole number of picoseconds"));
        }
        if gates.payload_max.iter().any(Option::is_some) {
            self.lacks.lacks(format!("port {place}: largest sizes of classes"));
        }
        if !gates.tick.is_zero() {
            self.lacks.lacks(format!("port {place}: the tick of its gates"));
        }
        if gates.guard == GuardPolicy::MaxSdu {
            self.lacks.lacks(format!("port {place}: its guard band; gates of INET look ahead"));
        }
        if parameters.control_list.iter().any(|entry| entry.operation != Operation::SetGateStates) {
            self.lacks.lacks(format!("port {place}: hold and release of preemptable frames"));
        }
        if self.network.ports[number]
            .classes
            .iter()
            .any(|class| matches!(class.selection, TransmissionSelection::CreditBased { .. }))
        {
            self.lacks.lacks(format!(
                "port {place}: credit with gates; in INET it grows while a gate is open, and not before it closes too early"
            ));
        }
        let cycle = parameters.cycle_time.floor().as_ps();
        // How far the cycle is when the run begins, by the reading of the node's clock there.
        let node = &self.network.nodes[self.network.ports[number].node.index()];
        let at = i128::from(node.clock.offset.as_ps()) - i128::from(parameters.base_time.as_ps());
        let at = u64::try_from(at.rem_euclid(i128::from(cycle))).expect("it is within a cycle");
        if at > 0 && gates.admin_gate_states != u8::MAX {
            self.lacks.lacks(format!("port {place}: gates that are closed before the first cycle"));
        }
        for class in 0..8 {
            let gate = format!("{queue}.transmissionGate[{class}]");
            let intervals = match parameters.openings(class) {
                Openings::Always => continue,
                Openings::Never => {
                    self.set(&format!("{gate}.initiallyOpen"), "false");
                    continue;
                }
                Openings::In(intervals) => intervals,
            };
            if gates.guard == GuardPolicy::None {
                self.set(&format!("{gate}.enableImplicitGuardBand"), "false");
            }
            let first = intervals[0].open.as_ps();
            let nexts = intervals.iter().skip(1).map(|next| next.open.as_ps()).chain([first + cycle]);
            let durations: Vec<String> = intervals
                .iter()
                .zip(nexts)
                .flat_map(|(own, next)| [own.close.as_ps() - own.open.as_ps(), next - own.close.as_ps()])
                .map(time)
                .collect();
            self.set(&format!("{gate}.initiallyOpen"), "true");
            let _ = writeln!(self.ini, "*.{gate}.durations = [{}]", durations.join(", "));
            let offset = (at + cycle - first % cycle) % cycle;
            if offset > 0 {
                self.set(&format!("{gate}.offset"), &time(offset));
            }
        }
    }

    /// The delay of a switch, tags, and its filters.
    fn switch(&mut self, number: usize, node: &Node, device: &DeviceModel, sent: &[Sent<'n>]) {
        let name = self.names[number].clone();
        if let Some(delay) = self.delay(device) {
            let layer = format!("{name}.bridging.directionReverser.delayer");
            self.set(&format!("{layer}.typename"), "\"PacketDelayer\"");
            self.set(&format!("{layer}.delay"), &delay);
        }
        let is_own = |hop: &&Hop| node.ports.contains(&hop.port.0);
        let left: BTreeSet<bool> = sent
            .iter()
            .filter(|one| one.stream.tagged)
            .flat_map(|one| one.stream.hops.iter().filter(is_own).map(|hop| hop.tagged.vlan))
            .collect();
        if left.contains(&false) {
            if left.len() > 1 {
                self.lacks.lacks(format!(
                    "node {}: ports that keep tags, next to others that take them off",
                    node.name
                ));
            }
            self.set(
                &format!("{name}.bridging.directionReverser.reverser.excludeEncapsulationProtocols"),
                "[\"ieee8021qctag\"]",
            );
        }
        if sent
            .iter()
            .any(|one| !one.stream.tagged && one.stream.hops.iter().filter(is_own).any(|hop| hop.tagged.vlan))
        {
            self.lacks.lacks(format!("node {}: tags that it adds to frames without one", node.name));
        }
        if self.network.filters_of(NodeIndex::at(number)).is_some() {
            self.lacks.lacks(format!("node {}: stream filters, stream gates and flow meters", node.name));
        }
        self.ingress_filters(number, node, device, sent);
    }

    /// How long a switch keeps a frame.
    fn delay(&mut self, device: &DeviceModel) -> Option<String> {
        let place = format!("device {}", device.name);
        let largest = 1_522;
        let (mut least, mut most) = (0, 0);
        for stage in &device.stages {
            if stage.only_for.is_some_and(|only| only != TransmissionSelection::StrictPriority.algorithm()) {
                self.lacks
                    .lacks(format!("{place}: stages for some classes; those of strict priority are written"));
                continue;
            }
            most += stage.latency.longest(largest).as_ps();
            least += shortest(&stage.latency, largest);
            if !stage.latency.per_octet.is_zero() {
                self.lacks.lacks(format!(
                    "{place}: delays that depend on the length; those of {largest} octets are written"
                ));
            }
            if stage.occupancy.longest(largest).as_ps() > 0 {
                self.lacks.lacks(format!("{place}: frames that wait in a stage"));
            }
        }
        let facts = [
            (device.switching != Switching::StoreAndForward, "cut-through"),
            (device.tie_rule != TieRule::ArrivalOrder, "the order of frames of several ports"),
            (device.lane_limit.is_some(), "limits of queues of single ports"),
            (device.two_stage, "that it selects in two stages"),
            (device.credit_charged_overhead.get() != CHARGED, "what credit counts; INET counts the line"),
        ];
        for (_, what) in facts.into_iter().filter(|(is, _)| *is) {
            self.lacks.lacks(format!("{place}: {what}"));
        }
        match (least, most) {
            (_, 0) => None,
            _ if least == most => Some(time(most)),
            _ => {
                self.lacks.lacks(format!("{place}: its delays vary; in INET frames may overtake each other"));
                Some(format!("uniform({}, {})", time(least), time(most)))
            }
        }
    }

    /// Schedulers of received frames.
    fn ingress_filters(&mut self, number: usize, node: &Node, device: &DeviceModel, sent: &[Sent<'n>]) {
        let (metered, others) = metered(node, sent);
        for one in others {
            self.lacks.lacks(format!(
                "stream {}: its own scheduler; switches know streams by talker, listener and priority of their tags",
                one.name
            ));
        }
        if metered.is_empty() {
            return;
        }
        let facts = [
            (
                device.ats.charged_overhead.get() != CHARGED,
                "what its schedulers count; the standard's octets are written",
            ),
            (device.ats.time_quantum.is_some(), "the steps of its schedulers' times"),
            (!device.ats.processing_delay_max.is_zero(), "the processing delay in eligibility times"),
            (true, "groups of schedulers: a meter of INET knows its own stream alone"),
        ];
        for (_, what) in facts.into_iter().filter(|(is, _)| *is) {
            self.lacks.lacks(format!("device {}: {what}", device.name));
        }
        let residence =
            self.network.scheduler_groups.iter().find(|group| node.ports.contains(&group.reception_port.0));
        let residence = residence.and_then(|group| group.max_residence_time).map(|time| time.as_ps());
        let name = self.names[number].clone();
        let decoded: Vec<String> = metered
            .iter()
            .map(|one| {
                let talker = &self.names[one.stream.talker.index()];
                let listener = one
                    .group()
                    .map_or_else(|| self.names[one.stream.listeners[0].index()].clone(), group_address);
                format!(
                    "{{stream: \"{}\", source: \"{talker}\", destination: \"{listener}\", pcp: {}}}",
                    one.name,
                    one.stream.priority.number()
                )
            })
            .collect();
        self.set(&format!("{name}.hasIncomingStreams"), "true");
        self.list(&format!("{name}.bridging.streamCoder.decoder.mapping"), &decoded);
        self.set(&format!("{name}.hasIngressTrafficFiltering"), "true");
        self.meters(&format!("{name}.bridging.streamFilter.ingress"), &metered, residence);
    }
}

/// The streams with schedulers in a switch: those that it can tell apart, and the others.
fn metered<'s, 'n>(node: &Node, sent: &'s [Sent<'n>]) -> (Vec<&'s Sent<'n>>, Vec<&'s Sent<'n>>) {
    let of_node = |hop: &&Hop| node.ports.contains(&hop.port.0);
    let passes = |one: &&Sent<'_>| one.stream.hops.iter().any(|hop| of_node(&hop));
    let key = |one: &Sent<'_>| {
        let stream = one.stream;
        (stream.tagged, stream.talker, stream.listeners[0], one.group(), stream.priority)
    };
    sent.iter()
        .filter(|one| one.stream.hops.iter().filter(of_node).any(|hop| hop.scheduler.is_some()))
        .partition(|one| {
            one.stream.tagged
                && sent.iter().filter(passes).filter(|other| key(other) == key(one)).count() == 1
        })
}

/// The least that a frame takes, picoseconds.
fn shortest(delay: &Delay, octets: u64) -> u64 {
    let (least, most) = match delay.random {
        Distribution::Zero => (0, 0),
        Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => {
            (min.as_ps(), max.as_ps())
        }
    };
    delay.longest(octets).as_ps() - (most - least)
}
