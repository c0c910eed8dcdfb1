//! What only the whole network shows of frame preemption: classes of two services, ends of links that take no fragments, and what does not go
//! together with it.

use tautwire_core::TrafficClass;
use tautwire_core::gates::GateParameters;
use tautwire_core::preemption::{CUT_OVERHEAD, HEAD};
use tautwire_units::{Bytes, Duration};

use super::overrun::{Cause, Pushing};
use super::{PortPreemption, verification};
use crate::frame::frame_length;
use crate::gates::check::schedule_of_all;
use crate::network::{Hop, NodeKind, Port, PortIndex, StagePosition, Stream, Switching, TimelineAction};
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
        if port.beside_others(faults, is_new)
            || port.verifies_beside_others(faults, is_new)
            || port.classes(faults, is_new)
            || port.cut_through(faults)
        {
            reported.push(place);
        }
        port.other_end(faults);
        if port.overruns(faults, is_new) {
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
        let Some(what) = self.other_schedule(self.number) else { return false };
        let message = format!("{} preempts frames and has {what}, which do not go together", self.name());
        self.refuse(faults, is_new, message, "remove one of them, or set `enable-tx: false`")
    }

    /// Schedules of the ports of its link, if it is verified in the run.
    fn verifies_beside_others(&self, faults: &mut Faults, is_new: bool) -> bool {
        let topology = &self.of.topology;
        let Some(links) = self.port.links else { return false };
        let events = self.of.events.iter().map(|event| &event.timeline.action);
        let in_run = verification((&topology.ports, &topology.links), events, self.number);
        if in_run.is_none_or(|port| port.verifies.is_none()) {
            return false;
        }
        let other = topology.links[links.egress.index()].to;
        let cyclic = |port: &PortIndex| {
            let cyclic = self.of.mechanisms.cyclic.as_ref();
            cyclic.is_some_and(|cyclic| cyclic.bridges.contains(&topology.ports[port.index()].node))
        };
        let what = match [self.number, other].into_iter().find(cyclic) {
            Some(port) => Some((port, "cyclic queuing".to_owned())),
            None => self.other_schedule(other).map(|what| (other, what)),
        };
        let Some((port, what)) = what else { return false };
        let message = format!(
            "{} verifies the other end of its link in the run, and {} has {what}, which do not go together",
            self.name(),
            topology.port_name(port)
        );
        let help = "set `verify-disable-tx: true`; or remove `verify-at-start` and the events that bring up the link or its nodes";
        self.refuse(faults, is_new, message, help)
    }

    /// What a port has that does not go together with a MAC merge sublayer.
    fn other_schedule(&self, port: PortIndex) -> Option<String> {
        let whole = schedule_of_all(&self.of.draft.root);
        let node = self.of.topology.ports[port.index()].node;
        let device = match &self.of.topology.nodes[node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(self.of.models.device_at(*device)),
            NodeKind::EndStation { .. } => None,
        };
        let is_behind = |position: StagePosition| position == StagePosition::Transmission;
        let staged = device.is_some_and(|device| device.stages.iter().any(|stage| is_behind(stage.position)));
        let timed = self.of.streams.list.iter().map(|draft| &draft.stream);
        let timed = timed.filter(|stream| stream.time_triggered.is_some());
        let is_timed = timed.flat_map(|stream| &stream.hops).any(|hop| hop.port == port);
        match (whole, is_timed) {
            (Some(key), _) => Some(format!("`{key}`")),
            (_, true) => Some("dispatch points of time-triggered links".to_owned()),
            _ if device.is_some_and(|device| device.two_stage) => {
                Some("`two-stage` of its device".to_owned())
            }
            _ if staged => Some("transmission stages of its device".to_owned()),
            _ => None,
        }
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

    /// Gates that shut before what is left of preemptable frames is out, by the list at the start and by those of changes.
    fn overruns(&self, faults: &mut Faults, is_new: bool) -> bool {
        let Some(gates) = &self.port.gates else { return false };
        // Cyclic queuing makes lists of its own.
        let cyclic = self.of.mechanisms.cyclic.as_ref();
        if cyclic.is_some_and(|cyclic| cyclic.bridges.contains(&self.port.node)) {
            return false;
        }
        let found = is_new && self.overrun(&gates.parameters, self.place, faults);
        for event in &self.of.events {
            if let TimelineAction::ChangeGates(port, parameters) = &event.timeline.action
                && *port == self.number
            {
                self.overrun(parameters, event.place, faults);
            }
        }
        found
    }

    /// Whether what is left of frames goes on behind the close of a gate in a list.
    fn overrun(&self, parameters: &GateParameters, place: Place, faults: &mut Faults) -> bool {
        let Some(links) = self.port.links else { return false };
        let rate = self.of.topology.links[links.egress.index()].rate;
        let time = |octets: u64| rate.duration_ceil(Bytes::new(octets).bits());
        let uncut = time(self.stated.add_frag_size.blocking(u32::MAX));
        let (mut frames, preemptable, mut long) = ([None; 8], self.port.preemptable_classes(), 0);
        let streams = self.of.streams.list.iter().map(|draft| &draft.stream).chain(&self.of.streams.protocol);
        for stream in streams {
            for hop in stream.hops.iter().filter(|hop| hop.port == self.number) {
                let octets = frame_length(stream.payload_max, hop.tagged).get();
                let is_long = octets >= u64::from(self.stated.add_frag_size.frame_min());
                long |= u8::from(is_long) << hop.class.number();
                let longest: &mut Option<u64> = &mut frames[hop.class.index()];
                *longest = (*longest).max(Some(time(octets + HEAD + CUT_OVERHEAD).as_ps()));
            }
        }
        let advances = (self.stated.hold_advance.unwrap_or(uncut), self.stated.release_advance);
        let pushing = Pushing {
            parameters,
            preemptable,
            cut: preemptable & long,
            frames,
            uncut: uncut.as_ps(),
            advances: (advances.0.as_ps(), advances.1.as_ps()),
        };
        let Some((class, cause)) = pushing.overrun() else { return false };
        let name = self.name();
        let frame = Duration::from_ps(frames[class].unwrap_or_default());
        let cut = |express: usize| {
            format!(
                "class {express} of {name} may cut frames of class {class} before the gate of these shuts, and what is left of them goes on behind that"
            )
        };
        let (message, help) = match cause {
            Cause::Cut(express) => (
                cut(express),
                format!(
                    "shut the gate of class {express} {frame} before that of class {class} at least; or let the entry that shuts the gate of class {class} be `set-and-hold-mac`, and the next one that opens it `set-and-release-mac`"
                ),
            ),
            Cause::CutBeforeHold(express) => {
                (cut(express), format!("raise `hold-advance` to {uncut}, or leave it out"))
            }
            Cause::ReleasedShut => (
                format!(
                    "{name} holds frames of class {class} that have begun, and releases what is left of them while their gate is shut: it goes on then"
                ),
                format!(
                    "let an entry that opens the gate of class {class} be the `set-and-release-mac`, or do not hold"
                ),
            ),
            Cause::ReleasedLate => (
                format!(
                    "{name} releases what is left of frames of class {class} less than {frame} before their gate shuts, and it may go on behind that"
                ),
                format!(
                    "release {frame} before the gate of class {class} shuts at least, or keep it open for longer"
                ),
            ),
        };
        faults.warning(codes::PREEMPTION_OVERRUN, place, message, help);
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
