//! What a stream's bound is made of, hop by hop: which frame blocks, whose bursts go first, at which
//! rate, by which formula and whose.
//!
//! The analysis is made anew and looked into; its figures are those of the bounds, to the picosecond.

use core::fmt;

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_units::{BitRate, Bits, Duration};

use crate::analysis::Analysis;
use crate::answers::{self, Fault};
use crate::contribution::Arriving;
use crate::curve::{Line, MICRO, span};
use crate::plan::{Entry, NONE, index};
use crate::port::ClassTerms;
use crate::port_state::PortState;
use crate::result::{Bounds, HopBounds, ListenerBounds, Method, Unbounded};

mod served;

/// The story of a stream's bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The stream.
    pub stream: String,
    /// Its listeners and their bounds.
    pub listeners: Vec<(String, ListenerBounds)>,
    /// Per listener why it has no bound, if it has none.
    pub reasons: Vec<Option<String>>,
    /// Hop by hop.
    pub hops: Vec<HopExplanation>,
}

/// What the bound of one hop is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct HopExplanation {
    /// The hop before, an index of the hops; none at the talker.
    pub previous: Option<u32>,
    /// The egress port, as `node.port`.
    pub port: String,
    /// The class there.
    pub class: TrafficClass,
    /// The bound.
    pub bounds: HopBounds,
    /// Its formula, in words of the field.
    pub formula: &'static str,
    /// Where the formula is from.
    pub source: &'static str,
    /// Rate of the line.
    pub line_rate: BitRate,
    /// Rate that is left for the class beside what goes first.
    pub rate_left: Option<BitRate>,
    /// The largest lower frame, which may have started.
    pub blocking: Option<Part>,
    /// Higher classes: whose frames go first.
    pub higher: Vec<Part>,
    /// The same class, the stream itself among them.
    pub same: Vec<Part>,
    /// Bits of higher classes, and of the same class, with which the bound reckons: fewer than the sum
    /// of the bursts where links or shapers let no more through.
    pub reckoned: Option<(Bits, Bits)>,
    /// Credit that a credit-based class may have to wait for, in bits.
    pub credit_max: Option<i64>,
    /// Times that add up to the bound.
    pub times: Vec<(&'static str, Duration)>,
    /// Why there is no bound, in words.
    pub reason: Option<String>,
}

/// A stream's part in a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The stream, or the network control of the node.
    pub name: String,
    /// Bits of the wire: its burst at this port, or its largest frame.
    pub bits: Option<Bits>,
    /// Its rate on the node's clock.
    pub rate: Option<BitRate>,
}

/// Explains the bounds of a stream; `bounds` are those of the same network.
///
/// # Panics
/// If the bounds are those of another network.
#[must_use]
pub fn explain(network: &Network, bounds: &Bounds, stream: StreamIndex) -> Explanation {
    let described = &network.streams[stream.index()];
    let of_stream = &bounds.streams[stream.index()];
    let hops = if network.tdma.is_some() || network.harts.is_some() {
        served::hops(network, stream, of_stream)
    } else {
        let (mut analysis, _) = answers::settle(network, Fault::default());
        let first = analysis.plan.first_entry[stream.index()];
        (0..described.hops.len())
            .map(|hop| hop_explanation(&mut analysis, first + index(hop), of_stream.hops[hop].clone()))
            .collect()
    };
    let name = |node: &tautwire_model::network::NodeIndex| network.nodes[node.index()].name.clone();
    let why = |listener: &ListenerBounds| listener.delay.as_ref().err().map(|why| told(network, why));
    Explanation {
        stream: described.name.clone(),
        listeners: described.listeners.iter().map(name).zip(of_stream.listeners.iter().cloned()).collect(),
        reasons: of_stream.listeners.iter().map(why).collect(),
        hops,
    }
}

