//! The lists of gates of a schedule.
//!
//! From its dispatch on, the gate of a frame's class alone is open until the frame is sent; all other time belongs to
//! the classes that no scheduled stream uses. A device without a guard of its own gets one as an entry. Where a list is
//! longer than its device takes, windows of one class are joined, those with the shortest time between them first.

use tautwire_core::gates::GuardPolicy;
use tautwire_model::Network;
use tautwire_model::gates::{CycleTime, Entry, GateParameters, Operation, PortGates};
use tautwire_model::network::{PortIndex, frame_length};
use tautwire_units::{Bytes, Duration, Instant};

use super::Gated;
use crate::occupancy::gcd;
use crate::problem::Room;
use crate::schedule::Schedule;

/// The longest interval of an entry, picoseconds: 2^32 - 1 ns.
const INTERVAL_MAX: u64 = 4_294_967_295_000;
/// The longest cycle, picoseconds: that of a description.
const CYCLE_MAX: u64 = 1_000_000_000_000_000;
/// Most windows of a cycle.
const WINDOWS_MAX: u64 = 1_000_000;
/// Octets of preamble, start delimiter and gap.
const MEDIA: Bytes = Bytes::new(20);

/// Lists of all ports.
pub(super) struct Lists {
    pub(super) gates: Vec<(PortIndex, PortGates)>,
    /// Links whose other classes find no interval for their largest frame, with room for it.
    pub(super) crowded: Vec<(usize, Room)>,
}

/// An open interval of scheduled classes, picoseconds of the cycle; the end may be in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    begin: u64,
    end: u64,
    states: u8,
}

/// The lists of a schedule.
pub(super) fn lists(network: &Network, described: &Gated, schedule: &Schedule) -> Result<Lists, Vec<String>> {
    let mut lists = Lists { gates: Vec::new(), crowded: Vec::new() };
    let mut uses = vec![Vec::new(); described.ports.len()];
    for (flow, dispatch) in schedule.dispatch.iter().enumerate() {
        let hops = described.problem.flows[flow].hops.iter().enumerate();
        let Some(dispatch) = dispatch else { continue };
        hops.for_each(|(number, hop)| uses[hop.link].push((flow, number, dispatch[number].as_ps())));
    }
    let mut reasons = Vec::new();
    for (link, gates) in described.gates.iter().enumerate() {
        let Some(gates) = gates.as_ref().filter(|_| !uses[link].is_empty()) else { continue };
        let port = PortList { network, described, link, gates };
        match port.list(&uses[link]) {
            Ok((found, room)) => {
                lists.gates.push((described.ports[link], found));
                lists.crowded.extend(room.map(|room| (link, room)));
            }
            Err(why) => reasons.push(format!("{}: {why}", described.problem.links[link].name)),
        }
    }
    if reasons.is_empty() { Ok(lists) } else { Err(reasons) }
}

struct PortList<'a> {
    network: &'a Network,
    described: &'a Gated,
    link: usize,
    gates: &'a PortGates,
}

