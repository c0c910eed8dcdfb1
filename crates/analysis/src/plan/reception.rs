//! Reception ports: what comes by each, and which stages of the device its frames pass.

use tautwire_model::network::{NodeKind, StagePosition};

use super::Plan;
use super::frame::{cut_through, frames, mechanism, rate_behind};
use crate::clock::{Deviation, slack_ps};
use crate::delay::{Reception, delay_max};

impl Plan<'_> {
    /// Collects, per reception port, what comes by it.
    pub(super) fn receive_all(&mut self) {
        let network = self.network;
        for stream in &network.streams {
            for hop in &stream.hops {
                let egress = &network.ports[hop.port.index()];
                let link = &network.links[egress.links.expect("a hop's port is connected").egress.index()];
                if !matches!(
                    network.nodes[network.ports[link.to.index()].node.index()].kind,
                    NodeKind::Bridge { .. }
                ) {
                    continue;
                }
                let (min, max) = frames(stream, hop.tagged);
                let clock = &network.nodes[egress.node.index()].clock;
                let reception = self.receptions[link.to.index()].get_or_insert(Reception {
                    frame_min: min,
                    frame_max: max,
                    line_bps: Deviation::of(clock).fastest(link.rate.as_bps()),
                    copies: 1,
                    occupancy: (0, 0),
                    latency: (0, 0),
                    jitter: (link.phy_delay.max - link.phy_delay.min).as_ps() + slack_ps(clock),
                    cut_through: false,
                });
                reception.frame_min = reception.frame_min.min(min);
                reception.frame_max = reception.frame_max.max(max);
            }
        }
        self.use_stages();
    }

    /// Which stages the frames of each reception port pass, and how often one frame.
    fn use_stages(&mut self) {
        let network = self.network;
        let mut mechanisms = vec![0_u8; network.ports.len()];
        for stream in &network.streams {
            for (number, hop) in stream.hops.iter().enumerate() {
                let Some(previous) = hop.previous else { continue };
                let before = &stream.hops[previous as usize];
                let link = network.ports[before.port.index()].links.expect("connected").egress;
                let to = network.links[link.index()].to.index();
                let Some(reception) = &mut self.receptions[to] else { continue };
                let port = &network.ports[hop.port.index()];
                mechanisms[to] |= 1 << (mechanism(port.classes[hop.class.index()].selection) as u8);
                reception.cut_through |= cut_through(network, stream, number).is_some();
                let mut branches: Vec<_> = stream
                    .hops
                    .iter()
                    .filter(|other| other.previous == Some(previous))
                    .map(|other| {
                        (
                            other.class,
                            network.ports[other.port.index()].classes[other.class.index()].selection,
                            rate_behind(network, other.port),
                        )
                    })
                    .map(|(class, selection, rate)| (class, mechanism(selection) as u8, rate))
                    .collect();
                if branches.len() > 1 {
                    branches.sort_unstable();
                    branches.dedup();
                    reception.copies = reception.copies.max(branches.len() as u64);
                }
            }
        }
        for (port, used) in mechanisms.into_iter().enumerate() {
            let Some(reception) = &mut self.receptions[port] else { continue };
            let Some(device) = network.device(network.ports[port].node) else { continue };
            let in_use = device.stages.iter().filter(|stage| {
                stage.position != StagePosition::Transmission
                    && stage.only_for.is_none_or(|only| used & (1 << (only as u8)) != 0)
            });
            for stage in in_use {
                let most = delay_max(&stage.latency, reception.frame_max);
                if stage.position == StagePosition::Reception {
                    reception.latency.0 += most;
                }
                reception.latency.1 += most;
                let (large, small) = &mut reception.occupancy;
                *large = (*large).max(delay_max(&stage.occupancy, reception.frame_max));
                *small = (*small).max(delay_max(&stage.occupancy, reception.frame_min));
            }
        }
    }
}
