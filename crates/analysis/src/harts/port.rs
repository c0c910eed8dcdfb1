//! The guaranteed service of the servers of a bridge's port, whatever the others send.
//!
//! Others take no more than their capacities. The guarantee of a server follows from those that go before it, from the
//! servers above it, and from the usable time of a window: the window less the longest frame, because a frame that
//! would run over its end waits, and others with it. With a clock that is read in steps a window may begin up to a
//! step late, and each frame may occupy the line up to a step longer. Trigger messages and synchronous frames have
//! windows of their own.

use tautwire_core::harts::servers::{ServerConfig, ServerKind, ServerWindow, ServersConfig};
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};

use super::reasons::{NO_SERVER, SERVER_TOO_SMALL};
use super::wire_octets;
use crate::clock::PS_PER_S;
use crate::unbounded::Unbounded;

/// Octets of the wire of the shortest frame.
const SHORTEST: u64 = 84;

/// The servers of a bridge's port, with times on the clock of its node.
pub(super) struct Port {
    index: PortIndex,
    config: ServersConfig,
    /// Per server: whether a stream that leaves here uses it. Others take nothing.
    used: Vec<bool>,
    /// Picoseconds of an octet, as a fraction: bits per second.
    bps: u64,
    /// The usable part of a window.
    window: u64,
    /// By how much the steps of the clock's readings may make a window begin late, and a frame hold the line longer.
    grain: u64,
}

impl Port {
    pub(super) fn of(network: &Network, index: PortIndex, grain: u64) -> Option<Self> {
        let mut config = network.port_servers(index)?;
        let bps = network.links[network.ports[index.index()].links?.egress.index()].rate.as_bps();
        let background = network.background_server(index)?;
        let mut used = vec![false; config.servers.len()];
        let longest = network.streams.iter().enumerate().flat_map(|(number, stream)| {
            let lane = network.server_of(StreamIndex::at(number), index);
            let leaves = stream.hops.iter().any(|hop| hop.port == index);
            if let Some(used) = lane.filter(|_| leaves).and_then(|lane| used.get_mut(usize::from(lane))) {
                *used = true;
            }
            let waits = lane.is_some_and(|lane| usize::from(lane) <= background);
            let here = stream.hops.iter().filter(move |hop| waits && hop.port == index);
            here.map(|hop| wire_octets(stream, hop.tagged))
        });
        let longest = longest.max();
        let control = network.network_control.map_or(0, |control| control.frame_max.get() + 20);
        let own = ServerWindow::Asynchronous;
        config.servers.retain(|server| server.window == own);
        let mut port = Self { index, config, used, bps, window: 0, grain };
        let longest = port.line(longest.unwrap_or(0).max(control)).saturating_add(grain);
        port.window = (port.config.close - port.config.open).as_ps().saturating_sub(longest);
        Some(port)
    }

    /// The guarantee of a server with frames waiting when its period begins: the length of the period, the greatest
    /// time after its start at which the last of them is complete, and their number.
    pub(super) fn guarantee(&self, lane: u16, wire: u64) -> Result<(u64, u64, u64), Unbounded> {
        let place = usize::from(lane);
        let own = &self.config.servers[place];
        let is_background = place + 1 == self.config.servers.len();
        let Some(capacity) = own.capacity.filter(|_| !is_background) else {
            return Err(NO_SERVER.at(self.index));
        };
        let too_small = || SERVER_TOO_SMALL.at(self.index);
        let frames = u64::from(capacity) / wire;
        if frames == 0 || !self.above_suffice(place) {
            return Err(too_small());
        }
        let cycle = self.config.cycle.as_ps();
        let period = cycle * u64::from(own.period);
        // What a sporadic server lacks may come back in the last cycle of its period alone.
        let cycles = if own.kind == ServerKind::Sporadic { 1 } else { u64::from(own.period) };
        let before = self.before(place, cycles);
        let work = self.line(before).saturating_add(self.steps(before.div_ceil(SHORTEST)));
        let work = work.saturating_add(self.line(frames * wire)).saturating_add(self.steps(frames));
        let work = work.saturating_add(u64::from(own.period) * 2 + 1);
        let needed = work.div_ceil(self.window.max(1));
        if needed > cycles {
            return Err(too_small());
        }
        let inside = (needed - 1) * cycle
            + self.config.open.as_ps()
            + self.grain
            + (work - (needed - 1) * self.window);
        let through = (u64::from(own.period) - cycles) * cycle + inside;
        Ok((period, through, frames))
    }

