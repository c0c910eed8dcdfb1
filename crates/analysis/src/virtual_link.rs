//! Virtual links (ARINC 664 part 7): the output of the end system's regulator and of the switches' policing, and how
//! long a frame waits for its BAG.
//!
//! - After the regulator a stream has at most one largest frame a BAG, whatever its application does. A message leaves
//!   at once, or a BAG after the one before it: so message `n`, made at `a(n)`, waits for `k·BAG − (a(n) − a(n − k))` at most,
//!   for some `k`. With a burst of `B` messages every `T >= B·BAG` and a jitter `J` of the application, messages of
//!   periods `p` apart are made `p·T − J` apart at least, and `k` is `(p + 1)·B − 1` at most. So the wait is
//!   `((p + 1)·B − 1)·BAG − max(0, p·T − J)` at most, which grows up to `p = ⌊J/T⌋`, and does not from the `p` behind it on.
//!   With true clocks that is no more than `J + (B − 1)·BAG`: message `i` of a burst leaves at most `J + i·BAG` after its period began.
//! - Several sub-virtual-links take turns. One of them whose queue was empty waits for a BAG and for a message of each
//!   other one, and for one of each between its own messages: with `S` of them it has a turn each `S·BAG`, the first one
//!   that long after it came. And a message leaves within the busy period of all of them. Where only the newest message is
//!   kept, none waits for more than a BAG a sub-virtual-link. Where the queue may be full the same holds for those that
//!   it takes: each leaves no later without the others.
//! - So message `i` of a burst is in the queue from its period's begin to at most `J + i·BAG` after that, and at any
//!   time those of `⌊J/T⌋ + 1` periods are, and what is left of the burst before them.
//! - Without a regulator messages come as their application makes them: at most `J + (B − 1)·BAG` before or after
//!   times that are a BAG apart.
//! - A policer passes at most its bucket. It discards nothing of a link whose frames come with no more jitter than it
//!   grants; else a frame may be discarded, and after it only the bucket bounds the arrivals.
//!
//! Not here: the rule for the jitter of an end system (`tautwire-model`), frames of several links at one
//! port (`port.rs`).

use tautwire_core::policing::Account;
use tautwire_core::virtual_link::LinkBuffer;
use tautwire_model::network::{Network, PortIndex, Stream, StreamIndex, Traffic, VirtualLink};
use tautwire_model::virtual_link::policing_parameters;
use tautwire_units::Duration;

use crate::analysis::Analysis;
use crate::answers::{Learned, begins_anew};
use crate::clock::{Deviation, PS_PER_S, servo, slack_ps};
use crate::contribution::Arriving;
use crate::curve::{Line, MICRO};
use crate::passage::{NO_REASON, Shaped};
use crate::plan::{Entry, NONE, Plan, signed, tag_ratio};
use crate::shaper::bunched;
use crate::shared_link::Share;
use crate::unbounded::Unbounded;

/// A busy period of sub-virtual-links beyond this is none.
const BUSY_MAX: u64 = 1_000_000_000_000_000;

/// Parts per billion in one.
const PPB: u128 = 1_000_000_000;

/// A stream's virtual link, as its end system regulates it.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan {
    bag: u64,
    /// Whether the end system keeps the BAG.
    regulated: bool,
    /// From the host to the release on the talker's clock, greatest; none if it may fall behind.
    wait: Option<u64>,
    /// Most messages that wait at once; none if there is no bound.
    most: Option<u64>,
    /// By how much its messages come before or after times that are a BAG apart, on the talker's clock, where no
    /// regulator spaces them; none if that is not known.
    spread: Option<u64>,
    /// The streams of the link, this one among them.
    streams: Vec<u32>,
}

/// The policer of a switch for a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicerPlan {
    /// Upper bound of its output, in true time.
    line: Line,
    /// The greatest jitter with which nothing is discarded, in true time.
    jitter: u64,
}

