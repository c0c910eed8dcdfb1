//! Explanations of hops of classes with transmission selection: the blocking frame, the bursts that go first, the rate.
//!
//! Figures are those of the terms of the class (`port.rs`), evaluated once more. Not here: hops that a service carries (`explain.rs`).

use tautwire_core::TrafficClass;
use tautwire_model::network::PortIndex;
use tautwire_units::{BitRate, Bits, Duration};

use super::{HopExplanation, NO_METHOD, Part, port_name, previous};
use crate::analysis::Analysis;
use crate::contribution::Arriving;
use crate::curve::{Line, MICRO, span};
use crate::plan::{Entry, NONE};
use crate::port::ClassTerms;
use crate::port_plan::PortPlan;
use crate::port_state::PortState;
use crate::result::{HopBounds, Method};
use crate::windows::Windows;

/// The terms of the bound of a hop.
pub(super) fn hop(analysis: &mut Analysis<'_>, number: u32, bounds: HopBounds) -> HopExplanation {
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
    let plan = analysis.plan.port(entry.port);
    let parts = |wanted: &dyn Fn(u8, u8) -> bool| parts(analysis, &arriving, &entry, wanted);
    let goes_before = |other: u8, own: u8| plan.goes_before(usize::from(other), usize::from(own));
    let mut higher = parts(&goes_before);
    higher.extend(taken(plan, usize::from(entry.class)));
    let mut same = parts(&|other, own| other == own);
    let mut lower = lower_frames(analysis, &arriving, &entry);
    if let Some((control, line, bits)) = plan.control {
        let name = "network control".to_owned();
        let rate = Some(BitRate::from_bps(line.rate));
        let own = usize::from(entry.class);
        let blocks = plan.blocks((control, bits), own);
        if blocks > 0 {
            lower.push(Part { name, bits: Some(Bits::new(blocks)), rate: None });
        } else {
            let part = Part { name, bits: integral_bits(line), rate };
            if control == own { same.push(part) } else { higher.push(part) }
        }
    }
    lower.retain(|part| part.bits.is_some_and(|bits| bits.get() <= class.blocking_bits));
    let blocking = lower.into_iter().max_by_key(|part| part.bits.map_or(0, Bits::get));
    let windows = plan.windows().filter(|windows| !windows.classes[usize::from(entry.class)].is_open);
    let (formula, source) = match windows {
        Some(windows) if bounds.delay.is_ok() && class.credit_max.is_some() => {
            (windows.credit_formula, windows.source)
        }
        Some(windows) if bounds.delay.is_ok() => {
            let is_cut = windows.classes[usize::from(entry.class)].pushed.is_some();
            (if is_cut { windows.cut_formula } else { windows.formula }, windows.source)
        }
        None if bounds.delay.is_ok() && class.credit_max.is_none() && plan.precedence().is_some() => {
            let precedence = plan.precedence().expect("looked at");
            let is_cut = precedence.is_cut(usize::from(entry.class));
            (precedence.formulas[usize::from(is_cut)], precedence.source)
        }
        _ => formula(bounds.method),
    };
    HopExplanation {
        previous: previous(&analysis.plan, number),
        port: port_name(network, PortIndex(entry.port)),
        class: TrafficClass::new(entry.class).expect("below eight"),
        formula,
        source,
        line_rate: BitRate::from_bps(plan.rate),
        rate_left: bound.map(|bound| BitRate::from_bps(bound.rate)),
        blocking,
        higher,
        same,
        counted: bound.map(|bound| (bits(bound.higher.burst), bits(bound.own.burst))),
        credit_max: class.bounds.hi_credit_bits,
        times: times(analysis, &entry, own, class, &bounds),
        reason: None,
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
    let is_windowed =
        plan.windows().is_some_and(|windows| !windows.classes[usize::from(entry.class)].is_open);
    let above = match (is_windowed, class.credit_max.is_some()) {
        (false, _) => "higher classes",
        (true, false) => "outside the windows, and higher classes",
        (true, true) => "outside the windows",
    };
    // Windows that count behind a lower frame or the first cycle have their wait from there on.
    let later = match plan.windows() {
        Some(_) if class.credit_max.is_none() => {
            plan.deviation.stretch(bound.slack.saturating_sub(plan.slack))
        }
        _ => 0,
    };
    take("lower frame, or time before the first cycle", later);
    let waiting = waiting.saturating_sub(later);
    let (first, higher) = (at_rate(bound.latency), at_rate(bound.higher.burst));
    take(latency, first.min(waiting));
    take(above, higher.min(waiting.saturating_sub(first)));
    take("same class", waiting.saturating_sub(first).saturating_sub(higher));
    take("transmission and cable", sent);
    times
}

fn parts(
    analysis: &Analysis<'_>,
    arriving: &[Arriving],
    own: &Entry,
    wanted: &dyn Fn(u8, u8) -> bool,
) -> Vec<Part> {
    let network = analysis.plan.network;
    let deviation = analysis.plan.port(own.port).deviation;
    arriving
        .iter()
        .map(|arriving| (arriving, &analysis.plan.entries[arriving.entry as usize]))
        .filter(|(_, entry)| wanted(entry.class, own.class))
        .map(|(arriving, entry)| {
            let line = arriving.brought.least_burst();
            let name = &network.streams[entry.stream as usize].name;
            // What comes is what a policer lets pass, whatever the talker sends.
            let policed = if arriving.policed.is_some() { ", as policed" } else { "" };
            Part {
                name: format!("{name}{policed}"),
                bits: line.and_then(integral_bits),
                rate: line.map(|line| BitRate::from_bps(deviation.fastest(line.rate))),
            }
        })
        .collect()
}

/// The time that services take of the line.
fn taken(plan: &PortPlan, class: usize) -> impl Iterator<Item = Part> {
    let taken = plan.served.iter().flat_map(|served| &served.taken);
    let lines = taken.map(move |(name, of_classes)| (name, of_classes[class].lines()));
    let least = lines.filter_map(|(name, lines)| Some((name, lines.last()?)));
    let parts = least.filter(|(_, line)| line.rate > 0 || line.burst > 0).map(|(name, line)| Part {
        name: (*name).to_owned(),
        bits: integral_bits(*line),
        rate: Some(BitRate::from_bps(line.rate)),
    });
    parts.chain(plan.windows().and_then(|windows| outside(windows, plan, class)))
}

/// What of the line is not there for a class as it is outside its windows.
fn outside(windows: &Windows, plan: &PortPlan, class: usize) -> Option<Part> {
    let line = *windows.classes[class].taken.bits(plan.rate).lines().last()?;
    let part = || Part {
        name: windows.name.to_owned(),
        bits: integral_bits(line),
        rate: Some(BitRate::from_bps(line.rate)),
    };
    (line.rate > 0 || line.burst > 0).then(part)
}

fn lower_frames(analysis: &Analysis<'_>, arriving: &[Arriving], own: &Entry) -> Vec<Part> {
    let plan = analysis.plan.port(own.port);
    let entries = arriving.iter().map(|arriving| &analysis.plan.entries[arriving.entry as usize]);
    entries
        .map(|entry| {
            (entry, plan.blocks((usize::from(entry.class), entry.wire_max()), usize::from(own.class)))
        })
        .filter(|(_, bits)| *bits > 0)
        .map(|(entry, bits)| Part {
            name: analysis.plan.network.streams[entry.stream as usize].name.clone(),
            bits: Some(Bits::new(bits)),
            rate: None,
        })
        .collect()
}

fn bits(micro_bits: u128) -> Bits {
    Bits::new(u64::try_from(micro_bits.div_ceil(MICRO)).unwrap_or(u64::MAX))
}

fn integral_bits(line: Line) -> Option<Bits> {
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
        Method::ResponseTime => (
            "largest lower frame + frames of higher classes until it starts + frames of the class before it, each at line rate, \
             less how long before it the first of them came",
            "Davis, Burns, Bril and Lukkien 2007, all frames of the busy period; FIFO in the class; 802.1Q-2022 8.6.8.1",
        ),
        Method::StrictPriorityByLinks => (
            "largest lower frame + frames of the class before it and of higher classes until it starts, of all classes by one link no more than \
             that carries, each at line rate, less how long before it the first of them came",
            "Specht and Samii 2016, busy period; Grieu 2004, over all classes; 802.1Q-2022 8.6.8.1",
        ),
        Method::CreditBasedFrameByFrame => (
            "(greatest credit + frames of the class before it) / idleSlope, less how long before it the first of them came, + own frame / line rate",
            "De Azua and Boyer 2014, theorem 4, with frames kept whole; 802.1Q-2022 8.6.8.2",
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
        Method::AtsContention => (
            "from eligibility: (largest lower frame + bursts of higher classes + committed bursts of the \
             class - own frame) / (line rate - rates of higher classes) + own frame / line rate",
            "802.1Q-2022 8.6.11 and Annex V; Specht and Samii 2016, eq. 9; Le Boudec 2018",
        ),
        Method::AtsFrameByFrame => (
            "from eligibility: largest lower frame + frames of higher classes until it starts + committed frames of the class before it, each at \
             line rate, less how long before it the first of them came",
            "802.1Q-2022 8.6.11 and Annex V; Davis, Burns, Bril and Lukkien 2007, all frames of the busy period; Le Boudec 2018",
        ),
        // Services have words of their own.
        _ => NO_METHOD,
    }
}
