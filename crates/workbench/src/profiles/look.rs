//! A network under examination: what several checks ask of it.

use tautwire_analysis::Bounds;
use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{NodeKind, Port, PortIndex, Stream, StreamIndex, TransmissionSelection};
use tautwire_units::BitRate;

use super::requirement::SrClass;

/// A network under examination.
pub(super) struct Look<'a> {
    /// The network.
    pub(super) network: &'a Network,
    /// What is proven of it.
    pub(super) bounds: &'a Bounds,
}

impl Look<'_> {
    pub(super) fn streams(&self) -> impl Iterator<Item = (StreamIndex, &Stream)> {
        let all = self.network.streams.iter().enumerate();
        all.filter(|(_, stream)| !stream.traffic.is_control())
            .map(|(index, stream)| (StreamIndex::at(index), stream))
    }

    pub(super) fn sr_streams(&self) -> impl Iterator<Item = (StreamIndex, &Stream)> {
        self.streams().filter(|(index, stream)| match &self.network.srp {
            Some(srp) => srp.streams.iter().any(|reserved| reserved.stream == *index),
            None => self.class_of(stream).is_some(),
        })
    }

    pub(super) fn class_of(&self, stream: &Stream) -> Option<SrClass> {
        let priority = stream.priority.number();
        let named = |class: &SrClass| match &self.network.srp {
            Some(srp) => srp
                .classes
                .iter()
                .any(|own| own.domain.class == class.number() && own.domain.priority == priority),
            None => class.priority() == priority,
        };
        [SrClass::A, SrClass::B].into_iter().find(named)
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = (PortIndex, &Port)> {
        let with_cable = self.network.ports.iter().enumerate().filter(|(_, port)| port.links.is_some());
        with_cable.map(|(index, port)| (PortIndex::at(index), port))
    }

    pub(super) fn is_bridge(&self, port: PortIndex) -> bool {
        let node = self.network.ports[port.index()].node;
        matches!(self.network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    }

    pub(super) fn is_credit_based(&self, port: PortIndex, class: TrafficClass) -> bool {
        let selection = self.network.ports[port.index()].classes[class.index()].selection;
        matches!(selection, TransmissionSelection::CreditBased { .. })
    }

    pub(super) fn rate(&self, port: &Port) -> Option<BitRate> {
        Some(self.network.links[port.links?.egress.index()].rate)
    }

    pub(super) fn port_name(&self, index: PortIndex) -> String {
        let port = &self.network.ports[index.index()];
        format!("{}.{}", self.network.nodes[port.node.index()].name, port.name)
    }
}