impl LinkPlan {
    /// Of a stream whose host takes at most so many picoseconds, if that is known for every stream of its link; `all`
    /// are the streams of its link that run, including itself.
    pub(crate) fn new(
        network: &Network,
        number: u32,
        all: &[u32],
        (host, learned): (Option<u64>, &Learned),
    ) -> Option<Self> {
        let link = network.streams.get(number as usize)?.virtual_link?;
        let messages: Option<Vec<Messages>> =
            all.iter().map(|number| Messages::of(network, *number, host?, learned)).collect();
        let own = all.iter().position(|one| *one == number)?;
        let (wait, most) = waits(&link, messages.as_deref(), own, all.len() as u64);
        let (bag, regulated) = (link.bag.as_ps(), link.regulated);
        let spread = match messages.as_deref() {
            Some([one]) if one.keeps(bag) => {
                Some(one.jitter.saturating_add(one.step).saturating_add((one.burst - 1).saturating_mul(bag)))
            }
            _ => None,
        };
        Some(Self { bag, regulated, wait, most, spread, streams: all.to_vec() })
    }

    /// Whether the end system keeps the BAG.
    pub(crate) fn is_regulated(&self) -> bool {
        self.regulated
    }

    /// Most messages of the sub-virtual-link that wait at once; none if there is no bound.
    pub(crate) fn waiting_max(&self) -> Option<u64> {
        self.most
    }

    /// The streams of the link that run.
    pub(crate) fn streams(&self) -> &[u32] {
        &self.streams
    }
}

/// Messages of a sub-virtual-link on their talker's clock: `burst` every `interval`, late by `jitter`.
pub(crate) struct Messages {
    interval: u64,
    /// Of the application.
    jitter: u64,
    /// With that of the host.
    late: u64,
    /// How late what the clock times may be.
    step: u64,
    burst: u64,
}

impl Messages {
    /// None if the application keeps no period over the complete run.
    pub(crate) fn of(network: &Network, number: u32, host: u64, learned: &Learned) -> Option<Self> {
        let stream = &network.streams[number as usize];
        let clock = &network.nodes[stream.talker.index()].clock;
        let (deviation, slack) = (Deviation::of(clock), slack_ps(clock));
        // A servo may run that clock faster or slower yet.
        let servo = u128::from(servo(network));
        let faster = |time: u64| {
            let longer = (u128::from(time) * (PPB + servo)).div_ceil(PPB);
            u64::try_from(longer).unwrap_or(u64::MAX)
        };
        let slower = |time: u64| {
            let shorter = u128::from(time) * PPB.saturating_sub(servo) / PPB;
            u64::try_from(shorter).expect("not longer than it was")
        };
        let (interval, jitter, burst) = match (&stream.traffic, learned.response(number)) {
            (Traffic::Periodic { interval, jitter, burst, .. }, _) => {
                (interval.as_ps(), jitter.as_ps(), u64::from(*burst))
            }
            (Traffic::Response { .. }, Some(response)) => {
                let period = response.period?;
                let interval = deviation.shrink(slower(period.interval)).saturating_sub(slack);
                let jitter = deviation.stretch(faster(period.jitter)).saturating_add(slack);
                (interval.max(1), jitter, period.burst)
            }
            _ => return None,
        };
        // What the host takes is true time, and is measured by the talker's clock here.
        let late = jitter.saturating_add(deviation.stretch(faster(host))).saturating_add(slack);
        let known = Self { interval, jitter, late, step: slack, burst };
        (!begins_anew(network, StreamIndex(number))).then_some(known)
    }

    /// Whether no more of them come than one a BAG, in the long run.
    fn keeps(&self, bag: u64) -> bool {
        self.burst.saturating_mul(bag) <= self.interval
    }

