//! What only the whole network shows of frame preemption: classes of two services, ends of links that take no fragments, and what does not go
//! together with it.

use tautwire_core::TrafficClass;
use tautwire_core::gates::Operation;

use super::PortPreemption;
use crate::gates::check::schedule_of_all;
use crate::network::{Hop, NodeKind, Port, PortIndex, StagePosition, Stream, Switching};
use crate::preemption::codes;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::text::tree::Place;

/// Reports what cannot be, or does nothing, of frame preemption.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let topology = &of.topology;
    let mut reported: Vec<Place> = Vec::new();
    for (number, port) in topology.ports.iter().enumerate() {
        let (Some(stated), Some(place)) = (port.preemption, topology.extras[number].places.preemption) else {
            continue;
        };
        if !stated.enabled || !stated.supported || stated.priorities == 0 || port.links.is_none() {
            continue;
        }
        let port = Preempting { of, number: PortIndex::at(number), port, stated, place };
        // Ports of one key have most faults together.
        let is_new = !reported.contains(&place);
        if port.beside_others(faults, is_new) || port.classes(faults, is_new) || port.cut_through(faults) {
            reported.push(place);
        }
        port.other_end(faults);
        if is_new && port.unheld(faults) {
            reported.push(place);
        }
    }
}

/// A port that is to preempt.
struct Preempting<'a, 'd, 't> {
    of: &'a Resolved<'d, 't>,
    number: PortIndex,
    port: &'a Port,
    stated: PortPreemption,
    place: Place,
}

