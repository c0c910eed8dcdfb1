//! What is wrong with the gates of a run, by an enumeration of their lists entry by entry that shares no code with the machine.
//!
//! Of nodes whose clock is true, and ports whose list does not change: a frame starts while its gate is open, and ends
//! before it closes; one of a strict-priority class does not
//! wait for a free line that it could have had; one of a credit-based class starts with no debt.

use tautwire_model::gates::{GateClock, GuardPolicy, PortGates};
use tautwire_sim::{Recorder, Transmission};
use tautwire_workbench::network::{PortIndex, TieRule, TransmissionSelection};
use tautwire_workbench::{Network, Options, simulate_with};

/// Transmissions of a run.
#[derive(Default)]
struct Seen(Vec<Transmission>);

impl Recorder for Seen {
    fn transmitted(&mut self, transmission: &Transmission) {
        self.0.push(*transmission);
    }
}

/// The edges of a port's gates in true time with the states from each on, and when the list begins.
struct Edges(Vec<(u64, u8)>, u64);

impl Edges {
    /// All up to `end`, of a node whose clock reads `ahead` at the start.
    fn of(gates: &PortGates, ahead: u64, end: u64) -> Self {
        let list = &gates.parameters;
        let tick = gates.tick.as_ps().max(1);
        let (base, cycle) = (list.base_time.as_ps(), list.cycle_time);
        let start = |number: u64| {
            let ps = u128::from(number) * u128::from(cycle.numerator()) / u128::from(cycle.denominator());
            base + u64::try_from(ps).expect("a short run")
        };
        let mut number = 0;
        while start(number) < ahead {
            number += 1;
        }
        let begins = (start(number).div_ceil(tick) * tick).saturating_sub(ahead);
        let mut edges = vec![(0, gates.admin_gate_states)];
        while start(number) <= ahead + end {
            let mut at = start(number);
            for entry in &list.control_list {
                if at >= start(number + 1) {
                    break;
                }
                let ticked = at.div_ceil(tick) * tick;
                edges.push((ticked.saturating_sub(ahead), entry.gate_states));
                at += entry.time_interval.as_ps();
            }
            number += 1;
        }
        // Of edges at one instant the last counts.
        let mut last: Vec<(u64, u8)> = Vec::new();
        for edge in edges {
            if last.last().is_some_and(|before| before.0 == edge.0) {
                last.pop();
            }
            last.push(edge);
        }
        Self(last, begins)
    }

    /// The place of the edge at or before an instant.
    fn place(&self, at: u64) -> usize {
        self.0.partition_point(|edge| edge.0 <= at) - 1
    }

    fn is_open(&self, class: u8, at: u64) -> bool {
        self.0[self.place(at)].1 >> class & 1 == 1
    }

    /// When the gate that is open at an instant closes.
    fn close(&self, class: u8, at: u64) -> u64 {
        let closed = self.0[self.place(at)..].iter().find(|edge| edge.1 >> class & 1 == 0);
        closed.map_or(u64::MAX, |edge| edge.0)
    }

    /// The first instant from `at` on at which the gate stays open for so long.
    fn first_fit(&self, class: u8, at: u64, need: u64) -> u64 {
        let later = self.0[self.place(at)..].iter().map(|edge| edge.0.max(at));
        let fits =
            |at: &u64| self.is_open(class, *at) && self.close(class, *at) >= at.saturating_add(need.max(1));
        later.into_iter().find(fits).unwrap_or(u64::MAX)
    }
}

/// What breaks the rules of gates in a run, each a sentence; how many transmissions were looked at.
pub(crate) fn broken_gates(network: &Network) -> (Vec<String>, usize) {
    let mut seen = Seen::default();
    let _ = simulate_with(network, &mut Options::default(), &mut seen);
    let (mut found, mut looked) = (Vec::new(), 0);
    if network.gate_clock() != GateClock::Free {
        return (found, looked);
    }
    let least = network.nodes.iter().map(|node| node.clock.offset.as_ps()).min().unwrap_or(0).min(0);
    for (number, port) in network.ports.iter().enumerate() {
        let (Some(gates), Some(links)) = (&port.gates, port.links) else { continue };
        let clock = &network.nodes[port.node.index()].clock;
        if network.gates_change(PortIndex::at(number))
            || clock.tolerance_ppb > 0
            || clock.granularity.as_ps() > 1
        {
            continue;
        }
        let mut sent: Vec<&Transmission> = seen.0.iter().filter(|one| one.port as usize == number).collect();
        sent.sort_by_key(|one| one.selected);
        let end = sent.last().map_or(0, |one| one.end.as_ps()) + 1;
        let ahead = u64::try_from(clock.offset.as_ps() - least).expect("the least is taken off");
        let port = Port {
            network,
            port: PortIndex::at(number),
            gates,
            edges: Edges::of(gates, ahead, end),
            bps: network.links[links.egress.index()].rate.as_bps(),
        };
        looked += sent.len();
        found.extend(port.broken(&sent));
        for class in 0..8 {
            found.extend(port.in_debt(class, &sent));
        }
    }
    (found, looked)
}