    /// The most of them that wait at once, if they alone leave, a BAG apart, and keep it: at the begin of a period, or
    /// when the last message of a burst comes with the greatest jitter and none before it waits.
    fn waiting(&self, bag: u64) -> u64 {
        let late = self.late.saturating_add(self.step);
        let periods = (late / self.interval).saturating_add(1);
        // When the next period begins.
        let gone = periods.saturating_mul(self.interval).saturating_sub(late).div_ceil(bag);
        periods.saturating_mul(self.burst).saturating_add(self.burst.saturating_sub(gone))
    }

    /// The longest that one waits for those before it, if one leaves each `turn` and they keep to that.
    fn wait(&self, turn: u64) -> u64 {
        // What the clock times may be late at both ends of a distance.
        let jitter = self.jitter.saturating_add(self.step).saturating_add(self.step);
        let together = jitter / self.interval;
        let before = |periods: u64| (periods + 1).saturating_mul(self.burst) - 1;
        let apart = (together + 1).saturating_mul(self.interval) - jitter;
        let last = before(together + 1).saturating_mul(turn).saturating_sub(apart);
        before(together).saturating_mul(turn).max(last)
    }

    /// The most that come within a span.
    pub(crate) fn within(&self, span: u64) -> u64 {
        (span.saturating_add(self.late) / self.interval).saturating_add(1).saturating_mul(self.burst)
    }
}

/// Longest wait from the host to the release, and the most messages of sub-virtual-link `own` that may
/// wait at once.
fn waits(
    link: &VirtualLink,
    messages: Option<&[Messages]>,
    own: usize,
    count: u64,
) -> (Option<u64>, Option<u64>) {
    let bag = link.bag.as_ps();
    let queued = messages.and_then(|all| match all {
        [one] if one.keeps(bag) => {
            // The host's part of the jitter is in its own greatest delay already.
            Some((one.wait(bag), one.waiting(bag)))
        }
        [_] => None,
        _ => {
            let busy = busy_period(all, bag)?;
            let (own, turn) = (&all[own], bag.saturating_mul(count));
            let turns = own.keeps(turn).then(|| turn.saturating_add(own.wait(turn)));
            Some((turns.map_or(busy - bag, |turns| turns.min(busy - bag)), own.within(busy)))
        }
    });
    let (wait, most) = (queued.map(|(wait, _)| wait), queued.map(|(_, most)| most));
    match link.buffer {
        LinkBuffer::Queueing(_) => (wait, most),
        LinkBuffer::Overwriting => {
            let turns = bag.saturating_mul(count);
            (Some(wait.map_or(turns, |wait| wait.min(turns))), most)
        }
    }
}

/// The longest time in which one message a BAG leaves without a pause.
fn busy_period(all: &[Messages], bag: u64) -> Option<u64> {
    let mut busy = bag;
    loop {
        let work = all.iter().map(|one| one.within(busy)).fold(0, u64::saturating_add).saturating_mul(bag);
        if work <= busy {
            return Some(busy);
        }
        if work > BUSY_MAX {
            return None;
        }
        busy = work;
    }
}

/// Whether switches may police streams of a network: virtual links, and protocol control frames.
pub(crate) fn may_police(network: &Network) -> bool {
    network.as6802.is_some() || network.streams.iter().any(|stream| stream.virtual_link.is_some())
}