fn hop_explanation(analysis: &mut Analysis<'_>, number: u32, bounds: HopBounds) -> HopExplanation {
    let entry = analysis.plan.entries[number as usize].clone();
    let mut state = PortState::default();
    analysis.evaluate(entry.port, &mut state);
    let mut numbers = analysis.plan.at_port(entry.port).to_vec();
    numbers.sort_unstable();
    let arriving: Vec<Arriving> = numbers.iter().map(|number| analysis.arrivals[*number as usize]).collect();
    let own = arriving.iter().find(|arriving| arriving.entry == number).expect("it passes this port");
    let class = state.terms(usize::from(entry.class));
    let bound = class.bound(analysis.plan.port(entry.port), entry.lane, entry.frame_min);
    let network = analysis.plan.network;
    let port = &network.ports[entry.port as usize];
    let plan = analysis.plan.port(entry.port);
    let parts = |wanted: fn(u8, u8) -> bool| parts(analysis, &arriving, &entry, wanted);
    let mut higher = parts(|other, own| other > own);
    let mut same = parts(|other, own| other == own);
    let mut lower = lower_frames(analysis, &arriving, &entry);
    if let Some((control, line, bits)) = plan.control {
        let name = "network control".to_owned();
        let rate = Some(BitRate::from_bps(line.rate));
        let own = usize::from(entry.class);
        if control < own {
            lower.push(Part { name, bits: Some(Bits::new(bits)), rate: None });
        } else {
            let part = Part { name, bits: whole(line), rate };
            if control > own { higher.push(part) } else { same.push(part) }
        }
    }
    let blocking = lower.into_iter().max_by_key(|part| part.bits.map_or(0, Bits::get));
    let (formula, source) = formula(bounds.method);
    HopExplanation {
        previous: network.streams[entry.stream as usize].hops
            [number as usize - analysis.plan.first_entry[entry.stream as usize] as usize]
            .previous,
        port: format!("{}.{}", network.nodes[port.node.index()].name, port.name),
        class: TrafficClass::new(entry.class).expect("below eight"),
        formula,
        source,
        line_rate: BitRate::from_bps(plan.rate),
        rate_left: bound.map(|bound| BitRate::from_bps(bound.rate)),
        blocking,
        higher,
        same,
        reckoned: bound.map(|bound| (bits(bound.higher.burst), bits(bound.own.burst))),
        credit_max: class.bounds.hi_credit_bits,
        times: times(analysis, &entry, own, class, &bounds),
        reason: bounds.delay.as_ref().err().map(|why| told(network, why)),
        bounds,
    }
}

