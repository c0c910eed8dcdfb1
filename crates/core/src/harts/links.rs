//! The links database of a switch: state and reservations of its links, and the grants that failed links broke.
//!
//! The switch reports a link that goes down or comes up to the ACMaster under a number, which grows with each change,
//! until it is acknowledged; a new active ACMaster receives a report of every link that ever changed. A grant over a
//! link that goes down is broken, and stays broken, whatever the link does then: the switch reports it, stream by
//! stream and consumer by consumer, until it is notified that the grant is gone, or set up anew. So the switch keeps
//! the information that a grant has to end, and it survives the death of any ACMaster.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::harts::FttMessage;

use super::master::{Carried, SwitchMaster};
use super::resources::Scheduled;

/// The state of the links of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Lines {
    /// Those that ever changed, by the neighbour.
    changed: BTreeMap<u16, Line>,
    /// Of streams and consumers that are carried over a link that failed: the neighbour at its other end.
    broken: BTreeMap<(u16, u16), u16>,
    /// When it repeats its reports of broken grants.
    again: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Line {
    up: bool,
    number: u32,
    /// When the report is repeated, while it is not acknowledged.
    again: Option<Instant>,
}

/// A link, as the master of its switch knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The station or switch at the other end.
    pub neighbour: u16,
    /// Its speed.
    pub rate: BitRate,
    /// Whether it is up.
    pub up: bool,
    /// The mean bandwidth that streams have reserved towards the neighbour: the capacities of their servers, each in
    /// its period, and the messages of the schedule, each in its own; rounded up.
    pub reserved: BitRate,
}

impl SwitchMaster {
    /// A link of the switch goes down or comes up. One that it does not have, or that is so already, changes nothing.
    pub fn link(&mut self, now: Instant, neighbour: u16, up: bool) {
        if !self.config.links.contains_key(&neighbour) || self.is_up(neighbour) == up {
            return;
        }
        let number = self.lines.changed.get(&neighbour).map_or(0, |line| line.number) + 1;
        self.lines.changed.insert(neighbour, Line { up, number, again: None });
        self.send_link(now, neighbour);
        if up {
            return;
        }
        for (id, carried) in &self.streams {
            for (consumer, to) in &carried.consumers {
                if carried.from == neighbour || *to == neighbour {
                    self.lines.broken.insert((*id, *consumer), neighbour);
                }
            }
        }
        self.send_broken(now);
    }

    /// Lets time pass: unanswered reports are repeated.
    pub fn advance(&mut self, now: Instant) {
        let due = |line: &Line| line.again.is_some_and(|at| at <= now);
        let lines = &self.lines.changed;
        let due: Vec<u16> = lines.iter().filter(|(_, line)| due(line)).map(|(to, _)| *to).collect();
        for neighbour in due {
            self.send_link(now, neighbour);
        }
        if self.lines.again.is_some_and(|at| at <= now) {
            self.send_broken(now);
        }
    }

    /// When it repeats a report.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.lines.changed.values().filter_map(|line| line.again).chain(self.lines.again).min()
    }

    /// The links database.
    pub fn links(&self) -> impl Iterator<Item = LinkState> {
        self.config.links.iter().map(|(neighbour, link)| LinkState {
            neighbour: *neighbour,
            rate: link.rate,
            up: self.is_up(*neighbour),
            reserved: self.reserved(*neighbour),
        })
    }

    /// Whether it carries a stream to a consumer over a failed link, and was not notified that it is gone.
    #[must_use]
    pub fn is_broken(&self, stream: u16, consumer: u16) -> bool {
        self.lines.broken.contains_key(&(stream, consumer))
    }

    fn is_up(&self, neighbour: u16) -> bool {
        self.lines.changed.get(&neighbour).is_none_or(|line| line.up)
    }

    /// The first of these neighbours to which there is no link that is up, and how often that changed.
    pub(super) fn lacks(&self, neighbours: [u16; 2]) -> Option<(u16, u32)> {
        let is_there = |to: u16| self.config.links.contains_key(&to) && self.is_up(to);
        let lacks = neighbours.into_iter().find(|to| !is_there(*to))?;
        Some((lacks, self.lines.changed.get(&lacks).map_or(0, |line| line.number)))
    }

    /// The ACMaster knows the state of a link.
    pub(super) fn linked(&mut self, neighbour: u16, number: u32) {
        if let Some(line) = self.lines.changed.get_mut(&neighbour).filter(|line| line.number == number) {
            line.again = None;
        }
    }

    /// Another one is the active ACMaster, or has forgotten all.
    pub(super) fn send_links(&mut self, now: Instant) {
        let all: Vec<u16> = self.lines.changed.keys().copied().collect();
        for neighbour in all {
            self.send_link(now, neighbour);
        }
        self.send_broken(now);
    }

    /// It was notified that a stream is gone, or set up, to a consumer, or to all of them.
    pub(super) fn is_new(&mut self, id: u16, consumer: u16, of_producer: bool) {
        self.lines.broken.retain(|(known, to), _| *known != id || !(of_producer || *to == consumer));
        if self.lines.broken.is_empty() {
            self.lines.again = None;
        }
    }

    fn send_link(&mut self, now: Instant, neighbour: u16) {
        let (switch, patience) = (self.config.switch, self.config.patience);
        let Some(line) = self.lines.changed.get_mut(&neighbour) else { return };
        line.again = Some(now + patience);
        let (up, number) = (line.up, line.number);
        self.out.push_back((self.acmaster, FttMessage::Link { switch, neighbour, up, number }));
    }

    fn send_broken(&mut self, now: Instant) {
        let switch = self.config.switch;
        self.lines.again = (!self.lines.broken.is_empty()).then(|| now + self.config.patience);
        for ((id, consumer), neighbour) in &self.lines.broken {
            let (consumer, neighbour) = (*consumer, *neighbour);
            let stream = self.streams.get(id).expect("what is broken is carried").stream;
            let number = self.heard.get(&(*id, consumer)).copied().unwrap_or(0);
            let message = FttMessage::Broken { switch, neighbour, stream, consumer, number };
            self.out.push_back((self.acmaster, message));
        }
    }

    /// What streams have reserved towards a neighbour.
    fn reserved(&self, neighbour: u16) -> BitRate {
        let cycle = self.config.cycle;
        let of_stream = |carried: &Carried| {
            if !carried.consumers.values().any(|to| *to == neighbour) {
                return 0;
            }
            let server = carried.resources.servers.get(&neighbour);
            let of_server = server.and_then(|server| Some((server.capacity?, server.period)));
            let scheduled = carried.resources.schedule.map(|scheduled| match scheduled {
                Scheduled::Polled(stream) | Scheduled::Relayed(stream, _) => {
                    (u32::from(carried.stream.size), stream.period)
                }
            });
            of_server.or(scheduled).map_or(0, |(octets, cycles)| rate(octets, cycle * u64::from(cycles)))
        };
        BitRate::from_bps(self.streams.values().map(of_stream).sum())
    }
}

/// Bits a second of so many octets in a time, rounded up.
fn rate(octets: u32, time: Duration) -> u64 {
    let bits = u128::from(Bytes::new(u64::from(octets)).bits().get());
    let rate = (bits * 1_000_000_000_000).div_ceil(u128::from(time.as_ps().max(1)));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