impl PortList<'_> {
    /// The gates with their list, and room that other classes need.
    fn list(&self, uses: &[(usize, usize, u64)]) -> Result<(PortGates, Option<Room>), String> {
        let periods = uses.iter().map(|(flow, ..)| self.described.problem.flows[*flow].period.as_ps());
        let common = |cycle: u64, period: u64| (cycle / gcd(cycle, period)).checked_mul(period);
        let cycle = periods.clone().try_fold(1, common).filter(|cycle| *cycle <= CYCLE_MAX);
        let cycle = cycle.ok_or("the intervals of its streams have no common multiple up to 1000 s")?;
        if periods.map(|period| cycle / period).sum::<u64>() > WINDOWS_MAX {
            return Err(format!("its cycle of {} has too many windows", Duration::from_ps(cycle)));
        }
        if let Some(most) = self.gates.limits.cycle.filter(|most| cycle > most.floor().as_ps()) {
            return Err(format!(
                "its cycle is {}, and the device takes {most} at most",
                Duration::from_ps(cycle)
            ));
        }
        let (mut windows, scheduled) = self.windows(uses, cycle);
        let others = !scheduled;
        let entries = loop {
            let entries = self.entries(&windows, cycle, others);
            let Some(most) = self.gates.limits.list.filter(|most| entries.len() as u64 > *most) else {
                break entries;
            };
            if !join(&mut windows, cycle) {
                return Err(format!("its list has {} entries, and the device takes {most}", entries.len()));
            }
        };
        let room = self.room(&entries, cycle, others);
        let control_list = entries.into_iter().map(|(gate_states, interval)| Entry {
            operation: Operation::SetGateStates,
            gate_states,
            time_interval: Duration::from_ps(interval),
        });
        let node = self.network.ports[self.described.ports[self.link].index()].node;
        let parameters = GateParameters {
            control_list: control_list.collect(),
            base_time: Instant::ZERO + self.network.first_reading(node),
            cycle_time: CycleTime::new(cycle, 1).expect("a period is above zero"),
            cycle_time_extension: Duration::ZERO,
        };
        Ok((PortGates { parameters, ..self.gates.clone() }, room))
    }

    /// All windows of a cycle in order, and the scheduled classes.
    fn windows(&self, uses: &[(usize, usize, u64)], cycle: u64) -> (Vec<Window>, u8) {
        let (mut windows, mut scheduled) = (Vec::new(), 0);
        for (flow, hop, dispatch) in uses {
            let stream = &self.network.streams[self.described.streams[*flow].index()];
            let states = 1 << stream.hops[*hop].class.index();
            scheduled |= states;
            let period = self.described.problem.flows[*flow].period.as_ps();
            let open = self.described.open[*flow][*hop].as_ps();
            for turn in 0..cycle / period {
                let begin = (dispatch + turn * period) % cycle;
                windows.push(Window { begin, end: begin + open, states });
            }
        }
        windows.sort_unstable_by_key(|window| window.begin);
        (windows, scheduled)
    }

    /// The time before a window in which no other frame may start, if the device does not see to it.
    fn guard(&self) -> u64 {
        match (self.gates.guard, self.described.others[self.link]) {
            (GuardPolicy::None, Some(frame)) => self.line_time(frame + MEDIA),
            _ => 0,
        }
    }

    fn line_time(&self, octets: Bytes) -> u64 {
        let links = self.network.ports[self.described.ports[self.link].index()].links;
        let link = links.expect("a hop's port is connected").egress;
        let time = self.network.links[link.index()].rate.duration_ceil(octets.bits());
        let quantum = self.gates.tick.as_ps().max(1_000);
        time.as_ps().div_ceil(quantum) * quantum
    }

    /// States and intervals of the entries, picoseconds.
    fn entries(&self, windows: &[Window], cycle: u64, others: u8) -> Vec<(u8, u64)> {
        let guard = self.guard();
        let mut entries: Vec<(u8, u64)> = Vec::new();
        let longest = self.gates.limits.interval.map_or(INTERVAL_MAX, |most| most.as_ps().min(INTERVAL_MAX));
        let mut add = |states: u8, mut interval: u64| {
            if let Some(last) = entries.last_mut().filter(|last| last.0 == states) {
                let more = interval.min(longest.saturating_sub(last.1));
                last.1 += more;
                interval -= more;
            }
            while interval > 0 {
                entries.push((states, interval.min(longest)));
                interval -= interval.min(longest);
            }
        };
        let Some((first, last)) = windows.first().zip(windows.last()) else { return Vec::new() };
        let mut at = 0;
        // What of the last window is in the next cycle.
        if last.end > cycle {
            at = last.end - cycle;
            add(last.states, at);
        }
        for (number, window) in windows.iter().enumerate() {
            let free = (window.begin - at).saturating_sub(guard);
            add(others, free);
            add(0, window.begin - at - free);
            at = window.end.min(cycle);
            add(window.states, at - window.begin);
            if number + 1 == windows.len() {
                // The guard of the first window may begin in this cycle.
                let before = guard.saturating_sub(first.begin).min(cycle - at);
                add(others, cycle - at - before);
                add(0, before);
            }
        }
        entries
    }

    /// Room for the largest frame of other classes, if no interval takes it.
    fn room(&self, entries: &[(u8, u64)], cycle: u64, others: u8) -> Option<Room> {
        let frame = self.described.others[self.link]?;
        let frame = match self.gates.guard {
            GuardPolicy::MaxSdu => {
                let mtu = self.network.ports[self.described.ports[self.link].index()].mtu;
                let most = (0..8).filter(|class| others >> class & 1 == 1);
                let most = most.map(|class| self.gates.payload_max(class, mtu)).max().unwrap_or(mtu);
                frame.max(frame_length(most, true))
            }
            _ => frame,
        };
        let needed = self.line_time(frame + MEDIA) + self.guard();
        let (mut longest, mut run) = (0, 0);
        // Over the end of the cycle, too.
        for (states, interval) in entries.iter().chain(entries) {
            run = if *states & others == others { run + interval } else { 0 };
            longest = run.max(longest);
        }
        let room = Room { cycle: Duration::from_ps(cycle), length: Duration::from_ps(needed) };
        let is_new = self.described.problem.links[self.link].room != Some(room);
        (longest < needed && needed <= cycle && is_new).then_some(room)
    }
}

/// Joins the two windows of one class with the shortest time between them; false if there are none.
fn join(windows: &mut Vec<Window>, cycle: u64) -> bool {
    let count = windows.len();
    let between = |number: usize| {
        let (one, next) = (windows[number], windows[(number + 1) % count]);
        let begin = if number + 1 == count { next.begin + cycle } else { next.begin };
        (one.states == next.states && count > 1).then(|| (begin.saturating_sub(one.end), number))
    };
    let Some((_, number)) = (0..count).filter_map(between).min() else { return false };
    let next = (number + 1) % count;
    let end = if next == 0 { windows[next].end + cycle } else { windows[next].end };
    windows[number].end = end;
    windows.remove(next);
    true
}
