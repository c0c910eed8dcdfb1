//! Feedback: responses, and hosts whose threads serve both what they receive and what they send.
//!
//! A response is handed over when its request has come to the application: its arrivals are those of the request's
//! messages, with a jitter greater by that of all delays in between, and its delay counts from the request's
//! hand-over. A thread that serves both directions delays what it sends by what it receives. In both cases bounds
//! depend on bounds of other ports in ways that the order of ports does not contain. So all that one needs of the
//! other - least and greatest time of every stream at every listener - is assumed, the network is analysed, and that
//! gives new times, starting from zero, until they converge or are at most the assumed ones. Such times hold: no first
//! frame can exceed them (Thomas, Le Boudec and Mifdaoui, RTSS 2019, theorem 1). Times that do not converge have no
//! bound. Not here: how a host serves its streams (`host_stacks`), what services settle themselves (`services.rs`).

use tautwire_model::Network;
use tautwire_model::frame_length;
use tautwire_model::network::{
    ArrivalCurve, NodeIndex, Stream, StreamIndex, TimelineAction, TimelineEvent, Traffic,
};
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::accuracy::Accuracy;
use crate::analysis::Analysis;
use crate::clock::{Deviation, PS_PER_S, servo, slack_ps};
use crate::host_stacks::{self, Handed};
use crate::result::{Bounds, ListenerBounds, StreamBounds};
use crate::services;
use crate::timeline::Timeline;

/// Rounds until what still grows is given up.
const ROUNDS_MAX: u32 = 60;
/// A time beyond this is none: about a quarter of an hour.
const TIME_CAP: u64 = 1_000_000_000_000_000;

/// Least and greatest time from a stream's hand-over (that of the first request, of a response), true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) min: u64,
    /// None: no bound.
    pub(crate) max: Option<u64>,
    /// Whether both copies of a frame over two networks may be taken, each as a frame.
    pub(crate) twice: bool,
}

impl Span {
    fn of(min: Duration, max: Option<Duration>, twice: bool) -> Self {
        Self { min: min.as_ps(), max: max.map(Duration::as_ps).filter(|max| *max <= TIME_CAP), twice }
    }

    /// Whether all that it allows is allowed by `other`.
    fn is_within(self, other: Self) -> bool {
        self.min >= other.min
            && other.max.is_none_or(|most| self.max.is_some_and(|max| max <= most))
            && self.twice <= other.twice
    }
}

/// Times, per stream and listener.
type Spans = Vec<Vec<Span>>;

/// Messages as they are handed over or come: `burst` at once, at least `interval` apart with a jitter of `jitter`, true time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub(crate) interval: u64,
    pub(crate) jitter: u64,
    pub(crate) burst: u64,
}

/// How an application hands a response over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    pub(crate) handed: Handed,
    /// Its messages, if they have a period.
    pub(crate) period: Option<Period>,
}

/// What the tables of an analysis take as known of what comes back. By default nothing is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// Per stream; none: it is none, or comes at any rate.
    pub(crate) responses: Vec<Option<Response>>,
    /// At the ports of listeners, and at their applications.
    pub(crate) ports: Option<Spans>,
    pub(crate) applications: Spans,
    /// What services must not rest on, by numbers of theirs: bounds did not bear it.
    pub(crate) doubted: Vec<u16>,
    /// Whether what is received is left out where it is served with what is sent: a fault.
    pub(crate) deaf: bool,
    /// Whether of what waits for a server of a talker one frame of each stream is looked at: a fault.
    #[cfg(feature = "planted-faults")]
    pub(crate) hasty: bool,
}

impl Learned {
    /// How a stream is handed over, if it is a response of which that is known.
    pub(crate) fn response(&self, stream: u32) -> Option<&Response> {
        self.responses.get(stream as usize)?.as_ref()
    }

    /// The token buckets of responses.
    pub(crate) fn handed(&self) -> Vec<Option<Handed>> {
        self.responses.iter().map(|response| response.map(|response| response.handed)).collect()
    }
}

/// Options of the analysis: the accuracy, and the planted fault, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) accuracy: Accuracy,
    #[cfg(feature = "planted-faults")]
    pub(crate) planted: Option<crate::PlantedFault>,
}

