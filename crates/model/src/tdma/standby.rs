//! A standby master of TDMA while the master lives: when it takes over without need, and what the description states about it.
//!
//! Whatever cuts the standby off from the master makes it open cycles of its own. If no path is left between the two,
//! each has a part of the network for itself and no frames meet; if one is left, but not for the frames that open
//! cycles, two cycles drift through each other on the same lines. Not here: the bounds (`tautwire-analysis`,
//! `tdma/failures.rs`).

use crate::network::{Network, NodeIndex, NodeKind, StreamIndex, TimelineAction};

/// The cables and nodes that are gone at a time.
#[derive(Clone, Debug, Default)]
pub struct Gone {
    /// Cables, by their number.
    pub cables: Vec<u32>,
    /// Nodes that stopped.
    pub nodes: Vec<NodeIndex>,
}

/// Why a standby may open cycles simultaneously with its master for any length of time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DualMasterCause {
    /// Bits are received wrong, and the description does not limit how many frames in a row it misses.
    Errors,
    /// This is cut or stops permanently.
    Cut(TimelineAction),
}

impl Network {
    /// Whether the standby still receives the master's frames in a network with TDMA, or no path leads from one to the other.
    ///
    /// # Panics
    /// If the network has no TDMA.
    #[must_use]
    pub fn is_divided(&self, gone: &Gone) -> bool {
        let tdma = self.tdma.as_ref().expect("a standby is one of TDMA");
        let Some(standby) = tdma.standby else { return true };
        let talker = |stream: StreamIndex| self.streams[stream.index()].talker;
        let (master, standby) = (talker(tdma.synchronisation), talker(standby.synchronisation));
        let is_gone = |cable: u32| {
            gone.cables.contains(&cable) || self.cable_ends(cable).iter().any(|end| gone.nodes.contains(end))
        };
        let opens = &self.streams[tdma.synchronisation.index()];
        let mut hop = opens
            .hops
            .iter()
            .find(|hop| hop.listener.is_some_and(|one| opens.listeners[one as usize] == standby));
        let mut hears = hop.is_some();
        while let Some(here) = hop {
            let links = self.ports[here.port.index()].links.expect("a hop's port has a cable");
            hears &= !is_gone(links.egress.0 / 2);
            hop = here.previous.map(|previous| &opens.hops[previous as usize]);
        }
        hears || !self.is_connected(master, standby, is_gone)
    }

    /// Whether cables that are left lead from one node to another.
    fn is_connected(&self, from: NodeIndex, to: NodeIndex, is_gone: impl Fn(u32) -> bool) -> bool {
        let cables = u32::try_from(self.links.len() / 2).expect("a checked number");
        let mut reached = vec![false; self.nodes.len()];
        reached[from.index()] = true;
        loop {
            let mut grown = false;
            for cable in (0..cables).filter(|cable| !is_gone(*cable)) {
                let [one, other] = self.cable_ends(cable).map(NodeIndex::index);
                if reached[one] != reached[other] {
                    (reached[one], reached[other], grown) = (true, true, true);
                }
            }
            if !grown {
                return reached[to.index()];
            }
        }
    }

    /// Why the standby may open cycles simultaneously with a living master without end; none if it does not, or there is no standby.
    pub(crate) fn dual_master_cause(&self) -> Option<DualMasterCause> {
        let standby = self.tdma.as_ref()?.standby?;
        let wrong = |action: &TimelineAction| matches!(action, TimelineAction::ChangeBitErrorRate(_, rate) if *rate > 0);
        let errs = self.links.iter().any(|link| link.bit_error_rate > 0)
            || self.events.iter().any(|event| wrong(&event.action));
        if errs && standby.lost_in_a_row.is_none() {
            return Some(DualMasterCause::Errors);
        }
        let down = (0..).zip(self.links.chunks(2)).filter(|(_, pair)| pair.iter().any(|link| !link.up));
        let down = down.map(|(cable, _)| TimelineAction::CutCable(cable));
        let mut gone = Gone::default();
        for action in down.chain(self.events.iter().map(|event| event.action.clone())) {
            let is_bridge =
                |node: NodeIndex| matches!(self.nodes[node.index()].kind, NodeKind::Bridge { .. });
            match action {
                TimelineAction::CutCable(cable) if !self.is_mended(cable) => gone.cables.push(cable),
                TimelineAction::StopNode(node) if is_bridge(node) && !self.is_started(node) => {
                    gone.nodes.push(node)
                }
                _ => continue,
            }
            if !self.is_divided(&gone) {
                return Some(DualMasterCause::Cut(action));
            }
        }
        None
    }

    fn is_mended(&self, cable: u32) -> bool {
        self.events.iter().any(|event| event.action == TimelineAction::MendCable(cable))
    }

    fn is_started(&self, node: NodeIndex) -> bool {
        self.events.iter().any(|event| event.action == TimelineAction::StartNode(node))
    }
}
