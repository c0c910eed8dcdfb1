//! From the description to the network: names to indices, defaults filled in, routes found, shapers assigned.
//!
//! The steps of [`resolve`] run in the order of their dependencies. A step reports the faults of its input and
//! continues with the rest, so that one run shows all faults; a fault that only follows from another one (a listener
//! that cannot be reached because its link is wrong) is not reported. Faults of form are reported before: here an
//! unreadable value is left out without a report. `check` reports faults that only the resolved network shows;
//! dispatch points and precision follow when there are none ([`Resolved::complete`]).

pub(crate) mod arrival;
pub(crate) mod ats;
pub(crate) mod control_frames;
pub(crate) mod covering;
pub(crate) mod datagrams;
pub(crate) mod events;
mod exclusive;
pub(crate) mod identification;
pub(crate) mod links;
pub(crate) mod models;
mod names;
mod network_control;
pub(crate) mod nodes;
pub(crate) mod ports;
pub(crate) mod routes;
mod run;
pub(crate) mod section_view;
pub(crate) mod streams;
pub(crate) mod topology;
pub(crate) mod traffic;
pub(crate) mod vlans;

use tautwire_core::Priority;

use crate::network::{Network, NetworkControl, Parts, RunSettings, Test};
use crate::parse::Draft;
use crate::section::Sections;
use crate::text::faults::Faults;
use crate::text::tree::Node;
use crate::{as6802, cqf, frer, gptp, harts, psfp, srp, tdma, test_bed, time_triggered, virtual_link};
pub(crate) use control_frames::ControlFrames;
pub use section_view::Resolving;
pub(crate) use traffic::read_trace;

/// A network with all that checks need of its description: models, places, and what was stated.
pub(crate) struct Resolved<'t, 'a> {
    pub(crate) draft: &'a Draft<'t>,
    pub(crate) models: models::Models<'t, 'a>,
    pub(crate) topology: topology::Topology<'a>,
    pub(crate) vlans: vlans::Vlans,
    pub(crate) streams: streams::Streams<'t, 'a>,
    pub(crate) events: Vec<events::Event>,
    /// Whether no event is left out for its faults.
    pub(crate) has_all_events: bool,
    pub(crate) run: RunSettings,
    pub(crate) network_control: Option<NetworkControl>,
    pub(crate) mechanisms: Mechanisms,
    /// Whether streams have routes, which are found in a network without faults alone.
    pub(crate) is_routed: bool,
    /// The shapers; none if there were faults before.
    pub(crate) shapers: Option<Shapers>,
}

/// The resolved values of a network's mechanisms.
#[derive(Default)]
pub(crate) struct Mechanisms {
    pub(crate) test_bed: Option<Test>,
    pub(crate) tdma: Option<tdma::Tdma>,
    pub(crate) srp: Option<srp::StreamReservation>,
    pub(crate) gptp: Option<gptp::Gptp>,
    pub(crate) harts: Option<harts::Harts>,
    pub(crate) time_triggered: Option<time_triggered::TimeTriggered>,
    pub(crate) as6802: Option<as6802::Synchronisation>,
    pub(crate) cyclic: Option<cqf::CyclicForwarding>,
    pub(crate) repeats: Vec<frer::Repeats>,
    pub(crate) sections: Sections,
    /// Dispatch points as they are stated.
    points: Vec<Option<time_triggered::resolve::Stated>>,
}

/// Schedulers, and classes that reservations shape.
pub(crate) struct Shapers {
    pub(crate) assigned: ats::Assigned,
    pub(crate) reserved_classes: Vec<srp::reserved_class::ReservedClass>,
}

/// Resolves a description, as far as its faults let it.
pub(crate) fn resolve<'t, 'a>(draft: &'a Draft<'t>, faults: &mut Faults) -> Resolved<'t, 'a> {
    let root = &draft.root;
    let mut models = models::Models::new(root, &draft.builtin);
    let nodes = nodes::drafts(root, &mut models, faults);
    let cables = links::cables(root, &nodes, faults);
    let mut topology = topology::assemble(root, nodes, cables, &models, faults);
    let cut_at_start = topology.take_up(root);
    let run = run::run_settings(root, faults);
    let network_control = network_control::network_control(root, faults);
    let vlans = vlans::vlans(draft, &topology, faults);
    let mut streams = streams::streams(draft, &topology, &vlans, faults);
    datagrams::cut(draft, &topology, &mut streams, faults);
    tdma::resolve::start_up::drafts(draft, &topology, &mut streams, faults);
    tdma::resolve::responses(&mut streams, faults);
    topology.filters = psfp::resolve::drafts(root, &topology, &streams, faults);
    let mut cyclic = cqf::resolve::expand(root, &mut topology, &models, &mut streams, faults);
    let events::Events { list: events, is_complete } =
        events::events(draft, &topology, &cut_at_start, &mut streams, faults);
    topology.filters.settle(events.iter().map(|event| &event.timeline));
    virtual_link::resolve::measure(&mut streams);
    // Routes are found only in a network without faults: a missing link would make a fault of each stream.
    let is_routed = faults.errors() == 0;
    if is_routed {
        routes::find(&topology, &vlans, &mut streams, faults);
        identification::identify(&mut topology, &models, &mut streams, faults);
        // Bridges that forward in cycles get their filters behind that: they identify every stream by itself.
        if let Some(cyclic) = &mut cyclic {
            cqf::resolve::receive(root, cyclic, &mut topology, &models, &streams);
        }
    }
    let mut resolved = Resolved {
        draft,
        models,
        topology,
        vlans,
        streams,
        events,
        has_all_events: is_complete,
        run,
        network_control,
        mechanisms: Mechanisms { cyclic, ..Mechanisms::default() },
        is_routed,
        shapers: None,
    };
    resolved.mechanisms(faults);
    resolved.shapers(faults);
    resolved.time_triggered(faults);
    if faults.errors() > 0 {
        names::look_up(&resolved, faults);
    }
    resolved
}

