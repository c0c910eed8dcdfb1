//! How far a node's time of its grandmaster can be off (IEEE Std 802.1AS-2020, clauses 10 and 11;
//! [gPTP](../../../docs/mechanisms/gptp.md)).
//!
//! Clocks run at constant rates, so what a node does not know of them comes from stamps alone. A stamp of node *i* is off by something
//! between `err_min - quantum - step` (of the clock's readings) and `err_max`; let `w_i` be the width of that, and
//! `apart(i, j)` the most by which two of them differ. Over
//! link *i*, from node *i - 1*:
//!
//! - the neighbour's rate is measured from answers that are `n` intervals of peer delay apart, so its error is `ρ =
//!   (w_(i-1) + w_i + d_i) / T`: `d_i` is the difference of the PHY delays of two answers from the neighbour, and `T`
//!   is `n` intervals less the longest exchange;
//! - the error of the link's delay is half of `w_(i-1) + w_i`, plus half of the duration of an exchange times `ρ`,
//!   plus half of the asymmetry of both directions that is not configured;
//! - a sync is stamped when it leaves and when it comes: `apart(i - 1, i)`;
//! - what passes between is stretched by rates that are off by the sum of `ρ` up to here: the residence in every bridge, and at the end
//!   the time since the last sync left, three intervals of sync at most.
//!
//! Every division is rounded to the greater bound.

use tautwire_model::gptp::{Gptp, GptpSettings};
use tautwire_model::network::{LinkIndex, Network, NodeIndex, PortIndex};
use tautwire_units::{Bytes, Duration};

use crate::delay::{delay_max, delay_min};
use crate::result::Bounds;

/// Octets of the longest message, and more.
const FRAME_MAX: Bytes = Bytes::new(256);

/// Exchanges that the rate of a neighbour is taken over, at most.
const WINDOW: u64 = 7;
/// Messages that come to a port, or leave it, at once.
const BURST: u128 = 14;
/// Simple ways that are looked at.
const WAYS_MAX: usize = 64;
const SECOND: u128 = 1_000_000_000_000;
/// Parts of a rate.
const PARTS: u128 = 1_000_000_000_000_000_000;
/// Readings and corrections are rounded at so many places of a link, a picosecond each.
const ROUNDINGS: u128 = 12;

/// The greatest error of `node`'s time of `grandmaster`, while no message is lost and the path does not change; the
/// maximum over all simple paths between them. None if something on a path has no bound: a message, or a processing
/// time.
#[must_use]
pub fn clock_precision(
    network: &Network,
    bounds: &Bounds,
    grandmaster: NodeIndex,
    node: NodeIndex,
) -> Option<Duration> {
    let (off, _) = precision_and_passage(network, bounds, grandmaster, node)?;
    // Both clocks are read when they are compared.
    let read = |node: NodeIndex| u128::from(network.nodes[node.index()].clock.step().as_ps());
    u64::try_from(off + read(grandmaster) + read(node)).ok().map(Duration::from_ps)
}

/// By how much the steps of all clocks lengthen an interval at most, whichever node measures it.
pub(crate) fn steps(network: &Network) -> u128 {
    network.nodes.iter().map(|node| u128::from(node.clock.step().as_ps())).sum()
}

/// The same in picoseconds, and how long a sync with its follow-up is on its way to `node` at most.
pub(crate) fn precision_and_passage(
    network: &Network,
    bounds: &Bounds,
    grandmaster: NodeIndex,
    node: NodeIndex,
) -> Option<(u128, u128)> {
    let gptp = network.gptp.as_ref()?;
    let precision = Precision { network, bounds, gptp, exchanges: exchanges(network, gptp)? };
    let mut ways = Vec::new();
    let mut way = Vec::new();
    precision.ways(grandmaster, node, &mut vec![grandmaster], &mut way, &mut ways);
    if ways.len() > WAYS_MAX || (ways.is_empty() && grandmaster != node) {
        return None;
    }
    ways.iter().try_fold((0, 0), |(off, passage), way| {
        Some((precision.over(way)?.max(off), precision.passage(way)?.max(passage)))
    })
}