impl Asked {
    /// This accuracy, and no planted fault.
    pub(crate) const fn by(accuracy: Accuracy) -> Self {
        Self {
            accuracy,
            #[cfg(feature = "planted-faults")]
            planted: None,
        }
    }

    /// The same with another accuracy.
    const fn with(mut self, accuracy: Accuracy) -> Self {
        self.accuracy = accuracy;
        self
    }

    /// Whether what is received is left out where it is served with what is sent.
    fn is_deaf(self) -> bool {
        #[cfg(feature = "planted-faults")]
        return self.planted == Some(crate::PlantedFault::ReceptionsForgotten);
        #[cfg(not(feature = "planted-faults"))]
        false
    }

    /// Whether a virtual link's BAG is taken to bound what its request takes, too.
    fn forgets_questions(self) -> bool {
        #[cfg(feature = "planted-faults")]
        return self.planted == Some(crate::PlantedFault::ApplicationOfLinkForgotten);
        #[cfg(not(feature = "planted-faults"))]
        false
    }

    /// Whether a frame over two networks is taken to be accepted once, however late its second copy is.
    fn forgets_copies(self) -> bool {
        #[cfg(feature = "planted-faults")]
        return self.planted == Some(crate::PlantedFault::SecondCopyForgotten);
        #[cfg(not(feature = "planted-faults"))]
        false
    }

    /// Whether responses are taken to come as regularly as what they answer is handed over.
    fn is_steady(self) -> bool {
        #[cfg(feature = "planted-faults")]
        return self.planted == Some(crate::PlantedFault::ResponseJitterForgotten);
        #[cfg(not(feature = "planted-faults"))]
        false
    }
}

/// The analysis of a network, and its bounds.
pub(crate) fn settle(network: &Network, asked: Asked) -> (Analysis<'_>, Bounds) {
    let mut doubted = Vec::new();
    loop {
        let found = settle_without(network, &doubted, asked);
        let more = services::doubts(network, &found.1);
        // Without one thing another may not be borne.
        if more.iter().all(|doubt| doubted.contains(doubt)) {
            return found;
        }
        doubted.extend(more);
    }
}

/// The same without the assumed values that are in doubt.
fn settle_without<'network>(
    network: &'network Network,
    doubted: &[u16],
    asked: Asked,
) -> (Analysis<'network>, Bounds) {
    let doubted = doubted.to_vec();
    if !comes_back(network) {
        let learned = Learned {
            doubted,
            #[cfg(feature = "planted-faults")]
            hasty: asked.planted == Some(crate::PlantedFault::FramesAtThreadForgotten),
            ..Learned::default()
        };
        return analysed(network, learned, asked);
    }
    let rounds = |accuracy| Rounds {
        network,
        timeline: Timeline::of(network),
        asked: asked.with(accuracy),
        doubted: doubted.clone(),
        ports: Vec::new(),
        applications: Vec::new(),
    };
    let mut tight = rounds(asked.accuracy);
    let found = tight.converge();
    if asked.accuracy != Accuracy::Paths {
        return found;
    }
    // Both iterations leap, so that each may end above the other. The times that both end with hold.
    let mut fast = rounds(Accuracy::Frames);
    fast.converge();
    tight.narrow(&fast);
    tight.step().0
}

/// Whether bounds depend on what comes back, and no service settles that.
fn comes_back(network: &Network) -> bool {
    if services::settle_answers(network) {
        return false;
    }
    let answers = |stream: &Stream| matches!(stream.traffic, Traffic::Response { .. });
    network.streams.iter().any(answers)
        || (0..network.nodes.len()).any(|node| host_stacks::serves_both_ways(network, NodeIndex::at(node)))
}

fn analysed(network: &Network, learned: Learned, asked: Asked) -> (Analysis<'_>, Bounds) {
    let handed = learned.handed();
    let analysis = Analysis::with(network, learned, asked);
    let of_services = analysis.plan.services.iter().find_map(|service| service.hosts());
    let handed = of_services.map_or(handed, |hosts| hosts.responses);
    let mut bounds = analysis.bounds();
    host_stacks::add_receiving(network, &mut bounds, &handed);
    (analysis, bounds)
}

