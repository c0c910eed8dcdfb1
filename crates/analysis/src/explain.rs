//! The terms of a stream's bound, hop by hop: which frame blocks, whose bursts go first, at which rate, by which formula and source.
//!
//! The analysis is repeated and its terms are read; their sums are those of the bounds, to the picosecond. Of a hop
//! that a service carries the service gives the terms; not here: hops of classes with transmission selection
//! (`selected.rs`).

use core::fmt;

use tautwire_core::TrafficClass;
use tautwire_model::network::{Hop, PortIndex, Stream, StreamIndex};
use tautwire_model::{Network, frame_length};
use tautwire_units::{BitRate, Bits, Duration};

use crate::accuracy::Accuracy;
use crate::analysis::Analysis;
use crate::answers::{self, Asked};
use crate::granted::granted_by;
use crate::plan::{NONE, Plan, wire};
use crate::result::{Bounds, HopBounds, ListenerBounds, Method};
use crate::service::{Terms, Words};
use crate::unbounded::Unbounded;

mod selected;

/// Formula and source where nothing holds.
const NO_METHOD: (&str, &str) = ("no method holds here", "-");

/// The story of a stream's bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The stream.
    pub stream: String,
    /// Its listeners and their bounds.
    pub listeners: Vec<(String, ListenerBounds)>,
    /// Per listener why it has no bound, if it has none.
    pub reasons: Vec<Option<String>>,
    /// Notes: when its frames are released and in which windows they start, or why that is not known.
    pub notes: Vec<String>,
    /// Nodes where copies of its frames meet, and what is proven there, in words.
    pub copies: Vec<String>,
    /// Hop by hop.
    pub hops: Vec<HopExplanation>,
}

/// The terms of the bound of one hop.
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
    /// Rate that is left for the class after higher traffic.
    pub rate_left: Option<BitRate>,
    /// The largest lower frame, which may have started.
    pub blocking: Option<Part>,
    /// Higher classes: whose frames go first.
    pub higher: Vec<Part>,
    /// The same class, the stream itself among them.
    pub same: Vec<Part>,
    /// Bits of higher classes, and of the same class, that the bound counts: fewer than the sum of the bursts where
    /// links or shapers let no more through.
    pub counted: Option<(Bits, Bits)>,
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
    // A stream without a grant is not part of the bounds, and its hops have none.
    let mut notes = Vec::new();
    let hops = match granted_by(network, bounds) {
        None => hops(network, stream, (network, &of_stream.hops), bounds.accuracy, &mut notes),
        Some((granted, numbers)) => {
            let place = numbers.iter().position(|number| *number == stream);
            let is_granted = |hop: &HopBounds| !matches!(hop.delay, Err(Unbounded::NotGranted { .. }));
            let of_hops: Vec<HopBounds> =
                of_stream.hops.iter().filter(|hop| is_granted(hop)).cloned().collect();
            let mut explained = place
                .map_or(Vec::new(), |place| {
                    hops(&granted, StreamIndex::at(place), (network, &of_hops), bounds.accuracy, &mut notes)
                })
                .into_iter();
            let pairs = described.hops.iter().zip(&of_stream.hops);
            let hop = |(hop, bounds): (&Hop, &HopBounds)| {
                let found = if is_granted(bounds) { explained.next() } else { None };
                HopExplanation {
                    previous: hop.previous,
                    ..found.unwrap_or_else(|| refused(network, described, hop, bounds))
                }
            };
            pairs.map(hop).collect()
        }
    };
    let name = |node: &tautwire_model::network::NodeIndex| network.nodes[node.index()].name.clone();
    let why = |listener: &ListenerBounds| listener.delay.as_ref().err().map(|why| why.text(network));
    Explanation {
        stream: described.name.clone(),
        listeners: described.listeners.iter().map(name).zip(of_stream.listeners.iter().cloned()).collect(),
        reasons: of_stream.listeners.iter().map(why).collect(),
        notes,
        copies: bounds
            .recoveries
            .iter()
            .filter(|one| one.stream == stream)
            .map(|one| one.text(network))
            .collect(),
        hops,
    }
}

/// The hops of a granted stream, in a network of the granted ones, and notes on it; reasons are those of the `whole` network.
fn hops(
    network: &Network,
    stream: StreamIndex,
    (network_of_names, bounds): (&Network, &[HopBounds]),
    accuracy: Accuracy,
    notes: &mut Vec<String>,
) -> Vec<HopExplanation> {
    let (mut analysis, _) = answers::settle(network, Asked::by(accuracy));
    notes.extend(analysis.path_notes(stream.0));
    notes.extend(analysis.plan.services.iter().flat_map(|service| service.notes(&analysis, stream.0)));
    let entries = analysis.plan.entries_of(stream.0);
    let hop = |(entry, bounds): (u32, &HopBounds)| {
        let found = carried(&analysis, entry, bounds).or_else(|| by_instants(&analysis, entry, bounds));
        let found = found.unwrap_or_else(|| selected::hop(&mut analysis, entry, bounds.clone()));
        let reason = bounds.delay.as_ref().err().map(|why| why.text(network_of_names));
        HopExplanation { reason, ..found }
    };
    entries.zip(bounds).map(hop).collect()
}

