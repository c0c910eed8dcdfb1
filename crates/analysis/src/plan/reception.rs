//! Reception ports: what comes by each, and which stages of the device its frames pass.

use tautwire_model::network::StagePosition;

use super::{NONE, Plan};
use crate::clock::{Deviation, slack_ps};
use crate::delay::{Reception, delay_max};

impl Plan<'_> {
    /// The port of a bridge at the other end of a cable.
    pub(super) fn reception_behind(&self, egress: u32) -> Option<u32> {
        let network = self.network;
        let cable = network.ports[egress as usize].links?.egress;
        let to = network.links[cable.index()].to;
        network.device(network.ports[to.index()].node).map(|_| to.0)
    }

    /// The streams that come by a port of a bridge; none where there are none.
    pub(super) fn reception(&self, to: u32) -> Option<Reception> {
        let network = self.network;
        let device = network.device(network.ports[to as usize].node)?;
        let link = &network.links[network.ports[to as usize].links?.ingress.index()];
        let clock = &network.nodes[network.ports[link.from.index()].node.index()].clock;
        let coming = || self.at_port(link.from.0).iter().map(|entry| &self.entries[*entry as usize]);
        let mut reception = Reception {
            frame_min: coming().map(|entry| entry.frame_min).min()?,
            frame_max: coming().map(|entry| entry.frame_max).max()?,
            line_bps: Deviation::of(clock).fastest(link.rate.as_bps()),
            copies: 1,
            occupancy: (0, 0),
            latency: (0, 0),
            jitter: (link.phy_delay.max - link.phy_delay.min).as_ps() + slack_ps(clock),
        };
        let used = self.use_stages(to, &mut reception);
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
        Some(reception)
    }

    /// Which selections the frames go to, one bit each, and how often one frame passes the stages.
    fn use_stages(&self, to: u32, reception: &mut Reception) -> u8 {
        let mut used = 0;
        let mut branches: Vec<(u8, u8, u64)> = Vec::new();
        let mut frame = NONE;
        for entry in &self.received[to as usize] {
            let entry = &self.entries[*entry as usize];
            let port = &self.network.ports[entry.port as usize];
            let algorithm = port.classes[usize::from(entry.class)].selection.algorithm() as u8;
            used |= 1 << algorithm;
            // Copies of a frame are adjacent: they are of one stream.
            if frame != entry.previous {
                frame = entry.previous;
                branches.clear();
            }
            let branch = (entry.class, algorithm, self.port(entry.port).rate);
            if !branches.contains(&branch) {
                branches.push(branch);
                reception.copies = reception.copies.max(branches.len() as u64);
            }
        }
        used
    }
}