/// The assumed values, and the state to compute new ones.
struct Rounds<'network> {
    network: &'network Network,
    timeline: Timeline,
    asked: Asked,
    doubted: Vec<u16>,
    ports: Spans,
    applications: Spans,
}

impl<'network> Rounds<'network> {
    /// Takes times as known, from the least on, until what follows from them is within them; what follows then.
    fn converge(&mut self) -> (Analysis<'network>, Bounds) {
        let network = self.network;
        let known = |span| network.streams.iter().map(|stream| vec![span; stream.listeners.len()]).collect();
        let least = Span { min: 0, max: Some(0), twice: false };
        (self.ports, self.applications) = (known(least), known(least));
        for round in 0..2 * ROUNDS_MAX {
            let (found, ports, applications) = self.step();
            if self.holds(&ports, &applications) {
                return found;
            }
            let before = self.take(ports, applications);
            if round % 4 == 3 {
                let here = (self.ports.clone(), self.applications.clone());
                self.leap(&before);
                let (found, ports, applications) = self.step();
                if self.holds(&ports, &applications) {
                    return found;
                }
                (self.ports, self.applications) = here;
            }
            if round >= ROUNDS_MAX {
                self.give_up(&before);
            }
        }
        let nothing = Span { min: 0, max: None, twice: true };
        (self.ports, self.applications) = (known(nothing), known(nothing));
        self.step().0
    }

    /// Takes as known what both these and others allow, if both hold.
    fn narrow(&mut self, others: &Self) {
        let pairs = [(&mut self.ports, &others.ports), (&mut self.applications, &others.applications)];
        for (own, other) in pairs {
            for (own, other) in own.iter_mut().flatten().zip(other.iter().flatten()) {
                *own = Span {
                    min: own.min.max(other.min),
                    max: own.max.into_iter().chain(other.max).min(),
                    twice: own.twice && other.twice,
                };
            }
        }
    }