struct Port<'a> {
    network: &'a Network,
    port: PortIndex,
    gates: &'a PortGates,
    edges: Edges,
    bps: u64,
}

impl Port<'_> {
    fn line(&self, octets: u64) -> u64 {
        let ps = (u128::from(octets) * 8_000_000_000_000).div_ceil(u128::from(self.bps));
        u64::try_from(ps).expect("a frame")
    }

    /// Whether the frames of the port's classes have one queue each.
    fn has_one_queue(&self) -> bool {
        let device = self.network.device(self.network.ports[self.port.index()].node);
        device.is_none_or(|device| device.tie_rule == TieRule::ArrivalOrder)
    }

    fn broken(&self, sent: &[&Transmission]) -> Vec<String> {
        let (mut found, mut free) = (Vec::new(), 0);
        let settings = &self.network.ports[self.port.index()];
        for one in sent {
            let start = one.selected.as_ps();
            let (class, octets) = (one.class, u64::from(one.octets));
            let largest = self.gates.payload_max(usize::from(class), settings.mtu);
            let need = match self.gates.guard {
                GuardPolicy::LookAhead => self.line(octets + 8),
                GuardPolicy::MaxSdu => {
                    self.line(tautwire_model::frame_length(largest, true).get().max(octets) + 8)
                }
                GuardPolicy::None => 0,
            };
            let name = &self.network.streams[one.stream as usize].name;
            let what =
                |text: &str| format!("{name} {} of class {class} at {:?} {text}", one.number, self.port);
            if !self.edges.is_open(class, start) {
                found.push(what(&format!("starts at {start} with its gate closed")));
            } else if self.edges.close(class, start) < start.saturating_add(need) {
                found.push(what(&format!("starts at {start} and does not fit")));
            }
            let is_strict =
                settings.classes[usize::from(class)].selection == TransmissionSelection::StrictPriority;
            let from = free.max(one.queued.as_ps());
            if is_strict && self.has_one_queue() && start > from {
                let could = self.edges.first_fit(class, from, need);
                if could < start {
                    found.push(what(&format!("could have started at {could} and does at {start}")));
                }
            }
            free = one.selected.as_ps() + self.line(octets + 20);
        }
        found
    }

    /// Frames of a credit-based class that start with negative credit, by the rules of the standard.
    fn in_debt(&self, class: u8, sent: &[&Transmission]) -> Vec<String> {
        let settings = &self.network.ports[self.port.index()];
        let number = usize::from(class);
        let TransmissionSelection::CreditBased { idle_slope } = settings.classes[number].selection else {
            return Vec::new();
        };
        let credit = self.gates.credit;
        if !credit.frozen_when_closed || credit.frozen_in_guard_band {
            return Vec::new();
        }
        let node = settings.node;
        let overhead = self.network.device(node).map(|device| device.credit_charged_overhead);
        let overhead = overhead.or(self.network.host(node).map(|host| host.credit_charged_overhead));
        let overhead = overhead.map_or(20, |octets| octets.get());
        let own: Vec<&&Transmission> = sent.iter().filter(|one| one.class == class).collect();
        let scaled = self.network.oper_idle_slope(self.port, number).unwrap_or(idle_slope);
        let (mut now, mut balance, mut charged) = (0_u64, 0_i128, 0_u64);
        let mut found = Vec::new();
        for (place, one) in own.iter().enumerate() {
            let start = one.selected.as_ps();
            // Of several queues another frame may have waited before this one came.
            let waits_from = own[place..].iter().map(|one| one.queued.as_ps()).min().unwrap_or(start);
            let mut instants: Vec<u64> = self.edges.0.iter().map(|edge| edge.0).collect();
            instants.extend([waits_from, charged, start]);
            instants.retain(|at| *at > now && *at <= start);
            instants.sort_unstable();
            for until in instants {
                let span = i128::from(until - now);
                let is_open = self.edges.is_open(class, now);
                let idle = if now >= self.edges.1 { scaled } else { idle_slope };
                let idle = i128::from(idle.as_bps());
                if now < charged {
                    balance += (idle - i128::from(self.bps)) * span;
                } else if is_open {
                    balance += idle * span;
                    if now < waits_from {
                        balance = balance.min(0);
                    }
                }
                now = until;
            }
            if balance < 0 {
                let name = &self.network.streams[one.stream as usize].name;
                found.push(format!(
                    "{name} {place} of class {class} at {:?} starts with a debt of {balance}",
                    self.port
                ));
                return found;
            }
            charged = start + self.line(u64::from(one.octets) + overhead);
            now = start;
        }
        found
    }
}
