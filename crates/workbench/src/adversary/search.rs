//! Hill climbing, row by row: from a start that is built to be bad, then by small changes; changes that make the
//! victim later are kept.
//!
//! Every run is compared with all bounds, and becomes the worst run of each row that it makes worse.

use tautwire_model::Network;
use tautwire_model::network::Traffic;
use tautwire_report::Contradiction;
use tautwire_sim::{NoRecorder, Observation, Options};
use tautwire_units::Duration;

use super::choices::Chosen;
use super::dice::Dice;
use super::freedom::Freedom;
use super::moves::Ground;
use super::record::Record;
use super::rows::Victim;
use crate::{Bounds, bounds_in_run, simulate_with};

/// A row is done when its bound is above what was found by less than one part in so many: what is said of exact bounds is finer than a frame.
const CLOSE: u64 = 10_000;

/// The worst that is known of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Best {
    pub(crate) delay: Option<Duration>,
    /// None: the run that was described.
    pub(crate) chosen: Option<Chosen>,
}

/// A search and what it found.
pub(crate) struct Search<'a> {
    pub(crate) network: &'a Network,
    pub(crate) bounds: &'a Bounds,
    pub(crate) freedom: Freedom,
    /// Per stream and listener.
    pub(crate) best: Vec<Vec<Best>>,
    pub(crate) runs: u64,
    /// Transmissions of all of them.
    hops: u64,
    /// The first run that contradicts a bound, and what it contradicts.
    pub(crate) contradicted: Option<(Chosen, Vec<Contradiction>)>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(network: &'a Network, bounds: &'a Bounds, observation: &Observation) -> Self {
        let known = |seen: &tautwire_sim::ListenerObservation| Best {
            delay: seen.worst.map(|worst| worst.delay),
            chosen: None,
        };
        let best = observation.streams.iter().map(|seen| seen.listeners.iter().map(known).collect());
        Self {
            network,
            bounds,
            freedom: Freedom::of(network),
            best: best.collect(),
            runs: 0,
            hops: 0,
            contradicted: None,
        }
    }

    /// All rows that can be searched, and whether something is open for them.
    pub(crate) fn victims(&self) -> Vec<Victim> {
        let streams = self.network.streams.iter().enumerate();
        let pairs =
            streams.flat_map(|(number, stream)| (0..stream.listeners.len()).map(move |at| (number, at)));
        pairs
            .filter_map(|(stream, listener)| {
                Victim::of(self.network, self.bounds, &self.freedom, stream, listener)
            })
            .collect()
    }

    /// Searches for one row with so many runs at most, of so many transmissions together.
    pub(crate) fn climb(&mut self, victim: &Victim, (runs, hops): (u64, u64), dice: &mut Dice) {
        let end = Budget { runs: self.runs + runs, hops: self.hops.saturating_add(hops) };
        let (network, freedom) = (self.network, self.freedom.clone());
        let lead = lead(network, self.bounds, victim);
        let duration = self.duration(victim, lead);
        let ground = Ground { network, freedom: &freedom, victim, lead };
        let mut now = self.build(&ground, ground.base(duration), end);
        if freedom.delays && self.goes_on(victim, end) {
            let mut base = ground.base(duration);
            base.longest = true;
            let other = self.build(&ground, base, end);
            now = if other.0 > now.0 { other } else { now };
        }
        if self.goes_on(victim, end) {
            let mut base = ground.base(duration);
            ground.scatter(&mut base, dice);
            let other = self.build(&ground, base, end);
            now = if other.0 > now.0 { other } else { now };
        }
        // What another row's search found may be worse than all of these.
        let best = &self.best[victim.stream][victim.listener];
        if let Some(chosen) = best.chosen.clone().filter(|_| best.delay > now.0)
            && self.goes_on(victim, end)
        {
            now = self.run(victim, chosen);
        }
        let mut idle = 0;
        while self.goes_on(victim, end) && idle < 4 * runs {
            let mut chosen = now.1.clone();
            let frame = now.3.unwrap_or(0);
            let again = dice.below(3) == 0;
            let mut is_other = ground.vary(&mut chosen, &now.2, frame, dice);
            if again {
                is_other |= ground.vary(&mut chosen, &now.2, frame, dice);
            }
            if !is_other || chosen == now.1 {
                idle += 1;
                continue;
            }
            let other = self.run(victim, chosen);
            if other.0 >= now.0 {
                now = other;
            }
        }
    }

    /// Lets all that meets the victim arrive with it, port by port, twice; gives the worst of these runs.
    fn build(&mut self, ground: &Ground<'_>, base: Chosen, end: Budget) -> Run {
        let victim = ground.victim;
        let first = self.run(victim, base);
        let from = ground.lead.as_ps();
        let Some(frame) = first.2.frame_from(victim.stream, from) else { return first };
        let mut worst = first.clone();
        let mut now = first;
        for _ in 0..2 {
            let steps = (0..victim.way.len()).flat_map(|place| {
                let starts = ground.waits_for_credit(place).then_some((place, true));
                std::iter::once((place, false)).chain(starts)
            });
            for (place, starts) in steps {
                let mut chosen = now.1.clone();
                if starts {
                    ground.delay_start(&mut chosen, &now.2, place, frame);
                } else {
                    ground.align(&mut chosen, &now.2, place, frame);
                }
                if chosen == now.1 {
                    continue;
                }
                if !self.goes_on(victim, end) {
                    return worst;
                }
                now = self.run(victim, chosen);
                if now.0 > worst.0 {
                    worst = now.clone();
                }
            }
        }
        worst
    }

    fn goes_on(&self, victim: &Victim, end: Budget) -> bool {
        let delay = self.best[victim.stream][victim.listener].delay.unwrap_or_default();
        let is_close = victim.bound.saturating_sub(delay).as_ps() <= victim.bound.as_ps() / CLOSE;
        self.runs < end.runs && self.hops < end.hops && !is_close && self.contradicted.is_none()
    }

    /// How long a run for a row is: until its critical frame is there for sure, but no longer than the description's own.
    fn duration(&self, victim: &Victim, lead: Duration) -> Duration {
        let own = self.network.run.duration;
        if !tautwire_sim::is_plain(self.network) || !self.network.events.is_empty() {
            return own;
        }
        let interval = match &self.network.streams[victim.stream].traffic {
            Traffic::Periodic { interval, offset, .. } => interval.saturating_add(*offset),
            Traffic::OnOff { on, off, offset, .. } => on.saturating_add(*off).saturating_add(*offset),
            Traffic::Poisson { mean_interval } => *mean_interval,
            Traffic::Greedy { offset } | Traffic::ConstantRate { offset, .. } => *offset,
            _ => return own,
        };
        let needed = lead.saturating_add(interval).saturating_add(victim.bound).saturating_add(victim.bound);
        needed.min(own)
    }

    /// Makes a run, and gives its result for a row.
    fn run(&mut self, victim: &Victim, chosen: Chosen) -> Run {
        let mut wanted = vec![false; self.network.ports.len()];
        for hop in &victim.way {
            wanted[self.network.streams[victim.stream].hops[*hop].port.index()] = true;
        }
        let mut record = Record::new(self.network, wanted);
        let network = chosen.apply(self.network, &self.freedom);
        let observation = simulate_with(&network, &mut quiet(), &mut record);
        self.take(&chosen, &network, &observation);
        let worst = observation.streams[victim.stream].listeners[victim.listener].worst;
        (worst.map(|worst| worst.delay), chosen, record, worst.map(|worst| worst.number))
    }

    /// A run for all rows.
    pub(crate) fn run_for_all(&mut self, chosen: &Chosen) {
        let network = chosen.apply(self.network, &self.freedom);
        let observation = simulate_with(&network, &mut quiet(), &mut NoRecorder);
        self.take(chosen, &network, &observation);
    }

    /// Takes the results of a run for every row, and compares them with the bounds.
    fn take(&mut self, chosen: &Chosen, network: &Network, observation: &Observation) {
        self.runs += 1;
        self.hops += observation.frame_hops;
        for (stream, seen) in observation.streams.iter().enumerate() {
            for (listener, seen) in seen.listeners.iter().enumerate() {
                let best = &mut self.best[stream][listener];
                let delay = seen.worst.map(|worst| worst.delay);
                if delay > best.delay {
                    *best = Best { delay, chosen: Some(chosen.clone()) };
                }
            }
        }
        // The grants of an ACMaster depend on the run.
        let admits = self.network.harts.as_ref().is_some_and(|harts| harts.admission.is_some());
        let own = admits.then(|| bounds_in_run(network, observation));
        let bounds = own.as_ref().unwrap_or(self.bounds);
        let found = tautwire_report::contradictions(self.network, bounds, observation);
        if !found.is_empty() && self.contradicted.is_none() {
            self.contradicted = Some((chosen.clone(), found));
        }
    }
}