/// Intervals that lie between the exchanges of a rate for certain, in the samples of a run.
fn exchanges(network: &Network, gptp: &Gptp) -> Option<u64> {
    let warm_up = u128::from(network.run.warm_up.as_ps());
    let passed = u64::try_from(warm_up / interval(gptp.log_pdelay)).unwrap_or(u64::MAX);
    // Links that come back begin anew, and two exchanges make a rate.
    let known = if network.events.is_empty() { passed.saturating_sub(3).min(WINDOW) } else { 1 };
    (known > 0).then_some(known)
}

/// An interval of a logarithm, in picoseconds.
pub(crate) fn interval(log: i8) -> u128 {
    if log < 0 { SECOND >> log.unsigned_abs() } else { SECOND << log }
}

struct Precision<'n> {
    network: &'n Network,
    bounds: &'n Bounds,
    gptp: &'n Gptp,
    exchanges: u64,
}

impl Precision<'_> {
    fn ways(
        &self,
        at: NodeIndex,
        to: NodeIndex,
        seen: &mut Vec<NodeIndex>,
        way: &mut Vec<LinkIndex>,
        ways: &mut Vec<Vec<LinkIndex>>,
    ) {
        if at == to {
            ways.push(way.clone());
            return;
        }
        if ways.len() > WAYS_MAX {
            return;
        }
        for port in self.network.gptp_ports(at) {
            let link = self.network.ports[port.index()].links.expect("it has a cable").egress;
            let next = self.network.ports[self.network.links[link.index()].to.index()].node;
            if !seen.contains(&next) {
                seen.push(next);
                way.push(link);
                self.ways(next, to, seen, way, ways);
                way.pop();
                seen.pop();
            }
        }
    }

    /// How far the node at the end of a way is off, in picoseconds.
    fn over(&self, way: &[LinkIndex]) -> Option<u128> {
        let (mut off, mut rate) = (0_u128, 0_u128);
        let mut hold = 0;
        for (place, link) in way.iter().enumerate() {
            let link = &self.network.links[link.index()];
            let (from, to) = (self.node(link.from), self.node(link.to));
            let (one, other) = (self.stamps(from), self.stamps(to));
            let widths = one.width() + other.width();
            let (busy_from, busy_to) = (self.busy(from)?, self.busy(to)?);
            let (there, back) = (self.message(link.from)?, self.message(link.to)?);
            let exchange = there + back + busy_from + busy_to;
            // The node's clock may run slow by its tolerance: a thousandth is more.
            let window = u128::from(self.exchanges) * interval(self.gptp.log_pdelay) * 999 / 1_000;
            let window =
                window.checked_sub(exchange + 2 * steps(self.network)).filter(|window| *window > 0)?;
            if place > 0 {
                // The residence in the bridge that the link begins at, with the rates known there.
                off += stretched(hold + there, rate);
            }
            // Answers come by the way of a sync, and PHYs may keep one longer than another.
            let drawn = u128::from((link.phy_delay.max - link.phy_delay.min).as_ps()) * 1_001 / 1_000 + 1;
            let own = ((widths + drawn) * PARTS).div_ceil(window);
            rate += own + own / 1_000 + 2_000_000;
            // A port that may measure more than a capable one's delay may pass nothing on.
            let measured =
                self.way_max(link.to) + widths.div_ceil(2) + stretched(exchange, own).div_ceil(2) + 1;
            let most = |node: NodeIndex| u128::from(self.gptp.nodes[node.index()].delay_max.as_ps());
            if measured > most(from).min(most(to)) {
                return None;
            }
            let delay = widths.div_ceil(2) + stretched(exchange, own).div_ceil(2) + self.asymmetry(link.to);
            off += apart(&one, &other) + delay + ROUNDINGS;
            // From a sync's leave to the end of its follow-up's processing.
            hold = there * 2 + busy_from + busy_to;
        }
        let last = hold + 3 * (interval(self.gptp.log_sync) * 1_001 / 1_000 + steps(self.network));
        Some(off + stretched(last, rate))
    }

    /// How long a sync and its follow-up take over a way, with all that nodes do meanwhile, in picoseconds.
    fn passage(&self, way: &[LinkIndex]) -> Option<u128> {
        way.iter().try_fold(0, |sum, link| {
            let link = &self.network.links[link.index()];
            let busy = self.busy(self.node(link.from))? + self.busy(self.node(link.to))?;
            Some(sum + self.message(link.from)? * 3 + busy)
        })
    }

    fn node(&self, port: PortIndex) -> NodeIndex {
        self.network.ports[port.index()].node
    }

    fn stamps(&self, node: NodeIndex) -> Stamps {
        let step = self.network.nodes[node.index()].clock.step();
        Stamps::of(&self.gptp.nodes[node.index()], step)
    }

    /// How long a message takes to the other end of a port's cable, from its making on.
    fn message(&self, port: PortIndex) -> Option<u128> {
        let stream = self.gptp.messages[port.index()]?;
        let delay = self.bounds.streams[stream.index()].listeners[0].delay.as_ref().ok()?;
        Some(u128::from(delay.as_ps()))
    }

    /// How long a node may be busy with messages that came or left: those that come at once, and those that come meanwhile.
    fn busy(&self, node: NodeIndex) -> Option<u128> {
        let processing = u128::from(delay_max(&self.gptp.nodes[node.index()].processing, FRAME_MAX));
        let ports = self.network.gptp_ports(node).len() as u128;
        let at_once = 2 * ports * BURST * processing;
        // Sync and follow-up; announce; the three of peer delay; both ways, in a second of this many picoseconds.
        let per = |count: u128, log: i8| (count * SECOND).div_ceil(interval(log));
        let messages =
            per(2, self.gptp.log_sync) + per(1, self.gptp.log_announce) + per(3, self.gptp.log_pdelay);
        let load = 2 * ports * (messages + 1) * processing * 1_001 / 1_000;
        let free = SECOND.checked_sub(load).filter(|free| *free > 0)?;
        Some((at_once * SECOND).div_ceil(free))
    }

    /// The mean of both ways of a port's cable, with all that PHYs may draw.
    fn way_max(&self, port: PortIndex) -> u128 {
        let links = self.network.ports[port.index()].links.expect("it has a cable");
        let way = |link: LinkIndex| {
            let link = &self.network.links[link.index()];
            u128::from(link.propagation.as_ps()) + u128::from(link.phy_delay.max.as_ps())
        };
        (way(links.egress) + way(links.ingress)).div_ceil(2)
    }

    /// Half of the asymmetry that is not configured at a port, with the full range of the PHYs.
    fn asymmetry(&self, port: PortIndex) -> u128 {
        let links = self.network.ports[port.index()].links.expect("it has a cable");
        let way = |link: LinkIndex| {
            let link = &self.network.links[link.index()];
            let cable = i128::from(link.propagation.as_ps());
            (cable + i128::from(link.phy_delay.min.as_ps()), cable + i128::from(link.phy_delay.max.as_ps()))
        };
        let (out, into) = (way(links.egress), way(links.ingress));
        let stated = i128::from(self.gptp.asymmetries[port.index()]);
        let most = (out.1 + into.1 + 1) / 2 - into.0 + stated;
        let least = (out.0 + into.0) / 2 - into.1 + stated;
        // A thousandth for the clock in which it is configured.
        most.unsigned_abs().max(least.unsigned_abs()) + into.1.unsigned_abs() / 1_000 + 1
    }
}

/// The range of a stamp's error, in picoseconds.
struct Stamps {
    least: i128,
    most: i128,
}

impl Stamps {
    /// Of a node whose clock is read in steps of this length.
    fn of(settings: &GptpSettings, step: Duration) -> Self {
        let (min, max) = (
            delay_min(&settings.stamp_error, Bytes::new(0)),
            delay_max(&settings.stamp_error, Bytes::new(0)),
        );
        // The error passes by the node's clock: a thousandth less or more.
        let most = i128::from(max) * 1_001 / 1_000 + 1;
        let rounded = i128::from(settings.stamp_quantum.as_ps()) + i128::from(step.as_ps());
        let least = i128::from(min) * 999 / 1_000 - rounded - 1;
        Self { least, most }
    }

    fn width(&self) -> u128 {
        (self.most - self.least).unsigned_abs()
    }
}

/// The most by which the errors of two stamps differ.
fn apart(one: &Stamps, other: &Stamps) -> u128 {
    (one.most - other.least).max(other.most - one.least).unsigned_abs()
}

/// The error of a span whose rate has an error of so many parts.
fn stretched(span: u128, rate: u128) -> u128 {
    (span * rate).div_ceil(PARTS)
}
