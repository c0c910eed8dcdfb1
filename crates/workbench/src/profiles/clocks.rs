//! Requirements on gPTP (802.1AS), on the clocks of nodes, and on what follows them.

use tautwire_model::gates::GateClock;
use tautwire_model::gptp::Gptp;
use tautwire_model::network::{Delay, Distribution, Link, NodeIndex, NodeKind, PortIndex};
use tautwire_units::Duration;

use super::look::Look;
use super::paths;
use super::requirement::{Breach, Found, Subject};

const NO_GPTP: &str = "the network has no gPTP";

impl Look<'_> {
    pub(super) fn has_gptp(&self) -> Found {
        let breach = (Subject::Network, "no gPTP synchronises the network".to_owned());
        Found::Breaches(if self.network.gptp.is_some() { Vec::new() } else { vec![breach] })
    }

    pub(super) fn one_domain(&self) -> Found {
        let Some(gptp) = &self.network.gptp else { return Found::Nothing(NO_GPTP) };
        let links = self.network.links.iter().step_by(2).enumerate();
        let breaches = links.filter_map(|(number, link)| {
            let domain = |port: PortIndex| gptp.nodes[self.network.ports[port.index()].node.index()].domain;
            let (one, other) = (domain(link.from), domain(link.to));
            let message = format!(
                "the ends {} and {} of a link are in the gPTP domains {one} and {other}",
                self.port_name(link.from),
                self.port_name(link.to)
            );
            (one != other).then_some((Subject::Cable(number), message))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn link_delay(&self, most: Duration) -> Found {
        if self.network.gptp.is_none() {
            return Found::Nothing(NO_GPTP);
        }
        let breaches = self.network.links.chunks_exact(2).enumerate().filter_map(|(number, both)| {
            let way = |link: &Link| link.propagation + link.phy_delay.max;
            let mean = Duration::from_ps((way(&both[0]) + way(&both[1])).as_ps() / 2);
            let ends = [both[0].from, both[0].to].map(|port| self.port_name(port));
            let message =
                format!("the mean delay of the link of {} and {} is up to {mean}", ends[0], ends[1]);
            (mean > most).then_some((Subject::Cable(number), message))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn processing(&self, most: Duration, bridges_alone: bool) -> Found {
        let what = if bridges_alone { "residence time" } else { "answer to a peer delay request" };
        self.gptp_nodes(|gptp, index| {
            let is_bridge = matches!(self.network.nodes[index].kind, NodeKind::Bridge { .. });
            let time = greatest(&gptp.nodes[index].processing);
            let message = format!("the {what} of `{}` is up to {time}", self.network.nodes[index].name);
            (time > most && (is_bridge || !bridges_alone)).then_some((Subject::Section(&["gptp"]), message))
        })
    }

    pub(super) fn clock_tolerance(&self, most: u32) -> Found {
        self.gptp_nodes(|_, index| {
            let node = &self.network.nodes[index];
            let deviation = node.clock.tolerance_ppb;
            let message = format!(
                "the clock of `{}` deviates by up to {}.{:03} ppm",
                node.name,
                deviation / 1_000,
                deviation % 1_000
            );
            (deviation > most).then_some((Subject::Node(NodeIndex::at(index), "clock"), message))
        })
    }

    pub(super) fn stamp_step(&self, most: Duration) -> Found {
        self.gptp_nodes(|gptp, index| {
            let step = gptp.nodes[index].stamp_quantum;
            let message = format!("the stamps of `{}` have steps of {step}", self.network.nodes[index].name);
            (step > most).then_some((Subject::Section(&["gptp"]), message))
        })
    }

    pub(super) fn synchronised_links(&self, most: usize) -> Found {
        if self.network.gptp.is_none() {
            return Found::Nothing(NO_GPTP);
        }
        let breaches = paths::farthest(self.network).filter(|(links, ..)| *links > most);
        let breaches = breaches.map(|(links, from, to)| {
            let name = |node: NodeIndex| &self.network.nodes[node.index()].name;
            let message = format!("`{}` and `{}` are {links} links apart", name(from), name(to));
            (Subject::Node(to, "type"), message)
        });
        Found::Breaches(breaches.into_iter().collect())
    }

    pub(super) fn gates_synchronised(&self) -> Found {
        if !self.network.has_gates() {
            return Found::Nothing("the network has no gates");
        }
        if self.network.gate_clock() != GateClock::Free {
            return Found::Breaches(Vec::new());
        }
        let breaches = self.ports().filter(|(_, port)| port.gates.is_some()).filter_map(|(index, port)| {
            let node = &self.network.nodes[port.node.index()];
            let message = format!(
                "the gates of {} follow the clock of `{}`, which nothing synchronises",
                self.port_name(index),
                node.name
            );
            (node.clock.tolerance_ppb > 0).then_some((Subject::Node(port.node, "clock"), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn gptp_nodes(&self, breach: impl Fn(&Gptp, usize) -> Option<Breach>) -> Found {
        let Some(gptp) = &self.network.gptp else { return Found::Nothing(NO_GPTP) };
        Found::Breaches((0..self.network.nodes.len()).filter_map(|index| breach(gptp, index)).collect())
    }
}

/// The greatest value of a delay for the longest message of gPTP that a link without options has (Follow_Up, 90 octets).
fn greatest(delay: &Delay) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    };
    let fixed = delay.constant.as_ps() + 90 * delay.per_octet.as_ps();
    Duration::from_ps(fixed).saturating_sub(delay.less).saturating_add(random)
}