/// The policer of the switch after `hop` of a stream.
pub(crate) fn policer(network: &Network, stream: &Stream, hop: usize, entry: &Entry) -> Option<PolicerPlan> {
    let table = policing_parameters(network, stream, hop)?;
    let cable = network.ports[stream.hops[hop].port.index()].links?.egress;
    let bridge = network.ports[network.links[cable.index()].to.index()].node;
    let clock = &network.nodes[bridge.index()].clock;
    let deviation = Deviation::of(clock);
    let slack = slack_ps(clock) + slack_ps(&network.nodes[stream.talker.index()].clock);
    let (bits, time) = match table.account {
        Account::Frames => (entry.wire_max(), table.bag.as_ps()),
        Account::Octets => (8, table.octet_time().as_ps()),
    };
    let rate = (u128::from(bits) * PS_PER_S).div_ceil(u128::from(time));
    let rate = deviation.fastest(u64::try_from(rate).unwrap_or(u64::MAX));
    let held = u128::from(table.bag.as_ps() + table.jitter.as_ps());
    let burst = (u128::from(bits) * held * MICRO).div_ceil(u128::from(time));
    // A burst of protocol control frames is granted as jitter; of theirs it is the greatest transmission delay.
    let jitter = match (&stream.virtual_link, &network.as6802) {
        (None, Some(made)) => made.cluster(stream.talker).delay_max,
        _ => table.jitter,
    };
    Some(PolicerPlan {
        line: bunched(Line { burst, rate }, slack),
        jitter: deviation.shrink(jitter.as_ps()).saturating_sub(slack),
    })
}

impl Plan<'_> {
    /// Plants the faults of virtual links that the plan holds.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn plant_in_links(&mut self, fault: Option<crate::PlantedFault>) {
        if fault == Some(crate::PlantedFault::TurnsForgotten) {
            for link in self.links.iter_mut().flatten().filter(|link| link.streams.len() > 1) {
                link.wait = link.wait.map(|_| 0);
            }
        }
        if fault == Some(crate::PlantedFault::LateMessagesForgotten) {
            let streams = self.network.streams.iter();
            for (link, stream) in self.links.iter_mut().zip(streams) {
                let Some(link) = link.as_mut().filter(|link| link.streams.len() == 1) else { continue };
                if let Traffic::Periodic { burst, .. } = stream.traffic {
                    link.wait = link.wait.map(|wait| wait.min(u64::from(burst - 1) * link.bag));
                }
            }
        }
        if fault == Some(crate::PlantedFault::PolicedLinkForgotten) {
            for policer in self.policers.iter_mut().flatten() {
                policer.line = Line::default();
            }
        }
    }

    /// Whether the wait of a stream follows from its BAG, whatever its application does. Its host must not delay it,
    /// and the wait of a response begins with its request.
    pub(crate) fn waits_for_its_turn(&self, stream: u32) -> bool {
        let is_response = matches!(self.stream(stream).traffic, Traffic::Response { .. });
        let is_regulated = self.links[stream as usize].as_ref().is_some_and(|link| link.regulated);
        #[cfg(feature = "planted-faults")]
        if self.fault == Some(crate::PlantedFault::ApplicationOfLinkForgotten) {
            return is_regulated;
        }
        is_regulated && !is_response && !self.is_held_up(stream)
    }
}