/// The times of a hop, in the order in which a frame meets them; their sum is the bound.
fn times(
    analysis: &Analysis<'_>,
    entry: &Entry,
    arriving: &Arriving,
    class: &ClassTerms,
    bounds: &HopBounds,
) -> Vec<(&'static str, Duration)> {
    let (Ok(delay), Some(queue)) = (&bounds.delay, arriving.queue_max) else { return Vec::new() };
    let queue = entry.since_header(queue).unwrap_or_else(|| u64::try_from(queue).unwrap_or(0));
    let plan = analysis.plan.port(entry.port);
    let mut times: Vec<(&'static str, Duration)> = Vec::new();
    let mut left = *delay;
    let mut take = |name, ps: u64| {
        let span = Duration::from_ps(ps).min(left);
        if !span.is_zero() {
            times.push((name, span));
        }
        left = left.saturating_sub(span);
    };
    if entry.previous == NONE
        && let Some(response) = analysis.plan.learned.response(entry.stream)
    {
        take("request and turn-around", response.handed.since.1);
    }
    take(if arriving.scheduled { "processing and shaping" } else { "processing" }, queue);
    let (_, transmission) = entry.transmission_max;
    let small = class.start_max(plan, entry.lane, entry.frame_min);
    let large = class.start_max(plan, entry.lane, entry.frame_max);
    let (frame, sent) = match (small, large) {
        (Some(small), Some(large))
            if plan.deviation.stretch(small) + entry.transmission_max.0
                > plan.deviation.stretch(large) + transmission =>
        {
            (entry.frame_min, entry.transmission_max.0)
        }
        _ => (entry.frame_max, transmission),
    };
    let waiting = class.start_max(plan, entry.lane, frame).map_or(0, |wait| plan.deviation.stretch(wait));
    let Some(bound) = class.bound(plan, entry.lane, frame) else { return Vec::new() };
    let at_rate = |micro_bits: u128| span(micro_bits, bound.rate).unwrap_or(0);
    let latency = if class.credit_max.is_some() { "credit" } else { "lower frame" };
    let (first, higher) = (at_rate(bound.latency), at_rate(bound.higher.burst));
    take(latency, first.min(waiting));
    take("higher classes", higher.min(waiting.saturating_sub(first)));
    take("same class", waiting.saturating_sub(first).saturating_sub(higher));
    take("transmission and cable", sent);
    times
}

fn parts(
    analysis: &Analysis<'_>,
    arriving: &[Arriving],
    own: &Entry,
    wanted: fn(u8, u8) -> bool,
) -> Vec<Part> {
    let network = analysis.plan.network;
    let deviation = analysis.plan.port(own.port).deviation;
    arriving
        .iter()
        .map(|arriving| (arriving, &analysis.plan.entries[arriving.entry as usize]))
        .filter(|(_, entry)| wanted(entry.class, own.class))
        .map(|(arriving, entry)| {
            let line = arriving.brought.least_burst();
            Part {
                name: network.streams[entry.stream as usize].name.clone(),
                bits: line.and_then(whole),
                rate: line.map(|line| BitRate::from_bps(deviation.fastest(line.rate))),
            }
        })
        .collect()
}

fn lower_frames(analysis: &Analysis<'_>, arriving: &[Arriving], own: &Entry) -> Vec<Part> {
    let entries = arriving.iter().map(|arriving| &analysis.plan.entries[arriving.entry as usize]);
    entries
        .filter(|entry| entry.class < own.class)
        .map(|entry| Part {
            name: analysis.plan.network.streams[entry.stream as usize].name.clone(),
            bits: Some(Bits::new(entry.wire_max())),
            rate: None,
        })
        .collect()
}

/// Bits of the wire of a frame.
fn wire_bits(frame: tautwire_units::Bytes) -> u64 {
    crate::plan::wire(frame)
}

fn bits(micro_bits: u128) -> Bits {
    Bits::new(u64::try_from(micro_bits.div_ceil(MICRO)).unwrap_or(u64::MAX))
}

fn whole(line: Line) -> Option<Bits> {
    u64::try_from(line.burst.div_ceil(MICRO)).ok().map(Bits::new)
}

/// A method's formula and where it is from.
fn formula(method: Method) -> (&'static str, &'static str) {
    match method {
        Method::StrictPriorityTokenBucket => (
            "(largest lower frame + bursts of higher classes + bursts of the class - own frame) / \
             (line rate - rates of higher classes) + own frame / line rate",
            "Specht and Samii 2016, eq. 9; 802.1Q-2022 8.6.8.1",
        ),
        Method::StrictPriorityLineShaping => (
            "the same, and what comes by one link at most its largest frame + link rate * time",
            "Grieu 2004; Mifdaoui and Leydier 2017; packetised as in Mohammadpour et al. 2023",
        ),
        Method::BusyPeriod => (
            "the same for its own queue, other queues of the class before it, in turn or as a higher class",
            "802.1Q-2022 8.6.8 with the device's order; Boyer, Stea and Sofack 2012",
        ),
        Method::CreditBased => (
            "(greatest credit + bursts of the class - own frame) / idleSlope + own frame / line rate",
            "De Azua and Boyer 2014, theorem 4; Mohammadpour et al. 2019; 802.1Q-2022 8.6.8.2",
        ),
        Method::CreditBasedLineShaping => (
            "the same, and what comes by one link at most its largest frame + link rate * time",
            "De Azua and Boyer 2014, theorem 4; Mifdaoui and Leydier 2017; 802.1Q-2022 8.6.8.2",
        ),
        Method::Slots => (
            "longest wait for as many slots as frames wait + error of a slot's start + stages and lines of the way",
            "Zhou, end-to-end delay of switched Ethernet with TDMA, eq. 2 to 4 (the middle case of 4 corrected); no queue behind the talker",
        ),
        Method::TimeTriggered => (
            "wait for the talker's dispatch point + distance of the points + precision of the clocks + \
             what other traffic may delay it + own frame / line rate",
            "SAE AS6802, time-triggered dispatch; integration by shuffling, timely block or preemption",
        ),
        Method::Servers => (
            "periods of its server until as many frames are through as wait + what goes before it in the last period",
            "periodic servers in elementary cycles: capacity once a period; every window less one longest frame",
        ),
        Method::AtsContention => (
            "from eligibility: (largest lower frame + bursts of higher classes + committed bursts of the \
             class - own frame) / (line rate - rates of higher classes) + own frame / line rate",
            "802.1Q-2022 8.6.11 and Annex V; Specht and Samii 2016, eq. 9; Le Boudec 2018",
        ),
        Method::None => ("no method holds here", "-"),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "stream {}", self.stream)?;
        for ((listener, bounds), no_bound) in self.listeners.iter().zip(&self.reasons) {
            match (&bounds.delay, no_bound) {
                (Ok(delay), _) => writeln!(f, "  to {listener}: {} to {delay}", bounds.delay_min)?,
                (Err(_), why) => writeln!(f, "  to {listener}: no bound, {}", why.as_deref().unwrap_or("-"))?,
            }
            if let Some(skew) = bounds.skew {
                writeln!(f, "    copies over both networks at most {skew} apart")?;
            }
        }
        for (number, hop) in self.hops.iter().enumerate() {
            write!(f, "hop {number}")?;
            if let Some(previous) = hop.previous {
                write!(f, " (behind hop {previous})")?;
            }
            writeln!(f, ": {hop}")?;
        }
        Ok(())
    }
}