impl<'t, 'a> Resolved<'t, 'a> {
    /// Mechanisms that need no shapers, and the streams of their frames.
    fn mechanisms(&mut self, faults: &mut Faults) {
        let (draft, topology, models, streams) =
            (self.draft, &self.topology, &self.models, &mut self.streams);
        let found = &mut self.mechanisms;
        found.test_bed = test_bed::resolve::test(draft, topology, streams, &self.events, &self.run, faults);
        found.tdma = tdma::resolve::tdma(draft, topology, models, streams, faults);
        if faults.errors() == 0 {
            found.srp = srp::resolve::reservation(draft, topology, streams, faults);
            found.gptp = gptp::resolve::gptp(draft, topology, streams, faults);
            found.sections = section_view::sections(draft, topology, &self.events, streams, faults);
        }
        found.harts = harts::resolve::harts(draft, topology, models, streams, faults);
        if faults.errors() == 0 {
            found.repeats = frer::repeats::resolve((topology, models), &self.events, streams, faults);
        }
    }

    /// Rates of shapers, schedulers, and classes that reservations shape.
    fn shapers(&mut self, faults: &mut Faults) {
        if faults.errors() > 0 {
            return;
        }
        let (draft, srp) = (self.draft, self.mechanisms.srp.as_ref());
        srp::resolve::reserved_class::shapers(draft, srp, &mut self.streams);
        let times = self.covering();
        let covering = times.with(&self.topology, &self.models);
        covering.choose(&mut self.streams, faults);
        let assigned = ats::assign(&covering, &mut self.streams, faults);
        let reserved_classes =
            srp::resolve::reserved_class::resolve(draft, &mut self.topology, &self.streams, srp, faults);
        self.shapers = Some(Shapers { assigned, reserved_classes });
    }

    /// Time-triggered traffic, and the frames that keep the network time.
    fn time_triggered(&mut self, faults: &mut Faults) {
        let (draft, topology, models, streams) =
            (self.draft, &self.topology, &self.models, &mut self.streams);
        let found = &mut self.mechanisms;
        found.time_triggered = time_triggered::resolve::settings(draft, topology, streams, faults);
        if !faults.forbids() {
            let settings = found.time_triggered.as_ref();
            found.as6802 = as6802::resolve::synchronisation(draft, topology, settings, streams, faults);
        }
        found.points = time_triggered::resolve::drafts(topology, models, streams, faults);
    }

    /// The inputs of the rates of shapers.
    pub(crate) fn covering(&self) -> covering::CoveringRates {
        let gptp = self.mechanisms.gptp.as_ref();
        let servo = gptp.and_then(|gptp| gptp.servo);
        let streams = self.streams.list.iter().map(|draft| &draft.stream);
        let shaped = streams.filter(|stream| stream.shaper.is_some());
        covering::CoveringRates {
            faster_ppb: servo.map_or(0, |servo| u64::from(servo.rate_max_ppb)),
            changes: !self.events.is_empty() || gptp.is_some(),
            payload_min: shaped.map(|stream| stream.payload_min).min().unwrap_or_default(),
        }
    }

    /// The network; if it has no faults, with what depends on all of it: lifetimes, dispatch points, precision. None
    /// if it has faults that the description does not allow.
    pub(crate) fn complete(self, faults: &mut Faults) -> Option<Network> {
        let (draft, found) = (self.draft, self.mechanisms);
        let (devices, hosts) = self.models.finish();
        let (assigned, reserved_classes) =
            self.shapers.map(|shapers| (shapers.assigned, shapers.reserved_classes)).unwrap_or_default();
        let parts = Parts {
            name: draft.root.get("name").and_then(Node::text).or(draft.stem).unwrap_or("network").to_owned(),
            nodes: self.topology.nodes,
            ports: self.topology.ports,
            links: self.topology.links,
            vlans: self.vlans.finish(),
            streams: self.streams.finish(),
            devices,
            hosts,
            schedulers: assigned.schedulers,
            scheduler_groups: assigned.groups,
            events: self.events.into_iter().map(|event| event.timeline).collect(),
            run: self.run,
            test_bed: found.test_bed,
            network_control: self.network_control,
            tdma: found.tdma,
            time_triggered: found.time_triggered,
            as6802: found.as6802,
            srp: found.srp,
            reserved_classes,
            gptp: found.gptp,
            harts: found.harts,
            stream_filters: self.topology.filters.bridges,
            identities: self.topology.identities,
            repeats: found.repeats,
            cyclic: found.cyclic,
            sections: found.sections,
        };
        let mut network = Network { parts };
        if faults.errors() == 0 && network.costs_slots() {
            let derived = network.derived_lifetime();
            if let Some(tdma) = &mut network.parts.tdma {
                tdma.lifetime = tdma.lifetime.or(derived);
            }
        }
        faults.allow(&draft.allowed);
        if faults.errors() == 0 {
            as6802::resolve::resolve(&mut network, draft, faults);
            time_triggered::resolve::resolve(&mut network, &found.points, faults);
            tdma::resolve::report_dual_master(&network, draft, faults);
        }
        (faults.errors() == 0).then_some(network)
    }
}

/// The priority under `key`.
pub(crate) fn priority(node: &Node<'_>, key: &str) -> Option<Priority> {
    node.parsed::<u8>(key).and_then(Priority::new)
}

/// The value of the first layer that has `key`.
pub(crate) fn layered<'t, 'a>(layers: &[&'a Node<'t>], key: &str) -> Option<&'a Node<'t>> {
    layers.iter().find_map(|layer| layer.get(key))
}