impl Analysis<'_> {
    /// At the talker: what the regulator lets through, and when. `arriving` is without it.
    pub(crate) fn regulate(&self, entry: &Entry, arriving: &mut Arriving) {
        let Some(link) = self.plan.links[entry.stream as usize].as_ref().filter(|link| link.regulated) else {
            return;
        };
        let plan = self.plan.port(entry.port);
        let (deviation, slack) = (plan.deviation, plan.slack);
        let rate = (u128::from(entry.wire_max()) * PS_PER_S).div_ceil(u128::from(link.bag));
        let rate = deviation.fastest(u64::try_from(rate).unwrap_or(u64::MAX));
        let shaped = bunched(Line::new(entry.wire_max(), rate), slack);
        let host = entry.own_latency.1;
        let is_known = entry.promise.is_some() || self.plan.waits_for_its_turn(entry.stream);
        let ready = link.wait.filter(|_| is_known).map(|wait| host + deviation.stretch(wait + slack));
        let promised = arriving
            .brought
            .promised
            .zip(ready)
            .map(|(line, ready)| line.after_jitter(line.rate, ready - host));
        arriving.brought.promised = promised;
        arriving.brought.shaped = Some(shaped);
        if self.plan.talker_shapers[entry.stream as usize].is_none() {
            arriving.share = self.link_of(entry).map(|link| Share { link, line: shaped, most: 0, least: 0 });
        }
        (arriving.ready_max, arriving.queue_max) = (ready, ready.map(signed));
        let port = PortIndex(entry.port);
        arriving.reason = if !is_known {
            arriving.reason
        } else if ready.is_none() {
            self.reason(Unbounded::RegulatorTooSlow { port })
        } else {
            NO_REASON
        };
    }

    /// The virtual link of a stream that shares it with others.
    fn link_of(&self, entry: &Entry) -> Option<u16> {
        self.plan.links[entry.stream as usize].as_ref().filter(|link| link.streams.len() > 1)?;
        self.plan.stream(entry.stream).virtual_link.map(|link| link.id)
    }

    /// A sub-virtual-link's part in what its link was held to, with the greatest way from there to the queue.
    pub(crate) fn share(&self, entry: &Entry, shaped: Option<(Shaped, u64)>) -> Option<Share> {
        let (shaped, most) = shaped.filter(|(shaped, _)| shaped.of_link)?;
        let line =
            shaped.line.in_bits(tag_ratio(self.plan.stream(entry.stream), shaped.tagged, entry.tagged));
        let link = self.link_of(entry)?;
        Some(Share { link, line, most, least: entry.ready_min - shaped.origin_min })
    }

    /// The output of a policer for a stream that comes by a link: its bucket, from the last bit here on, if it may
    /// discard frames of it; none if it discards nothing, or is none.
    pub(crate) fn policed(&self, number: u32, entry: &Entry) -> Option<Shaped> {
        let policer = (*self.plan.policers.get(number as usize)?)?;
        let (granted, jitter) = self.policed_jitter(number, entry)?;
        if jitter.is_some_and(|jitter| jitter <= granted) {
            return None;
        }
        let of_link = self.plan.links[entry.stream as usize].is_some();
        let tagged = self.plan.entries[entry.previous as usize].tagged;
        let origin_min = entry.here_min;
        Some(Shaped { line: policer.line, tagged, way_max: 0, spread: 0, origin_min, of_link, meter: NONE })
    }

    /// The jitter that the policer before an entry grants, if there is one, and that with which its frames may come; none if
    /// that has no bound.
    pub(crate) fn policed_jitter(&self, number: u32, entry: &Entry) -> Option<(u64, Option<u64>)> {
        let policer = (*self.plan.policers.get(number as usize)?)?;
        let jitter = match &self.plan.links[entry.stream as usize] {
            Some(link) => self.jitter_here(entry, link),
            // Of protocol control frames: the babbling node is not known.
            None => {
                self.here_max(entry).map(|most| u64::try_from(signed(most) - entry.here_min).unwrap_or(0))
            }
        };
        Some((policer.jitter, jitter))
    }

    /// How far apart the two copies of a frame may reach a listener, by its clock. Both leave the
    /// regulator at once.
    pub(crate) fn skew(&self, stream: u32, listener: usize) -> Option<Duration> {
        let network = self.plan.network;
        let described = self.plan.stream(stream);
        described.virtual_link.filter(|link| link.regulated && link.skew_max.is_some())?;
        let hops = (0..described.hops.len())
            .filter(|hop| described.hops[*hop].listener.is_some_and(|one| one as usize == listener));
        let mut ways = Vec::new();
        for hop in hops {
            let number = self.plan.first_entry[stream as usize] as usize + hop;
            let passage = &self.passages[number];
            let shaped = passage.shaped.filter(|_| passage.reason == NO_REASON)?;
            ways.push((signed(shaped.way_max), self.plan.entries[number].next_min - shaped.origin_min));
        }
        let [a, b] = ways[..] else { return None };
        let apart = u64::try_from((a.0 - b.1).max(b.0 - a.1)).unwrap_or(0);
        #[cfg(feature = "planted-faults")]
        let apart = if self.plan.fault == Some(crate::PlantedFault::SkewForgotten) { 0 } else { apart };
        let clock = &network.nodes[described.listeners[listener].index()].clock;
        Some(Duration::from_ps(Deviation::of(clock).stretch(apart) + 2 * slack_ps(clock)))
    }

    /// With what jitter the frames of a link come that left their end system a BAG apart, or that their application made so.
    fn jitter_here(&self, entry: &Entry, link: &LinkPlan) -> Option<u64> {
        let place = entry.previous - self.plan.first_entry[entry.stream as usize];
        let (mut most, mut least) = (0, i64::MAX);
        if !link.regulated {
            let passage = &self.passages[entry.previous as usize];
            let way = passage.next_max.filter(|_| passage.reason == NO_REASON)?;
            let jitter = u64::try_from(signed(way) - entry.here_min).unwrap_or(0);
            let talker = self.plan.stream(entry.stream).talker;
            let clock = &self.plan.network.nodes[talker.index()].clock;
            return Some(jitter.saturating_add(Deviation::of(clock).stretch(link.spread?)));
        }
        for stream in &link.streams {
            let number = self.plan.first_entry[*stream as usize] + place;
            // Behind a policer that may discard, frames are no longer a BAG apart; what comes to the regulator does not matter.
            let shaped = self.passages[number as usize].shaped.filter(|_| !self.is_policed_by(number))?;
            most = most.max(shaped.way_max);
            least = least.min(self.plan.entries[number as usize].next_min - shaped.origin_min);
        }
        Some(u64::try_from(signed(most) - least).unwrap_or(0))
    }

    /// Whether a policer before an entry or any before it on its way may discard its frames.
    fn is_policed_by(&self, number: u32) -> bool {
        let mut at = number;
        while let Some(entry) = self.plan.entries.get(at as usize) {
            if self.arrivals[at as usize].policed.is_some() {
                return true;
            }
            at = entry.previous;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest wait of those that come at these times, one leaving each `turn`.
    fn longest(times: impl Iterator<Item = u64>, turn: u64) -> u64 {
        let (mut free, mut wait) = (0, 0);
        for at in times {
            wait = wait.max(free.max(at) - at);
            free = free.max(at) + turn;
        }
        wait
    }

    #[test]
    fn messages_that_come_late_make_early_ones_wait_and_no_longer() {
        let mut longer = 0;
        for (interval, jitter, burst) in (1..=24)
            .flat_map(|interval| (0..=60).map(move |jitter| (interval, jitter)))
            .flat_map(|(interval, jitter)| (1..=4).map(move |burst| (interval, jitter, burst)))
        {
            let messages = Messages { interval, jitter, late: jitter, step: 0, burst };
            for turn in (1..=interval).filter(|turn| messages.keeps(*turn)) {
                let bound = messages.wait(turn);
                // All up to one period as late as they may be, those behind it as early.
                let found = (0..12).map(|late| {
                    let period = |number: u64| {
                        let due = number * interval;
                        let at =
                            if number <= late { due + jitter } else { due.max(late * interval + jitter) };
                        (0..burst).map(move |_| at)
                    };
                    let together = |number: u64| {
                        let due = number * interval;
                        let at = if due <= jitter { jitter } else { due };
                        (0..burst).map(move |_| at)
                    };
                    let early = longest((0..80).flat_map(period), turn);
                    early.max(longest((0..80).flat_map(together), turn))
                });
                let found = found.max().expect("a dozen");
                assert!(found <= bound, "{found} of {bound}: {burst} each {interval} by {jitter}, {turn}");
                assert!(
                    found == bound || jitter > 12 * interval,
                    "{found} of {bound}: {burst} each {interval} by {jitter}, {turn}"
                );
                longer += u64::from(bound > (burst - 1) * turn);
            }
        }
        assert!(longer > 1_000, "{longer} wait for those of other periods");
    }
}