/// Where the search for a row ends.
#[derive(Clone, Copy, Debug)]
struct Budget {
    runs: u64,
    hops: u64,
}

/// The delay of the victim's latest frame, the choices, the record of the run, and the number of that frame.
type Run = (Option<Duration>, Chosen, Record, Option<u32>);

fn quiet() -> Options<'static> {
    Options { histograms: Some(false), ..Options::default() }
}

/// After this time all that meets a victim can be where it does. In a run with machines: all that is bounded, anywhere on its way.
fn lead(network: &Network, bounds: &Bounds, victim: &Victim) -> Duration {
    let jitter = |stream: usize| match &network.streams[stream].traffic {
        Traffic::Periodic { jitter, .. } => *jitter,
        _ => Duration::ZERO,
    };
    let needed = if tautwire_sim::is_plain(network) {
        let ways = victim.met.iter().map(|met| {
            let way = least_way(network, bounds, met.stream, met.hop);
            jitter(met.stream).saturating_add(way).saturating_add(way)
        });
        let own = victim.bound.saturating_add(victim.bound);
        own.saturating_add(ways.max().unwrap_or_default())
    } else {
        let delays = bounds.streams.iter().flat_map(|stream| &stream.listeners);
        let delays = delays.filter_map(|listener| listener.delay.as_ref().ok());
        let jitters = (0..network.streams.len()).map(jitter);
        delays.copied().max().unwrap_or_default().saturating_add(jitters.max().unwrap_or_default())
    };
    needed.min(Duration::from_ps(network.run.duration.as_ps() / 2))
}

/// The least that a stream takes up to the port of a hop.
fn least_way(network: &Network, bounds: &Bounds, stream: usize, hop: usize) -> Duration {
    let hops = &network.streams[stream].hops;
    let before = |hop: &usize| hops[*hop].previous.map(|before| before as usize);
    let all = std::iter::successors(before(&hop), before);
    all.fold(Duration::ZERO, |sum, hop| sum.saturating_add(bounds.streams[stream].hops[hop].delay_min))
}
