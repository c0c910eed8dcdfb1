//! The fates of copies of frames, counted for each listener of the copy.
//!
//! A run notes the place of a copy when it was lost, was not forwarded, or the run ended. At the end of the run each
//! of these counts for all listeners behind that place: those behind the hop; for a copy that bridges had yet to
//! replicate, those of all its branches; at the talker all listeners. Nothing is noted of a copy that a listener
//! takes, or that reaches an end station that is no listener. Invariant, for each listener: created, once for each
//! path to it, = delivered + lost + withheld + in flight. Not here: the counts of the stream as one (`statistics.rs`).

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::Stream;

use crate::frame::{Aim, Slot};
use crate::plan::Plan;
use crate::result::DropReason;

/// Where a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whereabouts {
    /// In its talker's host, before any port.
    Talker,
    /// At the port of a hop, or on the line behind it.
    Hop(u32),
    /// At the far end of a hop, to be taken there and nowhere else.
    End(u32),
    /// At a bridge, before the ports of a branch.
    Branch(u32),
}

impl Whereabouts {
    /// Of a frame that waits for its port, or was about to.
    pub(crate) fn at_port(slot: &Slot) -> Self {
        Self::Hop(slot.hop)
    }

    /// Of a frame on a line, or in the stages behind it.
    pub(crate) fn on_line(slot: &Slot) -> Self {
        match slot.aim {
            Aim::DELIVERY => Self::End(slot.hop),
            Aim::RECEPTION => Self::Hop(slot.hop),
            aim => aim.hop_or_branch().map_or_else(Self::Branch, Self::Hop),
        }
    }
}

/// The fate of a copy that no listener takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// It is lost.
    Lost(DropReason),
    /// A bridge does not forward it there: nothing is reserved or registered, or its address was learned elsewhere.
    Withheld,
    /// It is on its way at the end of the run.
    InFlight,
}

/// The fates of all copies of a run, by stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fates(BTreeMap<(u32, Fate, Whereabouts), u64>);

/// The fates of the copies for one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListenerFates {
    /// In the order of [`DropReason::ALL`].
    pub(crate) lost: Vec<(DropReason, u64)>,
    pub(crate) withheld: u64,
    pub(crate) in_flight: u64,
}

impl ListenerFates {
    /// Copies that no listener took.
    pub(crate) fn sum(&self) -> u64 {
        self.withheld + self.in_flight + self.lost.iter().map(|(_, count)| count).sum::<u64>()
    }

    fn add(&mut self, fate: Fate, count: u64) {
        match fate {
            _ if count == 0 => {}
            Fate::Lost(reason) => self.lost.push((reason, count)),
            Fate::Withheld => self.withheld += count,
            Fate::InFlight => self.in_flight += count,
        }
    }
}

impl Fates {
    /// Something became of a copy.
    pub(crate) fn note(&mut self, stream: u32, fate: Fate, whereabouts: Whereabouts) {
        *self.0.entry((stream, fate, whereabouts)).or_default() += 1;
    }

    /// Adds those of another part of a run.
    pub(crate) fn add(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// For each listener of a stream what became of the copies for it.
    pub(crate) fn of_stream(&self, network: &Network, plan: &Plan, stream: usize) -> Vec<ListenerFates> {
        let described = &network.streams[stream];
        let mut listeners = vec![ListenerFates::default(); described.listeners.len()];
        let number = u32::try_from(stream).unwrap_or(u32::MAX);
        let first = (number, Fate::Lost(DropReason::ALL[0]), Whereabouts::Talker);
        let mut own = self.0.range(first..).take_while(|((of, ..), _)| *of == number).peekable();
        while let Some(((_, fate, _), _)) = own.peek().copied() {
            let mut spread = Spread::new(described, plan.first_hop[stream]);
            while let Some(((_, _, whereabouts), count)) = own.next_if(|((_, other, _), _)| other == fate) {
                spread.add(plan, *whereabouts, *count);
            }
            for (listener, count) in spread.by_listener(described).into_iter().enumerate() {
                listeners[listener].add(*fate, count);
            }
        }
        listeners
    }
}

/// Copies of one fate, spread over a stream's tree.
struct Spread {
    first_hop: u32,
    /// For all listeners.
    talker: u64,
    /// Per hop: for all listeners behind it, and for the one at its far end.
    behind: Vec<u64>,
    ends: Vec<u64>,
}

impl Spread {
    fn new(stream: &Stream, first_hop: u32) -> Self {
        let hops = stream.hops.len();
        Self { first_hop, talker: 0, behind: vec![0; hops], ends: vec![0; hops] }
    }

    fn add(&mut self, plan: &Plan, whereabouts: Whereabouts, count: u64) {
        let place = |hop: u32| (hop - self.first_hop) as usize;
        match whereabouts {
            Whereabouts::Talker => self.talker += count,
            Whereabouts::Hop(hop) => self.behind[place(hop)] += count,
            Whereabouts::End(hop) => self.ends[place(hop)] += count,
            Whereabouts::Branch(branch) => {
                let (first, end) = plan.branches[branch as usize].children;
                for hop in &plan.children[first as usize..end as usize] {
                    self.behind[place(*hop)] += count;
                }
            }
        }
    }

    /// Copies for each listener: a hop comes after the hop before it.
    fn by_listener(mut self, stream: &Stream) -> Vec<u64> {
        if stream.hops.is_empty() {
            return vec![self.talker; stream.listeners.len()];
        }
        let mut listeners = vec![0; stream.listeners.len()];
        for (place, hop) in stream.hops.iter().enumerate() {
            self.behind[place] += match hop.previous {
                Some(previous) => self.behind[previous as usize],
                None => self.talker,
            };
            if let Some(listener) = hop.listener {
                listeners[listener as usize] += self.behind[place] + self.ends[place];
            }
        }
        listeners
    }
}