/// A hop that is not granted.
fn refused(network: &Network, stream: &Stream, hop: &Hop, bounds: &HopBounds) -> HopExplanation {
    let port = &network.ports[hop.port.index()];
    let rate = port.links.map(|links| network.links[links.egress.index()].rate);
    let largest = wire(frame_length(stream.payload_max, hop.tagged));
    let own = Part { name: stream.name.clone(), bits: Some(Bits::new(largest)), rate: None };
    HopExplanation {
        previous: hop.previous,
        port: port_name(network, hop.port),
        class: hop.class,
        bounds: bounds.clone(),
        formula: NO_METHOD.0,
        source: NO_METHOD.1,
        line_rate: rate.unwrap_or(BitRate::from_bps(0)),
        rate_left: None,
        blocking: None,
        higher: Vec::new(),
        same: if hop.previous.is_none() { vec![own] } else { Vec::new() },
        counted: None,
        credit_max: None,
        times: Vec::new(),
        reason: bounds.delay.as_ref().err().map(|why| why.text(network)),
    }
}

/// A hop that a service carries: its bound is the sum of the service's terms.
fn carried(analysis: &Analysis<'_>, number: u32, bounds: &HopBounds) -> Option<HopExplanation> {
    let plan = &analysis.plan;
    let (carried, service) = (plan.carried(number)?, plan.service(number)?);
    let words = service.words(plan, number);
    let (formula, source) = if bounds.delay.is_ok() { (words.formula, words.source) } else { NO_METHOD };
    let times = carried.hop.as_ref().map(Terms::nonzero).unwrap_or_default();
    Some(of_terms(plan, number, bounds, Words { formula, source, ..words }, times))
}

/// A hop whose bound is that of the instants of its frames.
fn by_instants(analysis: &Analysis<'_>, number: u32, bounds: &HopBounds) -> Option<HopExplanation> {
    let by_instants = analysis.by_instants(number as usize)?;
    let words = Words { formula: by_instants.formula, source: by_instants.source, same: Vec::new() };
    let is_by_it = bounds.method == Method::Carried(by_instants.method);
    is_by_it.then(|| of_terms(&analysis.plan, number, bounds, words, by_instants.hop.nonzero()))
}

fn of_terms(
    plan: &Plan<'_>,
    number: u32,
    bounds: &HopBounds,
    words: Words,
    times: Vec<(&'static str, Duration)>,
) -> HopExplanation {
    let (network, entry) = (plan.network, &plan.entries[number as usize]);
    HopExplanation {
        previous: previous(plan, number),
        port: port_name(network, PortIndex(entry.port)),
        class: TrafficClass::new(entry.class).expect("below eight"),
        formula: words.formula,
        source: words.source,
        line_rate: BitRate::from_bps(plan.port(entry.port).rate),
        rate_left: None,
        blocking: None,
        higher: Vec::new(),
        same: words.same,
        counted: None,
        credit_max: None,
        times,
        reason: None,
        bounds: bounds.clone(),
    }
}

/// The hop before an entry, an index of the hops of its stream.
fn previous(plan: &Plan<'_>, number: u32) -> Option<u32> {
    let stream = plan.entries[number as usize].stream;
    plan.stream(stream).hops[(number - plan.first_entry[stream as usize]) as usize].previous
}

/// A port, as `node.port`.
fn port_name(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}.{}", network.nodes[port.node.index()].name, port.name)
}

/// The streams that wait at the talker of an entry, its own among them; none behind the talker.
pub(crate) fn at_talker(plan: &Plan<'_>, number: u32) -> Vec<Part> {
    let (network, entry) = (plan.network, &plan.entries[number as usize]);
    let talker = plan.stream(entry.stream).talker;
    let waits =
        |stream: &&Stream| entry.previous == NONE && stream.talker == talker && !stream.hops.is_empty();
    let part = |stream: &Stream| Part {
        name: stream.name.clone(),
        bits: Some(Bits::new(wire(frame_length(stream.payload_max, stream.hops[0].tagged)))),
        rate: stream.arrival.map(|curve| curve.rate),
    };
    network.streams.iter().filter(waits).map(part).collect()
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
        for note in self.notes.iter().chain(&self.copies) {
            writeln!(f, "  {note}")?;
        }
        for (number, hop) in self.hops.iter().enumerate() {
            write!(f, "hop {number}")?;
            if let Some(previous) = hop.previous {
                write!(f, " (after hop {previous})")?;
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
        if let Some((higher, same)) = self.counted {
            writeln!(f, "    counted: {higher} above and {same} of the class")?;
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