    /// Whether the servers above one never run out: each holds what all in it may take in a period.
    fn above_suffice(&self, place: usize) -> bool {
        let own = &self.config.servers[place];
        let mut next = own.parent;
        while let Some(above) = next {
            let above = usize::from(above);
            let server = &self.config.servers[above];
            let Some(capacity) = server.capacity else { return false };
            let polled = server.kind == ServerKind::Polling && !own.period.is_multiple_of(server.period);
            let slides = server.kind == ServerKind::Sporadic;
            let inside = |other: usize| self.is_leaf(other) && self.is_inside(other, above);
            let taken = (0..self.config.servers.len()).filter(|other| inside(*other)).map(|other| {
                let child = &self.config.servers[other];
                u64::from(child.capacity.unwrap_or(u32::MAX)).saturating_mul(periods(
                    child,
                    u64::from(server.period),
                    slides,
                ))
            });
            if polled || taken.sum::<u64>() > u64::from(capacity) {
                return false;
            }
            next = server.parent;
        }
        true
    }

    /// Octets of the wire that go before a server in so many cycles from the start of one of its periods.
    fn before(&self, place: usize, cycles: u64) -> u64 {
        let own = self.way(place);
        let earlier = |other: &usize| *other != place && self.is_leaf(*other) && self.way(*other) < own;
        let count = self.config.servers.len();
        let mut taken = vec![0_u64; count];
        let mut sum = 0_u64;
        for other in (0..count).rev() {
            let server = &self.config.servers[other];
            let mut out = taken[other];
            if earlier(&other) {
                out = u64::MAX;
            }
            if let Some(capacity) = server.capacity {
                // A period of any place against those of the server.
                out = out.min(u64::from(capacity).saturating_mul(periods(server, cycles, true)));
            }
            match server.parent {
                Some(parent) => taken[usize::from(parent)] = taken[usize::from(parent)].saturating_add(out),
                None => sum = sum.saturating_add(out),
            }
        }
        sum
    }

    /// The path from the root; a smaller value is examined first.
    fn way(&self, place: usize) -> Vec<(u8, usize)> {
        let server = &self.config.servers[place];
        let mut way = server.parent.map(|above| self.way(usize::from(above))).unwrap_or_default();
        way.push((7_u8.saturating_sub(server.priority), place));
        way
    }

    /// Whether frames wait in a server itself.
    fn is_leaf(&self, place: usize) -> bool {
        let is_parent =
            |server: &ServerConfig| server.parent.is_some_and(|above| usize::from(above) == place);
        self.used[place] && !self.config.servers.iter().any(is_parent)
    }

    fn is_inside(&self, place: usize, above: usize) -> bool {
        let mut next = self.config.servers[place].parent;
        while let Some(parent) = next {
            if usize::from(parent) == above {
                return true;
            }
            next = self.config.servers[usize::from(parent)].parent;
        }
        false
    }

    /// The cost of the clock's steps for so many frames.
    fn steps(&self, frames: u64) -> u64 {
        frames.saturating_mul(self.grain)
    }

    /// Time on the line, rounded up.
    fn line(&self, octets: u64) -> u64 {
        let time = (u128::from(octets) * 8 * PS_PER_S).div_ceil(u128::from(self.bps.max(1)));
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

/// How often a server may spend its capacity in a span of `cycles`: from the start of a period of that length, or, if
/// the span `slides`, from any cycle on. Consumed capacity of a sporadic server is back a period later at the
/// earliest.
fn periods(server: &ServerConfig, cycles: u64, slides: bool) -> u64 {
    let period = u64::from(server.period);
    match server.kind {
        ServerKind::Sporadic => cycles.div_ceil(period),
        _ if !slides && cycles.is_multiple_of(period) => cycles / period,
        _ if !slides && period.is_multiple_of(cycles) => 1,
        _ => (cycles - 1).div_ceil(period) + 1,
    }
}