impl fmt::Display for HopExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} class {}: ", self.port, self.class)?;
        match (&self.bounds.delay, &self.reason) {
            (Ok(delay), _) => writeln!(f, "{} to {delay}", self.bounds.delay_min)?,
            (Err(_), why) => writeln!(f, "no bound, {}", why.as_deref().unwrap_or("-"))?,
        }
        writeln!(f, "    {}", self.formula)?;
        writeln!(f, "    source: {}", self.source)?;
        write!(f, "    line {}", self.line_rate)?;
        match self.rate_left {
            Some(rate) => writeln!(f, ", {rate} left for the class")?,
            None => writeln!(f)?,
        }
        if let Some(part) = &self.blocking {
            writeln!(f, "    blocked by a frame of {part}")?;
        }
        for (title, parts) in [("higher", &self.higher), ("class", &self.same)] {
            for part in parts {
                writeln!(f, "    {title}: {part}")?;
            }
        }
        if let Some((higher, same)) = self.reckoned {
            writeln!(f, "    reckoned with {higher} above and {same} of the class")?;
        }
        if let Some(credit) = self.credit_max {
            writeln!(f, "    greatest credit {credit} bit")?;
        }
        for (name, time) in &self.times {
            writeln!(f, "    {name}: {time}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.bits {
            Some(bits) => write!(f, ", {bits}")?,
            None => write!(f, ", unknown")?,
        }
        if let Some(rate) = self.rate {
            write!(f, " at {rate}")?;
        }
        Ok(())
    }
}

/// A reason in words.
fn told(network: &Network, why: &Unbounded) -> String {
    let at = |port: &PortIndex| {
        let port = &network.ports[port.index()];
        format!("at port {}.{}", network.nodes[port.node.index()].name, port.name)
    };
    let name = |stream: &StreamIndex| network.streams[stream.index()].name.as_str();
    match why {
        Unbounded::NoArrivalCurve { stream, port } => {
            format!("stream {} promises nothing {}", name(stream), at(port))
        }
        Unbounded::Overload { port, class } => {
            format!("more comes to class {class} than can leave {}", at(port))
        }
        Unbounded::ClockTooCoarse { port, class } => {
            let node = &network.nodes[network.ports[port.index()].node.index()];
            format!(
                "each frame waits for the next step of the clock of {} (granularity {}), and more comes to class {class} than \
                 can leave so {}",
                node.name,
                node.clock.granularity,
                at(port)
            )
        }
        Unbounded::TooLong { port } => {
            format!("it may take longer than 1000 s, to which bounds reach, from where it waits {}", at(port))
        }
        Unbounded::NoFixedPoint { port } => {
            format!("bounds in a cycle do not come to rest {}", at(port))
        }
        Unbounded::ShaperTooSlow { port } => {
            format!("a shaper does not cover what comes {}", at(port))
        }
        Unbounded::SharedShaper { port, streams } => {
            let names: Vec<_> = streams.iter().map(name).collect();
            format!("a shaper that {} share does not cover what they bring {}", names.join(", "), at(port))
        }
        Unbounded::RegulatorTooSlow { port } => {
            format!("messages may come to its virtual link faster than its BAG {}", at(port))
        }
        Unbounded::NotFifoUpstream { port } => {
            format!("the order of a shaper's group is not kept before it {}", at(port))
        }
        Unbounded::StageTooSlow { port } => format!("a stage of the device is too slow {}", at(port)),
        Unbounded::SlotsMeet { port } => format!("frames of different slots may meet {}", at(port)),
        Unbounded::NoServer { port } => format!("the background server carries it {}", at(port)),
        Unbounded::ServerTooSmall { port } => {
            format!("its server or one above it is too small {}", at(port))
        }
        Unbounded::SynchronisationLost { port } => {
            format!("the frames that open cycles may be lost {}", at(port))
        }
        Unbounded::TwoRasters { port } => {
            format!("the standby may open cycles beside the master's {}", at(port))
        }
        Unbounded::Host { port } => {
            format!("a host may hold frames without end, behind or before {}", at(port))
        }
        Unbounded::Unscheduled { port } => format!("it has no dispatch point {}", at(port)),
        Unbounded::NotContained { port } => {
            format!("a fault of the synchronisation is not contained {}", at(port))
        }
        Unbounded::ControlFramesLate { port } => {
            format!("control frames may take longer than `max-transmission-delay` {}", at(port))
        }
        Unbounded::Unpolled { port } => {
            format!("its switch may not poll it in every period {}", at(port))
        }
        Unbounded::NotGranted { port } => format!("it is not granted {}", at(port)),
        Unbounded::MayBeDiscarded { port } => {
            format!("a shaper or acceptance window may discard its frames {}", at(port))
        }
    }
}
