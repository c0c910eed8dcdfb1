//! Failures in a TDMA network, and their cost: slots, a lifetime, or all bounds.
//!
//! A cable that is cut permanently, or a bridge that stops permanently, divides a network with a standby into parts.
//! In the master's part nothing changes; in that of the standby it takes over, as if the master had stopped; in any
//! other no station receives a cycle any more and all are silent. No frame crosses, so no two cycles meet: the cost
//! is one slot of waiting more, as for a failing master. Where master and standby stay connected by another path but
//! the standby's tree is cut, two cycles meet: no bound. If a cable or bridge comes back and there is a standby, two
//! cycles are on the same lines until the standby receives the master's frames again, which is a cycle later at most.
//! The description states how long they were separated, which bounds how far they have drifted apart: that is part of
//! the error of every slot, as for a standby that misses so many frames in a row. If the slots' margins cover it, no
//! frame waits for another; else their frames meet, and there is no bound.
//!
//! Where the standby stops after the master, no station opens cycles any more. A master without a standby opens them
//! again when it is back.
//!
//! If a master stops before its standby has received a cycle, no station opens one: no bound.
//!
//! Whatever comes back, a lifetime limits how long frames wait through a failure.

use tautwire_model::network::{NodeIndex, NodeKind, TimelineAction};
use tautwire_model::tdma::standby::Gone;
use tautwire_units::Duration;

use super::reasons::{SYNCHRONISATION_LOST, TWO_RASTERS};
use super::{CYCLES_MAX, Cycle};
use crate::unbounded::Unbounded;