impl Preempting<'_, '_, '_> {
    fn name(&self) -> String {
        self.of.topology.port_name(self.number)
    }

    fn refuse(&self, faults: &mut Faults, is_new: bool, message: String, help: &str) -> bool {
        if is_new {
            faults.error(codes::PREEMPTION, self.place, message, help);
        }
        true
    }

    /// Priorities of one class have one service: else frames of the class would overtake each other.
    fn classes(&self, faults: &mut Faults, is_new: bool) -> bool {
        let mixed = |class: &TrafficClass| self.port.statuses(&self.stated, *class) == (true, true);
        let Some(class) = TrafficClass::all().find(mixed) else { return false };
        let message = format!("class {class} of {} has express and preemptable priorities", self.name());
        let help = "give all priorities of a class the same status, or change `traffic-class-table`";
        self.refuse(faults, is_new, message, help)
    }

    /// Other schedules of the port.
    fn beside_others(&self, faults: &mut Faults, is_new: bool) -> bool {
        let root = &self.of.draft.root;
        let whole = schedule_of_all(root);
        let device = match &self.of.topology.nodes[self.port.node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(self.of.models.device_at(*device)),
            NodeKind::EndStation { .. } => None,
        };
        let is_behind = |position: StagePosition| position == StagePosition::Transmission;
        let staged = device.is_some_and(|device| device.stages.iter().any(|stage| is_behind(stage.position)));
        let timed = self.of.streams.list.iter().map(|draft| &draft.stream);
        let timed = timed.filter(|stream| stream.time_triggered.is_some());
        let is_timed = timed.flat_map(|stream| &stream.hops).any(|hop| hop.port == self.number);
        let what = match (whole, is_timed) {
            (Some(key), _) => format!("`{key}`"),
            (_, true) => "dispatch points of time-triggered links".to_owned(),
            _ if device.is_some_and(|device| device.two_stage) => "`two-stage` of its device".to_owned(),
            _ if staged => "transmission stages of its device".to_owned(),
            _ => return false,
        };
        let message = format!("{} preempts frames and has {what}, which do not go together", self.name());
        self.refuse(faults, is_new, message, "remove one of them, or set `enable-tx: false`")
    }

    /// Frames that are sent on before they are whole, by or behind a port that cuts them.
    fn cut_through(&self, faults: &mut Faults) -> bool {
        let preemptable = self.port.preemptable_classes();
        let topology = &self.of.topology;
        let cuts_through =
            |hop: &Hop| match &topology.nodes[topology.ports[hop.port.index()].node.index()].kind {
                NodeKind::Bridge { device, .. } => {
                    matches!(self.of.models.device_at(*device).switching, Switching::CutThrough { .. })
                }
                NodeKind::EndStation { .. } => false,
            };
        let meets = |stream: &Stream| {
            stream.hops.iter().enumerate().any(|(number, hop)| {
                let is_cut = hop.port == self.number && preemptable >> hop.class.number() & 1 == 1;
                let is_behind =
                    |later: &Hop| later.previous == u32::try_from(number).ok() && cuts_through(later);
                is_cut && (hop.previous.is_some() && cuts_through(hop) || stream.hops.iter().any(is_behind))
            })
        };
        let streams = self.of.streams.list.iter().map(|draft| &draft.stream).chain(&self.of.streams.protocol);
        let Some(stream) = streams.into_iter().find(|stream| meets(stream)) else { return false };
        let message = format!(
            "frames of `{}` are preemptable at {} and are cut through by a bridge there, which do not go together",
            stream.name,
            self.name()
        );
        let help = "make their priority express, or set `switching: store-and-forward`";
        self.refuse(faults, true, message, help)
    }

    /// Gates that shut behind preemptable frames which express ones may have cut: what is left goes on behind the close unless the MAC holds it.
    fn unheld(&self, faults: &mut Faults) -> bool {
        let Some(gates) = &self.port.gates else { return false };
        // Cyclic queuing makes lists of its own.
        let cyclic = self.of.mechanisms.cyclic.as_ref();
        if cyclic.is_some_and(|cyclic| cyclic.bridges.contains(&self.port.node)) {
            return false;
        }
        let streams = || {
            let all = self.of.streams.list.iter().map(|draft| &draft.stream);
            all.chain(&self.of.streams.protocol)
        };
        let at_port = |class: TrafficClass| {
            streams()
                .any(|stream| stream.hops.iter().any(|hop| (hop.port, hop.class) == (self.number, class)))
        };
        let used = TrafficClass::all()
            .filter(|class| at_port(*class))
            .fold(0, |all, class| all | 1 << class.number());
        let preemptable = self.port.preemptable_classes();
        let list = &gates.parameters.control_list;
        // The MAC holds when the list begins if it does at its end.
        let last =
            list.iter().rev().map(|entry| entry.operation).find(|one| *one != Operation::SetGateStates);
        let mut held = last == Some(Operation::SetAndHoldMac);
        let closes = list.iter().zip(list.iter().cycle().skip(1)).find(|(entry, next)| {
            match entry.operation {
                Operation::SetAndHoldMac => held = true,
                Operation::SetAndReleaseMac => held = false,
                Operation::SetGateStates => {}
            }
            let holds = match next.operation {
                Operation::SetAndHoldMac => true,
                Operation::SetAndReleaseMac => false,
                Operation::SetGateStates => held,
            };
            let shut = entry.gate_states & !next.gate_states & preemptable & used;
            let express = entry.gate_states & !preemptable & used;
            shut != 0 && express != 0 && !held && !holds
        });
        let Some((entry, next)) = closes else { return false };
        let lowest = |classes: u8| classes.trailing_zeros();
        let message = format!(
            "class {} of {} may cut frames of class {} before the gate of these shuts, and what is left of them goes on behind that",
            lowest(entry.gate_states & !preemptable & used),
            self.name(),
            lowest(entry.gate_states & !next.gate_states & preemptable & used)
        );
        let help = "let the entry that shuts the gate be `set-and-hold-mac`, and one behind it `set-and-release-mac`";
        faults.warning(codes::PREEMPTION_OVERRUN, self.place, message, help);
        true
    }

    /// An end of the link that takes no fragments.
    fn other_end(&self, faults: &mut Faults) {
        let topology = &self.of.topology;
        let Some(links) = self.port.links else { return };
        let to = topology.links[links.egress.index()].to;
        if topology.ports[to.index()].preemption.is_none_or(|stated| stated.supported) {
            return;
        }
        let (own, other) = (self.name(), topology.port_name(to));
        if self.stated.verify_disabled {
            let message = format!("{own} preempts frames, and {other} takes no fragments");
            let help = "remove `verify-disable-tx`, or set `support: true` there";
            faults.error(codes::PREEMPTION, self.place, message, help);
        } else {
            let message =
                format!("{own} preempts no frames, for {other} does not respond to its verification");
            faults.warning(codes::PREEMPTION_INACTIVE, self.place, message, "set `support: true` there");
        }
    }
}