    /// What follows from what is known: the bounds, and the same times anew.
    fn step(&self) -> ((Analysis<'network>, Bounds), Spans, Spans) {
        let responses = (0..self.network.streams.len()).map(|stream| self.response(stream)).collect();
        let learned = Learned {
            responses,
            ports: Some(self.ports.clone()),
            applications: self.applications.clone(),
            doubted: self.doubted.clone(),
            deaf: self.asked.is_deaf(),
            #[cfg(feature = "planted-faults")]
            hasty: self.asked.planted == Some(crate::PlantedFault::FramesAtThreadForgotten),
        };
        let (analysis, bounds) = analysed(self.network, learned, self.asked);
        let all = |time: &dyn Fn(&Stream, usize, &ListenerBounds) -> Span| -> Spans {
            let pairs = self.network.streams.iter().zip(&bounds.streams);
            let of = |(stream, bounds): (&Stream, &StreamBounds)| {
                let listeners = bounds.listeners.iter().enumerate();
                listeners.map(|(listener, bounds)| time(stream, listener, bounds)).collect()
            };
            pairs.map(of).collect()
        };
        let copies = host_stacks::copies(self.network, &bounds);
        let mut ports =
            all(&|_, _, bounds| Span::of(bounds.delay_min, bounds.delay.as_ref().ok().copied(), false));
        // A stream that was taken twice once stays marked, so that the iteration converges.
        for ((found, twice), known) in ports.iter_mut().zip(copies).zip(&self.ports) {
            for ((found, twice), known) in found.iter_mut().zip(twice).zip(known) {
                found.twice = (twice || known.twice) && !self.asked.forgets_copies();
            }
        }
        let applications = all(&|stream, listener, bounds| self.application(stream, listener, bounds));
        ((analysis, bounds), ports, applications)
    }

    /// From the hand-over of a stream to a listener's application.
    fn application(&self, stream: &Stream, listener: usize, bounds: &ListenerBounds) -> Span {
        if let Some((least, most)) = &bounds.application {
            return Span::of(*least, most.as_ref().ok().copied(), false);
        }
        match self.network.host(stream.listeners[listener]) {
            Some(_) => Span::of(bounds.delay_min, bounds.delay.as_ref().ok().copied(), false),
            None => Span { min: 0, max: None, twice: false },
        }
    }

    /// Whether times that followed allow no more than what was taken as known.
    fn holds(&self, ports: &Spans, applications: &Spans) -> bool {
        let within = |found: &Spans, known: &Spans| {
            found.iter().flatten().zip(known.iter().flatten()).all(|(found, known)| found.is_within(*known))
        };
        within(ports, &self.ports) && within(applications, &self.applications)
    }

    /// Takes times as known; those before.
    fn take(&mut self, ports: Spans, applications: Spans) -> (Spans, Spans) {
        (std::mem::replace(&mut self.ports, ports), std::mem::replace(&mut self.applications, applications))
    }

    /// Tries times somewhat above those that grow.
    fn leap(&mut self, before: &(Spans, Spans)) {
        self.change(before, |now, before| {
            let grown = now.checked_add(8 * now.saturating_sub(before) + 1_000)?;
            Some(grown)
        });
    }

    /// Values that have grown have no bound.
    fn give_up(&mut self, before: &(Spans, Spans)) {
        self.change(before, |now, before| (now <= before).then_some(now));
    }

    fn change(&mut self, before: &(Spans, Spans), time: impl Fn(u64, u64) -> Option<u64>) {
        for (now, before) in [(&mut self.ports, &before.0), (&mut self.applications, &before.1)] {
            for (now, before) in now.iter_mut().flatten().zip(before.iter().flatten()) {
                now.max = now.max.and_then(|max| time(max, before.max?));
            }
        }
    }

    /// How a response is handed over; none if that has no bound, or it is none.
    fn response(&self, number: usize) -> Option<Response> {
        let stream = &self.network.streams[number];
        let Traffic::Response { to, turn_around } = stream.traffic else { return None };
        let listener = self.responder(number, to)?;
        let heard = self.applications[to.index()][listener];
        let turn = turn_around.as_ps();
        let since = (heard.min.saturating_add(turn), heard.max?.saturating_add(turn));
        let since =
            if self.asked.forgets_questions() && stream.virtual_link.is_some() { (0, 0) } else { since };
        let spread = if self.asked.is_steady() { 0 } else { since.1 - since.0 };
        let wire = |payload, tagged| (frame_length(payload, tagged) + Bytes::MEDIA_OVERHEAD).bits().get();
        let frames = u64::from(self.network.frames_a_message(StreamIndex::at(number)));
        let bits = wire(stream.payload_max, stream.tagged).saturating_mul(frames);
        let origin = self.origin(to);
        let copies = self.copies_of_chain(number)?;
        let times = |period: Option<Period>, copies: u64| {
            let one = period?;
            Some(Period { burst: one.burst.checked_mul(copies)?, ..one })
        };
        let own_copies = 1 + u64::from(self.ports[to.index()][listener].twice);
        let periods =
            [times(self.messages(origin, spread), copies), times(self.spaced(to, spread), own_copies)];
        // The lower rate; the lesser burst of equal ones.
        let rate =
            |period: &Period| (u128::from(period.burst) * PS_PER_S).div_ceil(u128::from(period.interval));
        let period =
            periods.into_iter().flatten().min_by_key(|period| (rate(period), period.burst, period.jitter));
        let bucket = match period {
            Some(period) => bucket(period, bits)?,
            None => {
                // At most as many messages as the request's bucket has room for frames.
                let of = &self.network.streams[origin.index()];
                let curve = self.timeline.arrival(of, origin.0)?;
                let clock = &self.network.nodes[of.talker.index()].clock;
                let fastest = Deviation::of(clock).fastest(curve.rate.fastest(self.servo()).as_bps());
                let grown = (u128::from(fastest) * u128::from(spread + slack_ps(clock))).div_ceil(PS_PER_S);
                let least = u128::from(wire(of.payload_min, false));
                let of_both = u128::from(bits) * u128::from(copies);
                let times = |bits_in: u128| u64::try_from((bits_in * of_both).div_ceil(least)).ok();
                (times(fastest.into())?, times(u128::from(curve.burst.get()) + grown)?)
            }
        };
        Some(Response { handed: Handed { bucket, since }, period })
    }

    /// The place of a response's talker among the listeners of its request.
    fn responder(&self, number: usize, to: StreamIndex) -> Option<usize> {
        let talker = self.network.streams[number].talker;
        self.network.streams[to.index()].listeners.iter().position(|node| *node == talker)
    }

    /// How many messages of a response one of its chain's first may become: two for each link on the way whose second copy may be
    /// answered, too.
    fn copies_of_chain(&self, mut number: usize) -> Option<u64> {
        let mut copies: u64 = 1;
        while let Traffic::Response { to, .. } = self.network.streams[number].traffic {
            let twice = self.ports[to.index()][self.responder(number, to)?].twice;
            copies = copies.checked_mul(1 + u64::from(twice))?;
            number = to.index();
        }
        Some(copies)
    }

    /// The stream that a chain of answers begins with.
    fn origin(&self, mut stream: StreamIndex) -> StreamIndex {
        while let Traffic::Response { to, .. } = self.network.streams[stream.index()].traffic {
            stream = to;
        }
        stream
    }

    /// By how much a servo may run a clock faster or slower yet, parts in 10⁹.
    fn servo(&self) -> u64 {
        servo(self.network)
    }

    /// The messages of a stream behind a way that takes them `spread` longer or less.
    fn messages(&self, number: StreamIndex, spread: u64) -> Option<Period> {
        let stream = &self.network.streams[number.index()];
        let Traffic::Periodic { interval, jitter, burst, .. } = stream.traffic else { return None };
        let clock = &self.network.nodes[stream.talker.index()].clock;
        let (deviation, slack) = (Deviation::of(clock), slack_ps(clock));
        if begins_anew(self.network, number) {
            return None;
        }
        let servo = u128::from(self.servo());
        let interval =
            u128::from(deviation.shrink(interval.as_ps())) * 1_000_000_000 / (1_000_000_000 + servo);
        let slower = 1_000_000_000_u128.saturating_sub(servo).max(1);
        let jitter = (u128::from(deviation.stretch(jitter.as_ps())) * 1_000_000_000).div_ceil(slower);
        let jitter = u64::try_from(jitter).ok()?.checked_add(slack)?.checked_add(spread)?;
        let burst = u64::from(burst) / u64::from(self.network.frames_a_message(number));
        let interval = u64::try_from(interval).ok().filter(|interval| *interval > 0)?;
        Some(Period { interval, jitter, burst: burst.max(1) })
    }

    /// The messages of a virtual link that keeps its BAG, in the same form.
    fn spaced(&self, number: StreamIndex, spread: u64) -> Option<Period> {
        let stream = &self.network.streams[number.index()];
        let link = stream.virtual_link.filter(|link| link.regulated)?;
        let returns = |event: &TimelineEvent| matches!(event.action, TimelineAction::StartNode(node) if node == stream.talker);
        if self.network.events.iter().any(returns) || self.servo() > 0 {
            return None;
        }
        let clock = &self.network.nodes[stream.talker.index()].clock;
        let interval = Deviation::of(clock).shrink(link.bag.as_ps()).saturating_sub(slack_ps(clock));
        (interval > 0).then_some(Period { interval, jitter: spread, burst: 1 })
    }
}

/// Whether the application of a stream begins its period anew in the run, or has another one then.
pub(crate) fn begins_anew(network: &Network, number: StreamIndex) -> bool {
    let talker = network.streams[number.index()].talker;
    network.events.iter().any(|event| match &event.action {
        TimelineAction::StartStream(other) | TimelineAction::ChangeTraffic(other, ..) => *other == number,
        TimelineAction::StartNode(node) => *node == talker,
        _ => false,
    })
}

/// Bits of messages a second, and at once: `burst (1 + (t + jitter)/interval)` messages in a window `t`.
fn bucket(period: Period, bits: u64) -> Option<(u64, u64)> {
    let burst = u128::from(bits).checked_mul(u128::from(period.burst))?;
    let rate = burst.checked_mul(PS_PER_S)?.div_ceil(u128::from(period.interval));
    let at_once = burst + burst.checked_mul(u128::from(period.jitter))?.div_ceil(u128::from(period.interval));
    Some((u64::try_from(rate).ok()?, u64::try_from(at_once).ok()?))
}

impl Response {
    /// The promise of its talker.
    pub(crate) fn curve(&self) -> ArrivalCurve {
        let (rate, burst) = self.handed.bucket;
        ArrivalCurve { rate: BitRate::from_bps(rate), burst: Bits::new(burst) }
    }
}