impl Cycle<'_> {
    /// Events that cost slots, or all that is proven.
    pub(super) fn what_fails(&mut self) -> Option<Unbounded> {
        let network = self.network;
        let master = network.streams[self.tdma.synchronisation.index()].talker;
        let port = network.streams[self.tdma.synchronisation.index()].hops.first()?.port;
        let fails = SYNCHRONISATION_LOST.at(port);
        let doubled = TWO_RASTERS.at(port);
        if self.cycles > CYCLES_MAX {
            return Some(fails);
        }
        // A standby that does not receive the master's frames opens cycles simultaneously, which drift. If the
        // description limits how long that lasts, the drift is bounded.
        let is_alone = self.tdma.standby.is_none();
        let in_a_row = self.tdma.standby.and_then(|standby| standby.lost_in_a_row);
        let lives = self.tdma.lifetime.map(Duration::as_ps);
        let changes = |action: &TimelineAction| matches!(action, TimelineAction::ChangeBitErrorRate(..));
        let errs = network.links.iter().any(|link| link.bit_error_rate > 0)
            || network.events.iter().any(|event| changes(&event.action));
        if errs {
            self.lifetime = lives.filter(|_| is_alone || in_a_row.is_some());
            self.doubled = in_a_row.unwrap_or(0);
            if self.lifetime.is_none() {
                return Some(if is_alone { fails } else { doubled });
            }
        }
        if !is_alone && self.stops_unheard(master) {
            return Some(fails);
        }
        if self.falls_silent(master) {
            // Frames are lost behind a lifetime then, and wait without end if there is none.
            self.lifetime = lives;
            if lives.is_none() {
                return Some(fails);
            }
        }
        let mut gone = Gone::default();
        let down = (0..).zip(network.links.chunks(2)).filter(|(_, pair)| pair.iter().any(|link| !link.up));
        let cut = down.map(|(cable, _)| TimelineAction::CutCable(cable));
        let stops: Vec<TimelineAction> =
            cut.chain(network.events.iter().map(|event| event.action.clone())).collect();
        for action in &stops {
            let bears = match action {
                TimelineAction::StopNode(node) if *node == master && !is_alone => {
                    self.lost += 1;
                    gone.nodes.push(*node);
                    true
                }
                TimelineAction::StopNode(node) => {
                    gone.nodes.push(*node);
                    // A slave costs no other station anything.
                    !(self.is_bridge(*node) || self.opens(*node)) || self.bears(action, &gone, !errs)
                }
                TimelineAction::CutCable(cable) => {
                    gone.cables.push(*cable);
                    self.bears(action, &gone, !errs)
                }
                // Its applications run at once, and it has to receive a cycle first; after a start-up it has.
                TimelineAction::StartNode(_) if self.tdma.start_up.is_none() => {
                    self.lost += 1;
                    self.lost_entirely += 1;
                    true
                }
                _ => true,
            };
            if !bears {
                return Some(if is_alone { fails } else { doubled });
            }
        }
        None
    }

    /// Whether the master may stop before the standby has received a cycle: then none is ever opened. The first one is
    /// opened at once, and received within another; after a start-up it is received before any stream begins.
    fn stops_unheard(&self, master: NodeIndex) -> bool {
        let lost = self.tdma.standby.and_then(|standby| standby.lost_in_a_row).unwrap_or(0);
        let cycles = self.tdma.cycle.as_ps().saturating_mul(u64::from(lost) + 2);
        let heard = Duration::from_ps(self.deviation.stretch(cycles));
        let unheard = |action: &TimelineAction, at| *action == TimelineAction::StopNode(master) && at < heard;
        let mut events = self.network.events.iter();
        self.tdma.start_up.is_none() && events.any(|event| unheard(&event.action, event.at))
    }

    /// Whether no station opens cycles any more from some time on: the standby stops after the master. A master that
    /// is back follows a standby, and a standby that is back knows no cycle, so neither starts again.
    fn falls_silent(&self, master: NodeIndex) -> bool {
        let Some(standby) = self.tdma.standby else { return false };
        let standby = self.network.streams[standby.synchronisation.index()].talker;
        let (mut opens, mut watches) = (true, true);
        for event in &self.network.events {
            match event.action {
                TimelineAction::StopNode(node) if node == master => opens = false,
                TimelineAction::StopNode(node) if node == standby => watches = false,
                // It receives the master's next cycle.
                TimelineAction::StartNode(node) if node == standby => watches = opens,
                _ => continue,
            }
            if !opens && !watches {
                return true;
            }
        }
        false
    }

    /// Whether bounds exist in spite of a failure, with its cost.
    fn bears(&mut self, action: &TimelineAction, gone: &Gone, for_good: bool) -> bool {
        let network = self.network;
        let returns = |other: &TimelineAction| match (action, other) {
            (TimelineAction::CutCable(cut), TimelineAction::MendCable(mended)) => cut == mended,
            (TimelineAction::StopNode(stopped), TimelineAction::StartNode(started)) => stopped == started,
            _ => false,
        };
        let comes_back = network.events.iter().any(|event| returns(&event.action));
        if for_good && !comes_back && self.network.is_divided(gone) {
            self.lost += 1;
            return true;
        }
        let slaves_cable = matches!(action, TimelineAction::CutCable(cable) if self.leads_to_a_slave(*cable));
        self.lifetime = self.tdma.lifetime.map(Duration::as_ps);
        if self.tdma.standby.is_some() && !slaves_cable {
            let Some(cycles) = self.cycles_apart() else { return false };
            self.doubled = self.doubled.saturating_add(cycles);
        }
        self.lifetime.is_some()
    }

    /// Cycles for which master and standby may not receive one another's frames, from the first failure to the last
    /// repair, with the cycle in which the standby receives the master's frames again; none if that is without end, or
    /// one of both stops.
    fn cycles_apart(&self) -> Option<u32> {
        let network = self.network;
        if network.links.iter().any(|link| !link.up) {
            return None;
        }
        let (mut first, mut last, mut gone) = (None, Duration::ZERO, Gone::default());
        for event in &network.events {
            match event.action {
                TimelineAction::CutCable(cable) if !self.leads_to_a_slave(cable) => gone.cables.push(cable),
                TimelineAction::StopNode(node) if self.opens(node) => return None,
                TimelineAction::StopNode(node) if self.is_bridge(node) => gone.nodes.push(node),
                TimelineAction::MendCable(cable) => gone.cables.retain(|other| *other != cable),
                TimelineAction::StartNode(node) => gone.nodes.retain(|other| *other != node),
                _ => continue,
            }
            first = first.or(Some(event.at));
            last = event.at;
        }
        let is_over = gone.cables.is_empty() && gone.nodes.is_empty();
        let apart = last.saturating_sub(first.filter(|_| is_over)?).as_ps();
        let cycles = self.deviation.stretch(apart).div_ceil(self.tdma.cycle.as_ps().max(1)) + 1;
        u32::try_from(cycles).ok()
    }

    fn is_bridge(&self, node: NodeIndex) -> bool {
        matches!(self.network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    }

    /// Whether a node opens cycles.
    fn opens(&self, node: NodeIndex) -> bool {
        let of = [Some(self.tdma.synchronisation), self.tdma.standby.map(|one| one.synchronisation)];
        of.into_iter().flatten().any(|stream| self.network.streams[stream.index()].talker == node)
    }

    /// Whether a cable connects an end station that opens no cycle: without it no other station misses one.
    fn leads_to_a_slave(&self, cable: u32) -> bool {
        self.network.cable_ends(cable).into_iter().any(|node| {
            let is_station = matches!(self.network.nodes[node.index()].kind, NodeKind::EndStation { .. });
            is_station && !self.opens(node)
        })
    }
}
